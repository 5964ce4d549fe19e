"""The torque on the hand: scaled, clamped, slewed, and gone when anything is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.guard import ForceGuard

from hapticsim.codes import Fault, Safety
from hapticsim.simulate.simulation import Simulation
from tests.models import X, Y, Z
from tests.rotating_hand import MAPPING, SIGMA, H, about, armed, hold, scene


def test_the_hand_gets_the_opposite_torque_in_device_axes_scaled_as_force_times_length():
    mapping = MAPPING
    sim = armed(Simulation(scene("free", "full", mapping=mapping)), K=0.2)
    hold(sim, about(Y, 0.3))
    for _ in range(5):
        sim.step()
    state = sim.state
    expected = -mapping.force_scale / mapping.motion_scale * mapping.rotation_WD.T @ state.coupler_torque
    np.testing.assert_allclose(state.hand_torque, expected, rtol=0, atol=1e-15)
    assert state.hand_torque @ [0.0, 1.0, 0.0] < -1e-3, "the spring turns the hand back"


def test_nothing_turns_before_arming():
    sim = Simulation(scene())
    sim.couple(SIGMA)
    hold(sim, about(Z, 1.0))
    sim.step(50)
    assert not np.any(sim.state.hand_torque) and sim.state.q[0] == 0.0 and sim.state.u[0] == 0.0


@pytest.mark.parametrize("rotation", ["z", "full"])
def test_arming_with_device_and_handle_turned_apart_makes_no_step_of_torque(rotation):
    sim = Simulation(scene("free", rotation, mapping=MAPPING))
    q = np.array([0.0, 0.0, 0.0, *about(X, 0.5)])
    sim.set_state(q, np.zeros(6))
    armed(sim, q=about(np.array([0.6, 0.0, 0.8]), 2.0))
    for _ in range(100):
        sim.step()
        assert np.abs(sim.state.hand_torque).max() < 1e-14
    np.testing.assert_allclose(sim.state.q, q, atol=1e-14)
    hold(sim, about(np.array([0.6, 0.0, 0.8]), 2.1))
    sim.step()
    assert np.linalg.norm(sim.state.coupler_torque) > 0.01, "from there on it does"


def test_an_arm_request_of_an_armed_run_does_not_let_the_handle_slip():
    sim = armed(Simulation(scene()))
    hold(sim, about(Z, 0.3))
    sim.step(5)
    before = sim.state.hand_torque[2]
    sim.arm()
    sim.step()
    assert sim.state.hand_torque[2] == pytest.approx(before, rel=0.02) and before < -0.1


def test_the_torque_is_clamped_and_slew_limited():
    sim = armed(Simulation(scene()), K=5.0, limit=0.2)
    most = sim.plan.slew_limit_Nm_per_s * H
    hold(sim, about(Z, 0.5))
    last = 0.0
    for k in range(8):
        sim.step()
        now = sim.state.hand_torque[2]
        assert abs(now - last) <= most * (1 + 1e-12)
        assert (now == pytest.approx(-0.05 * (k + 1), rel=1e-12)) if k < 4 else now == pytest.approx(-0.2)
        last = now
    sim.disarm()
    sim.step()
    assert sim.state.hand_torque[2] == pytest.approx(-0.15), "disarming goes along the slew limit"
    sim.step(4)
    assert sim.state.hand_torque[2] == 0.0


@pytest.mark.parametrize("what", ["silent", "too fast", "twisted"])
def test_in_every_fault_the_torque_is_zero_at_once(what):
    sim = armed(Simulation(scene()), limit=0.2)
    hold(sim, about(Z, 0.4))
    sim.step(20)
    assert abs(sim.state.hand_torque[2]) > 0.05
    if what == "silent":
        sim.remove_device()
    elif what == "too fast":
        hold(sim, about(Z, 0.4), (0.0, 0.0, 51.0))
    else:
        hold(sim, about(Z, 3.0 + sim.state.q[0]))
    sim.step()
    state = sim.state
    assert state.safety is Safety.FAULT and not np.any(state.hand_torque) and not np.any(state.hand_force)
    why = {"silent": Fault.DEVICE_SILENT, "too fast": Fault.DEVICE_SPEED, "twisted": Fault.TWIST}
    assert state.fault == why[what]


def test_with_rotation_none_the_device_may_turn_as_it_likes():
    runs = []
    for q in (about(Z, 0.0), about(X, 1.0)):
        sim = Simulation(scene("free", "none"))
        sim.couple(SIGMA)
        hold(sim, q, (0.0, 0.0, 90.0))
        sim.arm()
        sim.step(3)
        sim.set_device([0.01, 0.0, 0.0], np.zeros(3), quaternion=q)
        sim.step(50)
        runs.append(np.concatenate([sim.state.q, sim.state.u, sim.state.hand_force, sim.state.hand_torque]))
    assert np.array_equal(*runs) and np.abs(runs[0]).max() > 1e-3 and not np.any(runs[0][-3:])


def session() -> ForceGuard:
    guard = ForceGuard(12.0, 0.2)
    guard.begin(8.0, 600.0, 0.01, H)
    guard.apply(ZERO, Safety.DISARMED, H, H)
    return guard


def test_the_guard_clamps_and_slows_the_torque_by_the_limits_of_the_device():
    guard = session()
    guard.apply(ZERO, Safety.ARMED, H, H, (0.0, 0.0, 3.0))
    assert guard.torque_Nm == pytest.approx((0.0, 0.0, 600.0 * H * 0.2 / 12.0))
    for _ in range(40):
        guard.apply(ZERO, Safety.ARMED, H, H, (0.0, 0.0, 3.0))
    assert guard.torque_Nm == pytest.approx((0.0, 0.0, 0.2))


@pytest.mark.parametrize(
    ("force", "mode", "age", "torque"),
    [
        (ZERO, Safety.ARMED, 0.02, (0.0, 0.0, 0.1)),
        (ZERO, Safety.FAULT, H, (0.0, 0.0, 0.1)),
        (ZERO, Safety.ARMED, H, (0.0, 0.0, math.nan)),
        (None, Safety.ARMED, H, (0.0, 0.0, 0.1)),
    ],
    ids=["silence", "fault", "not finite", "nothing came"],
)
def test_the_guard_takes_the_torque_away_at_once(force, mode, age, torque):
    guard = session()
    for _ in range(40):
        guard.apply((1.0, 0.0, 0.0), Safety.ARMED, H, H, (0.0, 0.0, 0.1))
    assert guard.torque_Nm[2] == pytest.approx(0.1)
    assert guard.apply(force, mode, age, H, torque) == ZERO and guard.torque_Nm == ZERO


def test_a_device_that_cannot_turn_gets_no_torque():
    guard = ForceGuard(12.0)
    guard.begin(8.0, 1e6, 0.01, H)
    guard.apply(ZERO, Safety.DISARMED, H, H)
    guard.apply(ZERO, Safety.ARMED, H, H, (0.0, 0.0, 1.0))
    assert guard.torque_Nm == ZERO
