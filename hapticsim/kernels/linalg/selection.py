"""Which generalized speeds are independent, chosen while the simulation runs.

Rows A u = b are scaled by the inertia of each speed, so that metres and radians compare, and decomposed,
A = U S V' (singular.py).  The rank r comes from S.  The dependent speeds are the pivots of a QR decomposition
of V_r' with column pivoting (Businger & Golub 1965; Reckdahl's inspection of V made numerically safe: taking
the largest rows of V can leave A_D nearly singular); a speed that was dependent before is preferred to one up
to twice as good.  Then V_r' = V_D [1 E], and while an entry of E is above 2 its two speeds are exchanged:
|det V_D| grows by that factor (Gu & Eisenstat 1996).  What is left has

    cond V_D <= sqrt(1 + |E|^2) <= sqrt(1 + 4 r (n - r)),

13 for 6 rows in 13 speeds, 37 for 12 in 40, whatever the rows are.

At full rank Q of R = L Q stands for V_r': pivots and E are the same for every orthonormal basis of the rows.
Rows are compared as they are: one a hundred million times shorter than another does not count.
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.singular import dot, left_vectors, subtract
from hapticsim.kernels.machine_code.jit import kernel

RANK_KEEP, RANK_GAIN = 1e-6, 1e-5  # of the largest singular value: hysteresis of the rank
KEEP_CHOICE = 0.5  # a volume below this fraction of what another choice gives asks for that choice
EXCHANGES = 64  # at most; each doubles a volume that began above 2^-28 for 12 rows in 40 speeds;
# of many more rows the choice may not be the best one


@kernel
def pivot_columns(W, r, n, order, before, pivots, norms):
    """Turn W (r x n, orthonormal rows) until its pivot columns are upper triangular; write pivots (r,).

    order   (before,) columns that are taken when no other is longer than they are by 1 / KEEP_CHOICE.
    norms   (n,) scratch: squared lengths of what is left of the columns, -1 for a pivot.
    """
    for k in range(n):
        norms[k] = 0.0
    for i in range(r):
        row = W[i]
        for k in range(n):
            norms[k] += row[k] * row[k]
    for s in range(r):
        p = 0
        for k in range(1, n):
            if norms[k] > norms[p]:
                p = k
        enough, old = KEEP_CHOICE * KEEP_CHOICE * norms[p], -1
        for j in range(before):
            k = order[j]
            if norms[k] >= enough and (old < 0 or norms[k] > norms[old]):
                old = k
        if old >= 0:
            p = old
        pivots[s] = p
        top = W[s]
        for i in range(s + 1, r):
            row = W[i]
            a, b = top[p], row[p]
            if b == 0.0:
                continue
            size = math.sqrt(a * a + b * b)
            if size == 0.0:  # both so small that their squares are nothing
                row[p] = 0.0
                continue
            inverse = 1.0 / size
            cs, sn = a * inverse, b * inverse
            for k in range(n):
                x, y = top[k], row[k]
                top[k] = cs * x + sn * y
                row[k] = cs * y - sn * x
            row[p] = 0.0
        for k in range(n):
            norms[k] -= top[k] * top[k]
        for j in range(s + 1):
            norms[pivots[j]] = -1.0


@kernel
def solve_pivots(W, r, n, pivots):
    """Make the pivot columns of W (r x n, upper triangular there) the unit columns; the others become E."""
    for s in range(r - 1, -1, -1):
        top, p = W[s], pivots[s]
        inverse = 1.0 / top[p]
        for k in range(n):
            top[k] *= inverse
        top[p] = 1.0
        for i in range(s):
            row = W[i]
            subtract(row, row[p], top, n)
            row[p] = 0.0


@kernel
def exchange_columns(W, r, n, pivots):
    """Make columns of W = [1 E] (r x n) with an entry above 1 / KEEP_CHOICE pivots; return how many were."""
    for count in range(EXCHANGES):
        largest, i, p = 1.0 / KEEP_CHOICE, -1, -1
        for s in range(r):
            row = W[s]
            for k in range(n):
                if abs(row[k]) > largest:
                    largest, i, p = abs(row[k]), s, k
        if i < 0:
            return count
        top = W[i]
        inverse = 1.0 / top[p]
        for k in range(n):
            top[k] *= inverse
        top[p] = 1.0
        for s in range(r):
            if s != i:
                row = W[s]
                subtract(row, row[p], top, n)
                row[p] = 0.0
        pivots[i] = p
    return EXCHANGES


@kernel
def right_vectors(A, m, first, n, M, U, sigma, rank, R, norms):
    """Write to R (rank x n) the leading right singular vectors of A (m rows, its n columns from first on),
    columns scaled by inertia."""
    for k in range(n):
        norms[k] = 1.0 / math.sqrt(M[first + k, first + k])
    for i in range(rank):
        v, inverse = R[i], 1.0 / sigma[i]
        for k in range(n):
            v[k] = 0.0
        for j in range(m):
            subtract(v, -U[j, i] * inverse, A[j][first : first + n], n)
        for k in range(n):
            v[k] *= norms[k]


@kernel
def select_speeds(A, m, first, n, M, earlier, before, combine, R, U, sigma, norms, pivots):
    """Choose the dependent speeds among n for m rows.

    A        (at least m, nu) rows, 0 outside the n columns from first on; speeds are counted from there.
    M        (nu, nu) mass matrix; its diagonal scales the columns.
    earlier  (before,) the speeds that were dependent before.
    combine  (m, m) its first rank columns combine the rows into independent ones; identity at full rank.
    R        (m, n) is left holding [1 E] in scaled columns, U (m, m) and sigma (m,) as left_vectors says.
    pivots   (n,) the first rank become the dependent speeds.
    norms    (n,) scratch.
    Returns rank, and a bound of the condition of the chosen A_D (|A| |A_D^-1| of the scaled rows).
    """
    for k in range(n):
        norms[k] = 1.0 / math.sqrt(M[first + k, first + k])
    for i in range(m):
        row, scaled = A[i], R[i]
        for k in range(n):
            scaled[k] = row[first + k] * norms[k]
    left_vectors(R, m, n, combine, U, sigma)
    rank = 0
    while rank < m and sigma[rank] > sigma[0] * (RANK_KEEP if rank < before else RANK_GAIN):
        rank += 1
    for i in range(m):
        for j in range(m):
            if rank == m:
                combine[i, j] = 1.0 if i == j else 0.0
            else:
                combine[i, j] = U[i, j]
    if rank == 0:
        return 0, 1.0
    if rank < m:
        right_vectors(A, m, first, n, M, U, sigma, rank, R, norms)
    pivot_columns(R, rank, n, earlier, min(before, n), pivots, norms)
    solve_pivots(R, rank, n, pivots)
    exchange_columns(R, rank, n, pivots)
    return rank, sigma[0] / sigma[rank - 1] * spread(R, rank, n)


@kernel
def spread(R, r, n):
    """Bound of the condition of V_D where R (r x n) is [1 E]: sqrt(1 + |E|^2)."""
    squares = 1.0 - r
    for i in range(r):
        squares += dot(R[i], R[i], n)
    return math.sqrt(max(squares, 1.0))


@kernel
def eliminate(R, m, n, pivots, inverse):
    """Turn R (m x n) into [1 E] in the columns ``pivots``, and inverse (m x m) into A_D^-1.

    Returns False when A_D is singular.
    """
    for i in range(m):
        for j in range(m):
            inverse[i, j] = 1.0 if i == j else 0.0
    for s in range(m):
        p, best = pivots[s], s
        for i in range(s + 1, m):
            if abs(R[i, p]) > abs(R[best, p]):
                best = i
        if not abs(R[best, p]) > 0.0:
            return False
        if best != s:
            for k in range(n):
                R[s, k], R[best, k] = R[best, k], R[s, k]
            for k in range(m):
                inverse[s, k], inverse[best, k] = inverse[best, k], inverse[s, k]
        scale = 1.0 / R[s, p]
        for k in range(n):
            R[s, k] *= scale
        for k in range(m):
            inverse[s, k] *= scale
        R[s, p] = 1.0
        for i in range(m):
            if i != s:
                factor = R[i, p]
                subtract(R[i], factor, R[s], n)
                subtract(inverse[i], factor, inverse[s], m)
                R[i, p] = 0.0
    return True


@kernel
def condition_with(earlier, R, r, n, condition, inverse):
    """The condition that the rows would have with the speeds ``earlier`` (r,) dependent.

    R          (r, n) is [1 E] of the choice that was made, in scaled columns; it is left as [1 E] of the
               earlier one.
    condition  of the choice that was made.
    inverse    (r, r) scratch.
    Returns infinity where the rows are singular in them.
    """
    now = spread(R, r, n)
    if not eliminate(R, r, n, earlier, inverse):
        return math.inf
    then = condition * spread(R, r, n) / now
    return then if math.isfinite(then) else math.inf
