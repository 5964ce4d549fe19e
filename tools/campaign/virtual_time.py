"""The clock of a rig: time stands still until it is moved, for Python and for the compiled loop.

The loop that runs here is the server's own (realtime/loop.py), compiled once more with the functions of the
clock replaced: its thread waits at a semaphore until the rig says that its time has come.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba import types as numba_types

from hapticsim.kernels.entry import compile_cached
from hapticsim.realtime import loop as real_loop
from hapticsim.realtime.atomics import load_acquire, store_release
from hapticsim.realtime.exchange import Exchange
from hapticsim.realtime.loop import LOOP, RealTimeLoop

START_NS = 1_000_000_000_000
libc = ctypes.CDLL(None, use_errno=True)
real_gettime = time.clock_gettime
# Places of what the two threads share: the time, the time that the loop waits for, how long the computer was
# suspended, and two semaphores of the C library, at which the loop and the rig wait.
NOW, WAITED, ASLEEP, LOOP_WAITS, RIG_WAITS, WORDS = 0, 1, 2, 4, 8, 12
PATIENCE_S = 60

_sem_post = numba_types.ExternalFunction("sem_post", numba_types.int32(numba_types.voidptr))
_sem_wait = numba_types.ExternalFunction("sem_wait", numba_types.int32(numba_types.voidptr))


@njit(nogil=True)
def _virtual_now(shared):
    return load_acquire(shared, NOW)


@njit(nogil=True)
def _virtual_boot(shared):
    return load_acquire(shared, NOW) + load_acquire(shared, ASLEEP)


@njit(nogil=True)
def _virtual_sleep(deadline_ns, shared, rest):
    store_release(shared, WAITED, deadline_ns)
    _sem_post(shared[RIG_WAITS:].ctypes)
    while load_acquire(shared, NOW) < deadline_ns:
        _sem_wait(shared[LOOP_WAITS:].ctypes)


class VirtualClock:
    """Stands for ``time.monotonic``, ``monotonic_ns`` and ``clock_gettime`` of the whole process.

    Public attributes: ``now_ns`` and ``asleep_ns``, how long the computer has been suspended.
    """

    def __init__(self) -> None:
        self.now_ns, self.asleep_ns = START_NS, 0

    @contextmanager
    def installed(self) -> Iterator[VirtualClock]:
        """Let Python see this clock inside the block."""
        before = time.monotonic, time.monotonic_ns, time.clock_gettime
        time.monotonic, time.monotonic_ns = lambda: 1e-9 * self.now_ns, lambda: self.now_ns
        time.clock_gettime = self._gettime
        try:
            yield self
        finally:
            time.monotonic, time.monotonic_ns, time.clock_gettime = before

    def _gettime(self, clock: int) -> float:
        if clock == time.CLOCK_MONOTONIC:
            return 1e-9 * self.now_ns
        if clock == time.CLOCK_BOOTTIME:
            return 1e-9 * (self.now_ns + self.asleep_ns)
        return real_gettime(clock)


def loop_kernel() -> Any:
    """The loop, on a virtual clock; its machine code is kept beside the loop's."""
    names = dict(
        real_loop._loop.__globals__, now_ns=_virtual_now, sleep_until=_virtual_sleep, boot_ns=_virtual_boot
    )
    edition = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    copy = types.FunctionType(real_loop._loop.__code__, names, f"_loop_in_virtual_time_{edition}")
    copy.__module__, copy.__qualname__ = __name__, copy.__name__
    return compile_cached(copy, LOOP.signature)


class VirtualLoop(RealTimeLoop):
    """The server's loop on a clock that ``advance`` moves.

    Parameters
    ----------
    awaited : called instead of waiting for the force that answers a sample.
    """

    def __init__(self, assembly: Any, awaited: Callable[[], Any]) -> None:
        self._awaited_call: Callable[[], Any] = lambda: None  # while the loop warms up
        super().__init__(assembly)
        self._shared = np.zeros(WORDS, np.int64)
        for place in (LOOP_WAITS, RIG_WAITS):
            libc.sem_init(self._semaphore(place), 0, 0)
        self._io = Exchange(**dict(self._io.items()) | {"timespec": self._shared})
        self._kernel, self._awaited_call = loop_kernel(), awaited

    def _semaphore(self, place: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._shared[place:].ctypes.data)

    def begin(self, now_ns: int) -> None:
        """Start the thread; the first tick comes with the next deadline."""
        self._shared[NOW] = now_ns
        self._thread = threading.Thread(
            target=self._kernel,
            args=(
                self._step, self.assembly.plan, self.state, self._input, self._output, self._workspace,
                self._rehearsed, self._unseen, self._pending, self._io,
            ),
            daemon=True,
        )  # fmt: skip
        self._thread.start()
        self._settle(now_ns)

    def advance(self, now_ns: int, asleep_ns: int = 0) -> None:
        """Take the ticks that are due by then; asleep_ns: how long the computer has been suspended."""
        self._go_to(now_ns, asleep_ns)
        self._settle(now_ns)

    def _go_to(self, now_ns: int, asleep_ns: int) -> None:
        self._shared[ASLEEP], self._shared[NOW] = asleep_ns, now_ns
        libc.sem_post(self._semaphore(LOOP_WAITS))

    def _settle(self, now_ns: int) -> None:
        """Wait until the loop waits for a later time."""
        while self._shared[WAITED] <= now_ns:
            until = (ctypes.c_long * 2)(int(real_gettime(time.CLOCK_REALTIME)) + PATIENCE_S, 0)
            if (
                libc.sem_timedwait(self._semaphore(RIG_WAITS), until)
                and ctypes.get_errno() == errno.ETIMEDOUT
            ):
                raise RuntimeError("the loop in virtual time does not come back: a defect of the rig.")

    def await_force(self, sender_s: float, due_s: float, longest_s: float) -> bool:
        self._awaited_call()
        return True

    def end(self) -> None:
        """Let the thread run out."""
        self._io.control[0] = 1
        self._go_to(int(self._shared[NOW]) + 1_000_000_000, int(self._shared[ASLEEP]))
        if self._thread is not None:
            self._thread.join(2.0)
