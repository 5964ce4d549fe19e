"""The dense solves of the tick as a textbook writes them: every product is made, also with zeros.

Sums are added in the order of the kernels, so that both give the same numbers.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def lu_factor(A: Array) -> tuple[Array, list[int]]:
    """Row pivoting; multipliers below the diagonal.  Returns LU and the row taken at each step."""
    LU, n, pivots = A.copy(), len(A), []
    for k in range(n):
        row = k + int(np.argmax(np.abs(LU[k:, k])))
        pivots.append(row)
        LU[[k, row]] = LU[[row, k]]
        inverse = 1.0 / LU[k, k]
        for i in range(k + 1, n):
            LU[i, k] *= inverse
            for j in range(k + 1, n):
                LU[i, j] -= LU[i, k] * LU[k, j]
    return LU, pivots


def lu_solve(LU: Array, pivots: list[int], b: Array) -> Array:
    x, n = b.copy(), len(b)
    for k, row in enumerate(pivots):
        x[[k, row]] = x[[row, k]]
    for k in range(n):
        for i in range(k + 1, n):
            x[i] -= LU[i, k] * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] -= LU[k, j] * x[j]
        x[k] /= LU[k, k]
    return x


def ldl_factor(A: Array) -> Array:
    """L below the diagonal, 1/D on it, zeros above."""
    L, n = np.zeros_like(A), len(A)
    for i in range(n):
        pivot = A[i, i]
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total
        for j in range(i):
            scaled = L[i, j] * L[j, j]
            pivot -= L[i, j] * scaled
            L[i, j] = scaled
        L[i, i] = 1.0 / pivot
    return L


def ldl_solve(L: Array, b: Array) -> Array:
    x, n = b.copy(), len(b)
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
    for i in reversed(range(n)):
        total = x[i] * L[i, i]
        for k in range(i + 1, n):
            total -= L[k, i] * x[k]
        x[i] = total
    return x


def combined(combine: Array, r: int, A: Array) -> Array:
    """combine' A of the first r combinations."""
    B = np.zeros((r, A.shape[1]))
    for i in range(r):
        for j in range(A.shape[1]):
            total = 0.0
            for k in range(len(A)):
                total += combine[k, i] * A[k, j]
            B[i, j] = total
    return B


def embedded(A: Array, s: Array, order: Array, M: Array, f: Array) -> Array:
    """udot with the r rows A udot + s = 0 embedded, the first r speeds of ``order`` dependent."""
    r, n = A.shape
    D_, I = order[:r], order[r:]
    LU, pivots = lu_factor(A[:, D_])
    D = np.column_stack([lu_solve(LU, pivots, -A[:, j]) for j in I]) if r < n else np.zeros((r, 0))
    g = lu_solve(LU, pivots, -s)
    E, c = np.zeros_like(D), np.zeros(r)
    for i, a in enumerate(D_):
        c[i] = f[a]
        for k in range(r):
            c[i] -= M[a, D_[k]] * g[k]
        for j, b in enumerate(I):
            E[i, j] = M[a, b]
            for k in range(r):
                E[i, j] += M[a, D_[k]] * D[k, j]
    K, y = np.zeros((n - r, n - r)), np.zeros(n - r)
    for i, a in enumerate(I):
        y[i] = f[a]
        for k in range(r):
            y[i] += D[k, i] * c[k] - M[a, D_[k]] * g[k]
        for j in range(i + 1):
            K[i, j] = M[a, I[j]]
            for k in range(r):
                K[i, j] += M[a, D_[k]] * D[k, j] + D[k, i] * E[k, j]
    y = ldl_solve(ldl_factor(K), y)
    udot = np.zeros(n)
    udot[I] = y
    for i, a in enumerate(D_):
        udot[a] = g[i]
        for j in range(n - r):
            udot[a] += D[i, j] * y[j]
    return udot
