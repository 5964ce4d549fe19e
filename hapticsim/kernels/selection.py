"""Which generalized speeds are independent, chosen while the simulation runs.

Rows A u = b are scaled by the inertia of each speed, so that metres and radians compare, and decomposed A = U
S V'. The rank comes from S; the dependent speeds are the pivots of a QR decomposition with column pivoting of
V_r' (Reckdahl's inspection of V made numerically safe: taking the largest rows of V can leave A_D nearly
singular).

Method: one-sided Jacobi rotations of the rows (Hestenes 1958; Golub and Van Loan, section 8.6.3), which needs
no workspace and is accurate to the last bits for small singular values; Businger and Golub's pivoting (1965).
"""

from __future__ import annotations

import math

import numpy as np

from hapticsim.kernels.jit import kernel

SWEEPS = 30
RANK_KEEP, RANK_GAIN = 1e-8, 1e-7  # of the largest singular value: hysteresis of the rank
KEEP_CHOICE = 0.5  # a volume below this fraction of the one at the choice asks for a new choice


@kernel
def row_svd(R, m, n, U, sigma):
    """Turn the rows of R (m x n) by U' until they are orthogonal: U' R = S V'.

    R      overwritten by S V' (row i has length sigma[i]).
    U      (m, m) left singular vectors in columns.
    sigma  (m,) singular values, largest first.
    """
    for i in range(m):
        for j in range(m):
            U[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = False
        for i in range(m - 1):
            for j in range(i + 1, m):
                a = b = c = 0.0
                for k in range(n):
                    a += R[i, k] * R[i, k]
                    b += R[j, k] * R[j, k]
                    c += R[i, k] * R[j, k]
                if abs(c) <= 1e-15 * math.sqrt(a * b) or c == 0.0:
                    continue
                turned = True
                zeta = (b - a) / (2.0 * c)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                cs = 1.0 / math.sqrt(1.0 + t * t)
                sn = cs * t
                for k in range(n):
                    x, y = R[i, k], R[j, k]
                    R[i, k] = cs * x - sn * y
                    R[j, k] = sn * x + cs * y
                for k in range(m):
                    x, y = U[k, i], U[k, j]
                    U[k, i] = cs * x - sn * y
                    U[k, j] = sn * x + cs * y
        if not turned:
            break
    for i in range(m):
        total = 0.0
        for k in range(n):
            total += R[i, k] * R[i, k]
        sigma[i] = math.sqrt(total)
    for i in range(m - 1):  # selection sort, largest first
        best = i
        for j in range(i + 1, m):
            if sigma[j] > sigma[best]:
                best = j
        if best != i:
            sigma[i], sigma[best] = sigma[best], sigma[i]
            for k in range(n):
                R[i, k], R[best, k] = R[best, k], R[i, k]
            for k in range(m):
                U[k, i], U[k, best] = U[k, best], U[k, i]


@kernel
def pivoted_columns(R, r, n, perm, norms):
    """Order the columns of R (r x n) by pivoted Gram-Schmidt; perm (n,) starts with the r pivots.

    R is overwritten.  Returns the volume spanned by the pivots (product of the pivot norms).
    """
    for k in range(n):
        perm[k] = k
    volume = 1.0
    for step in range(r):
        best, where = -1.0, step
        for k in range(step, n):
            total = 0.0
            column = perm[k]
            for i in range(r):
                total += R[i, column] * R[i, column]
            norms[k] = total
            if total > best:
                best, where = total, k
        perm[step], perm[where] = perm[where], perm[step]
        pivot = perm[step]
        length = math.sqrt(best)
        volume *= length
        if length == 0.0:
            return 0.0
        for k in range(step + 1, n):
            column = perm[k]
            dot = 0.0
            for i in range(r):
                dot += R[i, pivot] * R[i, column]
            dot /= best
            for i in range(r):
                R[i, column] -= dot * R[i, pivot]
    return volume


@kernel
def select_speeds(A, m, M, rank_before, order, combine, R, U, sigma, norms, perm):
    """Choose dependent and independent speeds for the rows A (m x n) and write them to order and combine.

    M        (n, n) mass matrix; its diagonal scales the columns.
    order    (n,) first the dependent speeds, then the independent ones in rising order.
    combine  (m, m) its first rank columns combine the rows into independent ones; identity at full rank.
    Returns rank, the condition estimate of the chosen A_D (ratio of the outer singular values over the volume
    kept), and whether the dependent speeds are not those of before.
    """
    n = A.shape[1]
    for i in range(m):
        for k in range(n):
            R[i, k] = A[i, k] / math.sqrt(M[k, k])
    row_svd(R, m, n, U, sigma)
    rank = 0
    while rank < m and sigma[rank] > sigma[0] * (RANK_KEEP if rank < rank_before else RANK_GAIN):
        rank += 1
    for i in range(m):
        for j in range(m):
            if rank == m:
                combine[i, j] = 1.0 if i == j else 0.0
            else:
                combine[i, j] = U[i, j]
    if rank == 0:
        for k in range(n):
            order[k] = k
        return 0, 1.0, rank_before != 0
    for i in range(rank):
        for k in range(n):
            R[i, k] /= sigma[i]
    volume = pivoted_columns(R, rank, n, perm, norms)
    changed = rank != rank_before
    for k in range(rank):
        if order[k] != perm[k]:
            changed = True
        order[k] = perm[k]
    place = rank
    for k in range(n):
        taken = False
        for j in range(rank):
            if order[j] == k:
                taken = True
        if not taken:
            order[place] = k
            place += 1
    condition = sigma[0] / (sigma[rank - 1] * volume) if volume > 0.0 else np.inf
    return rank, condition, changed
