"""Round-trip time from echoes, without comparing two clocks.

Each message echoes the newest stamp its sender had received; the receiver subtracts that stamp, which is its
own, from its own clock.  The time the peer held the stamp until its next message is included.
"""

from __future__ import annotations

from collections import deque


class RoundTrip:
    """The newest round trips, and their percentiles.

    Parameters
    ----------
    length : how many are kept.
    """

    def __init__(self, length: int = 2000) -> None:
        self._times_ns: deque[int] = deque(maxlen=length)
        self._last_echo_ns = 0

    def add(self, echo_ns: int, now_ns: int) -> None:
        """Count an echo; one seen before, or of the future, says nothing."""
        if self._last_echo_ns < echo_ns <= now_ns:
            self._last_echo_ns = echo_ns
            self._times_ns.append(now_ns - echo_ns)

    def percentile_us(self, percent: float, newest: int = 0) -> float:
        """Return the given percentile (nearest rank) [us], NaN before the first echo.

        newest : of so many of the newest round trips only, which takes less time; 0: of all kept.
        """
        if not self._times_ns:
            return float("nan")
        ordered = sorted(list(self._times_ns)[-newest:])
        return ordered[min(len(ordered) - 1, int(percent / 100.0 * len(ordered)))] / 1000.0

    def __len__(self) -> int:
        return len(self._times_ns)
