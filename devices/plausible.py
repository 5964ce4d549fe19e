"""Whether a measurement can be true.

What the wire would refuse (not finite, out of every device's range, no unit quaternion) is not usable: it is
not sent, and the motors get zero for it.  A position that moved further than any hand moves in the time is a
jump, whatever the velocity says: an encoder that lost its count, or a cable; force on it would be force in a
wrong place.
"""

from __future__ import annotations

import math
from enum import Enum
from operator import index

from hapticsim.wire.fields import UINT32, UNIT_TOLERANCE
from hapticsim.wire.messages import (
    FORCE_LIMIT_N,
    ANGULAR_VELOCITY_LIMIT_rad_per_s,
    POSITION_LIMIT_m,
    VELOCITY_LIMIT_m_per_s,
)

from .base import DeviceSample, Vector

MAX_SPEED_M_PER_S = 5.0  # a server's default for what takes the force away, too


class Verdict(Enum):
    """What to think of a measurement."""

    GOOD = "good"
    UNUSABLE = "not usable"
    JUMP = "jumped"


class Plausibility:
    """Judges each measurement by itself and by the last good one.

    Public attributes: ``unusable``, ``jumps`` (how many there were), ``step_m`` (of the last jump).
    """

    def __init__(self) -> None:
        self.unusable = self.jumps = 0
        self.step_m = 0.0
        self._last: Vector | None = None
        self._since_s = 0.0

    def judge(self, sample: DeviceSample, elapsed_s: float, period_s: float) -> Verdict:
        """Judge a measurement taken at most ``elapsed_s`` after the one before.

        A device that is read every ``period_s`` may itself measure that much less often or less evenly.
        """
        self._since_s += elapsed_s
        if not is_usable(sample):
            self.unusable += 1
            return Verdict.UNUSABLE
        before, self._last = self._last, sample.position_m
        longest_m = MAX_SPEED_M_PER_S * (self._since_s + period_s)
        self._since_s = 0.0
        if before is None or (step_m := math.dist(before, sample.position_m)) <= longest_m:
            return Verdict.GOOD
        self.jumps += 1
        self.step_m = step_m
        return Verdict.JUMP


def is_usable(sample: DeviceSample) -> bool:
    """Whether the wire would take it."""
    try:
        w, x, y, z = sample.quaternion_wxyz
        return (
            _within(sample.position_m, POSITION_LIMIT_m)
            and _within(sample.velocity_m_per_s, VELOCITY_LIMIT_m_per_s)
            and abs(math.sqrt(w * w + x * x + y * y + z * z) - 1.0) <= UNIT_TOLERANCE
            and _within(sample.angular_velocity_rad_per_s, ANGULAR_VELOCITY_LIMIT_rad_per_s)
            and _within(sample.force_N, FORCE_LIMIT_N)
            and (sample.target_m is None or _within(sample.target_m, POSITION_LIMIT_m))
            and 0 <= index(sample.buttons) <= UINT32
            and 0 <= index(sample.flags) <= UINT32
        )
    except (TypeError, ValueError, OverflowError, AttributeError):  # not three numbers, or no sample at all
        return False


def _within(vector: Vector, limit: float) -> bool:
    x, y, z = vector
    return -limit <= x <= limit and -limit <= y <= limit and -limit <= z <= limit  # NaN is not
