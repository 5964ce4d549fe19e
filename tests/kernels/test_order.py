"""Order of the integrator by regression, free and constrained, and what free flight conserves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from tests import naive, scenes
from tests.places import WAM

FREE_BODY = """
name: a body in flight
robot:
  bodies:
    - {name: brick, inertial: {mass_kg: 2.0, com_m: [0.05, -0.02, 0.03],
       inertia_kg_m2: {xx: 0.02, yy: 0.03, zz: 0.04}}}
  joints:
    - {name: float, type: free, parent: world, child: brick}
initial: {free: {float: {xyz_m: [0, 0, 1], rpy_rad: [0.3, 0.2, 0.1],
  velocity_m_per_s: [1, 0, 2], angular_velocity_rad_per_s: [3, 5, -4]}}}
"""


def measured_order(scene, seconds: float, rates: list[float], force=None) -> float:
    """Slope of log error over log step; the error is against a step a fourth of the smallest."""
    ends = []
    for rate in [*rates, 4.0 * rates[-1]]:
        sim = hs.Simulation(dataclasses.replace(scene, rate_Hz=rate))
        if force is not None:
            sim.apply(force=force)
        sim.step(round(seconds * rate))
        state = sim.state
        ends.append(np.concatenate([state.q, state.u]))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert min(errors) > 1e-12, f"too close to rounding to mean something: {errors}"
    return float(-np.polyfit(np.log(rates), np.log(errors), 1)[0])


def swinging_arm() -> hs.Scene:
    """The WAM without torque laws, which are held for a tick and are of first order by design."""
    return dataclasses.replace(hs.load(WAM), torque_laws=(), u0=np.array([2.0, -1.0, 3.0, 1.0]))


def test_a_free_swing_converges_with_fourth_order():
    assert measured_order(swinging_arm(), 0.04, [100.0, 200.0, 400.0]) > 3.9


def test_a_tumbling_body_with_quaternions_converges_with_fourth_order():
    """From 200 Hz on: at 100 Hz the balance of energy divides the steps."""
    assert measured_order(loads(FREE_BODY), 1.0, [200.0, 400.0, 800.0]) > 3.9


def test_a_constrained_motion_converges_with_fourth_order():
    """The arm starts on the floor and slides on it: embedding and projection cost no order."""
    elbow = -1.2
    shoulder = 0.0
    arm = naive.PlanarArm()
    for _ in range(50):  # Newton: the shoulder at which the tip touches
        q = np.array([shoulder, elbow])
        shoulder -= arm.gap(q) / arm.jacobian(q)[1, 0]
    scene = scenes.arm((shoulder, elbow))
    assert measured_order(scene, 0.2, [400.0, 800.0, 1600.0], np.array([3.0, 0.0, -8.0])) > 3.9


def test_in_flight_energy_momentum_and_angular_momentum_are_kept():
    sim = hs.Simulation(loads(FREE_BODY))
    body = sim.scene.model.bodies[0]

    def kept() -> np.ndarray:
        q, u, t = sim.state.q, sim.state.u, sim.time
        R = naive.turned(q[3:])
        velocity = R @ (u[3:] + np.cross(u[:3], body.com_B))
        spin = R @ body.inertia_com_B @ u[:3]
        momentum = body.mass * (velocity - sim.scene.model.gravity_W * t)
        return np.concatenate([momentum, spin, [sum(sim.energy())]])

    before = kept()
    sim.step(2000)
    np.testing.assert_allclose(kept(), before, rtol=0, atol=1e-8)
    assert np.linalg.norm(sim.state.q[3:]) == pytest.approx(1.0, abs=1e-15)


def test_a_swing_without_damping_keeps_its_energy():
    sim = hs.Simulation(scenes.arm((1.2, 0.5)))
    before = sum(sim.energy())
    sim.step(200)  # above the floor all the time
    assert not sim.state.contacts
    assert sum(sim.energy()) == pytest.approx(before, abs=1e-9)
