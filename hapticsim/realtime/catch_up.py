"""A state that was true some ticks ago, brought to the loop's present tick and handed to it.

The ticks that the loop took since are re-run with the inputs in the rows they left, on the caller's thread:
the loop's own time is not touched.  It takes the outcome between two ticks, if it is true before the very
tick that comes next; else the row that came meanwhile is re-run too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int64, njit, types

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.entry import compile_called, step_at
from hapticsim.kernels.machine_code.called import Called
from hapticsim.kernels.memory.arrays import Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.command import COMMAND, apply_command, read_command
from hapticsim.kernels.memory.pack import pack_state, read_packed, state_size
from hapticsim.realtime.atomics import load_acquire, store_release, swap
from hapticsim.realtime.clock import now_ns, sleep_until
from hapticsim.realtime.correction import ASKED, MISSED, TAKEN
from hapticsim.realtime.exchange import ADOPTION, Exchange

LOOK_NS = 50_000  # between two looks whether the loop has taken another tick, or the state
SAFE_ROWS = 64  # of a ring that may be written over before they are read


@njit(nogil=True)
def row_of(io, tick):
    """Index of the row that a tick left, or -1 where it is not there (yet, or any more)."""
    head, rows = load_acquire(io.ring_places, 0), io.ring.shape[0]
    if head == 0:
        return -1
    back = int(io.ring[(head - 1) % rows, 1]) - tick
    if back < 0 or back >= min(head, rows - SAFE_ROWS):
        return -1
    i = (head - 1 - back) % rows
    return i if int(io.ring[i, 1]) == tick else -1


@njit(nogil=True)
def newest_tick(io):
    """The tick of the newest row, -1 before the first."""
    head = load_acquire(io.ring_places, 0)
    return int(io.ring[(head - 1) % io.ring.shape[0], 1]) if head > 0 else -1


def _catch_up(step, plan, state, inp, out, ws, pending, io, command, packed, times, longest_ns):
    """Re-run, hand over; return 1 when the loop took it, 0 when rows were lost or the time was over."""
    take = step_at(step)
    timespec, rest = times[0], times[1]
    last = now_ns(timespec) + longest_ns
    while now_ns(timespec) < last:
        if newest_tick(io) >= state.tick[0]:
            i = row_of(io, state.tick[0])
            if i < 0:
                return 0
            read_command(io.ring[i], command)
            apply_command(command, inp)
            take(plan, state, inp, out, ws)
            continue
        pack_state(state, packed)
        read_packed(packed, pending)
        store_release(io.control, ADOPTION, ASKED)
        while load_acquire(io.control, ADOPTION) == ASKED:
            sleep_until(now_ns(timespec) + LOOK_NS, timespec, rest)
            if now_ns(timespec) > last and swap(io.control, ADOPTION, ASKED, 0):  # taken back
                return 0
        while True:
            now = load_acquire(io.control, ADOPTION)
            if now == TAKEN:
                return 1
            if now == MISSED:  # the loop was a tick further already
                break
        while newest_tick(io) < state.tick[0] and now_ns(timespec) < last:  # its row is about to come
            sleep_until(now_ns(timespec) + LOOK_NS, timespec, rest)
    return 0


_BLOCKS = (Plan._type, State._type, Input._type, Output._type, Workspace._type)
_vector, _times = types.Array(types.float64, 1, "C"), types.Array(types.int64, 2, "C")
CATCH_UP = Called(
    _catch_up,
    types.int64(int64, *_BLOCKS, State._type, Exchange._type, _vector, _vector, _times, int64),
    __name__,
)


class CatchUp:
    """Brings states to the present of one loop.

    Parameters
    ----------
    assembly : what runs.
    io : exchange of the loop.
    step : address of the tick.
    pending : where the loop looks for a state to adopt.
    progress : called with a line when something has to be compiled.
    """

    def __init__(
        self,
        assembly: Assembly,
        io: Exchange,
        step: int,
        pending: State,
        progress: Callable[[str], Any] | None = None,
    ) -> None:
        self._assembly, self._io, self._step, self._pending = assembly, io, step, pending
        self._input, self._output = assembly.new_input(), assembly.new_output()
        self._workspace = assembly.new_workspace()
        self._command, self._packed = np.zeros(COMMAND), np.zeros(state_size(pending))
        self._times = np.zeros((2, 2), np.int64)
        self._kernel = compile_called(CATCH_UP, progress)

    def run(self, state: State, longest_s: float) -> bool:
        """Advance a state to the loop's present tick and hand it over; False where that was not possible."""
        self._input.switch[:] = state.switched  # what was asked is done: nothing is switched on the way
        taken = self._kernel(
            self._step, self._assembly.plan, state, self._input, self._output, self._workspace,
            self._pending, self._io, self._command, self._packed, self._times, round(1e9 * longest_s),
        )  # fmt: skip
        return bool(taken)
