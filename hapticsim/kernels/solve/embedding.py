"""Constraints embedded: the equations of motion in the independent speeds alone.

With rows A udot + s = 0 split into dependent (D) and independent (I) speeds, udot_D = D udot_I + g, D =
-A_D^-1 A_I, g = -A_D^-1 s, and with G = [I; D] the p = n - r equations  (G' M G) udot_I = G' (f - M [0; g])
remain (Kane's equations with embedded motion constraints; Gillespie's simulator, section 4).  Forces of
constraint come afterwards, for the rows that ask: A_D' lambda = (M udot - f)_D.

All of this is done island by island (islands.py).  In the arrays of the workspace the islands stand below one
another, each from column 0.
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.linear import (
    ldl_factor,
    ldl_solve,
    lu_factor,
    lu_solve,
    lu_solve_rows,
    lu_solve_transposed,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel

IMPOSED, COMBINED = range(2)  # where the rows of an island stand


@kernel
def combine_rows(combine, A, s, ws):
    """ws.B = combine' A and ws.t = combine' s, an island's combinations of its rows, in its speeds alone."""
    for b in range(ws.islands[0]):
        first, end = ws.island_first[b], ws.island_end[b]
        for i in range(ws.island_dependent[b], ws.island_dependent[b + 1]):
            combined, ws.t[i] = ws.B[i], 0.0
            for j in range(first, end):
                combined[j] = 0.0
        for place in range(ws.island_row[b], ws.island_row[b + 1]):
            k = ws.ordered_rows[place]
            row = A[k]
            for i in range(ws.island_dependent[b], ws.island_dependent[b + 1]):
                share = combine[k, i]
                if share != 0.0:
                    combined = ws.B[i]
                    ws.t[i] += share * s[k]
                    for j in range(first, end):
                        combined[j] += share * row[j]


@inlined
def _row(ws, combined, i):
    """The row of A that goes with the dependent speed i: combinations stand in the order of these."""
    return i if combined == COMBINED else ws.ordered_rows[i]


@inlined
def factor_dependent(A, combined, b, order, ws):
    """Factor A_D of island b into ws.LU; return |det A_D|."""
    start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
    for i in range(start, end):
        factor, row = ws.LU[i], A[_row(ws, combined, i)]
        for j in range(start, end):
            factor[j - start] = row[order[j]]
    return lu_factor(ws.LU[start:end], end - start, ws.pivots[start:end])


@inlined
def embedded_acceleration(A, s, combined, r, order, M, f, ws, udot):
    """Write udot (n,) that satisfies A udot + s = 0 (r independent rows) and Kane's equations in udot_I.

    combined   COMBINED: the rows are those of ``combine_rows``; IMPOSED: they stand as in ws.rows.
    f is Q - h, (n,).  ws.LU is left holding the factor of A_D.  Returns |det A_D|, 0 when it is singular:
    then udot is zero, and NaN where something is not finite; nothing goes on with what an earlier call left.
    """
    det = 1.0
    for b in range(ws.islands[0]):
        det *= factor_dependent(A, combined, b, order, ws)
    if not det > 0.0:
        _give_up(udot, det)
        return 0.0
    for b in range(ws.islands[0]):
        if not _accelerate(A, s, combined, b, r, order, M, f, ws, udot):
            total = det
            for i in range(ws.island_free[b], ws.island_free[b + 1]):
                total += ws.y[i] + ws.K[i, i - ws.island_free[b]]
            _give_up(udot, total)
            return 0.0
    return det


@inlined
def _accelerate(A, s, combined, b, r, order, M, f, ws, udot):
    """Write the accelerations of island b; False where its equations are singular, or not finite."""
    start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
    first, last = ws.island_free[b], ws.island_free[b + 1]
    p = last - first
    if end - start == 1:
        _reduce_one(A[_row(ws, combined, start)], s[_row(ws, combined, start)], b, r, order, M, f, ws)
    else:
        _reduce(A, s, combined, b, r, order, M, f, ws)
    K, y = ws.K[first:last], ws.y[first:last]
    if not ldl_factor(K, p, K):
        return False
    ldl_solve(K, p, y)
    for i in range(p):
        udot[order[r + first + i]] = y[i]
    for i in range(start, end):
        total, row = ws.g[i], ws.D[i]
        for j in range(p):
            total += row[j] * y[j]
        udot[order[i]] = total
    return True


@kernel
def _give_up(udot, number):
    """udot is zero, or NaN where the number is not finite."""
    for r in range(udot.size):
        udot[r] = 0.0 if math.isfinite(number) else math.nan


@kernel
def _reduce(A, s, combined, b, r, order, M, f, ws):
    """D, g, K = G' M G (lower triangle) and y = G' (f - M [0; g]) of island b with factor ws.LU.

    What is 0 is skipped, so that bodies which have nothing to do with one another cost what they cost alone.
    """
    start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
    first, p = ws.island_free[b], ws.island_free[b + 1] - ws.island_free[b]
    D, E, g, c = ws.D[start:end], ws.E[start:end], ws.g[start:end], ws.c[start:end]
    LU, pivots = ws.LU[start:end], ws.pivots[start:end]
    dependent, free = order[start:end], order[r + first : r + first + p]
    rank = end - start
    for i in range(rank):
        place = _row(ws, combined, start + i)
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
        inertia, row, total = M[free[i]], ws.K[first + i], f[free[i]]
        for j in range(i + 1):
            row[j] = inertia[free[j]]
        for k in range(rank):
            m_id, d = inertia[dependent[k]], D[k, i]
            if m_id != 0.0 or d != 0.0:
                total += d * c[k] - m_id * g[k]
                for j in range(i + 1):
                    row[j] += m_id * D[k, j] + d * E[k, j]
        ws.y[first + i] = total


@inlined
def _reduce_one(row, rest, b, r, order, M, f, ws):
    """The same for an island of a single row, the commonest case, without inner loops."""
    start, first = ws.island_dependent[b], ws.island_free[b]
    p = ws.island_free[b + 1] - first
    D, E, d = ws.D[start], ws.E[start], order[start]
    inverse = -1.0 / row[d]
    g = rest * inverse
    m_dd, c = M[d, d], f[d] - M[d, d] * g
    ws.g[start] = g
    for i in range(p):
        oi = order[r + first + i]
        inertia, m_id, K = M[oi], M[oi, d], ws.K[first + i]
        D[i] = row[oi] * inverse
        E[i] = m_id + m_dd * D[i]
        ws.y[first + i] = f[oi] - m_id * g + D[i] * c
        for j in range(i + 1):
            K[j] = inertia[order[r + first + j]] + m_id * D[j] + D[i] * E[j]


@inlined
def constraint_forces(combine, m, r, order, M, f, ws, udot, lam):
    """Row forces lam (m,) from A_D' lambda = (M udot - f)_D, with the factor that embedded_acceleration left.

    Of redundant rows, the combination of least norm.
    """
    for b in range(ws.islands[0]):
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        for i in range(start, end):
            inertia = M[order[i]]
            total = -f[order[i]]
            for j in range(ws.island_first[b], ws.island_end[b]):
                total += inertia[j] * udot[j]
            ws.c[i] = total
        lu_solve_transposed(ws.LU[start:end], end - start, ws.pivots[start:end], ws.c[start:end])
        for place in range(ws.island_row[b], ws.island_row[b + 1]):
            k = ws.ordered_rows[place]
            if r == m:
                lam[k] = ws.c[place]
            else:
                total = 0.0
                for i in range(start, end):
                    total += combine[k, i] * ws.c[i]
                lam[k] = total


@kernel
def least_change(combine, m, r, order, ws, missing, change):
    """Write the least change (n,) of speeds, in kinetic energy, that brings the m rows what is missing.

    K change_I = -E' e, change_D = e + D change_I, with e the change of the dependent speeds alone; D, E and
    the factors of K and A_D are those that embedded_acceleration left.
    """
    for b in range(ws.islands[0]):
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        first, last = ws.island_free[b], ws.island_free[b + 1]
        p, g, y = last - first, ws.g[start:end], ws.y[first:last]
        for i in range(start, end):
            if r == m:
                ws.g[i] = missing[ws.ordered_rows[i]]
            else:
                total = 0.0
                for place in range(ws.island_row[b], ws.island_row[b + 1]):
                    k = ws.ordered_rows[place]
                    total += combine[k, i] * missing[k]
                ws.g[i] = total
        lu_solve(ws.LU[start:end], end - start, ws.pivots[start:end], g)
        for j in range(p):
            total = 0.0
            for i in range(start, end):
                total -= ws.E[i, j] * ws.g[i]
            y[j] = total
        ldl_solve(ws.K[first:last], p, y)
        for j in range(p):
            change[order[r + first + j]] = y[j]
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
