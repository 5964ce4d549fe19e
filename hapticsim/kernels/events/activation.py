"""Imposing constraints while the simulation runs: gaps closed, contradictions named, or all left as it was.

Closing moves q by the least in kinetic energy (a latched row takes its gap as its displacement instead); the
rates follow by an impulse when the caller resolves the change.  A constraint that cannot be closed, that
contradicts what holds already, or that would push a shape into another, is refused: it stays free, and the
state stays what it was.  Where constraints contradict one another the force on the hand goes to zero.
"""

from __future__ import annotations

import math

from hapticsim.codes import ANGLE_ROW, Event, Fault
from hapticsim.kernels.events.inside import has_no_gap, is_overlooked
from hapticsim.kernels.geometry.point import rotate
from hapticsim.kernels.haptics.safety import take_force_away
from hapticsim.kernels.linalg.linear import ldl_factor
from hapticsim.kernels.machine_code.foreign import displace_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.motion.frames import find_terms, place_frames
from hapticsim.kernels.motion.integrate import LOST
from hapticsim.kernels.rows.row_table import (
    FREE,
    HELD,
    evaluate_rows,
    has_room,
    list_constraints,
    rate_of,
)
from hapticsim.kernels.solve.diagnosis import conflict
from hapticsim.kernels.solve.mobility import CLASH, meet_rates, orthonormal_constraints
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import choose_speeds, evaluate_held, gap, write_contact_row

SWITCH, REFUSED, CONFLICT = int(Event.SWITCH), int(Event.REFUSED), int(Event.CONFLICT)
INCONSISTENT = int(Fault.INCONSISTENT)
REACH = 0.05  # [m] or [rad] a gap larger than this is not closed by itself
TURNED = 0.5  # [rad] a weld turned further is not closed: its rows are closed at 2.1 and 3.1 as well
AXES = 3
LEAP = 1.0  # [m] or [rad] closing a gap must not move a speed's coordinate further than this in all
CLOSED = 1e-12  # [m] or [rad]
NEAR = 1e-9  # what a closed loop may be off where rows are redundant and rounding decides
STEPS = 12
ADRIFT = 1e-4  # [m] or [rad] the same as LOST, where rows depend on others
PUSHED_IN = 1e-4  # [m] deeper than this closing must not push a shape into another: it could not be met
RATE_DRIVEN = 1e-6  # [m/s] what closes faster after all impulses is driven in by constraints
VANISHED = 1e-20  # added to a row's squared length: one without any, which nothing can meet, has a share too
SHARE_TOLD, SHARE_SEEN = 0.01, 1e-9  # of a contradiction: less of it is not named; is rounding


@kernel
def close_gaps(plan, state, inp, ws, t):
    """Move ws.q0 until the rows of the constraints have no gap: Newton steps, least in kinetic energy.

    Where the rows can hardly change a gap, as the length of an arm that is nearly straight, the steps are so
    long that they end at some other place, turns away, where the gap is closed as well: that is out of reach.
    ws.M is left as the mass matrix there, or where the last step began.  Returns the largest gap left [m] or
    [rad], infinite when it is out of reach.
    """
    gap = moved = 0.0
    for trial in range(STEPS):
        place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
        m = list_constraints(plan, state, ws)
        evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
        gap = 0.0
        for i in range(m):
            gap = max(gap, abs(ws.phi[i]))
            ws.b[i] = -ws.phi[i]
        if not gap <= (REACH if trial == 0 else 2.0 * REACH):
            return math.inf
        if gap > CLOSED or trial == 0:
            find_terms(plan, ws, ws.q0, ws.u0, ws.dq[0])
        if gap <= CLOSED:
            return gap
        ldl_factor(ws.M, ws.u0.size, ws.L)
        n, _ = orthonormal_constraints(plan, m, ws.u0.size, ws)
        for r in range(ws.us.size):
            ws.us[r] = 0.0
        meet_rates(n, ws.us, ws.y, ws)
        longest = 0.0
        for r in range(ws.us.size):
            longest = max(longest, abs(ws.us[r]))
        moved += longest
        if not moved <= LEAP:
            return math.inf
        displace_at(plan.displace)(ws.q0, ws.us, ws.qs)
        for j in range(ws.q0.size):
            ws.q0[j] = ws.qs[j]
    return gap


@kernel
def latch(plan, state, ws, c, t):
    """Take the present gap of the latched rows of constraint c as their displacement; ws.rows is scratch."""
    for k in range(plan.block_start[c], plan.block_start[c + 1]):
        if plan.row_latch[k] == 1:
            ws.rows[0] = k
            evaluate_held(plan, state, ws.q0, ws.u0, t, 1, ws)
            state.offset[k] += ws.phi[0]


@kernel
def name_conflict(plan, state, ws, out, m, t):
    """Record what contradicts what among the m rows of constraints in ws, with the share of each.

    A row's part counts with its length, over the masses alone: of one contradiction no share depends on lever
    arms or units.
    Returns the last one that does, -1 where none has a share.
    """
    found, whole = -1, 0.0
    choose_speeds(plan, state, ws, out, m, t)
    state.rank[1] = -1  # not the rows that will be imposed: the speeds are chosen again
    conflict(ws.U, state.rank[0], m, ws.b, CLASH, ws.share)
    for i in range(m):
        length = VANISHED
        for r in range(ws.u0.size):
            length += ws.A[i, r] * ws.A[i, r] / ws.M[r, r]
        ws.share[i] *= length
        whole += ws.share[i]
    for i in range(m):
        ws.share[i] /= max(whole, VANISHED * VANISHED)
    for c in range(plan.contacts, state.mode.size):
        total = 0.0
        for i in range(m):
            if plan.row_block[ws.rows[i]] == c:
                total += ws.share[i]
        if total > SHARE_TOLD:
            record(out, CONFLICT, c, total, t)
            found = c
    return found


@kernel
def release(state, out, c, t):
    """Let constraint c go."""
    state.mode[c] = FREE
    record(out, SWITCH, c, FREE, t)


@kernel
def release_violated(plan, state, ws, out, m, t):
    """Let go a constraint that cannot be met, as of a drive against a lock: its gap is no drift of a tick.

    Expects the m rows at (ws.q0, ws.u0) and their gaps in ws.  The last of those that contradict one another
    goes, or the one that is off most; the mechanism is left at rest, and the force on the hand goes to zero.
    Returns True when one went.
    """
    worst, row = 0.0, -1
    for i in range(ws.counts[HELD_ROWS]):
        if abs(ws.phi[i]) > worst:
            worst, row = abs(ws.phi[i]), ws.rows[i]
    if worst <= (ADRIFT if state.rank[0] < m else LOST):
        return False
    evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)  # a row of ws.A may hold a contact's by now
    for i in range(m):
        ws.b[i] = -ws.phi[i]
    c = name_conflict(plan, state, ws, out, m, t)
    if c < 0:
        c = plan.row_block[row]
        record(out, CONFLICT, c, 1.0, t)
    release(state, out, c, t)
    take_force_away(state, INCONSISTENT)
    for r in range(ws.u0.size):
        ws.u0[r] = 0.0
    return True


@kernel
def driver(plan, state, ws, first, named):
    """The constraint with the largest part in the contradiction just named, of those that prescribe a rate.

    Where none does it is the one ``named`` last; where its part is too small to be named, the largest.
    """
    most, row = 0.0, -1
    for i in range(first):
        part = ws.share[i] + (1.0 if ws.b[i] != 0.0 and ws.share[i] > SHARE_SEEN else 0.0)
        if part > most:
            most, row = part, ws.rows[i]
    if row < 0 or (most < 1.0 and named >= 0):
        return named
    return plan.row_block[row]


def drop_driver(plan, state, inp, ws, out, t, m):
    """Let go the constraint that drives a contact into its surface whatever impulse that gives.

    Expects the m rows at (ws.q0, ws.u0) after their impulses ws.x, and constraints among them.  A contact may
    be driven in by constraints alone, or because others push back: a leg jammed between two walls.  Returns 1
    when one went; the force on the hand goes to zero then.
    """
    first = ws.counts[HELD_ROWS]
    fastest, struck = RATE_DRIVEN, -1
    for i in range(first, m):
        rate = -rate_of(ws.A, i, ws.u0, ws.b)
        if rate > fastest:
            fastest, struck = rate, ws.rows[i]
    if struck < 0:
        return 0
    for i in range(first, m):
        ws.passive[i - first] = ws.rows[i]  # free between impulses and forces
    for others in range(2):
        n = first
        if others == 1:
            for i in range(m - first):
                if ws.x[i] > 0.0 and ws.passive[i] != struck:
                    ws.rows[n] = ws.passive[i]
                    n += 1
        ws.rows[n] = struck
        for i in range(first, n + 1):
            write_contact_row(plan, state, ws.rows[i], i, ws)
        c = driver(plan, state, ws, first, name_conflict(plan, state, ws, out, n + 1, t))
        if c >= 0:
            take_force_away(state, INCONSISTENT)
            release(state, out, c, t)
            return 1
    for i in range(first, m):  # nothing prescribes its rate
        ws.rows[i] = ws.passive[i - first]
        write_contact_row(plan, state, ws.rows[i], i, ws)
    return 0


@kernel
def impose(plan, state, inp, ws, out, t):
    """Hold the constraints of ws.wanted at (ws.q0, ws.u0) with their gaps closed.

    Returns the largest gap left, or the angle by which a weld is turned too far, the rate by which rows
    contradict one another, and how much deeper the deepest shape is in another [m], -inf where no rows are
    left; where one of them is too large the constraints are free again and ws.q0 is what it was.
    """
    place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
    for c in range(plan.contacts, state.mode.size):
        if ws.wanted[c] == 1:
            turned = turn_of_weld(plan, c, ws.X)
            if turned > TURNED:
                return turned, 0.0, 0.0
    before = deepest(plan, state, ws)
    for j in range(ws.q0.size):
        ws.q1[j] = ws.q0[j]
    for c in range(plan.contacts, state.mode.size):
        if ws.wanted[c] == 1:
            latch(plan, state, ws, c, t)
            state.mode[c] = HELD
    gap, clash, deep = math.inf, 0.0, -math.inf
    if has_room(plan, state, ws):
        gap, deep = close_gaps(plan, state, inp, ws, t), 0.0
    if gap <= NEAR:
        evaluate_rows(plan, state, ws.q0, ws.u0, t, ws.counts[HELD_ROWS], ws)
        ldl_factor(ws.M, ws.u0.size, ws.L)
        _, clash = orthonormal_constraints(plan, ws.counts[HELD_ROWS], ws.u0.size, ws)
        deep = max(0.0, deepest(plan, state, ws) - before)
        if clash <= CLASH and deep <= PUSHED_IN:
            return gap, clash, deep
    for c in range(plan.contacts, state.mode.size):
        if ws.wanted[c] == 1:
            state.mode[c] = FREE
    for j in range(ws.q0.size):
        ws.q0[j] = ws.q1[j]
    return gap, clash, deep


@kernel
def turn_of_weld(plan, c, X):
    """Angle [rad] between the frames of constraint c at the frames X if it is a weld, else 0.

    Its three rows are closed as well after a turn of 120 or 180 degrees (assemble/twisted_welds.py).
    """
    trace, turns, first = 0.0, 0, -1
    for k in range(plan.block_start[c], plan.block_start[c + 1]):
        if plan.row_kind[k] == ANGLE_ROW:
            turns += 1
            first = k if first < 0 else first
    if turns != AXES:
        return 0.0
    # its rows hold x of A square to y of B, y to z and z to x
    for i in range(AXES):
        ax, ay, az = rotate(plan.row_a[first], plan.row_direction_a[first + i], X)
        bx, by, bz = rotate(plan.row_b[first], plan.row_direction_b[first + (i + 2) % AXES], X)
        trace += ax * bx + ay * by + az * bz
    return math.acos(min(max(0.5 * (trace - 1.0), -1.0), 1.0))


@kernel
def deepest(plan, state, ws):
    """How far the deepest shape is below where a contact holds it, at the frames in ws [m]; 0 where none is.

    What was let through is not looked at.
    """
    deep = 0.0
    for k in range(plan.contacts):
        if not has_no_gap(plan, state, k) and not is_overlooked(plan, ws, k):
            deep = max(deep, -gap(plan, state, k, ws.X))
    return deep


def activate_constraints(plan, state, inp, ws, out, t, count):
    """Impose the ``count`` constraints of ws.wanted at (ws.q0, ws.u0), or refuse those that cannot be.

    All at once where that is possible, else one after the other.  The caller resolves the change after
    either.  Returns 1.
    """
    gap, clash, deep = impose(plan, state, inp, ws, out, t)
    good = gap <= NEAR and clash <= CLASH and deep <= PUSHED_IN
    if not good and count > 1:
        for c in range(plan.contacts, state.mode.size):
            if ws.wanted[c] == 1:
                ws.wanted[c] = 2
        for c in range(plan.contacts, state.mode.size):
            if ws.wanted[c] == 2:
                ws.wanted[c] = 1
                gap, clash, deep = impose(plan, state, inp, ws, out, t)
                tell_imposed(plan, state, ws, out, t, c, gap, clash, deep)
                ws.wanted[c] = 0
        return 1
    for c in range(plan.contacts, state.mode.size):
        if ws.wanted[c] == 1:
            tell_imposed(plan, state, ws, out, t, c, gap, clash, deep)
    return 1


@kernel
def tell_imposed(plan, state, ws, out, t, c, gap, clash, deep):
    """Record that constraint c holds, or why it does not."""
    if gap <= NEAR and clash <= CLASH and deep <= PUSHED_IN:
        record(out, SWITCH, c, HELD, t)
        return
    if clash > CLASH:
        name_conflict(plan, state, ws, out, ws.counts[HELD_ROWS], t)
        take_force_away(state, INCONSISTENT)
    if deep == -math.inf:
        record(out, REFUSED, c, deep, t)
    elif gap <= NEAR and clash <= CLASH:
        record(out, REFUSED, c, -deep, t)
    else:
        record(out, REFUSED, c, clash if clash > CLASH else gap, t)
