"""A choice of speeds that was foreseen, checked against the rows there are and corrected, without an SVD.

With the foreseen dependent speeds D and columns scaled by inertia as in selection.py, A = A_D [1 E].  Gauss's
elimination with row pivoting gives E and A_D^-1, and |A| |A_D^-1| (Frobenius) bounds the condition of A_D.
The smallest singular value of the rows is 1 / |A_D^-1| or more: while the bound is small their rank is full,
whatever was foreseen.  Where E has an entry above 2,
speeds are exchanged as selection does, so that what is adopted meets the same bound as what it would choose.
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.selection import exchange_columns, spread, write_order
from hapticsim.kernels.linalg.singular import dot, subtract
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.sample import MASK_BITS

WORST = 1e5  # condition above which the rank is asked of the singular values; they say that it drops at 1e7
LARGEST_MASK = 2.0**MASK_BITS  # sums of 2^r below it are exact


@kernel
def read_mask(mask, n, pivots):
    """Write the numbers r whose 2^r is in mask to pivots (n,); return how many, or 0 for an unusable mask."""
    if not 0.0 < mask < LARGEST_MASK:
        return 0
    bits, count = int(mask), 0
    for r in range(n):
        if (bits >> r) & 1 == 1:
            pivots[count] = r
            count += 1
    return count if n >= 53 or bits >> n == 0 else 0


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
def check_choice(A, m, M, pivots, R, inverse, norms):
    """Correct a choice of m dependent speeds of the rows A (m x n) in place; return a bound of its condition.

    Returns 0.0 when the rows are not safely independent in these speeds.  R (m, n), inverse (m, m) and norms
    (n,) are scratch.
    """
    n = A.shape[1]
    size = 0.0
    for k in range(n):
        norms[k] = 1.0 / math.sqrt(M[k, k])
    for i in range(m):
        for k in range(n):
            R[i, k] = A[i, k] * norms[k]
        size += dot(R[i], R[i], n)
    if not eliminate(R, m, n, pivots, inverse):
        return 0.0
    inverse_size = 0.0
    for i in range(m):
        inverse_size += dot(inverse[i], inverse[i], m)
    condition = math.sqrt(size * inverse_size)
    if not condition <= WORST:
        return 0.0
    if exchange_columns(R, m, n, pivots) > 0:
        condition *= spread(R, m, n)
    return condition


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


@kernel
def adopt_prepared(state, ws, m, before):
    """Adopt the first foreseen choice for so many rows as there are in ws.A, if it holds up.

    before   how many speeds were dependent.
    Returns its condition, 0.0 when there is none, and whether the dependent speeds are others than before.
    """
    n = ws.u0.size
    for h in range(ws.prepared.size):
        if ws.prepared[h] > 0.0 and read_mask(ws.prepared[h], n, ws.perm) == m:
            condition = check_choice(ws.A, m, ws.M, ws.perm, ws.R, ws.U, ws.norms)
            if not condition > 0.0:
                return 0.0, False
            changed = write_order(state.order, m, before, ws.perm, n, ws.norms)
            for i in range(m):
                for j in range(m):
                    state.combine[i, j] = 1.0 if i == j else 0.0
            return condition, changed
    return 0.0, False


@kernel
def expect_pushes(ws, first, m):
    """Mark in ws.passive the contacts, rows first..m, that the next foreseen impulse says will push.

    Returns 1 when there is one.
    """
    for h in range(ws.pushing.size):
        if not 0.0 < ws.pushing[h] < LARGEST_MASK:
            continue
        bits = int(ws.pushing[h])
        ws.pushing[h] = 0.0
        for i in range(first, m):
            k = ws.rows[i]
            ws.passive[i - first] = 1 if k < MASK_BITS and (bits >> k) & 1 == 1 else 0
        return 1
    return 0


@kernel
def note_pushes(out, ws, first, m):
    """Append to out.pushed which of the contacts, rows first..m, pushed: ws.x is above zero."""
    n = out.counts[8]
    if n < out.pushed.size:
        bits = 0
        for i in range(first, m):
            if ws.x[i - first] > 0.0 and ws.rows[i] < MASK_BITS:
                bits |= 1 << ws.rows[i]
        out.pushed[n] = float(bits)
    out.counts[8] += 1
