"""Ways to solve A x = b for the rates of the speeds, A the mass matrix.

Cholesky, LU, Gauss-Jordan and singular values are those that Cloutier, Properties of Robot Forward Dynamics
Algorithms (1995), section 5.1.5, compares; L D L' is what a tree invites to, and the last is one step of the
method of conjugate gradients.  All work in the precision of the
arrays they are given: n x n and n, C-contiguous, float64 or float32.  A and b are used up.  A matrix that
cannot be solved gives NaN, no exception.  Plain Python (``cholesky.py_func``) gives the same bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SWEEPS = 40  # of Jacobi rotations; 5 to 10 are usual


@njit(nogil=True, error_model="numpy")
def ldl_factor(A, pivots):
    """Write L below the diagonal of A, with A = L' D L, and D into ``pivots`` (n), without square roots.

    Rows are eliminated from the last up, so a robot from its tips to its root, and the pivots are the D of
    the articulated-body method (Ascher, Pai and Cloutier, 1997, section 3).  Returns False at a pivot that is
    not positive: it is written, those before it are left alone.
    """
    for k in range(len(A) - 1, -1, -1):
        pivots[k] = A[k, k]
        if not pivots[k] > 0:
            return False
        for i in range(k):
            factor = A[k, i] / pivots[k]
            for j in range(i + 1):
                A[i, j] -= factor * A[k, j]
        for i in range(k):
            A[k, i] = A[k, i] / pivots[k]
    return True


@njit(nogil=True, error_model="numpy")
def cholesky(A, b, x):
    """Solve by A = L L', of which the lower triangle is read; NaN where A is not positive definite.

    The textbook's order and square roots (Golub and Van Loan, algorithm 4.2.1), from the root to the tips.
    """
    n = len(A)
    for j in range(n):
        for i in range(j, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                if not total > 0:
                    x[:] = np.nan
                    return
                A[j, j] = np.sqrt(total)
            else:
                A[i, j] = total / A[j, j]
    for i in range(n):  # L y = b
        x[i] = b[i]
        for k in range(i):
            x[i] -= A[i, k] * x[k]
        x[i] = x[i] / A[i, i]
    for i in range(n - 1, -1, -1):  # L' x = y
        for k in range(i + 1, n):
            x[i] -= A[k, i] * x[k]
        x[i] = x[i] / A[i, i]


@njit(nogil=True, error_model="numpy")
def ldl(A, b, x):
    """Solve by A = L' D L, of which the lower triangle is read; NaN where A is not positive definite.

    From the tips to the root and without square roots it rounds less than ``cholesky`` does.
    """
    n = len(A)
    if not ldl_factor(A, x):
        x[:] = np.nan
        return
    for k in range(n - 1, -1, -1):  # L' y = b, then y / D
        for i in range(k):
            b[i] -= A[k, i] * b[k]
        b[k] = b[k] / x[k]
    for k in range(n):  # L x = y / D
        x[k] = b[k]
        for j in range(k):
            x[k] -= A[k, j] * x[j]


@njit(nogil=True, error_model="numpy")
def lu(A, b, x):
    """Solve by Gaussian elimination with partial pivoting: the largest of a column."""
    n = len(A)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0:
            x[:] = np.nan
            return
        _swap_rows(A, b, k, best)
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        x[k] = b[k]
        for j in range(k + 1, n):
            x[k] -= A[k, j] * x[j]
        x[k] = x[k] / A[k, k]


@njit(nogil=True, error_model="numpy")
def gauss_jordan(A, b, x):
    """Solve by elimination above and below with full pivoting: the largest of what is left.

    A pivot of column c is brought to row c, so that the solution ends up in order.
    """
    n = len(A)
    done = np.zeros(n, np.bool_)
    for _ in range(n):
        row, column = -1, -1
        for i in range(n):
            for j in range(n):
                if (
                    not done[i]
                    and not done[j]
                    and abs(A[i, j]) > 0
                    and (row < 0 or abs(A[i, j]) > abs(A[row, column]))
                ):
                    row, column = i, j
        if row < 0:
            x[:] = np.nan
            return
        done[column] = True
        _swap_rows(A, b, row, column)
        for i in range(n):
            if i != column:
                factor = A[i, column] / A[column, column]
                for j in range(n):
                    if not done[j]:
                        A[i, j] -= factor * A[column, j]
                b[i] -= factor * b[column]
    for k in range(n):
        x[k] = b[k] / A[k, k]


@njit(nogil=True, error_model="numpy")
def _swap_rows(A, b, i, j):
    """Exchange two rows of A and b."""
    if i != j:
        for k in range(len(A)):
            A[i, k], A[j, k] = A[j, k], A[i, k]
        b[i], b[j] = b[j], b[i]


@njit(nogil=True, error_model="numpy")
def svd(A, b, x):
    """Solve by singular values: x = V S^-1 U' b, by Jacobi rotations from the right (Hestenes, 1958).

    A V = U S: the columns of A are rotated until they are square to one another; their lengths are the
    singular values.  Those below n eps times the largest are taken as zero, which gives the shortest x.
    """
    n = len(A)
    zero, one, eps = A.dtype.type(0), A.dtype.type(1), A.dtype.type(np.finfo(A.dtype).eps)
    V = np.zeros_like(A)
    largest = abs(A[0, 0])
    for i in range(n):
        V[i, i] = one
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
    if not largest > 0:
        x[:] = np.nan
        return
    for i in range(n):  # so that squares stay in range
        for j in range(n):
            A[i, j] = A[i, j] / largest
    for _ in range(SWEEPS):
        square = True
        for p in range(n - 1):
            for q in range(p + 1, n):
                pp = qq = pq = zero
                for i in range(n):
                    pp += A[i, p] * A[i, p]
                    qq += A[i, q] * A[i, q]
                    pq += A[i, p] * A[i, q]
                if abs(pq) > eps * np.sqrt(pp) * np.sqrt(qq):
                    square = False
                    zeta = (qq - pp) / (pq + pq)
                    if abs(zeta) * eps > one:
                        t = one / (zeta + zeta)
                    else:
                        t = one / (abs(zeta) + np.sqrt(one + zeta * zeta))
                        if zeta < 0:
                            t = -t
                    c = one / np.sqrt(one + t * t)
                    _rotate_columns(A, p, q, c, c * t)
                    _rotate_columns(V, p, q, c, c * t)
        if square:
            break
    longest = zero
    for k in range(n):  # x[k] is the length of column k for a while
        x[k] = zero
        for i in range(n):
            x[k] += A[i, k] * A[i, k]
        x[k] = np.sqrt(x[k])
        longest = max(longest, x[k])
    projected = np.zeros_like(b)
    for k in range(n):
        if x[k] > eps * A.dtype.type(n) * longest:
            for i in range(n):
                projected[k] += A[i, k] / x[k] * b[i]
            projected[k] = projected[k] / x[k] / largest
    for i in range(n):
        x[i] = zero
        for k in range(n):
            x[i] += V[i, k] * projected[k]


@njit(nogil=True, error_model="numpy")
def _rotate_columns(A, p, q, c, s):
    """Turn two columns by the angle with cosine c and sine s."""
    for i in range(len(A)):
        u, v = A[i, p], A[i, q]
        A[i, p] = c * u - s * v
        A[i, q] = s * u + c * v


@njit(nogil=True, error_model="numpy")
def gradient_goal(b):
    """Return the r . r of a residual that is no more than the last bit of b."""
    goal = b.dtype.type(0)
    for i in range(len(b)):
        goal += b[i] * b[i]
    eps = b.dtype.type(np.finfo(b.dtype).eps)
    return eps * eps * goal


@njit(nogil=True, error_model="numpy")
def conjugate_gradient_step(Ap, p, r, x, goal):
    """Improve x along p, of which Ap is the product with A; say whether r . r has come down to ``goal``.

    Start with x = 0, r = p = b and goal = gradient_goal(b).  A direction without curvature ends it too:
    rounding has the last word.
    """
    before = after = curvature = p.dtype.type(0)
    for i in range(len(p)):
        before += r[i] * r[i]
        curvature += p[i] * Ap[i]
    if before <= goal or not curvature > 0:
        return True
    alpha = before / curvature
    for i in range(len(p)):
        x[i] += alpha * p[i]
        r[i] -= alpha * Ap[i]
        after += r[i] * r[i]
    beta = after / before
    for i in range(len(p)):
        p[i] = r[i] + beta * p[i]
    return after <= goal
