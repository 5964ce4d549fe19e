"""How much faster than the clock virtual time is: the scripted visit of shipped scenes.

    python tools/bench_virtual.py [--seconds 15] [SCENE ...]

Prints for each scene the ratio of simulated to real time, in one compiled loop and with the device in Python,
and whether both give the same rows to the bit.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import hapticsim as hs
from hapticsim.drivers.classes import driver_class
from hapticsim.drivers.registry import options_for
from hapticsim.simulate.virtual import simulate

CONFIGS = Path(__file__).parents[1] / "configs"


def run(path: Path, seconds: float, tick_by_tick: bool) -> tuple[np.ndarray, float]:
    """Rows of a scripted visit, and the seconds it took once everything was compiled."""
    scene = hs.load(path)
    driver, best = driver_class("scripted"), np.inf
    rows = np.zeros((0, 0))
    for _ in range(1 if tick_by_tick else 3):  # the first may load machine code; others share the machine
        simulation = hs.Simulation(scene)
        with driver(options_for("scripted", scene.device)) as hand:
            start = time.perf_counter()
            rows = simulate(scene, hand, seconds, simulation=simulation, tick_by_tick=tick_by_tick)
            best = min(best, time.perf_counter() - start)
    return rows, best


def main() -> None:
    """Print a line per scene."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args()
    print("| scene | compiled loop | device in Python | same bits |")
    print("|---|---|---|---|")
    for path in options.scenes or [CONFIGS / "wam_table.yaml"]:
        fast, quick = run(path, options.seconds, False)
        slow, long = run(path, options.seconds, True)
        same = "yes" if fast.tobytes() == slow.tobytes() else "no"
        print(f"| {path.stem} | {options.seconds / quick:.0f}x | {options.seconds / long:.1f}x | {same} |")


if __name__ == "__main__":
    main()
