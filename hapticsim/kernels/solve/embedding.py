"""Constraints embedded: the equations of motion in the independent speeds alone.

With rows A udot + s = 0 split into dependent (D) and independent (I) speeds, udot_D = D udot_I + g, D =
-A_D^-1 A_I, g = -A_D^-1 s, and with G = [I; D] the p = n - r equations  (G' M G) udot_I = G' (f - M [0; g])
remain (Kane's equations with embedded motion constraints; Gillespie's simulator, section 4).  Forces of
constraint come afterwards, for the rows that ask: A_D' lambda = (M udot - f)_D.
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.linear import (
    extent,
    ldl_factor,
    ldl_solve,
    lu_factor,
    lu_solve,
    lu_solve_rows,
    lu_solve_transposed,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel


@kernel
def combine_rows(combine, m, r, A, s, B, t):
    """B = combine' A and t = combine' s for the first r combinations (m rows)."""
    for i in range(r):
        t[i] = 0.0
        for j in range(A.shape[1]):
            B[i, j] = 0.0
    for k in range(m):
        row = A[k]
        first, end = extent(row, A.shape[1])
        for i in range(r):
            share = combine[k, i]
            if share != 0.0:
                combined = B[i]
                t[i] += share * s[k]
                for j in range(first, end):
                    combined[j] += share * row[j]


@inlined
def factor_dependent(A, r, order, LU, pivots):
    """Factor A_D into LU; return |det A_D|."""
    for i in range(r):
        for j in range(r):
            LU[i, j] = A[i, order[j]]
    return lu_factor(LU, r, pivots)


@inlined
def embedded_acceleration(A, s, r, order, M, f, ws, udot):
    """Write udot (n,) that satisfies A udot + s = 0 (r independent rows) and Kane's equations in udot_I.

    f is Q - h, (n,).  ws.LU is left holding the factor of A_D.  Returns |det A_D|, 0 when it is singular:
    then udot is zero, and NaN where something is not finite; nothing goes on with what an earlier call left.
    """
    p = f.size - r
    det = factor_dependent(A, r, order, ws.LU, ws.pivots)
    if not det > 0.0:
        _give_up(udot, det)
        return 0.0
    if r == 1:
        _reduce_one(A, s, order, M, f, ws)
    else:
        _reduce(A, s, r, order, M, f, ws)
    if not ldl_factor(ws.K, p, ws.K):
        total = det
        for i in range(p):
            total += ws.y[i] + ws.K[i, i]
        _give_up(udot, total)
        return 0.0
    ldl_solve(ws.K, p, ws.y)
    for i in range(p):
        udot[order[r + i]] = ws.y[i]
    for i in range(r):
        total = ws.g[i]
        for j in range(p):
            total += ws.D[i, j] * ws.y[j]
        udot[order[i]] = total
    return det


@kernel
def _give_up(udot, number):
    """udot is zero, or NaN where the number is not finite."""
    for r in range(udot.size):
        udot[r] = 0.0 if math.isfinite(number) else math.nan


@kernel
def _reduce(A, s, r, order, M, f, ws):
    """D, g, K = G' M G (lower triangle) and y = G' (f - M [0; g]) for r rows with factor ws.LU.

    What is 0 is skipped, so that bodies which have nothing to do with one another cost what they cost alone.
    """
    p = f.size - r
    D, E, g, c, K, y = ws.D, ws.E, ws.g, ws.c, ws.K, ws.y
    for i in range(r):
        row, rates = D[i], A[i]
        for j in range(p):
            row[j] = -rates[order[r + j]]
        g[i] = -s[i]
    lu_solve_rows(ws.LU, r, ws.pivots, D, p)
    lu_solve(ws.LU, r, ws.pivots, g)
    for i in range(r):  # E = M_DI + M_DD D,  c = f_D - M_DD g
        inertia, row, total = M[order[i]], E[i], f[order[i]]
        for j in range(p):
            row[j] = inertia[order[r + j]]
        for k in range(r):
            m_dd = inertia[order[k]]
            if m_dd != 0.0:
                total -= m_dd * g[k]
                for j in range(p):
                    row[j] += m_dd * D[k, j]
        c[i] = total
    for i in range(p):  # K = M_II + M_ID D + D' E,  y = f_I - M_ID g + D' c
        inertia, row, total = M[order[r + i]], K[i], f[order[r + i]]
        for j in range(i + 1):
            row[j] = inertia[order[r + j]]
        for k in range(r):
            m_id, d = inertia[order[k]], D[k, i]
            if m_id != 0.0 or d != 0.0:
                total += d * c[k] - m_id * g[k]
                for j in range(i + 1):
                    row[j] += m_id * D[k, j] + d * E[k, j]
        y[i] = total


@inlined
def _reduce_one(A, s, order, M, f, ws):
    """The same for a single row, the commonest case, without inner loops."""
    D, E, K, y = ws.D[0], ws.E[0], ws.K, ws.y
    d, p = order[0], f.size - 1
    inverse = -1.0 / A[0, d]
    g = s[0] * inverse
    m_dd, c = M[d, d], f[d] - M[d, d] * g
    ws.g[0] = g
    for i in range(p):
        oi = order[1 + i]
        row, m_id = M[oi], M[oi, d]
        D[i] = A[0, oi] * inverse
        E[i] = m_id + m_dd * D[i]
        y[i] = f[oi] - m_id * g + D[i] * c
        for j in range(i + 1):
            K[i, j] = row[order[1 + j]] + m_id * D[j] + D[i] * E[j]


@inlined
def constraint_forces(combine, m, r, order, M, f, ws, udot, lam):
    """Row forces lam (m,) from A_D' lambda = (M udot - f)_D, with the factor that embedded_acceleration left.

    Of redundant rows, the combination of least norm.
    """
    n = f.size
    for i in range(r):
        oi = order[i]
        total = -f[oi]
        for j in range(n):
            total += M[oi, j] * udot[j]
        ws.c[i] = total
    lu_solve_transposed(ws.LU, r, ws.pivots, ws.c)
    if r == m:
        for i in range(m):
            lam[i] = ws.c[i]
    else:
        for k in range(m):
            total = 0.0
            for i in range(r):
                total += combine[k, i] * ws.c[i]
            lam[k] = total


@kernel
def scaled_volume(det, r, order, M):
    """|det A_D| with columns scaled by the inertia of their speeds: what the choice is watched by."""
    for i in range(r):
        det /= math.sqrt(M[order[i], order[i]])
    return det
