"""The state machine of the force output, one tick at a time: every transition, and what never happens."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assembly import assemble
from hapticsim.codes import DeviceFlag, Fault, Safety
from hapticsim.kernels import hand, oscillation, safety
from tests.kernel_access import FLOAT, INPUT, PLAN, STATE, compiled
from tests.models import Y, Z, turn
from tests.places import WAM

update_safety = compiled(safety.update_safety, PLAN, STATE, INPUT, FLOAT, FLOAT, FLOAT)
command_hand = compiled(hand.command_hand, PLAN, STATE, INPUT, FLOAT, FLOAT, FLOAT)
bound_power = compiled(hand.bound_power, PLAN, STATE, INPUT)

ORIGIN = np.array([0.5, 0.1, 0.4])
RAMP_TICKS, SLEW = 8, 100.0  # 1/8 is a binary fraction, so the ramp ends in exactly that many ticks
DISARMED, ARMING, ARMED, FAULT, INTERRUPTED = Safety


class Machine:
    """Plan, state and input of a run; the handle sits at the device's centre.

    resume_within_s is 0 where not said: every silence is a fault.
    """

    def __init__(
        self,
        fixed_mapping: bool = True,
        ramp_ticks: int = RAMP_TICKS,
        resume_within_s: float = 0.0,
        max_power_W: float | None = None,
    ) -> None:
        scene = hs.load(WAM)
        scene = dataclasses.replace(
            scene,
            mapping=dataclasses.replace(
                scene.mapping,
                origin_W=ORIGIN if fixed_mapping else None,
                rotation_WD=turn(Z, 0.5),
                force_scale=0.5,
            ),
            safety=dataclasses.replace(
                scene.safety,
                ramp_s=ramp_ticks * 1e-3,
                slew_limit_N_per_s=SLEW,
                max_stretch_m=0.05,
                resume_within_s=resume_within_s,
                max_power_W=max_power_W,
            ),
        )
        assembly = assemble(scene)
        self.plan, self.state, self.input = assembly.plan, assembly.new_state(), assembly.new_input()
        self.state.origin_W[:] = ORIGIN
        self.input.coupler[:] = 1000.0, 1.0, 2.0
        self.fresh()

    def fresh(self) -> None:
        self.input.device[:] = 0.0
        self.input.device[7] = 1.0
        self.input.flags[0] = DeviceFlag.READY

    def request(self, arm: int = 0, disarm: int = 0) -> None:
        self.input.requests[0] += arm
        self.input.requests[1] += disarm

    def tick(self, handle: np.ndarray = ORIGIN) -> Safety:
        update_safety(self.plan, self.state, self.input, *handle)
        return self.now

    def armed(self) -> Machine:
        self.request(arm=1)
        for _ in range(RAMP_TICKS):
            self.tick()
        assert self.now is ARMED
        return self

    def faulted(self) -> Machine:
        self.armed().input.device[7] = 0.0
        assert self.tick() is FAULT
        self.fresh()
        return self

    @property
    def now(self) -> Safety:
        return Safety(int(self.state.safety[0]))

    @property
    def fault(self) -> Fault:
        return Fault(int(self.state.safety[1]))

    @property
    def gain(self) -> float:
        return float(self.state.gain[0])

    def hand(self, *force: float) -> np.ndarray:
        """Command for the hand when the coupler pulls the handle with this force; device axes."""
        command_hand(self.plan, self.state, self.input, *force)
        return self.state.hand_force_D.copy()


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
        device[6] = machine.plan.timeout_s * 1.001
    else:
        device[3:6] = machine.plan.max_device_speed
    assert machine.tick() is FAULT and machine.fault is fault and machine.gain == 0.0
    assert not np.any(machine.state.hand_force_D), "no slew limit on the way to zero"
    assert not np.any(machine.hand(5.0, 0.0, 0.0))


def test_a_sample_just_within_the_limits_is_no_trouble():
    machine = Machine().armed()
    machine.input.device[6] = machine.plan.timeout_s
    machine.input.device[3] = machine.plan.max_device_speed
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


STOPPED = DeviceFlag.READY | DeviceFlag.STOPPED


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


def silent_for(machine: Machine, ticks: int, flags: int = DeviceFlag.READY) -> Safety:
    """The device is not heard for so many ticks of 1 ms after its sample was 9 ms old."""
    for n in range(ticks):
        machine.input.device[6] = 0.0095 + 0.001 * n
        machine.state.seen[3] = 0.0085 + 0.001 * n  # what 8 ticks before it would have left
        machine.input.flags[0] = flags
        machine.tick()
    return machine.now


def test_a_short_silence_is_ridden_through_and_counted():
    machine = Machine(resume_within_s=0.1).armed()
    machine.hand(1.0, 0.0, 0.0)
    assert silent_for(machine, 15) is INTERRUPTED and machine.fault is Fault.DEVICE_SILENT
    assert machine.gain == 0.0 and not np.any(machine.hand(5.0, 0.0, 0.0))
    machine.fresh()
    for _ in range(4):
        assert machine.tick() is INTERRUPTED and machine.gain == 0.0, "both ends have to know first"
    gains = []
    while machine.tick() is not ARMED:
        assert machine.now is ARMING
        gains.append(machine.gain)
    assert np.allclose(gains, np.arange(1, RAMP_TICKS) / RAMP_TICKS), "from zero, along the ramp"
    count, longest = machine.state.interruption[2:]
    assert count == 1 and longest == pytest.approx(0.0245, abs=1e-6)
    assert machine.fault is Fault.NONE


def test_a_long_ramp_is_shorter_after_an_interruption():
    machine = Machine(resume_within_s=0.1, ramp_ticks=500)
    machine.request(arm=1)
    assert [machine.tick() for _ in range(500)][-1] is ARMED
    silent_for(machine, 15)
    machine.fresh()
    for _ in range(4):
        machine.tick()
    assert sum(machine.tick() is ARMING for _ in range(300)) == pytest.approx(200, abs=1)


def test_a_silence_longer_than_agreed_is_a_fault_that_stays():
    machine = Machine(resume_within_s=0.02).armed()
    assert silent_for(machine, 11) is INTERRUPTED
    assert silent_for(machine, 13) is FAULT and machine.fault is Fault.DEVICE_SILENT
    machine.fresh()
    assert [machine.tick() for _ in range(50)][-1] is FAULT
    assert machine.state.interruption[2] == 0


@pytest.mark.parametrize(
    ("what", "mode", "fault"),
    [
        ("disarm", DISARMED, Fault.NONE),
        ("stop", FAULT, Fault.DEVICE_SILENT | Fault.STOPPED),
        ("jump", FAULT, Fault.DEVICE_SILENT | Fault.JUMP),
        ("stretch", FAULT, Fault.DEVICE_SILENT | Fault.STRETCH),
        ("speed", FAULT, Fault.DEVICE_SILENT | Fault.DEVICE_SPEED),
        ("suspended", FAULT, Fault.DEVICE_SILENT | Fault.SUSPENDED),
        ("gone", FAULT, Fault.DEVICE_SILENT),
    ],
)
def test_whatever_happens_during_an_interruption_ends_it(what, mode, fault):
    machine, handle = Machine(resume_within_s=0.1).armed(), ORIGIN
    silent_for(machine, 10)
    machine.fresh()
    match what:
        case "disarm":
            machine.request(disarm=1)
        case "stop":
            machine.input.flags[0] = STOPPED
        case "jump":
            machine.input.device[0] = 0.2
        case "stretch":
            handle = ORIGIN + 0.051 * Y
        case "speed":
            machine.input.device[3] = 5.1
        case "suspended":
            machine.input.gap[1] = 3600.0
        case "gone":
            machine.input.device[7] = 0.0
    for _ in range(20):
        machine.tick(handle)
        machine.input.gap[1] = 0.0
    assert machine.now is mode and machine.fault == fault and machine.gain == 0.0
    machine.fresh()
    assert [machine.tick() for _ in range(20)][-1] is mode, "nothing but an arm request brings force back"


def test_a_force_that_fades_because_of_a_swing_does_not_come_back_after_an_interruption():
    machine = Machine(resume_within_s=0.1).armed()
    machine.state.swing[oscillation.FADING] = 1.0
    assert silent_for(machine, 10) is FAULT
    assert machine.fault is Fault.OSCILLATION | Fault.DEVICE_SILENT
    machine.fresh()
    assert [machine.tick() for _ in range(50)][-1] is FAULT and machine.gain == 0.0


def test_arming_during_an_interruption_is_no_way_around_it():
    machine = Machine(resume_within_s=0.1).armed()
    silent_for(machine, 5)
    machine.request(arm=1)
    assert machine.tick() is INTERRUPTED


def test_a_bridge_that_heard_nothing_is_a_silence_until_it_says_otherwise():
    machine = Machine(resume_within_s=0.1).armed()
    machine.input.flags[0] = DeviceFlag.READY | DeviceFlag.WATCHDOG
    for _ in range(99):
        assert machine.tick() is INTERRUPTED
    for _ in range(3):
        machine.tick()
    assert machine.now is FAULT and machine.fault is Fault.DEVICE_SILENT
    machine.request(arm=1)
    assert machine.tick() is FAULT, "it would let nothing through"


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
