"""Simulate every robot of example-robot-data alone, by every method that ``simulate --integrator`` offers.

    python tools/check_integrators.py                        0.2 s of each
    python tools/check_integrators.py panda hyq --seconds 1

Each run is the command ``hapticsim simulate ROBOT.urdf --integrator METHOD``, all in one process.  ``ok``: it
reached its end with the robot's energy.  Everything else is listed below the table with what was said.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from typer.testing import CliRunner

from hapticsim.commands.command_line import app
from hapticsim.model.robot_file.library import library_models
from hapticsim.offline.run import INTEGRATORS

METHODS = [name.lower() for name in INTEGRATORS]


def run(urdf: Path, method: str, seconds: float, limit_s: float) -> Found:
    """Return the outcome of one command, what it said last, and how long it took [s]."""
    arguments = ["simulate", str(urdf), "--integrator", method, "--seconds", str(seconds)]
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        found = CliRunner().invoke(app, arguments, standalone_mode=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    wall_s = time.perf_counter() - start
    status = found.return_value if found.exception is None else None
    if isinstance(found.exception, TimeoutError):
        return {"outcome": "slow", "said": f"not done after {limit_s:g} s", "wall_s": wall_s}
    if found.exception is not None:
        kind = "refused" if type(found.exception).__module__.startswith("hapticsim") else "FAILED"
        return {"outcome": kind, "said": f"{found.exception!s}", "wall_s": wall_s}
    said = [line for line in found.stdout.splitlines() if line]
    if status:
        return {
            "outcome": "status 1",
            "said": next((w for w in said if "warning" in w), said[0]),
            "wall_s": wall_s,
        }
    return {"outcome": "ok", "said": said[0], "wall_s": wall_s}


def too_slow(*_: Any) -> None:
    """End a run: heard as soon as it is in Python, where every method of SciPy is at each evaluation."""
    raise TimeoutError


def measure(names: Sequence[str], seconds: float, limit_s: float) -> Found:
    """Return the outcome of every robot with every method."""
    signal.signal(signal.SIGALRM, too_slow)
    models = library_models()
    if unknown := [n for n in names if n not in models]:
        sys.exit(f"{unknown[0]} is no robot of example-robot-data: name some of {', '.join(models)}.")
    robots: Found = {}
    # Refreshed by hand: a command that runs here exchanges the streams that a thread would draw on.
    with Progress(console=Console(stderr=True), auto_refresh=False) as progress:
        bar = progress.add_task("robots", total=len(names or models))
        for name in names or sorted(models):
            progress.update(bar, description=name, refresh=True)
            robots[name] = {m: run(models[name], m, seconds, limit_s) for m in METHODS}
            progress.advance(bar)
    failed = sum(r["outcome"] == "FAILED" for robot in robots.values() for r in robot.values())
    return {
        "machine": machine(),
        "seconds": seconds,
        "robots": robots,
        "targets": {"commands that ended in a traceback": target(failed, 0)},
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table, what was not ok, and the targets."""
    table = Table(box=SIMPLE, title=f"{found['seconds']:g} s of each robot alone, from rest at zero")
    for column in ("robot", *METHODS):
        table.add_column(column, no_wrap=True)
    for name, robot in found["robots"].items():
        table.add_row(name, *(robot[m]["outcome"] for m in METHODS))
    console.print(table)
    for name, robot in found["robots"].items():
        said: dict[str, list[str]] = {}
        for method, r in robot.items():
            if r["outcome"] != "ok":
                said.setdefault(r["said"], []).append(method)
        for words, methods in said.items():
            console.print(f"{name}, {', '.join(methods)}: {words}", markup=False, soft_wrap=True)
    runs = [r["outcome"] for robot in found["robots"].values() for r in robot.values()]
    console.print(", ".join(f"{runs.count(o)} {o}" for o in dict.fromkeys(runs)))
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("robots", nargs="*", help="names in example-robot-data (all)")
    parser.add_argument("--seconds", type=float, default=0.2, help="[s] of simulated time (0.2)")
    parser.add_argument("--limit", type=float, default=600.0, help="[s] for a run, compiling included (600)")
    options = parser.parse_args()
    report(options, lambda: measure(options.robots, options.seconds, options.limit), show)


if __name__ == "__main__":
    main()
