"""The operator's commands: a gapless sequence by executed tick, kept until the remote site has them all."""

from __future__ import annotations

import math

import numpy as np

from hapticsim.kernels.memory.command import COMMAND, command_of
from hapticsim.model.settings import LinkSettings

REPEATED_S = 0.15  # how long every command is sent again with each batch: at 200 batches a second 30 times
AGAIN_ROWS = 400  # commands sent again in a batch because the remote site misses them
AGAIN_S = 0.1  # before what is missed is sent once more
LEAST_S = 8.0  # of commands kept beyond the link's own round trip


def history_ticks(link: LinkSettings, rate_Hz: float) -> int:
    """How many commands a link needs kept: its round trip and an outage."""
    round_trip_s = link.delay_up_s + link.delay_down_s + 3.0 * link.jitter_s
    return math.ceil((2.0 * round_trip_s + LEAST_S) * rate_Hz)


class CommandLog:
    """What was commanded and what moved, tick by tick.

    Parameters
    ----------
    kept : ticks that are remembered.
    motion : numbers of the motion of a tick (``Predictor.motion``).
    rate_Hz : of the ticks.

    Time is an argument.  One thread at a time.
    """

    def __init__(self, kept: int, motion: int, rate_Hz: float) -> None:
        self._commands, self._motion = np.zeros((kept, COMMAND)), np.zeros((kept, motion))
        self._ticks, self._taken_at_s = np.full(kept, -1, np.int64), np.zeros(kept)
        self._repeated = math.ceil(REPEATED_S * rate_Hz)
        self._unsent = 0  # newest commands that no batch has carried yet
        self._missed: list[tuple[int, int]] = []
        self._asked_at_s: dict[int, float] = {}  # when a command that is missed was sent again, by tick
        self.newest = -1

    def append(self, rows: np.ndarray, motion: np.ndarray, now_s: float) -> bool:
        """Take the rows of finished ticks; False when ticks are missing before them, which ends the sequence.

        rows (n, columns), motion (n, motion).
        """
        ticks = rows[:, 1].astype(np.int64)
        whole = self.newest < 0 or int(ticks[0]) == self.newest + 1
        whole = whole and bool(np.all(np.diff(ticks) == 1))
        places = ticks % len(self._ticks)
        self._commands[places], self._motion[places] = command_of(rows), motion
        self._ticks[places], self._taken_at_s[places] = ticks, now_s
        self.newest = int(ticks[-1])
        self._unsent += len(ticks)
        return whole

    def batch(self, first: int, now_s: float) -> np.ndarray:
        """(n, 1 + COMMAND) what to send now, tick and command in order: what is new, the last ones again, and
        what the remote site misses.

        first : tick from which the remote site takes commands.
        """
        since = max(first, self.newest + 1 - self._unsent - self._repeated, 0)
        self._unsent = 0
        again = self._again(first, since, now_s)
        ticks = np.concatenate([again, np.arange(since, self.newest + 1)])
        places = ticks % len(self._ticks)
        kept = self._ticks[places] == ticks
        return np.column_stack([ticks, self._commands[places]])[kept]

    def missed(self, ranges: list[tuple[int, int]]) -> None:
        """The remote site misses the commands of these ticks, first and last of each range."""
        self._missed = ranges

    def _again(self, first: int, before: int, now_s: float) -> np.ndarray:
        """Ticks before ``before`` to be sent again."""
        wanted: list[int] = []
        self._asked_at_s = {t: at for t, at in self._asked_at_s.items() if now_s - at < AGAIN_S}
        for start, end in self._missed:
            start = max(start, first, self.newest + 1 - len(self._ticks))
            for tick in range(start, min(end + 1, before)):
                if tick not in self._asked_at_s:
                    wanted.append(tick)
                    self._asked_at_s[tick] = now_s
                    if len(wanted) == AGAIN_ROWS:
                        return np.array(wanted, np.int64)
        return np.array(wanted, np.int64)

    def commands(self, first: int, last: int) -> np.ndarray | None:
        """(n, COMMAND) copies of the commands of ticks first to last; None when one is not known any more."""
        places = np.arange(first, last + 1) % len(self._ticks)
        if not np.array_equal(self._ticks[places], np.arange(first, last + 1)):
            return None
        return self._commands[places]

    def motion(self, first: int, last: int) -> np.ndarray | None:
        """(n, motion) of ticks first to last, what is predicted for the remote site; None as above."""
        places = np.arange(first, last + 1) % len(self._ticks)
        if not np.array_equal(self._ticks[places], np.arange(first, last + 1)):
            return None
        return self._motion[places]

    def correct(self, first: int, motion: np.ndarray) -> None:
        """Replace the motion (n, motion) of ticks from first on by a better prediction."""
        ticks = np.arange(first, first + len(motion))
        places = ticks % len(self._ticks)
        known = self._ticks[places] == ticks
        self._motion[places[known]] = motion[known]

    def taken_at_s(self, tick: int) -> float | None:
        """When a tick was taken, None when it is not known (any more)."""
        i = tick % len(self._ticks)
        return float(self._taken_at_s[i]) if self._ticks[i] == tick else None
