"""The state machine of the force output, one tick at a time: every transition, and what never happens."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.codes import DeviceFlag, Fault
from tests.models import Y, Z, turn
from tests.safety_kernels import bound_power
from tests.safety_machine import (
    ARMED,
    ARMING,
    DISARMED,
    FAULT,
    INTERRUPTED,
    ORIGIN,
    RAMP_TICKS,
    SLEW,
    STOPPED,
    Machine,
)


def test_nothing_happens_without_a_request():
    machine = Machine()
    for _ in range(5):
        assert machine.tick() is DISARMED and machine.gain == 0.0


def test_arming_ramps_the_gain_linearly_and_ends_armed():
    machine = Machine()
    machine.request(arm=1)
    for i in range(1, RAMP_TICKS):
        assert machine.tick() is ARMING
        assert machine.gain == i / RAMP_TICKS
    assert machine.tick() is ARMED and machine.gain == 1.0
    assert machine.tick() is ARMED and machine.gain == 1.0


def test_without_a_ramp_the_first_tick_is_armed():
    machine = Machine(ramp_ticks=0)
    machine.request(arm=1)
    assert machine.tick() is ARMED and machine.gain == 1.0


def test_a_request_counts_once_however_often_it_was_made():
    machine = Machine()
    machine.request(arm=3)
    machine.tick()
    machine.request(disarm=2)
    assert machine.tick() is DISARMED
    assert machine.tick() is DISARMED, "an old arm request must not come back"


@pytest.mark.parametrize("when", ["disarmed", "arming", "armed"])
def test_disarm_wins_over_arm_in_the_same_tick(when):
    machine = Machine()
    if when == "armed":
        machine.armed()
    elif when == "arming":
        machine.request(arm=1)
        machine.tick()
    machine.request(arm=1, disarm=1)
    assert machine.tick() is DISARMED and machine.gain == 0.0
    assert machine.tick() is DISARMED


def test_a_fault_is_latched_until_an_explicit_arm_request():
    machine = Machine().faulted()
    assert machine.tick() is FAULT and machine.fault is Fault.DEVICE_SILENT
    machine.request(disarm=1)
    assert machine.tick() is FAULT, "disarming does not excuse a fault"
    machine.request(arm=1)
    assert machine.tick() is ARMING and machine.fault is Fault.NONE
    assert machine.gain == 1 / RAMP_TICKS, "the ramp starts from nothing"


def test_both_requests_in_a_fault_leave_it():
    machine = Machine().faulted()
    machine.request(arm=1, disarm=1)
    assert machine.tick() is FAULT


@pytest.mark.parametrize("armed", [True, False], ids=["armed", "arming"])
@pytest.mark.parametrize(
    ("what", "fault"),
    [("absent", Fault.DEVICE_SILENT), ("stale", Fault.DEVICE_SILENT), ("fast", Fault.DEVICE_SPEED)],
)
def test_trouble_with_the_device_takes_the_force_away_at_once(armed, what, fault):
    machine = Machine()
    if armed:
        machine.armed()
    else:
        machine.request(arm=1)
        machine.tick()
    machine.hand(1.0, 0.0, 0.0)
    assert np.any(machine.state.hand_force_D)
    device = machine.input.device
    if what == "absent":
        device[7] = 0.0
    elif what == "stale":
        device[6] = machine.plan.cut_off_s * 1.001
    else:
        device[3:6] = machine.plan.max_device_speed_m_per_s
    assert machine.tick() is FAULT and machine.fault is fault and machine.gain == 0.0
    assert not np.any(machine.state.hand_force_D), "no slew limit on the way to zero"
    assert not np.any(machine.hand(5.0, 0.0, 0.0))


def test_a_sample_just_within_the_limits_is_no_trouble():
    machine = Machine().armed()
    machine.input.device[6] = machine.plan.cut_off_s
    machine.input.device[3] = machine.plan.max_device_speed_m_per_s
    assert machine.tick() is ARMED


@pytest.mark.parametrize("what", ["absent", "stale"])
def test_arming_is_refused_without_a_fresh_device_and_says_why(what):
    machine = Machine()
    if what == "absent":
        machine.input.device[7] = 0.0
    else:
        machine.input.device[6] = np.inf
    machine.request(arm=1)
    assert machine.tick() is DISARMED and machine.fault is Fault.DEVICE_SILENT
    machine.fresh()
    assert machine.tick() is DISARMED, "a refused request is spent"


def test_arming_is_refused_while_device_and_handle_are_far_apart():
    machine = Machine()
    machine.request(arm=1)
    assert machine.tick(ORIGIN + 0.051 * Y) is DISARMED and machine.fault is Fault.STRETCH
    machine.request(arm=1)
    assert machine.tick(ORIGIN + 0.049 * Y) is ARMING and machine.fault is Fault.NONE


def test_a_free_mapping_moves_to_the_handle_instead():
    machine, handle = Machine(fixed_mapping=False), ORIGIN + np.array([0.2, -0.1, 0.3])
    machine.input.device[:3] = 0.01, 0.02, 0.03
    machine.request(arm=1)
    assert machine.tick(handle) is ARMING
    here = machine.state.origin_W + turn(Z, 0.5) @ machine.input.device[:3]
    np.testing.assert_allclose(here, handle, atol=1e-15)


def test_a_device_that_is_nowhere_does_not_move_the_mapping():
    machine = Machine(fixed_mapping=False)
    machine.input.device[:3] = np.nan
    machine.request(arm=1)
    machine.tick()
    assert np.array_equal(machine.state.origin_W, ORIGIN)


@pytest.mark.parametrize("flags", [0, DeviceFlag.SATURATED, STOPPED, DeviceFlag.STOPPED])
def test_a_stopped_device_or_one_that_is_not_ready_has_no_force_and_gets_none(flags):
    machine = Machine(resume_within_s=0.1).armed()
    machine.hand(1.0, 0.0, 0.0)
    machine.input.flags[0] = flags
    assert machine.tick() is FAULT and machine.fault is Fault.STOPPED and machine.gain == 0.0
    assert not np.any(machine.state.hand_force_D)
    machine.request(arm=1)
    assert machine.tick() is FAULT and machine.fault is Fault.STOPPED
    machine.fresh()
    for _ in range(5):
        assert machine.tick() is FAULT, "released is not engaged"
    machine.request(arm=1)
    assert machine.tick() is ARMING and machine.fault is Fault.NONE


def test_a_device_that_was_never_ready_is_refused_with_the_reason():
    machine = Machine()
    machine.input.flags[0] = 0
    machine.request(arm=1)
    assert machine.tick() is FAULT and machine.fault is Fault.STOPPED


def test_a_lower_count_of_requests_asks_for_nothing():
    machine = Machine()
    machine.request(arm=3, disarm=3)
    machine.tick()
    for counts in ((0, 0), (3, 3), (2, 1), (3, 3)):
        machine.input.requests[:] = counts
        assert machine.tick() is DISARMED, counts
    machine.input.requests[0] = 4
    assert machine.tick() is ARMING
    machine.input.requests[1] = 0
    machine.tick()
    machine.input.requests[1] = 3
    assert machine.tick() is ARMING, "a count that was seen does not disarm again"


@pytest.mark.parametrize(("resume_within_s", "mode"), [(0.0, FAULT), (0.02, FAULT), (0.1, INTERRUPTED)])
def test_a_stall_of_the_loop_is_found_by_the_loop_and_stays_found(resume_within_s, mode):
    machine = Machine(resume_within_s=resume_within_s).armed()
    machine.hand(1.0, 0.0, 0.0)
    machine.input.gap[0] = 0.025
    assert machine.tick() is mode and machine.fault is Fault.STALLED and machine.gain == 0.0
    assert not np.any(machine.state.hand_force_D)
    machine.input.gap[0] = 0.001
    later = [machine.tick() for _ in range(50)]
    assert later[-1] is (FAULT if mode is FAULT else ARMED)


def test_a_position_that_jumps_is_a_fault_though_the_velocity_is_zero():
    machine = Machine().armed()
    machine.input.device[0] = 0.02
    assert machine.tick() is ARMED, "as far as a late stamp explains"
    machine = Machine().armed()
    machine.input.device[0] = 0.03
    assert machine.tick() is FAULT and machine.fault is Fault.JUMP


def test_a_position_that_runs_away_in_small_steps_is_a_fault_too():
    machine, ticks = Machine().armed(), 0
    while machine.now is ARMED:
        machine.input.device[0] += 0.0075  # 7.5 m/s, velocity zero
        machine.tick()
        ticks += 1
    assert machine.fault is Fault.JUMP and ticks == 9  # 2.5 mm a tick out of 20 mm


def test_a_hand_that_moves_as_fast_as_allowed_never_jumps():
    machine = Machine().armed()
    for _ in range(1000):
        machine.input.device[0] += 0.00499
        machine.input.device[3] = 4.99
        assert machine.tick() is ARMED


def test_an_old_sample_that_comes_late_gave_time_to_move():
    machine = Machine().armed()
    for n in range(8):  # the same sample, older and older
        machine.input.device[6] = 0.001 * (n + 1)
        assert machine.tick() is ARMED
    machine.fresh()
    machine.input.device[0] = 0.058
    assert machine.tick() is ARMED


def test_a_computer_that_was_suspended_has_no_force():
    machine = Machine(resume_within_s=1.0).armed()
    machine.input.gap[1] = 0.2
    assert machine.tick() is FAULT and machine.fault is Fault.SUSPENDED
    machine.input.gap[1] = 0.0
    assert machine.tick() is FAULT


@pytest.mark.parametrize(("said", "most"), [(None, 0.5 * 2.0 * 5.0), (0.4, 0.4)])
def test_more_power_into_the_hand_than_allowed_takes_the_force_away(said, most):
    for speed, mode in ((0.99 * most / 2.0, ARMED), (1.01 * most / 2.0, FAULT)):
        machine = Machine(max_power_W=said)
        machine.plan.rotation_WD[...] = np.eye(3)
        machine.armed()
        for _ in range(100):
            machine.hand(-30.0, 0.0, 0.0)  # 2 N along x, the clamp
        machine.input.device[3] = speed
        bound_power(machine.plan, machine.state, machine.input)
        assert machine.now is mode, speed
    assert machine.fault is Fault.OVERLOAD and not np.any(machine.state.hand_force_D)


def test_a_hand_that_pushes_against_the_force_is_no_overload():
    machine = Machine(max_power_W=0.1).armed()
    for _ in range(100):
        machine.hand(-30.0, 0.0, 0.0)
    machine.input.device[3:6] = -4.0 * machine.state.hand_force_D / 2.0
    bound_power(machine.plan, machine.state, machine.input)
    assert machine.now is ARMED


def test_the_hand_feels_the_opposite_force_in_device_axes_scaled():
    machine = Machine()
    for _ in range(100):
        felt = machine.hand(1.0, 0.4, -0.3)
    np.testing.assert_allclose(felt, -0.5 * turn(Z, 0.5).T @ [1.0, 0.4, -0.3], atol=1e-14)


def test_the_force_is_clamped_in_length():
    machine = Machine()
    for _ in range(100):
        felt = machine.hand(30.0, 40.0, 0.0)
    assert np.linalg.norm(felt) == pytest.approx(2.0, rel=1e-14)
    np.testing.assert_allclose(felt / 2.0, -turn(Z, 0.5).T @ [0.6, 0.8, 0.0], atol=1e-14)


def test_the_force_never_changes_faster_than_the_slew_limit_and_arrives():
    machine, step, before = Machine(), SLEW * 1e-3, np.zeros(3)
    rng = np.random.default_rng(0)
    for _ in range(300):
        felt = machine.hand(*rng.uniform(-10.0, 10.0, 3))
        assert np.linalg.norm(felt - before) <= step * (1 + 1e-12)
        before = felt
    for _ in range(41):
        felt = machine.hand(0.0, 0.0, 0.0)
    assert not np.any(felt), "from the clamp to exact zero in 2 N / 0.1 N ticks and one"
