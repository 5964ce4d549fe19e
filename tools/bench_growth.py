"""Time a tick of more and more cubes that rest on a floor, each by itself, beside MuJoCo's.

    python tools/bench_growth.py                    1, 4, 16 and 64 cubes
    python tools/bench_growth.py --cubes 2 8 32     these
    python tools/bench_growth.py --json - --quick   the numbers, a tenth of the ticks

Cubes of 40 mm and 0.3 kg, four corners each on the floor, without friction (condim 1 in MuJoCo, Euler).  Both
loops are compiled and take turns; the ratio is the median of the ratios of neighbours.  Before anything is
timed, both must bear the weight of all cubes.
"""

from __future__ import annotations

import statistics
import sys
import time

import mujoco
import numpy as np
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.config.load import loads

HALF, MASS, INERTIA, APART = 0.02, 0.3, 8e-5, 0.1
GRAVITY, TICK = 9.81, 1e-3
CUBES = (1, 4, 16, 64)
SETTLE, BATCH, ROUNDS = 2000, 500, 21
SAME_WEIGHT = 1e-3


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
    lines = ["name: cubes", f"max_rows: {4 * cubes}", "robot:", "  bodies:", *bodies, "  joints:", *joints]
    return loads("\n".join([*lines, "shapes:", *shapes, "contacts:", *contacts]) + "\n")


def peer_model(cubes: int) -> mujoco.MjModel:
    """The cubes in MuJoCo; they touch the floor alone."""
    box = f'<geom type="box" size="{HALF} {HALF} {HALF}" condim="1" contype="1" conaffinity="2"/>'
    mass = f'<inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
    bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/>{mass}{box}</body>' for x, y, z in places(cubes))
    floor = '<geom type="plane" size="0 0 1" condim="1" contype="2" conaffinity="1"/>'
    option = f'<option timestep="{TICK}" integrator="Euler"/>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{floor}{bodies}</worldbody></mujoco>")


def peer_weight(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """What the floor bears in MuJoCo [N]."""
    total, wrench = 0.0, np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, wrench)
        total += float(wrench[0])
    return total


def time_cubes(cubes: int, rounds: int, batch: int) -> Found:
    """Seconds until so many cubes are loaded, and microseconds per tick of both, taking turns."""
    start = time.perf_counter()
    sim = hs.Simulation(our_scene(cubes), lambda text: print(text, end="", file=sys.stderr))
    loaded = time.perf_counter() - start
    model = peer_model(cubes)
    data = mujoco.MjData(model)
    sim.step(SETTLE)
    mujoco.mj_step(model, data, SETTLE)
    weight = cubes * MASS * GRAVITY
    borne = sum(contact.force for contact in sim.state.contacts), peer_weight(model, data)
    if max(abs(found - weight) for found in borne) > SAME_WEIGHT * weight:
        sys.exit(f"{cubes} cubes of {weight:.3f} N: borne are {borne[0]:.3f} N, in MuJoCo {borne[1]:.3f} N.")
    pairs = []
    for _ in range(rounds):
        begun = time.perf_counter()
        sim.step(batch)
        middle = time.perf_counter()
        mujoco.mj_step(model, data, batch)
        pairs.append((middle - begun, time.perf_counter() - middle))
    ours, theirs = np.array(pairs).T / batch * 1e6
    return {
        "load_s": loaded,
        "ours_us": float(np.median(ours)),
        "mujoco_us": float(np.median(theirs)),
        "ratio": statistics.median(ours / theirs),
        "rows": len(sim.state.contacts),
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table."""
    table = Table(box=SIMPLE, title=f"resting cubes: us per tick, medians of {found['rounds']} rounds")
    for column in ("cubes", "rows", "ours", "MuJoCo", "ratio", "loaded in [s]"):
        table.add_column(column, justify="right", no_wrap=True)
    if before:
        table.add_column("ours before", justify="right", no_wrap=True)
    for cubes, t in found["cubes"].items():
        row = [cubes, str(t["rows"]), f"{t['ours_us']:.1f}", f"{t['mujoco_us']:.1f}", f"{t['ratio']:.2f}"]
        row.append(f"{t['load_s']:.1f}")
        if before:
            row.append(f"{before['cubes'][cubes]['ours_us']:.1f}" if cubes in before["cubes"] else "")
        table.add_row(*row)
    console.print(table)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cubes", type=int, nargs="+", default=CUBES, help="how many, 1 to 64 each")
    parser.add_argument("--quick", action="store_true", help="few ticks: to see that the tool works")
    options = parser.parse_args()
    if not all(1 <= n <= 64 for n in options.cubes):
        parser.error(f"--cubes {options.cubes}: a scene has at most 256 rows, four a cube; give 1 to 64.")
    rounds, batch = (3, BATCH // 10) if options.quick else (ROUNDS, BATCH)

    def measure() -> Found:
        cubes = {str(n): time_cubes(n, rounds, batch) for n in options.cubes}
        return {"machine": machine("mujoco"), "rounds": rounds, "cubes": cubes}

    report(options, measure, show)


if __name__ == "__main__":
    main()
