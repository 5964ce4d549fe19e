"""Whose a tick was that took longer than a period: the server's, or the host's, which stood still meanwhile.

A probe (hapticsim/realtime/probe.py) writes down when a processor stood still, and topic ``stats`` says which
tick was the newest at which moment.  Between two such moments the deadlines of ticks follow from how late
each was and how long it took.  What a tick took without the time in which the host stood still is its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import hapticsim as hs
from hapticsim.realtime.probe import SHORT_NS, STEP_NS, HostProbe, Stall, stood_still_s
from hapticsim.server.host_watch import since_first_deadline


@dataclass(frozen=True)
class LongTicks:
    """How many ticks took a period or longer, and how many of them by what they did themselves."""

    all: int
    own: int
    longest_own_s: float
    still: float  # share of the time in which a processor stood still: that a tick met a stall by chance

    def sentence(self) -> str:
        return (
            f"{self.all} ticks took a period or longer, {self.own} of them by themselves "
            f"(own time at most {1e6 * self.longest_own_s:.0f} us); "
            f"a processor stood still {self.still:.2%} of the time"
        )


class TickWatch:
    """Watches host and server from ``__enter__`` on; call ``look`` at least once in a few seconds."""

    def __init__(self, publish_endpoint: str) -> None:
        self._probe = HostProbe(least_ns=SHORT_NS)
        self._observer = hs.Subscriber(publish_endpoint, ("stats",))
        self._stalls: set[Stall] = set()
        self._seen: list[tuple[int, float]] = []  # ticks that were taken, and when [s]

    def __enter__(self) -> TickWatch:
        self._probe.start()
        self._counts = self._probe.counts()
        return self

    def __exit__(self, *exception: object) -> None:
        self._probe.stop()
        self._observer.close()

    def look(self) -> None:
        """Take what is new."""
        counts = self._probe.counts()
        self._stalls.update(self._probe.stalls(self._counts))
        self._counts = counts
        while (message := self._observer.receive()) is not None:
            self._seen.append((int(message.payload["ticks"]), 1e-9 * message.stamp_ns))

    def judge(
        self, late_s: np.ndarray, execution_s: np.ndarray, period_s: float, first: int = 0
    ) -> LongTicks:
        """Judge the ticks from ``first`` on, of all that the server took: how late, how long (n,) [s]."""
        stalls = [_as_long_as_it_may_have_been(s) for s in self._stalls] if self._probe.has_priority else []
        starts = deadlines_s(late_s, execution_s, period_s, self._seen) + late_s
        long = [i for i in np.flatnonzero(execution_s >= period_s).tolist() if i >= first]
        own_s = [own_time_s(starts[i], execution_s[i], stalls) for i in long]
        span_s = float(starts[-1] - starts[first]) if len(starts) > first else 0.0
        still_s = sum(s.overlap_s(starts[first], starts[-1]) for s in stalls) if span_s else 0.0
        return LongTicks(
            len(long),
            sum(own >= period_s for own in own_s),
            max(own_s, default=0.0),
            still_s / span_s if span_s else 0.0,
        )


def deadlines_s(
    late_s: np.ndarray, execution_s: np.ndarray, period_s: float, seen: list[tuple[int, float]]
) -> np.ndarray:
    """Deadlines (n,) [s] of all ticks of a server, on the clock of ``time.monotonic``.

    seen : how many ticks had been taken, and when that was said [s].  It is said after the tick, soon as a
        rule: of the two nearest to a tick, before and after it, the one counts that puts it earlier.
    """
    since_first = since_first_deadline(late_s, execution_s, period_s)
    known = [(ticks, at_s) for ticks, at_s in sorted(seen) if 0 < ticks <= len(since_first)]
    if not known:
        return np.asarray(np.full(len(since_first), np.nan))
    numbers, at_s = np.array([ticks - 1 for ticks, _ in known]), np.array([at for _, at in known])
    offsets = at_s - since_first[numbers]
    after = np.searchsorted(numbers, np.arange(len(since_first)))
    last = len(numbers) - 1
    return np.asarray(
        since_first + np.minimum(offsets[np.maximum(after - 1, 0)], offsets[np.minimum(after, last)])
    )


def own_time_s(start_s: float, execution_s: float, stalls: list[Stall]) -> float:
    """How long a tick took without the time in which the host stood still [s]."""
    return execution_s - stood_still_s(stalls, start_s, start_s + execution_s)


def _as_long_as_it_may_have_been(stall: Stall) -> Stall:
    """A probe sleeps in steps, and a stall may have begun while it slept."""
    step_s = 1e-9 * STEP_NS
    return Stall(stall.start_s - step_s, stall.length_s + step_s, stall.processor)
