"""Where a surface ends: spheres roll over its edge, corners are let go."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from tests import naive, scenes
from tests.watch import Watch

TABLE = "{name: table, kind: box, half_extents_m: [0.3, 0.3, 0.05], origin: {xyz_m: [0, 0, -0.05]}}"
G = 9.81


def ball(speed: float, rate: float = 1000.0) -> hs.Simulation:
    """A ball of 50 mm radius that slides towards the table's edge, 5 mm away from it."""
    return hs.Simulation(
        scenes.block(
            shape="kind: sphere, radius_m: 0.05", at=(0.295, 0.0, 0.05), velocity=(speed, 0.0, 0.0),
            others=TABLE, touching=("table",), rate=rate,
        )
    )  # fmt: skip


@pytest.mark.parametrize("speed", [0.05, 0.3, 0.6])
def test_a_ball_leaves_an_edge_at_the_angle_of_the_textbook(speed):
    """Its weight no longer bends its path: g R cos = v^2, with v^2 = v0^2 + 2 g R (1 - cos)."""
    seen = Watch(ball(speed)).take(500)
    assert seen.counts[Event.LEAVE] == 1
    cosine = (speed**2 / (G * 0.05) + 2.0) / 3.0
    thrown = np.sqrt(G * 0.05 * cosine)
    assert seen.sim.state.u[3] == pytest.approx(thrown * cosine, abs=1e-8)
    assert seen.deepest > -1e-9 and seen.drift < 1e-9 and seen.rise < 1e-10


def test_a_ball_too_fast_for_the_edge_flies_straight_on():
    """Faster than sqrt(g R) = 0.70 m/s it leaves where the face ends."""
    seen = Watch(ball(0.8)).take(100)
    (left,) = [e for e in seen.events if e.kind is Event.LEAVE]
    assert left.time == pytest.approx(0.005 / 0.8, abs=1e-6)
    assert seen.sim.state.u[3] == pytest.approx(0.8, abs=1e-10)


def test_a_ball_against_the_side_of_a_box_moves_it_only_along_the_normal():
    scene = scenes.block(
        shape="kind: sphere, radius_m: 0.05", at=(0.36, 0.1, -0.05), velocity=(-1.0, 0.4, 0.0),
        others=TABLE, touching=("table",),
    )  # fmt: skip
    sim = hs.Simulation(scene)
    seen = Watch(sim).take(30)
    (touch,) = [e for e in seen.events if e.kind is Event.TOUCH]
    assert touch.value == pytest.approx(0.5 * 2.0 * 1.0**2, rel=1e-12)
    np.testing.assert_allclose(sim.state.u[3:5], [0.0, 0.4], atol=1e-13)


def test_a_block_slides_over_the_edge_of_a_table_and_tips_where_its_middle_is_past_it():
    """Its front corners are let go at the edge; its sides keep to the edge until its middle is there."""
    scene = scenes.block(at=(0.1, 0.0, 0.05), velocity=(0.5, 0.0, 0.0), others=TABLE, touching=("table",))
    sim = hs.Simulation(scene)
    seen = Watch(sim).take(199)
    assert len(sim.state.contacts) == 4 and sim.state.u[3] == pytest.approx(0.5, abs=1e-14)
    seen.take(2)
    left = [e for e in seen.events if e.kind is Event.LEAVE]
    assert sorted(e.contact for e in left) == [4, 6]
    assert [e.time for e in left] == pytest.approx([0.2, 0.2], abs=1e-6)
    seen.take(198)
    velocity = naive.turned(sim.state.q[3:]) @ sim.state.u[3:]
    np.testing.assert_allclose(velocity, [0.5, 0.0, 0.0], atol=1e-10)
    assert len(sim.state.contacts) == 4 and np.abs(sim.state.u[:3]).max() < 1e-10, (
        "half of it is over the table"
    )
    seen.take(20)
    assert sim.state.u[1] > 0.05, "and it tips"
    assert seen.deepest > -1e-9 and seen.rise < 1e-9


@pytest.mark.parametrize("depth", [0.02, 0.2])
def test_what_is_deep_inside_a_surface_is_let_through_without_a_jerk(depth):
    """It came in where nothing is seen, past the door; to push it out at once would be worse."""
    sim = hs.Simulation(scenes.block(at=(0.0, 0.0, 1.0)))
    sim._state.q[2] = -0.15 - depth
    seen = Watch(sim).take(100)
    assert sim.state.q[2] == pytest.approx(-0.15 - depth - 0.5 * G * 0.1**2, abs=1e-10)
    assert seen.counts == {Event.THROUGH: 8} and {e.time for e in seen.events} == {0.0}


TWO_FEET = """
name: two feet that cannot tilt, one on a floor and one on a step
robot:
  bodies:
    - {name: cart, inertial: {mass_kg: 0.5, inertia_kg_m2: {xx: 0.1, yy: 0.1, zz: 0.1}}}
    - {name: feet, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.1, yy: 0.1, zz: 0.1}}}
  joints:
    - {name: along, type: prismatic, parent: world, child: cart, axis: [1, 0, 0]}
    - {name: up, type: prismatic, parent: cart, child: feet, axis: [0, 0, 1]}
shapes:
  - {name: low, body: feet, kind: sphere, radius_m: 0.05, origin: {xyz_m: [-0.5, 0, 0.05]}}
  - {name: high, body: feet, kind: sphere, radius_m: 0.05, origin: {xyz_m: [0.0, 0, 0.15]}}
  - {name: floor, kind: plane}
  - {name: step, kind: box, half_extents_m: [0.2, 0.2, 0.05], origin: {xyz_m: [0, 0, 0.05]}}
contacts:
  - {between: [low, floor]}
  - {between: [high, step]}
initial: {u_m_per_s: {along: 1.0}}
"""


def test_rows_that_stop_being_redundant_are_told_apart():
    """While both feet stand level one row says what the other does; past the edge of the step one is free."""
    sim = hs.Simulation(loads(TWO_FEET))
    seen = Watch(sim).take(150)
    assert len(sim.state.contacts) == 2 and sim._state.rank[0] == 1
    seen.take(100)
    (left,) = [e for e in seen.events if e.kind is Event.LEAVE]
    assert left.contact == 1 and left.time == pytest.approx(0.2, abs=1e-6)
    (contact,) = sim.state.contacts
    assert contact.force == pytest.approx(G, rel=1e-12)
    np.testing.assert_allclose(sim.state.u, [1.0, 0.0], atol=1e-13)
    assert seen.deepest > -1e-9
