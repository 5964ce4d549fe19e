"""The tick against the clock: one compiled call from start to stop, on a thread of its own.

Per tick: sleep to shortly before the deadline, spin to it, read the device slot, step, write the force slot,
record. It holds no GIL, takes no lock and allocates nothing.  A tick that ends after the next deadline skips
what was missed and counts it; it never catches up in a burst.

While it slept others had the processor, and its caches.  So the tick is rehearsed in the time in which the
loop would spin: on a copy of the state, with the input of the tick before, into an output that nobody reads.
The workspace is that of the tick, which carries nothing over.  A rehearsal looks for no event, and a
time step stops in it before contacts are solved: what makes a tick long, as an impact, is done once.

A scheduled loop (a remote site) takes the tick for which it has a command, and lets the deadline pass where
it has none: its time is the sequence of commands.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import int64, types

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import DeviceFlag, Event, Fault, Safety
from hapticsim.kernels.entry import compile_called, step_address, step_at
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.machine_code.cache import kept
from hapticsim.kernels.machine_code.called import Called
from hapticsim.kernels.memory.arrays import REHEARSAL, Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.command import COMMAND
from hapticsim.kernels.memory.pack import unpack_state
from hapticsim.realtime.atomics import load_acquire, store_release, swap
from hapticsim.realtime.catch_up import CatchUp
from hapticsim.realtime.clock import (
    boot_ns,
    deadline_after,
    learn_early,
    lock_memory,
    now_ns,
    request_priority,
    sleep_until,
    suspended_ns,
)
from hapticsim.realtime.correction import ASKED, TAKEN, WHOLE, ease, take_over
from hapticsim.realtime.exchange import (
    ADOPTION,
    DEVICE,
    EVENT_ROWS,
    FLAGS,
    FORCE,
    LATEST,
    LONGEST,
    MISSED_TICKS,
    RING_ROWS,
    ROTATION,
    ROTATION_GAINS,
    RUNNING,
    SENDER,
    STARVED,
    STOP,
    TAKEN_TICKS,
    Exchange,
    allocate_exchange,
    clear_schedule,
    has_command,
    sample_input,
    schedule_command,
    write_choices,
    write_events,
    write_force,
    write_row,
    write_state,
)
from hapticsim.realtime.force_wait import await_force
from hapticsim.realtime.slots import drain, read_slot, write_slot
from hapticsim.realtime.stats import count_duration, percentiles_us

PRIORITY = 80
ROOM = 2  # times as long as rehearsals take: what has to be left until a deadline for one
EARLIER = 4  # the loop wakes earlier for a rehearsal, by no more than a period divided by this
FOLLOW = 8  # rehearsals over which their time is averaged
LOOKS = 10  # at two clocks, for their difference
UPRIGHT, STILL = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def _loop(step, plan, state, inp, out, ws, rehearsed, unseen, pending, io):
    """Take ticks until asked to stop (see the module).

    rehearsed, unseen   State and Output of rehearsals.
    """
    take = step_at(step)
    rehearsal = 0  # [ns] that one takes, or a tick without one
    deadline = deadline_after(now_ns(io.timespec) + io.period_ns, io.period_ns)
    last = deadline - io.period_ns
    for _ in range(LOOKS):  # at the difference of the two clocks: the largest is the true one
        io.asleep[0] = max(io.asleep[0], boot_ns(io.timespec) - now_ns(io.timespec))
    store_release(io.control, RUNNING, 1)
    while load_acquire(io.control, STOP) == 0:
        now = now_ns(io.timespec)
        cold = True
        while now < deadline:
            room = rehearsal * ROOM
            wake = deadline - io.early_ns[0] - (room if room <= io.period_ns // EARLIER else 0)
            slept = wake > now
            if slept:
                sleep_until(wake, io.timespec, io.rest)
            now = now_ns(io.timespec)
            if slept and now > wake:
                learn_early(io.early_ns, now - wake)
            if slept and 0 < rehearsal * ROOM < deadline - now:
                begun = now
                copy(state.words, rehearsed.words)
                take(plan, rehearsed, inp, unseen, ws)
                now = now_ns(io.timespec)
                rehearsal += (now - begun - rehearsal) // FOLLOW
                cold = False
        late = now - deadline

        corrected = take_over(pending, state, io)
        if not has_command(state, io):
            deadline += io.period_ns
            if now > deadline:
                deadline = deadline_after(now, io.period_ns)
            continue
        boot = boot_ns(io.timespec)
        suspended = suspended_ns(io.asleep, boot, now_ns(io.timespec))
        sample_input(state, inp, io, now, now - last, suspended)
        last = now
        tick = state.tick[0]
        take(plan, state, inp, out, ws)
        ease(plan, state, inp, out, io, corrected)
        write_force(state, out, io, tick, now)
        write_state(state, io)
        finished = now_ns(io.timespec)
        write_row(state, inp, out, io, tick * plan.tick_s, tick, late, finished - now)
        write_choices(out, io, tick)
        write_events(out, io, tick)

        finished = now_ns(io.timespec)
        if cold:
            rehearsal += (finished - now - rehearsal) // (FOLLOW if rehearsal > 0 else 1)
        count_duration(io.lateness, io.largest, LATEST, late)
        count_duration(io.execution, io.largest, LONGEST, finished - now)
        io.largest[TAKEN_TICKS] += 1
        deadline += io.period_ns + load_acquire(io.trim, 0)
        if finished > deadline:
            skipped = (finished - deadline) // io.period_ns + 1
            io.largest[MISSED_TICKS] += skipped
            deadline += skipped * io.period_ns
    store_release(io.control, RUNNING, 2)


LOOP = Called(
    _loop,
    types.void(
        int64,
        Plan._type,
        State._type,
        Input._type,
        Output._type,
        Workspace._type,
        State._type,
        Output._type,
        State._type,
        Exchange._type,
    ),
    __name__,
)


class RealTimeLoop:
    """Run an assembly against the clock, on one thread that never holds the GIL.

    Parameters
    ----------
    assembly : what to step.
    scheduled : take inputs from the schedule by tick (a remote site) instead of the newest device sample.
    corrected : a state of some ticks ago can be handed to it (``catch_up``), as an operator's side does.
    progress : called with a line when something has to be compiled.

    While the loop runs ``read_force``, ``torque`` and what is asked of it may be called from any thread, each
    other function from one thread at a time; ``write_device`` from one thread only.
    """

    def __init__(
        self,
        assembly: Assembly,
        scheduled: bool = False,
        corrected: bool = True,
        progress: Callable[[str], Any] | None = None,
    ) -> None:
        self.assembly = assembly
        self.state = assembly.new_state()
        self._input, self._output = assembly.new_input(), assembly.new_output()
        self._workspace, self._pending = assembly.new_workspace(), self.state.copy()
        self._rehearsed, self._unseen = self.state.copy(), assembly.new_output()
        self._unseen.counts[REHEARSAL] = 1
        self.columns = assembly.columns
        width = len(self.columns)
        period = round(1e9 / assembly.scene.rate_Hz)
        self._io = allocate_exchange(period, scheduled, width, self.state)
        self._step = step_address(progress)
        self._kernel = compile_called(LOOP, progress)
        self._thread: threading.Thread | None = None
        self._rows = np.zeros((RING_ROWS, width))
        self._events = np.zeros((EVENT_ROWS, 5))
        self._choices = np.zeros_like(self._io.choice_ring)
        self._device = np.zeros(DEVICE)
        self._readers = threading.local()  # a copy of the force for each thread that reads it
        self._catch_up: CatchUp | None = None
        if corrected:
            self._catch_up = CatchUp(assembly, self._io, self._step, self._pending, progress)
        self._awaited, self._times = np.zeros((2, FORCE)), np.zeros((2, 2), np.int64)
        self.scheduling = "not started"
        warm_up(self)

    # -- life ------------------------------------------------------------------------------------------------

    def start(self, realtime_priority: bool = True) -> None:
        """Start ticking; returns when the first deadline is set."""
        ready = threading.Event()

        def body() -> None:
            self.scheduling = (
                request_priority(PRIORITY) if realtime_priority else "normal priority (as asked)"
            )
            ready.set()
            self._kernel(
                self._step, self.assembly.plan, self.state, self._input, self._output, self._workspace,
                self._rehearsed, self._unseen, self._pending, self._io,
            )  # fmt: skip

        locked = ""
        if realtime_priority:
            locked = f", {lock_memory()}"
            for _, array in self._io.items():
                if isinstance(array, np.ndarray):
                    array += 0  # every page touched, hence locked, before the clock matters
        gc.collect()
        gc.freeze()
        self._thread = threading.Thread(target=body, name="hapticsim-loop", daemon=True)
        self._thread.start()
        ready.wait(5.0)
        self.scheduling += locked

    def stop(self) -> None:
        """Stop after the present tick."""
        self._io.control[STOP] = 1
        if self._thread is not None:
            self._thread.join(2.0)
            gc.unfreeze()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    # -- in --------------------------------------------------------------------------------------------------

    def write_device(
        self,
        position: Any,
        velocity: Any,
        stamp_ns: int,
        present: bool,
        arms: int,
        disarms: int,
        sender: float,
        quaternion: Any = UPRIGHT,
        angular_velocity: Any = STILL,
        flags: int = DeviceFlag.READY,
    ) -> None:
        """Newest device sample: (3,) [m], (3,) [m/s] in device axes, and when it was taken.

        quaternion (4,) w, x, y, z of the device's handle, angular_velocity (3,) [rad/s]; device axes.
        flags : bits of ``codes.DeviceFlag``.
        """
        d = self._device
        d[0:3], d[3:6] = position, velocity
        d[ROTATION : ROTATION + 4], d[ROTATION + 4 : ROTATION + 7] = quaternion, angular_velocity
        d[6], d[7], d[8], d[9], d[SENDER] = 1e-9 * stamp_ns, float(present), arms, disarms, sender
        d[FLAGS] = flags
        write_slot(self._io.device_count, self._io.device_slot, d)

    def write_gains(self, gains: np.ndarray, rotation: Any = STILL) -> None:
        """(3,) coupler stiffness [N/m], damping [N s/m], force limit on the hand [N]; and of the rotation.

        rotation (3,) stiffness [N m/rad], damping [N m s/rad], torque limit on the hand [N m].
        """
        self._device[10:13] = gains
        self._device[ROTATION_GAINS : ROTATION_GAINS + 3] = rotation
        write_slot(self._io.device_count, self._io.device_slot, self._device)

    def switch(self, constraint: int, held: bool) -> None:
        """Ask a constraint, by its number, to hold or to let go at the next tick."""
        asked = int(_load(self._io.switch, constraint))
        _store(self._io.switch, constraint, 2 * (asked // 2 + 1) + int(held))

    def schedule(self, tick: int, command: np.ndarray) -> None:
        """Command (COMMAND,) for a tick to come, at most SCHEDULE_ROWS - 1 after the present one."""
        schedule_command(self._io, tick, command)

    def clear_schedule(self, timeout_s: float = 1.0) -> bool:
        """Forget the commands that wait; True when the loop stands still for want of one."""
        clear_schedule(self._io)
        _store(self._io.waiting, 0, 0)
        end = time.monotonic() + timeout_s
        while self.running and not _load(self._io.waiting, 0):
            if time.monotonic() > end:
                return False
            time.sleep(0.0002)
        return True

    def trim(self, ns: int) -> None:
        """Make every period longer by this (shorter where negative)."""
        _store(self._io.trim, 0, max(ns, -self._io.period_ns // 2))

    def watch_link(self, until_s: float) -> None:
        """Take the force away when this monotonic time has come: until then, what the remote site said
        counts."""
        _store(self._io.link, 1, round(1e9 * until_s))
        _store(self._io.link, 0, 1)

    def adopt(self, state: State, timeout_s: float = 0.1) -> bool:
        """Have the loop take over coordinates, speeds and contacts at its next tick; False if not."""
        self._pending.take(state)
        self._pending.tick[0] = -1  # whichever tick comes next
        return self._ask(ASKED, timeout_s)

    def catch_up(self, state: State, timeout_s: float = 0.1) -> bool:
        """Re-run the ticks taken since ``state`` was true, and have the loop take over what comes out.

        The loop takes it between two ticks without a jump in time; ``state`` is advanced.  False where rows
        of these ticks are lost, or where it did not come about in time.
        """
        assert self._catch_up is not None, "the loop was not made to be corrected"
        return self._catch_up.run(state, timeout_s)

    def take_whole(self, packed: np.ndarray, timeout_s: float = 0.1) -> bool:
        """Take a packed state with its tick and safety, at once or, while running, at the next deadline."""
        if self._thread is None:
            unpack_state(packed, self.state)
            write_state(self.state, self._io)
            return True
        self._io.whole[:] = packed
        return self._ask(WHOLE, timeout_s)

    def _ask(self, what: int, timeout_s: float) -> bool:
        control = self._io.control
        _store(control, ADOPTION, what)
        end = time.monotonic() + timeout_s
        while _load(control, ADOPTION) != TAKEN:
            if time.monotonic() > end and _swap(control, ADOPTION, what, 0):  # taken back
                return False
            time.sleep(0.0002)
        return True

    # -- out -------------------------------------------------------------------------------------------------

    def read_force(self) -> tuple[np.ndarray, Safety, Fault, int, float, float]:
        """Force on the hand (3,) [N], safety, fault, tick, its stamp [s], stamp of the sample.

        The array is the calling thread's, until it reads again.
        """
        f, scratch = self._own_force()
        read_slot(self._io.force_count, self._io.force_slot, scratch, f)
        return f[:3], Safety(int(f[3])), Fault(int(f[4])), int(f[5]), float(f[6]), float(f[7])

    def await_force(self, sender_s: float, due_s: float, longest_s: float) -> bool:
        """Wait for the force that answers the device sample with this stamp of its sender [s].

        False at once where no tick is due within due_s, and after longest_s where none answered by then.
        """
        due_ns, longest_ns = round(1e9 * due_s), round(1e9 * longest_s)
        return bool(await_force(self._io, sender_s, due_ns, longest_ns, self._awaited, self._times))

    @property
    def torque(self) -> np.ndarray:
        """(3,) [N m] on the hand: what goes with the force that the calling thread read last."""
        return self._own_force()[0][8:11]

    def _own_force(self) -> np.ndarray:
        """(2, FORCE) of the calling thread: its newest copy of the force slot, and scratch."""
        if not hasattr(self._readers, "rows"):
            self._readers.rows = np.zeros((2, FORCE))
        rows: np.ndarray = self._readers.rows
        return rows

    def read_state(self) -> np.ndarray:
        """Packed state (kernels/memory/pack.py) after the newest tick; a copy."""
        row, scratch = np.empty((2, self._io.state_slot.size))
        while read_slot(self._io.state_count, self._io.state_slot, scratch, row) < 0:  # it is being written
            time.sleep(1e-5)
        return row

    def drain(self) -> np.ndarray:
        """Rows (n, columns) since the last call, oldest first; a view that the next call overwrites."""
        return self._rows[: drain(self._io.ring_places, self._io.ring, self._rows)]

    def drain_events(self) -> list[tuple[int, Event, int, float, float]]:
        """Events since the last call: tick, kind, contact, value, time in the tick [s]."""
        n = drain(self._io.event_places, self._io.event_ring, self._events)
        return [(int(t), Event(int(k)), int(c), float(v), float(s)) for t, k, c, v, s in self._events[:n]]

    def drain_choices(self) -> np.ndarray:
        """Choices of speeds (n, 1 + CHOICE + 3 nu) since the last call: tick, a row of Output.choices; a view
        that the next call overwrites."""
        return self._choices[: drain(self._io.choice_places, self._io.choice_ring, self._choices)]

    def taken(self) -> int:
        """Ticks taken."""
        return int(self._io.largest[TAKEN_TICKS])

    def waited(self) -> int:
        """Periods in which a scheduled loop had no command for its next tick."""
        return int(self._io.control[STARVED])

    def statistics(self) -> dict[str, Any]:
        """Ticks, missed ticks, lateness and execution percentiles [us], rows the outlet lost."""
        io = self._io
        return {
            "ticks": self.taken(),
            "missed": int(io.largest[MISSED_TICKS]),
            "lateness_us": percentiles_us(io.lateness, int(io.largest[LATEST])),
            "execution_us": percentiles_us(io.execution, int(io.largest[LONGEST])),
            "rows_lost": int(io.ring_places[2]),
            "starved": self.waited(),
            "interruptions": int(self.state.interruption[2]),
            "longest_interruption_ms": 1e3 * float(self.state.interruption[3]),
            "scheduling": self.scheduling,
        }

    def reset_statistics(self) -> None:
        """Start the histograms anew (a count may slip through while the loop writes)."""
        self._io.lateness[:] = 0
        self._io.execution[:] = 0
        self._io.largest[:] = 0


@kept
def _load(array, i):
    return load_acquire(array, i)


@kept
def _store(array, i, value):
    store_release(array, i, value)


@kept
def _swap(array, i, expected, value):
    return swap(array, i, expected, value)


def warm_up(loop: RealTimeLoop) -> None:
    """Compile every small hand-over function before the clock matters."""
    loop.write_device((0, 0, 0), (0, 0, 0), 0, False, 0, 0, 0.0)
    loop.read_force()
    loop.await_force(0.0, 0.0, 0.0)
    loop.read_state()
    if loop._io.scheduled:
        loop.schedule(-1, np.zeros(COMMAND))
        clear_schedule(loop._io)
    write_state(loop.state, loop._io)
    loop.drain()
    loop.drain_events()
    loop.drain_choices()
    _store(loop._io.control, ADOPTION, _load(loop._io.control, ADOPTION))
    _swap(loop._io.control, ADOPTION, ASKED, 0)
