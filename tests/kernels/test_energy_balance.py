"""A tick that gains energy is integrated more finely or refused, and what is refused is told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Safety
from hapticsim.config.load import loads
from hapticsim.kernels import units
from hapticsim.kernels.entry import compile_cached
from hapticsim.kernels.memory.arrays import MODE
from hapticsim.kernels.motion import energy, stage
from hapticsim.kernels.motion.energy import END, POWER
from hapticsim.kernels.tick import commit
from tests import scenes
from tests.kernel_access import INT, OUTPUT, PLAN, STATE, WORKSPACE, compiled
from tests.whole_scenes.test_constraints_with_contacts import WEIGHT, over_floor
from tests.whole_scenes.test_stiff_motion import CHAIN, OMEGA_3, chain

gained = compiled(energy.gained, PLAN, STATE, WORKSPACE)
commit_or_reject = compiled(commit.commit_or_reject, PLAN, STATE, OUTPUT, WORKSPACE, INT, INT)

SPINNING = """
name: a spinning body
robot:
  bodies:
    - {name: brick, inertial: {mass_kg: 2.0, inertia_kg_m2: {xx: 0.02, yy: 0.03, zz: 0.04}}}
  joints:
    - {name: float, type: free, parent: world, child: brick}
initial: {free: {float: {xyz_m: [0, 0, 1], angular_velocity_rad_per_s: [SPIN]}}}
"""


def heavy_end(ratio: float) -> hs.Scene:
    """A chain of light links with a heavy end."""
    bodies, joints = [], []
    for i in range(4):
        mass = 0.05 * (ratio if i == 3 else 1.0)
        J = mass * 0.01
        bodies.append(
            f"    - {{name: b{i}, inertial: {{mass_kg: {mass}, com_m: [0, 0, -0.15], "
            f"inertia_kg_m2: {{xx: {J}, yy: {J}, zz: {0.5 * J}}}}}}}"
        )
        parent, z = ("world", 0.0) if i == 0 else (f"b{i - 1}", -0.3)
        axis = "[0, 1, 0]" if i % 2 else "[1, 0, 0]"
        joints.append(
            f"    - {{name: j{i}, type: revolute, parent: {parent}, child: b{i}, axis: {axis}, "
            f"origin: {{xyz_m: [0, 0, {z}]}}}}"
        )
    return loads(
        "name: a heavy end\nrobot:\n  bodies:\n"
        + "\n".join(bodies)
        + "\n  joints:\n"
        + "\n".join(joints)
        + "\n"
    )


def test_chains_with_a_heavy_end_gain_nothing_silently():
    scene, rng = heavy_end(1e3), np.random.default_rng(3)
    for trial in range(40):
        start = dataclasses.replace(
            scene,
            q0=rng.uniform(-3.0, 3.0, 4),
            u0=rng.uniform(-1.0, 1.0, 4) * 10.0 ** rng.uniform(0.0, 3.0),
            rate_Hz=float(rng.choice([250.0, 1000.0])),
        )
        sim = hs.Simulation(start)
        before, scale = sum(sim.energy()), sim.plan.energy_scale + sim.energy()[0]
        for _ in range(150):
            sim.step()
            after = sum(sim.energy())
            refused = [e for e in sim.events if e.kind in (Event.ENERGY, Event.NOT_FINITE)]
            assert np.isfinite(after)
            assert after - before <= 1e-6 * scale, (trial, after - before, scale)
            if refused:
                assert sim.state.fault & (Fault.ENERGY | Fault.NOT_FINITE)
                assert refused[0].kind is not Event.ENERGY or refused[0].value > 1e-6 * sim.plan.energy_scale
                before = after  # at rest where the tick began
            before = min(before, after)


def test_a_refused_tick_keeps_the_state_and_says_what_it_would_have_gained():
    """A joule is made to be missing from the balance."""
    sim = hs.Simulation(scenes.arm((1.2, 0.5), (3.0, -2.0)))
    sim.step(5)
    before = sim.state.q
    sim._state.energy[0] -= 1.0
    sim.step()
    event = sim.events[0]
    assert event.kind is Event.ENERGY and event.value == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_array_equal(sim.state.q, before)
    np.testing.assert_array_equal(sim.state.u, 0.0)
    assert sim.state.safety is Safety.FAULT and sim.state.fault == Fault.ENERGY
    sim.step()
    assert not [e for e in sim.events if e.kind is Event.ENERGY], "it goes on from there"


@pytest.mark.parametrize("spin", (1e4, 1e6, 1e14))
def test_a_body_that_turns_more_than_a_tick_can_follow_is_refused(spin):
    sim = hs.Simulation(loads(SPINNING.replace("SPIN", "0.0, 1.0, 2.0")))
    sim._state.u[0] = spin  # no start and no ``set_state`` takes it
    sim.step()
    assert sim.events[0].kind is Event.NOT_FINITE
    assert sim.state.fault == Fault.NOT_FINITE and np.all(np.isfinite(sim.state.q))


@pytest.mark.parametrize("spin", (1.0, 100.0, 700.0))
def test_a_body_that_turns_as_fast_as_a_tick_can_follow_keeps_its_energy(spin):
    sim = hs.Simulation(loads(SPINNING.replace("SPIN", f"{spin}, 0.1, 0.2")))
    before = sum(sim.energy())
    sim.step(300)
    assert sim.state.fault == 0
    assert sum(sim.energy()) <= before * (1.0 + 1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_gain_that_is_no_number_is_not_taken_for_none_and_refuses_the_tick(value: float):
    sim = hs.Simulation(loads(SPINNING.replace("SPIN", "1, 2, 3")))
    sim.step(3)
    state, ws = sim._state, sim._workspace
    state.energy[1], ws.work[END] = 0.7, value
    assert not np.isfinite(gained(sim.assembly.plan, state, ws)) and state.energy[1] == 0.7
    last = ws.good_q.copy()
    commit_or_reject(sim.assembly.plan, state, sim._output, ws, state.safety[MODE], 0)
    np.testing.assert_array_equal(state.q, last)
    assert not state.u.any() and sim.state.fault == Fault.NOT_FINITE


def test_what_flies_off_is_refused_long_before_it_is_infinite():
    sim = hs.Simulation(loads(SPINNING.replace("SPIN", "0, 0, 0")))
    sim._state.u[3] = 1e12
    sim.step()
    event = sim.events[0]
    assert event.kind is Event.NOT_FINITE and event.value > 1.0
    assert abs(sim.state.q[0]) < 1.0


def test_work_put_in_is_no_gain():
    """Torques that swing an arm up, and a hand that leads a heavy chain, are accounted for."""
    sim = hs.Simulation(chain())
    rng = np.random.default_rng(4)
    sim.couple(OMEGA_3)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    for k in range(3000):
        if k % 20 == 0:
            sim.apply(torque=rng.normal(size=3) * [8.0, 6.0, 0.05], force=rng.normal(size=3) * 3.0)
        if k % 7 == 0:
            sim.set_device(rng.normal(size=3) * 0.004, rng.normal(size=3) * 0.2)
        sim.step()
        assert not {e.kind for e in sim.events} & {Event.ENERGY, Event.NOT_FINITE}, (k, sim.events)
    assert np.abs(sim.state.u).max() > 1.0, "it moves"


def test_a_driven_constraint_puts_its_work_in():
    """A crank turned at a given speed, which swings up and down, throws a chain about."""
    driven = "constraints:\n  - {name: crank, kind: motion, joint: j0, speed_per_s: 4.0, "
    driven += "amplitude: 0.3, angular_frequency_rad_per_s: 12}\n"
    sim = hs.Simulation(loads(CHAIN + driven))
    lifted = 0.0
    for _ in range(3000):
        before = sum(sim.energy())
        sim.step()
        lifted = max(lifted, sum(sim.energy()) - before)
        assert not {e.kind for e in sim.events} & {Event.ENERGY, Event.NOT_FINITE}, sim.events
    assert lifted > 1e-3, "a thousand times what is allowed without the work"


@pytest.mark.parametrize("speed", (0.0, 0.3))
def test_what_a_stage_is_off_a_contact_is_no_work_while_a_motion_holds(speed):
    """The stages of a step are off their rows by what the step is inaccurate; a motion alone puts work in."""
    drive = f"name: drive, kind: motion, joint: along, speed_per_s: {speed}"
    sim = hs.Simulation(over_floor([drive]))
    sim.apply(torque=np.array([2.0, 0.0]))
    sim.step()
    (plan, state, ws), m = (sim.plan, sim._state, sim._workspace), sim.rank[1]
    (contact,) = sim.state.contacts
    assert m == 2 and contact.force == pytest.approx(WEIGHT)
    u = state.u + np.array([0.0, -1e-3])
    evaluate_stage = compile_cached(stage.evaluate_stage, units.STAGE)
    evaluate_stage(plan, state, sim._input, ws, state.q, u, 0.0, np.empty(2), np.empty(2), m)
    drive_force = -2.0  # it holds back what the torque pushes
    assert ws.work[POWER] == pytest.approx(2.0 * u[0] + drive_force * speed, abs=1e-9)


def test_a_coupler_torn_apart_while_armed_is_a_fault():
    scene = chain()
    model = dataclasses.replace(scene.model, gravity_W=np.zeros(3))
    sim = hs.Simulation(dataclasses.replace(scene, model=model))
    sim.couple(OMEGA_3)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    sim.step(600)
    assert sim.state.safety is Safety.ARMED
    sim.set_state(sim.state.q + 1.0, np.zeros(3))
    sim.step()
    assert sim.state.safety is Safety.FAULT and sim.state.fault & Fault.STRETCH
    np.testing.assert_array_equal(sim.state.hand_force, 0.0)
    np.testing.assert_array_equal(sim.state.coupler_force, 0.0)
