"""Time a ball dragged over a mesh, of a thousand to a million triangles, beside MuJoCo on the same surface.

    python tools/bench_mesh.py                     a table; a round of each mesh in turn, five rounds
    python tools/bench_mesh.py --json - --quick    the numbers, one round, up to 80 000 triangles

A ball of 10 mm is pressed with 10 N onto a ball of 0.3 m and led along its surface at 0.2 m/s.  *smooth* is a
convex polyhedron; *wavy* has bumps and hollows 6 mm high.  MuJoCo collides with the convex hull of a mesh, so
it is timed on the smooth one alone, up to 80 000 triangles, with the same forces.  Each tick is a call from
Python and timed there; a tick of ours handles every triangle that is passed in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np
import trimesh
from mesh_scenes import GRAVITY, ball_scene, mesh_of
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs

RADIUS, SPEED, PRESS, STIFFNESS, DAMPING = 0.3, 0.2, 0.005, 2000.0, 60.0
TIP = 0.01
TICKS, WARM = 3000, 500
SMALLER = 100_000  # triangles of a --quick run, and of MuJoCo
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


def ours(made: trimesh.Trimesh) -> tuple[np.ndarray, Found]:
    """Microseconds of each tick, and what happened in them."""
    start = time.perf_counter()
    sim = hs.Simulation(ball_scene(mesh_of(made), (0.0, 0.0, RADIUS + 2.0 * TIP), radius=TIP))
    seconds, took, events, held = time.perf_counter() - start, [], 0, 0
    torque = np.zeros(6)
    for i in range(WARM + TICKS):
        state = sim.state
        torque[3:] = led(i, state.q[:3], state.u[3:6])
        sim.apply(torque=torque)
        begin = time.perf_counter()
        sim.step()
        took.append(time.perf_counter() - begin)
        events += len(sim.events) if i >= WARM else 0
        held += bool(sim.state.contacts) if i >= WARM else 0
    return np.array(took[WARM:]) * 1e6, {"assemble_s": seconds, "events": events, "in_contact": held / TICKS}


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


def measure(rounds: int, quick: bool) -> Found:
    cases: dict[str, tuple[trimesh.Trimesh, bool]] = {}
    for finer in (3, 5, 6) if quick else (3, 5, 6, 7, 8):
        for name, wavy in (("smooth", 0.0), ("wavy", 0.02)):
            made = surface(finer, wavy)
            cases[f"{name}, {len(made.faces)} triangles"] = made, wavy == 0.0 and len(made.faces) < SMALLER
    took: dict[str, list[np.ndarray]] = {name: [] for name in cases}
    peer: dict[str, list[np.ndarray]] = {name: [] for name in cases}
    found: Found = {"machine": machine("mujoco", "trimesh"), "cases": {}}
    for _ in range(rounds):
        for name, (made, compared) in cases.items():
            times, what = ours(made)
            took[name].append(times)
            found["cases"][name] = what
            if compared:
                peer[name].append(mujocos(made))
    for name, what in found["cases"].items():
        times = np.concatenate(took[name])
        what |= {
            f"{label}_us": float(np.percentile(times, p))
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
        "MuJoCo p50",
        "ratio",
        "events",
        "in contact",
        "assembled s",
    ):
        table.add_column(column, justify="left" if not column else "right")
    for name, c in found["cases"].items():
        peer = [f"{c['mujoco_p50_us']:.1f}", f"{c['ratio']:.2f}"] if "ratio" in c else ["", ""]
        figures = [f"{c[key]:.1f}" for key in ("p50_us", "p99_us", "p999_us")]
        table.add_row(
            name, *figures, *peer, str(c["events"]), f"{c['in_contact']:.2f}", f"{c['assemble_s']:.2f}"
        )
    console.print(table)
    console.print(machine_line(found), markup=False)


def main() -> None:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--quick", action="store_true", help="one round, up to 80 000 triangles")
    options = parser.parse_args()
    report(options, lambda: measure(1 if options.quick else 5, options.quick), show)


if __name__ == "__main__":
    main()
