"""Whether a measurement can be true.

What the wire would refuse (not finite, out of every device's range, no unit quaternion) is not usable: it is
not sent, and the motors get zero for it.  A position that moved further than any hand moves in the time is a
jump, whatever the velocity says: an encoder that lost its count, or a cable; force on it would be force in a
wrong place.
"""

from __future__ import annotations

import math
from enum import Enum

from hapticsim.wire.messages.measurement import make_plain

from .base import DeviceSample, Vector

MAX_SPEED_M_PER_S = 5.0  # a server's default for what takes the force away, too


class Verdict(Enum):
    """What to think of a measurement."""

    GOOD = "good"
    UNUSABLE = "not usable"
    JUMP = "jumped"


class Plausibility:
    """Judges each measurement by itself and by the last good one.

    Public attributes: ``unusable``, ``jumps`` (how many there were), ``step_m`` (of the last jump),
    ``problem`` (what the last measurement that was not usable had, for a sentence).
    """

    def __init__(self) -> None:
        self.unusable = self.jumps = 0
        self.step_m, self.problem = 0.0, ""
        self._last: Vector | None = None
        self._since_s = 0.0

    def judge(self, sample: DeviceSample, elapsed_s: float, period_s: float) -> Verdict:
        """Judge a measurement taken at most ``elapsed_s`` after the one before, and make its numbers plain.

        A device that is read every ``period_s`` may itself measure that much less often or less evenly.
        """
        self._since_s += elapsed_s
        if problem := make_plain(sample):
            self.problem = problem
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
    return not make_plain(sample)
