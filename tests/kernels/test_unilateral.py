"""The contact problem against every set of active rows and against scipy, with dependent rows in it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import nnls

from hapticsim.kernels.solve import unilateral
from tests import naive
from tests.kernel_access import FLOAT, INT, INTS, MATRIX, VECTOR, compiled

nonnegative_minimum = compiled(
    unilateral.nonnegative_minimum,
    MATRIX, VECTOR, INT, FLOAT, VECTOR, VECTOR, VECTOR, INTS, INTS, MATRIX,
)  # fmt: skip

TOLERANCE = 1e-12


def solve(W: np.ndarray, c: np.ndarray, tolerance: float = TOLERANCE) -> tuple[np.ndarray, np.ndarray]:
    """x and the gradient W x + c that the kernel reports."""
    m = len(c)
    x, gradient, (passive, part) = np.full(m, 7.0), np.full(m, 7.0), np.full((2, m), 7)
    scratch = passive, part, np.zeros((m, m))
    assert nonnegative_minimum(W, c, m, tolerance, x, np.zeros(m), gradient, *scratch), "iteration limit"
    return x, gradient


def box_corners(rng: np.random.Generator) -> np.ndarray:
    """Rows n . (v + w x r) of a random rectangle of contacts on a plane: four rows, rank three."""
    a, b = rng.uniform(0.02, 1.0, 2)
    shift = rng.uniform(-0.5, 0.5, 2)
    corners = np.array([[i * a, j * b] for i in (-1, 1) for j in (-1, 1)]) + shift
    return np.array([[y, -x, 0.0, 0.0, 0.0, 1.0] for x, y in corners])


def random_problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, M and u of a contact problem; half of them redundant."""
    n = 6
    if rng.random() < 0.5:
        A = box_corners(rng)
        A = np.vstack([A, A[:1]]) if rng.random() < 0.3 else A
        A = A[rng.permutation(len(A))]
    else:
        A = rng.normal(size=(int(rng.integers(1, 7)), n))
    root = rng.normal(size=(n, n))
    return A, root @ root.T + 0.1 * np.eye(n), rng.normal(size=n) * 10.0 ** rng.uniform(-3, 2)


def test_rows_that_nothing_joins_push_as_they_would_alone():
    rng = np.random.default_rng(5)
    for _ in range(300):
        problems = [random_problem(rng) for _ in range(int(rng.integers(2, 6)))]
        alone, W, c = [], [], []
        for A, M, u in problems:
            own = A @ np.linalg.solve(M, A.T)
            W.append(0.5 * (own + own.T))
            c.append(A @ u)
            alone.append(solve(W[-1], c[-1]))
        mixed = rng.permutation(sum(map(len, c)))  # rows of all problems among one another
        together = block_diag(*W)[np.ix_(mixed, mixed)]
        x, gradient = solve(np.ascontiguousarray(together), np.concatenate(c)[mixed])
        scale = max(np.abs(each).max() for each in c)
        np.testing.assert_allclose(
            gradient, np.concatenate([g for _, g in alone])[mixed], rtol=0, atol=1e-8 * scale
        )
        assert np.all(x >= 0.0)


def test_no_contact_pulls_and_none_closes_on_2000_random_problems():
    rng = np.random.default_rng(0)
    for case in range(2000):
        A, M, u = random_problem(rng)
        W, c = A @ np.linalg.solve(M, A.T), A @ u
        x, gradient = solve(0.5 * (W + W.T), c)
        scale = np.abs(c).max()
        digits = 1e-9 * scale
        assert np.all(x >= 0.0), case
        np.testing.assert_allclose(gradient, W @ x + c, rtol=0, atol=digits)
        assert gradient.min() >= -digits, case
        assert np.all(np.abs(gradient[x > 0.0]) <= digits), case


def test_impulses_are_those_found_by_trying_every_set():
    rng = np.random.default_rng(1)
    for _ in range(300):
        A, M, u = random_problem(rng)
        Y = np.linalg.solve(M, A.T).T
        W = A @ Y.T
        x, _ = solve(0.5 * (W + W.T), A @ u)
        after, lost = naive.plastic_impact(M, A, u)
        np.testing.assert_allclose(u + Y.T @ x, after, rtol=0, atol=1e-8 * np.abs(u).max())
        change = Y.T @ x
        assert 0.5 * change @ M @ change == pytest.approx(lost, rel=1e-6, abs=1e-9 * (u @ M @ u))


def test_regular_problems_agree_with_scipy():
    rng = np.random.default_rng(2)
    for _ in range(200):
        m = int(rng.integers(1, 9))
        root, c = rng.normal(size=(m + 3, m)), rng.normal(size=m)
        x, _ = solve(root.T @ root, c)
        theirs, _ = nnls(root, np.linalg.lstsq(root.T, -c, rcond=None)[0])
        np.testing.assert_allclose(x, theirs, rtol=0, atol=1e-8 * (1.0 + theirs.max()))


def test_redundant_rows_get_no_forces_from_rounding():
    """With no tolerance at all rounding asks dependent rows in; their forces would be of any size."""
    rng = np.random.default_rng(3)
    for _ in range(1000):
        A, M, u = random_problem(rng)
        W, c = A @ np.linalg.solve(M, A.T), A @ u
        W = 0.5 * (W + W.T)
        x, _ = solve(W, c, tolerance=0.0)
        expected = naive.least_nonnegative(W, c)
        np.testing.assert_allclose(W @ x, W @ expected, rtol=0, atol=1e-8 * np.abs(c).max())
        assert x.sum() <= 20.0 * expected.sum() + 1e-9


def test_a_slot_squeezes_nothing_by_rounding():
    """Rows that face each other could push any amount and cancel; they push what is asked for and no more."""
    rng = np.random.default_rng(5)
    for _ in range(2000):
        core = rng.normal(size=(2, 6))
        A, u = np.vstack([core, -core]), rng.normal(size=6)
        W, c = A @ A.T, A @ u
        x, _ = solve(W, c, tolerance=0.0)
        assert np.all(np.minimum(x[:2], x[2:]) <= 1e-9), x


def test_a_row_that_depends_on_others_may_enter_when_they_have_left():
    rng = np.random.default_rng(4)
    for _ in range(300):
        core = rng.normal(size=(2, 5))
        A = np.vstack([core, rng.normal(size=(4, 2)) @ core])  # six rows of rank two, pushing every way
        u = rng.normal(size=5)
        x, gradient = solve(A @ A.T, A @ u)
        after, _ = naive.plastic_impact(np.eye(5), A, u)
        np.testing.assert_allclose(u + A.T @ x, after, rtol=0, atol=1e-8)
        assert gradient.min() > -1e-9


def test_nothing_is_done_when_everything_parts():
    x, gradient = solve(np.eye(3), np.array([1.0, 0.0, 2.0]))
    assert not np.any(x) and gradient.tolist() == [1.0, 0.0, 2.0]
