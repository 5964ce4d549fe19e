"""How long a force takes: the time from a measurement of the device to the force that knows of it."""

from __future__ import annotations

import math

from hapticsim.model.scene import Scene

# A device talks at this rate even to a slower loop: silence of 10 ms can be told from a period of 10 ms only
# by who speaks more often.
SLOWEST_DEVICE_HZ = 1000.0
FASTEST_AWAITED_HZ = 2000.0  # of a loop whose tick an answer waits for (device_session.py)
LEAST_DELAY_S = 0.0006  # from a measurement to a force that knows of it (0.55 ms measured at 4 kHz)


def device_rate_Hz(scene: Scene) -> float:
    """How often a device is asked to talk [Hz]."""
    return max(scene.rate_Hz, SLOWEST_DEVICE_HZ)


def wire_delay_s(scene: Scene) -> float:
    """From a measurement to the force that knows of it [s], for a bridge on this computer.

    A tick where both are in step and the answer waits for it, two elsewhere.
    """
    ticks = device_rate_Hz(scene) * scene.tick_s  # of the device, in one of the loop
    in_step = scene.rate_Hz <= FASTEST_AWAITED_HZ and math.isclose(ticks, round(ticks), rel_tol=1e-9)
    return max(scene.tick_s if in_step else 2.0 * scene.tick_s, LEAST_DELAY_S)


def delay_in_ticks(scene: Scene) -> int:
    """The same in whole ticks of the loop, rounded up: how late a force is in virtual time."""
    return math.ceil(wire_delay_s(scene) / scene.tick_s - 1e-9)
