"""Let every robot of example-robot-data fall for ten seconds, and see that its energy never rises.

    python tools/fall_robots.py                         10 s at 1000 and at 250 Hz
    python tools/fall_robots.py --seconds 1 --json -    the numbers, of a shorter fall
    python tools/fall_robots.py --robots xarm7 z1       some of them

Every robot starts at rest with all displacements zero and no torque: gravity and its joint damping act, and
nothing stops it.  ``rise`` is by how much the total energy was ever above its least value until then, by the
largest kinetic energy of the fall; ``refused`` counts ticks that the balance of energy, or a number that was
not finite, took back (motion/energy.py).  ``decay`` is the fastest that damping asks for, times the tick:
the classical Runge-Kutta method alone diverges above 2.78.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.commands.experiment import read_scene
from hapticsim.errors import HapticsimError
from hapticsim.model.robot_file.library import library_models

RATES_Hz = (1000.0, 250.0)
RISE = 1e-6  # of the largest kinetic energy
REFUSED = (Event.ENERGY, Event.NOT_FINITE)


def fall(path: Path, rate_Hz: float, seconds: float) -> Found:
    """Return what a robot does that falls from zero."""
    try:
        scene = read_scene(path, [])
    except HapticsimError as error:
        return {"not_read": str(error).split(": ", 1)[-1]}
    if scene.model.nu == 0:
        return {"not_read": "nothing moves."}
    sim = hs.Simulation(replace(scene, rate_Hz=rate_Hz))
    ticks = round(seconds * rate_Hz)
    least, rise, fastest, refused, finite = sum(sim.energy()), 0.0, 0.0, 0, True
    start = time.perf_counter()
    for _ in range(ticks):
        sim.step()
        kinetic, potential = sim.energy()
        refused += sum(e.kind in REFUSED for e in sim.events)
        finite = finite and bool(np.isfinite(kinetic + potential))
        least = min(least, kinetic + potential)
        rise = max(rise, kinetic + potential - least)
        fastest = max(fastest, kinetic)
    return {
        "nu": scene.model.nu,
        "decay": sim.plan.damping_rate / rate_Hz,
        "finite": finite,
        "refused": refused,
        "kinetic_J": fastest,
        "rise": rise / max(fastest, 1e-12),
        "us_per_tick": (time.perf_counter() - start) / ticks * 1e6,
    }


def measure(robots: list[str], seconds: float) -> Found:
    """Return everything this tool finds."""
    models = library_models()
    cases = [(name, rate) for name in robots for rate in RATES_Hz]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(fall, models[name], rate, seconds) for name, rate in cases]
        rows = {f"{name}, {rate:g} Hz": job.result() for (name, rate), job in zip(cases, jobs, strict=True)}
    fell = [r for r in rows.values() if "not_read" not in r]
    return {
        "machine": machine(),
        "seconds": seconds,
        "rows": rows,
        "targets": {
            "falls that did not stay finite": target(sum(not r["finite"] for r in fell), 0),
            "ticks refused": target(sum(r["refused"] for r in fell), 0),
            "largest rise by the largest kinetic energy": target(max(r["rise"] for r in fell), RISE),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print a row per robot and rate."""
    table = Table(box=SIMPLE, title=f"robots of example-robot-data, falling for {found['seconds']:g} s")
    for column in ("robot", "speeds", "decay", "finite", "refused", "kinetic", "rise", "us per tick"):
        table.add_column(column, justify="left" if column == "robot" else "right", no_wrap=True)
    for name, r in found["rows"].items():
        if "not_read" in r:
            console.print(f"{name}: {r['not_read']}", markup=False)
            continue
        table.add_row(
            name,
            str(r["nu"]),
            f"{r['decay']:.2g}",
            "yes" if r["finite"] else "no",
            str(r["refused"]),
            f"{r['kinetic_J']:.3g} J",
            f"{r['rise']:.1e}",
            f"{r['us_per_tick']:.0f}",
        )
    console.print(table)
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each fall (10)")
    parser.add_argument("--robots", nargs="+", metavar="NAME", help="some robots (all)")
    options: argparse.Namespace = parser.parse_args()
    known = sorted(library_models())
    robots = options.robots or known
    if unknown := [r for r in robots if r not in known]:
        sys.exit(f"{unknown[0]!r} is no robot of example-robot-data: use some of {', '.join(known)}.")
    report(options, lambda: measure(robots, options.seconds), show)


if __name__ == "__main__":
    main()
