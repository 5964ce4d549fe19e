"""The tick: the one entry, the same for real and for virtual time.

sample -> couple -> integrate in pieces between events -> project -> report.  Everything is bounded:
Runge-Kutta stages, trial steps per crossing, events per tick.  Nothing is allocated, nothing is raised;
trouble is flags and counters.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event, Fault
from hapticsim.kernels.events.activation import CONFLICT, INCONSISTENT, let_go_adrift, release
from hapticsim.kernels.events.crossing import OVERLOOKED, advance_to_event
from hapticsim.kernels.events.guards import is_gap, read_guards, read_reported_guards, row_forces
from hapticsim.kernels.events.inside import overlook_unheld, sort_inside
from hapticsim.kernels.events.observe import copy, report
from hapticsim.kernels.events.resolve_contacts import LEAVE, touching
from hapticsim.kernels.events.switching import engage_by_touch, slip_or_break, switch_as_asked
from hapticsim.kernels.geometry.edges import feature, is_lost
from hapticsim.kernels.haptics.coupling import anchor, coupler_force, handle_motion
from hapticsim.kernels.haptics.hand import bound_power, command_hand, sample_turn, seat_turn
from hapticsim.kernels.haptics.oscillation import OSCILLATION, watch_swing
from hapticsim.kernels.haptics.safety import (
    ARMED_STRETCH,
    FAULT,
    asks_for_handle,
    take_force_away,
    update_safety,
)
from hapticsim.kernels.haptics.torque import sample_torques
from hapticsim.kernels.linalg.selection import KEEP_CHOICE
from hapticsim.kernels.machine_code.foreign import kinematics_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.energy import (
    END,
    FIRST,
    POWER,
    REFUSED,
    START,
    UNKNOWN,
    begin_balance,
    begin_piece,
    divide_piece,
    farthest,
    gained,
)
from hapticsim.kernels.motion.integrate import is_finite, largest_gap, largest_rate, project
from hapticsim.kernels.motion.stiffness import choose_method
from hapticsim.kernels.rows.constraint_rows import FREE, HELD, list_rows
from hapticsim.kernels.solve.embedding import scaled_volume
from hapticsim.kernels.solve.speed_selection import HALTED, OVERFLOW, record
from hapticsim.kernels.units import capture, choose_speeds, handle, resolve, settle, stage

CHATTER_SHARE = 2e-3  # of a tick: events nearer than this to the one before are chatter when there are
UNSEEN_DEPTH = 1e-5  # [m] by which a tick without events left may drive a shape in
LEAST_SHARE = 0.01  # of a tick that has to be over before it is halted: time must not stand still
CHATTERS = 4  # so many in a row, as of a body that rocks to rest between two corners
GAP_REDUNDANT = 1e-9  # [m] by which rows that counted as redundant may be off before a new look
RATE_REDUNDANT = 1e-7  # [m/s] the same for their rates: an integration step leaves 1e-9 in moderate motion
GAP_PUT = 1e-6  # [m] a contact that an event put onto its surface from further away turned its row with it
GROWN = 8.0  # a volume that grew so much means that a better choice may have come up
UNCHOSEN = 1e300  # a volume that none reaches: the speeds are chosen again
NOT_FINITE, EVENT_NOT_FINITE, EVENT_SAFETY = int(Fault.NOT_FINITE), int(Event.NOT_FINITE), int(Event.SAFETY)
ENERGY, EVENT_ENERGY = int(Fault.ENERGY), int(Event.ENERGY)
STRETCH = int(Fault.STRETCH)


@kernel
def start_piece(plan, state, inp, out, ws, t, m, again):
    """First stage of a piece at (ws.q0, ws.u0), put onto the m imposed rows, and the row forces there.

    The choice of speeds is watched here, and so are rows that were redundant and no longer are: these ask for
    an impulse, and unless this is done ``again`` after it, the speeds are left to it.  What projection moves
    is of the order of rounding, so the stage is kept.  Returns True when a contact pulls, or when the speeds
    ask for an impulse.
    """
    det = stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    ws.work[FIRST] = ws.work[POWER]
    if m == 0:
        return False
    rank, now = state.rank[0], scaled_volume(det, state.rank[0], state.order, ws.M)
    worse = not now > KEEP_CHOICE * state.volume[0] or now > GROWN * state.volume[0]
    off = rank < m and (largest_gap(ws, m) > GAP_REDUNDANT or largest_rate(ws, m) > RATE_REDUNDANT)
    if worse or off:
        choose_speeds(plan, state, ws, out, m, t)
        if again == 0 and 0 < rank < state.rank[0]:
            return True
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        ws.work[FIRST] = ws.work[POWER]
    if largest_of(ws.phi, ws.counts[0], m) > GAP_PUT:
        project(plan, state, ws, m)
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        ws.work[FIRST] = ws.work[POWER]
    for i in range(ws.counts[0], m):
        ws.part[i] = feature(plan, ws.rows[i], ws.X)
    pulls = row_forces(state, ws, m, ws.du[0])
    project(plan, state, ws, m)
    return pulls


@kernel
def largest_of(a, first, end):
    """Largest of |a[first]| .. |a[end - 1]|, 0 where there is none."""
    largest = 0.0
    for i in range(first, end):
        largest = max(largest, abs(a[i]))
    return largest


@kernel
def sample_coupler(plan, state, inp, out, ws):
    """Coupler at the start of the tick: what is published, and the command for the hand."""
    if plan.handle_frame < 0:
        return
    sample_turn(plan, state, inp, out, ws)
    px, py, pz, _, _, _ = anchor(plan, state, inp)
    _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    fx, fy, fz = coupler_force(plan, state, inp, ws, 0.0)
    stretch = math.sqrt((px - hx) ** 2 + (py - hy) ** 2 + (pz - hz) ** 2)
    if state.gain[0] > 0.0 and stretch > ARMED_STRETCH * plan.max_stretch_m:
        take_force_away(state, STRETCH)
        fx = fy = fz = 0.0
    out.anchor_W[0], out.anchor_W[1], out.anchor_W[2] = px, py, pz
    out.handle_W[0], out.handle_W[1], out.handle_W[2] = hx, hy, hz
    out.coupler_W[0], out.coupler_W[1], out.coupler_W[2] = fx, fy, fz
    command_hand(plan, state, inp, fx, fy, fz)
    bound_power(plan, state, inp)
    if watch_swing(plan, state, inp):
        take_force_away(state, OSCILLATION)
        copy(state.hand_torque_D, out.hand_torque_D)
    copy(state.hand_force_D, out.hand_force_D)


@kernel
def leave_lost_corners(plan, state, out, ws, m):
    """Delete the rows of corners that slid past the edge of their face; return the rows left."""
    for i in range(ws.counts[0], m):
        if is_lost(plan, state, ws.rows[i], ws.X):
            state.active[ws.rows[i]] = 0
            state.rank[0] = state.rank[1] = 0
            state.volume[0] = UNCHOSEN
            record(out, LEAVE, ws.rows[i], 0.0, 0.0)
    return list_rows(plan, state, ws)


@kernel
def fires_again(ws, guard):
    """Count a guard that fired; True when one of the same contact did so before in this tick."""
    nk = ws.fires.size
    if guard >= 2 * nk:
        return False
    k = guard if guard < nk else guard - nk
    ws.fires[k] += 1
    return ws.fires[k] > 1


@kernel
def pushes_in(state, ws):
    """True when the piece just integrated drives a free candidate deeper into its surface, by ws.guard1."""
    for k in range(state.active.size):
        if state.active[k] == 0 and ws.guard1[k] < -UNSEEN_DEPTH and ws.guard1[k] < ws.guard0[k]:
            return True
    return False


@kernel
def keep(state, ws):
    """Remember the state, to be taken back if the tick fails."""
    copy(ws.q0, ws.good_q)
    copy(ws.u0, ws.good_u)
    copy(state.hold, ws.good_hold)
    copy(state.active, ws.touched)
    copy(state.friction, ws.slip_force)


@kernel
def take_back(state, out, ws, fault):
    """Refuse the tick: the state at its start, at rest, nothing touching, and no force."""
    copy(ws.good_q, state.q)
    copy(ws.good_hold, state.hold)
    state.energy[0] = state.energy[1] = 0.0
    state.energy[2] = REFUSED
    for r in range(state.u.size):
        state.u[r] = 0.0
    for k in range(state.active.size):
        state.active[k] = 0
        state.face[k] = 0
        state.depth[k] = 0.0
    state.rank[0] = state.rank[1] = 0
    state.volume[0] = UNCHOSEN
    take_force_away(state, fault)
    copy(state.hand_force_D, out.hand_force_D)
    copy(state.hand_torque_D, out.hand_torque_D)


@kernel
def let_go_last(state, out, t):
    """Let go the last constraint that holds: tick after tick gained energy, and from rest nothing changes."""
    for c in range(state.hold.size - 1, -1, -1):
        if state.hold[c] != FREE:
            record(out, CONFLICT, state.active.size + c, 1.0, t)
            release(state, out, c, t)
            take_force_away(state, INCONSISTENT)
            return


def step(plan, state, inp, out, ws):
    """Advance the state by one tick of plan.tick_s seconds.

    plan, state, inp, out, ws   the tuples of kernels/memory/arrays.py; state and out are written.

    Assumes q with unit quaternions and finite plan.  An outcome that is not finite, or out of all bounds, or
    has more energy than was put in, is refused: the state at the start of the tick is taken back with speeds
    zero, and the fault state entered.
    """
    ws.substep[0] = ws.counts[2] = 0
    for k in range(ws.fires.size):
        ws.fires[k] = ws.overlooked[k] = 0
    out.counts[0] = 0
    out.counts[1] = 0
    for i in range(4, 9):
        out.counts[i] = 0
    for i in range(ws.prepared.size):
        ws.told[i] = 0
        ws.prepared[i] = inp.hint[i, 2] if i < inp.hint.shape[0] else 0.0
        ws.pushing[i] = inp.hint[i, 3] if i < inp.hint.shape[0] else 0.0
    copy(state.q, ws.q0)
    copy(state.u, ws.u0)
    keep(state, ws)
    mode, again = state.safety[0], state.energy[2] == REFUSED
    hx = hy = hz = 0.0
    if plan.handle_frame >= 0 and asks_for_handle(state, inp):
        kinematics_at(plan.kinematics)(ws.q0, ws.u0, ws.qs, ws.X, ws.V, ws.vel, ws.acc)
        _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    update_safety(plan, state, inp, hx, hy, hz)
    if plan.handle_frame >= 0:
        seat_turn(plan, state, inp, ws, mode)
    sample_torques(plan, state, inp, ws)
    choose_method(plan, state, inp, ws)

    ws.moved[0] = 0
    changed = state.hold.size > 0 and switch_as_asked(plan, state, inp, ws, out)
    m = list_rows(plan, state, ws)
    if changed or m != state.rank[1]:
        m = settle(plan, state, inp, ws, out, 0.0)
    pulls = start_piece(plan, state, inp, out, ws, 0.0, m, 0)
    kept = leave_lost_corners(plan, state, out, ws, m)
    if kept < m:
        m = kept
        pulls = start_piece(plan, state, inp, out, ws, 0.0, m, 0)
    if touching(plan, state, ws, out, m) or pulls:
        m = resolve(plan, state, inp, ws, out, 0.0, 0)
        start_piece(plan, state, inp, out, ws, 0.0, m, 1)
    if state.hold.size > 0:
        slips = let_go_adrift(plan, state, ws, out, m, 0.0) or slip_or_break(plan, state, ws, out, m, 0.0)
        if slips:
            m = settle(plan, state, inp, ws, out, 0.0)
        m, engaged = engage_by_touch(plan, state, inp, ws, out, 0.0, m)
        if slips or engaged:
            start_piece(plan, state, inp, out, ws, 0.0, m, 1)
    sample_coupler(plan, state, inp, out, ws)
    report(plan, state, out, ws, m)
    begin_balance(plan, state, ws, ws.moved[0] == 1)

    t, handled, quick = 0.0, 0, 0
    reported = True
    while True:
        if reported:
            read_reported_guards(plan, state, out, ws, m, ws.guard0)
        else:
            read_guards(plan, state, ws.q0, ws.u0, t, ws, m, ws.guard0)
        reported = False
        sort_inside(plan, state, ws, out, t)
        remaining = plan.tick_s - t
        taken, fired = advance_to_event(plan, state, inp, out, ws, t, remaining, m, handled < plan.max_events)
        unseen = handled >= plan.max_events and pushes_in(state, ws)
        if unseen and plan.driven == 0 and t >= LEAST_SHARE * plan.tick_s:  # what is driven cannot wait
            start_piece(plan, state, inp, out, ws, t, m, 1)
            ws.work[END] = ws.work[START]
            record(out, HALTED, -1, remaining, t)
            break
        if fired == OVERLOOKED or divide_piece(plan, state, ws):
            handled += int(fired == OVERLOOKED)
            start_piece(plan, state, inp, out, ws, t, m, 1)
            continue
        out.counts[1] += 1
        copy(ws.q1, ws.q0)
        copy(ws.u1, ws.u0)
        if fired < 0:
            break
        t += taken
        handled += 1
        was_gap = is_gap(state, fired)
        quick = quick + 1 if fires_again(ws, fired) and taken < CHATTER_SHARE * plan.tick_s else 0
        if handled == plan.max_events or quick == CHATTERS:
            quick = 0
            m = capture(plan, state, inp, ws, out, t)
            m, _ = engage_by_touch(plan, state, inp, ws, out, t, m)
            record(out, OVERFLOW, -1, handled, t)
            out.counts[3] += 1
        else:
            m = handle(plan, state, inp, ws, out, fired, t)
        if was_gap:
            overlook_unheld(plan, state, ws, fired)
        if plan.driven == 1:  # impulses of what is driven do work
            ws.moved[0] = 1
        if start_piece(plan, state, inp, out, ws, t, m, 0):
            m = resolve(plan, state, inp, ws, out, t, 0)
            start_piece(plan, state, inp, out, ws, t, m, 1)
        begin_piece(plan, ws)

    commanded = is_finite(out.hand_force_D) and is_finite(out.hand_torque_D)
    finite = is_finite(ws.q0) and is_finite(ws.u0) and commanded
    beyond = farthest(plan, ws) if finite else math.inf
    gain = gained(plan, state, ws) if beyond <= 1.0 else 0.0
    refused = beyond > 1.0 or gain != 0.0  # also a gain that is not a number
    state.energy[2] = max(state.energy[2], UNKNOWN)
    if beyond > 1.0:
        take_back(state, out, ws, NOT_FINITE)
        record(out, EVENT_NOT_FINITE, -1, beyond if finite else 0.0, plan.tick_s)
    elif refused:
        take_back(state, out, ws, ENERGY)
        record(out, EVENT_ENERGY, -1, gain, plan.tick_s)
    if gain != 0.0 and again:
        let_go_last(state, out, plan.tick_s)
    if not refused:
        copy(ws.q0, state.q)
        copy(ws.u0, state.u)
        for c in range(state.hold.size):
            state.friction[c] = ws.slip_force[c] if state.hold[c] > HELD else 0.0
    if state.safety[0] == FAULT:  # also one that was found in the middle of the tick
        copy(state.hand_force_D, out.hand_force_D)
        copy(state.hand_torque_D, out.hand_torque_D)
    if state.safety[0] != mode:
        record(out, EVENT_SAFETY, -1, state.safety[0], 0.0)
    state.tick[0] += 1
