"""Impulses of an island of few contacts by its active set, where rounds over them do not come to an end.

Where parts are wedged between one another, rows nearly say the same, and hundreds of rounds leave rates
open.  Here few steps solve

    minimise 1/2 x' W x + c' x + 1/2 (x - x0)' N (x - x0)  over  x >= 0,    W = J M^-1 J',   N = NEAR diag(W)

from the impulses x0 of the rounds on.  N makes it regular where rows depend on one another, and leaves what
these share near to how the rounds left it (the proximal point method, Rockafellar 1976).

A row is passive where its impulse is solved for.  Those that push well after the rounds are, but for those
that would pull then, which leave all at once, as in the pivots of Portugal, Judice and Vicente (1994).
What so left too much comes back one by one (Lawson and Hanson 1974, ch. 23).  W is written for passive rows
alone: the rates of the others are those of the speeds v, which follow every impulse.
"""

from __future__ import annotations

from hapticsim.kernels.linalg.linear import ldl_factor, ldl_solve
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.solve.unilateral import BARRED, FREE, PASSIVE
from hapticsim.kernels.time_stepping.near_contacts import product, push_along, rate_along, rate_of_row

FEW = 128  # contacts of an island that is solved so, at most
LITTLE = 0.01  # of the largest impulse; a row with less seldom pushes in the end
NEAR = 1e-8  # of what a row moves itself; of a rate that one step meets so much is left


@kernel
def has_few(ws, b):
    """Whether island b has few contacts, for which there is room."""
    return ws.near_start[b + 1] - ws.near_start[b] <= min(FEW, ws.c.size)


@kernel
def solve_few(ws, b, least, met, x, v):
    """Replace the impulses x of island b by those with which its rows have at least the rates ``least``, and
    change v as they do; rows without a mass have none, before and after.

    met   [m/s] a rate that lacks no more is met.
    """
    rows, m = from_row(ws.near_order, ws.near_start[b]), ws.near_start[b + 1] - ws.near_start[b]
    n = begin_passive(ws, rows, m, x, v)
    n = let_pulls_leave(ws, rows, n, least, x, v)
    for _ in range(3 * m):
        a = most_open(
            rows,
            m,
            ws.passive,
            ws.near_J,
            ws.near_speeds,
            ws.near_mobility,
            ws.near_mass,
            least,
            met,
            ws.x,
            v,
        )
        if a < 0:
            return
        n = go_to_passive(ws, rows, m, enter(ws, rows, n, a), least, x, v)


@kernel
def begin_passive(ws, rows, m, x, v):
    """Write the impulses x0 of the m rows to ws.x, and make those that push passive; return how many.  What
    pushes little gets no impulse."""
    largest, n = 0.0, 0
    for a in range(m):
        ws.x[a], ws.passive[a] = x[rows[a]], FREE
        largest = max(largest, ws.x[a])
    for a in range(m):
        if ws.x[a] > LITTLE * largest:
            n = enter(ws, rows, n, a)
        elif ws.x[a] > 0.0:
            push(ws, rows[a], -ws.x[a], x, v)
    return n


@kernel
def let_pulls_leave(ws, rows, n, least, x, v):
    """Solve for the n passive rows of x without those that would pull; return how many are left."""
    while find_step(ws, rows, n, least, x, v):
        before = n
        for p in range(before - 1, -1, -1):
            i = rows[ws.part_rows[p]]
            if x[i] + ws.z[p] <= 0.0:
                push(ws, i, -x[i], x, v)
                n = leave(ws, n, p, FREE)
        if n == before:
            for p in range(n):
                push(ws, rows[ws.part_rows[p]], ws.z[p], x, v)
            break
    return n


@kernel
def go_to_passive(ws, rows, m, n, least, x, v):
    """Move x to where the n passive rows alone are solved for; those that would pull leave them on the way.

    Returns how many stay.  What has no impulse and would pull at once is barred until anything moves.
    """
    while find_step(ws, rows, n, least, x, v):
        part, last, before = 1.0, -1, n
        for p in range(before - 1, -1, -1):
            impulse = x[rows[ws.part_rows[p]]]
            if impulse == 0.0 and ws.z[p] <= 0.0:
                n = leave(ws, n, p, BARRED)
        if n < before:
            continue
        for p in range(n):
            impulse = x[rows[ws.part_rows[p]]]
            if impulse + ws.z[p] <= 0.0 and impulse < -part * ws.z[p]:
                part, last = -impulse / ws.z[p], p
        for p in range(n):
            i = rows[ws.part_rows[p]]
            push(ws, i, -x[i] if p == last else part * ws.z[p], x, v)
        for a in range(m):
            if ws.passive[a] == BARRED:
                ws.passive[a] = FREE
        if last < 0:
            break
        n = leave(ws, n, last, FREE)
    return n


@kernel
def find_step(ws, rows, n, least, x, v):
    """Write to ws.z what the impulses of the n passive rows lack; False where that cannot be solved for."""
    for p in range(n):
        a = ws.part_rows[p]
        i = rows[a]
        near = NEAR * ws.near_mobility[i] * (ws.x[a] - x[i])
        ws.z[p] = least[i] - rate_along(ws, i, v) + near
    if not ldl_factor(ws.Wr, n, ws.P):
        return False
    ldl_solve(ws.P, n, ws.z)
    return True


@kernel
def most_open(rows, m, passive, J, at, mobility, mass, least, met, before, v):
    """The place in the m rows of the free one whose rate lacks most, -1 where none lacks more than ``met``.

    Arrays are handed over one by one, as in ``gauss_seidel.go_round``.
    """
    worst, most = -met, -1
    for a in range(m):
        i = rows[a]
        if passive[a] != FREE or mass[i] == 0.0:
            continue
        lacks = rate_of_row(J[i], at[i], v) - least[i] - NEAR * mobility[i] * before[a]
        if lacks < worst:
            worst, most = lacks, a
    return most


@kernel
def enter(ws, rows, n, a):
    """Put row a behind the n passive ones, and what it has of W; return how many they are."""
    ws.passive[a], ws.part_rows[n] = PASSIVE, a
    i, half = rows[a], ws.near_J.shape[1] // 2
    J, at = ws.near_J[i], ws.near_speeds[i]
    for p in range(n):
        k = rows[ws.part_rows[p]]
        ws.Wr[n, p] = ws.Wr[p, n] = response(J, at, ws.near_Y[k], ws.near_speeds[k], half)
    ws.Wr[n, n] = (1.0 + NEAR) * ws.near_mobility[i]
    return n + 1


@kernel
def leave(ws, n, p, to):
    """Take place p out of the n passive ones, and what it has of W and of the step; the last gets its place.

    to   what the row becomes.  Returns how many they are.
    """
    last = n - 1
    ws.passive[ws.part_rows[p]] = to
    ws.part_rows[p], ws.z[p] = ws.part_rows[last], ws.z[last]
    for k in range(last):
        ws.Wr[p, k] = ws.Wr[last, k]
    for k in range(last):
        ws.Wr[k, p] = ws.Wr[k, last]
    ws.Wr[p, p] = ws.Wr[last, last]
    return last


@inlined
def response(J, at, Y, at_Y, half):
    """What a row J (nj,) of W has in the column of the response Y (nj,), both as in ws.near_J."""
    total = 0.0
    for s in range(2):
        for t in range(2):
            n = at[2 * s + 1]
            if n > 0 and at_Y[2 * t + 1] > 0 and at[2 * s] == at_Y[2 * t]:
                total += product(from_row(J, s * half), from_row(Y, t * half), n)
    return total


@inlined
def push(ws, i, impulse, x, v):
    """Add to the impulse of the near contact i, and to v what that changes."""
    x[i] += impulse
    push_along(ws, i, impulse, v)


@kernel
def clear_speeds(plan, ws, b, u):
    """u = 0 at the speeds of island b."""
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
            u[r] = 0.0
