"""Constraints embedded: the equations of motion in the independent speeds alone.

With rows A udot + s = 0 split into dependent (D) and independent (I) speeds, udot_D = D udot_I + g, D =
-A_D^-1 A_I, g = -A_D^-1 s, and with G = [I; D] the p = n - r equations  (G' M G) udot_I = G' (f - M [0; g])
remain (Kane's equations with embedded motion constraints; Gillespie's simulator, section 4).  Forces of
constraint come afterwards, for the rows that ask: A_D' lambda = (M udot - f)_D.

What is written for an island (islands.py) is about its dependent speeds order[start:end] and its independent
ones order[first:last].  Its part of LU, D, E, g and c begins at row ``start`` of these arrays, its part of K
and y at row ``first - r``; all of them at column 0.  Where all bodies are one island start is 0 and first is
r, which the compiler folds.
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
from hapticsim.kernels.machine_code.part import from_row

AS_THEY_STAND, BY_ISLAND = range(2)  # row i goes with dependent speed i, or the row ws.ordered_rows[i] does


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
def _row(ws, way, i):
    return i if way == AS_THEY_STAND else ws.ordered_rows[i]


@inlined
def factor_dependent(A, way, start, end, order, ws):
    """Factor A_D of an island into ws.LU; return |det A_D|."""
    LU, dependent = from_row(ws.LU, start), from_row(order, start)
    for i in range(end - start):
        for j in range(end - start):
            LU[i, j] = A[_row(ws, way, start + i), dependent[j]]
    return lu_factor(LU, end - start, from_row(ws.pivots, start))


@inlined
def embedded_acceleration(A, s, r, order, M, f, ws, udot):
    """Write udot (n,) that satisfies A udot + s = 0 (r independent rows) and Kane's equations in udot_I.

    f is Q - h, (n,).  ws.LU is left holding the factor of A_D.  Returns |det A_D|, 0 when it is singular:
    then udot is zero, and NaN where something is not finite; nothing goes on with what an earlier call left.
    """
    det = factor_dependent(A, AS_THEY_STAND, 0, r, order, ws)
    if not det > 0.0:
        give_up(udot, det)
        return 0.0
    trouble = accelerate(A, s, AS_THEY_STAND, 0, r, r, f.size, r, order, M, f, ws, udot)
    if trouble != 0.0:
        give_up(udot, det + trouble)
        return 0.0
    return det


@inlined
def accelerate(A, s, way, start, end, first, last, r, order, M, f, ws, udot):
    """Write the accelerations of an island whose A_D is factored; return 0.

    Where its equations are singular nothing is written, and a number returned that is not finite where one of
    theirs is not.
    """
    p = last - first
    if end - start == 1:
        row = _row(ws, way, start)
        reduce_one(A[row], s[row], start, first, p, r, order, M, f, ws)
    else:
        reduce(A, s, way, start, end, first, p, r, order, M, f, ws)
    K, y = from_row(ws.K, first - r), from_row(ws.y, first - r)
    if not ldl_factor(K, p, K):
        total = 1.0
        for i in range(p):
            total += abs(y[i]) + abs(K[i, i])
        return total
    ldl_solve(K, p, y)
    for i in range(p):
        udot[order[first + i]] = y[i]
    for i in range(start, end):
        total = ws.g[i]
        for j in range(p):
            total += ws.D[i, j] * y[j]
        udot[order[i]] = total
    return 0.0


@kernel
def give_up(udot, number):
    """udot is zero, or NaN where the number is not finite."""
    for r in range(udot.size):
        udot[r] = 0.0 if math.isfinite(number) else math.nan


@kernel
def reduce(A, s, way, start, end, first, p, r, order, M, f, ws):
    """D, g, K = G' M G (lower triangle) and y = G' (f - M [0; g]) of an island with factor ws.LU.

    What is 0 is skipped, so that bodies which have nothing to do with one another cost what they cost alone.
    """
    D, E, g, c = from_row(ws.D, start), from_row(ws.E, start), from_row(ws.g, start), from_row(ws.c, start)
    K, y, LU, pivots = from_row(ws.K, first - r), from_row(ws.y, first - r), from_row(ws.LU, start), ws.pivots
    pivots, dependent, free, rank = (
        from_row(pivots, start),
        from_row(order, start),
        from_row(order, first),
        end - start,
    )
    for i in range(rank):
        place = _row(ws, way, start + i)
        row, rates = D[i], A[place]
        for j in range(p):
            row[j] = -rates[free[j]]
        g[i] = -s[place]
    lu_solve_rows(LU, rank, pivots, D, p)
    lu_solve(LU, rank, pivots, g)
    for i in range(rank):  # E = M_DI + M_DD D,  c = f_D - M_DD g
        inertia, row, total = M[dependent[i]], E[i], f[dependent[i]]
        for j in range(p):
            row[j] = inertia[free[j]]
        for k in range(rank):
            m_dd = inertia[dependent[k]]
            if m_dd != 0.0:
                total -= m_dd * g[k]
                for j in range(p):
                    row[j] += m_dd * D[k, j]
        c[i] = total
    for i in range(p):  # K = M_II + M_ID D + D' E,  y = f_I - M_ID g + D' c
        inertia, row, total = M[free[i]], K[i], f[free[i]]
        for j in range(i + 1):
            row[j] = inertia[free[j]]
        for k in range(rank):
            m_id, d = inertia[dependent[k]], D[k, i]
            if m_id != 0.0 or d != 0.0:
                total += d * c[k] - m_id * g[k]
                for j in range(i + 1):
                    row[j] += m_id * D[k, j] + d * E[k, j]
        y[i] = total


@inlined
def reduce_one(row, rest, start, first, p, r, order, M, f, ws):
    """The same for a single row, the commonest case, without inner loops."""
    D, E, K, y = ws.D[start], ws.E[start], from_row(ws.K, first - r), from_row(ws.y, first - r)
    d, free = order[start], from_row(order, first)
    inverse = -1.0 / row[d]
    g = rest * inverse
    m_dd, c = M[d, d], f[d] - M[d, d] * g
    ws.g[start] = g
    for i in range(p):
        oi = free[i]
        inertia, m_id = M[oi], M[oi, d]
        D[i] = row[oi] * inverse
        E[i] = m_id + m_dd * D[i]
        y[i] = f[oi] - m_id * g + D[i] * c
        for j in range(i + 1):
            K[i, j] = inertia[free[j]] + m_id * D[j] + D[i] * E[j]


@inlined
def constraint_forces(combine, m, r, order, M, f, ws, udot, lam):
    """Row forces lam (m,) from A_D' lambda = (M udot - f)_D, with the factor that embedded_acceleration left.

    Of redundant rows, the combination of least norm.
    """
    dependent_forces(0, r, 0, f.size, order, M, f, ws, udot)
    if r == m:
        for i in range(m):
            lam[i] = ws.c[i]
    else:
        for k in range(m):
            total = 0.0
            for i in range(r):
                total += combine[k, i] * ws.c[i]
            lam[k] = total


@inlined
def dependent_forces(start, end, low, high, order, M, f, ws, udot):
    """ws.c of an island, A_D'^-1 (M udot - f)_D; its speeds are among those from low to high."""
    for i in range(start, end):
        oi = order[i]
        total = -f[oi]
        for j in range(low, high):
            total += M[oi, j] * udot[j]
        ws.c[i] = total
    LU, pivots = from_row(ws.LU, start), from_row(ws.pivots, start)
    lu_solve_transposed(LU, end - start, pivots, from_row(ws.c, start))


@kernel
def least_change(combine, m, r, order, ws, missing, change):
    """Write the least change (n,) of speeds, in kinetic energy, that brings the m rows what is missing.

    K change_I = -E' e, change_D = e + D change_I, with e the change of the dependent speeds alone; D, E and
    the factors of K and A_D are those that embedded_acceleration left.
    """
    for i in range(r):
        if r == m:
            ws.g[i] = missing[i]
        else:
            total = 0.0
            for k in range(m):
                total += combine[k, i] * missing[k]
            ws.g[i] = total
    spread_change(0, r, r, change.size, r, order, ws, change)


@inlined
def spread_change(start, end, first, last, r, order, ws, change):
    """``least_change`` of an island, ws.g of which is what its dependent rows are missing."""
    p, g, y = last - first, from_row(ws.g, start), from_row(ws.y, first - r)
    lu_solve(from_row(ws.LU, start), end - start, from_row(ws.pivots, start), g)
    for j in range(p):
        total = 0.0
        for i in range(start, end):
            total -= ws.E[i, j] * ws.g[i]
        y[j] = total
    ldl_solve(from_row(ws.K, first - r), p, y)
    for j in range(p):
        change[order[first + j]] = y[j]
    for i in range(start, end):
        total = ws.g[i]
        for j in range(p):
            total += ws.D[i, j] * y[j]
        change[order[i]] = total


@kernel
def scaled_volume(det, r, order, M):
    """|det A_D| with columns scaled by the inertia of their speeds: what the choice is watched by."""
    for i in range(r):
        det /= math.sqrt(M[order[i], order[i]])
    return det
