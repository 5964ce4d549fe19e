"""What the loop shares with other threads, and the compiled code that reads and writes it."""

from __future__ import annotations

import numpy as np
from numba import njit

from hapticsim.kernels.machine_code.cache import kept
from hapticsim.kernels.memory.arrays import CHOICE, CHOICES, EVENTS, FAULTS, MODE, State
from hapticsim.kernels.memory.block import Block, Int, IntVector, Matrix, Vector
from hapticsim.kernels.memory.command import COMMAND, apply_command
from hapticsim.kernels.memory.pack import pack_state, state_size
from hapticsim.kernels.memory.sample import fill_row
from hapticsim.realtime.atomics import fence, load_acquire, store_release
from hapticsim.realtime.slots import claim_row, publish_row, read_slot
from hapticsim.realtime.stats import BINS

EARLY_NS = 60_000  # the loop wakes at least this long before the deadline and spins,
MOST_EARLY = 10  # and at most this part of a period where that is more: others want the processor
RING_ROWS = 4096  # about 4 s at 1 kHz before the recorder loses rows
EVENT_ROWS = 1024
CHOICE_ROWS = 256
SCHEDULE_ROWS = 8192  # ticks ahead for which a command may wait

# Device slot: position 3, velocity 3, stamp [s], present, arm requests, disarm requests, coupler stiffness,
# damping and force limit, stamp of the sender, orientation 4, angular velocity 3, stiffness, damping and
# torque limit of its coupler, flags.
DEVICE = 25
SENDER = 13
ROTATION, ROTATION_GAINS, FLAGS = 14, 21, 24  # where they begin
FORCE = 11  # slot: force 3, safety, fault, tick, stamp [s], stamp of the sample it answers, torque 3
ANSWERED = 7


# Exchange.control: stop (others), running (loop), a state to adopt (correction.py; both), periods in which
# the command of the next tick had not come (loop)
STOP, RUNNING, ADOPTION, STARVED = range(4)
# Exchange.largest: largest lateness and execution [ns], missed ticks, ticks taken
LATEST, LONGEST, MISSED_TICKS, TAKEN_TICKS = range(4)


class Exchange(Block):
    """What the loop shares with other threads; who writes each is said."""

    period_ns: Int
    early_ns: IntVector  # (3,) int: how long before a deadline it wakes, least and most (loop)
    scheduled: Int  # 1: inputs come from the schedule by tick, 0: newest of the device slot
    control: IntVector  # (4,) int, STOP ...
    device_count: IntVector  # (1,) int, device slot (wire thread)
    device_slot: Vector  # (DEVICE,)
    force_count: IntVector  # (1,) int, force slot (loop)
    force_slot: Vector  # (FORCE,)
    schedule_tick: IntVector  # (SCHEDULE_ROWS,) int, tick for which the row holds a command (link thread)
    schedule: Matrix  # (SCHEDULE_ROWS, COMMAND)
    waiting: IntVector  # (1,) int, 1: there was no command at the last deadline (loop; others set it to 0)
    trim: IntVector  # (1,) int [ns] by which every period is longer (link thread)
    link: IntVector  # (2,) int: 1 when a remote site is to be heard, until when what was heard counts [ns]
    # (telemetry thread)
    easing: Vector  # (12,) of force and torque on the hand: offset that a correction left, last sent (loop)
    whole: Vector  # (state_size,) a packed state to be taken with its tick and safety (link thread)
    ring_places: IntVector  # (3,) int: head (loop), tail (outlet), dropped (loop)
    ring: Matrix  # (RING_ROWS, columns) one row per tick (loop)
    event_places: IntVector  # (3,) int
    event_ring: Matrix  # (EVENT_ROWS, 5) tick, codes.Event, contact, value, time in tick [s]
    choice_places: IntVector  # (3,) int
    choice_ring: Matrix  # (CHOICE_ROWS, 1 + CHOICE + 3 nu) tick, a row of Output.choices
    lateness: IntVector  # (BINS,) int (loop)
    execution: IntVector  # (BINS,) int (loop)
    largest: IntVector  # (4,) int, LATEST ... (loop)
    timespec: IntVector  # (2,) int, scratch
    rest: IntVector  # (2,) int, scratch
    asleep: IntVector  # (1,) int [ns]: how long the computer has been suspended since its start (loop)
    sample: Vector  # (DEVICE,) scratch
    state_count: IntVector  # (1,) int, state slot: the packed state after the newest tick (loop)
    state_slot: Vector  # (state_size,)
    scratch: Vector  # (DEVICE,) for a copy that may be torn
    switch: IntVector  # (nc,) int, as in Input: what was asked of the constraints (any thread)


@njit(nogil=True)
def adopt(source, target):
    """Take over coordinates, speeds, contacts and what the device is fixed to of another state.

    Time and safety stay.
    """
    for i in range(target.q.size):
        target.q[i] = source.q[i]
    for i in range(target.u.size):
        target.u[i] = source.u[i]
        target.order[i] = source.order[i]
    for i in range(target.mode.size):
        target.mode[i] = source.mode[i]
        target.friction[i] = source.friction[i]
    for i in range(target.face.size):
        target.face[i] = source.face[i]
        target.depth[i] = source.depth[i]
    for i in range(target.impulse.size):
        target.impulse[i] = source.impulse[i]
    for i in range(target.friction_impulse_W.shape[0]):
        for c in range(3):
            target.friction_impulse_W[i, c] = source.friction_impulse_W[i, c]
    for i in range(target.grip.size):
        target.grip[i] = source.grip[i]
        for c in range(3):
            target.slide_W[i, c] = source.slide_W[i, c]
    for i in range(target.deformation.shape[0]):
        target.yields[i] = source.yields[i]
        for c in range(3):
            target.deformation[i, c] = source.deformation[i, c]
    for i in range(target.still.size):
        target.still[i] = source.still[i]
    for i in range(target.combine.shape[0]):
        for j in range(target.combine.shape[1]):
            target.combine[i, j] = source.combine[i, j]
    target.rank[0], target.rank[1] = source.rank[0], source.rank[1]
    target.volume[0] = source.volume[0]
    for k in range(target.offset.size):
        target.offset[k] = source.offset[k]
    for i in range(3):
        target.origin_W[i] = source.origin_W[i]
        target.energy[i] = source.energy[i]
    for i in range(4):
        target.turn_offset[i] = source.turn_offset[i]


@njit(nogil=True)
def has_command(state, io):
    """Whether the tick to be taken has what it takes in: a device always has a newest sample, a schedule the
    command of this very tick, or none yet."""
    i = state.tick[0] % io.schedule_tick.size
    if io.scheduled == 0 or load_acquire(io.schedule_tick, i) == state.tick[0]:
        return True
    io.control[STARVED] += 1
    store_release(io.waiting, 0, 1)
    return False


@njit(nogil=True)
def sample_input(state, inp, io, now, gap_ns, suspended_ns):
    """Newest device sample, its age by the monotonic clock; or the command scheduled for this tick.

    gap_ns since the tick before, suspended_ns of the computer since then; a command brings its own.
    """
    for c in range(inp.switch.size):
        inp.switch[c] = load_acquire(io.switch, c)
    if io.scheduled == 1:
        apply_command(io.schedule[state.tick[0] % io.schedule_tick.size], inp)
        return
    d = inp.device
    inp.gap[0], inp.gap[1] = 1e-9 * gap_ns, 1e-9 * suspended_ns
    read_slot(io.device_count, io.device_slot, io.scratch, io.sample)
    for j in range(6):
        d[j] = io.sample[j]
    d[6] = max(1e-9 * now - io.sample[6], 0.0)
    d[7] = io.sample[7]
    inp.flags[0] = int(io.sample[FLAGS])
    inp.requests[0] = int(io.sample[8])
    inp.requests[1] = int(io.sample[9])
    for j in range(3):
        inp.coupler[j] = io.sample[10 + j]
        inp.rotation_coupler[j] = io.sample[ROTATION_GAINS + j]
    for j in range(7):
        inp.device_rotation[j] = io.sample[ROTATION + j]
    if load_acquire(io.link, 0) == 1:
        inp.link[0] = max(1e-9 * (now - load_acquire(io.link, 1)), 0.0)


@njit(nogil=True)
def write_force(state, out, io, tick, now):
    """Publish the force on the hand."""
    count, slot = io.force_count, io.force_slot
    store_release(count, 0, count[0] + 1)
    fence()
    for i in range(3):
        slot[i] = out.hand_force_D[i]
        slot[8 + i] = out.hand_torque_D[i]
    slot[3] = state.safety[MODE]
    slot[4] = state.safety[FAULTS]
    slot[5] = tick
    slot[6] = 1e-9 * now
    slot[ANSWERED] = io.sample[SENDER]
    store_release(count, 0, count[0] + 1)


@kept
def write_state(state, io):
    """Publish the packed state."""
    count = io.state_count
    store_release(count, 0, count[0] + 1)
    fence()
    pack_state(state, io.state_slot)
    store_release(count, 0, count[0] + 1)


@njit(nogil=True)
def write_row(state, inp, out, io, time_s, tick, late_ns, execution_ns):
    """One row for recorder and publisher."""
    i = claim_row(io.ring_places, io.ring.shape[0])
    if i < 0:
        return
    fill_row(state, inp, out, io.ring[i], time_s, tick, late_ns, execution_ns)
    publish_row(io.ring_places)


@njit(nogil=True)
def write_events(out, io, tick):
    """Events of the tick to the ring; what finds no room is counted as dropped."""
    for n in range(min(out.counts[EVENTS], out.events.shape[0])):
        i = claim_row(io.event_places, io.event_ring.shape[0])
        if i < 0:
            return
        io.event_ring[i, 0] = tick
        for j in range(4):
            io.event_ring[i, 1 + j] = out.events[n, j]
        publish_row(io.event_places)


@njit(nogil=True)
def write_choices(out, io, tick):
    """Choices of speeds of the tick to the ring, before the events that are about them."""
    for n in range(min(out.counts[CHOICES], out.choices.shape[0])):
        i = claim_row(io.choice_places, io.choice_ring.shape[0])
        if i < 0:
            return
        io.choice_ring[i, 0] = tick
        for j in range(out.choices.shape[1]):
            io.choice_ring[i, 1 + j] = out.choices[n, j]
        publish_row(io.choice_places)


@kept
def schedule_command(io, tick, command):
    """Put a command (COMMAND,) into the row of its tick; the row's last tick must have been taken."""
    i = tick % io.schedule_tick.size
    store_release(io.schedule_tick, i, -1)
    fence()
    for j in range(command.size):
        io.schedule[i, j] = command[j]
    store_release(io.schedule_tick, i, tick)


@kept
def clear_schedule(io):
    """Forget every command that waits."""
    for i in range(io.schedule_tick.size):
        store_release(io.schedule_tick, i, -1)


def early_at_first(period_ns: int) -> np.ndarray:
    """(3,) int [ns]: how long before a deadline the loop wakes at first, at least and at most."""
    least_ns = min(EARLY_NS, period_ns // 4)
    return np.array([least_ns, least_ns, max(least_ns, period_ns // MOST_EARLY)])


def allocate_exchange(period_ns: int, scheduled: bool, columns: int, state: State) -> Exchange:
    """An exchange at rest, with rings of rows of so many columns.

    Rings are written now: whoever writes to a page first waits for it, and that shall not be the loop.
    """
    return Exchange(
        period_ns=period_ns,
        early_ns=early_at_first(period_ns),
        scheduled=int(scheduled),
        control=np.zeros(4, np.int64),
        device_count=np.zeros(1, np.int64),
        device_slot=np.zeros(DEVICE),
        force_count=np.zeros(1, np.int64),
        force_slot=np.zeros(FORCE),
        schedule_tick=np.full(SCHEDULE_ROWS, -1, np.int64),
        schedule=np.zeros((SCHEDULE_ROWS, COMMAND)),
        waiting=np.zeros(1, np.int64),
        trim=np.zeros(1, np.int64),
        link=np.zeros(2, np.int64),
        easing=np.zeros(12),
        whole=np.zeros(state_size(state)),
        ring_places=np.zeros(3, np.int64),
        ring=np.full((RING_ROWS, columns), 0.0),
        event_places=np.zeros(3, np.int64),
        event_ring=np.full((EVENT_ROWS, 5), 0.0),
        choice_places=np.zeros(3, np.int64),
        choice_ring=np.full((CHOICE_ROWS, 1 + CHOICE + 3 * state.u.size), 0.0),
        lateness=np.zeros(BINS, np.int64),
        execution=np.zeros(BINS, np.int64),
        largest=np.zeros(4, np.int64),
        timespec=np.zeros(2, np.int64),
        rest=np.zeros(2, np.int64),
        asleep=np.zeros(1, np.int64),
        sample=np.zeros(DEVICE),
        state_count=np.zeros(1, np.int64),
        state_slot=np.zeros(state_size(state)),
        scratch=np.zeros(DEVICE),
        switch=np.zeros(state.switched.size, np.int64),
    )
