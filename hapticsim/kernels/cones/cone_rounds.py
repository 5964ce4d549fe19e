"""Impulses of contacts that rub: each in its cone, friction against the slip where it is on the border.

    v = u + M^-1 (J' x + T' y),   x >= 0,   J v >= r,   x (J v - r) = 0
    |y| <= mu x,   y = -mu x T v / |T v|  where  T v != 0

is Coulomb's law for the speeds after a step (Moreau 1988; Jean 1999), with a round cone.  A round visits
every contact: first its normal, as in ``time_stepping/gauss_seidel.py``, then its friction, which goes
against the slip by the mass that moves along its tangents, and back to the disk mu x.  Between rounds the
direction of those before is followed (Silcowitz-Niebe, Erleben and Niebe 2010).  The last step is a round:
what comes out is in its cone.

Where this comes to no end an island of few bodies is solved by Newton's method (newton.py), and what that
leaves is answered contact by contact (one_contact.py).  How far all
is from the law at last is measured (law.certify).
"""

from __future__ import annotations

import math

from hapticsim.kernels.cones.law import certify, in_disk, off_island
from hapticsim.kernels.cones.newton import improve_island
from hapticsim.kernels.cones.one_contact import solve_exactly
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.time_stepping.few_pushes import clear_speeds, has_few, solve_few
from hapticsim.kernels.time_stepping.gauss_seidel import (
    FEWEST,
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
ENOUGH = 5.0  # times ``met``: what is farther from the law after both is solved contact by contact


def solve_cones(plan, ws, n, met):
    """Improve the impulses of the n near contacts, ws.near_x and ws.rub_x, and the speeds ws.us after them,
    so that rows have at least the rates ws.near_least and friction follows Coulomb's law.

    met   [m/s] where all contacts are no farther from it, nothing nearer is looked for.
    Expects the speeds without impulses in ws.free_u.  ws.cone_residual becomes how far the worst contact is
    from the law [m/s].
    """
    find_masses(ws, n)
    islands, visits, rows = order_near(plan, ws, n), VISITS, n
    for b in range(islands):
        own = ws.near_start[b + 1] - ws.near_start[b]
        if own == 0:
            continue
        most = min(MOST, max(FEWEST, visits // rows))
        if rubs(ws, b):
            spent = solve_rubbing_island(plan, ws, b, most, met)
        else:
            spent, _ = solve_island(plan, ws, b, most, ws.near_least, met, ws.near_x, ws.us)
        visits, rows = visits - spent, rows - own
    certify(ws, n)


@kernel
def rubs(ws, b):
    """Whether a contact of island b rubs."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        if ws.near_rub[ws.near_order[s]] >= 0:
            return True
    return False


@kernel
def solve_rubbing_island(plan, ws, b, most, met):
    """The same of island b, in so many rounds at most; return how many rows they visited.

    Directions may go in a circle for ever, which plain rounds do not.
    """
    visits = go_rounds(plan, ws, b, min(most, EARLY), met, True)
    if off_island(ws, b) > met:
        improve_island(plan, ws, b, met)
        if off_island(ws, b) > ENOUGH * met:
            visits += solve_exactly(plan, ws, b, met)
        if most > EARLY and off_island(ws, b) > met:
            visits += go_rounds(plan, ws, b, most - EARLY, met, False)
    return visits


@kernel
def go_rounds(plan, ws, b, most, met, follows):
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
        worst, now = go_round_in_cones(
            from_row(ws.near_order, first),
            end - first,
            ws.near_J,
            ws.near_Y,
            ws.near_speeds,
            ws.near_mass,
            ws.near_least,
            ws.near_change,
            ws.near_rub,
            ws.rub_J,
            ws.rub_Y,
            ws.rub_mass,
            ws.rub_most,
            ws.rub_x,
            ws.rub_change,
            x,
            v,
        )
        visits += end - first
        if worst <= met or turn == most - 1:
            break
        if follows and (turn + 1) % PATIENCE == 0 and turn < TRIES * PATIENCE and has_few(ws, b):
            solve_few(ws, b, ws.near_least, 0.1 * met, x, v)
            forget_way(plan, ws, b)
            before = 0.0
            continue
        if follows:
            follow_way_in_cones(plan, ws, b, now / before if now < before else 0.0, x, v)
            before = now
    return visits


@kernel
def go_round_in_cones(
    rows, n, J, Y, at, mass, least, changes, place, T, TY, rub_mass, most, y, rub_changes, x, v
):
    """Visit each of the n contacts in ``rows`` once.  Returns the largest change of a rate, and the sum of
    the squares of the changes of impulses.

    place   of each contact among those that rub, -1 for none; most   mu of those.
    Arrays are handed over one by one, as in ``gauss_seidel.go_round``.
    """
    worst = now = 0.0
    for s in range(n):
        i = rows[s]
        if mass[i] > 0.0:
            change = max((least[i] - rate_of_row(J[i], at[i], v)) * mass[i], -x[i])
            changes[i] = change
            if change != 0.0:
                x[i] += change
                push_row(Y[i], at[i], change, v)
                worst = max(worst, abs(change) / mass[i])
                now += change * change
        j = place[i]
        if j < 0 or rub_mass[j] == 0.0:
            continue
        if x[i] == 0.0 and y[j, 0] == 0.0 and y[j, 1] == 0.0:
            rub_changes[j, 0] = rub_changes[j, 1] = 0.0
            continue
        to_1 = y[j, 0] - rub_mass[j] * rate_of_row(T[2 * j], at[i], v)
        to_2 = y[j, 1] - rub_mass[j] * rate_of_row(T[2 * j + 1], at[i], v)
        to_1, to_2 = in_disk(to_1, to_2, most[j] * x[i])
        change_1, change_2 = to_1 - y[j, 0], to_2 - y[j, 1]
        rub_changes[j, 0], rub_changes[j, 1] = change_1, change_2
        y[j, 0], y[j, 1] = to_1, to_2
        push_row(TY[2 * j], at[i], change_1, v)
        push_row(TY[2 * j + 1], at[i], change_2, v)
        square = change_1 * change_1 + change_2 * change_2
        worst = max(worst, math.sqrt(square) / rub_mass[j])
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
