"""Small solves against numpy, on leading blocks of larger arrays as the tick uses them."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.kernels.linalg import linear
from tests import plain_solves
from tests.kernel_access import INT, INTS, MATRIX, VECTOR, compiled

lu_factor = compiled(linear.lu_factor, MATRIX, INT, INTS)
lu_solve = compiled(linear.lu_solve, MATRIX, INT, INTS, VECTOR)
lu_solve_rows = compiled(linear.lu_solve_rows, MATRIX, INT, INTS, MATRIX, INT)
lu_solve_transposed = compiled(linear.lu_solve_transposed, MATRIX, INT, INTS, VECTOR)
ldl_factor = compiled(linear.ldl_factor, MATRIX, INT, MATRIX)
ldl_solve = compiled(linear.ldl_solve, MATRIX, INT, VECTOR)
ldl_solve_between = compiled(linear.ldl_solve_between, MATRIX, INT, INT, VECTOR)
ldl_solve_six = compiled(linear.ldl_solve_six, MATRIX, INT, VECTOR, VECTOR)

SPARE = 2  # rows and columns beyond the block, which must not matter


def padded(block: np.ndarray) -> np.ndarray:
    n = len(block)
    array = np.full((n + SPARE, n + SPARE), np.nan)
    array[:n, :n] = block
    return array


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_lu_solves_a_system_and_its_transpose_and_knows_the_determinant(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        LU, pivots = padded(A), np.zeros(n + SPARE, np.int64)
        assert lu_factor(LU, n, pivots) == pytest.approx(abs(np.linalg.det(A)), rel=1e-10)
        x = np.append(b, np.full(SPARE, np.nan))
        lu_solve(LU, n, pivots, x)
        scale = np.linalg.cond(A) * 1e-15 * (1.0 + np.abs(x[:n]).max())
        np.testing.assert_allclose(A @ x[:n], b, rtol=0, atol=100 * scale)
        x = b.copy()
        lu_solve_transposed(LU, n, pivots, x)
        np.testing.assert_allclose(A.T @ x, b, rtol=0, atol=100 * scale)


def test_a_zero_first_pivot_is_no_obstacle():
    A, pivots, b = np.array([[0.0, 2.0], [3.0, 1.0]]), np.zeros(2, np.int64), np.array([4.0, 5.0])
    assert lu_factor(A, 2, pivots) == 6.0
    lu_solve(A, 2, pivots, b)
    assert b.tolist() == [1.0, 2.0]


def test_a_singular_matrix_has_volume_zero():
    A = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    assert lu_factor(A, 3, np.zeros(3, np.int64)) == 0.0


@pytest.mark.parametrize("n", [1, 2, 4, 9])
@pytest.mark.parametrize("in_place", [True, False])
def test_ldl_solves_with_a_mass_matrix_whose_entries_span_eight_decades(n, in_place):
    rng = np.random.default_rng(n)
    for _ in range(50):
        root = rng.normal(size=(n, n)) + 2.0 * np.eye(n)
        scale = 10.0 ** rng.uniform(-4, 4, n)
        A = (root @ root.T) * np.outer(scale, scale)
        x = rng.normal(size=n)
        work = padded(A)
        work[np.triu_indices(n, 1)] = np.nan  # only the lower triangle may be read
        L = work if in_place else np.zeros_like(work)
        assert ldl_factor(work, n, L)
        b = A @ x
        ldl_solve(L, n, b)
        cond = np.linalg.cond(root) ** 2
        np.testing.assert_allclose(b * scale, x * scale, rtol=0, atol=1e-14 * cond * np.abs(x * scale).max())


def test_ldl_refuses_what_is_not_positive_definite():
    for A in ([[1.0, 2.0], [2.0, 1.0]], [[0.0]], [[np.nan]]):
        matrix = np.array(A)
        assert not ldl_factor(matrix, len(matrix), np.zeros_like(matrix))


def blocks(rng: np.random.Generator, n: int, positive: bool) -> np.ndarray:
    """A regular matrix of random blocks, as bodies that have nothing to do with one another make it; unless
    it is to be positive definite its rows and columns are shuffled."""
    A, start = np.zeros((n, n)), 0
    while start < n:
        end = min(n, start + int(rng.integers(1, 5)))
        root = rng.normal(size=(end - start, end - start)) + 2.0 * np.eye(end - start)
        A[start:end, start:end] = root @ root.T if positive else root
        start = end
    return A if positive else A[np.ix_(rng.permutation(n), rng.permutation(n))]


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16])
def test_what_is_zero_is_skipped_without_changing_a_number(n):
    """Beside solves that skip nothing: blocks and full matrices, right sides with and without zeros."""
    rng = np.random.default_rng(n)
    for trial in range(40):
        A = blocks(rng, n, False) if trial % 2 else rng.normal(size=(n, n))
        b = rng.normal(size=n) * (rng.random(n) < (0.0, 0.2, 0.6, 1.0)[trial % 4])
        LU, pivots, x = A.copy(), np.zeros(n, np.int64), b.copy()
        lu_factor(LU, n, pivots)
        lu_solve(LU, n, pivots, x)
        plain, rows = plain_solves.lu_factor(A)
        assert pivots.tolist() == rows
        np.testing.assert_array_equal(LU, plain)
        np.testing.assert_array_equal(x, plain_solves.lu_solve(plain, rows, b))
        K = blocks(rng, n, True) if trial % 2 else A @ A.T + np.eye(n)
        L, x = np.full((n, n), np.nan), b.copy()
        assert ldl_factor(K, n, L)
        ldl_solve(L, n, x)
        plain = plain_solves.ldl_factor(K)
        np.testing.assert_array_equal(np.tril(L), plain)
        np.testing.assert_array_equal(x, plain_solves.ldl_solve(plain, b))


@pytest.mark.parametrize("n", [2, 5, 9, 24])
def test_rows_are_solved_to_the_bits_of_columns_whatever_is_zero(n):
    rng = np.random.default_rng(n)
    for trial in range(100):
        A = blocks(rng, n, False) if trial % 2 else rng.normal(size=(n, n))
        B = rng.normal(size=(n, n + 3)) * (rng.random((n, n + 3)) < (0.2, 0.6, 1.0)[trial % 3])
        LU, pivots = padded(A), np.zeros(n + SPARE, np.int64)
        assert lu_factor(LU, n, pivots) == pytest.approx(abs(np.linalg.det(A)), rel=1e-9)
        X = np.full((n + SPARE, n + 3 + SPARE), np.nan)
        X[:n, : n + 3] = B
        lu_solve_rows(LU, n, pivots, X, n + 3)
        assert np.isnan(X[n:]).all() and np.isnan(X[:, n + 3 :]).all()
        scale = np.linalg.cond(A) * 1e-14 * (1.0 + np.abs(X[:n, : n + 3]).max())
        np.testing.assert_allclose(A @ X[:n, : n + 3], B, rtol=0, atol=scale)
        for j in range(n + 3):
            x = B[:, j].copy()
            lu_solve(LU, n, pivots, x)
            np.testing.assert_array_equal(X[:n, j], x)


@pytest.mark.parametrize("n", [1, 3, 8, 24])
@pytest.mark.parametrize("in_place", [True, False])
def test_ldl_solves_with_blocks_for_what_is_mostly_zero(n, in_place):
    rng = np.random.default_rng(n)
    for trial in range(100):
        A = blocks(rng, n, True)
        b = rng.normal(size=n) * (rng.random(n) < (0.15, 0.5, 1.0)[trial % 3])
        K = padded(A)
        L = K if in_place else np.full_like(K, np.nan)
        assert ldl_factor(K, n, L)
        x = np.append(b, np.full(SPARE, np.nan))
        ldl_solve(L, n, x)
        expected = np.linalg.solve(A, b)
        scale = np.linalg.cond(A) * 1e-14 * (1.0 + np.abs(expected).max())
        np.testing.assert_allclose(x[:n], expected, rtol=0, atol=scale)
        assert np.isnan(x[n:]).all()


@pytest.mark.parametrize("first", [0, 2])
def test_six_speeds_are_solved_to_the_bit_as_any_number_of_them(first: int):
    rng = np.random.default_rng(first)
    for _ in range(50):
        root, b = rng.normal(size=(6, 6)), rng.normal(size=6)
        L, whole, y = np.full((9, 9), np.nan), np.zeros(9), np.zeros(6)
        block = root @ root.T + np.eye(6)
        factor = np.zeros((6, 6))
        assert ldl_factor(block, 6, factor)
        L[first : first + 6, first : first + 6] = factor
        whole[first : first + 6] = b
        ldl_solve_between(L, first, first + 6, whole)
        ldl_solve_six(L, first, b, y)
        np.testing.assert_allclose(block @ y, b, rtol=0, atol=1e-10)
        assert np.array_equal(y, whole[first : first + 6])
