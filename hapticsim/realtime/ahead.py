"""Looking ahead: a fork of the run, some tens of milliseconds ahead of it, on a thread of its own.

Again and again it takes the newest state and device sample, goes on from there with the hand moving as it
does, and publishes which guards fire at which tick, how they bend (events/crossing.py), which speeds are
chosen and which contacts push then.  The loop hands that to its tick as ``Input.hint``; what the tick makes
of it is corrected by what it finds, so that a wrong forecast costs a trial step and changes nothing.
Commands are not foreseen.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import float64, int64, njit, types

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.entry import compile_cached, step_address, step_at
from hapticsim.kernels.memory.arrays import CHOICE, Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.block import Block, Int, IntVector, Vector
from hapticsim.kernels.memory.pack import read_packed
from hapticsim.kernels.memory.sample import MASK_BITS
from hapticsim.realtime.atomics import load_acquire
from hapticsim.realtime.clock import now_ns, request_priority, sleep_until
from hapticsim.realtime.exchange import (
    DEVICE,
    FLAGS,
    FORECAST,
    FORESEEN,
    TURN,
    TURN_GAINS,
    Exchange,
    take_hints,
)
from hapticsim.realtime.slots import read_slot, write_slot

PRIORITY = 10  # below every thread that a force waits for
LOOKS = 4  # per horizon
REST = 3  # times as long as a look took, it rests: at most a quarter of a processor


class Glance(Block):
    """What the thread needs beside the blocks of a tick."""

    ticks: Int  # how far to look
    every_ns: Int  # between the starts of two looks
    packed: Vector  # (state_size,)
    sample: Vector  # (DEVICE,)
    scratch: Vector  # as long as the longer slot read
    found: Vector  # (FORECAST FORESEEN,) as Exchange.foreseen_slot
    looks: IntVector  # (1,) int, looks taken
    timespec: IntVector  # (2,) int, scratch
    rest: IntVector  # (2,) int, scratch


@njit(nogil=True)
def _mask(order, rank):
    """The first rank speeds of order as a sum of 2^r, 0 when a number cannot hold it."""
    bits = 0
    for i in range(rank):
        if order[i] >= MASK_BITS:
            return 0.0
        bits |= 1 << int(order[i])
    return float(bits)


@njit(nogil=True)
def _collect(tick, out, nu, found, n):
    """Append what the last tick located, chose and pushed to found, from event n on; return their number."""
    crossings = min(out.counts[5], out.located.shape[0])
    choices = min(out.counts[4], out.choices.shape[0])
    pushes = min(out.counts[8], out.pushed.size)
    for i in range(max(crossings, choices, pushes)):
        guard, bend, mask, pushing = -1.0, 0.0, 0.0, 0.0
        if i < crossings:
            guard, bend = out.located[i, 0], out.located[i, 1]
        if i < choices and out.choices[i, 2] == out.choices[i, 3]:
            mask = _mask(out.choices[i, CHOICE : CHOICE + nu], int(out.choices[i, 2]))
        if i < pushes:
            pushing = out.pushed[i]
        if n < FORESEEN and (guard >= 0.0 or mask > 0.0 or pushing > 0.0):
            k = FORECAST * n
            found[k], found[k + 1], found[k + 2] = tick, guard, bend
            found[k + 3], found[k + 4] = mask, pushing
            n += 1
    return n


@njit(nogil=True)
def _move_on(inp, tick_s):
    """Let the device move for a tick with the velocity and angular velocity (device axes) it has."""
    for j in range(3):
        inp.device[j] += tick_s * inp.device[3 + j]
    w, x, y, z = inp.turn[0], inp.turn[1], inp.turn[2], inp.turn[3]
    a, b, c = inp.turn[4], inp.turn[5], inp.turn[6]
    h = 0.5 * tick_s
    inp.turn[0] -= h * (a * x + b * y + c * z)
    inp.turn[1] += h * (a * w + b * z - c * y)
    inp.turn[2] += h * (b * w + c * x - a * z)
    inp.turn[3] += h * (c * w + a * y - b * x)
    size = 0.0
    for j in range(4):
        size += inp.turn[j] * inp.turn[j]
    for j in range(4):
        inp.turn[j] /= math.sqrt(size)


@njit(nogil=True)
def foresee(step, plan, state, inp, out, ws, ticks, found):
    """Take ticks with the device moving on as it does, and write to found what happens; state is advanced."""
    take = step_at(step)
    n = 0
    for _ in range(ticks):
        tick = state.tick[0]
        take(plan, state, inp, out, ws)
        n = _collect(tick, out, state.u.size, found, n)
        _move_on(inp, plan.tick_s)
    for i in range(n, FORESEEN):
        found[FORECAST * i] = -1.0


@njit(nogil=True)
def _sample_newest(inp, io, own):
    """The newest device sample and switch requests, taken as fresh."""
    read_slot(io.device_count, io.device_slot, own.scratch, own.sample)
    for j in range(6):
        inp.device[j] = own.sample[j]
    inp.device[6] = 0.0
    inp.device[7] = own.sample[7]
    inp.flags[0] = int(own.sample[FLAGS])
    inp.requests[0], inp.requests[1] = int(own.sample[8]), int(own.sample[9])
    for j in range(3):
        inp.coupler[j] = own.sample[10 + j]
        inp.turn_coupler[j] = own.sample[TURN_GAINS + j]
    for j in range(7):
        inp.turn[j] = own.sample[TURN + j]
    for c in range(inp.switch.size):
        inp.switch[c] = load_acquire(io.switch, c)


def _ahead(step, plan, state, inp, out, ws, io, own):
    """Look ahead until the loop is asked to stop."""
    while load_acquire(io.control, 0) == 0:
        start = now_ns(own.timespec)
        if read_slot(io.state_count, io.state_slot, own.scratch, own.packed) > 0:
            read_packed(own.packed, state)
            _sample_newest(inp, io, own)
            foresee(step, plan, state, inp, out, ws, own.ticks, own.found)
            write_slot(io.foreseen_count, io.foreseen_slot, own.found)
            own.looks[0] += 1
        spent = now_ns(own.timespec) - start
        sleep_until(start + max(own.every_ns, (1 + REST) * spent), own.timespec, own.rest)


_BLOCKS = (Plan._type, State._type, Input._type, Output._type, Workspace._type)
AHEAD = types.void(int64, *_BLOCKS, Exchange._type, Glance._type)
FORESEE = types.void(int64, *_BLOCKS, int64, float64[::1])


class Ahead:
    """The thread that looks ahead of one loop.

    Parameters
    ----------
    assembly : what runs; its scene says how far to look.
    io : exchange of the loop.
    step : address of the tick.
    progress : called with a line when something has to be compiled.
    """

    def __init__(
        self, assembly: Assembly, io: Exchange, step: int, progress: Callable[[str], Any] | None = None
    ) -> None:
        ticks = max(1, round(assembly.scene.anticipate_s * assembly.scene.rate_Hz))
        self._own = Glance(
            ticks=ticks,
            every_ns=max(1, ticks // LOOKS) * io.period_ns,
            packed=np.zeros(io.state_slot.size),
            sample=np.zeros(DEVICE),
            scratch=np.zeros(max(DEVICE, io.state_slot.size)),
            found=np.full(FORECAST * FORESEEN, -1.0),
            looks=np.zeros(1, np.int64),
            timespec=np.zeros(2, np.int64),
            rest=np.zeros(2, np.int64),
        )
        self._kernel = compile_cached(_ahead, AHEAD, progress)
        self._arguments = (step, assembly.plan, *_fork(assembly), io, self._own)
        self._thread: threading.Thread | None = None

    @property
    def looks(self) -> int:
        """How many times it looked."""
        return int(self._own.looks[0])

    def start(self, realtime_priority: bool) -> None:
        """Start looking; it ends with the loop."""

        def body() -> None:
            if realtime_priority:
                request_priority(PRIORITY)
            self._kernel(*self._arguments)

        self._thread = threading.Thread(target=body, name="hapticsim-ahead", daemon=True)
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for its end."""
        if self._thread is not None:
            self._thread.join(timeout_s)


class Foresight:
    """The same in virtual time.

    Parameters
    ----------
    assembly : what runs.
    """

    def __init__(self, assembly: Assembly, progress: Callable[[str], Any] | None = None) -> None:
        self._plan, self._step = assembly.plan, step_address(progress)
        self._state, self._input, self._output, self._workspace = _fork(assembly)
        self._kernel = compile_cached(foresee.py_func, FORESEE, progress)
        self.found = np.full(FORECAST * FORESEEN, -1.0)

    def look(self, state: State, inp: Input, ticks: int) -> np.ndarray:
        """Return (FORESEEN, FORECAST) what happens within so many ticks: tick or -1, a row of ``Input.hint``.

        state, inp : of the run; neither is changed.
        """
        self._state.take(state)
        for name, array in self._input.items():
            if name != "hint":
                array[...] = getattr(inp, name)
        self._kernel(
            self._step, self._plan, self._state, self._input, self._output, self._workspace, ticks, self.found
        )
        return self.found.reshape(-1, FORECAST)

    def tell(self, inp: Input, tick: int) -> None:
        """Write what was foreseen for a tick to its input."""
        take_hints(self.found, tick, inp.hint)


def _fork(assembly: Assembly) -> tuple[State, Input, Output, Workspace]:
    """Blocks of its own: the fork must not disturb the run, and takes no hints itself."""
    inp = assembly.new_input()
    inp.hint[:, 0] = -1.0
    return assembly.new_state(), inp, assembly.new_output(), assembly.new_workspace()
