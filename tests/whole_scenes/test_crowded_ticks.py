"""A tick of the exact regime with more contacts than rows is a time step: nothing is let through."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.model.scene import EXACT
from tests.public_calls import LIMITS

HALF, MASS, GRAVITY = 0.02, 0.3, 9.81
TROUBLE = {Event.HALTED, Event.ROWS_FULL, Event.THROUGH, Event.ENERGY, Event.NOT_FINITE}


def cubes(heights: list[float], extra: str = "", joints: str = "", bodies: str = "") -> hs.Scene:
    """Cubes that fall side by side onto a floor, flat, from these heights over it."""
    inertia = "inertia_kg_m2: {xx: 8.0e-5, yy: 8.0e-5, zz: 8.0e-5}"
    lines = ["name: cubes", "robot:", "  bodies:"]
    lines += [f"    - {{name: c{i}, inertial: {{mass_kg: {MASS}, {inertia}}}}}" for i in range(len(heights))]
    lines += [bodies, "  joints:"] if bodies else ["  joints:"]
    for i, height in enumerate(heights):
        at = f"origin: {{xyz_m: [{0.1 * (i % 6)}, {0.1 * (i // 6)}, {HALF + height}]}}"
        lines.append(f"    - {{name: c{i}, type: free, parent: world, child: c{i}, {at}}}")
    lines += [joints] if joints else []
    lines += ["shapes:", "  - {name: floor, kind: plane}"]
    size = f"half_extents_m: [{HALF}, {HALF}, {HALF}]"
    lines += [f"  - {{name: c{i}, body: c{i}, kind: box, {size}}}" for i in range(len(heights))]
    lines += ["contacts:", *(f"  - {{between: [c{i}, floor]}}" for i in range(len(heights))), extra]
    return loads("\n".join(lines) + "\n")


def run(sim: hs.Simulation, ticks: int, deepest: float = 1e-4) -> list[Event]:
    """Take ticks: energy never rises, nothing sinks, and nothing is refused; return what was told."""
    told, energy = [], sum(sim.energy())
    for _ in range(ticks):
        sim.step()
        told += [event.kind for event in sim.events]
        assert sum(sim.energy()) <= energy + 1e-9
        energy = min(energy, sum(sim.energy()))
        assert sim.gaps.min() > -deepest and not sim.state.fault
    assert not TROUBLE & set(told)
    return told


def borne(sim: hs.Simulation) -> float:
    return sum(contact.force for contact in sim.state.contacts) / (MASS * GRAVITY)


def test_more_contacts_than_rows_are_held_by_time_steps_and_told_once() -> None:
    sim = hs.Simulation(cubes([0.01] * 12, "max_rows: 20"))
    assert sim.scene.contact_regime == EXACT
    told = run(sim, 400)
    assert told.count(Event.STEPPED) == 1
    assert len(sim.state.contacts) == 48 and borne(sim) == pytest.approx(12.0, rel=1e-6)


def test_a_scene_that_may_need_more_says_so_when_it_is_loaded() -> None:
    (note,) = cubes([0.01] * 12, "max_rows: 20").notes
    assert "becomes a time step" in note and "48 rows" in note
    enough = cubes([0.01] * 12, "max_rows: 48")
    assert not enough.notes
    sim = hs.Simulation(enough)
    assert Event.STEPPED not in run(sim, 200)
    assert sim.rank == (36, 48), "rows that are just enough are enough"


def test_ticks_are_exact_again_when_there_are_rows_for_all() -> None:
    """Six cubes need 24 rows; then one is lifted off, and 20 are enough."""
    sim = hs.Simulation(cubes([0.0] * 6, "max_rows: 22"))
    run(sim, 50)
    assert sim.rank == (0, 0) and borne(sim) == pytest.approx(6.0, rel=1e-6)
    q = sim.state.q
    q[2] += 0.5
    sim.set_state(q, np.zeros(36))
    run(sim, 50)
    assert sim.rank == (15, 20) and borne(sim) == pytest.approx(5.0, rel=1e-9)


def test_a_fork_goes_on_to_the_bit() -> None:
    sim = hs.Simulation(cubes([0.01 + 2e-5 * i for i in range(8)], "max_rows: 17"))
    other = hs.Simulation(sim.scene)
    for _ in range(70):
        other.restore(sim.fork())
        sim.step()
        other.step()
        assert np.array_equal(sim.state.q, other.state.q) and np.array_equal(sim.state.u, other.state.u)


def test_the_hand_is_served_once_in_a_tick_that_begins_anew() -> None:
    """The force changes by no more than its slew allows, and is the one that an idle scene gives."""
    arm = "    - {name: tip, inertial: {mass_kg: 0.5}}"
    slide = "    - {name: slide, type: prismatic, parent: world, child: tip, axis: [0, 1, 0]}"
    forces = {}
    for rows in (10, 80):
        extra = f"handle: {{body: tip}}\nmax_rows: {rows}"
        sim = hs.Simulation(cubes([0.01 + 2e-5 * i for i in range(6)], extra, slide, arm))
        sim.couple(LIMITS)
        sim.arm()
        told, found = [], []
        for tick in range(150):
            sim.set_device(np.array([0.0, 0.01 * np.sin(0.05 * tick), 0.0]), np.zeros(3), 0.0005)
            sim.step()
            told += [event.kind for event in sim.events]
            found.append(sim.state.hand_force)
        assert (Event.STEPPED in told) == (rows == 10)
        forces[rows] = np.array(found)
    assert np.abs(forces[10]).max() > 0.1
    np.testing.assert_allclose(forces[10], forces[80], atol=1e-3)
    most = sim.scene.safety.slew_limit_N_per_s * sim.scene.tick_s
    assert np.abs(np.diff(forces[10], axis=0)).max() <= most * (1.0 + 1e-9)


def test_with_a_constraint_contacts_beyond_the_rows_are_left_out_as_before() -> None:
    lock = "constraints:\n  - {name: lock, kind: lock, joints: [slide]}"
    bodies, joints = (
        "    - {name: tip, inertial: {mass_kg: 0.5}}",
        "    - {name: slide, type: prismatic, parent: world, child: tip, axis: [0, 1, 0]}",
    )
    scene = cubes([0.01] * 3, f"max_rows: 9\n{lock}", joints, bodies)
    assert not scene.may_step and "is left out" in scene.notes[0]
    sim = hs.Simulation(scene)
    kinds = set()
    for _ in range(100):
        sim.step()
        kinds |= {event.kind for event in sim.events}
    assert Event.ROWS_FULL in kinds and Event.STEPPED not in kinds
