"""Constraints switched while the simulation runs: by command, by a touch, by friction.

How a constraint is imposed, or refused, is in activation.py.  After any change come the impulse, the
contacts, the speeds, and whether friction bears it.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.events.activation import INCONSISTENT, latch, name_conflict, release
from hapticsim.kernels.events.guards import FIRE, FRICTION_SCALE, row_forces
from hapticsim.kernels.haptics.safety import take_force_away
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.rows.friction import BACKWARD, FORWARD, held_force, slip_direction, spare_force
from hapticsim.kernels.rows.row_table import FREE, HELD, list_constraints, rate_of
from hapticsim.kernels.solve.mobility import CLASH
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import activate, evaluate_slips, resolve, resolve_after_switch, stage

RATE_REST = 1e-9  # [m/s] or [rad/s] slower than this sticks
RATE_SLOW = 0.1  # [m/s] or [rad/s] slower than this sticks as a chatter ends
SWITCH, TWICE = int(Event.SWITCH), int(Event.TWICE)


def follow_switches(plan, state, inp, ws, out, t, _):
    """Follow the switch requests of this tick; returns 1 when something changed."""
    changed, count = False, 0
    for i in range(inp.switch.size):
        c = plan.contacts + i  # block of constraint i
        ws.wanted[c] = 0
        asked = inp.switch[i]
        if asked == state.switched[i]:
            continue
        if (asked >> 1) - (state.switched[i] >> 1) > 1:
            record(out, TWICE, c, asked & 1, t)
        state.switched[i] = asked
        if (asked & 1) == (1 if state.mode[c] != FREE else 0):
            continue
        if asked & 1:
            ws.wanted[c] = 1
            count += 1
        else:
            release(state, out, c, t)
            changed = True
    if count > 0:
        activate(plan, state, inp, ws, out, t, count)
        changed = True
    return int(changed)


def activate_touched(plan, state, inp, ws, out, t, m):
    """``activate_what_touches``; returns the number of rows."""
    m, _ = activate_what_touches(plan, state, inp, ws, out, t, m)
    return m


@kernel
def activate_what_touches(plan, state, inp, ws, out, t, m):
    """Switch on what contacts activate that closed since this was last asked, m rows being imposed.

    Returns the number of rows, and whether something was switched.  What is switched on may touch, too.
    """
    changed = False
    for _ in range(plan.contacts, state.mode.size):
        count = 0
        for c in range(plan.contacts, state.mode.size):
            ws.wanted[c] = 0
        for k in range(plan.contacts):
            c = plan.touch_activates[k]
            free = c >= 0 and state.mode[c] == FREE and ws.wanted[c] == 0
            if free and has_come_to_touch(plan, state, ws, c):
                ws.wanted[c] = 1
                count += 1
        for k in range(plan.contacts):
            ws.touched[k] = state.mode[k]
        if count == 0:
            break
        changed = True
        activate(plan, state, inp, ws, out, t, count)
        m = resolve_after_switch(plan, state, inp, ws, out, t)
    return m, changed


@kernel
def has_come_to_touch(plan, state, ws, c):
    """Whether the pair of shapes that activates constraint c touches, and did not when this was last asked.

    One candidate of the pair may take over from another, as the end of a capsule from its side.
    """
    touches = False
    for k in range(plan.contacts):
        if plan.touch_activates[k] == c:
            if ws.touched[k] == HELD:
                return False
            touches = touches or state.mode[k] == HELD
    return touches


@kernel
def slip_or_break(plan, state, ws, out, m, t):
    """Let slip what needs more friction than there is, and go what breaks, at (ws.q0, ws.u0).

    Expects the first stage of the m rows and ws.lam there.  Returns True when something changed.
    """
    changed = False
    for c in range(plan.contacts, state.mode.size):
        if plan.static_friction[c] == math.inf:
            continue
        if state.mode[c] == HELD and FRICTION_SCALE * spare_force(plan, state, c, m, ws) < -FIRE:
            let_slip(plan, state, ws, out, c, m, t)
            changed = True
    return changed


@kernel
def let_slip(plan, state, ws, out, c, m, t):
    """Let constraint c go the way its force in ws.lam held it back from; one without friction breaks."""
    if plan.kinetic_friction[c] == 0.0:
        state.mode[c] = FREE
    else:
        state.mode[c] = BACKWARD if held_force(plan, state, c, m, ws) > 0.0 else FORWARD
    begin_slip(plan, state, ws, c)
    record(out, SWITCH, c, state.mode[c], t)


@kernel
def begin_slip(plan, state, ws, c):
    """The friction with which constraint c begins to slip: known of a bounded force, else 0 at first."""
    ws.slip_force[c] = 0.0
    if plan.block_bounded[c] == 1:
        ws.slip_force[c] = -slip_direction(state, c) * plan.kinetic_friction[c] * plan.friction_load[c]


@kernel
def stick(plan, state, ws, out, c, t):
    """Hold constraint c, whose slip came to rest; the force it then takes decides at the next look."""
    state.mode[c] = HELD
    for k in range(plan.block_start[c], plan.block_start[c + 1]):
        if plan.row_latch[k] == 1:
            latch(plan, state, ws, c, t)
            break
    record(out, SWITCH, c, HELD, t)


def free_bounded(plan, state, inp, ws, out, t, m):
    """Let what sticks by a bounded force slip where one of the m rows at (ws.q0, ws.u0) asks for an impulse:
    such a force gives none.  Returns 1 where something went.
    """
    first, asked = ws.counts[HELD_ROWS], False
    for i in range(m):
        rate = rate_of(ws.A, i, ws.u0, ws.b)
        if i < first:
            sticks = plan.block_bounded[plan.row_block[ws.rows[i]]] == 1
            asked = asked or (sticks and abs(rate) > RATE_REST)
        else:
            asked = asked or rate < -RATE_REST
    went = 0
    for c in range(plan.contacts, state.mode.size):
        ws.let_go[c] = int(asked and plan.block_bounded[c] == 1 and state.mode[c] == HELD)
        if ws.let_go[c] == 1:
            state.mode[c] = FORWARD
            ws.slip_force[c] = 0.0
            went = 1
        elif asked and plan.block_bounded[c] == 1 and state.mode[c] > HELD:
            went = 1
    return went


def slip_bounded(plan, state, inp, ws, out, t, _):
    """After impulses what sticks by a bounded force slips the way it moves at (ws.q0, ws.u0), or sticks."""
    list_constraints(plan, state, ws)
    evaluate_slips(plan, state, ws.q0, ws.u0, t, ws)
    for c in range(plan.contacts, state.mode.size):
        if plan.block_bounded[c] == 0 or state.mode[c] == FREE:
            continue
        before = HELD if ws.let_go[c] == 1 else state.mode[c]
        rate = rate_of(ws.slip_A, c, ws.u0, ws.slip_b)
        if abs(rate) <= RATE_REST and before == HELD:
            state.mode[c] = HELD
        elif abs(rate) <= RATE_REST:
            stick(plan, state, ws, out, c, t)
        else:
            state.mode[c] = FORWARD if rate > 0.0 else BACKWARD
        if state.mode[c] != before and state.mode[c] != HELD:
            begin_slip(plan, state, ws, c)
            record(out, SWITCH, c, state.mode[c], t)
    return 0


def stick_bounded(plan, state, inp, ws, out, t, _):
    """As a chatter ends at (ws.q0, ws.u0) what slips slowly against a bounded force sticks: its rate is still
    to become 0.  Returns how many do."""
    found = 0
    list_constraints(plan, state, ws)
    evaluate_slips(plan, state, ws.q0, ws.u0, t, ws)
    for c in range(plan.contacts, state.mode.size):
        slips = plan.block_bounded[c] == 1 and state.mode[c] > HELD
        if slips and abs(rate_of(ws.slip_A, c, ws.u0, ws.slip_b)) <= RATE_SLOW:
            stick(plan, state, ws, out, c, t)
            found += 1
    return found


def resolve_switched_constraints(plan, state, inp, ws, out, t, _):
    """After a change of constraints: impulse, contacts, speeds; then whether friction bears it.

    Of constraints whose rates contradict one another the last goes.  Returns the number of rows.
    """
    ws.moved[0] = 1
    m = resolve(plan, state, inp, ws, out, t, 0)
    for _ in range(plan.contacts, state.mode.size):
        if not ws.clash[0] > CLASH:
            break
        c = name_conflict(plan, state, ws, out, ws.counts[HELD_ROWS], t)
        take_force_away(state, INCONSISTENT)
        if c < 0:
            break
        release(state, out, c, t)
        m = resolve(plan, state, inp, ws, out, t, 0)
    for _ in range(plan.contacts, state.mode.size):
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        if m > 0:
            row_forces(plan, state, ws, m, ws.du[0])
        if not slip_or_break(plan, state, ws, out, m, t):
            break
        m = resolve(plan, state, inp, ws, out, t, 0)
    return m
