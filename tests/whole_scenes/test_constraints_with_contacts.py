"""Constraints and contacts at once: who bears a load, what a touch engages, and what slips beside a touch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Mode, Safety
from hapticsim.config.load import loads
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.model.scene import Scene
from tests.loop_scenes import slider

WEIGHT = 1.5 * 9.81  # the carriage of the slider cannot fall
GUIDE = "name: guide, kind: plane, bodies: [body, world]"
LATCH = "name: latch, kind: lock, joints: [up], held: false, engage_on_touch: [ball, floor]"


def over_floor(constraints: list[str], height: float = 0.0) -> Scene:
    """The slider with a ball whose lowest point is at a height [m] over a floor."""
    more = (
        "shapes:\n  - {name: ball, body: body, kind: sphere, radius_m: 0.05}\n"
        f"  - {{name: floor, kind: plane, origin: {{xyz_m: [0, 0, {-0.05 - height}]}}}}\n"
        "contacts:\n  - {between: [ball, floor]}"
    )
    return slider(constraints, gravity="[0, 0, -9.81]", more=more)


def pulled_up(force: float, breaks: str = "") -> hs.Simulation:
    sim = hs.Simulation(over_floor([GUIDE + breaks]))
    sim.step()
    sim.apply(force=np.array([0.0, 0.0, force]))
    sim.step(2)
    return sim


def test_a_guide_and_the_floor_share_the_weight():
    sim = hs.Simulation(over_floor([GUIDE]))
    sim.step()
    (contact,) = sim.state.contacts
    assert sim.rank == (1, 2)
    assert contact.force + sim.constraint_force("guide")[0] == pytest.approx(WEIGHT, rel=1e-12)


@pytest.mark.parametrize("force", (20.0, 30.0, 500.0))
def test_a_pull_away_from_the_floor_is_borne_by_the_guide_alone(force):
    sim = pulled_up(force)
    assert sum(c.force for c in sim.state.contacts) == 0.0
    assert sim.constraint_force("guide") == pytest.approx([WEIGHT - force], rel=1e-12)
    assert np.abs(sim.state.u).max() < 1e-14


@pytest.mark.parametrize("bears", (8.0, 12.0, 15.0))
def test_a_guide_lets_go_when_the_pull_on_it_is_more_than_it_bears(bears):
    sim = pulled_up(30.0, f", break_N: {bears}")
    assert WEIGHT - 30.0 < -bears and sim.held["guide"] == Mode.FREE
    sim.step(18)
    assert sim.state.u[1] == pytest.approx(0.02 * (30.0 - WEIGHT) / 1.5, rel=1e-9)


def test_a_guide_holds_the_pull_that_it_bears():
    assert pulled_up(30.0, ", break_N: 15.5").held["guide"] == Mode.HELD


def test_a_touch_at_the_start_engages_though_another_constraint_is_held():
    sim = hs.Simulation(over_floor(["name: other, kind: motion, joint: along, speed_per_s: 0.1", LATCH]))
    sim.step()
    assert [e.contact for e in sim.events if e.kind == Event.TOUCH] == [0]
    assert sim.held == {"other": Mode.HELD, "latch": Mode.HELD}


@pytest.mark.parametrize("switched", (False, True))
def test_a_touch_engages_also_in_the_tick_in_which_another_constraint_is_switched(switched):
    sim = hs.Simulation(over_floor(["name: other, kind: lock, joints: [along], held: false", LATCH]))
    if switched:
        sim.switch("other", True)
    sim.step()
    assert sim.held == {"other": Mode(switched), "latch": Mode.HELD}
    sim.apply(force=np.array([0.0, 0.0, 100.0]))
    sim.step(100)
    assert sim.state.q[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("height", "below"), [(0.0, 0.012), (0.0, 0.045), (0.0204, 0.03), (0.0, 0.00011)])
def test_what_would_push_a_shape_into_another_is_refused_and_the_state_kept(height, below):
    shelf = f"name: shelf, kind: plane, bodies: [body, world], point_b_m: [0, 0, {-below}], held: false"
    sim, left_alone = (hs.Simulation(over_floor([shelf], height)) for _ in range(2))
    sim.step()
    left_alone.step()
    sim._workspace.overlooked.fill(1)  # what a tick overlooked is looked at again in the next
    sim.switch("shelf", True)
    sim.step()
    left_alone.step()
    (refused,) = [e for e in sim.events if e.kind == Event.REFUSED]
    assert refused.value == pytest.approx(height - below, abs=2e-5)
    assert sim.held["shelf"] == Mode.FREE
    np.testing.assert_allclose(sim.state.q, left_alone.state.q, atol=1e-15)
    np.testing.assert_allclose(sim.state.u, left_alone.state.u, atol=1e-15)
    assert sim.gaps.min() > -1e-9


@pytest.mark.parametrize(("height", "below"), [(0.0, 0.00005), (0.0204, 0.0203), (0.0204, 0.0)])
def test_what_pushes_nothing_in_is_closed(height, below):
    shelf = f"name: shelf, kind: plane, bodies: [body, world], point_b_m: [0, 0, {-below}], held: false"
    sim = hs.Simulation(over_floor([shelf], height))
    sim.step()
    sim.switch("shelf", True)
    sim.step(20)
    assert sim.held["shelf"] == Mode.HELD
    assert sim.state.q[1] == pytest.approx(-below, abs=5.1e-5)


@pytest.mark.parametrize(
    "motion",
    (
        "speed_per_s: -0.3, held: true",
        "speed_per_s: -0.3, held: false",
        "amplitude: 0.05, angular_frequency_rad_per_s: 6.0, phase_rad: 3.14159265, held: false",
        "amplitude: 0.05, angular_frequency_rad_per_s: 6.0, phase_rad: 3.14159265, held: true",
    ),
)
@pytest.mark.parametrize("height", (0.0, 0.0204))
def test_a_motion_that_drives_a_shape_into_a_surface_is_let_go_and_takes_the_force_away(motion, height):
    sim = hs.Simulation(over_floor([f"name: press, kind: motion, joint: up, {motion}"], height))
    sim.step()
    sim.switch("press", True)
    kinds = []
    for _ in range(200):
        sim.step()
        kinds += [e.kind for e in sim.events]
        assert sim.gaps.min() > -1e-7
    assert Event.CONFLICT in kinds and sim.held["press"] == Mode.FREE
    assert sim.state.fault & Fault.INCONSISTENT
    (contact,) = sim.state.contacts
    assert contact.force == pytest.approx(WEIGHT, rel=1e-9)


@pytest.mark.parametrize("slope", (0.3, 0.8, 1.3))
@pytest.mark.parametrize("aside", (0.0, 0.004, -0.004))
@pytest.mark.parametrize(
    "motion",
    ("speed_per_s: -0.3", "amplitude: 0.05, angular_frequency_rad_per_s: 6.0, phase_rad: 3.14159265"),
)
def test_a_motion_that_jams_a_shape_between_two_surfaces_is_let_go(slope, aside, motion):
    """Either side of a groove lets the ball pass by going aside; both together do not."""
    sides = "".join(
        f"  - {{name: {name}, kind: plane, origin: {{xyz_m: [{0.06 * sign / np.sin(slope)}, 0, 0], "
        f"rpy_rad: [0, {-sign * slope}, 0]}}}}\n"
        for name, sign in (("right", 1), ("left", -1))
    )
    more = (
        f"shapes:\n  - {{name: ball, body: body, kind: sphere, radius_m: 0.05}}\n{sides}"
        "contacts:\n  - {between: [ball, right]}\n  - {between: [ball, left]}\n"
    )
    press = f"name: press, kind: motion, joint: up, {motion}, held: true"
    scene = slider([press], gravity="[0, 0, 0]", more=more)
    sim = hs.Simulation(replace(scene, q0=np.array([aside, 0.0])))
    kinds = []
    for _ in range(300):
        sim.step()
        kinds += [e.kind for e in sim.events]
        assert sim.gaps.min() > -1e-7
    assert Event.CONFLICT in kinds and sim.held["press"] == Mode.FREE
    assert sim.state.fault & Fault.INCONSISTENT


def test_a_motion_that_is_lost_is_let_go_where_the_mechanism_is_and_not_pulled_through_a_surface():
    """Its time goes on while ticks are refused."""
    sim = hs.Simulation(over_floor(["name: press, kind: motion, joint: up, speed_per_s: -1.0"], 0.002))
    sim.step()
    assert sim.gaps.min() == pytest.approx(0.001)
    sim._state.tick[0] += 3
    sim.step()
    assert Event.CONFLICT in {e.kind for e in sim.events} and sim.held["press"] == Mode.FREE
    assert sim.gaps.min() > 0.0009 and sim.state.fault & Fault.INCONSISTENT


INERTIAL = "inertial: {mass_kg: 1.0, com_m: [0.1, 0, 0], inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}"


def arm_over_floor(arm: float) -> Scene:
    """A motion turns a link of two, with a ball at a lever arm [m], 0.05 rad over a floor."""
    return loads(f"""
name: arm
robot:
  bodies:
    - name: upper
      {INERTIAL}
    - name: lower
      {INERTIAL}
  joints:
    - name: shoulder
      type: revolute
      parent: world
      child: upper
      axis: [0, 1, 0]
    - name: elbow
      type: revolute
      parent: upper
      child: lower
      axis: [0, 1, 0]
      origin:
        xyz_m: [0.2, 0, 0]
handle:
  body: lower
shapes:
  - name: ball
    body: upper
    kind: sphere
    radius_m: 0.01
    origin:
      xyz_m: [{arm}, 0, 0]
  - name: floor
    kind: plane
    origin:
      xyz_m: [0, 0, {-0.01 - 0.05 * arm}]
contacts:
  - between: [ball, floor]
constraints:
  - name: press
    kind: motion
    joint: shoulder
    speed_per_s: 2.0
""")


@pytest.mark.parametrize("arm", (0.002, 0.02, 0.08, 0.3, 3.0))
def test_whatever_the_lever_arm_the_motion_is_named_and_let_go(arm):
    sim = hs.Simulation(arm_over_floor(arm))
    conflicts = []
    for _ in range(100):
        sim.step()
        conflicts += [e.value for e in sim.events if e.kind == Event.CONFLICT]
        assert sim.gaps.min() > -1e-7
    assert conflicts == [pytest.approx(0.5, abs=1e-6)] and sim.held["press"] == Mode.FREE


def test_a_contradiction_in_the_middle_of_a_tick_takes_the_force_of_that_tick_away():
    still = "name: still, kind: motion, joint: along, speed_per_s: 0.0"
    fast = "name: fast, kind: motion, joint: along, speed_per_s: 0.3"
    fast += ", held: false, engage_on_touch: [ball, floor]"
    sim = hs.Simulation(over_floor([still, fast], height=0.0204))
    sim.couple(DeviceLimits(12.0, 14500.0, 10.0, 0.2))
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    sim.set_device(np.array([0.01, 0.0, 0.0]), np.zeros(3))
    for _ in range(200):
        felt = np.linalg.norm(sim.state.hand_force)
        sim.step()
        if sim.state.fault:
            break
    touch = next(e.time for e in sim.events if e.kind == Event.TOUCH)
    assert 1e-5 < touch - (sim.time - 1e-3) < 1e-3 - 1e-5, "not at the start of the tick"
    kinds = [e.kind for e in sim.events]
    assert Event.CONFLICT in kinds and Event.REFUSED in kinds and Event.SAFETY in kinds
    assert sim.state.fault == Fault.INCONSISTENT and sim.state.safety is Safety.FAULT
    assert felt > 1.0, "the tick before gave a force"
    assert sim.state.hand_force.tolist() == [0.0, 0.0, 0.0]
    assert sim._state.hand_force_D.tolist() == [0.0, 0.0, 0.0]


def braked_on_a_slope() -> Scene:
    """A ball pulled upwards that slides on a slope of 45 degrees: only a brake's friction holds it there."""
    inertia = "inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}"
    away = float(0.05 * np.sqrt(0.5))
    return loads(
        f"""
name: a brake and a slope
robot:
  bodies:
    - {{name: carriage, inertial: {{mass_kg: 0.5, {inertia}}}}}
    - {{name: body, inertial: {{mass_kg: 1.5, {inertia}}}}}
    - {{name: extra, inertial: {{mass_kg: 1.5, {inertia}}}}}
  joints:
    - {{name: along, type: prismatic, parent: world, child: carriage, axis: [1, 0, 0]}}
    - {{name: up, type: prismatic, parent: carriage, child: body, axis: [0, 0, 1]}}
    - {{name: aside, type: prismatic, parent: world, child: extra, axis: [0, 1, 0]}}
shapes:
  - {{name: ball, body: body, kind: sphere, radius_m: 0.05}}
  - {{name: slope, kind: plane,
     origin: {{xyz_m: [{away!r}, 0, {-away!r}], rpy_rad: [0, {-np.pi / 4!r}, 0]}}}}
contacts:
  - {{between: [ball, slope]}}
constraints:
  - {{name: brake, kind: lock, joints: [along], friction: {{static: 1.0, kinetic: 0.9, normal_N: 10.0}}}}
  - {{name: lock, kind: lock, joints: [aside], held: false}}
gravity_m_per_s2: [0, 0, 2]
handle: {{body: body, point_m: [0, 0, 0]}}
"""
    )


def test_a_fork_taken_while_a_brake_slips_tells_the_same_events_in_a_fresh_simulation():
    """The ball touches only because of the friction: if that is forgotten, it leaves and touches again."""
    sim = hs.Simulation(braked_on_a_slope())
    sim.apply(force=np.array([-40.0, 0.0, -40.0]))
    sim.step(60)
    sim.apply(force=np.zeros(3))
    sim.step(5)
    assert sim.held["brake"] == Mode.BACKWARD and len(sim.state.contacts) == 1
    fresh = hs.Simulation(braked_on_a_slope())
    fresh.restore(sim.fork())
    told = []
    for one in (sim, fresh):
        one.switch("lock", True)
        one.step()
        told.append(one.events)
    assert told[0] == told[1]
    kinds = {e.kind for e in told[0]}
    assert Event.SWITCH in kinds and not kinds & {Event.LEAVE, Event.TOUCH}
    for (name, x), (_, y) in zip(sim.fork().items(), fresh.fork().items(), strict=True):
        assert x.tobytes() == y.tobytes(), name


def test_a_box_that_a_guide_lifts_falls_again_when_the_guide_lets_go():
    """Its corners are not held where the guide has put them, 2 mm over the floor."""
    sim = hs.Simulation(
        loads("""
name: a box on a floor
robot:
  bodies: [{name: box, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.003, yy: 0.004, zz: 0.005}}}]
  joints: [{name: flight, type: free, parent: world, child: box}]
shapes:
  - {name: box, body: box, kind: box, half_extents_m: [0.1, 0.1, 0.05]}
  - {name: floor, kind: plane}
contacts: [{between: [box, floor]}]
constraints:
  - {name: lift, kind: plane, bodies: [box, world], point_b_m: [0, 0, 0.052], held: false}
initial: {free: {flight: {xyz_m: [0, 0, 0.05]}}}
""")
    )
    sim.step(20)
    assert len(sim.state.contacts) == 4
    sim.switch("lift", True)
    sim.step(20)
    lifted = sim.state.q[2]
    sim.switch("lift", False)
    sim.step(100)
    assert lifted == pytest.approx(0.052, abs=1e-6)
    assert sim.state.q[2] == pytest.approx(0.05, abs=1e-6)
