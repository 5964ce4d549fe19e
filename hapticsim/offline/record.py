"""What every integrator hands back, and the memory a compiled one writes it to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hapticsim.offline.ending import Ending

EVALUATIONS, ACCEPTED, REJECTED, STORED, MAX_STEPS = range(5)  # places in Log.counts


@dataclass(frozen=True, eq=False)
class Record:
    """Accepted steps of one run, in the precision in which it was integrated.

    ns samples; y is q then u.  The last sample is where the integrator stopped.
    """

    time: np.ndarray  # (ns,) [s]
    y: np.ndarray  # (ns, nq + nu)
    rate: np.ndarray  # (ns, nq + nu) dy/dt
    evaluations: np.ndarray  # (ns,) of the forward dynamics, before the step that starts here
    accepted: int  # steps
    rejected: int  # attempts thrown away
    ending: Ending


class Log:
    """Arrays for accepted steps at least ``store_every_s`` apart and for the last, and five counters."""

    def __init__(self, n: int, dtype: type, seconds: float, store_every_s: float, max_steps: int) -> None:
        capacity = math.ceil(min(max_steps, seconds / store_every_s)) + 4
        self.time: np.ndarray = np.zeros(capacity, dtype)
        self.y: np.ndarray = np.zeros((capacity, n), dtype)
        self.rate: np.ndarray = np.zeros((capacity, n), dtype)
        self.evaluations = np.zeros(capacity, np.int64)
        self.counts = np.array([0, 0, 0, 0, max_steps], np.int64)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What a compiled integrator takes."""
        return self.time, self.y, self.rate, self.evaluations, self.counts

    def record(self, ending: int) -> Record:
        """Return what was written."""
        k = int(self.counts[STORED])
        return Record(
            time=self.time[:k].copy(),
            y=self.y[:k].copy(),
            rate=self.rate[:k].copy(),
            evaluations=self.evaluations[:k].copy(),
            accepted=int(self.counts[ACCEPTED]),
            rejected=int(self.counts[REJECTED]),
            ending=Ending(ending),
        )
