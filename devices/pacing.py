"""Keeping time: absolute deadlines, no garbage collection, real-time priority where the system allows it."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_INTERVAL_S = 1e-4  # as in the server


class Pacer:
    """Waits for multiples of a period on the monotonic clock; a late tick does not move the next.

    A server on the same computer ticks halfway between them (realtime/clock.py): what is measured here
    reaches its next tick, and the force is back for the next tick here.

    Parameters
    ----------
    period_s : distance of two deadlines.

    After an overrun the deadlines that passed are skipped and counted in ``missed``; catching up in a burst
    would send the server stale positions and the motors a staircase.
    """

    def __init__(self, period_s: float) -> None:
        self.set_period(period_s)
        self.ticks = 0
        self.missed = 0
        self.worst_late_s = 0.0

    @property
    def period_s(self) -> float:
        return self._period_ns * 1e-9

    def set_period(self, period_s: float) -> None:
        """Put the deadlines on multiples of another period, from the next one on."""
        self._period_ns = round(period_s * 1e9)
        self._deadline_ns = time.monotonic_ns() // self._period_ns * self._period_ns

    def wait(self) -> float:
        """Sleep until the next deadline; returns that deadline [s] on the monotonic clock."""
        self._deadline_ns += self._period_ns
        left_ns = self._deadline_ns - time.monotonic_ns()
        if left_ns > 0:
            time.sleep(left_ns * 1e-9)  # to an absolute time on the monotonic clock
        late_ns = time.monotonic_ns() - self._deadline_ns
        if late_ns >= self._period_ns:
            passed = late_ns // self._period_ns
            self.missed += passed
            self._deadline_ns += passed * self._period_ns
        self.worst_late_s = max(self.worst_late_s, late_ns * 1e-9)
        self.ticks += 1
        return self._deadline_ns * 1e-9


class SleepDetector:
    """Notices that the computer was suspended: the clock that counts through it ran ahead of the other.

    Parameters
    ----------
    longest_s : a shorter absence does not count.
    """

    def __init__(self, longest_s: float = 0.1) -> None:
        self._longest_s = longest_s
        self._offset_s = max(suspended_s() for _ in range(3))

    def slept_s(self) -> float:
        """How long the computer was suspended since the last call [s]; 0 if it was not."""
        offset_s = suspended_s()
        slept_s = offset_s - self._offset_s
        if slept_s < self._longest_s:
            return 0.0
        self._offset_s = offset_s
        return slept_s


def suspended_s() -> float:
    """How long the computer was suspended since it started [s], at least; 0 where nobody can tell.

    The monotonic clock is read last: a thread that loses its processor between the two finds too little.
    """
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    through_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return through_s - time.monotonic()


def share_interpreter() -> None:
    """Have threads of this process hand over the interpreter's lock soon, those of a driver's library too.

    With one busy Python thread beside it, 1000 waits of 1 ms missed 6767 deadlines at Python's own 5 ms, and
    1600 at this (two shared cores with sixteen programs).
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)


@contextmanager
def quiet_memory() -> Iterator[None]:
    """No garbage collection inside the block: what exists is frozen, and the loop makes no cycles."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def ask_for_priority(priority: int = 70) -> str | None:
    """Ask for SCHED_FIFO for this process; returns why not, in one sentence, or None."""
    if not hasattr(os, "sched_setscheduler"):
        return "this system has no SCHED_FIFO: running at normal priority."
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        return "SCHED_FIFO is not permitted: running at normal priority; allow it with 'ulimit -r 80'."
    return None
