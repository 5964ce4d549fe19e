"""Impulses that push and never pull: projected Gauss-Seidel, with conjugate directions between its rounds.

    v = u + M^-1 J' x,   x >= 0,   J v >= r,   x (J v - r) = 0

is the problem that ``solve/unilateral.py`` solves exactly for a few rows; here it is solved for hundreds
within a bound.  It is the step of Moreau (1988) and of Stewart and Trinkle (1996) without friction.  Each
visit of a row sets its impulse so that its own rate is met (Jourdan, Alart and Jean 1998).  What a round
changed is taken for a gradient, and the direction of the rounds before is followed as in the method of
Fletcher and Reeves (Silcowitz-Niebe, Erleben and Niebe 2010).  A round is always the last step: no impulse
pulls.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.time_stepping.near_contacts import SOFT, push_along, rate_along

VISITS = 20000  # of rows, at most, but for FEWEST rounds
FEWEST, MOST = 20, 400  # rounds over all rows


@kernel
def solve_pushes(ws, n, least, met, x, v):
    """Improve the impulses x (n,) and v = u + M^-1 J' x so that the n near rows have at least the rates
    ``least``.

    met   [m/s] a round that changes no rate by more is the last.
    Returns the largest rate that the last round changed.
    """
    largest = worst = before = 0.0
    for i in range(n):
        largest = max(largest, ws.near_mobility[i])
    for i in range(n):
        moves = not ws.near_mobility[i] <= SOFT * largest  # one that is not a number is seen
        ws.near_mass[i] = 1.0 / ws.near_mobility[i] if moves else 0.0
        ws.near_way[i] = ws.near_change[i] = 0.0
        if not moves and x[i] != 0.0:
            push_along(ws, i, -x[i], v)
            x[i] = 0.0
    for r in range(v.size):
        ws.way_u[r] = 0.0
    rounds = min(MOST, max(FEWEST, VISITS // max(n, 1)))
    for turn in range(rounds):
        worst = now = 0.0
        for r in range(v.size):
            ws.round_u[r] = v[r]
        for i in range(n):
            mass = ws.near_mass[i]
            if mass == 0.0:
                continue
            change = max((least[i] - rate_along(ws, i, v)) * mass, -x[i])
            ws.near_change[i] = change
            if change != 0.0:
                x[i] += change
                push_along(ws, i, change, v)
                worst = max(worst, abs(change) * ws.near_mobility[i])
                now += change * change
        if worst <= met or turn == rounds - 1:
            break
        follow_way(ws, n, now / before if now < before else 0.0, x, v)
        before = now
    return worst


@kernel
def follow_way(ws, n, share, x, v):
    """Go ``share`` of the way of the rounds before once more; the way is then that and the last change.

    What it changes of v is known: the same share of what the way before changed.
    """
    for i in range(n):
        step = share * ws.near_way[i]
        ws.near_way[i] = step + ws.near_change[i]
        x[i] += step
    for r in range(v.size):
        step, change = share * ws.way_u[r], v[r] - ws.round_u[r]
        ws.way_u[r] = step + change
        v[r] += step
