"""Stalls of the host: threads that only sleep and look at the clock, one on each processor.

A loop that woke 12 ms late was stopped by somebody: by the computer (a virtual processor that was taken
away, firmware, a driver), by other programs, or by this program.  A thread on the same processor that holds
no lock, meets no interpreter and has no work tells the first from the last: what stopped it was not ours.

At PRIORITY, one above the loop, nothing of this program can stop it: it sees the host alone, and a stall of
the loop that it did not see is ours.  At the loop's own priority a tick that takes too long would stop it as
well and pass for the host.  At ordinary priority it sees what any ordinary thread meets there: other programs
that want the same processor, and threads of ours with a priority.

A thread of each kind, waking every STEP_NS, took 2 % of a processor where it was measured (a virtual one).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import int64, types

from hapticsim.kernels.entry import compile_cached
from hapticsim.realtime.atomics import load_acquire, store_release
from hapticsim.realtime.clock import now_ns, request_priority, sleep_until

PRIORITY = 81  # SCHED_FIFO: one above the loop
STEP_NS = 500_000
LEAST_NS = 1_000_000  # shorter stalls are only added up,
SHORT_NS = 200_000  # and shorter ones not even that: a virtual computer wakes any thread 0.1 ms late
KEPT = 4096  # newest stalls of one processor


def _watch(control, step_ns, least_ns, ring, found, timespec, rest):
    """Sleep in steps until asked to stop, and write down each wake that came too late.

    control (1,)    not 0: stop.
    ring (KEPT, 2)  start and length of a stall [ns].
    found (2,)      their number, and the sum of all delays from SHORT_NS on [ns].
    """
    while load_acquire(control, 0) == 0:
        wake = now_ns(timespec) + step_ns
        sleep_until(wake, timespec, rest)
        over = now_ns(timespec) - wake
        if over >= SHORT_NS:
            found[1] += over
        if over >= least_ns:
            i = found[0] % ring.shape[0]
            ring[i, 0], ring[i, 1] = wake, over
            store_release(found, 0, found[0] + 1)


_INTS = types.Array(int64, 1, "C")
WATCH = types.void(_INTS, int64, int64, types.Array(int64, 2, "C"), _INTS, _INTS, _INTS)


@dataclass(frozen=True)
class Stall:
    """A time in which a thread that was due did not run.

    It began within a step (0.5 ms) before ``start_s``, on the clock of ``time.monotonic``.
    """

    start_s: float
    length_s: float
    processor: int

    @property
    def end_s(self) -> float:
        return self.start_s + self.length_s

    def overlap_s(self, start_s: float, end_s: float) -> float:
        """How much of it lies in a span of time [s]."""
        return max(0.0, min(self.end_s, end_s) - max(self.start_s, start_s))


class _Watcher:
    """One thread on one processor."""

    def __init__(
        self, kernel: Any, processor: int, priority: int | None, step_ns: int, least_ns: int
    ) -> None:
        self.processor, self.granted = processor, "ordinary priority"
        self._control, self.found = np.zeros(1, np.int64), np.zeros(2, np.int64)
        self._ring = np.zeros((KEPT, 2), np.int64)
        timespec, rest = np.zeros((2, 2), np.int64)
        self._ready = threading.Event()

        def body() -> None:
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(threading.get_native_id(), {processor})
            if priority is not None:
                self.granted = request_priority(priority)
            self._ready.set()
            kernel(self._control, step_ns, least_ns, self._ring, self.found, timespec, rest)

        self.thread = threading.Thread(target=body, name=f"hapticsim-probe-{processor}", daemon=True)
        self.thread.start()
        self._ready.wait(5.0)

    def stalls(self, number: int) -> list[Stall]:
        """Those from this number on, as far as they are kept."""
        written = int(self.found[0])
        first = max(number, written - KEPT + 1)  # the oldest may be overwritten meanwhile
        rows = (self._ring[n % KEPT].tolist() for n in range(first, written))
        return [Stall(1e-9 * start, 1e-9 * length, self.processor) for start, length in rows]

    def stop(self) -> None:
        self._control[0] = 1


class HostProbe:
    """Watch the processors this process may use; ``with`` starts and stops it.

    Parameters
    ----------
    priority : SCHED_FIFO, or None for the ordinary one.
    progress : called with a line when something has to be compiled.
    least_ns : shorter stalls are not kept one by one.
    step_ns : what the threads sleep for; a stall that ends while they do is not seen.
    """

    def __init__(
        self,
        priority: int | None = PRIORITY,
        progress: Callable[[str], Any] | None = None,
        least_ns: int = LEAST_NS,
        step_ns: int = STEP_NS,
    ) -> None:
        self._kernel, self._priority = compile_cached(_watch, WATCH), priority
        self._least_ns, self._step_ns = least_ns, step_ns
        self._watchers: list[_Watcher] = []

    def start(self) -> HostProbe:
        """Start watching."""
        self._watchers = [
            _Watcher(self._kernel, p, self._priority, self._step_ns, self._least_ns)
            for p in sorted(_processors())
        ]
        return self

    def stop(self) -> None:
        """Stop watching; what was seen stays."""
        for watcher in self._watchers:
            watcher.stop()
        for watcher in self._watchers:
            watcher.thread.join(1.0)

    def __enter__(self) -> HostProbe:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def has_priority(self) -> bool:
        """Whether nothing of ordinary priority can stop it."""
        return bool(self._watchers) and all(w.granted.startswith("SCHED_FIFO") for w in self._watchers)

    def counts(self) -> list[int]:
        """Stalls so far, for each processor: where ``stalls`` goes on from."""
        return [int(w.found[0]) for w in self._watchers]

    def stalls(self, since: Iterable[int] | None = None) -> list[Stall]:
        """Stalls in the order of their starts: all that are kept, or those after ``counts()`` was taken."""
        numbers = [0] * len(self._watchers) if since is None else since
        found = [s for w, n in zip(self._watchers, numbers, strict=True) for s in w.stalls(n)]
        return sorted(found, key=lambda stall: stall.start_s)

    def delayed_s(self) -> list[float]:
        """Sum of all delays of 0.2 ms and more so far [s], for each processor."""
        return [1e-9 * int(w.found[1]) for w in self._watchers]


def stood_still_s(stalls: Iterable[Stall], start_s: float, end_s: float) -> float:
    """How long of a span of time [s] one processor stood still, in one stall or in several; 0 where none did.

    A stall may be given twice; of the processors the one counts that stood still longest.
    """
    still: dict[int, float] = {}
    for stall in set(stalls):
        still[stall.processor] = still.get(stall.processor, 0.0) + stall.overlap_s(start_s, end_s)
    return max(still.values(), default=0.0)


def _processors() -> set[int]:
    """Processors that this process may use."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
