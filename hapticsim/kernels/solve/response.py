"""Constraints solved in O(n): every row's impulse response by the articulated-body method, M never formed.

With Y_i = M^-1 A_i' the rows A udot + s = 0 are met by udot = udot_free + Y' lambda, W lambda = -(A udot_free
+ s), W = A Y (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 8; Lilly and Orin, 1993).  It needs
no choice of independent speeds and gives what ``embedding`` gives.

W itself would square the condition of the rows.  So its Cholesky factor L comes from the rows instead:
modified Gram-Schmidt in the metric of M^-1 turns A = L Q, Q M^-1 Q' = 1, one response per row.  The
corrections are applied last row first, as for least squares (Björck, Numerical Methods for Least Squares
Problems, 1996, section 2.4, there for M = 1).

The same kernels impose rows on speeds by an impulse: u for udot, -b for s, impulses for forces.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.foreign import response_at
from hapticsim.kernels.machine_code.jit import inlined, kernel

# A row of which less than this share of W_ii is its own depends on those before it.  Combinations of three
# rows leave at most 4e-31 on seven robots, rows 1e-7 apart at least 5e-20 (on a chain with cond(M) = 3e11).
DEPENDENT = 1e-28
# Where the free acceleration is large against what the rows leave of it, the second takes the error of udot
# on a chain with cond(M) = 3e11 from 4e-11 to 1e-14; a third changes nothing.
CORRECTIONS = 2


@kernel
def response_acceleration(respond, F, A, s, r, udot_free, Q, Y, L, t, udot, lam):
    """Write udot (n,) with A udot + s = 0 (r independent rows) and M udot = M udot_free + A' lam; lam (r,).

    respond  address of ``response``, and F what ``response_factor`` gave at the same q.
    Q, Y, L  as ``orthonormal_rows`` leaves them; t (r,) scratch.
    udot may be udot_free itself.  Returns False, with nothing of it written, when the rows are dependent.
    """
    if not orthonormal_rows(respond, F, A, r, Q, Y, L):
        return False
    correct_rows(s, r, udot_free, Q, Y, L, t, udot, lam)
    return True


@kernel
def orthonormal_rows(respond, F, A, r, Q, Y, L):
    """Factor the first r rows, A = L Q with Q M^-1 Q' = 1.

    Q  (r, n) rows.
    Y  (r, n) their responses M^-1 Q_i'.
    L  (r, r) lower triangle, with A M^-1 A' = L L'.
    Returns False at the first row that depends on those before it.
    """
    n = A.shape[1]
    for i in range(r):
        for j in range(n):
            Q[i, j] = A[i, j]
        shared = 0.0
        for k in range(i):
            share = _dot(Q[i], Y[k], n)
            for j in range(n):
                Q[i, j] -= share * Q[k, j]
            L[i, k] = share
            shared += share * share
        response_at(respond)(F, Q[i], Y[i])
        own = _dot(Q[i], Y[i], n)
        if not own > DEPENDENT * (own + shared):
            return False
        length = math.sqrt(own)
        L[i, i] = length
        for j in range(n):
            Q[i, j] /= length
            Y[i, j] /= length
    return True


@kernel
def correct_rows(s, r, udot_free, Q, Y, L, t, udot, lam):
    """Move udot_free to A udot + s = 0 along the responses, with the rows factored; write udot and lam (r,).

    t  (r,) scratch.
    """
    n = udot.size
    for i in range(r):  # L t = s
        total = s[i]
        for k in range(i):
            total -= L[i, k] * t[k]
        t[i] = total / L[i, i]
        lam[i] = 0.0
    for j in range(n):
        udot[j] = udot_free[j]
    for _ in range(CORRECTIONS):
        for i in range(r - 1, -1, -1):
            missing = t[i] + _dot(Q[i], udot, n)
            lam[i] -= missing
            for j in range(n):
                udot[j] -= missing * Y[i, j]
    for i in range(r - 1, -1, -1):  # L' lam = what was applied
        total = lam[i]
        for k in range(i + 1, r):
            total -= L[k, i] * lam[k]
        lam[i] = total / L[i, i]


@inlined
def _dot(a, b, n):
    """Sum of the n products, in four sums that do not wait for one another."""
    w = x = y = z = 0.0
    whole = n - n % 4
    for j in range(0, whole, 4):
        w += a[j] * b[j]
        x += a[j + 1] * b[j + 1]
        y += a[j + 2] * b[j + 2]
        z += a[j + 3] * b[j + 3]
    for j in range(whole, n):
        w += a[j] * b[j]
    return (w + x) + (y + z)
