"""Coulomb friction of joints against closed forms, at impacts, and on random arms."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.optimize import brentq

import hapticsim as hs
from hapticsim.codes import Event, Mode
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from tests.seeds import seeds
from tests.whole_scenes.test_joint_stops import arm, gripper

SLIDER = """
name: slider
robot:
  bodies: [{{name: b, inertial: {{mass_kg: 2.0, inertia_kg_m2: {{xx: 1e-3, yy: 1e-3, zz: 1e-3}}}}}}]
  joints:
    - name: rail
      type: prismatic
      parent: world
      child: b
      axis: [1, 0, 0]
      coulomb_friction_N: {friction}
joint_friction: {{static_over_kinetic: {ratio}}}
{more}
"""


def slider(friction: float = 3.0, ratio: float | str = 1.0, more: str = "") -> hs.Simulation:
    return hs.Simulation(loads(SLIDER.format(friction=friction, ratio=ratio, more=more), "<test>"))


def test_what_slides_stops_where_its_energy_is_used_up_and_stays():
    sim = slider()
    sim.set_state(np.zeros(1), np.array([1.5]))
    told = []
    for _ in range(2000):
        sim.step()
        told += [(event.kind, event.time) for event in sim.events if event.kind == Event.SWITCH]
    assert sim.state.q[0] == pytest.approx(2.0 * 1.5**2 / (2.0 * 3.0), abs=1e-12)
    assert told[-1][1] == pytest.approx(2.0 * 1.5 / 3.0, abs=1e-6)
    assert sim.state.u[0] == 0.0
    assert sim.held["friction of rail"] == Mode.HELD


@pytest.mark.parametrize("ratio", [1.0, 1.4])
def test_a_joint_sticks_up_to_its_static_friction_and_slips_against_the_other(ratio: float):
    sim, static = slider(ratio=ratio), 3.0 * ratio
    sim.apply(torque={"rail": 0.999 * static})
    sim.step(1000)
    assert sim.state.q[0] == 0.0
    assert sim.constraint_force("friction of rail")[0] == pytest.approx(-0.999 * static)
    sim.apply(torque={"rail": 1.001 * static})
    sim.step(500)
    assert sim.state.u[0] == pytest.approx(0.5 * (1.001 * static - 3.0) / 2.0, rel=1e-9)


PENDULUM = """
name: pendulum
robot:
  bodies:
    - name: arm
      inertial: {mass_kg: 1.0, com_m: [0, 0, -0.5], inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}
  joints:
    - {name: hinge, type: revolute, parent: world, child: arm, axis: [0, 1, 0], coulomb_friction_Nm: 0.2}
joint_friction: {}
initial: {q_rad: {hinge: 1.2}}
"""


def test_a_pendulum_swings_less_by_what_friction_takes_and_comes_to_rest_where_it_holds():
    """Of each half swing W (cos b - cos a) = c (a + b) gives the angle b at which it turns."""
    sim, weight, friction = hs.Simulation(loads(PENDULUM, "<test>")), 9.81 * 0.5, 0.2
    turns, before = [], 0.0
    for _ in range(20_000):
        sim.step()
        if sim.state.u[0] * before <= 0.0 and before != 0.0:
            turns.append(abs(float(sim.state.q[0])))
        before = float(sim.state.u[0])
    expected, a = [], 1.2
    while weight * math.sin(a) > friction:
        b = brentq(lambda b, a=a: weight * (math.cos(b) - math.cos(a)) - friction * (a + b), 1e-9 - a, a)
        expected.append(abs(b))
        a = b
        if b < 0.0:
            break
    for found, wanted in zip(turns, expected, strict=False):
        assert found == pytest.approx(wanted, abs=5e-6)  # looked at after the tick in which it turns
    assert len(turns) >= len(expected) - 1 > 5
    assert sim.state.u[0] == 0.0
    assert weight * abs(math.sin(sim.state.q[0])) <= friction
    assert abs(sim.state.q[0]) == pytest.approx(expected[-1], abs=1e-7)


TWO_LINKS = """
name: two links
robot:
  bodies:
    - name: upper
      inertial: {{mass_kg: 1.0, com_m: [0, 0, -0.3], inertia_kg_m2: {{xx: 0.02, yy: 0.02, zz: 0.02}}}}
    - name: lower
      inertial: {{mass_kg: 0.6, com_m: [0, 0, -0.2], inertia_kg_m2: {{xx: 0.01, yy: 0.01, zz: 0.01}}}}
  joints:
    - name: first
      type: revolute
      parent: world
      child: upper
      axis: [0, 1, 0]
      limits: {{upper_rad: 0.0}}
    - name: second
      type: revolute
      parent: upper
      child: lower
      axis: [0, 1, 0]
      origin: {{xyz_m: [0, 0, -0.6]}}
      coulomb_friction_Nm: 8.0
joint_stops: {{restitution: {e}}}
initial: {{q_rad: {{first: -1.0, second: 0.3}}, u_rad_per_s: {{first: 2.0}}}}
{more}
"""


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_what_sticks_by_friction_bears_no_impulse(e: float):
    """The second joint holds rigidly on the way down; as the first meets its stop it jumps as one that is
    free, by M^-1 J' x."""
    sim = hs.Simulation(loads(TWO_LINKS.format(e=e, more="joint_friction: {}"), "<test>"))
    energy, at_stop = sum(sim.energy()), sim.fork()
    while not any(event.kind in (Event.TOUCH, Event.IMPULSE) for event in sim.events):
        before = sim.state
        sim.step()
    assert before.u[1] == 0.0
    assert before.q[1] == pytest.approx(0.3, abs=1e-12)
    event = next(event for event in sim.events if event.kind in (Event.TOUCH, Event.IMPULSE))
    after, held = sim.state.u, sim.held["friction of second"]
    sim.restore(at_stop)
    sim.set_state(np.array([0.0, 0.3]), np.zeros(2))
    potential = sim.energy()[1]
    M = sim.assembly.equations.mass_matrix(np.array([0.0, 0.3]))
    speed = math.sqrt(2.0 * (energy - potential) / M[0, 0])
    push = (1.0 + e) * speed / np.linalg.inv(M)[0, 0]
    assert event.value == pytest.approx(0.5 * push * speed * (1.0 - e), rel=1e-8)
    expected = np.array([speed, 0.0]) - push * np.linalg.inv(M)[:, 0]
    assert expected[1] > 3.0
    assert after == pytest.approx(expected, abs=0.6), "up to what the rest of the tick changed"
    assert held == Mode.FORWARD


def test_speeds_at_the_start_are_kept():
    sim = slider(friction=1e-6)
    sim.set_state(np.zeros(1), np.array([0.7]))
    sim.step()
    assert sim.state.u[0] == pytest.approx(0.7, abs=1e-8)


def rubbing(rng: np.random.Generator) -> str:
    """A random arm every joint of which rubs."""
    text, units = arm(rng), {"revolute": "Nm", "prismatic": "N"}

    def with_friction(line: re.Match[str]) -> str:
        force = rng.uniform(0.05, 2.0)
        return f"{line[0][:-1]}, coulomb_friction_{units[line[1]]}: {force}}}"

    text = re.sub(r"    - \{name: j\d, type: (\w+).*", with_friction, text)
    return f"{text}\njoint_friction: {{static_over_kinetic: {rng.choice([1.0, 1.5])}}}\n"


@pytest.mark.parametrize("seed", seeds(5, 60))
def test_a_random_arm_that_rubs_loses_what_friction_takes(seed: int):
    """Energy lost in a tick without events: friction times way, of every joint."""
    rng = np.random.default_rng(seed)
    text = rubbing(rng)
    if seed % 2:
        text = re.sub("joint_stops.*", "", text)
    sim = hs.Simulation(loads(text, "<test>"))
    model = sim.scene.model
    sim.set_state(sim.state.q, rng.normal(size=model.nu) * 3.0)
    friction = np.array([model.coulomb[joint.name] for joint in model.moving_joints])
    before, compared = sim.state, 0
    for _ in range(1000):
        sim.step()
        state, told = sim.state, sim.certificate
        assert state.fault == 0
        assert told.gain <= 1e-9
        if not sim.events and np.all(before.u * state.u >= 0.0):
            taken = float(friction @ np.abs(state.q - before.q))
            assert told.gain == pytest.approx(-taken, abs=1e-7 + 1e-6 * taken)
            compared += 1
        before = state
    assert compared > 200


def test_friction_of_a_joint_that_follows_counts_at_the_one_that_it_follows():
    sim = gripper(
        "coulomb_friction_N: 1.0",
        "mimic: {joint: a, multiplier: -2.0}, coulomb_friction_N: 0.5",
        "joint_friction: {}",
    )
    assert sim.scene.model.coulomb == {"a": 2.0}
    sim.apply(torque={"a": 1.99})
    sim.step(200)
    assert sim.state.q[0] == 0.0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"ratio": 0.9}, r"joint_friction.static_over_kinetic = 0.9 is not usable: .* from 1 to 10"),
        ({"ratio": "high"}, r"joint_friction.static_over_kinetic = 'high'"),
        (
            {"more": "contact_regime: time_stepping"},
            r"joint_friction is there, .* write 'exact', or leave it out",
        ),
        (
            {"more": "constraints: [{name: friction of rail, kind: lock, joints: [rail]}]"},
            r"joint_friction makes a constraint 'friction of rail', which is taken: rename that one",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(change: dict[str, object], sentence: str):
    with pytest.raises(ConfigError, match=sentence) as refused:
        slider(**change)
    assert str(refused.value).count("\n") == 0


def test_notes_say_what_rubs():
    with_it = loads(SLIDER.format(friction=3.0, ratio=1.0, more=""), "<test>")
    assert with_it.notes == ()
    without = loads(re.sub("joint_friction.*", "", SLIDER.format(friction=3.0, ratio=1.0, more="")), "<test>")
    assert without.notes == (
        "Coulomb friction of joints is shown alone; 'joint_friction: {}' in a scene lets it act: rail.",
    )
    nothing = loads(SLIDER.format(friction=0.0, ratio=1.0, more=""), "<test>")
    assert nothing.notes == ("joint_friction: no joint has Coulomb friction, so nothing rubs.",)
