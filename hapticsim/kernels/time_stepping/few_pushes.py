"""Impulses of an island of few contacts by its active set, where rounds over them do not come to an end.

Where parts are wedged between one another, rows nearly say the same, and hundreds of rounds leave rates
open.  Here few steps solve

    minimise 1/2 x' W x + c' x + 1/2 (x - x0)' N (x - x0)  over  x >= 0,    W = J M^-1 J',   N = NEAR diag(W)

from the impulses x0 of the rounds on.  N makes it regular where rows depend on one another, and leaves what
these share as the rounds left it (the proximal point method, Rockafellar 1976).
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.solve.unilateral import improve_minimum
from hapticsim.kernels.time_stepping.near_contacts import product, push_along, rate_along

FEW = 32  # contacts of an island that is solved so, at most
NEAR = 1e-8  # of what a row moves itself; of a rate that one step meets so much is left


@kernel
def has_few(ws, b):
    """Whether island b has few contacts, for which there is room."""
    return ws.near_start[b + 1] - ws.near_start[b] <= min(FEW, ws.c.size)


@kernel
def solve_few(plan, ws, b, least, met, x, v):
    """Replace the impulses x of island b by those with which its rows have at least the rates ``least``, and
    change v as they do; rows without a mass get none."""
    m = 0
    for j in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[j]
        if ws.near_mass[i] > 0.0:
            ws.rows[m] = i
            m += 1
    write_responses(ws.rows, m, ws.near_J, ws.near_Y, ws.near_speeds, ws.Wr)
    for a in range(m):
        ws.x[a] = x[ws.rows[a]]
        ws.c[a] = rate_along(ws, ws.rows[a], v) - least[ws.rows[a]]
        for k in range(m):
            ws.c[a] -= ws.Wr[a, k] * x[ws.rows[k]]
        ws.c[a] -= NEAR * ws.Wr[a, a] * ws.x[a]
    for a in range(m):
        ws.Wr[a, a] *= 1.0 + NEAR
    improve_minimum(ws.Wr, ws.c, m, met, ws.x, ws.z, ws.grad, ws.passive, ws.part_rows, ws.P)
    for a in range(m):
        i = ws.rows[a]
        push_along(ws, i, ws.x[a] - x[i], v)
        x[i] = ws.x[a]


@kernel
def write_responses(rows, m, J, Y, at, W):
    """W (m, m) = J M^-1 J' of the near contacts rows[:m].

    Arrays are handed over one by one, as in ``gauss_seidel.go_round``.
    """
    half = J.shape[1] // 2
    for a in range(m):
        i = rows[a]
        J_a, at_a = J[i], at[i]
        for b in range(a, m):
            Y_b, at_b, total = Y[rows[b]], at[rows[b]], 0.0
            for s in range(2):
                for t in range(2):
                    n = at_a[2 * s + 1]
                    if n > 0 and at_b[2 * t + 1] > 0 and at_a[2 * s] == at_b[2 * t]:
                        total += product(from_row(J_a, s * half), from_row(Y_b, t * half), n)
            W[a, b] = W[b, a] = total


@kernel
def clear_speeds(plan, ws, b, u):
    """u = 0 at the speeds of island b."""
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
            u[r] = 0.0
