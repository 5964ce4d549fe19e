"""Where a gap closes within a piece, on the cubic in time through both of its ends.

A Runge-Kutta step leaves coordinates and their rates at both ends.  The Hermite cubic through them follows
the motion to h^4 / 384 of its fourth derivative (Hairer, Norsett and Wanner 1993, II.6), for a tick of a
millisecond a tenth of a nanometre or so, at the price of the frames alone: a zero found on it needs one trial
step to be confirmed, and seldom a second one.
"""

from __future__ import annotations

import math

from hapticsim.kernels.events.guards import HIT, block_of_guard, has_fired, is_border
from hapticsim.kernels.geometry.edges import margin
from hapticsim.kernels.geometry.mesh.search import BEYOND, is_on_mesh
from hapticsim.kernels.machine_code.foreign import normalise_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.rows.row_table import FREE
from hapticsim.kernels.units import gap_of_free

CLOSE = 1e-12  # [m] a gap on the cubic that counts as zero
SEARCHES = 6  # for where what starts closed has parted, if it does; the first guess takes it for a parabola
FARTHER = 4.0  # times: the next place to look at where it has risen, but not yet parted
STEPS = 16
LOW = 0.05  # of what is below zero at the end: from so little above it false position would creep


@kernel
def go_to(plan, ws, h, s):
    """Put the frames in ws at the share s of a piece of length h [s]."""
    square = s * s
    rise = square * (3.0 - 2.0 * s)
    start, end = h * s * (1.0 - s) * (1.0 - s), h * square * (s - 1.0)
    for i in range(ws.qi.size):
        ws.qi[i] = ws.q0[i] + rise * (ws.q1[i] - ws.q0[i]) + start * ws.dq[0, i] + end * ws.rate1[i]
    if plan.quaternions == 1:
        normalise_at(plan.normalise)(ws.qi)
    place_frames(plan, ws, ws.qi, ws.u1, ws.qs)


@kernel
def least_gap(plan, state, ws, limit):
    """Least gap [m] at the frames in ws of those that have fired at the end of the piece, and whose it is.

    limit   [m] of the gaps at the start of the piece: larger ones are left out.
    """
    least, which = math.inf, -1
    for k in range(plan.contacts):
        if (
            state.mode[k] == FREE
            and ws.guard0[k] <= limit
            and has_fired(plan, state, k, ws.guard0, ws.guard2)
        ):
            phi = gap_of_free(plan, state, ws, k)
            if phi < least:
                least, which = phi, k
    return least, which


@kernel
def where_parted(plan, state, ws, h):
    """A share of the piece at which all that is closed at its start, and fired at its end, has parted.

    Returns it and 0.0, or where one of them falls through zero instead and the mean rate [m/s] from there to
    where it is known to be closed; -1.0 and 0.0 where neither is found.
    """
    start, b, fb = math.inf, 1.0, math.inf
    for k in range(plan.contacts):
        if state.mode[k] == FREE and ws.guard0[k] <= HIT and has_fired(plan, state, k, ws.guard0, ws.guard2):
            start, fb = min(start, ws.guard0[k]), min(fb, ws.guard2[k])
    a = b * math.sqrt(0.5 * HIT / max(-fb, HIT))
    for _ in range(SEARCHES):
        go_to(plan, ws, h, a)
        f, _ = least_gap(plan, state, ws, HIT)
        if f > HIT:
            return a, 0.0
        if f < -HIT:
            b, fb = a, f
            a = b * math.sqrt(0.5 * HIT / -fb)
        elif f < start:
            return a, (fb - f) / ((b - a) * h)
        else:
            a = min(FARTHER * a, 0.5 * (a + b))
    return -1.0, 0.0


@kernel
def dense_crossing(plan, state, ws, h):
    """Where the first gap closes [s], after a step of length h with the guards ws.guard2 at its end, and the
    rate of that gap there [m/s].

    ws.rate1   (nq,) rates of the coordinates at the end.
    The time is -1.0 when it is not found so.  Changes the frames in ws.
    """
    a, b, least, fb, culprit = 0.0, 1.0, math.inf, math.inf, -1
    for k in range(plan.contacts):
        if state.mode[k] == FREE and has_fired(plan, state, k, ws.guard0, ws.guard2):
            least = min(least, ws.guard0[k])
            if ws.guard2[k] < fb:
                fb, culprit = ws.guard2[k], k
    if culprit < 0:
        return -1.0, 0.0
    fa = ws.guard0[culprit]
    if least <= HIT:
        a, slope = where_parted(plan, state, ws, h)
        if a < 0.0:
            return -1.0, 0.0
        if slope < 0.0:
            return a * h, slope
        go_to(plan, ws, h, a)
        fa = gap_of_free(plan, state, ws, culprit)
        least, _ = least_gap(plan, state, ws, math.inf)
        if not least > HIT:
            return -1.0, 0.0
    before, f_before, slope, side = b, fb, 0.0, 0
    on_mesh = is_on_mesh(plan, culprit)
    for i in range(3 * STEPS if on_mesh else STEPS):
        flat = on_mesh and BEYOND <= fa < LOW * -fb  # so much, and more, is said as this
        flat = flat or (
            i > STEPS and i % 2 == 0
        )  # it may have a bend just there, from one feature to another
        s = 0.5 * (a + b) if flat else a + (b - a) * (fa / (fa - fb))
        go_to(plan, ws, h, s)
        f = gap_of_free(plan, state, ws, culprit)
        least, which = least_gap(plan, state, ws, math.inf)
        if f >= -CLOSE and least < -HIT:  # another one has closed before
            culprit, b, fb = which, s, least
            go_to(plan, ws, h, a)
            fa = gap_of_free(plan, state, ws, culprit)
            before, f_before, side = b, fb, 0
            if not fa > 0.0:
                if plan.hull_contact != 0 and fa >= -HIT:  # a vertex at an edge closes two gaps at once
                    return a * h, (fb - fa) / ((b - a) * h)
                return -1.0, 0.0
            continue
        if s != before:
            slope = (f - f_before) / ((s - before) * h)
        before, f_before = s, f
        if abs(f) <= (0.5 * HIT if on_mesh else CLOSE):
            break
        if f > 0.0:
            a, fa = s, f
            fb = 0.5 * fb if side == 1 else fb  # the Illinois rule: neither end stays for long
            side = 1
        else:
            b, fb = s, f
            fa = 0.5 * fa if side == -1 else fa
            side = -1
    if not (abs(f_before) <= HIT and slope < 0.0):
        return -1.0, 0.0
    return before * h, slope


@kernel
def dense_border(plan, state, ws, h, guard):
    """Where a contact comes to the border of its feature [s], and the rate there [m/s]: ``dense_crossing``.

    The margin of a region rises from the border where the contact came in and falls to the one where it goes
    out; halving gets past the top, false position to the zero.
    """
    k = block_of_guard(state, guard)
    a, fa, b, fb = 0.0, ws.guard0[guard], 1.0, ws.guard2[guard]
    before, f_before, slope, side = b, fb, 0.0, 0
    for _ in range(2 * STEPS):
        low = a == 0.0 and fa < LOW * -fb
        s = 0.5 * (a + b) if low else a + (b - a) * (fa / (fa - fb))
        go_to(plan, ws, h, s)
        f = margin(plan, state, k, 0, ws.X)
        if s != before:
            slope = (f - f_before) / ((s - before) * h)
        before, f_before = s, f
        if abs(f) <= CLOSE:
            break
        if f > 0.0:
            a, fa = s, f
            fb = 0.5 * fb if side == 1 else fb
            side = 1
        else:
            b, fb = s, f
            fa = 0.5 * fa if side == -1 else fa
            side = -1
    if not (abs(f_before) <= HIT and slope < 0.0):
        return -1.0, 0.0
    return before * h, slope


def find_border(plan, state, ws, h):
    """The guard of the first border that is passed in a step of length h, with the guards ws.guard2 at its
    end, and ``dense_border`` of it; -1 where there is none, or none is found so."""
    first, earliest, rate = -1, math.inf, 0.0
    for g in range(state.mode.size, ws.guard2.size):
        if is_border(plan, state, g) and has_fired(plan, state, g, ws.guard0, ws.guard2):
            at, slope = dense_border(plan, state, ws, h, g)
            if 0.0 < at < earliest:
                first, earliest, rate = g, at, slope
    return first, earliest, rate
