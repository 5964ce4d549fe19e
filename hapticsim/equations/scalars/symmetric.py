"""A symmetric positive definite system of equations over any scalar."""

from __future__ import annotations

from hapticsim.equations.scalars.spatial import Matrix, Vector


def solve_symmetric(M: Matrix, b: Vector) -> Vector:
    """Return x with M x = b for a symmetric positive definite M (n x n), by M = L D L' without pivoting."""
    n = len(b)
    L: Matrix = [[0.0] * n for _ in range(n)]
    U: Matrix = []  # rows of D L'
    D_inverse: Vector = []
    for j in range(n):
        row = list(M[j])
        for k in range(j):
            for i in range(j, n):
                row[i] = row[i] - L[j][k] * U[k][i]
        U.append(row)
        D_inverse.append(1.0 / row[j])
        for i in range(j + 1, n):
            L[i][j] = row[i] * D_inverse[j]
    x = list(b)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    x = [value * inverse for value, inverse in zip(x, D_inverse, strict=True)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return x
