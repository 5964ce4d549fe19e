"""Try every kind of fault, many times, and say how soon the hand felt nothing.

    python tools/fault_campaign.py                          25 trials of each kind
    python tools/fault_campaign.py --trials 1000 --json -   the numbers of a long campaign
    python tools/fault_campaign.py --kind "force is NaN"    one kind (any part of its name)

Kinds in virtual time run both sides as they are, on a clock that the campaign moves (campaign/rig.py); kinds
of processes run them as a user does, and are judged beside a probe of the host: what came late in a stall of
the host is printed as ``host``.  Bounds, on both sides: zero force within 10 ms, never more force than the
clamp, never a larger step than the slew limit.  Ends with status 1 where one is broken, and says where.
"""

from __future__ import annotations

import importlib
import math
import random
import sys
import time
from pathlib import Path
from statistics import median

from campaign.kinds import KINDS, Trial
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

MODULES = sorted(path.stem for path in (Path(__file__).parent / "campaign").glob("*_kinds.py"))
EXAMPLES = 3  # of what broke, told per kind


def measure(trials: int, wanted: str, seed: int) -> Found:
    """Try all kinds whose name or place contains a word."""
    kinds = {}
    for name, kind in KINDS.items():
        if wanted not in name and wanted not in kind.where:
            continue
        start = time.perf_counter()
        print(f"{kind.where}: {name} ...", end=" ", file=sys.stderr, flush=True)
        found = result(kind.run(trials, random.Random(f"{seed} {name}")))
        found |= {"where": kind.where, "about": kind.about, "took_s": time.perf_counter() - start}
        kinds[name] = found
        print(f"{found['took_s']:.1f} s{' BROKEN' if found['broken'] else ''}", file=sys.stderr)
    return {"machine": machine("pyzmq"), "trials": trials, "kinds": kinds}


def result(trials: list[Trial]) -> Found:
    """Return the numbers of some trials."""
    broken = [words for trial in trials if (words := trial.broken())]
    wholes = [trial.whole for trial in trials if trial.whole is not None]
    return {
        "trials": len(trials),
        "device_ms": spread([t.device_s for t in trials]),
        "server_ms": spread([t.server_s for t in trials]),
        "largest_N": max(t.largest_N for t in trials),
        "step_N": max(t.step_N for t in trials),
        "whole": all(wholes) if wholes else None,
        "host": sum(t.is_hosts for t in trials),
        "broken": len(broken),
        "examples": ["; ".join(words) for words in broken[:EXAMPLES]],
    }


def spread(times_s: list[float]) -> list[float] | None:
    """Median and worst [ms] of the times that count; None where none does."""
    counted = [1e3 * t for t in times_s if not math.isnan(t)]
    return [median(counted), max(counted)] if counted else None


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table."""
    table = Table(box=SIMPLE, title="median and worst time to zero force in ms; largest force and step in N")
    for column in ("kind", "trials", "device", "server", "force", "step", "record", "host", "broken"):
        table.add_column(column, justify="left" if column == "kind" else "right", no_wrap=True)
    for name, k in found["kinds"].items():
        table.add_row(
            name, str(k["trials"]), _times(k["device_ms"]), _times(k["server_ms"]), f"{k['largest_N']:.2f}",
            f"{k['step_N']:.2f}", {None: "", True: "whole", False: "BROKEN"}[k["whole"]],
            str(k["host"] or ""), str(k["broken"] or ""),
        )  # fmt: skip
    console.print(table)
    for name, k in found["kinds"].items():
        for example in k["examples"]:
            console.print(f"{name}: {example}", markup=False)
    broken = sum(bool(k["broken"]) for k in found["kinds"].values())
    console.print(f"{len(found['kinds'])} kinds, {found['trials']} trials each; {broken} kinds broken")
    console.print(machine_line(found))


def _times(pair: list[float] | None) -> str:
    return "" if pair is None else f"{pair[0]:.1f} / {pair[1]:.1f}"


def main() -> None:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--trials", type=int, default=25, help="of each kind (25)")
    add("--kind", default="", help="only kinds whose name, or place, contains this")
    add("--seed", type=int, default=1, help="of chance (1)")
    add("--list", action="store_true", help="list all kinds and what they do")
    options = parser.parse_args()
    for module in MODULES:
        importlib.import_module(f"campaign.{module}")
    if options.list:
        for name, kind in KINDS.items():
            print(f"{kind.where:16} {name:34} {kind.about}")
        return
    if options.trials < 1:
        parser.error("--trials must be 1 or more.")
    if not any(options.kind in name or options.kind in k.where for name, k in KINDS.items()):
        parser.error(f"no kind contains {options.kind!r}: see --list.")
    kept: list[Found] = []

    def measured() -> Found:
        kept.append(measure(options.trials, options.kind, options.seed))
        return kept[0]

    report(options, measured, show)
    sys.exit(int(any(k["broken"] for k in kept[0]["kinds"].values())))


if __name__ == "__main__":
    main()
