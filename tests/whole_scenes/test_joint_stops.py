"""Stops of joints against closed forms, against a ball on a floor, and on random arms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from hapticsim.display.messages.scene import StateMessage
from hapticsim.errors import ConfigError
from tests.seeds import seeds

PENDULUM = """
name: pendulum
robot:
  bodies:
    - name: arm
      inertial: {{mass_kg: 1.0, com_m: [0, 0, -0.5], inertia_kg_m2: {{xx: 0.01, yy: 0.01, zz: 0.01}}}}
  joints:
    - name: hinge
      type: revolute
      parent: world
      child: arm
      axis: [0, 1, 0]
      limits: {{lower_rad: {low}, upper_rad: {high}}}
joint_stops: {{restitution: {e}}}
contact_regime: {regime}
initial: {{q_rad: {{hinge: {start}}}}}
"""
INERTIA, WEIGHT = 0.01 + 0.25, 9.81 * 0.5


def pendulum(e=0.0, low=-0.5, high=1.0, start=0.9, regime="exact") -> hs.Simulation:
    return hs.Simulation(
        loads(PENDULUM.format(e=e, low=low, high=high, start=start, regime=regime), "<test>")
    )


def energy_at(angle: float) -> float:
    return -WEIGHT * math.cos(angle)


@pytest.mark.parametrize("e", [0.0, 0.4, 0.9])
def test_a_pendulum_meets_its_stop_when_and_as_fast_as_it_must(e: float):
    """Time by quadrature of d angle / speed; what is lost, and how high it comes back, by energy."""
    sim = pendulum(e)
    while not any(event.kind in (Event.TOUCH, Event.IMPULSE) for event in sim.events):
        sim.step()
    event = next(event for event in sim.events if event.kind in (Event.TOUCH, Event.IMPULSE))
    swing = np.polynomial.legendre.leggauss(200)
    # angle = 0.9 - 1.4 s^2 takes the root of the speed at the start out of the integrand
    s = 0.5 * (swing[0] + 1.0)
    angle = 0.9 - 1.4 * s * s
    speed = np.sqrt(2.0 * (energy_at(0.9) - np.array([energy_at(a) for a in angle])) / INERTIA)
    meets = float(np.sum(0.5 * swing[1] * 2.8 * s / speed))
    assert event.time == pytest.approx(meets, abs=1e-9)
    at_stop = energy_at(0.9) - energy_at(-0.5)
    assert event.value == pytest.approx((1.0 - e * e) * at_stop, rel=1e-7)
    assert event.text.startswith("joint hinge on its lower stop touched")
    highest = -0.5
    for _ in range(1500):
        sim.step()
        highest = max(highest, float(sim.state.q[0]))
        assert sim.state.q[0] > -0.5 - 1e-10
    if e > 0.0:
        returned = energy_at(-0.5) + e * e * at_stop
        assert energy_at(highest) == pytest.approx(returned, abs=1e-5)


@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_stop_bears_what_pushes_against_it_and_lets_go(regime: str, side: str):
    sim, sign = pendulum(regime=regime), 1.0 if side == "upper" else -1.0
    sim.apply(torque={"hinge": sign * 20.0})
    sim.step(1500)
    at = 1.0 if side == "upper" else -0.5
    (stop,) = sim.state.stops
    assert (stop.joint, stop.side) == ("hinge", side)
    assert sim.state.q[0] == pytest.approx(at, abs=1e-9 if regime == "exact" else 1e-6)
    assert stop.force == pytest.approx(20.0 - WEIGHT * abs(math.sin(at)), rel=1e-5)
    assert sim.state.contacts == ()
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    told = Describer(sim.assembly).state(row)
    assert told["contacts"] == []
    force = pytest.approx(stop.force)
    assert told["stops"] == [{"joint": "hinge", "side": side, "force": force, "unit": "N m"}]
    shown = StateMessage.read(told).stops
    assert [(s.joint, s.side, s.force, s.unit) for s in shown] == [("hinge", side, force, "N m")]
    column = f"force_Nm[joint hinge-{side} stop of hinge]"
    assert row[sim.columns.index(column)] == pytest.approx(stop.force)
    sim.apply(torque={"hinge": -sign * 20.0})
    sim.step(20)
    assert sim.state.stops == ()


SLIDER = """
name: slider
robot:
  bodies: [{{name: ball, inertial: {{mass_kg: 0.7, inertia_kg_m2: {{xx: 1e-3, yy: 1e-3, zz: 1e-3}}}}}}]
  joints:
    - name: rail
      type: prismatic
      parent: world
      child: ball
      axis: [0, 0, 1]
      limits: {{lower_m: 0.02, upper_m: 0.5}}
initial: {{q_m: {{rail: 0.3}}}}
{more}
"""
FLOOR = """
shapes:
  - {{name: ball, body: ball, kind: sphere, radius_m: 0.02}}
  - {{name: floor, kind: plane}}
contacts: [{{between: [ball, floor], restitution: {e}}}]
"""


@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
@pytest.mark.parametrize("e", [0.0, 0.7])
def test_a_slider_bounces_on_its_stop_as_a_ball_on_a_floor(e: float, regime: str):
    both = []
    for more in (f"joint_stops: {{restitution: {e}}}", FLOOR.format(e=e)):
        sim = hs.Simulation(loads(SLIDER.format(more=f"{more}\ncontact_regime: {regime}"), "<test>"))
        rows = []
        for _ in range(1500):
            sim.step()
            rows.append([*sim.state.q, *sim.state.u])
        both.append(np.array(rows))
    np.testing.assert_allclose(both[0], both[1], atol=1e-12)


def arm(rng: np.random.Generator) -> str:
    """A chain of 2 to 6 joints with ranges about the start, in some of which one follows another."""
    n = int(rng.integers(2, 7))
    bodies, joints, before = [], [], "world"
    for i in range(n):
        mass, reach = rng.uniform(0.2, 2.0), rng.uniform(0.05, 0.3)
        inertia = mass * reach**2 * rng.uniform(0.1, 0.3)
        bodies.append(
            f"    - {{name: b{i}, inertial: {{mass_kg: {mass}, com_m: [0, 0, {-reach}], "
            f"inertia_kg_m2: {{xx: {inertia}, yy: {inertia}, zz: {inertia}}}}}}}"
        )
        slides = rng.random() < 0.25
        kind, unit, scale = ("prismatic", "m", 0.2) if slides else ("revolute", "rad", 1.0)
        axis = rng.normal(size=3)
        axis = (axis / np.linalg.norm(axis)).tolist()
        low, high = -rng.uniform(0.05, 1.5) * scale, rng.uniform(0.05, 1.5) * scale
        ends = [f"lower_{unit}: {low}"] * (rng.random() < 0.8) + [f"upper_{unit}: {high}"] * (
            rng.random() < 0.8
        )
        joints.append(
            f"    - {{name: j{i}, type: {kind}, parent: {before}, child: b{i}, "
            f"axis: {axis}, origin: {{xyz_m: [0, 0, {-2 * reach}]}}, limits: {{{', '.join(ends)}}}}}"
        )
        before = f"b{i}"
    stops = f"joint_stops: {{restitution: {rng.choice([0.0, 0.5, 0.9])}}}"
    return "\n".join(["name: arm", "robot:", "  bodies:", *bodies, "  joints:", *joints, stops])


@pytest.mark.parametrize("seed", seeds(5, 60))
@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
def test_a_random_arm_stays_within_its_ranges_and_gains_nothing(seed: int, regime: str):
    """Of a chatter that ends an exact tick holds what is up to some 1e-8 beyond."""
    rng = np.random.default_rng(seed)
    sim = hs.Simulation(loads(f"{arm(rng)}\ncontact_regime: {regime}\n", "<test>"))
    beyond, off = (1e-6, 1e-8) if regime == "exact" else (1e-4, 1e-6)
    model = sim.scene.model
    low, high = np.array([model.ranges[j.name] for j in model.moving_joints]).T
    sim.set_state(sim.state.q, rng.normal(size=model.nu) * 3.0)
    before, met, nearest = sum(sim.energy()), 0, np.inf
    scale = before - min(before, 0.0) + 10.0
    for _ in range(1000):
        sim.step()
        after, state = sum(sim.energy()), sim.state
        assert state.fault == 0
        assert np.all(state.q > low - beyond), (state.q, low)
        assert np.all(state.q < high + beyond), (state.q, high)
        assert after - before < 1e-6 * scale
        assert sim.certificate.gain == pytest.approx(after - before, abs=1e-9 * scale)
        assert sim.certificate.cone == 0.0
        assert sim.certificate.normal < off
        met += len([e for e in sim.events if e.kind in (Event.TOUCH, Event.IMPULSE)])
        nearest = min(nearest, float((state.q - low).min()), float((high - state.q).min()))
        before = after
    assert met > 0 or nearest > 1e-7


GRIPPER = """
name: gripper
robot:
  bodies:
    - {{name: left, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.01, zz: 0.01}}}}}}
    - {{name: right, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.01, zz: 0.01}}}}}}
  joints:
    - {{name: a, type: prismatic, parent: world, child: left, axis: [1, 0, 0], {a}}}
    - {{name: b, type: prismatic, parent: world, child: right, axis: [1, 0, 0], {b}}}
{more}
"""


def gripper(a: str, b: str, more: str) -> hs.Simulation:
    """Two jaws, of which b follows a as its keys say."""
    return hs.Simulation(loads(GRIPPER.format(a=a, b=b, more=more), "<test>"))


def test_a_joint_that_follows_limits_the_one_that_it_follows():
    sim = gripper(
        "limits: {lower_m: -1.0, upper_m: 1.0}",
        "mimic: {joint: a, multiplier: -2.0, offset_m: 0.1}, limits: {lower_m: -0.3, upper_m: 0.5}",
        "joint_stops: {}",
    )
    assert sim.scene.model.ranges == {"a": (-0.2, 0.2)}
    sim.apply(torque={"a": 50.0})
    sim.step(1000)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-9)
    assert sim.state.stops[0].force == pytest.approx(50.0)


def test_a_start_beyond_a_stop_is_refused_with_the_range():
    with pytest.raises(
        ConfigError, match=r"puts the joint 'hinge' 0.2 rad beyond its upper stop: .* -0.5 to 1 rad"
    ):
        pendulum(start=1.2)


def test_notes_say_which_joints_have_stops():
    scene = loads(PENDULUM.format(e=0, low=0.0, high=0.0, start=0.0, regime="exact"), "<test>")
    assert scene.notes == (
        "joint_stops: the range of hinge is empty, so no stop holds it.",
        "joint_stops: no joint has a range with an end, so nothing stops.",
    )
    scene = loads(
        PENDULUM.format(e=0, low=0.0, high=1.0, start=0.0, regime="exact").replace(
            "joint_stops: {restitution: 0}\n", ""
        ),
        "<test>",
    )
    assert scene.notes == (
        "joint limits are shown alone; 'joint_stops: {}' in a scene makes them stops: hinge.",
    )
    assert len(hs.Simulation(scene).gaps) == 0


@pytest.mark.parametrize("value", ["-0.1", "1.1", ".nan", "hard"])
def test_a_restitution_that_is_none_is_refused_in_one_sentence(value: str):
    with pytest.raises(ConfigError, match=r"joint_stops.restitution = ") as refused:
        pendulum(e=value)
    assert str(refused.value).count("\n") == 0
