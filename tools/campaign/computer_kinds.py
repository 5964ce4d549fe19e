"""A computer was suspended: its monotonic clock stood still meanwhile, the one of its start did not."""

from __future__ import annotations

import random

from campaign.rig import Rig
from campaign.strikes import Undo, virtual


def asleep_ns(rng: random.Random) -> int:
    """A second to a day."""
    return round(1e9 * 10.0 ** rng.uniform(0.0, 4.9))


@virtual("computer suspended", "device and server are on it; it wakes after a second to a day", lasts_ms=60)
def _suspended(rig: Rig, rng: random.Random) -> Undo:
    slept_ns = asleep_ns(rng)
    rig.clock.asleep_ns += slept_ns
    rig.server_asleep_ns += slept_ns
    return lambda: None


@virtual("computer of the device suspended", "that of the server is not, and hears no word meanwhile",
         lasts_ms=60)  # fmt: skip
def _device_suspended(rig: Rig, rng: random.Random) -> Undo:
    rig.device_runs = False
    rig.step(8)  # the device has its force until it wakes: its own watchdog has to see to that
    rig.watch()
    rig.clock.asleep_ns += asleep_ns(rng)
    rig.device_runs = True
    return lambda: None


@virtual("computer of the server suspended", "that of the device is not", lasts_ms=60)
def _server_suspended(rig: Rig, rng: random.Random) -> Undo:
    rig.server_asleep_ns += asleep_ns(rng)
    return lambda: None
