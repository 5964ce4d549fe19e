"""Release boxes near edges from random starts, and count where energy came from nowhere.

    python tools/random_starts.py                         1000 starts of every scene
    python tools/random_starts.py --scene dominoes --starts 100 --seed 7 --rate 500

A start counts as a *gain* when the energy rises above its least value so far by more than 1e-6 of the scale,
and as a *flight* when a body's centre is higher than all energy of the start could lift it, below the floor,
or not finite, or when the tick was refused.  The scale is what a fault could turn into something else: the
kinetic energy of the start and the potential energy above the floor, z = 0.  Contacts are frictionless and
plastic, nobody pushes: the energy of a right run never rises.  Only in ``hand_over_wall`` somebody does: a
hand leads the puck over the wall, presses it onto edges and draws it off them.  There a flight is a puck that
gets 0.75 m away along an axis of the world, or a fault, and energy is not counted.

*Told* are starts that the door did not take (a box inside another one), and runs that ended because more
contacts closed than there are rows, which a fault says; *through* are runs in which a corner came in where
nothing holds it, which an event says.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import hapticsim as hs
from hapticsim.codes import Event, Fault
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.memory.arrays import EVENTS, FAULTS

GAIN = 1e-6  # of the scale
G = 9.81
Starts = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


@dataclass
class Found:
    """What the starts of one scene came to."""

    starts: int = 0
    gains: int = 0
    flights: int = 0
    told: int = 0
    through: int = 0
    worst: float = 0.0  # largest rise of the energy by the scale
    seeds: tuple[int, ...] = ()  # of gains and flights


def boxes(
    sizes: list[tuple[float, float, float]],
    masses: list[float],
    pairs: list[tuple[str, str]],
    fixed: str = "",
    rate_Hz: float = 1000.0,
) -> str:
    """A scene of free boxes b0, b1, ... over a floor, and the boxes of ``fixed``; half extents and masses."""
    bodies, joints, shapes = [], [], []
    for i, ((a, b, c), m) in enumerate(zip(sizes, masses, strict=True)):
        xx, yy, zz = (m / 3 * s for s in (b * b + c * c, a * a + c * c, a * a + b * b))
        inertia = f"{{xx: {xx!r}, yy: {yy!r}, zz: {zz!r}}}"
        bodies.append(f"    - {{name: b{i}, inertial: {{mass_kg: {m}, inertia_kg_m2: {inertia}}}}}")
        joints.append(f"    - {{name: j{i}, type: free, parent: world, child: b{i}}}")
        shapes.append(f"  - {{name: b{i}, body: b{i}, kind: box, half_extents_m: [{a}, {b}, {c}]}}")
    lines = ["name: boxes", "robot:", "  bodies:", *bodies, "  joints:", *joints]
    lines += ["shapes:", *shapes, "  - {name: floor, kind: plane}", *([fixed] if fixed else [])]
    lines += ["contacts:", *(f"  - {{between: [b{i}, floor]}}" for i in range(len(sizes)))]
    lines += [f"  - {{between: [{a}, {b}]}}" for a, b in pairs]
    free = (f"    j{i}: {{xyz_m: [0, 0, {10.0 + i}]}}" for i in range(len(sizes)))
    return "\n".join([*lines, f"rate_Hz: {rate_Hz}", "initial:", "  free:", *free, ""])


def turned(rng: np.random.Generator, size: float, yaw: float = 0.0) -> np.ndarray:
    """A quaternion: yaw about z, then a random turn of at most ``size`` about a random axis."""
    axis = rng.normal(size=3)
    axis *= math.sin(0.5 * size * rng.uniform()) / np.linalg.norm(axis)
    x = np.array([math.sqrt(1.0 - axis @ axis), *axis])
    c, s = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    w = np.array([c * x[0] - s * x[3], c * x[1] - s * x[2], c * x[2] + s * x[1], c * x[3] + s * x[0]])
    return w / np.linalg.norm(w)


def puck_over_wall(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The puck over the wall or its side: flat and at rest on top, dropped, or thrown."""
    place = [rng.uniform(0.06, 0.22), rng.uniform(-0.23, 0.23), 0.12]
    q, u = np.array([*place, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    match rng.integers(4):
        case 1:
            q[2] += rng.uniform(0.0, 0.1)
            q[3:] = turned(rng, 0.0, rng.uniform(-math.pi, math.pi))
        case 2:
            q[2] += rng.uniform(0.03, 0.1)
            q[3:] = turned(rng, 1.5)
        case 3:
            q[2] += rng.uniform(0.03, 0.1)
            q[3:] = turned(rng, 3.0)
            u[:] = [*rng.uniform(-10, 10, 3), *rng.uniform(-1, 1, 3)]
    return q, u


def box_on_edge(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A box of 0.2 x 0.1 x 0.1 m half over the edge of a table, at rest, dropped flat, or thrown."""
    q = np.array([rng.uniform(0.1, 0.29), rng.uniform(-0.1, 0.1), 0.25, 1.0, 0.0, 0.0, 0.0])
    u = np.zeros(6)
    match rng.integers(4):
        case 1:
            q[3:] = turned(rng, 0.0, rng.uniform(-math.pi, math.pi))
        case 2:
            q[2] += rng.uniform(0.0, 0.1)
            q[3:] = turned(rng, 0.0, rng.uniform(-math.pi, math.pi))
            u[3:5] = rng.uniform(-1, 1, 2)
        case 3:
            q[2] += rng.uniform(0.08, 0.2)
            q[3:] = turned(rng, 3.0)
            u[:] = [*rng.uniform(-10, 10, 3), *rng.uniform(-1, 1, 3)]
    return q, u


def cube_on_cube(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two free cubes of 0.1 m, one on the other: shifted, turned, or dropped."""
    low = np.array([0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0])
    q = np.array([*rng.uniform(-0.06, 0.06, 2), 0.15, *turned(rng, 0.0, rng.uniform(-0.2, 0.2))])
    u = np.zeros(12)
    match rng.integers(3):
        case 1:
            q[2] += rng.uniform(0.0, 0.1)
            q[3:] = turned(rng, 0.0, rng.uniform(-math.pi, math.pi))
        case 2:
            q[2] += rng.uniform(0.05, 0.15)
            q[3:] = turned(rng, 3.0)
            u[6:] = [*rng.uniform(-10, 10, 3), *rng.uniform(-1, 1, 3)]
    return np.concatenate([low, q]), u


def dominoes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six dominoes in a row, the first of which topples."""
    apart, w = rng.uniform(0.013, 0.06), rng.uniform(2.0, 12.0)
    q, u = np.zeros(42), np.zeros(36)
    for i in range(6):
        q[7 * i : 7 * i + 7] = [i * apart, rng.uniform(-0.005, 0.005), 0.04, *turned(rng, 0.0)]
        if rng.integers(2):
            q[7 * i + 3 : 7 * i + 7] = turned(rng, 0.0, rng.uniform(-0.1, 0.1))
    u[1], u[3] = w, 0.04 * w
    return q, u


def stack(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six cubes of 0.1 m dropped upon one another, shifted by up to 16 mm, half of them turned."""
    q = np.zeros(42)
    for i in range(6):
        yaw = rng.uniform(-0.5, 0.5) if rng.integers(2) else 0.0
        q[7 * i : 7 * i + 7] = [*rng.uniform(-0.016, 0.016, 2), 0.05 + 0.12 * i, *turned(rng, 0.0, yaw)]
    return q, np.zeros(36)


def thrown(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A block thrown at the rim of a pedestal from any side."""
    angle, up = rng.uniform(-math.pi, math.pi), rng.uniform(0.25, 0.45)
    aim = np.array([math.cos(angle), math.sin(angle), 0.0])
    q = np.array([*(0.35 * aim[:2]), up, *turned(rng, 2.0 * math.pi)])
    speed = -rng.uniform(0.2, 3.0) * aim + np.array([0.0, 0.0, rng.uniform(-2.0, 1.0)])
    w, v = q[3], -q[4:]  # world to body axes
    u = np.concatenate([rng.uniform(-10, 10, 3), speed + 2.0 * np.cross(v, w * speed + np.cross(v, speed))])
    return q, u


def hand_over_wall(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The puck as the scene starts; the hand's way is random (``lead``)."""
    return np.array([0.0, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)


def lead(sim: hs.Simulation, rng: np.random.Generator) -> Iterator[None]:
    """Arm, then lead the handle up, over the wall, onto it or past its edge, and away; yield per tick."""
    x, y = rng.uniform(0.09, 0.21), rng.uniform(-0.22, 0.22)
    stops = [
        (np.array([0.0, 0.0, 0.12]), 0.4),
        (np.array([x, y, 0.12]), 0.6),
        (np.array([x + rng.uniform(-0.01, 0.01), y, rng.uniform(0.03, 0.1)]), 0.4),
        (np.array([x, y, 0.0]) + rng.uniform([-0.06, -0.06, 0.0], [0.06, 0.06, 0.12]), 0.6),
        (np.array([rng.uniform(0.0, 0.25), 0.0, rng.uniform(0.0, 0.1)]), 0.6),
    ]
    sim.couple(HAND)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    for _ in range(round(0.6 * sim.scene.rate_Hz)):
        yield
    here = np.zeros(3)
    for there, seconds in stops:
        n = round(seconds * sim.scene.rate_Hz)
        for i in range(1, n + 1):
            s = i / n
            way = there - here
            sim.set_device(here + s * s * (3.0 - 2.0 * s) * way, 6.0 * s * (1.0 - s) / seconds * way)
            yield
        here = there


HAND = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=14500.0, max_damping_Ns_per_m=20.0, apparent_mass_kg=0.2
)
CUBE, DOMINO, BLOCK = (0.05, 0.05, 0.05), (0.005, 0.02, 0.04), (0.1, 0.08, 0.05)
TABLE = "  - {name: table, kind: box, half_extents_m: [0.2, 0.3, 0.1], origin: {xyz_m: [0, 0, 0.1]}}"
PEDESTAL = "  - {name: pedestal, kind: box, half_extents_m: [0.15, 0.1, 0.1], origin: {xyz_m: [0, 0, 0.1]}}"
ROW = [(f"b{i}", f"b{i + 1}") for i in range(5)]
PUCK = Path(__file__).parents[1] / "configs" / "puck_and_wall.yaml"
SCENES: dict[str, tuple[Callable[[], hs.Scene], Starts, float]] = {
    "puck_over_wall": (lambda: hs.load(PUCK), puck_over_wall, 2.0),
    "box_on_edge": (
        lambda: loads(boxes([(0.1, 0.05, 0.05)], [0.4], [("b0", "table")], TABLE)), box_on_edge, 2.0,
    ),
    "cube_on_cube": (lambda: loads(boxes([CUBE] * 2, [0.5] * 2, ROW[:1])), cube_on_cube, 2.0),
    "dominoes": (lambda: loads(boxes([DOMINO] * 6, [0.05] * 6, ROW)), dominoes, 1.0),
    "stack": (lambda: loads(boxes([CUBE] * 6, [0.5] * 6, ROW)), stack, 1.0),
    "thrown": (lambda: loads(boxes([BLOCK], [2.0], [("b0", "pedestal")], PEDESTAL)), thrown, 2.0),
    "hand_over_wall": (lambda: hs.load(PUCK), hand_over_wall, 0.0),
}  # fmt: skip


def led(sim: hs.Simulation, rng: np.random.Generator) -> tuple[float, bool, bool, bool]:
    """As ``watch``, with a hand; energy is not counted.

    A coupler that is stretched too far (the hand behind the wall, the puck before it) is told; whatever else
    takes the force away counts as a flight.
    """
    state, through = sim._state, False
    for _ in lead(sim, rng):
        sim.step()
        n = min(int(sim._output.counts[EVENTS]), len(sim._output.events))
        through = through or (n > 0 and Event.THROUGH in sim._output.events[:n, 0])
        if not np.abs(state.q[:3]).max() < 0.75 or state.safety[FAULTS] & ~Fault.STRETCH:
            return 0.0, True, through, False
    return 0.0, False, through, bool(state.safety[FAULTS] & Fault.STRETCH)


def watch(sim: hs.Simulation, seconds: float) -> tuple[float, bool, bool, bool]:
    """Run from the present state until something is told that ends it.

    Returns the largest rise by the scale, whether something flew, whether a corner was let through, and
    whether the rows were too few, which is told.
    """
    kinetic, potential = sim.energy()
    scale = least = kinetic + potential
    masses = [b.mass for b in sim.scene.model.bodies]
    highest = scale / (G * min(masses)) + 1e-3
    rise, flew, through = 0.0, False, False
    state, happened = sim._state, sim._output  # as they are: a snapshot takes longer than a tick
    heights = state.q[2::7]  # of the centres of mass: origins of free bodies
    for _ in range(round(seconds * sim.scene.rate_Hz)):
        sim.step()
        energy = sum(sim.energy())
        rise, least = max(rise, energy - least), min(least, energy)
        n = min(int(happened.counts[EVENTS]), len(happened.events))
        through = through or (n > 0 and Event.THROUGH in happened.events[:n, 0])
        if state.safety[FAULTS] & Fault.ROWS_FULL:
            break
        inside = heights.min() > 0.0 and heights.max() < highest
        if not inside or state.safety[FAULTS] & (Fault.NOT_FINITE | Fault.ENERGY):
            flew = True
            break
    full = bool(state.safety[FAULTS] & Fault.ROWS_FULL)
    return rise / scale if math.isfinite(rise) else math.inf, flew, through, full


def trials(
    name: str, starts: int, seed: int, seconds: float | None = None, rate_Hz: float = 1000.0
) -> Iterator[Found]:
    """Run the starts of a scene, one after the other; what was found so far after each."""
    make, start, lasts = SCENES[name]
    sim = hs.Simulation(replace(make(), rate_Hz=rate_Hz))
    before, found = sim.fork(), Found()
    for i in range(seed, seed + starts):
        rng = np.random.default_rng(i)
        q, u = start(rng)
        sim.restore(before)
        found.starts += 1
        try:
            sim.set_state(q, u)
        except ConfigError:
            found.told += 1
            continue
        rise, flew, through, full = watch(sim, seconds or lasts) if lasts else led(sim, rng)
        gained = not rise <= GAIN
        found.gains += gained
        found.flights += flew
        found.through += through
        found.told += full
        found.worst = max(found.worst, rise)
        if gained or flew:
            found.seeds += (i,)
        yield found
    yield found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scene", choices=[*SCENES], action="append", help="only this one; may be repeated")
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first start")
    parser.add_argument("--seconds", type=float, help="how long each is watched")
    parser.add_argument("--rate", type=float, default=1000.0, help="ticks per second")
    options = parser.parse_args()
    bad = 0
    print(
        f"{'scene':16}{'starts':>8}{'gains':>7}{'flights':>9}{'told':>9}{'through':>9}{'worst':>10}{'s':>7}"
    )
    for name in options.scene or SCENES:
        began, found = time.perf_counter(), Found()
        for found in trials(name, options.starts, options.seed, options.seconds, options.rate):  # noqa: B007
            pass
        took = time.perf_counter() - began
        print(
            f"{name:16}{found.starts:8}{found.gains:7}{found.flights:9}{found.told:9}{found.through:9}"
            f"{found.worst:10.1e}{took:7.0f}", flush=True,
        )  # fmt: skip
        if found.seeds:
            print(f"  starts that gained or flew: {' '.join(map(str, found.seeds[:20]))}", flush=True)
        bad += found.gains + found.flights
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
