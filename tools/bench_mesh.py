"""Time a ball dragged over a mesh, of a thousand to a million triangles, beside MuJoCo on the same surface.

    python tools/bench_mesh.py                     a table; a round of each mesh in turn, five rounds
    python tools/bench_mesh.py --json - --quick    the numbers, one round, up to 80 000 triangles
    python tools/bench_mesh.py --loads             seconds until a scene with a mesh file is ready instead

A ball of 10 mm is pressed with 10 N onto a ball of 0.3 m and led along its surface at 0.2 m/s.  *smooth* is a
convex polyhedron; *wavy* has bumps and hollows 6 mm high.  MuJoCo collides with the convex hull of a mesh, so
it is timed on the smooth one alone, up to 80 000 triangles, with the same forces.  Each tick is a call from
Python and timed there; a tick of ours handles every triangle that is passed in it.  Times are by the wall
clock, which counts what else the machine does; *cpu* is processor time of this thread, of each tick the least
of all rounds, which are the same ticks.

A load reads an STL file: the first time in a cache that has the machine code but not the mesh, then again.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import trimesh
from mesh_scenes import GRAVITY, ball_scene, mesh_of
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.files.cache_folder import ENVIRONMENT

RADIUS, SPEED, PRESS, STIFFNESS, DAMPING = 0.3, 0.2, 0.005, 2000.0, 60.0
TIP = 0.01
TICKS, WARM = 3000, 500
LOADED = """
name: a ball over a mesh
robot:
  bodies: [{{name: ball, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1e-4, yy: 1e-4, zz: 1e-4}}}}}}]
  joints: [{{name: ball, type: free, parent: world, child: ball}}]
shapes:
  - {{name: ball, kind: sphere, body: ball, radius_m: 0.01}}
  - {{name: solid, kind: mesh, file: {file}}}
contacts: [{{between: [ball, solid]}}]
initial: {{free: {{ball: {{xyz_m: [0, 0, 0.32]}}}}}}
"""
SMALLER = 100_000  # triangles of a --quick run, and of MuJoCo
SHOWN = [f"{kind}{label}_us" for kind in ("", "cpu_") for label in ("p50", "p99", "p999")]
Push = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


def surface(finer: int, wavy: float) -> trimesh.Trimesh:
    made = trimesh.creation.icosphere(finer, RADIUS)
    waves = np.sin(25.0 * made.vertices / RADIUS).prod(axis=1, keepdims=True)
    made.vertices *= 1.0 + wavy * waves
    return made


def led(i: int, place: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Force [N] that leads the ball, of 1 kg, along a curve below the surface, and carries its weight."""
    angle = SPEED / RADIUS * 1e-3 * i
    c = np.array([np.cos(0.3 * angle), np.sin(0.3 * angle)])
    n = np.array([*(np.sin(angle) * c), np.cos(angle)])
    return (
        STIFFNESS * ((RADIUS + TIP - PRESS) * n - place) - DAMPING * velocity + np.array([0.0, 0.0, GRAVITY])
    )


def ours(made: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray, Found]:
    """Microseconds of each tick by the wall clock and of processor time, and what happened in them."""
    start = time.perf_counter()
    sim = hs.Simulation(ball_scene(mesh_of(made), (0.0, 0.0, RADIUS + 2.0 * TIP), radius=TIP))
    seconds, took, used, events, held = time.perf_counter() - start, [], [], 0, 0
    torque = np.zeros(6)
    for i in range(WARM + TICKS):
        state = sim.state
        torque[3:] = led(i, state.q[:3], state.u[3:6])
        sim.apply(torque=torque)
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        sim.step()
        used.append(time.thread_time() - begin_cpu)
        took.append(time.perf_counter() - begin)
        events += len(sim.events) if i >= WARM else 0
        held += bool(sim.state.contacts) if i >= WARM else 0
    what = {"assemble_s": seconds, "events": events, "in_contact": held / TICKS}
    return np.array(took[WARM:]) * 1e6, np.array(used[WARM:]) * 1e6, what


def mujocos(made: trimesh.Trimesh) -> np.ndarray:
    """The same of mj_step."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 1e-3
    spec.add_mesh(name="m", uservert=made.vertices.ravel(), userface=made.faces.ravel())
    frictionless = {"condim": 1}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m", **frictionless)
    body = spec.worldbody.add_body(pos=[0.0, 0.0, RADIUS + 2.0 * TIP])
    body.add_freejoint()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[TIP, 0.0, 0.0], mass=1.0, **frictionless)
    model = spec.compile()
    data, took = mujoco.MjData(model), []
    for i in range(WARM + TICKS):
        data.qfrc_applied[:3] = led(i, data.qpos[:3], data.qvel[:3])
        begin = time.perf_counter()
        mujoco.mj_step(model, data)
        took.append(time.perf_counter() - begin)
    assert data.ncon == 1, "the ball of MuJoCo lost the surface"
    return np.array(took[WARM:]) * 1e6


def load_seconds(finer: int) -> Found:
    """Seconds from a scene file that names a mesh file to what can take a tick: read anew, and kept."""
    found: Found = {}
    hs.Simulation(ball_scene(mesh_of(surface(1, 0.0)), (0.0, 0.0, 0.4))).step()  # machine code is loaded
    before = os.environ.get(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[ENVIRONMENT] = str(Path(folder) / "cache")
        try:
            for turn, (name, divided) in enumerate(
                (("", 1), ("first_s", finer), ("kept_s", finer))
            ):  # the first time the equations of the ball are compiled
                file = Path(folder) / f"{divided}.stl"
                if turn < 2:
                    surface(divided, 0.02).export(file)
                path = Path(folder) / "scene.yaml"
                path.write_text(LOADED.format(file=file.name))
                start, start_cpu = time.perf_counter(), time.process_time()
                scene = hs.load(path)
                read = time.perf_counter()
                hs.Simulation(scene).step()
                if name:
                    found[name] = time.perf_counter() - start
                    found[f"read_{name}"] = read - start
                    found[f"cpu_{name}"] = time.process_time() - start_cpu
                    found["triangles"] = len(scene.shapes[1].mesh.triangles)
        finally:
            os.environ.pop(ENVIRONMENT)
            if before is not None:
                os.environ[ENVIRONMENT] = before
    return found


def measure_loads(quick: bool) -> Found:
    found: Found = {"machine": machine("trimesh"), "loads": []}
    for finer in (3, 5) if quick else (3, 5, 7, 8):
        found["loads"].append(load_seconds(finer))
    return found


def show_loads(console: Console, found: Found, before: Found | None) -> None:
    table = Table(box=SIMPLE, title="seconds from a scene file to its first tick")
    columns = ("triangles", "first_s", "cpu_first_s", "kept_s", "read_kept_s", "cpu_kept_s")
    for column in ("triangles", "first", "of processors", "kept", "to read", "of processors"):
        table.add_column(column, justify="right")
    for load in found["loads"]:
        table.add_row(str(load[columns[0]]), *(f"{load[column]:.2f}" for column in columns[1:]))
    console.print(table)
    console.print(machine_line(found), markup=False)


def measure(rounds: int, quick: bool) -> Found:
    cases: dict[str, tuple[trimesh.Trimesh, bool]] = {}
    for finer in (3, 5, 6) if quick else (3, 5, 6, 7, 8):
        for name, wavy in (("smooth", 0.0), ("wavy", 0.02)):
            made = surface(finer, wavy)
            cases[f"{name}, {len(made.faces)} triangles"] = made, wavy == 0.0 and len(made.faces) < SMALLER
    took: dict[str, list[np.ndarray]] = {name: [] for name in cases}
    used: dict[str, list[np.ndarray]] = {name: [] for name in cases}
    peer: dict[str, list[np.ndarray]] = {name: [] for name in cases}
    found: Found = {"machine": machine("mujoco", "trimesh"), "cases": {}}
    for _ in range(rounds):
        for name, (made, compared) in cases.items():
            times, cpu, what = ours(made)
            took[name].append(times)
            used[name].append(cpu)
            found["cases"][name] = what
            if compared:
                peer[name].append(mujocos(made))
    for name, what in found["cases"].items():
        for kind, times in (("", np.concatenate(took[name])), ("cpu_", np.min(used[name], axis=0))):
            what |= {
                f"{kind}{label}_us": float(np.percentile(times, p))
                for label, p in (("p50", 50), ("p99", 99), ("p999", 99.9))
            }
        if peer[name]:
            what["mujoco_p50_us"] = float(np.median(np.concatenate(peer[name])))
            what["ratio"] = what["p50_us"] / what["mujoco_p50_us"]
    return found


def show(console: Console, found: Found, before: Found | None) -> None:
    table = Table(box=SIMPLE)
    for column in (
        "",
        "p50 us",
        "p99",
        "p99.9",
        "cpu p50",
        "p99",
        "p99.9",
        "MuJoCo p50",
        "ratio",
        "events",
        "in contact",
        "assembled s",
    ):
        table.add_column(column, justify="left" if not column else "right")
    for name, c in found["cases"].items():
        peer = [f"{c['mujoco_p50_us']:.1f}", f"{c['ratio']:.2f}"] if "ratio" in c else ["", ""]
        figures = [f"{c[key]:.1f}" for key in SHOWN]
        table.add_row(
            name, *figures, *peer, str(c["events"]), f"{c['in_contact']:.2f}", f"{c['assemble_s']:.2f}"
        )
    console.print(table)
    console.print(machine_line(found), markup=False)


def main() -> None:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--quick", action="store_true", help="one round, up to 80 000 triangles")
    parser.add_argument("--loads", action="store_true", help="how long it takes to load a mesh file")
    options = parser.parse_args()
    if options.loads:
        report(options, lambda: measure_loads(options.quick), show_loads)
        return
    report(options, lambda: measure(1 if options.quick else 5, options.quick), show)


if __name__ == "__main__":
    main()
