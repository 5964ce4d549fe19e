"""What a set of rows says of itself when its rank is deficient: contradictions, and directions set free.

With A = U S V' of rank r (selection.py), A u = b has a solution when b lies in the span of U_r.  What b has
beside it is the contradiction: among all combinations w' A = 0 with |w| = 1, w along it has the largest w' b,
so that its entries name the rows that cannot all hold.

Where the rank drops, as in a four-bar that lies flat, the right singular vectors of the singular values that
vanish are the directions of u set free: the branches part along them.
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.selection import right_vectors
from hapticsim.kernels.linalg.singular import dot, subtract
from hapticsim.kernels.machine_code.jit import kernel

TOLD = 1e-13  # of the largest singular value: below it the rows no longer tell a direction from rounding
STILL = 1e-6  # of a motion: with less of it beside the rows, nothing moves where they leave it free
PASSES = 2  # of orthogonalisation: twice is enough


@kernel
def conflict(U, rank, m, b, tolerance, share):
    """Size of the contradiction in A u = b (m rows): the length of b beside the first rank columns of U.

    tolerance  what counts as none, in the units of b.
    share      (m,) is written: the part of each row in the contradiction, sum 1; zeros when there is none.
    Returns 0.0 when there is none.
    """
    for i in range(m):
        share[i] = b[i]
    for _ in range(PASSES):
        for k in range(rank):
            c = 0.0
            for i in range(m):
                c += U[i, k] * share[i]
            for i in range(m):
                share[i] -= c * U[i, k]
    size = math.sqrt(dot(share, share, m)) if rank < m else 0.0
    if size <= tolerance:
        for i in range(m):
            share[i] = 0.0
        return 0.0
    for i in range(m):
        share[i] = (share[i] / size) ** 2
    return size


@kernel
def null_vectors(A, m, M, U, sigma, rank, u, count, R, norms, N):
    """Directions of the speeds that the rows A (m x n) leave free since singular values after rank vanished.

    M      (n, n) mass matrix; the directions are orthonormal in its diagonal: sum of M_kk N_ik N_jk.
    U, sigma, rank   singular values and left vectors of A, the first rank above 0 (speed_selection.py).
    u      (n,) present speeds: a direction that the rows no longer tell is taken beside them.
    count  how many are asked for: by how much the rank dropped.
    R      (m, n) and norms (n,) scratch.
    N      (at least 2, n) is written, a direction a row, the largest entry positive.
    Returns how many were written: at most 2, at most count, at most m - rank and as many as there are.
    """
    n = u.size
    right_vectors(A, m, 0, n, M, U, sigma, rank, R, norms)
    for i in range(rank):
        make_orthogonal(R[i], R, i, N, 0, n)
    count = min(count, 2, m - rank)
    found, largest_sigma = 0, 0.0
    for i in range(m):
        largest_sigma = max(largest_sigma, sigma[i])
    while found < count:
        k, w = rank + found, N[found]
        told = sigma[k] > TOLD * largest_sigma
        if told:
            for j in range(n):
                w[j] = 0.0
            for i in range(m):
                subtract(w, -U[i, k] / sigma[k], A[i], n)
            for j in range(n):
                w[j] *= norms[j]
            told = make_orthogonal(w, R, rank, N, found, n) > 0.5
        if not told and not nearest_free(u, R, rank, N, found, norms, n):
            break
        found += 1
    for k in range(found):
        w, largest = N[k], 0
        for j in range(n):
            w[j] *= norms[j]
            if abs(w[j]) > abs(w[largest]):
                largest = j
        if w[largest] < 0.0:
            for j in range(n):
                w[j] = -w[j]
    return found


@kernel
def make_orthogonal(w, V, r, N, k, n):
    """Take from w what r rows of V and k of N span, and make it unit; return the length that was left."""
    length = 1.0
    for _ in range(PASSES):
        for i in range(r):
            subtract(w, dot(w, V[i], n), V[i], n)
        for i in range(k):
            subtract(w, dot(w, N[i], n), N[i], n)
        left = math.sqrt(dot(w, w, n))
        if left == 0.0:
            return 0.0
        length *= left
        for j in range(n):
            w[j] /= left
    return length


@kernel
def nearest_free(u, R, rank, N, k, norms, n):
    """Write to N[k] the direction, free beside u and N[:k], that is nearest to a single speed.

    R (rank + 1, n): orthonormal rows, and one for u.  Returns False when nothing is free.
    """
    motion, r = R[rank], rank
    for j in range(n):
        motion[j] = u[j] / norms[j]
    size = math.sqrt(dot(motion, motion, n))
    if size > 0.0:
        for j in range(n):
            motion[j] /= size
        if make_orthogonal(motion, R, rank, N, k, n) > STILL:
            r += 1
    if r + k >= n:
        return False
    best, nearest = -1.0, 0
    for j in range(n):
        free = 1.0
        for i in range(r):
            free -= R[i, j] * R[i, j]
        for i in range(k):
            free -= N[i, j] * N[i, j]
        if free > best:
            best, nearest = free, j
    for j in range(n):
        N[k, j] = 1.0 if j == nearest else 0.0
    return make_orthogonal(N[k], R, r, N, k, n) > 0.0
