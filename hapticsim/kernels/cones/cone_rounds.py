"""Impulses of contacts that rub: each in its cone, friction against the slip where it is on the border.

    v = u + M^-1 (J' x + T' y),   x >= 0,   J v >= r,   x (J v - r) = 0
    |y| <= mu x,   y = -mu x T v / |T v|  where  T v != 0

is Coulomb's law for the speeds after a step (Moreau 1988; Jean 1999), with a round cone.  A round visits
every contact: first its normal, as in ``time_stepping/gauss_seidel.py``, then its friction, which goes
against the slip by the mass that moves along its tangents, and back to the disk mu x.  Between rounds the
direction of those before is followed (Silcowitz-Niebe, Erleben and Niebe 2010).  The last step is a round:
what comes out is in its cone.

Where this comes to no end an island of few bodies is solved by Newton's method (newton.py).  How far all
is from the law at last is measured (law.certify).
"""

from __future__ import annotations

import math

from hapticsim.kernels.cones.law import against_slip, certify, off_island
from hapticsim.kernels.cones.newton import improve_island
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.time_stepping.few_pushes import clear_speeds, has_few, solve_few
from hapticsim.kernels.time_stepping.gauss_seidel import (
    FEWEST,
    MET,
    MOST,
    PATIENCE,
    TRIES,
    VISITS,
    begin_island,
    begin_way,
    find_masses,
    solve_island,
)
from hapticsim.kernels.time_stepping.near_contacts import push_row, rate_of_row
from hapticsim.kernels.time_stepping.near_islands import order_near

EARLY = 60  # rounds over an island before that


def solve_cones(plan, ws, n):
    """Improve the impulses of the n near contacts, ws.near_x and ws.rub_x, and the speeds ws.us after them,
    so that rows have at least the rates ws.near_least and friction follows Coulomb's law.

    ws.cone_residual becomes how far the worst contact is from that [m/s].
    """
    find_masses(ws, n)
    islands, visits, rows = order_near(plan, ws, n), VISITS, n
    for b in range(islands):
        own = ws.near_start[b + 1] - ws.near_start[b]
        if own == 0:
            continue
        most = min(MOST, max(FEWEST, visits // rows))
        if rubs(ws, b):
            spent = solve_rubbing_island(plan, ws, b, most)
        else:
            spent, _ = solve_island(plan, ws, b, most, ws.near_least, MET, ws.near_x, ws.us)
        visits, rows = visits - spent, rows - own
    certify(plan, ws, n)


@kernel
def rubs(ws, b):
    """Whether a contact of island b rubs."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        if ws.near_rub[ws.near_order[s]] >= 0:
            return True
    return False


@kernel
def solve_rubbing_island(plan, ws, b, most):
    """The same of island b, in so many rounds at most; return how many rows they visited.

    Directions may go in a circle for ever, which plain rounds do not.
    """
    visits = go_rounds(plan, ws, b, min(most, EARLY), True)
    if off_island(plan, ws, b) > MET:
        improve_island(plan, ws, b, MET)
        if most > EARLY and off_island(plan, ws, b) > MET:
            visits += go_rounds(plan, ws, b, most - EARLY, False)
    return visits


@kernel
def go_rounds(plan, ws, b, most, follows):
    """So many rounds over island b at most, with the direction of those before where it ``follows``; return
    how many rows they visited."""
    x, v, first, end = ws.near_x, ws.us, ws.near_start[b], ws.near_start[b + 1]
    begin_island(plan, ws, b, x, v)
    forget_way(plan, ws, b)
    before, visits = 0.0, 0
    for turn in range(most):
        for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
            for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
                ws.round_u[r] = v[r]
        worst, now = go_round_in_cones(plan, ws, first, end, x, v)
        visits += end - first
        if worst <= MET or turn == most - 1:
            break
        if follows and (turn + 1) % PATIENCE == 0 and turn < TRIES * PATIENCE and has_few(ws, b):
            solve_few(ws, b, ws.near_least, 0.1 * MET, x, v)
            forget_way(plan, ws, b)
            before = 0.0
            continue
        if follows:
            follow_way_in_cones(plan, ws, b, now / before if now < before else 0.0, x, v)
            before = now
    return visits


@kernel
def go_round_in_cones(plan, ws, first, end, x, v):
    """Visit each contact of an island once.  Returns the largest change of a rate, and the sum of the squares
    of the changes of impulses."""
    worst = now = 0.0
    for s in range(first, end):
        i = ws.near_order[s]
        at, mass = ws.near_speeds[i], ws.near_mass[i]
        if mass > 0.0:
            change = max((ws.near_least[i] - rate_of_row(ws.near_J[i], at, v)) * mass, -x[i])
            ws.near_change[i] = change
            if change != 0.0:
                x[i] += change
                push_row(ws.near_Y[i], at, change, v)
                worst = max(worst, abs(change) / mass)
                now += change * change
        j = ws.near_rub[i]
        if j < 0 or ws.rub_mass[j] == 0.0:
            continue
        y, change_1, change_2 = ws.rub_x[j], 0.0, 0.0
        to_1, to_2 = against_slip(plan, ws, i, j, x[i], v)
        change_1, change_2 = to_1 - y[0], to_2 - y[1]
        ws.rub_change[j, 0], ws.rub_change[j, 1] = change_1, change_2
        y[0], y[1] = to_1, to_2
        push_row(ws.rub_Y[2 * j], at, change_1, v)
        push_row(ws.rub_Y[2 * j + 1], at, change_2, v)
        square = change_1 * change_1 + change_2 * change_2
        worst = max(worst, math.sqrt(square) / ws.rub_mass[j])
        now += square
    return worst, now


@kernel
def forget_way(plan, ws, b):
    """Forget the directions of the rounds before in island b."""
    begin_way(plan, ws, b)
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        j = ws.near_rub[ws.near_order[s]]
        if j >= 0:
            for c in range(2):
                ws.rub_way[j, c] = ws.rub_change[j, c] = 0.0
    clear_speeds(plan, ws, b, ws.way_u)


@kernel
def follow_way_in_cones(plan, ws, b, share, x, v):
    """Go ``share`` of the way of the rounds before once more; the way is then that and the last change."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        step = share * ws.near_way[i]
        ws.near_way[i] = step + ws.near_change[i]
        x[i] += step
        j = ws.near_rub[i]
        if j >= 0:
            for c in range(2):
                step = share * ws.rub_way[j, c]
                ws.rub_way[j, c] = step + ws.rub_change[j, c]
                ws.rub_x[j, c] += step
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
            step, change = share * ws.way_u[r], v[r] - ws.round_u[r]
            ws.way_u[r] = step + change
            v[r] += step
