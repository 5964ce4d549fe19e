"""The state machine of the force output, one tick at a time: every transition, and what never happens."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assembly import assemble
from hapticsim.codes import Fault, Safety
from hapticsim.kernels import safety
from tests.kernel_access import FLOAT, INPUT, PLAN, STATE, compiled
from tests.models import Y, Z, turn
from tests.places import WAM

update_safety = compiled(safety.update_safety, PLAN, STATE, INPUT, FLOAT, FLOAT, FLOAT)
command_hand = compiled(safety.command_hand, PLAN, STATE, INPUT, FLOAT, FLOAT, FLOAT)

ORIGIN = np.array([0.5, 0.1, 0.4])
RAMP_TICKS, SLEW = 8, 100.0  # 1/8 is a binary fraction, so the ramp ends in exactly that many ticks
DISARMED, ARMING, ARMED, FAULT = Safety


class Machine:
    """Plan, state and input of a run; the handle sits at the device's centre."""

    def __init__(self, fixed_mapping: bool = True, ramp_ticks: int = RAMP_TICKS) -> None:
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
                scene.safety, ramp_s=ramp_ticks * 1e-3, slew_limit_N_per_s=SLEW, max_stretch_m=0.05
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
