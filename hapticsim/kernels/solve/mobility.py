"""What contacts can still do once the constraints hold: rows orthonormal in the metric M^-1.

The rows of the constraints are made orthonormal, Q M^-1 Q' = 1, by modified Gram-Schmidt done twice; rows
that depend on others drop out.  Then the impulse that gives the constraints their rates, the accelerations
that keep them, and the mobility A (M^-1 - M^-1 Q' Q M^-1) A' that is left to contacts are dot products.
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.linear import extent, ldl_solve_between
from hapticsim.kernels.machine_code.jit import kernel

DEPENDENT = 1e-14  # of the largest square A M^-1 A' of a row: what is left of one that depends on others
DETERMINED = 1e-12  # of a contact's mobility: where constraints leave no more they prescribe its rate
CLASH = 1e-9  # [m/s] or [1/s] a redundant row asks for another rate than the others give


@kernel
def respond(plan, ws, i, Y):
    """Y = M^-1 A' of the imposed row i, which is 0 outside its trees; by the factor ws.L of M."""
    for r in range(Y.size):
        Y[r] = ws.A[i, r]
    a, b = plan.row_tree_a[ws.rows[i]], plan.row_tree_b[ws.rows[i]]
    if a >= 0:
        ldl_solve_between(ws.L, plan.tree_first[a], plan.tree_end[a], Y)
    if b >= 0 and b != a:
        ldl_solve_between(ws.L, plan.tree_first[b], plan.tree_end[b], Y)


@kernel
def share_a_tree(plan, ws, i, j):
    """Whether the imposed rows i and j are about a common tree."""
    a, b = plan.row_tree_a[ws.rows[i]], plan.row_tree_b[ws.rows[i]]
    c, d = plan.row_tree_a[ws.rows[j]], plan.row_tree_b[ws.rows[j]]
    return (a >= 0 and (a == c or a == d)) or (b >= 0 and (b == c or b == d))


@kernel
def orthonormal_constraints(plan, m, nu, ws):
    """``orthonormal_rows`` of all that are not dependent."""
    return orthonormal_rows(plan, m, nu, 0.0, ws)


@kernel
def orthonormal_rows(plan, m, nu, askew, ws):
    """Write Q, QY = M^-1 Q, qb and qr from the first m rows of ws.A, ws.b, ws.s and the factor ws.L of M.

    askew   sin^2 of the angle to those before, in the metric of M^-1, below which a row counts as dependent.
    Returns the number of independent rows, and the largest rate by which a dependent one contradicts them.
    """
    n, clash, largest = 0, 0.0, 0.0
    for i in range(m):
        Y = ws.Y[i]
        respond(plan, ws, i, Y)
        largest = max(largest, _dot(ws.A[i], Y, nu))
    for i in range(m):
        Q, Y = ws.Q[n], ws.QY[n]
        for r in range(nu):
            Q[r], Y[r] = ws.A[i, r], ws.Y[i, r]
        rate, rest = ws.b[i], ws.s[i]
        for _ in range(2):
            for j in range(n):
                share = _dot(Q, ws.QY[j], nu)
                for r in range(nu):
                    Q[r] -= share * ws.Q[j, r]
                    Y[r] -= share * ws.QY[j, r]
                rate -= share * ws.qb[j]
                rest -= share * ws.qr[j]
        left = _dot(Q, Y, nu)
        least = DEPENDENT * largest
        if askew > 0.0:
            least = max(least, askew * _dot(ws.A[i], ws.Y[i], nu))
        if left > least:
            scale = 1.0 / math.sqrt(left)
            for r in range(nu):
                Q[r] *= scale
                Y[r] *= scale
            ws.qb[n], ws.qr[n] = rate * scale, rest * scale
            n += 1
        elif abs(rate) > clash:
            clash = abs(rate)
    return n, clash


@kernel
def _dot(a, b, n):
    total = 0.0
    for r in range(n):
        total += a[r] * b[r]
    return total


@kernel
def meet_rates(n, u, change, ws):
    """Add to u the least change (in kinetic energy) that gives the n rows their rates; it goes to change."""
    for r in range(u.size):
        change[r] = 0.0
    for j in range(n):
        missing = ws.qb[j] - _dot(ws.Q[j], u, u.size)
        for r in range(u.size):
            change[r] += missing * ws.QY[j, r]
    for r in range(u.size):
        u[r] += change[r]


@kernel
def meet_accelerations(n, udot, ws):
    """Add to udot what the forces of the n rows add."""
    for j in range(n):
        missing = -ws.qr[j] - _dot(ws.Q[j], udot, udot.size)
        for r in range(udot.size):
            udot[r] += missing * ws.QY[j, r]


@kernel
def contact_mobility(plan, first, m, n, nu, ws):
    """Y = (P M^-1 A')' and W = A P M^-1 A' of the rows first..m of ws.A, P what n constraints leave.

    Both are counted from 0 for the first contact; of one whose rate the constraints prescribe both are 0.
    """
    for i in range(first, m):
        Y = ws.Y[i - first]
        respond(plan, ws, i, Y)
        alone = _dot(ws.A[i], Y, nu) if n > 0 else 0.0
        for j in range(n):
            share = _dot(ws.A[i], ws.QY[j], nu)
            for r in range(nu):
                Y[r] -= share * ws.QY[j, r]
        if n > 0 and _dot(ws.A[i], Y, nu) <= DETERMINED * alone:
            for r in range(nu):
                Y[r] = 0.0
    for i in range(m - first):
        row = ws.A[first + i]
        begin, end = extent(row, nu)
        for j in range(i + 1):
            total = 0.0
            if n > 0 or share_a_tree(plan, ws, first + i, first + j):
                for r in range(begin, end):
                    total += row[r] * ws.Y[j, r]
            ws.Wr[i, j] = total
            ws.Wr[j, i] = total
