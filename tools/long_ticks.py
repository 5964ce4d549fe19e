"""Whose a tick was that took longer than a period: the server's, or the host's, which stood still meanwhile.

A probe (hapticsim/realtime/probe.py) writes down when a processor stood still, and topic ``stats`` says which
tick was the newest at which moment.  Between two such moments the deadlines of ticks follow from how late
each was and how long it took.  What a tick took without the time in which the host stood still is its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import hapticsim as hs
from hapticsim.realtime.clock import deadline_after
from hapticsim.realtime.probe import SHORT_NS, HostProbe, Stall, stood_still_s
from hapticsim.server.host_watch import since_first_deadline

STEP_NS = 200_000  # of the probes: a stall that is shorter may be missed; half of it takes twice the time
NEAR = 8  # times that are looked at before a tick, and after it


@dataclass(frozen=True)
class LongTick:
    """How long it took, and how much of that the host stood still [s]."""

    tick: int
    took_s: float
    still_s: float


@dataclass(frozen=True)
class LongTicks:
    """Ticks that took a period or longer."""

    ticks: list[LongTick]
    period_s: float
    still: float  # share of the time in which a processor stood still: that a tick met a stall by chance

    @property
    def own(self) -> int:
        """How many of them took a period by what they did themselves."""
        return sum(tick.took_s - tick.still_s >= self.period_s for tick in self.ticks)

    def sentence(self) -> str:
        each = (f"{1e6 * t.took_s:.0f} us of which the host stood {1e6 * t.still_s:.0f}" for t in self.ticks)
        return (
            f"{len(self.ticks)} ticks took a period or longer, {self.own} of them by themselves "
            f"({'; '.join(each) or 'none'}); a processor stood still {self.still:.2%} of the time"
        )


class TickWatch:
    """Watches host and server from ``__enter__`` on; call ``look`` at least once in a few seconds.

    Parameters
    ----------
    publish_endpoint, period_s : of the server.
    """

    def __init__(self, publish_endpoint: str, period_s: float) -> None:
        self._period_s = period_s
        self._probe = HostProbe(least_ns=SHORT_NS, step_ns=STEP_NS)
        self._observer = hs.Subscriber(publish_endpoint, ("stats",))
        self._stalls: set[Stall] = set()
        self._seen: list[tuple[int, float]] = []  # ticks that were taken, and when that was said [s]

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

    def judge(self, late_s: np.ndarray, execution_s: np.ndarray, first: int = 0) -> LongTicks:
        """Judge the ticks from ``first`` on, of all that the server took: how late, how long (n,) [s]."""
        stalls = [_as_long_as_it_may_have_been(s) for s in self._stalls] if self._probe.has_priority else []
        starts = deadlines_s(late_s, execution_s, self._period_s, self._seen) + late_s
        long = [
            LongTick(i, execution_s[i], stood_still_s(stalls, starts[i], starts[i] + execution_s[i]))
            for i in np.flatnonzero(execution_s >= self._period_s).tolist()
            if i >= first
        ]
        span_s = float(starts[-1] - starts[first]) if len(starts) > first else 0.0
        still_s = sum(s.overlap_s(starts[first], starts[-1]) for s in stalls) if span_s else 0.0
        return LongTicks(long, self._period_s, still_s / span_s if span_s else 0.0)


def deadlines_s(
    late_s: np.ndarray, execution_s: np.ndarray, period_s: float, seen: list[tuple[int, float]]
) -> np.ndarray:
    """Deadlines (n,) [s] of all ticks of a server, on the clock of ``time.monotonic``.

    seen : how many ticks had been taken, and when that was said [s]: before the next deadline, where the
        server was not too busy to say it.  Of the NEAR before a tick and after it the one counts that puts it
        earliest.
    """
    since_first = since_first_deadline(late_s, execution_s, period_s)
    period_ns = round(1e9 * period_s)
    known = [(ticks - 1, at_s) for ticks, at_s in sorted(seen) if 0 < ticks <= len(since_first)]
    if not known:
        return np.asarray(np.full(len(since_first), np.nan))
    numbers = np.array([number for number, _ in known])
    last = np.array([1e-9 * (deadline_after(round(1e9 * at_s), period_ns) - period_ns) for _, at_s in known])
    offsets, after = last - since_first[numbers], np.searchsorted(numbers, np.arange(len(since_first)))
    near = [offsets[np.clip(after + k, 0, len(offsets) - 1)] for k in range(-NEAR, NEAR)]
    return np.asarray(since_first + np.min(near, axis=0))


def _as_long_as_it_may_have_been(stall: Stall) -> Stall:
    """A probe sleeps in steps, and a stall may have begun while it slept."""
    step_s = 1e-9 * STEP_NS
    return Stall(stall.start_s - step_s, stall.length_s + step_s, stall.processor)
