"""Rows that turn within a time step: what slides on a curve or swings over a floor stays on it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.model.scene import EXACT, TIME_STEPPING

ARM, TIP = 0.2, 0.02  # [m]


def swing(regime: str, omega: float = 6.0, above: float = 0.0, sinks: float = 0.0) -> hs.Simulation:
    """A link that turns over the top on a heavy slider, with a ball at its tip that slides along a floor."""
    inertia = "inertia_kg_m2: {xx: 1.0e-4, yy: 1.0e-4, zz: 1.0e-4}"
    lean = 0.4
    sim = hs.Simulation(
        loads(f"""
name: swing
contact_regime: {regime}
robot:
  bodies:
    - {{name: slider, inertial: {{mass_kg: 0.2, {inertia}}}}}
    - {{name: link, inertial: {{mass_kg: 0.4, com_m: [0, 0, {ARM}], {inertia}}}}}
  joints:
    - {{name: up, type: prismatic, parent: world, child: slider, axis: [0, 0, 1]}}
    - {{name: turn, type: revolute, parent: slider, child: link, axis: [0, 1, 0]}}
shapes:
  - {{name: tip, body: link, kind: sphere, radius_m: {TIP}, origin: {{xyz_m: [0, 0, {ARM}]}}}}
  - {{name: floor, kind: plane}}
contacts: [{{between: [tip, floor]}}]
""")
    )
    sim.set_state([TIP + above - ARM * math.cos(lean), -lean], [-ARM * omega * math.sin(lean) - sinks, omega])
    return sim


def test_an_arm_swings_over_the_floor_as_in_the_exact_regime():
    exact, stepping = swing(EXACT), swing(TIME_STEPPING)
    deepest, touched = 0.0, 0
    for _ in range(150):
        exact.step()
        stepping.step()
        deepest = max(deepest, -float(np.min(stepping.gaps)))
        touched += len(stepping.state.contacts)
    assert touched == 150 and len(exact.state.contacts) == 1
    assert deepest < 1e-9
    np.testing.assert_allclose(stepping.state.q, exact.state.q, atol=1e-5)
    np.testing.assert_allclose(stepping.state.u, exact.state.u, atol=1e-4)


def test_a_ball_leaves_another_where_it_no_longer_weighs():
    """At cos a = 2/3 of the height it began at, without friction, as textbooks have it."""
    start, reach = 0.05, 0.52
    place = [reach * math.sin(start), 0.0, reach * math.cos(start)]
    inertia = "inertia_kg_m2: {xx: 1.6e-4, yy: 1.6e-4, zz: 1.6e-4}"
    sim = hs.Simulation(
        loads(f"""
name: hill
contact_regime: {TIME_STEPPING}
robot:
  bodies: [{{name: b, inertial: {{mass_kg: 1.0, {inertia}}}}}]
  joints: [{{name: j, type: free, parent: world, child: b}}]
shapes:
  - {{name: s, body: b, kind: sphere, radius_m: 0.02}}
  - {{name: hill, kind: sphere, radius_m: 0.5}}
contacts: [{{between: [s, hill]}}]
initial: {{free: {{j: {{xyz_m: {place}}}}}}}
""")
    )
    off, pushed, height = 0.0, True, 0.0
    while pushed:
        height = sim.state.q[2]
        sim.step()
        pushed = bool(sim.state.contacts) and sim.state.contacts[0].force > 0.0
        off = max(off, abs(float(sim.gaps[0])))
    assert sim.time > 0.7
    assert height / reach == pytest.approx(2.0 / 3.0 * math.cos(start), abs=4e-3)  # it falls so far in 2 ms
    assert off < 1e-6


@pytest.mark.parametrize("omega", (6.0, 12.0))
def test_an_arm_that_lands_swings_on(omega):
    """What closes by the turning of its row alone does not strike."""
    exact, stepping = (swing(regime, omega, 5e-5, 0.03) for regime in (EXACT, TIME_STEPPING))
    deepest = 0.0
    for _ in range(60):
        exact.step()
        stepping.step()
        deepest = max(deepest, -float(np.min(stepping.gaps)))
    assert deepest < 1e-5
    assert stepping.state.contacts and exact.state.contacts
    np.testing.assert_allclose(stepping.state.q, exact.state.q, atol=2e-3)


@pytest.mark.parametrize("angle, speed, turns", [(0.03, 0.3, -3.0), (0.01, 0.1, 1.0)])
def test_capsules_that_cross_at_a_small_angle_are_not_thrown_apart(angle, speed, turns):
    """There the second derivative of the gap grows with the inverse square of the angle."""
    sim = hs.Simulation(
        loads(f"""
name: crossing
contact_regime: {TIME_STEPPING}
robot:
  bodies: [{{name: b, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 3.0e-3, yy: 3.0e-3, zz: 2.0e-4}}}}}}]
  joints: [{{name: j, type: free, parent: world, child: b}}]
shapes:
  - {{name: s, body: b, kind: capsule, radius_m: 0.02, length_m: 0.2}}
  - {{name: log, kind: capsule, radius_m: 0.02, length_m: 0.4, origin: {{rpy_rad: [0, {0.5 * math.pi}, 0]}}}}
contacts: [{{between: [s, log]}}]
initial: {{free: {{j: {{xyz_m: [0, 0, 0.5]}}}}}}
""")
    )
    half = 0.25 * math.pi
    turn = [math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)]
    along = [math.cos(half), 0.0, math.sin(half), 0.0]
    q = [
        turn[0] * along[0] - turn[3] * along[3],
        turn[0] * along[1] - turn[3] * along[2],
        turn[0] * along[2] + turn[3] * along[1],
        turn[0] * along[3] + turn[3] * along[0],
    ]
    sim.set_state([0.0, 0.0, 0.04, *q], np.zeros(6))
    rotation = sim.body_pose("b").rotation
    spin, way = rotation.T @ [0.0, turns, 0.0], rotation.T @ [0.0, speed, 0.0]
    sim.set_state([0.0, 0.0, 0.04, *q], [*spin, *way])
    energy = sum(sim.energy())
    for _ in range(30):
        sim.step()
        assert abs(float(sim.gaps.min())) < 1e-5  # 3.6 mm where that derivative is believed
    assert sum(sim.energy()) <= energy + 1e-9
