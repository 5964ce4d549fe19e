"""Throw random balls at random triangle meshes, and count what sinks in, gains energy, or passes.

    python tools/random_meshes.py                         1000 throws
    python tools/random_meshes.py --throws 100 --seed 7   others
    python tools/random_meshes.py --stepping              in time steps

A ball of 5 to 130 mm falls or is thrown at up to 9 m/s onto boxes, bumpy balls, terrains, bowls, rings and
tubes of 12 to some 10 000 triangles, at 100, 250 or 1000 Hz, in time steps at 1000 Hz, plastic or bouncing;
every third one is pushed about by a random force.  A throw counts as

    deep    the centre came nearer to a triangle than the radius less 1e-6 m, by plain geometry; in time
            steps less 1e-3 m: at 5 m/s a ball passes several triangles of a bowl within one
    gain    the energy rose above its least value so far by more than 1e-6 of its scale, unless it is pushed
    passed  an event says that the ball is inside and held by nothing, or the tick was refused

Ends with status 1 where there was one; the seeds are told.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

import numpy as np
import trimesh
from mesh_scenes import GRAVITY, ball_scene, bowl, box_mesh, bumpy, mesh_of, plain_distance, terrain
from rich.progress import Progress

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.model.triangle_mesh import TriangleMesh

SUNK_m, SUNK_IN_STEPS_m, GAIN = 1e-6, 1e-3, 1e-6
TICKS = 600
LOOK = 5  # ticks between two looks by plain geometry, where nothing happened
BAD = (Event.THROUGH, Event.NOT_FINITE, Event.ENERGY)


@dataclass
class Found:
    """What throws came to."""

    throws: int = 0
    deep: list[int] = field(default_factory=list)  # seeds
    gain: list[int] = field(default_factory=list)
    passed: list[int] = field(default_factory=list)
    deepest_m: float = 0.0
    largest_gain: float = 0.0

    def add(self, other: Found) -> None:
        self.throws += other.throws
        self.deep += other.deep
        self.gain += other.gain
        self.passed += other.passed
        self.deepest_m = max(self.deepest_m, other.deepest_m)
        self.largest_gain = max(self.largest_gain, other.largest_gain)

    @property
    def bad(self) -> list[int]:
        return sorted({*self.deep, *self.gain, *self.passed})


def random_mesh(rng: np.random.Generator) -> TriangleMesh:
    """A closed surface within half a metre or so of the origin."""
    match rng.integers(7):
        case 0:
            return box_mesh(rng.uniform(0.1, 0.5, 3), int(rng.integers(4)))
        case 1:
            return bumpy(rng, int(rng.integers(1, 5)), rng.uniform(0.0, 0.3))
        case 2:
            return terrain(rng, int(rng.integers(3, 20)), rng.uniform(0.0, 0.15))
        case 3:
            return bowl(int(rng.integers(2, 30)), rng.uniform(0.2, 2.0))
        case 4:
            long, short = rng.integers(4, 24, 2)
            tube = rng.uniform(0.08, 0.2)
            return mesh_of(
                trimesh.creation.torus(0.4, tube, major_sections=2 * int(long), minor_sections=int(short))
            )
        case 5:
            sections = int(rng.integers(5, 40))
            return mesh_of(trimesh.creation.annulus(rng.uniform(0.1, 0.3), 0.5, 0.3, sections=sections))
    return mesh_of(trimesh.creation.cylinder(0.4, rng.uniform(0.05, 0.5), sections=int(rng.integers(3, 64))))


def throw(seed: int, stepping: bool = False) -> Found:
    """One ball at one mesh."""
    rng = np.random.default_rng(seed)
    mesh, radius = random_mesh(rng), rng.choice([0.005, 0.02, 0.05, 0.1]) * rng.uniform(0.7, 1.3)
    place = np.array([*rng.uniform(-0.35, 0.35, 2), np.linalg.norm(mesh.vertices, axis=1).max() + radius])
    velocity = rng.choice([0.0, 1.0, 3.0]) * rng.normal(size=3)
    velocity[2] = -abs(velocity[2])
    scene = ball_scene(
        mesh,
        place,
        velocity,
        radius,
        rng.choice([0.0, 0.6]),
        rng.choice([1000.0] if stepping else [100.0, 250.0, 1000.0]),
    )
    sim = hs.Simulation(replace(scene, contact_regime="time_stepping" if stepping else "exact"))
    found, least, scale = Found(1), math.inf, 0.5 * velocity @ velocity + GRAVITY * place[2]
    pushed, torque = seed % 3 == 0, np.zeros(6)
    for i in range(TICKS):
        if pushed and i % 25 == 0:
            at = sim.state.q[:3]
            torque[3:] = 30.0 * rng.normal(size=3) - 20.0 * at / max(np.linalg.norm(at), 0.1)
            sim.apply(torque=torque)
        sim.step()
        events, q = sim.events, sim.state.q
        if any(e.kind in BAD for e in events) or not np.all(np.isfinite(q)):
            found.passed = [seed]
            return found
        energy = sum(sim.energy())
        least = min(least, energy)
        if not pushed:
            found.largest_gain = max(found.largest_gain, (energy - least) / scale)
        if i % LOOK == 0 or events:
            found.deepest_m = max(found.deepest_m, radius - plain_distance(mesh, q[:3]))
        if q[2] < -1.0:
            break
    found.deep = [seed] if found.deepest_m > (SUNK_IN_STEPS_m if stepping else SUNK_m) else []
    found.gain = [seed] if found.largest_gain > GAIN else []
    return found


def throws(count: int, seed: int, workers: int, stepping: bool = False) -> Iterator[Found]:
    """Run throws in processes, each as it ends."""
    if workers == 1:
        for i in range(seed, seed + count):
            yield throw(i, stepping)
        return
    with ProcessPoolExecutor(workers) as pool:
        waiting = [pool.submit(throw, i, stepping) for i in range(seed, seed + count)]
        for done in as_completed(waiting):
            yield done.result()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--throws", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--stepping", action="store_true", help="contacts in the time-stepping regime")
    asked = parser.parse_args()
    total = Found()
    total.add(throw(asked.seed, asked.stepping))  # compiles what is not kept
    with Progress() as progress:
        bar = progress.add_task("throws", total=asked.throws)
        try:
            for found in throws(asked.throws - 1, asked.seed + 1, asked.workers, asked.stepping):
                total.add(found)
                progress.update(bar, completed=total.throws)
        except KeyboardInterrupt:
            pass
    print(
        f"{total.throws} throws: {len(total.deep)} deep, {len(total.gain)} gained, "
        f"{len(total.passed)} passed; "
        f"deepest {total.deepest_m:.2g} m, largest gain {total.largest_gain:.2g}"
    )
    if total.bad:
        print(f"seeds: {total.bad}")
    return int(bool(total.bad))


if __name__ == "__main__":
    sys.exit(main())
