"""Whose a tick was that took longer than a period: the server's, or the host's, which stood still meanwhile.

A probe (hapticsim/realtime/probe.py) writes down when a processor stood still.  A recording has of each tick
how long it took, and how long after the one before it began; topic ``stats`` says at which moment how many
had been taken.  What a tick took without the time in which the host stood still is its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import hapticsim as hs
from hapticsim.realtime.probe import SHORT_NS, HostProbe, Stall, stood_still_s
from hapticsim.recording.reader import Recording

STEP_NS = 200_000  # of the probes: a stall that is shorter may be missed; half of it takes twice the time


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
    is_watched: bool = True  # by a probe that nothing of ours can stop

    @property
    def own(self) -> int:
        """How many of them took a period by what they did themselves."""
        return sum(tick.took_s - tick.still_s >= self.period_s for tick in self.ticks)

    def sentence(self) -> str:
        each = (f"{1e6 * t.took_s:.0f} us of which the host stood {1e6 * t.still_s:.0f}" for t in self.ticks)
        host = f"a processor stood still {self.still:.2%} of the time"
        if not self.is_watched:
            host = "the host could not be watched (no SCHED_FIFO, or no statistics)"
        return (
            f"{len(self.ticks)} ticks took a period or longer, {self.own} of them by themselves "
            f"({'; '.join(each) or 'none'}); {host}"
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

    def judge(self, recording: Recording, first: int, end: int) -> LongTicks:
        """Judge the ticks from ``first`` up to ``end``, of a recording that has all from 0 on."""
        execution_s = 1e-6 * recording.column("execution_us")
        starts = starts_s(recording.column("tick_gap_s"), execution_s, self._seen)
        is_watched = self._probe.has_priority and not np.isnan(starts).any()
        stalls = [_as_long_as_it_may_have_been(s) for s in self._stalls] if is_watched else []
        long = [
            LongTick(i, execution_s[i], stood_still_s(stalls, starts[i], starts[i] + execution_s[i]))
            for i in first + np.flatnonzero(execution_s[first:end] >= self._period_s)
        ]
        span = starts[first], starts[end - 1]
        still = stood_still_s(stalls, *span) / (span[1] - span[0])
        return LongTicks(long, self._period_s, still, is_watched)


def starts_s(gap_s: np.ndarray, execution_s: np.ndarray, seen: list[tuple[int, float]]) -> np.ndarray:
    """When each tick (n,) of a server began [s], on the clock of ``time.monotonic``.

    gap_s : of each tick, from the start of the one before to its own.
    seen : how many ticks had been taken, and when that was said [s]: after the last of them had ended, and
        once at least at once, as the least delay counts as none.  NaN where none is about these ticks.
    """
    since_first = np.concatenate([[0.0], np.cumsum(gap_s[1:])])
    ended = since_first + execution_s
    delays = [at_s - ended[ticks - 1] for ticks, at_s in seen if 0 < ticks <= len(ended)]
    return np.asarray(since_first + min(delays, default=np.nan))


def _as_long_as_it_may_have_been(stall: Stall) -> Stall:
    """A probe sleeps in steps, and a stall may have begun while it slept."""
    step_s = 1e-9 * STEP_NS
    return Stall(stall.start_s - step_s, stall.length_s + step_s, stall.processor)
