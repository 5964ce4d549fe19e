"""Closed loops and impulses beside Pinocchio, MuJoCo and SymPy, on the same rods in the same run.

    python tools/study_loops.py                    the tables
    python tools/study_loops.py --json -           the numbers; --save and --compare as well

``sweep``: the four-bar of configs/four_bar.yaml, closed by a point constraint of three rows, two of which
count, put at poses through and around the one where its rods lie on one line and the rank drops.
Accelerations against Pinocchio's ``constraintDynamics`` (3-D contact, mu = 1e-8), once more with its default
settings, and SymPy's ``KanesMethod`` with its default solver.  Agreement is asked for down to 1e-4 rad:
nearer, rounding divided by the square of the angle is larger than 1e-9, for everybody.

``held``: let go at rest in that pose; and kept there by a lock on the crank, under the weight of the rods,
which nothing rigid could bear.

``ten seconds``: the four-bar swings through that pose, 1 ms; MuJoCo beside it with its default ``connect``,
and with a stiffer one.  The loop's error is that of every published state.

``benchmark``: the IFToMM double four-bar; its place after 10 s against a Richardson extrapolation of what
another program found with four step sizes (Exudyn, TestModels/fourBarMechanismIftomm.py: energy error
1.14e-3 J at 1 ms).

``impulse``: the loop closed while all three rods turn, against Pinocchio's ``impulseDynamics``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from loop_mujoco import MujocoLoops
from loop_pinocchio import PinocchioLoops
from loop_sympy import SympyLoop
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.kernels.memory.arrays import CHOICES
from hapticsim.model.constraints import Constraint, lock_rows

CONFIGS = Path(__file__).parent.parent / "configs"
ANGLES = (1.3, 0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0)
DEFINED = 1e-4  # [rad] from the flat pose, nearer than which nobody's accelerations have nine digits
TURN = 2.0  # [rad/s] of the crank
SECONDS = 10
LIMIT = np.array([0.3284581, 0.9445185])  # [m] extrapolated from another program's steps
PEERS = {
    "MuJoCo RK4": ("RK4", ""),
    "MuJoCo implicitfast": ("implicitfast", ""),
    "MuJoCo RK4, solref 0.002, solimp 0.9999": (
        "RK4",
        'solref="0.002 1" solimp="0.9999 0.9999 0.001 0.5 2"',
    ),
}
LOWEST_J = -9.81 * (0.5 + 1.5 + 0.5)  # of the four-bar: its cranks hang, the coupler 1 m below the ground
SETS = 1000  # impulses compared


def branch(angle: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (q, u) of the parallelogram with its crank at an angle [rad], turning [rad/s]."""
    return np.array([angle, -angle, angle - np.pi]), turn * np.array([1.0, -1.0, 1.0])


def sweep(scene: hs.Scene) -> Found:
    """Return differences of accelerations, and forces, at poses around the flat one."""
    sim, peer, symbolic = hs.Simulation(scene), PinocchioLoops(scene), SympyLoop(scene)
    rest = np.zeros(scene.model.nu)
    found: Found = {}
    for angle in (*ANGLES, *(-a for a in ANGLES[::-1] if a)):
        sim.set_state(*branch(angle, TURN))
        sim.step()
        q, u = sim._output.q, sim._output.u
        udot = sim._workspace.du[0].copy()
        theirs = peer.acceleration(q, u, rest)
        found[f"{angle:g}"] = {
            "angle_rad": angle,
            "rank": int(sim.rank[0]),
            "rank_events": sum(e.kind == Event.RANK for e in sim.events),
            "finite": bool(np.all(np.isfinite(udot))),
            "pinocchio": float(np.abs(udot - theirs).max()),
            "force_N": float(np.abs(sim._output.force).max()),
            "pinocchio_force_N": peer.force(),
            "pinocchio_default_is_nan": bool(np.isnan(peer.acceleration(q, u, rest, mu=0.0)).any()),
            "sympy": float(np.abs(udot - symbolic.acceleration(q, u)).max()),
        }
    return found


def held(scene: hs.Scene, seconds: float, locked: bool) -> Found:
    """Return what happens to a four-bar at rest where it is flat, let go there or with its crank locked."""
    if locked:
        lock = Constraint("lock", lock_rows((scene.model.moving_joints[0].name,)))
        scene = replace(scene, constraints=(*scene.constraints, lock))
    sim = hs.Simulation(replace(scene, q0=branch(0.0, 0.0)[0]))
    energy, largest, force, gap, choices = sum(sim.energy()), 0.0, 0.0, 0.0, 0
    ranks: list[int] = []
    for _ in range(round(seconds * scene.rate_Hz)):
        sim.step()
        ranks += [int(e.value) for e in sim.events if e.kind == Event.RANK]
        choices += int(sim._output.counts[CHOICES])
        force = max(force, float(np.abs(sim._output.force).max()))
        gap = max(gap, float(np.abs(sim.constraint_gap("loop")).max()))
        largest = max(largest, abs(sum(sim.energy()) - energy))
    return {
        "ranks": ranks,
        "choices_reported": choices,
        "force_N": force,
        "energy_J": largest,
        "finite": bool(np.all(np.isfinite(sim.state.q))),
        "gap_m": gap,
    }


def ten_seconds(scene: hs.Scene) -> Found:
    """Return loop error and energy error over ten seconds, ours and MuJoCo's."""
    sim = hs.Simulation(scene)
    start = sum(sim.energy())
    wrong = gap = before_projection = 0.0
    for _ in range(SECONDS * 1000):
        sim.step()
        wrong = max(wrong, abs(sum(sim.energy()) - start))
        gap = max(gap, loop_error(sim._output.q))
        before_projection = max(before_projection, sim.drift)
    ours = {"loop_m": gap, "energy_J": wrong, "before_projection_m": before_projection}
    found: Found = {"energy_above_lowest_J": start - LOWEST_J, "hapticsim": ours}
    for name, (integrator, options) in PEERS.items():
        peer = MujocoLoops(scene, integrator, options)
        energy, wrong, gap = peer.energy(), 0.0, 0.0
        for _ in range(SECONDS * 1000):
            peer.step()
            wrong = max(wrong, abs(peer.energy() - energy))
            gap = max(gap, peer.loop_error())
        found[name] = {"loop_m": gap, "energy_J": wrong}
    return found


def loop_error(q: np.ndarray) -> float:
    """Return the distance [m] of the rocker's end from its place: the chain added up afresh."""
    angles, lengths = np.cumsum(q), np.array([1.0, 1.5, 1.0])
    return float(np.hypot(lengths @ np.cos(angles) - 1.5, lengths @ np.sin(angles)))


def benchmark(scene: hs.Scene) -> Found:
    """Return energy error and place after ten seconds of the double four-bar, at several rates."""
    found: Found = {}
    for rate in (500.0, 1000.0, 2000.0):
        sim = hs.Simulation(replace(scene, rate_Hz=rate))
        energy, wrong = sum(sim.energy()), 0.0
        for _ in range(round(SECONDS * rate)):
            sim.step()
            wrong = max(wrong, abs(sum(sim.energy()) - energy))
        angle = sim.state.q[0]
        place = np.array([np.cos(angle), np.sin(angle)])
        found[f"{1e3 / rate:g} ms"] = {
            "energy_J": wrong,
            "place_m": place.tolist(),
            "off_m": float(np.abs(place - LIMIT).max()),
        }
    return found


def impulses(scene: hs.Scene) -> Found:
    """Return the largest differences of speeds and of energy lost, loop closed at random poses and speeds."""
    scene = replace(scene, constraints=tuple(replace(c, held=False) for c in scene.constraints))
    sim, peer = hs.Simulation(scene), PinocchioLoops(scene)
    start = sim.fork()
    rng = np.random.default_rng(0)
    speeds = energy = 0.0
    for _ in range(SETS):
        angle = rng.uniform(0.05, np.pi - 0.05) * rng.choice((-1.0, 1.0))
        sim.restore(start)
        sim.set_state(branch(angle, 0.0)[0], rng.uniform(-3.0, 3.0, 3))
        before = sim.state.u
        sim.switch("loop", True)
        sim.step()
        q, after = sim._output.q, sim._output.u
        (lost,) = [e.value for e in sim.events if e.kind == Event.IMPULSE]
        change = after - before
        speeds = max(speeds, float(np.abs(after - peer.after_impulse(q, before)).max()))
        energy = max(energy, abs(lost / (0.5 * change @ peer.mass_matrix(q) @ change) - 1.0))
    return {"speeds": speeds, "energy_relative": energy, "sets": SETS}


def measure() -> Found:
    """Return everything this tool measures."""
    four_bar, double = hs.load(CONFIGS / "four_bar.yaml"), hs.load(CONFIGS / "double_four_bar.yaml")
    poses, swing = sweep(four_bar), ten_seconds(four_bar)
    flat, locked = held(four_bar, 3.0, locked=False), held(four_bar, 1.0, locked=True)
    turns, struck = benchmark(double), impulses(four_bar)
    defined = [p for p in poses.values() if abs(p["angle_rad"]) >= DEFINED]
    return {
        "machine": machine("pin", "mujoco", "sympy"),
        "sweep": poses,
        "held": {"let go": flat, "crank locked": locked},
        "ten_seconds": swing,
        "benchmark": turns,
        "impulse": struck,
        "targets": {
            "acceleration / Pinocchio, 1e-4 rad or more from flat [rad/s^2]": target(
                max(p["pinocchio"] for p in defined), 1e-9
            ),
            "poses without a finite acceleration": target(sum(not p["finite"] for p in poses.values()), 0),
            "held flat, states not finite": target(2 - flat["finite"] - locked["finite"], 0),
            "force of constraint, let go where it is flat [N]": target(flat["force_N"], 1e6),
            "force of constraint, locked where it is flat [N]": target(locked["force_N"], 1e8),
            "loop error over 10 s [m]": target(swing["hapticsim"]["loop_m"], 1e-12),
            "energy error over 10 s [J]": target(swing["hapticsim"]["energy_J"], 1e-6),
            "double four-bar, energy error at 1 ms [J]": target(turns["1 ms"]["energy_J"], 1e-4),
            "double four-bar, place after 10 s [m]": target(turns["1 ms"]["off_m"], 1e-5),
            "speeds after an impulse / Pinocchio [rad/s]": target(struck["speeds"], 1e-8),
            "energy lost / half du' M du, relative": target(struck["energy_relative"], 1e-8),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables and the targets."""
    table = Table(box=SIMPLE, title="Four-bar near its flat pose: differences of udot [rad/s^2], forces [N]")
    for column in ("angle [rad]", "rank", "Pinocchio", "its default", "SymPy", "our force", "Pinocchio's"):
        table.add_column(column, justify="right", no_wrap=True)
    for angle, p in found["sweep"].items():
        default = "NaN" if p["pinocchio_default_is_nan"] else "a number"
        row = [angle, f"{p['rank']} of 3", f"{p['pinocchio']:.1e}", default, f"{p['sympy']:.1e}"]
        table.add_row(*row, f"{p['force_N']:.3g}", f"{p['pinocchio_force_N']:.3g}")
    console.print(table)
    for case, flat in found["held"].items():
        ranks = ", ".join(map(str, flat["ranks"][:4])) + " ..." * (len(flat["ranks"]) > 4)
        console.print(
            f"Flat, {case}: rank {ranks}; "
            f"{flat['choices_reported']} choices of speeds reported, loop open by {flat['gap_m']:.1e} m, "
            f"largest force {flat['force_N']:.3g} N, energy error {flat['energy_J']:.1e} J"
        )
    swing = found["ten_seconds"]
    table = Table(
        box=SIMPLE,
        title=f"Four-bar, 10 s at 1 ms, {swing['energy_above_lowest_J']:.1f} J above its lowest place",
    )
    for column in ("", "loop error [m]", "energy error [J]"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name, t in swing.items():
        if isinstance(t, dict):
            table.add_row(name, f"{t['loop_m']:.1e}", f"{t['energy_J']:.1e}")
    console.print(table)
    table = Table(box=SIMPLE, title="IFToMM double four-bar, 10 s")
    for column in ("step", "energy error [J]", "off the limit [m]"):
        table.add_column(column, justify="right", no_wrap=True)
    for step, t in found["benchmark"].items():
        table.add_row(step, f"{t['energy_J']:.1e}", f"{t['off_m']:.1e}")
    console.print(table)
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    report(parser_of(__doc__).parse_args(), measure, show)


if __name__ == "__main__":
    main()
