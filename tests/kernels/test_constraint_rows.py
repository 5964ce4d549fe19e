"""Every kind of constraint: its rows are derivatives of its gap; held, it stays closed and costs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Mode
from hapticsim.kernels.rows.bilateral import bilateral_row
from hapticsim.model.scene import Scene
from tests.kernel_access import FLOAT, INT, MATRIX, PLAN, STATE, VECTOR, WORKSPACE, compiled
from tests.loop_scenes import bodies, largest_energy_change

# b0 flies, b1 turns on a ball joint; b2, b3 and b4 are carried by them.  All start unturned.
JOINTS = [
    "type: free, parent: world, child: b0",
    "type: ball, parent: world, child: b1, origin: {xyz_m: [-0.3, 0.1, 0.2]}",
    "type: revolute, parent: b1, child: b2, axis: [0.2, 1, 0.1], origin: {xyz_m: [0, 0.1, 0.2]}",
    "type: prismatic, parent: b0, child: b3, axis: [1, 0.3, 0.2], origin: {xyz_m: [0.1, 0, 0]}",
    "type: revolute, parent: b1, child: b4, axis: [1, 0, 0.3], origin: {xyz_m: [0.05, 0, -0.1]}",
]
MOVING = (
    "free: {j0: {xyz_m: [0.2, 0.15, 0.3], velocity_m_per_s: [0.3, -0.2, 0.4], "
    "angular_velocity_rad_per_s: [1.5, -1, 2]}}, "
    "ball: {j1: {angular_velocity_rad_per_s: [0.8, 1.2, -0.6]}}, "
    "u_rad_per_s: {j2: 1.3, j4: -0.7}, u_m_per_s: {j3: 0.5}"
)
# At the start the same place has these coordinates more in b1 than in b0.
APART = np.array([0.5, 0.05, 0.1])
POINT_A = np.array([0.07, -0.04, 0.11])
MEET = f"bodies: [b0, b1], point_a_m: {POINT_A.tolist()}, point_b_m: {(POINT_A + APART).tolist()}"
CENTRE = (POINT_A + APART - [0.0, 0.3, 0.4]).tolist()
AROUND = [[0, 0, 0], [0.4, 0.1, 0], [0.65, 0.5, 0.1], [0.3, 0.9, 0.2], [-0.15, 0.55, 0.1]]
BENT = (POINT_A + APART + np.array(AROUND)).tolist()
HOLONOMIC = {
    "point": f"kind: point, {MEET}",
    "hinge": f"kind: hinge, {MEET}, axis_a: [1, 2, -1], axis_b: [1, 2, -1]",
    "weld": "kind: weld, bodies: [b0, b1], "
    f"origin_a: {{xyz_m: {POINT_A.tolist()}, rpy_rad: [0.3, -0.2, 0.5]}}, "
    f"origin_b: {{xyz_m: {(POINT_A + APART).tolist()}, rpy_rad: [0.3, -0.2, 0.5]}}",
    "distance": f"kind: distance, bodies: [b0, b1], point_a_m: {POINT_A.tolist()}, point_b_m: {CENTRE}, "
    "distance_m: 0.5",
    "plane": f"kind: plane, {MEET}, normal_b: [0.3, 1, -0.4]",
    "line": f"kind: line, {MEET}, direction_b: [0.3, 1, -0.4]",
    "circle": f"kind: circle, bodies: [b0, b1], point_a_m: {POINT_A.tolist()}, point_b_m: {CENTRE}, "
    "normal_b: [0, 4, -3], radius_m: 0.5",
    "curve": f"kind: curve, bodies: [b0, b1], point_a_m: {POINT_A.tolist()}, points_b_m: {BENT}",
    "closed curve": f"kind: curve, bodies: [b0, b1], point_a_m: {POINT_A.tolist()}, points_b_m: {BENT}, "
    "closed: true",
    "gear": "kind: gear, factors: {j2: 1.0, j4: -2.5}",
    "differential": "kind: gear, factors: {j2: 1.0, j4: 0.5, j3: 3.0}",
    "lock": "kind: lock, joints: [j2, j3]",
}
OF_MOTION = {
    "rolling": "kind: rolling, bodies: [b0, b1], centre_a_m: [0.02, 0.03, -0.05], radius_m: 0.2, "
    "normal_b: [0.2, 0.1, 1]",
    "rolling along": "kind: rolling, bodies: [b0, world], centre_a_m: [0.02, 0.03, -0.05], radius_m: 0.2, "
    "normal_b: [0, 0, 1], along_b: [1, 1, 0]",
    "wheel": "kind: wheel, bodies: [b0, b1], point_a_m: [0.1, -0.05, 0.02], side_a: [0.2, 1, 0.3]",
}
KINDS = {**HOLONOMIC, **OF_MOTION}
DRIVEN = {
    "motion": "kind: motion, joint: j2, offset: 0.1, speed_per_s: 0.3, amplitude: 0.2, "
    "angular_frequency_rad_per_s: 5, phase_rad: 0.7"
}
GENTLE = "[0.2, -0.1, -1]"  # gravity: nothing turns so fast that the order of integration is what is seen
H = 1e-3  # [s] between two samples
FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * H)  # derivative at the middle of five samples


def scene(kinds: dict[str, str], held: bool = False, **more: Any) -> Scene:
    return bodies(
        JOINTS,
        [f"name: {n}, held: {str(held).lower()}, {k}" for n, k in kinds.items()],
        MOVING,
        GENTLE,
        **more,
    )


def test_the_rows_are_the_derivatives_of_the_gap_along_a_motion():
    sim = hs.Simulation(scene({**KINDS, **DRIVEN}))
    rows = sim.plan.row_kind.size
    row = compiled(bilateral_row, PLAN, STATE, INT, VECTOR, FLOAT, MATRIX, VECTOR, VECTOR, INT, WORKSPACE)
    gaps, rates = np.zeros((5, rows)), np.zeros((5, rows))
    expected_rate, expected_change = np.zeros(rows), np.zeros(rows)
    A, s, b = np.zeros((1, sim.scene.model.nu)), np.zeros(1), np.zeros(1)
    sim.step(20)
    for sample in range(5):
        sim._look()  # frames and accelerations where the simulation is
        ws, state = sim._workspace, sim._state
        for k in range(rows):
            gaps[sample, k] = row(sim.plan, state, k, state.q, sim.time, A, s, b, 0, ws)
            rates[sample, k] = A[0] @ state.u - b[0]
            if sample == 2:
                expected_rate[k] = rates[sample, k]
                expected_change[k] = A[0] @ ws.du[0] + s[0]
        sim.step()
    holonomic = np.zeros(rows, bool)
    for name in (*HOLONOMIC, *DRIVEN):
        holonomic[sim.assembly.rows_of(name)] = True
    np.testing.assert_allclose((FIRST @ gaps)[holonomic], expected_rate[holonomic], rtol=0, atol=2e-8)
    np.testing.assert_allclose(FIRST @ rates, expected_change, rtol=0, atol=2e-7)
    assert np.abs(expected_rate).min() > 1e-4 and np.abs(expected_change).min() > 1e-4  # all of them moved
    assert np.all(gaps[:, ~holonomic] == 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_constraint_switched_on_in_motion_stays_closed_and_takes_no_energy_afterwards(kind):
    sim = hs.Simulation(scene({kind: KINDS[kind]}, rate=2000.0))
    sim.step()
    before = sum(sim.energy())
    sim.switch(kind, True)
    sim.step()
    kinds = [e.kind for e in sim.events]
    assert Event.SWITCH in kinds and Event.IMPULSE in kinds
    (lost,) = [e.value for e in sim.events if e.kind == Event.IMPULSE]
    assert lost > 1e-3 and sum(sim.energy()) < before
    assert sim.held[kind] == Mode.HELD
    assert sim.rank[0] == sim.rank[1] == sim.plan.row_kind.size
    largest = 0.0
    energy = sum(sim.energy())
    change = 0.0
    for _ in range(2000):
        sim.step()
        largest = max(largest, np.abs(sim.constraint_gap(kind)).max())
        change = max(change, abs(sum(sim.energy()) - energy))
    assert largest < 1e-10
    assert change < 1e-8
    assert np.abs(sim.constraint_force(kind)).max() > 1e-3


def test_a_gear_keeps_its_ratio():
    sim = hs.Simulation(scene({"gear": KINDS["gear"]}))
    sim.switch("gear", True)
    sim.step(500)
    q, u = sim.state.q, sim.state.u
    model = sim.scene.model
    j2, j4 = model.q_slice("j2").start, model.q_slice("j4").start
    assert abs(q[j2]) > 0.05
    assert q[j2] == pytest.approx(2.5 * q[j4], abs=1e-12)
    assert u[model.u_slice("j2")][0] == pytest.approx(2.5 * u[model.u_slice("j4")][0], abs=1e-9)


def test_a_prescribed_motion_follows_its_law():
    sim = hs.Simulation(scene(DRIVEN))
    sim.step(250)
    sim.set_state(*_with(sim, "j2", *_law(sim.time)))
    sim.switch("motion", True)
    largest = 0.0
    place = sim.scene.model.q_slice("j2").start
    for _ in range(1000):
        sim.step()
        largest = max(largest, abs(sim.state.q[place] - _law(sim.time)[0]))
    assert largest < 1e-9
    assert sim.held["motion"] == Mode.HELD


def _law(t: float) -> tuple[float, float]:
    angle = 5.0 * t + 0.7
    return 0.1 + 0.3 * t + 0.2 * (np.sin(angle) - np.sin(0.7)), 0.3 + 0.2 * 5.0 * np.cos(angle)


def _with(sim, joint: str, displacement: float, speed: float):
    """(q, u) of a simulation with one joint elsewhere."""
    q, u = sim.state.q, sim.state.u
    q[sim.scene.model.q_slice(joint)], u[sim.scene.model.u_slice(joint)] = displacement, speed
    return q, u


def test_all_kinds_at_once_that_leave_a_freedom_stay_closed():
    chosen = {name: KINDS[name] for name in ("distance", "plane", "lock", "wheel")}
    sim = hs.Simulation(scene(chosen))
    for name in chosen:
        sim.switch(name, True)
    sim.step()
    assert sim.rank == (5, 5)
    assert largest_energy_change(sim, 1000) < 1e-8
    assert max(np.abs(sim.constraint_gap(name)).max() for name in chosen) < 1e-10
