"""Impulses that push and never pull: projected Gauss-Seidel, with conjugate directions between its rounds.

    v = u + M^-1 J' x,   x >= 0,   J v >= r,   x (J v - r) = 0

is the problem that ``solve/unilateral.py`` solves exactly for a few rows; here it is solved for hundreds
within a bound.  It is the step of Moreau (1988) and of Stewart and Trinkle (1996) without friction.  Each
visit of a row sets its impulse so that its own rate is met (Jourdan, Alart and Jean 1998).  What a round
changed is taken for a gradient, and the direction of the rounds before is followed as in the method of
Fletcher and Reeves (Silcowitz-Niebe, Erleben and Niebe 2010).  A round is always the last step: no impulse
pulls.  Islands are solved one after the other, each until its own rates are met, or
its share of the visits is used up.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.time_stepping.few_pushes import clear_speeds, has_few, solve_few
from hapticsim.kernels.time_stepping.near_contacts import SOFT, push_along, push_row, rate_of_row
from hapticsim.kernels.time_stepping.near_islands import order_near

MET = 1e-7  # [m/s] by which rates of a step may be off
VISITS = 20000  # of rows, at most, but for FEWEST rounds
WHOLE = 4  # of so many rounds over an island one goes over all rows
FEWEST, MOST = 20, 400  # rounds over the rows of an island
PATIENCE, TRIES = 5, 3  # rounds after which an island of few rows is solved by its active set, and how often


@kernel
def solve_pushes(plan, ws, n, least, met, x, v):
    """Improve the impulses x (n,) and v = u + M^-1 J' x so that the n near rows have at least the rates
    ``least``.

    met   [m/s] a round that changes no rate by more is the last.
    Returns the largest rate that the last round of any island changed.
    """
    find_masses(ws, n)
    islands, visits, rows, worst = order_near(plan, ws, n), VISITS, n, 0.0
    for b in range(islands):
        own = ws.near_start[b + 1] - ws.near_start[b]
        if own == 0:
            continue
        most = min(MOST, max(FEWEST, visits // rows))  # what one island does not need is for the next
        spent, changed = solve_island(plan, ws, b, most, least, met, x, v)
        visits, rows, worst = visits - spent, rows - own, max(worst, changed)
    return worst


@kernel
def solve_island(plan, ws, b, most, least, met, x, v):
    """The same of island b, in so many rounds at most.  Returns how many rows they visited, and the largest
    rate that the last changed.

    One round in WHOLE goes over all rows, and the last does; those between over what moves (list_live).
    """
    begin_island(plan, ws, b, x, v)
    first, end = ws.near_start[b], ws.near_start[b + 1]
    before, worst, visits, live, whole = 0.0, 0.0, 0, 0, True
    for turn in range(most):
        for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
            for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
                ws.round_u[r] = v[r]
        whole = whole or turn % WHOLE == 0 or turn == most - 1
        worst, now = go_round(
            from_row(ws.near_order, first) if whole else ws.near_live,
            end - first if whole else live,
            ws.near_J,
            ws.near_Y,
            ws.near_speeds,
            ws.near_mass,
            least,
            ws.near_change,
            x,
            v,
        )
        visits += end - first if whole else live
        if whole and (worst <= met or turn == most - 1):
            return visits, worst
        if (turn + 1) % PATIENCE == 0 and turn < TRIES * PATIENCE and has_few(ws, b):
            solve_few(ws, b, least, 0.1 * met, x, v)
            begin_way(plan, ws, b)
            before, whole = 0.0, True
            continue
        if whole:
            live = list_live(ws, first, end, x)
        whole = worst <= met  # are the others as well?
        follow_way(plan, ws, b, live, now / before if now < before else 0.0, x, v)
        before = now
    return visits, worst


@kernel
def list_live(ws, first, end, x):
    """Write to ws.near_live the rows of an island that have an impulse or a way; return how many.

    The others stay as they are while none of these changes what they are given.
    """
    live = 0
    for j in range(first, end):
        i = ws.near_order[j]
        if x[i] != 0.0 or ws.near_change[i] != 0.0 or ws.near_way[i] != 0.0:
            ws.near_live[live] = i
            live += 1
    return live


@kernel
def go_round(rows, n, J, Y, at, mass, least, changes, x, v):
    """Meet the rate of each of the n rows once.  Returns the largest change of a rate, and the
    sum of the squares of the changes of impulses.

    Arrays are handed over one by one: those of the workspace would be looked up again at every row.
    """
    worst = now = 0.0
    for j in range(n):
        i = rows[j]
        if mass[i] == 0.0:
            continue
        change = max((least[i] - rate_of_row(J[i], at[i], v)) * mass[i], -x[i])
        changes[i] = change
        if change != 0.0:
            x[i] += change
            push_row(Y[i], at[i], change, v)
            worst = max(worst, abs(change) / mass[i])
            now += change * change
    return worst, now


@kernel
def find_masses(ws, n):
    """Write ws.near_mass of the n near rows; 0 of those that nothing can move along."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, ws.near_mobility[i])
    for i in range(n):
        moves = not ws.near_mobility[i] <= SOFT * largest  # one that is not a number is seen
        ws.near_mass[i] = 1.0 / ws.near_mobility[i] if moves else 0.0


@kernel
def off_push(ws, i):
    """How far the near contact i is from its law along its normal at the speeds ws.us [m/s].

    That is what a step towards the law would change of its impulse, by its mass.
    """
    mass = ws.near_mass[i]
    if mass == 0.0:
        return 0.0
    lacks = ws.near_least[i] - rate_of_row(ws.near_J[i], ws.near_speeds[i], ws.us)
    return abs(max(lacks, -ws.near_x[i] / mass))


@kernel
def certify_pushes(ws, n):
    """Write to ws.cone_residual how far the worst of n near contacts without friction is from its law."""
    ws.cone_residual[0] = ws.cone_residual[1] = 0.0
    for i in range(n):
        ws.cone_residual[0] = max(ws.cone_residual[0], off_push(ws, i))


@kernel
def begin_island(plan, ws, b, x, v):
    """No way yet; rows of island b that nothing can move along get no impulse."""
    begin_way(plan, ws, b)
    for j in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[j]
        if ws.near_mass[i] == 0.0 and x[i] != 0.0:
            push_along(ws, i, -x[i], v)
            x[i] = 0.0


@kernel
def begin_way(plan, ws, b):
    """Forget the directions of the rounds before in island b."""
    for j in range(ws.near_start[b], ws.near_start[b + 1]):
        ws.near_way[ws.near_order[j]] = ws.near_change[ws.near_order[j]] = 0.0
    clear_speeds(plan, ws, b, ws.way_u)


@kernel
def follow_way(plan, ws, b, live, share, x, v):
    """Go ``share`` of the way of the rounds before once more, for the live rows of island b; the way is then
    that and the last change.

    What it changes of v is known: the same share of what the way before changed.
    """
    for j in range(live):
        i = ws.near_live[j]
        step = share * ws.near_way[i]
        ws.near_way[i] = step + ws.near_change[i]
        x[i] += step
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
            step, change = share * ws.way_u[r], v[r] - ws.round_u[r]
            ws.way_u[r] = step + change
            v[r] += step
