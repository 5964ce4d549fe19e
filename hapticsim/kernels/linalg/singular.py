"""Singular values of a few rows and their left singular vectors, small ones with all their digits.

R = L Q by Gram-Schmidt, always on the longest row left, a row that has lost digits made orthogonal once more
(Daniel, Gragg, Kaufman & Stewart 1976).  Then X = L' alone, m x m, is turned by one-sided Jacobi rotations
(Hestenes 1958) until its rows are orthogonal: they are sigma_k U_k'.  No rotation is accumulated, and X comes
nearly diagonal, so that few sweeps do (Drmac & Veselic 2008).  Pairs of rows are taken as in a tournament:
the rotations of a round share no row, and a processor works on several at once.

Measured, 12 x 40: 2 us for Q, 1.3 us for a sweep; cyclic by rows with the longest first, 2.4 us for a sweep.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import inlined, kernel

SWEEPS = 30  # at most; 4 to 6 were needed
ANGLE = 1e-15  # cosine of two rows that count as orthogonal
LAST_ANGLE = 1e-4  # a sweep that met none larger was the last: convergence is quadratic
LOST = 0.1  # a row of which this much is left, squared, has lost digits
STALE = 1e-3  # a squared length of which this much is left is rounding, and formed again
DEPENDENT = 1e-14  # of a row's length: what is left when the others span it


@inlined
def dot(a, b, n):
    """Inner product of the leading n entries, in four sums that a processor can form at once."""
    s0 = s1 = s2 = s3 = 0.0
    whole = n - (n & 3)
    for k in range(0, whole, 4):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
    for k in range(whole, n):
        s0 += a[k] * b[k]
    return (s0 + s2) + (s1 + s3)


@inlined
def subtract(y, c, x, n):
    """y -= c x, the leading n entries."""
    for k in range(n):
        y[k] -= c * x[k]


@kernel
def orthonormal_rows(R, m, n, X, size, left):
    """R (m x n) = X' Q with X (m x m); R becomes Q, with a zero row for each row that the others span.

    size   (m,) scratch: squared lengths of the rows.
    left   (m,) scratch: what is left of them, -1 for a row that is done.
    """
    for i in range(m):
        size[i] = left[i] = dot(R[i], R[i], n)
        for j in range(m):
            X[i, j] = 0.0
    for _ in range(m):
        p, best = 0, 0.0
        for i in range(m):
            if left[i] > best:
                p, best = i, left[i]
        if best == 0.0:
            break
        row = R[p]
        square = dot(row, row, n)
        if square < LOST * size[p]:
            for j in range(m):
                if left[j] < 0.0:
                    c = dot(R[j], row, n)
                    X[j, p] += c
                    subtract(row, c, R[j], n)
            square = dot(row, row, n)
        left[p] = -1.0
        if square <= DEPENDENT * DEPENDENT * size[p]:
            for k in range(n):
                row[k] = 0.0
            continue
        X[p, p] = math.sqrt(square)
        inverse = 1.0 / X[p, p]
        for k in range(n):
            row[k] *= inverse
        for i in range(m):
            if left[i] > 0.0:
                c = dot(row, R[i], n)
                X[p, i] = c
                subtract(R[i], c, row, n)
                left[i] -= c * c
                if left[i] < STALE * size[i]:
                    left[i] = dot(R[i], R[i], n)


@kernel
def longest_first(X, m, size):
    """Sort the rows of X (m x m); size (m,) becomes their squared lengths."""
    for i in range(m):
        size[i] = dot(X[i], X[i], m)
    for i in range(m - 1):
        longest = i
        for j in range(i + 1, m):
            if size[j] > size[longest]:
                longest = j
        if longest != i:
            size[i], size[longest] = size[longest], size[i]
            for k in range(m):
                X[i, k], X[longest, k] = X[longest, k], X[i, k]


@kernel
def orthogonal_rows(X, m, size):
    """Turn the rows of X (m x m) until they are orthogonal, longest first; size (m,): lengths squared."""
    for _ in range(SWEEPS):
        longest_first(X, m, size)
        wide = 0
        for turn in range(m):  # rows i and j meet in the round turn = i + j modulo m
            low = (turn + 1) // 2
            for h in range(low + (m - turn - 1) // 2):
                i = h if h < low else turn + 1 + h - low
                j = turn - i if h < low else turn + m - i
                x, y = X[i], X[j]
                a, b, c = size[i], size[j], dot(x, y, m)
                cc, ab = c * c, a * b
                if cc <= ANGLE * ANGLE * ab:
                    continue
                if cc > LAST_ANGLE * LAST_ANGLE * ab:
                    wide += 1
                d = 0.5 * (b - a)
                t = c / (d + math.copysign(math.sqrt(d * d + cc), d))  # tangent of the smaller angle
                cs = 1.0 / math.sqrt(1.0 + t * t)
                sn = cs * t
                size[i] = a - t * c
                size[j] = b + t * c
                for k in range(m):
                    p, q = x[k], y[k]
                    x[k] = cs * p - sn * q
                    y[k] = sn * p + cs * q
        if wide == 0:
            break
    longest_first(X, m, size)


@kernel
def left_vectors(R, m, n, X, U, sigma):
    """Singular values sigma (m,) of R (m x n), largest first, and U (m x m) in columns.

    R  becomes Q (m x n): orthonormal rows that span the same, zero rows when fewer do.
    X  (m, m) scratch.
    Columns of U whose singular value is exactly zero are zero.
    """
    orthonormal_rows(R, m, n, X, sigma, U[0])
    orthogonal_rows(X, m, sigma)
    for k in range(m):
        sigma[k] = math.sqrt(sigma[k])
        inverse = 1.0 / sigma[k] if sigma[k] > 0.0 else 0.0
        for i in range(m):
            U[i, k] = X[k, i] * inverse
