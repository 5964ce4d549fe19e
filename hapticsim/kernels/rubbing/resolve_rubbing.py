"""What is done where contacts rub and a guard fires, or forces change as a tick begins.

Where something strikes, impulses come first (strike_in_cones.py).  Of contacts that are held each slides,
sticks, or parts.  What the guards say is tried, and the forces after it say what else has to change; so on
until nothing has.  A tick becomes a time step where no answer is found: then nothing is guessed.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.events.guards import is_far, row_forces
from hapticsim.kernels.events.inside import GAP_CAPTURE, forget_feature, hold_at, is_near, where_of_free
from hapticsim.kernels.events.resolve_contacts import GAP_TOUCH, PUSH_ZERO, RATE_REST, TOUCH
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import BEGINS, CHOICES, EVENTS, HELD_ROWS, SLIPPING
from hapticsim.kernels.rows.along_surface import has_slip_rows, remainder_along, speed_along
from hapticsim.kernels.rows.row_table import FREE, HELD, evaluate_rows, list_rows, rate_of
from hapticsim.kernels.rows.rub import (
    NONE,
    SLIDES,
    SLOW,
    STICKS,
    is_beyond_cone,
    needs_a_step,
    rests,
    rubs,
    tangent_force,
)
from hapticsim.kernels.rubbing.strike_in_cones import strike_in_cones
from hapticsim.kernels.solve.row_forces import change_speeds
from hapticsim.kernels.solve.speed_selection import AFTER_STEP, record
from hapticsim.kernels.units import choose_speeds, gap, stage, terms, wake_touched, write_contact_row

LEAVE, EVENT_SLIDES, EVENT_STICKS = int(Event.LEAVE), int(Event.SLIDES), int(Event.STICKS)
RATE_STEP = 1e-6  # [m/s] which a time step may leave of a rate that it meets
STOPPED = 1e-7  # [m/s] what slides no faster as its slip turns has come to rest
MOST_CHANGES = 12  # times that forces are asked what else changes
NOTHING = 1e-9  # of the largest force, and [N]: what pulls no more is rounding
ACCELERATED = 1e-9  # [m/s^2] per [N] of the largest force, and [m/s^2], the same


def resolve_rubbing(plan, state, inp, ws, out, t, leaving):
    """Decide at (ws.q0, ws.u0) what each contact does; returns the number of rows.

    leaving   1: a guard of what holds fired; contacts at or near theirs, by ws.guard1, change whatever
              rounding says.
    ws.left_out becomes 1 where the tick has to become a time step.
    """
    m, events, choices, again = list_rows(plan, state, ws), out.counts[EVENTS], out.counts[CHOICES], False
    for k in range(plan.contacts):
        ws.parts[k] = 0
    if leaving == 1:
        follow_guards(plan, state, ws, out, m, t)
    elif rests(plan, state, ws):
        hold_what_rests(plan, state, ws)
        again = t == 0.0
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    wake_touched(plan, state, ws, GAP_CAPTURE)
    stepped, strikes = state.volume[0] == AFTER_STEP, False  # until speeds are chosen again
    for k in range(plan.contacts):
        if state.mode[k] == HELD:
            if is_lost(plan, state, k, ws.X) or gap(plan, state, k, ws.X) > GAP_CAPTURE:
                part(plan, state, out, k, t)
            elif stepped:
                strikes = begin_after_step(plan, state, ws, out, k, t) or strikes
        elif state.mode[k] == FREE and not is_far(state, ws, k) and is_near(plan, state, ws, k, GAP_TOUCH):
            write_contact_row(plan, state, k, 0, ws)
            rate = rate_of(ws.A, 0, ws.u0, ws.b)
            if rate < -RATE_REST:
                strikes = True
            elif rate <= RATE_REST:
                hold(plan, state, ws, out, k, t)
    if strikes and not strike_in_cones(plan, state, inp, ws, out, t):
        ws.left_out[0] = 1
    if needs_a_step(plan, state, ws):
        ws.left_out[0] = 1
    changes = True
    for _ in range(MOST_CHANGES):
        m = begin_rows(plan, state, inp, ws, out, t)
        changes = change_by_forces(plan, state, ws, out, m, t)
        if not changes:
            break
    if changes or not is_consistent(plan, state, ws, m):
        ws.left_out[0] = 1
    put_on_rates(plan, state, ws, m)
    if again and goes_on(plan, state, ws):  # nothing happened
        out.counts[EVENTS], out.counts[CHOICES] = events, choices
    return m


@kernel
def goes_on(plan, state, ws):
    """Whether every contact does what it did as the tick began."""
    for k in range(plan.contacts):
        if state.mode[k] != ws.good_mode[k] or state.grip[k] != ws.good_grip[k]:
            return False
    return True


@kernel
def put_on_rates(plan, state, ws, m):
    """Put ws.u0 onto the rates of the m rows: a time step, or a slip that came to rest, is a little off, and
    the first stage of the next piece is evaluated there."""
    for i in range(m):
        ws.t[i] = -rate_of(ws.A, i, ws.u0, ws.b)
    if m > 0:
        change_speeds(plan, state, ws, m, ws.t, ws.us)
        for r in range(ws.u0.size):
            ws.u0[r] += ws.us[r]


@kernel
def begin_rows(plan, state, inp, ws, out, t):
    """Rows, speeds, accelerations and forces for what contacts do now; returns how many rows there are."""
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    m = list_rows(plan, state, ws)
    evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
    choose_speeds(plan, state, ws, out, m, t)
    ws.counts[BEGINS] = 1
    stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    ws.counts[BEGINS] = 0
    if m > 0:
        row_forces(plan, state, ws, m, ws.du[0])
    return m


@kernel
def part(plan, state, out, k, t):
    """Let contact k go."""
    state.mode[k], state.grip[k] = FREE, NONE
    forget_feature(plan, state, k)
    state.depth[k] = min(state.depth[k], 0.0)
    record(out, LEAVE, k, 0.0, t)


@kernel
def hold(plan, state, ws, out, k, t):
    """Hold the free contact k, which touches without striking."""
    face, height, _ = where_of_free(plan, state, ws, k)
    hold_at(state, k, face, height)
    state.mode[k] = HELD
    if rubs(plan, k) and has_slip_rows(plan, state, k):
        state.grip[k] = STICKS if speed_along(plan, state, k, ws) <= SLOW else SLIDES
    record(out, TOUCH, k, 0.0, t)


@kernel
def begin_after_step(plan, state, ws, out, k, t):
    """Say what contact k does after a time step, which holds what parts, too; True where it strikes now,
    because it closed its gap in the step.

    What it left a little deep stays so: to lift it out would take energy that nothing pays.
    """
    open_by = write_contact_row(plan, state, k, 0, ws)
    rate = rate_of(ws.A, 0, ws.u0, ws.b)
    if rate > RATE_STEP:
        part(plan, state, out, k, t)
        return False
    state.depth[k] += min(open_by, 0.0)
    if rubs(plan, k):
        state.grip[k] = STICKS if speed_along(plan, state, k, ws) <= RATE_STEP else SLIDES
    return rate < -RATE_STEP


@kernel
def follow_guards(plan, state, ws, out, m, t):
    """Change what the guards ws.guard1 of the m rows ask for of which next to nothing is left: a contact
    without push parts, one at its cone slides, one whose slip turned sticks if it is slow."""
    held, stops, begins = 0, False, False
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        sticks = rubs(plan, k) and state.grip[k] == STICKS
        first = held
        held += 2 * int(sticks)
        if ws.guard1[k] > PUSH_ZERO:
            continue
        if ws.push[i] <= PUSH_ZERO or not rubs(plan, k):
            part(plan, state, out, k, t)
            ws.parts[k] = 1
        elif sticks:
            slide(plan, state, ws, out, k, first, t)
            begins = True
        else:
            stops = True
    if stops and not begins:  # what slides at rest beside what begins to slide goes on with it
        stop_slow(plan, state, ws, out, t)


@kernel
def stop_slow(plan, state, ws, out, t):
    """Let stick whatever slides as slowly as what comes to rest; what is faster then has turned."""
    for k in range(plan.contacts):
        if state.mode[k] == HELD and state.grip[k] == SLIDES:
            speed = speed_along(plan, state, k, ws)
            if speed <= STOPPED:
                state.grip[k] = STICKS
                record(out, EVENT_STICKS, k, speed, t)


@kernel
def hold_what_rests(plan, state, ws):
    """Let stick whatever slides and is at rest; the forces say whether it goes on to slide."""
    for k in range(plan.contacts):
        if state.mode[k] == HELD and state.grip[k] == SLIDES and speed_along(plan, state, k, ws) <= SLOW:
            state.grip[k] = STICKS


@kernel
def slide(plan, state, ws, out, k, i, t):
    """Let contact k slide, whose sticking rows begin at i: against the force that held it."""
    x, y, z = tangent_force(plan, state, ws, i)
    size = math.sqrt(x * x + y * y + z * z)
    if size > 0.0:
        state.slide_W[k, 0], state.slide_W[k, 1], state.slide_W[k, 2] = -x / size, -y / size, -z / size
        state.grip[k] = SLIDES
        if t > 0.0 or ws.good_grip[k] != SLIDES:  # else it went on sliding from one tick to the next
            record(out, EVENT_SLIDES, k, size, t)


@kernel
def change_by_forces(plan, state, ws, out, m, t):
    """Change what the forces of the m rows do not bear; True where anything did."""
    least, changes, held = NOTHING, False, 0
    for i in range(m):
        least = max(least, NOTHING * abs(ws.lam[i]))
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        sticks = rubs(plan, k) and state.grip[k] == STICKS
        first = held
        held += 2 * int(sticks)
        if ws.lam[i] < -least:
            part(plan, state, out, k, t)
            ws.parts[k] = 1
            changes = True
        elif sticks and is_beyond_cone(plan, ws, k, i, first):
            slide(plan, state, ws, out, k, first, t)
            changes = True
    return changes


@kernel
def is_consistent(plan, state, ws, m):
    """Whether what just parted goes on to part, and what begins to slide goes the way that its friction is
    against, by the accelerations ws.du[0] under the m rows."""
    allowed = ACCELERATED
    for i in range(m):
        allowed = max(allowed, ACCELERATED * abs(ws.lam[i]))
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if not rubs(plan, k) or state.grip[k] != SLIDES:
            continue
        if speed_along(plan, state, k, ws) > SLOW:
            continue
        d, total = state.slide_W[k], 0.0
        for j in range(ws.counts[SLIPPING]):
            if ws.sliding[j] == i:
                for r in range(ws.u0.size):
                    total += ws.slid_A[j, r] * ws.du[0, r]
                break
        if total + remainder_along(plan, state, k, d[0], d[1], d[2], ws) < -allowed:
            return False
    good = True
    for k in range(plan.contacts):
        if ws.parts[k] == 1 and state.mode[k] == FREE:
            write_contact_row(plan, state, k, 0, ws)
            total = ws.s[0]
            for r in range(ws.u0.size):
                total += ws.A[0, r] * ws.du[0, r]
            good = good and total >= -allowed
    if m > 0:
        evaluate_rows(plan, state, ws.q0, ws.u0, 0.0, m, ws)  # row 0 was scratch
    return good
