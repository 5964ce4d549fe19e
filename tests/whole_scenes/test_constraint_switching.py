"""Constraints that come and go: latches, what breaks, what slips and sticks, and wishes that cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Mode
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.constraints import Friction
from tests.loop_scenes import impulse, slider


def test_a_latch_stops_what_moves_and_lets_it_go_again():
    sim = hs.Simulation(slider(["name: latch, kind: lock, joints: [along], held: false"], speed=0.8))
    sim.step(250)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-12)
    sim.switch("latch", True)
    sim.apply(force=np.array([3.0, 0.0, 0.0]))
    sim.step()
    assert impulse(sim) == pytest.approx(0.5 * 2.0 * 0.8**2, rel=1e-12)
    sim.step(200)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-12)
    assert sim.state.u[0] == pytest.approx(0.0, abs=1e-12)
    assert sim.constraint_force("latch") == pytest.approx([-3.0], abs=1e-9)
    sim.switch("latch", False)
    sim.step(100)
    assert sim.held["latch"] == Mode.FREE
    assert sim.state.u[0] == pytest.approx(0.1 * 3.0 / 2.0, rel=1e-9)


def test_what_breaks_holds_up_to_its_force_and_is_free_beyond():
    sim = hs.Simulation(slider(["name: pin, kind: lock, joints: [along], break_N: 5.0"]))
    sim.apply(force=np.array([4.99, 0.0, 0.0]))
    sim.step(100)
    assert sim.held["pin"] == Mode.HELD and sim.state.q[0] == pytest.approx(0.0, abs=1e-12)
    sim.apply(force=np.array([5.01, 0.0, 0.0]))
    sim.step()
    assert [e.value for e in sim.events if e.kind == Event.SWITCH] == [float(Mode.FREE)]
    sim.step(99)
    assert sim.held["pin"] == Mode.FREE
    assert sim.state.u[0] == pytest.approx(0.1 * 5.01 / 2.0, rel=1e-9)
    sim.apply(force=np.zeros(3))
    sim.step(100)
    assert sim.held["pin"] == Mode.FREE  # it stays broken


RUBS = "name: guide, kind: lock, joints: [along], friction: {static: 0.5, kinetic: 0.3, normal_N: 10.0}"


def test_a_slider_sticks_slips_and_sticks_as_the_closed_form_says():
    sim = hs.Simulation(slider([RUBS]))
    sim.apply(force=np.array([4.9, 0.0, 0.0]))
    sim.step(100)
    assert sim.held["guide"] == Mode.HELD and abs(sim.state.q[0]) < 1e-12
    sim.apply(force=np.array([6.0, 0.0, 0.0]))
    sim.step(200)  # (6 - 3) / 2 for 0.2 s
    assert sim.held["guide"] == Mode.FORWARD
    assert sim.constraint_force("guide") == pytest.approx([-3.0], abs=1e-12)
    assert sim.state.u[0] == pytest.approx(0.3, abs=1e-9)
    assert sim.state.q[0] == pytest.approx(0.03, abs=1e-9)
    sim.apply(force=np.zeros(3))
    stopped = None
    for _ in range(400):  # -3 / 2: it rests after 0.2 s and another 0.03 m
        sim.step()
        for event in sim.events:
            if event.kind == Event.SWITCH and event.value == Mode.HELD:
                stopped = event.time
    assert stopped == pytest.approx(0.5, abs=1e-6)
    assert sim.held["guide"] == Mode.HELD
    assert sim.state.q[0] == pytest.approx(0.06, abs=1e-9)
    assert sim.state.u[0] == 0.0


def test_a_slip_turned_round_rubs_the_other_way():
    sim = hs.Simulation(slider([RUBS]))
    sim.apply(force=np.array([-6.0, 0.0, 0.0]))
    sim.step(100)
    assert sim.held["guide"] == Mode.BACKWARD
    assert sim.constraint_force("guide") == pytest.approx([3.0], abs=1e-12)
    assert sim.state.u[0] == pytest.approx(-0.15, abs=1e-9)
    sim.apply(force=np.array([6.0, 0.0, 0.0]))
    sim.step(500)
    assert sim.held["guide"] == Mode.FORWARD
    turned = 0.1 + 0.15 / 4.5  # stopped by (6 + 3) / 2, then on by (6 - 3) / 2: 6 N is more than sticks
    assert sim.state.u[0] == pytest.approx(1.5 * (0.6 - turned), abs=1e-9)


def test_the_force_of_another_constraint_presses():
    floor = "name: floor, kind: plane, bodies: [body, world], normal_b: [0, 0, 1]"
    rub = "name: rub, kind: lock, joints: [along], friction: {static: 0.5, kinetic: 0.3, normal: floor}"
    sim = hs.Simulation(slider([floor, rub], gravity="[0, 0, -9.81]"))
    weight = 1.5 * 9.81  # the carriage cannot fall
    sim.apply(torque={"up": -4.0}, force=np.array([0.49 * (weight + 4.0), 0.0, 0.0]))
    sim.step(100)
    normal = sim.constraint_force("floor")[0]
    assert normal == pytest.approx(weight + 4.0, abs=1e-9)
    assert sim.held["rub"] == Mode.HELD
    sim.apply(force=np.array([0.51 * (weight + 4.0), 0.0, 0.0]))
    sim.step(100)
    assert sim.held["rub"] == Mode.FORWARD
    assert sim.state.u[0] == pytest.approx(0.1 * (0.51 - 0.3) * (weight + 4.0) / 2.0, rel=1e-6)


def test_a_touch_switches_on_what_it_engages():
    shapes = (
        "shapes:\n  - {name: ball, body: body, kind: sphere, radius_m: 0.05}\n"
        "  - {name: floor, kind: plane, origin: {xyz_m: [0, 0, -0.3]}}\n"
        "contacts:\n  - {between: [ball, floor]}"
    )
    hook = "name: hook, kind: lock, joints: [along], held: false, engage_on_touch: [ball, floor]"
    sim = hs.Simulation(slider([hook], speed=0.7, gravity="[0, 0, -9.81]", more=shapes))
    lands = np.sqrt(2.0 * 0.25 / 9.81)
    sim.step(round(lands * 1000) - 2)
    assert sim.held["hook"] == Mode.FREE
    sim.step(100)
    assert sim.held["hook"] == Mode.HELD
    assert sim.state.q[0] == pytest.approx(0.7 * lands, abs=1e-6)
    assert sim.state.u == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_constraint_switched_twice_in_a_tick_follows_the_last_wish_and_says_so():
    sim = hs.Simulation(slider(["name: latch, kind: lock, joints: [along], held: false"], speed=0.8))
    sim.switch("latch", True)
    sim.switch("latch", False)
    sim.step()
    assert [e.value for e in sim.events if e.kind == Event.TWICE] == [0.0]
    assert sim.held["latch"] == Mode.FREE
    assert sim.state.u[0] == pytest.approx(0.8)
    sim.switch("latch", True)
    sim.step()
    assert not [e for e in sim.events if e.kind == Event.TWICE]
    assert sim.held["latch"] == Mode.HELD


def test_a_constraint_that_contradicts_another_is_refused_and_the_state_kept():
    fast = "name: fast, kind: motion, joint: along, speed_per_s: 0.5"
    slow = "name: slow, kind: motion, joint: along, speed_per_s: 0.2, held: false"
    sim = hs.Simulation(slider([fast, slow], speed=0.5))
    sim.step(100)
    before = sim.state
    sim.switch("slow", True)
    sim.step()
    kinds = [e.kind for e in sim.events]
    assert Event.REFUSED in kinds and Event.SWITCH not in kinds
    named = {e.contact for e in sim.events if e.kind == Event.CONFLICT}
    assert named == {0, 1}  # no contacts: the constraints' own numbers
    assert sim.state.fault & Fault.INCONSISTENT
    assert sim.held == {"fast": Mode.HELD, "slow": Mode.FREE}
    assert sim.state.u[0] == pytest.approx(0.5, abs=1e-12)
    assert sim.state.q[0] == pytest.approx(before.q[0] + 0.5e-3, abs=1e-12)
    sim.step(100)
    assert sim.state.q[0] == pytest.approx(before.q[0] + 0.5 * 0.101, abs=1e-9)


def test_a_constraint_out_of_reach_is_refused_with_its_gap():
    far = "name: peg, kind: point, bodies: [body, world], point_b_m: [0.5, 0, 0], held: false"
    sim = hs.Simulation(slider([far], speed=0.3))
    sim.switch("peg", True)
    sim.step()
    (refused,) = [e for e in sim.events if e.kind == Event.REFUSED]
    assert refused.value > 0.4
    assert sim.held["peg"] == Mode.FREE
    assert sim.state.u[0] == pytest.approx(0.3, abs=1e-12)
    assert sim.state.q[0] == pytest.approx(0.3e-3, abs=1e-12)


ARM = """
name: an arm of two links in a plane
gravity_m_per_s2: [0.0, 0.0, 0.0]
robot:
  bodies:
    - {name: upper, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}
    - {name: lower, inertial: {mass_kg: 0.5, inertia_kg_m2: {xx: 0.005, yy: 0.005, zz: 0.005}}}
  joints:
    - {name: shoulder, type: revolute, parent: world, child: upper, axis: [0, 0, 1]}
    - {name: elbow, type: revolute, parent: upper, child: lower, axis: [0, 0, 1],
       origin: {xyz_m: [0.2, 0.0, 0.0]}}
constraints:
  - {name: rod, kind: distance, bodies: [lower, world], point_a_m: [0.2, 0, 0], distance_m: %r, held: false}
initial: {q_rad: {shoulder: 0.3, elbow: %r}}
"""


@pytest.mark.parametrize("distance_m", [0.35, 0.395, 0.3999, 0.4, 0.40001, 0.401, 0.44])
@pytest.mark.parametrize("bend_rad", [1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3])
def test_closing_a_constraint_never_turns_the_mechanism_over(distance_m, bend_rad):
    """Where an arm is nearly straight its length hardly changes with the elbow: Newton steps get long."""
    sim = hs.Simulation(loads(ARM % (distance_m, bend_rad)))
    sim.switch("rod", True)
    sim.step()
    moved = np.abs(sim.state.q - [0.3, bend_rad]).max()
    assert moved <= 1.0
    if sim.held["rod"] == Mode.HELD:
        x, y = 0.2 + 0.2 * np.cos(sim.state.q[1]), 0.2 * np.sin(sim.state.q[1])
        assert np.hypot(x, y) == pytest.approx(distance_m, abs=1e-9)
    else:
        assert [e.kind for e in sim.events] == [Event.REFUSED]
        assert moved < 1e-6


def test_a_constraint_impossible_at_the_start_is_refused_with_its_gap_and_the_remedy():
    far = "name: peg, kind: point, bodies: [body, world], point_b_m: [0.5, 0, 0]"
    with pytest.raises(ConfigError) as caught:
        hs.Simulation(slider([far]))
    assert "'peg.0' open by 0.5" in str(caught.value) and "close_loops: true" in str(caught.value)


def welded(held: list[bool]) -> hs.Scene:
    """Free bodies in a row, each with a weld of six rows to the world."""
    count = range(len(held))
    bodies = [
        f"    - {{name: b{i}, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.012, zz: 0.011}}}}}}"
        for i in count
    ]
    joints = [f"    - {{name: j{i}, type: free, parent: world, child: b{i}}}" for i in count]
    welds = [
        f"  - {{name: w{i}, kind: weld, bodies: [b{i}, world], origin_b: {{xyz_m: [{0.3 * i:g}, 0, 0]}}, "
        f"held: {str(held[i]).lower()}}}"
        for i in count
    ]
    start = ", ".join(f"j{i}: {{xyz_m: [{0.3 * i:g}, 0, 0]}}" for i in count)
    lines = [
        "name: welded", "robot:", "  bodies:", *bodies, "  joints:", *joints, "constraints:", *welds,
        f"initial: {{free: {{{start}}}}}",
    ]  # fmt: skip
    return loads("\n".join(lines))


def test_constraints_with_more_rows_than_can_be_imposed_are_refused_at_the_start():
    """Those beyond were dropped without a word: bodies fell that were said to be held."""
    with pytest.raises(ConfigError) as caught:
        hs.Simulation(welded([True] * 6))
    assert (
        "constraints hold 36 rows at the start, and 32 can be imposed at once: raise 'max_rows', or write "
        "'held: false' for one that need not hold at the start." in str(caught.value)
    )


def test_a_constraint_for_which_no_rows_are_left_is_refused_as_a_whole():
    sim = hs.Simulation(welded([True] * 4 + [False, False]))
    sim.step(10)
    sim.switch("w4", True)
    sim.switch("w5", True)
    sim.step()
    assert [sim.held[f"w{i}"] for i in range(6)] == [Mode.HELD] * 5 + [Mode.FREE]
    (refused,) = [e for e in sim.events if e.kind == Event.REFUSED]
    assert refused.subject == "'w5'" and refused.value == -np.inf
    assert refused.text == "'w5' was not imposed: no rows are left, let another constraint go"
    heights = [sim.body_pose(f"b{i}").translation[2] for i in range(6)]
    sim.step(100)
    moved = [sim.body_pose(f"b{i}").translation[2] - heights[i] for i in range(6)]
    assert np.abs(moved[:5]).max() < 1e-12 and moved[5] < -0.04
    sim.switch("w0", False)
    sim.step()
    sim.switch("w5", True)
    sim.step(100)
    assert sim.held["w0"] == Mode.FREE and sim.held["w5"] == Mode.FREE  # out of reach by now
    assert sim.state.fault == Fault.NONE


def test_friction_of_more_rows_than_one_is_refused():
    scene = slider(["name: rail, kind: lock, joints: [along]"])
    rail = scene.constraints[0]
    both = replace(rail, rows=rail.rows * 2, friction=Friction(1.0, 0.5))
    with pytest.raises(ConfigError, match="'rail' has friction and 2 rows"):
        hs.Simulation(replace(scene, constraints=(both,)))
