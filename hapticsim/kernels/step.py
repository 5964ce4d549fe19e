"""The tick: the one entry, the same for real and for virtual time.

sample -> couple -> integrate in pieces between events -> project -> report.  Everything is bounded:
Runge-Kutta stages, trial steps per crossing, events per tick.  Nothing is allocated, nothing is raised;
trouble is flags and counters.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event, Fault
from hapticsim.kernels.coupling import anchor, coupler_force, handle_motion
from hapticsim.kernels.edges import feature, is_lost
from hapticsim.kernels.embedding import scaled_volume
from hapticsim.kernels.events import (
    LEAVE,
    OVERFLOW,
    capture,
    choose_speeds,
    record,
    resolve,
    touching,
)
from hapticsim.kernels.foreign import kinematics_at
from hapticsim.kernels.guards import (
    HIT,
    crossing_time,
    first_fired,
    has_fired,
    has_jump,
    read_guards,
    row_forces,
)
from hapticsim.kernels.integrate import advance, is_finite, largest_gap, project
from hapticsim.kernels.jit import kernel
from hapticsim.kernels.observe import copy, report
from hapticsim.kernels.safety import command_hand, take_force_away, update_safety
from hapticsim.kernels.selection import KEEP_CHOICE
from hapticsim.kernels.stage import contact_stage, free_stage, list_rows
from hapticsim.kernels.torque import sample_torques

TRIALS = 14  # trial steps per crossing
GAP_REDUNDANT = 1e-9  # [m] drift at which rows that counted as redundant are looked at again
NOT_FINITE, EVENT_NOT_FINITE, EVENT_SAFETY = int(Fault.NOT_FINITE), int(Event.NOT_FINITE), int(Event.SAFETY)


@kernel
def start_piece(plan, state, inp, out, ws, t, m):
    """First stage of a piece at (ws.q0, ws.u0), put onto the m imposed rows, and the row forces there.

    The choice of speeds is watched here, and so are rows that were redundant and no longer are.  What
    projection moves is of the order of rounding, so the stage is kept.  Returns True when a row pulls.
    """
    if m == 0:
        free_stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0])
        return False
    det = contact_stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    worse = not scaled_volume(det, state.rank[0], state.order, ws.M) > KEEP_CHOICE * state.volume[0]
    if worse or (state.rank[0] < m and largest_gap(ws, m) > GAP_REDUNDANT):
        choose_speeds(plan, state, ws, out, m, t)
        contact_stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    for i in range(m):
        ws.part[i] = feature(plan, ws.rows[i], ws.X)
    pulls = row_forces(plan, state, ws, m, ws.du[0])
    project(plan, state, ws, m)
    return pulls


@kernel
def sample_coupler(plan, state, inp, out, ws):
    """Coupler at the start of the tick: what is published, and the command for the hand."""
    if plan.handle_frame < 0:
        return
    px, py, pz, _, _, _ = anchor(plan, state, inp)
    _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    fx, fy, fz = coupler_force(plan, state, inp, ws, 0.0)
    out.anchor_W[0], out.anchor_W[1], out.anchor_W[2] = px, py, pz
    out.handle_W[0], out.handle_W[1], out.handle_W[2] = hx, hy, hz
    out.coupler_W[0], out.coupler_W[1], out.coupler_W[2] = fx, fy, fz
    command_hand(plan, state, inp, fx, fy, fz)
    copy(state.hand_force_D, out.hand_force_D)


@kernel
def advance_to_event(plan, state, inp, ws, t, remaining, m, watching):
    """Integrate from (ws.q0, ws.u0), with first stage and guards ws.guard0 there, to the first event or the
    end.

    Returns the time advanced and the guard that fired, or -1.
    """
    lo, hi, step = 0.0, remaining, remaining
    culprit = -1
    for trial in range(TRIALS + 1):
        advance(plan, state, inp, ws, t, step, m)
        if m > 0:
            row_forces(plan, state, ws, m, ws.du[3])
        read_guards(plan, state, ws, m, ws.guard1)
        if not watching:
            return step, -1
        worst, fired = first_fired(state, ws.guard0, ws.guard1)
        if fired < 0:
            if step == remaining:
                return step, -1
            near = HIT
            for g in range(ws.guard1.size):
                fires = has_fired(state, g, ws.guard0, ws.guard2) and not has_jump(state, g, m)
                if fires and ws.guard1[g] < near:
                    near = ws.guard1[g]
                    culprit = g
            if near < HIT:
                return step, culprit
            lo = step
            copy(ws.guard1, ws.guard0)
        else:
            if worst >= -HIT or trial == TRIALS:
                return step, fired
            hi, culprit = step, fired
            copy(ws.guard1, ws.guard2)
        guess = crossing_time(state, ws.guard0, ws.guard2, lo, hi, m)
        middle = 0.5 * (lo + hi)
        step = middle if trial % 4 == 3 or not (lo <= guess < hi) else guess
        if trial == TRIALS - 1:
            step = hi  # where a guard is known to have fired
    return step, culprit


@kernel
def leave_lost_corners(plan, state, out, ws, m):
    """Delete the rows of corners that slid past the edge of their face; return the rows left."""
    for i in range(m):
        if is_lost(plan, ws.rows[i], ws.X):
            state.active[ws.rows[i]] = 0
            state.rank[0] = 0  # and an infinite volume: the speeds are chosen again
            state.volume[0] = math.inf
            record(out, LEAVE, ws.rows[i], 0.0, 0.0)
    return list_rows(state, ws)


def step(plan, state, inp, out, ws):
    """Advance the state by one tick of plan.tick_s seconds.

    plan, state, inp, out, ws   the tuples of kernels/arrays.py; state and out are written.

    Assumes q with unit quaternions and finite plan; a non-finite outcome is refused: the state at the start
    of the tick is taken back with speeds zero, and the fault state entered.
    """
    out.counts[0] = 0
    out.counts[1] = 0
    copy(state.q, ws.q0)
    copy(state.u, ws.u0)
    mode = state.safety[0]
    hx = hy = hz = 0.0
    if plan.handle_frame >= 0 and inp.requests[0] != state.safety[2]:
        kinematics_at(plan.kinematics)(ws.q0, ws.u0, ws.qs, ws.X, ws.V, ws.vel, ws.acc)
        _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    update_safety(plan, state, inp, hx, hy, hz)
    sample_torques(plan, state, inp, ws)

    m = list_rows(state, ws)
    pulls = start_piece(plan, state, inp, out, ws, 0.0, m)
    kept = leave_lost_corners(plan, state, out, ws, m)
    if kept < m:
        m = kept
        pulls = start_piece(plan, state, inp, out, ws, 0.0, m)
    if pulls or touching(plan, state, inp, ws, 0.0):
        m = resolve(plan, state, inp, ws, out, 0.0, False)
        start_piece(plan, state, inp, out, ws, 0.0, m)
    sample_coupler(plan, state, inp, out, ws)
    report(plan, state, out, ws, m)

    t, handled = 0.0, 0
    while True:
        read_guards(plan, state, ws, m, ws.guard0)
        remaining = plan.tick_s - t
        taken, fired = advance_to_event(plan, state, inp, ws, t, remaining, m, handled < plan.max_events)
        out.counts[1] += 1
        copy(ws.q1, ws.q0)
        copy(ws.u1, ws.u0)
        if fired < 0:
            break
        t += taken
        handled += 1
        if handled == plan.max_events:
            m = capture(plan, state, inp, ws, out, t)
            record(out, OVERFLOW, -1, handled, t)
            out.counts[3] += 1
        else:
            is_force = fired < state.active.size and state.active[fired] == 1
            m = resolve(plan, state, inp, ws, out, t, is_force and state.rank[0] == m)
        start_piece(plan, state, inp, out, ws, t, m)

    if not (is_finite(ws.q0) and is_finite(ws.u0) and is_finite(out.hand_force_D)):
        for r in range(state.u.size):
            state.u[r] = 0.0
        for k in range(state.active.size):
            state.active[k] = 0
        take_force_away(state, NOT_FINITE)
        copy(state.hand_force_D, out.hand_force_D)
        record(out, EVENT_NOT_FINITE, -1, 0.0, plan.tick_s)
    else:
        copy(ws.q0, state.q)
        copy(ws.u0, state.u)
    if state.safety[0] != mode:
        record(out, EVENT_SAFETY, -1, state.safety[0], 0.0)
    state.tick[0] += 1
