"""Press a coupled tip at random against sheets 0.2 mm thick, and count what comes to the other side.

    python tools/thin_sheets.py                         500 trials
    python tools/thin_sheets.py --trials 100 --seed 7   others

A tip of 0.3 to 5 mm and 20 to 300 g is led by a device of the table, with the gains derived for it, at up to
its largest force.  The hand runs for half a second between random places up to 40 mm on both sides of a
sheet, at 0.05 to 4 m/s: a box, the same as a mesh, waves, or a shell around the tip or under it.  A trial
counts as

    through   the centre was on the other side at the end of a tick, or an event says that it is inside
    deep      the tip was more than 1e-6 m inside, by the gaps that are reported
    unfelt    the force was below a tenth of the largest one all the time, so that it shows nothing

Ends with status 1 where one was through or deep; the seeds are told.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
import trimesh
from hapticsim_devices.limits import device_table
from mesh_scenes import box_mesh, closed_below, corners_of, is_inside, mesh_of
from mesh_touch import NEVER, TICK_s, limits_of, scene_of
from rich.progress import Progress

import hapticsim as hs
from hapticsim.model.triangle_mesh import TriangleMesh

THIN_m, WIDE_m, REACH_m, DEEP_m = 2e-4, 0.2, 0.04, 1e-6
TICKS, FELT = 500, 0.1
SHELL_m, HIGH_m, WAVE_m = 0.06, 0.002, 0.05
NAMES = sorted(device_table())
Array = np.ndarray


@dataclass
class Pressed:
    """What a trial came to."""

    seed: int
    through: bool = False
    deepest_m: float = 0.0
    pressed: float = 0.0  # largest force by the largest that the device has
    ticks: int = 0  # until the end, or until the force was taken away

    @property
    def bad(self) -> bool:
        return self.through or self.deepest_m > DEEP_m


@dataclass
class Sheet:
    """A thin solid, and whether a point is on the side of its middle where the tip starts."""

    solid: TriangleMesh | tuple[float, ...]
    is_here: Callable[[Array], bool]
    start: Array
    place: Callable[[Array], Array]  # of the device, from three numbers between -1 and 1


def wavy(cells: int, lift: float = 0.0) -> Array:
    """Points ((cells + 1)^2, 3) [m] of waves over a square."""
    x, y = np.meshgrid(*(2 * [np.linspace(-WIDE_m, WIDE_m, cells + 1)]), indexing="ij")
    k = 2.0 * np.pi / WAVE_m
    return np.stack([x, y, HIGH_m * np.sin(k * x) * np.cos(k * y) + lift], -1).reshape(-1, 3)


def wavy_sheet(cells: int) -> TriangleMesh:
    """Waves on both sides, THIN_m apart: the block below them with another bottom."""
    n = cells + 1
    block = closed_below(wavy(cells, 0.5 * THIN_m), n)
    return TriangleMesh(np.vstack([wavy(cells, 0.5 * THIN_m), wavy(cells, -0.5 * THIN_m)]), block.triangles)


def shell(finer: int) -> TriangleMesh:
    """A ball with a hollow, THIN_m thick at its vertices."""
    outer, inner = (trimesh.creation.icosphere(finer, r) for r in (SHELL_m, SHELL_m - THIN_m))
    inner.invert()
    return mesh_of(trimesh.util.concatenate([outer, inner]))


def sheet(rng: np.random.Generator) -> Sheet:
    """One of five kinds."""

    def above(middle: TriangleMesh) -> Callable[[Array], bool]:
        """Not inside the block below a middle surface."""
        return lambda c: c[2] > 2.0 * HIGH_m or not is_inside(corners_of(middle), c)

    def flat(way: Array) -> Array:
        return REACH_m * way

    start = np.array([0.0, 0.0, 0.02])
    kind, half = int(rng.integers(5)), (WIDE_m, WIDE_m, 0.5 * THIN_m)
    if kind == 0:
        return Sheet(half, lambda c: bool(c[2] > 0.0), start, flat)
    if kind == 1:
        return Sheet(box_mesh(half, int(rng.integers(5))), lambda c: bool(c[2] > 0.0), start, flat)
    if kind == 2:
        cells = int(rng.integers(20, 70))
        return Sheet(wavy_sheet(cells), above(closed_below(wavy(cells), cells + 1)), start, flat)
    finer = int(rng.integers(2, 5))
    middle = corners_of(mesh_of(trimesh.creation.icosphere(finer, SHELL_m - 0.5 * THIN_m)))
    if kind == 3:  # from within
        return Sheet(shell(finer), lambda c: is_inside(middle, c), np.zeros(3), lambda w: 2.0 * REACH_m * w)
    outside = np.array([0.0, 0.0, SHELL_m + 0.02])
    place = np.array([0.0, 0.0, SHELL_m - 0.5 * REACH_m])
    return Sheet(shell(finer), lambda c: not is_inside(middle, c), outside, lambda w: place + REACH_m * w)


def press(seed: int) -> Pressed:
    """One trial."""
    rng = np.random.default_rng(seed)
    radius = float(10.0 ** rng.uniform(-3.5, -2.3))
    case = sheet(rng)
    device = NAMES[int(rng.integers(len(NAMES)))]
    sim = hs.Simulation(scene_of(case.solid, case.start, radius, float(rng.uniform(0.02, 0.3))))
    limits = limits_of(device)
    sim.couple(limits)
    sim.arm()
    found, here = Pressed(seed), case.start.copy()
    goal, speed = here, 1.0
    for found.ticks in range(TICKS):
        way = goal - here
        if np.linalg.norm(way) < speed * TICK_s:
            goal, speed = case.place(rng.uniform(-1.0, 1.0, 3)), 10.0 ** rng.uniform(-1.3, 0.6)
            way = goal - here
        velocity = speed * way / max(float(np.linalg.norm(way)), 1e-12)
        here = here + TICK_s * velocity
        sim.set_device(here, velocity, float(rng.uniform(0.0, 1e-3)))
        sim.step()
        state = sim.state
        found.pressed = max(found.pressed, float(np.linalg.norm(state.hand_force)) / limits.max_force_N)
        found.deepest_m = max(found.deepest_m, -float(sim.gaps.min()))
        if not case.is_here(state.q) or any(event.kind in NEVER for event in sim.events):
            found.through = True
            break
        if state.fault:
            break
    return found


def presses(trials: int, seed: int, workers: int) -> Iterator[Pressed]:
    """Run trials in processes, each as it ends."""
    if workers == 1:
        yield from map(press, range(seed, seed + trials))
        return
    with ProcessPoolExecutor(workers) as pool:
        waiting = [pool.submit(press, i) for i in range(seed, seed + trials)]
        for done in as_completed(waiting):
            yield done.result()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=500, help="how many (500)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    asked = parser.parse_args()
    every = [press(asked.seed)]  # compiles what is not kept
    with Progress() as progress:
        bar = progress.add_task("trials", total=asked.trials)
        for found in presses(asked.trials - 1, asked.seed + 1, asked.workers):
            every.append(found)
            progress.update(bar, completed=len(every))
    deep = [f.seed for f in every if f.deepest_m > DEEP_m]
    through = [f.seed for f in every if f.through]
    unfelt, ticks = sum(f.pressed < FELT for f in every), sum(f.ticks for f in every)
    print(
        f"{len(every)} trials, {ticks} ticks: {len(through)} through, {len(deep)} deep, {unfelt} unfelt; "
        f"deepest {max(f.deepest_m for f in every):.2g} m"
    )
    if through or deep:
        print(f"seeds: through {sorted(through)}, deep {sorted(deep)}")
    return int(bool(through or deep))


if __name__ == "__main__":
    sys.exit(main())
