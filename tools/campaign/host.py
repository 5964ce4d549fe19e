"""What the host did to a trial: it stood still, or other programs wanted its processors.

As tests against the clock are judged (tests/host_judge.py): a probe that nothing of ours can stop sees the
first; the second is a probe of ordinary priority that was kept waiting while programs that the campaign did
not start used the processors for at least half of that time.  Threads of ours that run away excuse nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from processor_time import others_s

from hapticsim.realtime.probe import HostProbe, Stall

SHARE = 0.5  # of the time that ordinary threads waited


def longest_s(stalls: Iterable[Stall], start_s: float, end_s: float) -> float:
    """The longest that one of these stalls lasted within a span of time [s]."""
    return max((stall.overlap_s(start_s, end_s) for stall in stalls), default=0.0)


class Host:
    """Watches from ``__enter__`` on."""

    def __enter__(self) -> Host:
        self._own, self._ordinary = HostProbe(), HostProbe(None)
        self._own.start()
        self._ordinary.start()
        self._others_s = others_s()
        return self

    def __exit__(self, *exception: object) -> None:
        self._own.stop()
        self._ordinary.stop()

    def stalled_s(self, start_s: float, end_s: float) -> float:
        """For how long, at most, the host kept a thread of ours from running in a span of time [s]."""
        stood = longest_s(self._own.stalls(), start_s, end_s) if self._own.has_priority else 0.0
        if others_s() - self._others_s < SHARE * max(self._ordinary.delayed_s()):
            return stood
        return max(stood, longest_s(self._ordinary.stalls(), start_s, end_s))
