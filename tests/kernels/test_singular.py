"""Singular values and left vectors of a few rows, against numpy and, where numpy loses digits, mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from hapticsim.kernels.linalg import singular
from tests.kernel_access import INT, MATRIX, VECTOR, compiled

left_vectors = compiled(singular.left_vectors, MATRIX, INT, INT, MATRIX, MATRIX, VECTOR)


def decompose(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q, U and sigma of the rows A."""
    m, n = A.shape
    Q, U, sigma = A.copy(), np.full((m, m), np.nan), np.full(m, np.nan)
    left_vectors(Q, m, n, np.full((m, m), np.nan), U, sigma)
    return Q, U, sigma


def orthogonal(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(n, n)))[0]


def rows_of(kind: str, rng: np.random.Generator) -> np.ndarray:
    m, n = int(rng.integers(1, 13)), int(rng.integers(1, 41))
    A = rng.normal(size=(m, n))
    if kind == "graded":
        A = orthogonal(rng, m) @ np.diag(10.0 ** rng.uniform(-12, 0, m)) @ A
    elif kind == "nearly redundant":
        half = m // 2
        A[half:] = rng.normal(size=(m - half, half)) @ A[:half] + 10.0 ** rng.uniform(-16, -6) * A[half:]
    elif kind == "equal":  # all singular values are one, with zero rows where there are too many
        A = np.vstack([orthogonal(rng, n)[:m], np.zeros((max(0, m - n), n))])
        A = A[rng.permutation(m)]
    elif kind == "small integers":  # exactly redundant rows, exactly equal singular values, zero rows
        A = rng.integers(-1, 2, size=(m, n)).astype(float)
    return np.ascontiguousarray(A)


KINDS = ["random", "graded", "nearly redundant", "equal", "small integers"]


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_vectors_are_those_of_numpy(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(600):
        A = rows_of(kind, rng)
        Q, U, sigma = decompose(A)
        theirs = np.zeros(len(A))
        theirs[: min(A.shape)] = np.linalg.svd(A, compute_uv=False)
        np.testing.assert_allclose(sigma, theirs, rtol=0, atol=2e-14 * max(theirs[0], 1e-300))
        assert np.all(np.diff(sigma) <= 1e-14 * sigma[0]), "largest first"
        r = int(np.sum(sigma > 1e-12 * sigma[0]))
        np.testing.assert_allclose(U[:, :r].T @ U[:, :r], np.eye(r), rtol=0, atol=1e-7)
        np.testing.assert_allclose(
            np.linalg.norm(U.T @ A, axis=1)[:r], sigma[:r], rtol=1e-7, atol=1e-12 * sigma[0]
        )
        kept = Q[np.any(Q != 0.0, axis=1)]
        np.testing.assert_allclose(kept @ kept.T, np.eye(len(kept)), rtol=0, atol=1e-14)
        np.testing.assert_allclose((A @ kept.T) @ kept, A, rtol=0, atol=1e-13 * max(sigma[0], 1e-300))


def test_vectors_are_orthogonal_to_the_last_digits_where_values_differ():
    """Ratios of 3: the last sweep, in which nothing was wide, is quadratic."""
    rng = np.random.default_rng(5)
    for m in range(2, 11):
        A = orthogonal(rng, m) @ np.diag(3.0 ** -np.arange(m)) @ orthogonal(rng, 12)[:m]
        _, U, sigma = decompose(np.ascontiguousarray(A))
        np.testing.assert_allclose(U.T @ U, np.eye(m), rtol=0, atol=1e-10)
        np.testing.assert_allclose(sigma, 3.0 ** -np.arange(m), rtol=1e-10)


def test_small_values_of_short_rows_keep_their_digits():
    """Rows of very different length are worked on as they are; forming A A' would lose the short ones."""
    rng = np.random.default_rng(1)
    Q = orthogonal(rng, 5)
    for k in range(3, 14):
        scales = np.array([10.0**-k, 1.0, 10.0 ** (-2 * k)])
        _, _, sigma = decompose(scales[:, None] * Q[:3])
        np.testing.assert_allclose(sigma, np.sort(scales)[::-1], rtol=1e-13)


def test_small_values_are_those_of_forty_digits():
    """Short rows that are nearly parallel: numpy is off by 1e-16 of the largest value."""
    rng = np.random.default_rng(6)
    lost = 0.0
    with mpmath.workdps(60):
        for _ in range(6):
            A = np.array([1e-13, 1e-9, 1e-4, 1.0])[:, None] * rng.normal(size=(4, 6))
            A[0] = 1e-4 * A[1] + 1e-3 * A[0]
            true = np.array([float(x) for x in mpmath.svd_r(mpmath.matrix(A.tolist()), compute_uv=False)])
            _, _, sigma = decompose(A)
            np.testing.assert_allclose(sigma, true, rtol=1e-11)
            lost = max(lost, abs(np.linalg.svd(A, compute_uv=False)[-1] / true[-1] - 1.0))
    assert lost > 1e-6, "numpy keeps the digits as well: the case shows nothing"


def test_a_row_that_others_span_leaves_a_zero():
    A = np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 0.0], [0.0, 0.0, 2.0]])
    Q, U, sigma = decompose(A)
    assert np.sum(np.any(Q != 0.0, axis=1)) == 2
    np.testing.assert_allclose(sigma, [np.sqrt(50.0), 2.0, 0.0], rtol=1e-15, atol=0)
    np.testing.assert_allclose(np.abs(U[:, 0]), [np.sqrt(0.1), np.sqrt(0.9), 0.0], atol=1e-15)
