"""A short silence of the device interrupts the force; what ends an interruption, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.codes import DeviceFlag, Fault, Safety
from hapticsim.kernels.haptics import oscillation
from tests.models import Y
from tests.safety_machine import (
    ARMED,
    ARMING,
    DISARMED,
    FAULT,
    INTERRUPTED,
    ORIGIN,
    RAMP_TICKS,
    STOPPED,
    Machine,
    MAX_STRETCH_m,
)


def silent_for(machine: Machine, ticks: int, flags: int = DeviceFlag.READY) -> Safety:
    """The device is not heard for so many ticks of 1 ms after its sample was 9 ms old."""
    for n in range(ticks):
        machine.input.device[6] = 0.0095 + 0.001 * n
        machine.state.last_sample[3] = 0.0085 + 0.001 * n  # what 8 ticks before it would have left
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
            handle = ORIGIN + (4.0 * MAX_STRETCH_m + 0.001) * Y
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


@pytest.mark.parametrize("fixed_mapping", [True, False])
def test_a_hand_that_moved_on_while_its_force_was_away_gets_it_back_where_it_is(fixed_mapping):
    machine = Machine(fixed_mapping, resume_within_s=0.1).armed()
    handle = ORIGIN + (4.0 * MAX_STRETCH_m - 0.001) * Y
    silent_for(machine, 60)
    machine.fresh()
    for _ in range(4):
        assert machine.tick(handle) is INTERRUPTED
    gains = []
    while machine.tick(handle) is not ARMED:
        assert machine.now is ARMING
        gains.append(machine.gain)
    assert np.allclose(gains, np.arange(1, RAMP_TICKS) / RAMP_TICKS), "along the ramp"
    assert np.array_equal(machine.state.origin_W, ORIGIN), "each interruption would move the mapping on"


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
