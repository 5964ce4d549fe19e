"""Time a tick of more and more cubes that rest on a floor, each by itself, beside MuJoCo's.

    python tools/bench_growth.py                    1, 4, 16 and 64 cubes
    python tools/bench_growth.py --cubes 2 8 32     these
    python tools/bench_growth.py --sleepers 1000    so many that all sleep, and nothing else
    python tools/bench_growth.py --json - --quick   the numbers, a tenth of the ticks

Cubes of 40 mm and 0.3 kg, four corners each on the floor, without friction (condim 1 in MuJoCo, Euler).  Both
loops are compiled and take turns; the ratio is the median of the ratios of neighbours.  Ours are exact, by
time stepping, and exact and fallen asleep; MuJoCo's awake and fallen asleep.  Before anything is timed, those
awake must bear the weight of all cubes, and the others sleep.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import mujoco
import numpy as np
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.model.scene import TIME_STEPPING
from hapticsim.model.settings import SleepSettings

HALF, MASS, INERTIA, APART = 0.02, 0.3, 8e-5, 0.1
GRAVITY, TICK = 9.81, 1e-3
CUBES = (1, 4, 16, 64)
LOOPS = ("exact", "stepping", "asleep", "mujoco", "mujoco_asleep")
SLEEP = SleepSettings(after_s=0.1)
SETTLE, BATCH, ROUNDS = 2000, 500, 21
SAME_WEIGHT = 1e-3
MOST_ROWS = 256  # that a scene may have


def places(cubes: int) -> list[tuple[float, float, float]]:
    """Where each cube stands, in rows of eight."""
    return [(APART * (i % 8), APART * (i // 8), HALF) for i in range(cubes)]


def our_scene(cubes: int) -> hs.Scene:
    """The cubes as a scene, with a row for each corner."""
    inertia = f"{{xx: {INERTIA}, yy: {INERTIA}, zz: {INERTIA}}}"
    bodies, joints, shapes, contacts = [], [], ["  - {name: floor, kind: plane}"], []
    for i, (x, y, z) in enumerate(places(cubes)):
        bodies.append(f"    - {{name: c{i}, inertial: {{mass_kg: {MASS}, inertia_kg_m2: {inertia}}}}}")
        origin = f"origin: {{xyz_m: [{x}, {y}, {z}]}}"
        joints.append(f"    - {{name: j{i}, type: free, parent: world, child: c{i}, {origin}}}")
        shapes.append(f"  - {{name: c{i}, body: c{i}, kind: box, half_extents_m: [{HALF}, {HALF}, {HALF}]}}")
        contacts.append(f"  - {{between: [c{i}, floor]}}")
    lines = [
        "name: cubes",
        f"max_rows: {min(4 * cubes, MOST_ROWS)}",
        "robot:",
        "  bodies:",
        *bodies,
        "  joints:",
        *joints,
    ]
    return loads("\n".join([*lines, "shapes:", *shapes, "contacts:", *contacts]) + "\n")


def peer_model(cubes: int, sleep: bool = False) -> mujoco.MjModel:
    """The cubes in MuJoCo; they touch the floor alone."""
    box = f'<geom type="box" size="{HALF} {HALF} {HALF}" condim="1" contype="1" conaffinity="2"/>'
    mass = f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
    bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/>{mass}{box}</body>' for x, y, z in places(cubes))
    floor = '<geom type="plane" size="0 0 1" condim="1" contype="2" conaffinity="1"/>'
    flag = f'<flag sleep="{"enable" if sleep else "disable"}"/>'
    option = f'<option timestep="{TICK}" integrator="Euler">{flag}</option>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{floor}{bodies}</worldbody></mujoco>")


def peer_weight(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """What the floor bears in MuJoCo [N]."""
    total, wrench = 0.0, np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, wrench)
        total += float(wrench[0])
    return total


def time_cubes(cubes: int, rounds: int, batch: int) -> Found:
    """Seconds until so many cubes are loaded, and microseconds per tick of all loops, taking turns."""
    start = time.perf_counter()
    exact = hs.Simulation(our_scene(cubes), lambda text: print(text, end="", file=sys.stderr))
    loaded, scene = time.perf_counter() - start, exact.scene
    stepping = hs.Simulation(replace(scene, contact_regime=TIME_STEPPING))
    asleep = hs.Simulation(replace(scene, sleep=SLEEP))
    models = peer_model(cubes), peer_model(cubes, sleep=True)
    peers = [(model, mujoco.MjData(model)) for model in models]
    steps = [sim.step for sim in (exact, stepping, asleep)]
    steps += [partial(mujoco.mj_step, model, data) for model, data in peers]
    for step in steps:
        step(SETTLE)
    weight = cubes * MASS * GRAVITY
    borne = [sum(c.force for c in sim.state.contacts) for sim in (exact, stepping)] + [peer_weight(*peers[0])]
    if max(abs(found - weight) for found in borne) > SAME_WEIGHT * weight:
        sys.exit(f"{cubes} cubes of {weight:.3f} N: borne are {borne} N, exact, by time stepping, in MuJoCo.")
    if np.any(asleep.state.u) or peers[1][1].ntree_awake > 0:
        sys.exit(f"{cubes} cubes: not all sleep, in ours or in MuJoCo.")
    times = np.array([[time_of(step, batch) for step in steps] for _ in range(rounds)]) / batch * 1e6
    found: Found = {f"{loop}_us": float(np.median(times[:, i])) for i, loop in enumerate(LOOPS)}
    for loop, peer in (("exact", "mujoco"), ("stepping", "mujoco"), ("asleep", "mujoco_asleep")):
        ratios = times[:, LOOPS.index(loop)] / times[:, LOOPS.index(peer)]
        found[f"{loop}_ratio"] = float(np.median(ratios))
    return found | {"load_s": loaded, "rows": len(exact.state.contacts)}


def time_sleepers(cubes: int, rounds: int, batch: int) -> Found:
    """Microseconds per tick of so many cubes, all asleep, ours and MuJoCo's, taking turns."""
    start = time.perf_counter()
    sim = hs.Simulation(
        replace(our_scene(cubes), sleep=SLEEP), lambda text: print(text, end="", file=sys.stderr)
    )
    loaded = time.perf_counter() - start
    model = peer_model(cubes, sleep=True)
    data = mujoco.MjData(model)
    steps: list[Callable[[int], object]] = [sim.step, partial(mujoco.mj_step, model, data)]
    for step in steps:
        step(SETTLE)
    if np.any(sim.state.u) or data.ntree_awake > 0:
        sys.exit(f"{cubes} cubes: not all sleep, in ours or in MuJoCo.")
    times = np.array([[time_of(step, batch) for step in steps] for _ in range(rounds)]) / batch * 1e6
    ours, peer = np.median(times, axis=0)
    ratio = float(np.median(times[:, 0] / times[:, 1]))
    return {"ours_us": float(ours), "mujoco_us": float(peer), "ratio": ratio, "load_s": loaded}


def time_of(step: Callable[[int], object], batch: int) -> float:
    """Seconds that a batch of ticks takes."""
    begun = time.perf_counter()
    step(batch)
    return time.perf_counter() - begun


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table."""
    table = Table(box=SIMPLE, title=f"resting cubes: us per tick, medians of {found['rounds']} rounds")
    loops = ("exact", "stepping", "asleep", "MuJoCo", "MuJoCo asleep")
    ratios = ("exact / MuJoCo", "stepping / MuJoCo", "asleep / MuJoCo asleep")
    for column in ("cubes", "rows", *loops, *ratios, r"loaded in \[s]"):
        table.add_column(column, justify="right")
    if before:
        table.add_column("exact before", justify="right")
    for cubes, t in found["cubes"].items():
        row = [cubes, str(t["rows"]), *(f"{t[f'{loop}_us']:.1f}" for loop in LOOPS)]
        row += [*(f"{t[f'{loop}_ratio']:.2f}" for loop in LOOPS[:3]), f"{t['load_s']:.1f}"]
        if before:
            row.append(f"{before['cubes'][cubes]['exact_us']:.1f}" if cubes in before["cubes"] else "")
        table.add_row(*row)
    if found["cubes"]:
        console.print(table)
    for cubes, t in found["sleepers"].items():
        console.print(
            f"{cubes} cubes asleep: {t['ours_us']:.1f} us a tick, MuJoCo {t['mujoco_us']:.1f} us, "
            f"ratio {t['ratio']:.2f}; loaded in {t['load_s']:.1f} s"
        )
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cubes", type=int, nargs="+", default=CUBES, help="how many, 1 to 64 each")
    parser.add_argument("--sleepers", type=int, help="how many cubes that all sleep instead, 1 or more")
    parser.add_argument("--quick", action="store_true", help="few ticks: to see that the tool works")
    options = parser.parse_args()
    if not all(1 <= n <= 64 for n in options.cubes):
        parser.error(f"--cubes {options.cubes}: a scene has at most 256 rows, four a cube; give 1 to 64.")
    if options.sleepers is not None and options.sleepers < 1:
        parser.error(f"--sleepers {options.sleepers}: give 1 or more.")
    rounds, batch = (3, BATCH // 10) if options.quick else (ROUNDS, BATCH)

    def measure() -> Found:
        cubes, sleepers = options.cubes if options.sleepers is None else (), options.sleepers
        return {
            "machine": machine("mujoco"),
            "rounds": rounds,
            "cubes": {str(n): time_cubes(n, rounds, batch) for n in cubes},
            "sleepers": {str(sleepers): time_sleepers(sleepers, rounds, batch)} if sleepers else {},
        }

    report(options, measure, show)


if __name__ == "__main__":
    main()
