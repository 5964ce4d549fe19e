"""Try every kind of fault, many times, and say how soon the hand felt nothing.

    python tools/fault_campaign.py                          25 trials of each kind
    python tools/fault_campaign.py --trials 1000 --json -   the numbers of a long campaign
    python tools/fault_campaign.py --kind "force is NaN"    one kind (any part of its name)

Kinds in virtual time run both sides as they are, on a clock that the campaign moves (campaign/rig.py); kinds
of processes run them as a user does, and are judged beside a probe of the host.  Bounds, on both sides: zero
force within 10 ms, never more force than the clamp, never a larger step than the slew limit.

A trial that was late by no more than the host stood still, or other programs kept it from running, says
nothing: it is tried again, shown under ``host`` with the worst time to zero, and not counted.  With --again a
kind of which trials were late, and broke nothing else, is tried a second time, as often, and broken if it
breaks then too; both are shown.  Ctrl-C ends with the table so far.

Ends with status 1 where a bound is broken, and says where; with 3 where the host let no trial of a kind be
judged.
"""

from __future__ import annotations

import importlib
import math
import random
import signal
import sys
import time
from pathlib import Path
from statistics import median

from campaign.kinds import KINDS, Kind, Trial
from campaign.site import end_zygote
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

MODULES = sorted(path.stem for path in (Path(__file__).parent / "campaign").glob("*_kinds.py"))
EXAMPLES = 3  # of what broke, told per kind
ROUNDS = 4  # in which trials that the host spoilt are tried again
BROKEN, NOT_JUDGED, INTERRUPTED = 1, 3, 130  # exit statuses


def measure(trials: int, wanted: str, seed: int, again: bool = False) -> Found:
    """Try all kinds whose name or place contains a word; ``again``: what was only late a second time."""
    kinds: Found = {}
    found = {"machine": machine("pyzmq"), "trials": trials, "kinds": kinds, "interrupted": False}
    chosen = {n: k for n, k in KINDS.items() if wanted in n or wanted in k.where}
    begun = time.perf_counter()
    for place, (name, kind) in enumerate(chosen.items(), start=1):
        seen: list[Trial] = []
        start, once = time.perf_counter(), 0
        print(f"{place}/{len(chosen)} {kind.where}: {name} ...", end=" ", file=sys.stderr, flush=True)
        try:
            try_kind(kind, trials, random.Random(f"{seed} {name}"), seen)
            first = result(seen)
            if again and first["broken"] and all(t.is_late for t in seen if t.broken()):
                print(f"{first['broken']} broken: {first['examples'][0]}", file=sys.stderr)
                print("    again ...", end=" ", file=sys.stderr, flush=True)
                second: list[Trial] = []
                try_kind(kind, trials, random.Random(f"{seed} {name} again"), second)
                if result(second)["trials"]:
                    once, seen = first["broken"], second
        except KeyboardInterrupt:
            found["interrupted"] = True
        took_s = time.perf_counter() - start
        if seen:
            about = {"where": kind.where, "about": kind.about, "took_s": took_s, "broken_once": once}
            kinds[name] = result(seen) | about
        broken = kinds.get(name, {}).get("broken", 0)
        print(f"{took_s:.1f} s{f', {broken} BROKEN' if broken else ''}", file=sys.stderr)
        if found["interrupted"]:
            print(f"ended by Ctrl-C in kind {place} of {len(chosen)}", file=sys.stderr)
            break
    found["took_s"] = time.perf_counter() - begun
    return found


def try_kind(kind: Kind, trials: int, rng: random.Random, seen: list[Trial]) -> None:
    """Try a kind until so many trials say something, or ROUNDS are over; adds to what was seen."""
    for _ in range(ROUNDS):
        left = trials - sum(not trial.is_inconclusive for trial in seen)
        if left <= 0:
            return
        try:
            for trial in kind.run(left, rng):
                seen.append(trial)
        except (
            Exception
        ) as error:  # of the rig, or of what runs in it: the other kinds are tried all the same
            seen.append(Trial(wrong=[f"{type(error).__name__}: {error}"]))
            return


def result(seen: list[Trial]) -> Found:
    """Return the numbers of some trials."""
    trials = [trial for trial in seen if not trial.is_inconclusive]
    spoilt = [trial for trial in seen if trial.is_inconclusive]
    late = [x for t in spoilt for x in (t.device_s, t.server_s) if not math.isnan(x)]
    broken = [words for trial in trials if (words := trial.broken())]
    wholes = [trial.whole for trial in trials if trial.whole is not None]
    return {
        "trials": len(trials),
        "device_ms": spread([t.device_s for t in trials]),
        "server_ms": spread([t.server_s for t in trials]),
        "largest_N": max((t.largest_N for t in seen), default=0.0),
        "step_N": max((t.step_N for t in seen), default=0.0),
        "whole": all(wholes) if wholes else None,
        "inconclusive": len(spoilt),
        "inconclusive_ms": 1e3 * max(late, default=0.0),
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
            f"{k['inconclusive']}: {k['inconclusive_ms']:.1f}" if k["inconclusive"] else "",
            f"{k['broken_once']}, then {k['broken']}" if k["broken_once"] else str(k["broken"] or ""),
        )  # fmt: skip
    console.print(table)
    for name, k in found["kinds"].items():
        for example in k["examples"]:
            console.print(f"{name}: {example}", markup=False)
    broken = sum(bool(k["broken"]) for k in found["kinds"].values())
    unjudged = [name for name, k in found["kinds"].items() if k["trials"] == 0]
    console.print(
        f"{len(found['kinds'])} kinds, {found['trials']} trials each, {found['took_s']:.0f} s; "
        f"{broken} kinds broken" + (" (ended by Ctrl-C)" if found["interrupted"] else "")
    )
    if unjudged:
        console.print(f"not judged, because the host stood still in every trial: {', '.join(unjudged)}")
    console.print(machine_line(found))


def _times(pair: list[float] | None) -> str:
    return "" if pair is None else f"{pair[0]:.1f} / {pair[1]:.1f}"


def main() -> None:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--trials", type=int, default=25, help="of each kind (25)")
    add("--kind", default="", help="only kinds whose name, or place, contains this")
    add("--seed", type=int, default=1, help="of chance (1)")
    add("--again", action="store_true", help="try a kind that was late a second time, and judge by that")
    add("--list", action="store_true", help="list all kinds and what they do")
    options = parser.parse_args()
    if (
        signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    ):  # nohup: what a closed terminal does would not be seen
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
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
        kept.append(measure(options.trials, options.kind, options.seed, options.again))
        return kept[0]

    try:
        report(options, measured, show)
    finally:
        end_zygote()
    if any(k["broken"] for k in kept[0]["kinds"].values()):
        sys.exit(BROKEN)
    if kept[0]["interrupted"]:
        sys.exit(INTERRUPTED)
    if not all(k["trials"] for k in kept[0]["kinds"].values()):
        sys.exit(NOT_JUDGED)


if __name__ == "__main__":
    main()
