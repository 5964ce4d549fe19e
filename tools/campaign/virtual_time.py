"""The clock of a rig: time stands still until it is moved, for Python and for the compiled loop.

The loop that runs here is the server's own (realtime/loop.py), compiled once more with three functions of the
clock replaced: its thread sleeps until the rig says that its time has come.
"""

from __future__ import annotations

import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit

from hapticsim.realtime import clock as real_clock
from hapticsim.realtime import loop as real_loop
from hapticsim.realtime.atomics import load_acquire, store_release
from hapticsim.realtime.loop import LOOP, RealTimeLoop

START_NS = 1_000_000_000_000
LOOK_NS = 10_000  # of a thread that waits for the other one
real_sleep = time.sleep
real_monotonic = time.monotonic


@njit(nogil=True)
def _virtual_now(timespec):
    return load_acquire(timespec, 0)


@njit(nogil=True)
def _virtual_sleep(deadline_ns, timespec, rest):
    store_release(timespec, 1, deadline_ns)
    while load_acquire(timespec, 0) < deadline_ns:
        rest[0], rest[1] = 0, LOOK_NS
        real_clock._nanosleep(1, 0, rest.ctypes, rest.ctypes)


class VirtualClock:
    """Stands for ``time.monotonic`` and ``monotonic_ns`` of the whole process."""

    def __init__(self) -> None:
        self.now_ns = START_NS

    @contextmanager
    def installed(self) -> Iterator[VirtualClock]:
        """Let Python see this clock inside the block."""
        before = time.monotonic, time.monotonic_ns
        time.monotonic, time.monotonic_ns = lambda: 1e-9 * self.now_ns, lambda: self.now_ns
        try:
            yield self
        finally:
            time.monotonic, time.monotonic_ns = before


_kernels: list[Any] = []


def loop_kernel() -> Any:
    """The loop, on a virtual clock; compiled once in a process."""
    if not _kernels:
        names = dict(real_loop._loop.__globals__, now_ns=_virtual_now, sleep_until=_virtual_sleep)
        if "boot_ns" in names:
            names["boot_ns"] = _virtual_now
        copy = types.FunctionType(real_loop._loop.__code__, names, "_loop_in_virtual_time")
        _kernels.append(njit(LOOP, nogil=True, error_model="numpy")(copy))
    return _kernels[0]


class VirtualLoop(RealTimeLoop):
    """The server's loop on a clock that ``advance`` moves.

    Parameters
    ----------
    awaited : called instead of waiting for the force that answers a sample.
    """

    def __init__(self, assembly: Any, awaited: Callable[[], Any]) -> None:
        self._awaited_call: Callable[[], Any] = lambda: None  # while the loop warms up
        super().__init__(assembly)
        self._kernel, self._awaited_call = loop_kernel(), awaited

    def begin(self, now_ns: int) -> None:
        """Start the thread; the first tick comes with the next deadline."""
        self._io.timespec[0], self._io.timespec[1] = now_ns, 0
        self._thread = threading.Thread(
            target=self._kernel,
            args=(
                self._step, self.assembly.plan, self.state, self._input, self._output, self._workspace,
                self._pending, self._io,
            ),
            daemon=True,
        )  # fmt: skip
        self._thread.start()
        self._settle(now_ns)

    def advance(self, now_ns: int) -> None:
        """Take the ticks that are due by then."""
        self._io.timespec[0] = now_ns
        self._settle(now_ns)

    def _settle(self, now_ns: int) -> None:
        waited = 0
        while self._io.timespec[1] <= now_ns:
            real_sleep(1e-5)
            waited += 1
            if waited > 200_000:
                raise RuntimeError("the loop in virtual time does not come back: a defect of the rig.")

    def await_force(self, sender_s: float, due_s: float, longest_s: float) -> bool:
        self._awaited_call()
        return True

    def end(self) -> None:
        """Let the thread run out."""
        self._io.control[0] = 1
        self._io.timespec[0] += 1_000_000_000
        if self._thread is not None:
            self._thread.join(2.0)
