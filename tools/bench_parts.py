"""Time the ticks of a Panda whose hulls push ten parts about on a table, in virtual time.

    python tools/bench_parts.py                    a table: execution of a tick, events, what went through
    python tools/bench_parts.py --regime time_stepping
    python tools/bench_parts.py --seconds 5 --json - the numbers

Scene *panda_parts*: hand, fingers and the last two links of the arm, as hulls of 32 corners and boxes, meet
four boxes, two balls, two capsules and two convex meshes that lie free on a table with a rim; parts meet one
another.  A scripted hand leads the hand of the arm through them.  Hand and device are in Python, and only the
tick is timed: *wall* by the wall clock, *cpu* as processor time of the thread, of each tick the least of all
rounds, which are the same ticks; both with the call itself.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import trimesh
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.codes import Event, Safety
from hapticsim.drivers.classes import driver_class
from hapticsim.drivers.registry import options_for
from hapticsim.haptics.joining import limits_of
from hapticsim.kernels.memory.arrays import EVENTS, PIECES, TRIALS
from hapticsim.model.scene import EXACT, TIME_STEPPING, Scene

TOP, MIDDLE, HALF = 0.3, (0.5, 0.0), (0.22, 0.26)  # [m] the table: its height, where it is, its half extents
HAND = ("panda_hand", "panda_*finger*", "panda_link6", "panda_link7")
PERCENTILES = (("p50", 50.0), ("p99", 99.0), ("p999", 99.9), ("most", 100.0))
WARM = 200
STROKES = (
    (0.03, 0.0),
    (0.03, 0.04),
    (-0.03, 0.04),
    (-0.03, -0.04),
    (0.03, -0.04),
    (0.0, 0.0),
)  # [m] of the device
STROKE_s, DOWN = 0.6, -0.02


def solids() -> dict[str, trimesh.Trimesh]:
    """Two convex meshes: a wedge, and a stone of twenty corners."""
    wedge = np.array([[x, y, -0.015] for x in (-0.04, 0.04) for y in (-0.025, 0.025)], float)
    ridge = np.array([[-0.02, 0.0, 0.02], [0.02, 0.0, 0.02]])
    stone = np.random.default_rng(4).normal(size=(20, 3))
    stone *= np.array([0.035, 0.03, 0.025]) / np.linalg.norm(stone, axis=1, keepdims=True)
    return {
        "wedge": trimesh.convex.convex_hull(np.vstack([wedge, ridge])),
        "stone": trimesh.convex.convex_hull(stone),
    }


def parts() -> list[tuple[str, str, float, tuple[float, float]]]:
    """Name, keys of the shape, height of its middle above the table [m] and place on it [m] of each part."""
    return [
        ("brick", "kind: box, half_extents_m: [0.035, 0.025, 0.02]", 0.02, (-0.10, -0.10)),
        ("block", "kind: box, half_extents_m: [0.03, 0.03, 0.03]", 0.03, (-0.10, 0.10)),
        ("bar", "kind: box, half_extents_m: [0.02, 0.06, 0.02]", 0.02, (0.12, 0.0)),
        ("plate", "kind: box, half_extents_m: [0.045, 0.045, 0.012]", 0.012, (0.0, 0.18)),
        ("ball", "kind: sphere, radius_m: 0.03", 0.03, (0.0, -0.12)),
        ("marble", "kind: sphere, radius_m: 0.02", 0.02, (0.08, 0.1)),
        ("roll", "kind: capsule, radius_m: 0.02, length_m: 0.08", 0.02, (-0.02, 0.05)),
        ("pin", "kind: capsule, radius_m: 0.015, length_m: 0.06", 0.015, (0.08, -0.12)),
        ("wedge", "kind: mesh, file: wedge.stl", 0.015, (-0.12, 0.0)),
        ("stone", "kind: mesh, file: stone.stl", 0.034, (0.02, -0.03)),
    ]


def panda_parts() -> Scene:
    """Return the scene; its parts lie, or fall a little, at the start."""
    bodies, joints, shapes, free = [], [], [], []
    for name, kind, high, (x, y) in parts():
        inertia = "{xx: 1.2e-4, yy: 1.4e-4, zz: 1.6e-4}"
        bodies.append(f"    - {{name: {name}, inertial: {{mass_kg: 0.25, inertia_kg_m2: {inertia}}}}}")
        joints.append(f"    - {{name: {name}, type: free, parent: world, child: {name}}}")
        turned = "origin: {rpy_rad: [1.5707963267948966, 0, 0]}, " if "capsule" in kind else ""
        shapes.append(f"  - {{name: {name}, body: {name}, {turned}{kind}}}")
        free.append(f"    {name}: {{xyz_m: [{MIDDLE[0] + x}, {MIDDLE[1] + y}, {TOP + high}]}}")
    (cx, cy), (hx, hy), thick = MIDDLE, HALF, 0.02
    walls = {
        "table": ((hx + 0.1, hy + 0.1, 0.15), (cx, cy, TOP - 0.15)),
        "rim_1": ((thick, hy, 0.04), (cx - hx - thick, cy, TOP)),
        "rim_2": ((thick, hy, 0.04), (cx + hx + thick, cy, TOP)),
        "rim_3": ((hx, thick, 0.04), (cx, cy - hy - thick, TOP)),
        "rim_4": ((hx, thick, 0.04), (cx, cy + hy + thick, TOP)),
    }
    for name, (half, place) in walls.items():
        shapes.append(
            f"  - {{name: {name}, kind: box, half_extents_m: {list(half)}, origin: {{xyz_m: {list(place)}}}}}"
        )
    names = [name for name, _, _, _ in parts()]
    pairs = [(a, b) for a in HAND for b in (*names, "table")]
    pairs += [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs += [(a, b) for a in names for b in walls]
    text = "\n".join(
        [
            "name: panda_parts",
            "max_rows: 128",
            "robot:",
            "  urdf:",
            "    package: panda",
            "    locked: [panda_finger_joint1, panda_finger_joint2]",
            "    collision: true",
            "    corners: 32",
            "    visual: false",
            "  bodies:",
            *bodies,
            "  joints:",
            *joints,
            "shapes:",
            *shapes,
            "contacts:",
            *(f'  - {{between: ["{a}", "{b}"]}}' for a, b in pairs),
            "torques:",
            "  - {joint: all, law: gravity_compensation, damping_Nms_per_rad: 1.0}",
            *(f"  - {{joint: {name}, law: none}}" for name in names),
            *(
                f"  - {{joint: panda_joint{i}, law: pd, stiffness_Nm_per_rad: 10.0, "
                "damping_Nms_per_rad: 2.0, gravity_compensation: true}"
                for i in (3, 5, 7)
            ),
            "handle: {body: panda_hand_tcp}",
            "initial:",
            "  q_rad:",
            "    {panda_joint2: -0.1724, panda_joint4: -2.1549, panda_joint6: 1.9825, panda_joint7: 0.7854}",
            "  free:",
            *free,
            "mapping: {motion_scale: 3.0, force_scale: 0.4}",
            "device: {driver: mouse, emulate: omega_3}",
        ]
    )
    with TemporaryDirectory() as folder:
        for name, surface in solids().items():
            surface.export(Path(folder) / f"{name}.stl")
        path = Path(folder) / "panda_parts.yaml"
        path.write_text(text)
        return hs.load(path)


def waypoints(seconds: float) -> list[dict[str, object]]:
    """Strokes of the hand along the sides of a square, low over the table, until the time is over."""
    found: list[dict[str, object]] = [
        {"time_s": 0.0, "position_m": [0.0, 0.0, 0.0]},
        {"time_s": 0.6, "position_m": [0.0, 0.0, DOWN]},
    ]
    k = 0
    while found[-1]["time_s"] < seconds:
        x, y = STROKES[k % len(STROKES)]
        found.append({"time_s": 0.6 + STROKE_s * (k + 1), "position_m": [x, y, DOWN]})
        k += 1
    return found


def drive(scene: Scene, seconds: float) -> tuple[Found, np.ndarray, np.ndarray]:
    """Lead the hand through the parts; what happened, and seconds of each tick by both clocks."""
    begin = time.perf_counter()
    sim = hs.Simulation(scene)
    loaded = time.perf_counter() - begin
    settings = options_for("scripted", scene.device)
    settings |= {"waypoints": waypoints(seconds), "repeat": False}
    ticks = round(seconds * scene.rate_Hz)
    wall, cpu, pieces, trials, handled = (np.zeros(ticks) for _ in range(5))
    rows, kinds, faults = np.zeros(ticks), Counter[str](), 0
    counts = sim._output.counts
    with driver_class("scripted")(settings) as hand:
        sim.couple(limits_of(hand.info.hello()))
        safety = Safety.DISARMED
        row = np.zeros(len(sim.columns))
        for k in range(ticks):
            sample = hand.read(k * scene.tick_s)
            if safety != Safety.ARMED and k % 100 == 0:
                sim.arm()
                faults += k > WARM
            sim.set_device(np.array(sample.position_m), np.array(sample.velocity_m_per_s), flags=sample.flags)
            start, start_cpu = time.perf_counter(), time.thread_time()
            sim.step()
            cpu[k] = time.thread_time() - start_cpu
            wall[k] = time.perf_counter() - start
            safety = Safety(sim.read_row(row))
            pieces[k], trials[k], handled[k] = counts[PIECES], counts[TRIALS], counts[EVENTS]
            rows[k] = np.count_nonzero(sim._state.mode)
            kinds.update(Event(e.kind).name.lower() for e in sim.events)
            hand.write(tuple(sim.state.hand_force.tolist()))
    worst = int(np.argmax(cpu[WARM:])) + WARM
    found = {
        "candidates": len(sim.gaps),
        "pairs": len(scene.contacts),
        "speeds": len(sim.state.u),
        "load_s": loaded,
        "ticks": ticks - WARM,
        "rows_mean": float(rows[WARM:].mean()),
        "rows_most": int(rows.max()),
        "events_per_tick": float(handled[WARM:].mean()),
        "pieces_most": int(pieces.max()),
        "trials_most": int(trials.max()),
        "worst": {
            "tick": worst,
            "pieces": int(pieces[worst]),
            "trials": int(trials[worst]),
            "rows": int(rows[worst]),
        },
        "events": dict(kinds),
        "without_force": faults,
    }
    return found, wall[WARM:], cpu[WARM:]


def measure(seconds: float, rounds: int, regime: str) -> Found:
    """Drive the scene in a regime of contacts, ``rounds`` times."""
    scene = replace(panda_parts(), contact_regime=regime)
    driven = [drive(scene, seconds) for _ in range(rounds)]
    wall = np.concatenate([times for _, times, _ in driven])
    cpu = np.min([times for _, _, times in driven], axis=0)
    found = driven[0][0]
    for clock, times in (("wall", wall), ("cpu", cpu)):
        found |= {f"{clock}_{name}_us": 1e6 * float(np.percentile(times, p)) for name, p in PERCENTILES}
    return {"machine": machine(), "parts": found}


def show(console: Console, found: Found, before: Found | None) -> None:
    table = Table(box=SIMPLE, title="a Panda pushes ten parts: execution of a tick [us]")
    for column in ("", "p50", "p99", "p99.9", "most"):
        table.add_column(column, justify="right")
    for title, numbers in (("", found), ("before: ", before)):
        for clock in ("wall", "cpu") if numbers else ():
            p = numbers["parts"]
            table.add_row(title + clock, *(f"{p[f'{clock}_{name}_us']:.1f}" for name, _ in PERCENTILES))
    console.print(table)
    for key, value in found["parts"].items():
        if not key.endswith("_us"):
            console.print(f"{key}: {value}", markup=False)
    console.print(machine_line(found), markup=False)


def main() -> None:
    """Print a table."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--seconds", type=float, default=20.0, help="of virtual time (20)")
    parser.add_argument("--rounds", type=int, default=3, help="that are the same (3)")
    parser.add_argument("--regime", choices=(EXACT, TIME_STEPPING), default=EXACT, help="of contacts")
    options = parser.parse_args()
    report(options, lambda: measure(options.seconds, options.rounds, options.regime), show)


if __name__ == "__main__":
    main()
