"""How warm the motors are, and what force they may still give: the I2t limit.

A motor's heat grows with the square of its current, and its force is proportional to the current:

    tau T' = (f / f_c)^2 - T                                                                  (I1)

T   warmth: 0 cold, 1 as warm as the continuous force makes it in the long run
f   force on the hand,  f_c  continuous force: what the motors may give for ever
tau time constant of the windings

The limit is the device's own while T is below SOFT; from there to T = 1 it shrinks linearly to f_c, so that
T never passes 1 and no step is felt.
"""

from __future__ import annotations

import math

from .limits import Heating

SOFT = 0.8  # of the warmth of the continuous force: where the limit begins to shrink


class Heat:
    """Warmth of a device's motors.

    Parameters
    ----------
    limit_N : largest force of the device.
    heating : continuous force and time constant; None: nothing is known, and nothing is limited.

    Public attribute: ``warmth``, T of (I1).
    """

    def __init__(self, limit_N: float, heating: Heating | None) -> None:
        self.warmth = 0.0
        self._limit_N = limit_N
        self._heating = heating if heating is not None and heating.continuous_force_N < limit_N else None

    def add(self, force_N: float, elapsed_s: float) -> None:
        """The motors gave this force for ``elapsed_s``."""
        if self._heating is None or not elapsed_s > 0.0:
            return
        share = force_N / self._heating.continuous_force_N
        self.warmth += -math.expm1(-elapsed_s / self._heating.time_constant_s) * (share * share - self.warmth)

    @property
    def limit_N(self) -> float:
        """Largest force that the motors may give now."""
        if self._heating is None or self.warmth <= SOFT:
            return self._limit_N
        cold, warm = self._limit_N, self._heating.continuous_force_N
        return warm + (cold - warm) * max(1.0 - self.warmth, 0.0) / (1.0 - SOFT)

    @property
    def continuous_N(self) -> float:
        """What the motors may give for ever."""
        return self._heating.continuous_force_N if self._heating is not None else self._limit_N

    @property
    def shrunk(self) -> bool:
        """Whether the limit is lower than that of cold motors."""
        return self._heating is not None and self.warmth > SOFT
