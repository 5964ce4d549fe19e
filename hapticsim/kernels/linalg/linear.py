"""Small dense solves, written out so that nothing is allocated.

Every routine works on the leading block of arrays that may be larger, assumes finite input, and reports
trouble by its return value.  What is exactly 0 is skipped where that is cheap to see: matrices of many bodies
are mostly 0, and skipping changes no value (a zero may get another sign).
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import kernel


@kernel
def extent(row, n):
    """Where row (n,) begins and ends not to be 0: its first such place, and the one after its last; n, n for
    zeros alone."""
    first, end = 0, n
    while first < end and row[first] == 0.0:
        first += 1
    while first < end and row[end - 1] == 0.0:
        end -= 1
    return first, end


@kernel
def lu_factor(A, n, pivots):
    """Factor the leading n x n block of A in place with row pivoting; return |det|, 0 when singular."""
    det = 1.0
    for k in range(n):
        best, row = abs(A[k, k]), k
        for i in range(k + 1, n):
            if abs(A[i, k]) > best:
                best, row = abs(A[i, k]), i
        pivots[k] = row
        det *= best
        if best == 0.0:
            return 0.0
        if row != k:
            for j in range(n):
                A[k, j], A[row, j] = A[row, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                A[i, k] *= inverse
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
    return det


@kernel
def lu_solve(LU, n, pivots, b):
    """Solve A x = b in place of b (n,)."""
    for k in range(n):
        row = pivots[k]
        if row != k:
            b[k], b[row] = b[row], b[k]
    end = 0
    for k in range(n):
        if b[k] != 0.0:
            end = k + 1
            for i in range(end, n):
                b[i] -= LU[i, k] * b[k]
    for k in range(end - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, end):
            total -= LU[k, j] * b[j]
        b[k] = total / LU[k, k]


@kernel
def lu_solve_rows(LU, n, pivots, B, columns):
    """Solve A X = B in place of the leading n x columns block of B, by whole rows; LU and pivots as lu_factor
    leaves them.

    The numbers are those of ``lu_solve`` for each column.
    """
    for k in range(n):
        row = pivots[k]
        if row != k:
            for j in range(columns):
                B[k, j], B[row, j] = B[row, j], B[k, j]
    for k in range(n):
        first, end = extent(B[k], columns)
        if first < end:
            for i in range(k + 1, n):
                _subtract_row(B[i], LU[i, k], B[k], first, end)
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            _subtract_row(B[k], LU[k, i], B[i], 0, columns)
        first, end = extent(B[k], columns)
        for j in range(first, end):
            B[k, j] /= LU[k, k]


@kernel
def _subtract_row(row, share, other, first, end):
    """row[first:end] -= share * other[first:end]."""
    if share != 0.0:
        for j in range(first, end):
            row[j] -= share * other[j]


@kernel
def lu_solve_transposed(LU, n, pivots, b):
    """Solve A' x = b in place of b (n,)."""
    for k in range(n):
        total = b[k]
        for j in range(k):
            total -= LU[j, k] * b[j]
        b[k] = total / LU[k, k]
    for k in range(n - 1, -1, -1):
        total = b[k]
        for i in range(k + 1, n):
            total -= LU[i, k] * b[i]
        b[k] = total
    for k in range(n - 1, -1, -1):
        row = pivots[k]
        if row != k:
            b[k], b[row] = b[row], b[k]


@kernel
def ldl_factor(A, n, L):
    """L D L' = leading block of A (lower triangle read); return False when it is not positive definite.

    The diagonal of L holds 1/D, the strict lower triangle holds L: one division per row, no square root.
    A and L may be the same array.
    """
    return ldl_factor_between(A, 0, n, L)


@kernel
def ldl_factor_between(A, begin, end, L):
    """The same of the diagonal block of A in rows and columns begin to end."""
    for i in range(begin, end):
        pivot, first = A[i, i], begin
        while first < i and A[i, first] == 0.0:
            L[i, first] = 0.0
            first += 1
        for j in range(first, i):
            total = A[i, j]
            for k in range(first, j):
                total -= L[i, k] * L[j, k]  # L[i, k] still holds (L D)_ik
            L[i, j] = total
        for j in range(first, i):
            scaled = L[i, j] * L[j, j]
            pivot -= L[i, j] * scaled
            L[i, j] = scaled
        if not pivot > 0.0:
            return False
        L[i, i] = 1.0 / pivot
    return True


@kernel
def ldl_solve(L, n, b):
    """Solve L D L' x = b in place of b (n,)."""
    ldl_solve_between(L, 0, n, b)


@kernel
def ldl_solve_six(L, first, b, y):
    """y (6,) of the six places of L from ``first`` on, whose right side b (6,) is: a free body, unrolled."""
    l0, l1, l2 = L[first], L[first + 1], L[first + 2]
    l3, l4, l5 = L[first + 3], L[first + 4], L[first + 5]
    i0, i1, i2, i3, i4, i5 = first, first + 1, first + 2, first + 3, first + 4, first + 5
    y0 = b[0]
    y1 = b[1] - l1[i0] * y0
    y2 = b[2] - l2[i0] * y0 - l2[i1] * y1
    y3 = b[3] - l3[i0] * y0 - l3[i1] * y1 - l3[i2] * y2
    y4 = b[4] - l4[i0] * y0 - l4[i1] * y1 - l4[i2] * y2 - l4[i3] * y3
    y5 = b[5] - l5[i0] * y0 - l5[i1] * y1 - l5[i2] * y2 - l5[i3] * y3 - l5[i4] * y4
    y5 = y5 * l5[i5]
    y4 = y4 * l4[i4] - l5[i4] * y5
    y3 = y3 * l3[i3] - l4[i3] * y4 - l5[i3] * y5
    y2 = y2 * l2[i2] - l3[i2] * y3 - l4[i2] * y4 - l5[i2] * y5
    y1 = y1 * l1[i1] - l2[i1] * y2 - l3[i1] * y3 - l4[i1] * y4 - l5[i1] * y5
    y0 = y0 * l0[i0] - l1[i0] * y1 - l2[i0] * y2 - l3[i0] * y3 - l4[i0] * y4 - l5[i0] * y5
    y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5


@kernel
def ldl_solve_between(L, first, last, b):
    """The same where b is 0 outside the places first to last, and L has nothing that leads out of these."""
    start = first
    while start < last and b[start] == 0.0:
        start += 1
    end = start
    for i in range(start, last):
        total = b[i]
        for k in range(start, end):
            total -= L[i, k] * b[k]
        b[i] = total
        if total != 0.0:
            end = i + 1
    for i in range(end - 1, first - 1, -1):
        total = b[i] * L[i, i]
        for k in range(i + 1, end):
            total -= L[k, i] * b[k]
        b[i] = total
