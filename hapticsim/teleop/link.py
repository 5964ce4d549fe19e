"""An emulated link: what is put in comes out later, in disorder or not at all, the same for the same seed."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from typing import Generic, TypeVar

Item = TypeVar("Item")


class DelayLine(Generic[Item]):
    """One direction of a link.

    Parameters
    ----------
    delay_s : constant part [s].
    jitter_s : added at random, uniform in [0, jitter_s]; it reorders by itself.
    loss : probability that an item never arrives, independent per item.
    seed : of the random numbers.
    room : what it holds at most, in the unit of the items' sizes; what comes when it is full never arrives.

    Time is an argument, so a line runs against the clock or in virtual time.
    """

    def __init__(
        self, delay_s: float, jitter_s: float = 0.0, loss: float = 0.0, seed: int = 0, room: float = math.inf
    ) -> None:
        self.delay_s, self.jitter_s, self.loss, self.room = delay_s, jitter_s, loss, room
        self.lost = self.held = 0
        self._random = random.Random(seed)
        self._waiting: list[tuple[float, int, int, Item]] = []
        self._number = itertools.count()

    def put(self, now_s: float, item: Item, size: int = 0) -> None:
        """Send an item."""
        arrival = now_s + self.delay_s + self.jitter_s * self._random.random()
        if self._random.random() < self.loss or self.held + size > self.room:
            self.lost += 1
            return
        self.held += size
        heapq.heappush(self._waiting, (arrival, next(self._number), size, item))

    def due(self, now_s: float) -> list[Item]:
        """Items that have arrived by now, earliest first."""
        arrived = []
        while self._waiting and self._waiting[0][0] <= now_s:
            _, _, size, item = heapq.heappop(self._waiting)
            self.held -= size
            arrived.append(item)
        return arrived

    def __len__(self) -> int:
        return len(self._waiting)
