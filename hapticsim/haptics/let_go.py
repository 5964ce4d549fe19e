"""Gains with which a device that is let go comes to rest: the largest, and whether given ones are.

Nobody holds the device, the handle is held fast, and a force is up to ``MARGIN_S`` later than expected
(sampled_loop.py).  A hand adds mass, which the check stands too, and damping, which it does not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hapticsim.haptics.sampled_loop import growths

MARGIN_S = 0.002  # that a force may be later than expected
LIGHTER = 0.8  # part of the stated mass that a device may have somewhere in its workspace: a choice
HEAVIER = 1.1  # B over what a swing of any mass, however slow, needs: K (T/2 + t_d)
SLOWEST = 0.02  # damping ratio of the slowest swing with derived gains, without friction and without a hand
DELAYS, DAMPERS, HALVINGS = 2, 8, 10  # delays and values of B that are tried, steps to the largest K: 20 ms
LONGEST_DELAY_S = 0.05  # that ``stable_until_s`` tries
MOST_PERIODS = 40  # of the loop in what is looked at: what a device says of itself costs bounded time


@dataclass(frozen=True)
class Axis:
    """A device along one axis, or about it: what its loop is made of.

    A loop with more than ``MOST_PERIODS`` in the device's window, or in the delay, counts as slower, which is
    harder to keep at rest: the gains are lower by a few percent then.
    """

    mass: float  # [kg] or [kg m^2]
    period_s: float  # of the loop, or longer
    delay_s: float  # expected, from a measurement to its force
    window_s: float  # over which the driver takes the velocity
    max_stiffness: float  # [N/m] or [N m/rad]
    max_damping: float  # [N s/m] or [N m s/rad]

    def __post_init__(self) -> None:
        longest_s = max(self.window_s, self.delay_s + MARGIN_S)
        object.__setattr__(self, "period_s", max(self.period_s, longest_s / MOST_PERIODS))

    @property
    def latest_s(self) -> float:
        """From a measurement to the middle of its force, at the latest."""
        return 0.5 * self.period_s + self.delay_s + MARGIN_S

    def damping(self, K: float, B: np.ndarray) -> np.ndarray:
        """Damping ratio of the slowest swing at every B (n,), negative where the device swings by itself."""
        delays = tuple(np.linspace(0.0, self.delay_s + MARGIN_S, DELAYS))
        masses, n = (self.mass, LIGHTER * self.mass), len(B)
        m, b = np.repeat(masses, n), np.tile(B, 2)
        z = growths(m, np.full(2 * n, K), b, self.period_s, delays, self.window_s).reshape(2, n).max(axis=0)
        ratio = (1.0 - z) / (self.period_s * (K / self.mass) ** 0.5)
        return np.where(HEAVIER * K * self.latest_s <= B, ratio, np.minimum(ratio, -1e-9))

    def best_damper(self, K: float, most: float) -> tuple[float, float]:
        """The B of at most ``most`` that damps K best, and the damping ratio then."""
        least = HEAVIER * K * self.latest_s
        if not least <= most:
            return most, -1.0
        B = np.linspace(least, most, DAMPERS)
        ratio = self.damping(K, B)
        best = int(np.argmax(ratio))
        return float(B[best]), float(ratio[best])

    def least_damper(self, K: float, most: float, enough: float) -> tuple[float, float]:
        """The least B that damps K enough, and the damping ratio then; the best where none does."""
        B = np.linspace(min(HEAVIER * K * self.latest_s, most), most, 6 * DAMPERS)
        ratio = self.damping(K, B)
        place = int(np.argmax(ratio >= enough)) if np.any(ratio >= enough) else int(np.argmax(ratio))
        return float(B[place]), float(ratio[place])

    def damping_ratio(self, K: float, B: float) -> float:
        """``damping`` of one K and B."""
        return float(self.damping(K, np.array([B]))[0])


@lru_cache(maxsize=256)
def largest(
    axis: Axis, most_K: float, most_B: float, B: float | None, available: float, ratio: float
) -> tuple[float, float]:
    """The largest K up to ``most_K`` with a damper that keeps it at the damping ratio, and the best of these.

    B : the damper, if it is given; else one of at most ``most_B``.
    available : damping that K (T/2 + t_d) + B may use, (17).
    """
    lag = 0.5 * axis.period_s + axis.delay_s

    def damper(K: float) -> tuple[float, float]:
        if B is None:
            return axis.best_damper(K, min(most_B, available - K * lag))
        return B, axis.damping_ratio(K, B) if K * lag + B <= available else -1.0

    # no damper holds more, whatever the device states: the steps are not spent on what is above
    most = min(most_B, available) if B is None else B
    low, high = 0.0, min(most_K, most / (HEAVIER * axis.latest_s))
    if high <= 0.0:
        return 0.0, B or 0.0
    if damper(high)[1] >= ratio:
        return high, damper(high)[0]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if damper(middle)[1] >= ratio else (low, middle)
    return low, damper(low)[0] if low > 0.0 else (B or 0.0)


@lru_cache(maxsize=256)
def stable_until_s(axis: Axis, K: float, B: float) -> float:
    """The longest delay [s] with which the device, let go, comes to rest; 0 where it never does."""
    if K <= 0.0:
        return LONGEST_DELAY_S

    def grows(delay_s: float) -> bool:
        one = np.array([axis.mass]), np.array([K]), np.array([B])
        period_s = max(axis.period_s, delay_s / MOST_PERIODS)
        return bool(growths(*one, period_s, (delay_s,), axis.window_s)[0] >= 1.0)

    low, high = 0.0, LONGEST_DELAY_S
    if grows(low):
        return 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return low
