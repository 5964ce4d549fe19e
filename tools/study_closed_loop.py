"""A 4-DOF WAM presses 10 N on a frictionless plane while its fingertip moves: three ways to keep it there.

    python tools/study_closed_loop.py                       60 s of motion, a minute or two
    python tools/study_closed_loop.py --quick               3 s of it
    python tools/study_closed_loop.py --figures FOLDER      figures 4 to 7 as well (extra: studies)
    python tools/study_closed_loop.py --json -              the numbers; --save and --compare as well

Shen & Featherstone, Computer Simulation of Robot Closed-loop Dynamics for Force Control Study.  The
constraint is solved by their KKT system with the two-order acceleration stabiliser (24), without it, and by
embedding, which is what the tick of the simulator does.  docs/closed_loop.md says what the paper leaves open
and what is found.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from closed_loop_agreement import agreement
from closed_loop_modes import FREE, HELD, mode_changes
from closed_loop_runs import EMBEDDED, HARDER, PLAIN, STABILISED, WAYS, Trace, harder, run
from closed_loop_task import PRESS_N, START_s
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

FULL, QUICK = (60.0, 10.0), (3.0, 2.0)  # [s] of the task, and of each harder run
WINDOWS = 6  # equal stretches of a run in which the largest loop error is taken
SETTLED_s = 0.5  # after the start of the motion the force is looked at


def measure(seconds: float, harder_seconds: float, traces: dict[str, Trace]) -> Found:
    """Return everything; the runs themselves are put into traces."""
    console = Console(stderr=True)
    found: Found = {"machine": machine("numpy"), "seconds": seconds, "harder_seconds": harder_seconds}
    for way in WAYS:
        console.print(f"{way}: {seconds:g} s ...")
        traces[way] = run(way, seconds)
    found["ways"] = {way: summary(trace) for way, trace in traces.items()}
    console.print("accelerations, mode changes, harder runs ...")
    found["agreement"] = agreement(cycles=round(min(seconds, 20.0) * 1000), every=25)
    found["modes"] = [asdict(change) for change in mode_changes()]
    found["harder"] = {name: harder(name, harder_seconds) for name in HARDER}
    return {**found, "targets": targets(found)}


def summary(trace: Trace) -> Found:
    """Return what is said of one run."""
    bounds = np.linspace(0, len(trace.time), WINDOWS + 1).astype(int)
    moving, settled = trace.time >= START_s, trace.time >= START_s + SETTLED_s
    return {
        "loop_error_m": [float(np.abs(part).max()) for part in np.split(trace.error, bounds[1:-1])],
        "loop_error_at_end_m": float(trace.error[-1]),
        "loop_error_rate_m_per_s": float(np.abs(trace.rate).max()),
        "force_extremes_N": [float(trace.force[moving].min()), float(trace.force[moving].max())],
        "force_off_settled_N": float(np.abs(trace.force[settled] - PRESS_N).max()),
        "largest_speed_m_per_s": float(trace.speed.max()),
        "path_error_settled_m": float(np.abs(trace.tip - trace.path)[settled].max()),
    }


def halves(way: Found) -> tuple[float, float]:
    """Return the largest loop errors [m] of the first and of the second half of a run."""
    errors = way["loop_error_m"]
    return max(errors[: WINDOWS // 2]), max(errors[WINDOWS // 2 :])


def targets(found: Found) -> Found:
    """Return what must hold."""
    ways, modes = found["ways"], found["modes"]
    (plain_first, plain_last), (first, last) = (halves(ways[way]) for way in (PLAIN, STABILISED))
    euler = [h for name, h in found["harder"].items() if name.startswith("Euler")]
    wanted = {f"{a} to {b}" for a in (FREE, HELD) for b in (FREE, HELD)}
    seen = {m["change"].split(" (")[0] for m in modes}
    hits = [m for m in modes if m["lost_J"] is not None]
    off = [abs(m["lost_J"] / m["lost_expected_J"] - 1.0) for m in hits]
    return {
        "embedded: largest loop error [m]": target(max(ways[EMBEDDED]["loop_error_m"]), 1e-14),
        "KKT, not stabilised, grows: error of the first half / second": target(plain_first / plain_last, 0.5),
        "KKT, stabilised, is bounded: error of the second half / first": target(last / first, 1.5),
        "Euler: error with the stabiliser / without": target(
            max(h["stabilised_m"] / h["not_stabilised_m"] for h in euler), 1e-2
        ),
        f"force {SETTLED_s} s after the start and later: largest |f - 10| [N]": target(
            max(w["force_off_settled_N"] for w in ways.values()), 0.01
        ),
        "path: largest distance then [m]": target(
            max(w["path_error_settled_m"] for w in ways.values()), 2e-4
        ),
        "fingertip: largest speed [m/s]": target(
            max(w["largest_speed_m_per_s"] for w in ways.values()), 0.02
        ),
        "accelerations on the manifold: largest difference [rad/s^2]": target(
            max(found["agreement"][key] for key in ("with_stabiliser", "embedded")), 1e-8
        ),
        "contact forces there: largest difference [N]": target(found["agreement"]["force_N"], 1e-8),
        "mode changes not seen": target(len(wanted - seen), 0),
        "energy lost in the collision, relative to half (A u)^2 / (A M^-1 A')": target(
            max(off, default=np.inf), 1e-8
        ),
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables."""
    stretch = found["seconds"] / WINDOWS
    headings = ["largest |e| [m]", *(f"{stretch * k:g}-{stretch * (k + 1):g} s" for k in range(WINDOWS))]
    rows = [[w, *(f"{e:.1e}" for e in found["ways"][w]["loop_error_m"])] for w in WAYS]
    if before:
        headings.append("before, last")
        for cells in rows:
            cells.append(f"{before['ways'][cells[0]]['loop_error_m'][-1]:.1e}")
    _print(console, "loop error, RK4 at 1000 Hz (figures 6 and 7)", headings, rows)
    rows = [
        [name, f"{h['stabilised_m']:.1e}", f"{h['not_stabilised_m']:.1e}"]
        for name, h in found["harder"].items()
    ]
    title = f"largest |e| in {found['harder_seconds']:g} s [m]"
    _print(console, title, ["KKT by", "stabilised", "not stabilised"], rows)
    rows = [
        [
            way,
            *(f"{f:.3f}" for f in w["force_extremes_N"]),
            f"{w['force_off_settled_N']:.1e}",
            f"{w['path_error_settled_m']:.1e}",
            f"{w['largest_speed_m_per_s'] * 100:.2f}",
        ]
        for way, w in found["ways"].items()
    ]
    headings = ["", "least f [N]", "greatest", "settled, off 10 N", "off the path [m]", "speed [cm/s]"]
    _print(console, "contact force and path from 0.5 s on (figures 4 and 5)", headings, rows)
    rows = [
        [
            m["change"],
            f"{m['start_s']:.4f}",
            str(m["cycles"]),
            f"{m['force_before_N']:.3f}",
            f"{m['force_after_N']:.3f}",
            _maybe(m["rate_before_m_per_s"], ".3f"),
            _maybe(m["rate_after_m_per_s"], ".3f"),
            _maybe(m["lost_J"], ".6f"),
        ]
        for m in found["modes"]
    ]
    headings = ["", "at [s]", "cycles", "f [N]", "after", "gap [m/s]", "after", "lost [J]"]
    _print(console, "one run through the four mode changes", headings, rows)
    a = found["agreement"]
    console.print(
        f"from the same q, u and Q: accelerations differ by {a['with_stabiliser']:.1e} rad/s^2 (stabiliser "
        f"on, off)\nand {a['embedded']:.1e} rad/s^2 (KKT, embedding), over a whole cycle by "
        f"{a['over_a_cycle']:.1e} rad/s^2, forces by {a['force_N']:.1e} N\n"
    )
    show_targets(console, found)
    console.print(machine_line(found))


def _maybe(value: float | None, form: str) -> str:
    return "" if value is None else format(value + 0.0 if abs(value) > 1e-12 else 0.0, form)


def _print(console: Console, title: str, headings: list[str], rows: list[list[str]]) -> None:
    table = Table(box=SIMPLE, title=escape(title), title_justify="left")
    for k, heading in enumerate(headings):
        table.add_column(escape(heading), justify="right" if k else "left", no_wrap=True)
    for cells in rows:
        table.add_row(*map(escape, cells))
    console.print(table)


def main() -> None:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--quick", action="store_true", help="3 s instead of 60")
    parser.add_argument("--figures", metavar="FOLDER", type=Path, help="write the figures there")
    options = parser.parse_args()
    draw: Any = None
    if options.figures:
        try:
            from closed_loop_figures import draw
        except ImportError:
            sys.exit("--figures needs matplotlib: pip install 'hapticsim[studies]'.")
    traces: dict[str, Trace] = {}

    def study() -> Found:
        found = measure(*QUICK, traces) if options.quick else measure(*FULL, traces)
        if draw:
            draw(options.figures, traces)
        return found

    report(options, study, show)


if __name__ == "__main__":
    main()
