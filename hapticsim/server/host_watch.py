"""Whose stall it was: each late tick of the loop beside what a probe saw of the host meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hapticsim.kernels.memory.sample import PLACE
from hapticsim.realtime.probe import HostProbe, Stall, stood_still_s

LATE_S = 0.002  # a tick that ended so long after its deadline is told; shorter ones are in the percentiles
SHARE = 0.5  # of a late tick that the host must have stood still for it to be the host's
KEPT = 64
RECENT = 256  # stalls that a late tick is compared with


@dataclass(frozen=True)
class LateTick:
    """A tick that ended late: its deadline (monotonic clock), how late, how long the host stood still [s]."""

    tick: int
    deadline_s: float
    late_s: float
    host_s: float

    @property
    def is_ours(self) -> bool:
        """Whether the host does not explain it."""
        return bool(self.host_s < SHARE * self.late_s)

    def sentence(self) -> str:
        """For the user."""
        host = f"the host stood still {1e3 * self.host_s:.0f} ms then" if self.host_s else "the host ran"
        return f"loop late {1e3 * self.late_s:.0f} ms at tick {self.tick}: {host}."


class HostWatch:
    """A probe beside a loop.

    Parameters
    ----------
    period_s : of the loop.
    newest : returns a tick that was taken and when it started [s].
    say : receives a line for each late tick.

    Public attribute: ``late``, the newest late ticks.
    """

    def __init__(
        self,
        period_s: float,
        newest: Callable[[], tuple[int, float]],
        say: Callable[[str], Any],
        progress: Callable[[str], Any] | None = None,
    ) -> None:
        self.probe = HostProbe(progress=progress)
        self.late: deque[LateTick] = deque(maxlen=KEPT)
        self._period_s, self._newest, self._say = period_s, newest, say
        self._ours = self._hosts = 0
        self._stalls: deque[Stall] = deque(maxlen=RECENT)
        self._looked: list[int] | None = None  # counts of the probe at the last look
        self._longest_s = 0.0

    def take(self, rows: np.ndarray) -> None:
        """Rows (n, columns) of finished ticks, in order."""
        deadlines = deadlines_of(rows, *self._newest(), self._period_s)
        late_s = 1e-6 * (rows[:, PLACE["lateness_us"]] + rows[:, PLACE["execution_us"]])
        limit = max(LATE_S, 1.5 * self._period_s)
        for i in np.flatnonzero(late_s > limit):
            start, end = float(deadlines[i]), float(deadlines[i] + late_s[i])
            host = stood_still_s(self._look(), start, end)
            late = LateTick(int(rows[i, PLACE["tick"]]), start, float(late_s[i]), host)
            self.late.append(late)
            self._ours, self._hosts = self._ours + late.is_ours, self._hosts + (not late.is_ours)
            self._say(late.sentence())

    def _look(self) -> deque[Stall]:
        """The newest stalls; one that came during the last look may be there twice."""
        counts = self.probe.counts()
        new = self.probe.stalls(self._looked)
        self._looked = counts
        self._stalls.extend(new)
        self._longest_s = max(self._longest_s, max((s.length_s for s in new), default=0.0))
        return self._stalls

    def statistics(self) -> dict[str, Any]:
        """What topic ``stats`` says of the host."""
        self._look()
        return {
            "stalls": sum(self.probe.counts()),
            "longest_ms": 1e3 * self._longest_s,
            "late_ours": self._ours,
            "late_hosts": self._hosts,
        }


def deadlines_of(rows: np.ndarray, tick: int, started_s: float, period_s: float) -> np.ndarray:
    """Deadlines (n,) [s] of consecutive rows, from the start of one tick near them.

    A tick that ends after the next deadline skips what was missed, as the loop does.
    """
    late_s = 1e-6 * rows[:, PLACE["lateness_us"]]
    over_s = late_s + 1e-6 * rows[:, PLACE["execution_us"]] - period_s
    steps = 1.0 + np.where(over_s > 0.0, np.floor(over_s / period_s) + 1.0, 0.0)  # periods to the next
    since_first = period_s * np.concatenate([[0.0], np.cumsum(steps)])
    i = tick - int(rows[0, PLACE["tick"]])
    inside = min(max(i, 0), len(rows) - 1)  # a tick after these rows, or before: on time, as far as is known
    first = started_s - late_s[inside] * (i == inside) - since_first[inside] - period_s * (i - inside)
    return first + since_first[:-1]
