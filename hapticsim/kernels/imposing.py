"""Imposing constraints while the simulation runs: gaps closed, contradictions named, or all left as it was.

Closing moves q by the least in kinetic energy (a latched row takes its gap as its displacement instead); the
rates follow by an impulse when the caller settles.  What cannot be closed, or contradicts what holds already,
is refused: the constraint stays free, the state stays what it was, and the force on the hand goes to zero
where constraints contradict one another.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event, Fault
from hapticsim.kernels.bilateral import bilateral_row
from hapticsim.kernels.choice import record
from hapticsim.kernels.diagnosis import conflict
from hapticsim.kernels.foreign import displace_at
from hapticsim.kernels.jit import kernel
from hapticsim.kernels.linear import ldl_factor
from hapticsim.kernels.mobility import CLASH, meet_rates, orthonormal_constraints
from hapticsim.kernels.rows import FREE, HELD, evaluate_equations, list_constraints
from hapticsim.kernels.safety import take_force_away
from hapticsim.kernels.stage import terms
from hapticsim.kernels.units import choose_speeds, evaluate_rows

SWITCH, REFUSED, CONFLICT = int(Event.SWITCH), int(Event.REFUSED), int(Event.CONFLICT)
INCONSISTENT = int(Fault.INCONSISTENT)
REACH = 0.05  # [m] or [rad] a gap larger than this is not closed by itself
CLOSED = 1e-12  # [m] or [rad]
NEAR = 1e-9  # what a closed loop may be off where rows are redundant and rounding decides
STEPS = 12
ADRIFT, LOST = 1e-4, 1e-3  # [m] or [rad] off at the start of a tick: where rows depend on others, or not
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
    """Record what contradicts what among the m rows of constraints in ws, with the share of each.

    Returns the last one that does, -1 where none has a share.
    """
    found = -1
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
            found = c
    return found


@kernel
def release(state, out, c, t):
    """Let constraint c go."""
    state.hold[c] = FREE
    record(out, SWITCH, state.active.size + c, FREE, t)


@kernel
def let_go_adrift(plan, state, ws, out, m, t):
    """Let go a constraint that cannot be met, as of a drive against a lock: its gap is no drift of a tick.

    Expects the m rows at (ws.q0, ws.u0) and their gaps in ws.  The last of those that contradict one another
    goes, or the one that is off most; the mechanism is left at rest, and the force on the hand goes to zero.
    Returns True when one went.
    """
    worst, row = 0.0, -1
    for i in range(ws.counts[0]):
        if abs(ws.phi[i]) > worst:
            worst, row = abs(ws.phi[i]), ws.rows[i] - state.active.size
    if worst <= (ADRIFT if state.rank[0] < m else LOST):
        return False
    for i in range(m):
        ws.b[i] = -ws.phi[i]
    c = name_conflict(plan, state, ws, out, m, t)
    if c < 0:
        c = 0
        while row >= plan.constraint_start[c + 1]:
            c += 1
        record(out, CONFLICT, state.active.size + c, 1.0, t)
    release(state, out, c, t)
    take_force_away(state, INCONSISTENT)
    for r in range(ws.u0.size):
        ws.u0[r] = 0.0
    return True


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
