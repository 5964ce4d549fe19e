"""The remote site's buffer: commands that arrive in any order, given out in the order of their ticks.

Every command is executed, one per tick, none is dropped and none made up.  A command that is late makes the
remote site wait, and everything after it comes that much later; what came early waits here.  So the delay D
between the two sites follows the network, and what is executed does not depend on it.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

MARGIN_S = 0.05  # commands that wait when the network is at its worst: what covers the next disturbance
BUCKET_S, BUCKETS = 0.5, 3  # over which the worst is taken
FOLLOW_S = 0.5  # in which too much or too little of a margin is mended
SLOWEST, FASTEST = 0.98, 2.0  # pace while it is, of the nominal one
RANGES = 16  # of missing commands that are told
GIVE_UP_S = 1.0  # of silence after which another operator may take over


class Playout:
    """Commands of one operator, until the loop takes them.

    Parameters
    ----------
    rate_Hz : of the ticks.
    jitter_s : that the link is known to have: commands wait so much longer before the first is executed.
    room : ticks ahead of the present one for which the loop has room.
    most_ahead : commands that wait here; one for a later tick is left, and comes again when it is missed.

    Public attributes: ``session`` (whose commands are taken, 0: nobody's), ``missing_from`` (the first tick
    whose command has not come).  Time is an argument.
    """

    def __init__(self, rate_Hz: float, jitter_s: float, room: int, most_ahead: int) -> None:
        self.session, self.missing_from = 0, 0
        self._rate_Hz, self._room, self._most_ahead = rate_Hz, room, most_ahead
        self._margin = MARGIN_S * rate_Hz
        self._first_wait = math.ceil((MARGIN_S + jitter_s) * rate_Hz)
        self._over: deque[int] = deque(maxlen=64)  # sessions that ended; what still comes of them is old
        self._waiting: dict[int, np.ndarray] = {}  # commands by tick, not yet given to the loop
        self._next = 0  # tick to be given next
        self._beyond: set[int] = set()  # ticks that came after missing_from
        self._playing = False
        self._heard_at_s = -math.inf
        self._worst: deque[float] = deque(maxlen=BUCKETS)
        self._bucket = -1

    # -- sessions --------------------------------------------------------------------------------------------

    def wants_in(self, session: int, opens: bool, now_s: float) -> bool:
        """Whether a message begins a session that is to be opened: a new one, while no other is alive."""
        if not opens or session == self.session or session in self._over:
            return False
        return self.session == 0 or now_s - self._heard_at_s > GIVE_UP_S

    def open(self, session: int, first: int, now_s: float) -> None:
        """Take the commands of a session, from tick ``first`` on, and of no other."""
        if self.session:
            self._over.append(self.session)
        self.session, self.missing_from, self._next = session, first, first
        self._waiting.clear()
        self._beyond.clear()
        self._worst.clear()
        self._playing = False
        self._heard_at_s = now_s

    def is_known(self, session: int) -> bool:
        """Whether a message is of the session whose commands are taken."""
        return session == self.session != 0

    # -- commands --------------------------------------------------------------------------------------------

    def take(self, rows: np.ndarray, now_s: float) -> None:
        """Take commands (n, 1 + COMMAND), tick and command, in any order and any number of times."""
        self._heard_at_s = now_s
        for row in rows:
            tick = int(row[0])
            known = tick < self.missing_from or tick in self._beyond
            if known or tick >= self._next + self._most_ahead:
                continue
            self._waiting[tick] = row[1:].copy()
            self._beyond.add(tick)
        while self.missing_from in self._beyond:
            self._beyond.remove(self.missing_from)
            self.missing_from += 1

    def give(self, present: int) -> list[tuple[int, np.ndarray]]:
        """Commands that the loop has room for, in order; none before enough have come to begin with.

        present : the tick it takes next.
        """
        if not self._playing:
            if self.missing_from - present < self._first_wait:
                return []
            self._playing = True
        given = []
        while self._next < min(present + self._room, self.missing_from):
            given.append((self._next, self._waiting.pop(self._next)))
            self._next += 1
        return given

    def missing(self) -> list[tuple[int, int]]:
        """Ticks, first and last of each range, whose commands have not come though later ones have."""
        ranges, next_tick = [], self.missing_from
        for tick in sorted(self._beyond):
            if tick > next_tick:
                ranges.append((next_tick, tick - 1))
                if len(ranges) == RANGES:
                    break
            next_tick = tick + 1
        return ranges

    def pace(self, present: int, now_s: float) -> float:
        """How fast ticks are to be taken, 1 nominal: so that in the worst case the margin is left.

        This follows clocks that drift, and makes up for what an outage or a stall left behind.
        """
        if not self._playing:
            return 1.0
        fill = self.missing_from - present
        bucket = int(now_s / BUCKET_S)
        if bucket != self._bucket or not self._worst:
            self._bucket = bucket
            self._worst.append(fill)
        self._worst[-1] = min(self._worst[-1], fill)
        over = (min(self._worst) - self._margin) / (FOLLOW_S * self._rate_Hz)
        return min(max(1.0 + over, SLOWEST), FASTEST)

    def silence_s(self, now_s: float) -> float:
        """How long nothing was heard of the session [s]."""
        return now_s - self._heard_at_s
