"""Constraints switched while the simulation runs: by command, by a touch, by friction.

Switching on closes the gaps of the new rows by moving q (a latched row takes its gap as its displacement
instead), then gives the new rows their rates by an impulse.  What cannot be closed, or contradicts what holds
already, is refused: the constraint stays free, the state stays what it was, and the force on the hand goes to
zero where constraints contradict one another.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event, Fault
from hapticsim.kernels.bilateral import bilateral_row
from hapticsim.kernels.choice import record
from hapticsim.kernels.diagnosis import conflict
from hapticsim.kernels.events import TOUCH
from hapticsim.kernels.foreign import displace_at
from hapticsim.kernels.friction import BACKWARD, FORWARD, held_force, spare_force
from hapticsim.kernels.guards import FIRE, FRICTION_SCALE, row_forces
from hapticsim.kernels.jit import kernel
from hapticsim.kernels.linear import ldl_factor
from hapticsim.kernels.mobility import CLASH, meet_rates, orthonormal_constraints
from hapticsim.kernels.rows import FREE, HELD, evaluate_equations, list_constraints
from hapticsim.kernels.safety import take_force_away
from hapticsim.kernels.stage import terms
from hapticsim.kernels.units import choose_speeds, engage, evaluate_rows, resolve, stage

SWITCH, REFUSED, CONFLICT, TWICE = (
    int(e) for e in (Event.SWITCH, Event.REFUSED, Event.CONFLICT, Event.TWICE)
)
INCONSISTENT = int(Fault.INCONSISTENT)
REACH = 0.05  # [m] or [rad] a gap larger than this is not closed by itself
CLOSED = 1e-12  # [m] or [rad]
NEAR = 1e-9  # what a closed loop may be off where rows are redundant and rounding decides
STEPS = 12
SHARE_TOLD = 0.01  # of a contradiction: less of it is not named


@kernel
def close_gaps(plan, state, inp, ws, t):
    """Move ws.q0 until the rows of the constraints have no gap: Newton steps, least in kinetic energy.

    Returns the largest gap left [m] or [rad], infinite when it is out of reach.
    """
    gap = 0.0
    for trial in range(STEPS):
        terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
        m = list_constraints(plan, state, ws)
        evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
        gap = 0.0
        for i in range(m):
            gap = max(gap, abs(ws.phi[i]))
            ws.b[i] = -ws.phi[i]
        if not gap <= (REACH if trial == 0 else 2.0 * REACH):
            return math.inf
        if gap <= CLOSED:
            return gap
        ldl_factor(ws.M, ws.u0.size, ws.L)
        n, _ = orthonormal_constraints(m, ws.u0.size, ws)
        for r in range(ws.us.size):
            ws.us[r] = 0.0
        meet_rates(n, ws.us, ws.y, ws)
        displace_at(plan.displace)(ws.q0, ws.us, ws.qs)
        for j in range(ws.q0.size):
            ws.q0[j] = ws.qs[j]
    return gap


@kernel
def latch(plan, state, ws, c, t):
    """Take the present gap of the latched rows of constraint c as their displacement."""
    evaluate_equations(plan, ws.q0, ws.u0, ws)
    now = state.tick[0] * plan.tick_s + t
    for k in range(plan.constraint_start[c], plan.constraint_start[c + 1]):
        if plan.row_latch[k] == 1:
            state.offset[k] += bilateral_row(plan, state, k, ws.q0, now, ws.A, ws.s, ws.b, 0, ws)


@kernel
def name_conflict(plan, state, ws, out, m, t):
    """Record what contradicts what among the m rows of constraints in ws, with the share of each."""
    choose_speeds(plan, state, ws, out, m, t)
    state.rank[1] = -1  # not the rows that will be imposed: the speeds are chosen again
    conflict(ws.U, state.rank[0], m, ws.b, CLASH, ws.share)
    for c in range(state.hold.size):
        total = 0.0
        for i in range(m):
            k = ws.rows[i] - state.active.size
            if plan.constraint_start[c] <= k < plan.constraint_start[c + 1]:
                total += ws.share[i]
        if total > SHARE_TOLD:
            record(out, CONFLICT, state.active.size + c, total, t)


@kernel
def impose(plan, state, inp, ws, out, t):
    """Hold the constraints of ws.wanted at (ws.q0, ws.u0) with their gaps closed.

    Returns the largest gap left, and the rate by which rows contradict one another; where either is too large
    the constraints are free again and ws.q0 is what it was.
    """
    for j in range(ws.q0.size):
        ws.q1[j] = ws.q0[j]
    for c in range(state.hold.size):
        if ws.wanted[c] == 1:
            latch(plan, state, ws, c, t)
            state.hold[c] = HELD
    gap = close_gaps(plan, state, inp, ws, t)
    clash = 0.0
    if gap <= NEAR:
        evaluate_rows(plan, state, ws.q0, ws.u0, t, ws.counts[0], ws)
        ldl_factor(ws.M, ws.u0.size, ws.L)
        _, clash = orthonormal_constraints(ws.counts[0], ws.u0.size, ws)
        if clash <= CLASH:
            return gap, clash
    for c in range(state.hold.size):
        if ws.wanted[c] == 1:
            state.hold[c] = FREE
    for j in range(ws.q0.size):
        ws.q0[j] = ws.q1[j]
    return gap, clash


def engage_constraints(plan, state, inp, ws, out, t, count):
    """Impose the ``count`` constraints of ws.wanted at (ws.q0, ws.u0), or refuse those that cannot be.

    All at once where that is possible, else one after the other.  The caller settles after either; returns 1.
    """
    gap, clash = impose(plan, state, inp, ws, out, t)
    good = gap <= NEAR and clash <= CLASH
    if not good and count > 1:
        for c in range(state.hold.size):
            if ws.wanted[c] == 1:
                ws.wanted[c] = 2
        for c in range(state.hold.size):
            if ws.wanted[c] == 2:
                ws.wanted[c] = 1
                gap, clash = impose(plan, state, inp, ws, out, t)
                tell_imposed(plan, state, ws, out, t, c, gap, clash)
                ws.wanted[c] = 0
        return 1
    for c in range(state.hold.size):
        if ws.wanted[c] == 1:
            tell_imposed(plan, state, ws, out, t, c, gap, clash)
    return 1


@kernel
def tell_imposed(plan, state, ws, out, t, c, gap, clash):
    """Record that constraint c holds, or why it does not."""
    k = state.active.size + c
    if gap <= NEAR and clash <= CLASH:
        record(out, SWITCH, k, HELD, t)
        return
    if clash > CLASH:
        name_conflict(plan, state, ws, out, ws.counts[0], t)
        take_force_away(state, INCONSISTENT)
    record(out, REFUSED, k, clash if clash > CLASH else gap, t)


@kernel
def release(state, out, c, t):
    """Let constraint c go."""
    state.hold[c] = FREE
    record(out, SWITCH, state.active.size + c, FREE, t)


@kernel
def switch_as_asked(plan, state, inp, ws, out):
    """Follow the switch requests of this tick; returns True when something changed."""
    changed, count = False, 0
    for c in range(state.hold.size):
        ws.wanted[c] = 0
        asked = inp.switch[c]
        if asked == state.switched[c]:
            continue
        if (asked >> 1) - (state.switched[c] >> 1) > 1:
            record(out, TWICE, state.active.size + c, asked & 1, 0.0)
        state.switched[c] = asked
        if (asked & 1) == (1 if state.hold[c] != FREE else 0):
            continue
        if asked & 1:
            ws.wanted[c] = 1
            count += 1
        else:
            release(state, out, c, 0.0)
            changed = True
    return (count > 0 and engage(plan, state, inp, ws, out, 0.0, count) == 1) or changed


@kernel
def engage_by_touch(plan, state, inp, ws, out, before, t):
    """Switch on what contacts that closed since event number ``before`` engage; True when something is."""
    count = 0
    for c in range(state.hold.size):
        ws.wanted[c] = 0
    last = min(out.counts[0], out.events.shape[0])
    for e in range(before, last):
        if out.events[e, 0] == TOUCH:
            c = plan.touch_engages[int(out.events[e, 1])]
            if c >= 0 and state.hold[c] == FREE and ws.wanted[c] == 0:
                ws.wanted[c] = 1
                count += 1
    return count > 0 and engage(plan, state, inp, ws, out, t, count) == 1


@kernel
def slip_or_break(plan, state, ws, out, m, t):
    """Let slip what needs more friction than there is, and go what breaks, at (ws.q0, ws.u0).

    Expects the first stage of the m rows and ws.lam there.  Returns True when something changed.
    """
    changed = False
    for c in range(state.hold.size):
        if plan.static_friction[c] == math.inf:
            continue
        if state.hold[c] == HELD and FRICTION_SCALE * spare_force(plan, state, c, m, ws) < -FIRE:
            let_slip(plan, state, ws, out, c, m, t)
            changed = True
    return changed


@kernel
def let_slip(plan, state, ws, out, c, m, t):
    """Let constraint c go the way its force in ws.lam held it back from; one without friction breaks."""
    if plan.kinetic_friction[c] == 0.0:
        state.hold[c] = FREE
    else:
        state.hold[c] = BACKWARD if held_force(plan, state, c, m, ws) > 0.0 else FORWARD
    record(out, SWITCH, state.active.size + c, state.hold[c], t)


@kernel
def stick(plan, state, ws, out, c, t):
    """Hold constraint c, whose slip came to rest; the force it then takes decides at the next look."""
    state.hold[c] = HELD
    for k in range(plan.constraint_start[c], plan.constraint_start[c + 1]):
        if plan.row_latch[k] == 1:
            latch(plan, state, ws, c, t)
            break
    record(out, SWITCH, state.active.size + c, HELD, t)


def settle_constraints(plan, state, inp, ws, out, t, _):
    """After a change of constraints: impulse, contacts, speeds; then whether friction bears it.

    Returns the number of rows.
    """
    m = resolve(plan, state, inp, ws, out, t, 0)
    if ws.clash[0] > CLASH:
        name_conflict(plan, state, ws, out, ws.counts[0], t)
        take_force_away(state, INCONSISTENT)
        m = resolve(plan, state, inp, ws, out, t, 0)
    for _ in range(state.hold.size):
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        if m > 0:
            row_forces(state, ws, m, ws.du[0])
        if not slip_or_break(plan, state, ws, out, m, t):
            break
        m = resolve(plan, state, inp, ws, out, t, 0)
    return m
