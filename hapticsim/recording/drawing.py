"""Messages beside the rows that other programs plot and draw; whoever knows the rows makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

Message = tuple[str, int, bytes]  # topic, log time [ns], JSON


@dataclass(frozen=True)
class Channel:
    """A topic of JSON messages; ``schema`` is the text of their JSON schema."""

    topic: str
    schema_name: str
    schema: str


class Drawing(Protocol):
    """Makes the messages of its channels; called in the thread that writes the file."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """All there are."""

    def begin(self) -> Iterable[Message]:
        """What is told once."""

    def rows(self, rows: np.ndarray) -> Iterable[Message]:
        """What a batch of rows, float64 (n, columns), tells; batches come in the order of time."""

    def event(self, event: Mapping[str, object]) -> Iterable[Message]:
        """What an event tells."""


class Sampler:
    """Picks the rows at which something is drawn: the first in each period.

    rate_Hz : of the drawing.
    """

    def __init__(self, rate_Hz: float) -> None:
        self._rate_Hz, self._newest = rate_Hz, -np.inf

    def pick(self, time_s: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows picked; time_s (n,) is that of all [s], NaN where it is none."""
        periods = np.floor(time_s * self._rate_Hz + 1e-6)  # a tick at 0.02 s begins a period
        periods[~(np.isfinite(time_s) & (time_s >= 0.0))] = -np.inf
        earlier = np.maximum.accumulate(np.concatenate([[self._newest], periods]))
        self._newest = earlier[-1]
        picked: np.ndarray = np.flatnonzero(periods > earlier[:-1])
        return picked
