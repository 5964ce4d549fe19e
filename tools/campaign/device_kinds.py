"""The device or its driver is at fault."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

from hapticsim_devices.base import DISENGAGE, ENGAGE, READY, STOPPED, DeviceSample

from campaign.rig import Rig
from campaign.strikes import After, Undo, virtual
from hapticsim.errors import DeviceError

NAN = math.nan
HELD = 4  # the bit of a button


def spoil(rig: Rig, **fields: Any) -> Undo:
    """Let each measurement say something else."""
    rig.driver.spoil = lambda sample: replace(sample, **fields)
    return lambda: heal(rig)


def heal(rig: Rig) -> None:
    rig.driver.spoil = lambda sample: sample


@virtual("emergency stop while pressing", "the device reports STOPPED and not READY")
def _stopped(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, flags=STOPPED)


@virtual("emergency stop, still ready", "the device reports STOPPED and READY")
def _stopped_and_ready(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, flags=STOPPED | READY)


@virtual("not ready", "the device no longer reports READY")
def _not_ready(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, flags=0)


@virtual("emergency stop for one tick", "the device reports STOPPED once", lasts_ms=12)
def _short_stop(rig: Rig, rng: random.Random) -> Undo:
    left = [1]

    def once(sample: DeviceSample) -> DeviceSample:
        left[0] -= 1
        return replace(sample, flags=STOPPED) if left[0] >= 0 else sample

    rig.driver.spoil = once
    return lambda: heal(rig)


def _press_while(rig: Rig, flags: int) -> Undo:
    undo = spoil(rig, flags=flags)
    rig.step(20)
    rig.press(ENGAGE)
    return undo


@virtual("engaging while stopped", "ENGAGE is pressed while the device reports STOPPED", lasts_ms=200)
def _arm_stopped(rig: Rig, rng: random.Random) -> Undo:
    return _press_while(rig, STOPPED | READY)


@virtual("engaging while not ready", "ENGAGE is pressed while the device is not READY", lasts_ms=200)
def _arm_not_ready(rig: Rig, rng: random.Random) -> Undo:
    return _press_while(rig, 0)


@virtual("disengage alone", "DISENGAGE while the server does not run", lasts_ms=4, sides="device")
def _disengage_alone(rig: Rig, rng: random.Random) -> Undo:
    rig.server_runs = False
    rig.driver.buttons |= DISENGAGE

    def undo() -> None:
        rig.driver.buttons &= ~DISENGAGE
        rig.server_runs = True

    return undo


@virtual("disengage", "DISENGAGE is pressed", sides="device")
def _disengage(rig: Rig, rng: random.Random) -> Undo:
    rig.driver.buttons |= DISENGAGE

    def undo() -> None:
        rig.driver.buttons &= ~DISENGAGE

    return undo


@virtual("position is NaN", "each measurement is NaN for 200 ms", lasts_ms=200)
def _nan_position(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, position_m=(NAN, 0.0, 0.0))


@virtual("velocity is infinite", "each velocity is infinite for 200 ms", lasts_ms=200)
def _inf_velocity(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, velocity_m_per_s=(0.0, math.inf, 0.0))


@virtual(
    "one sample is NaN", "a single measurement is NaN; the slew limit holds after it", lasts_ms=3, sides="",
    after=After.RESUMES,
)  # fmt: skip
def _nan_once(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, position_m=(NAN, NAN, NAN))


@virtual("device too fast", "the device reports 6 m/s", lasts_ms=20)
def _too_fast(rig: Rig, rng: random.Random) -> Undo:
    return spoil(rig, velocity_m_per_s=(6.0, 0.0, 0.0))


@virtual("position jumps", "the position jumps by 60 mm in a tick, at a velocity of zero")
def _jump(rig: Rig, rng: random.Random) -> Undo:
    angle = rng.uniform(0.0, 2.0 * math.pi)
    dx, dy = 0.06 * math.cos(angle), 0.06 * math.sin(angle)

    def away(sample: DeviceSample) -> DeviceSample:
        x, y, z = sample.position_m
        return replace(sample, position_m=(x + dx, y + dy, z), velocity_m_per_s=(0.0, 0.0, 0.0))

    rig.driver.spoil = away
    return lambda: heal(rig)


@virtual(
    "torque cannot be written", "write_torque raises while the force has to go", lasts_ms=20, sides="device",
    after=After.ENGAGE,
)  # fmt: skip
def _torque_raises(rig: Rig, rng: random.Random) -> Undo:
    rig.server_runs = False

    def fail(torque: Any) -> None:
        raise OSError("the bus does not answer")

    rig.driver.on_torque = fail
    return lambda: None


@virtual("device unplugged", "the driver's read raises")
def _unplugged(rig: Rig, rng: random.Random) -> Undo:
    def gone(sample: DeviceSample) -> DeviceSample:
        raise DeviceError("the device went away.")

    rig.driver.spoil = gone
    return lambda: heal(rig)


@virtual("a write fails", "the driver's write raises once")
def _write_raises(rig: Rig, rng: random.Random) -> Undo:
    left = [1]

    def fail(force: Any) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError("the bus is busy")

    rig.driver.on_write = fail
    return lambda: None


@virtual("hold-to-run let go alone", "its button is let go while the server does not run", lasts_ms=4,
         sides="device", hold_to_run=HELD)  # fmt: skip
def _let_go(rig: Rig, rng: random.Random) -> Undo:
    rig.server_runs = False
    rig.driver.buttons &= ~HELD

    def undo() -> None:
        rig.server_runs = True
        rig.driver.buttons |= HELD

    return undo


@virtual("hold-to-run let go for one tick", "the hold-to-run button is let go for a millisecond", lasts_ms=12,
         sides="device", hold_to_run=HELD)  # fmt: skip
def _let_go_shortly(rig: Rig, rng: random.Random) -> Undo:
    rig.driver.buttons &= ~HELD
    rig.step()
    rig.driver.buttons |= HELD
    return lambda: None


@virtual("both buttons", "ENGAGE and DISENGAGE are pressed at once", lasts_ms=100, sides="device")
def _both_buttons(rig: Rig, rng: random.Random) -> Undo:
    rig.driver.buttons |= ENGAGE | DISENGAGE

    def undo() -> None:
        rig.driver.buttons &= ~(ENGAGE | DISENGAGE)

    return undo


@virtual("device silent 15 ms", "the bridge stands still for 15 ms", lasts_ms=15, sides="server",
         after=After.RESUMES)  # fmt: skip
def _device_short(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "device_runs")


@virtual("device silent 300 ms", "the bridge stands still for 300 ms", lasts_ms=300, sides="server")
def _device_long(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "device_runs")


def pause(rig: Rig, part: str) -> Undo:
    """Stop a part of the rig."""
    setattr(rig, part, False)
    return lambda: setattr(rig, part, True)
