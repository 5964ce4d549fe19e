"""On-line selection: the rank is right, and what is chosen as dependent can be solved for."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.kernels import selection
from tests.kernel_access import INT, INTS, MATRIX, VECTOR, compiled

row_svd = compiled(selection.row_svd, MATRIX, INT, INT, MATRIX, VECTOR)
pivoted_columns = compiled(selection.pivoted_columns, MATRIX, INT, INT, INTS, VECTOR)
select_speeds = compiled(
    selection.select_speeds, MATRIX, INT, MATRIX, INT, INTS, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, INTS
)


class Choice:
    """What ``select_speeds`` says of rows A with mass matrix M."""

    def __init__(self, A: np.ndarray, M: np.ndarray, rank_before: int = 0) -> None:
        m, n = A.shape
        self.A, self.M = A, M
        self.order, self.combine = np.arange(n), np.eye(m)
        self.rank, self.condition, self.changed = select_speeds(
            A, m, M, rank_before, self.order, self.combine,
            np.zeros((m, n)), np.zeros((m, m)), np.zeros(m), np.zeros(n), np.zeros(n, np.int64),
        )  # fmt: skip

    @property
    def rows(self) -> np.ndarray:
        """The combined rows, columns scaled by the inertia of their speeds."""
        return self.combine[:, : self.rank].T @ self.A / np.sqrt(np.diag(self.M))

    @property
    def dependent(self) -> np.ndarray:
        return self.rows[:, self.order[: self.rank]]


def random_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows A, a mass matrix, and the rank: some parallel columns, redundant rows, zero rows, mixed units."""
    n = int(rng.integers(3, 11))
    r = int(rng.integers(1, min(n - 2, 6) + 1))  # two columns may be lost below, and the rank stays r
    core = rng.normal(size=(r, n))
    i, j, k = rng.choice(n, 3, replace=False)
    if rng.random() < 0.5:  # columns that point nearly the same way
        core[:, i] = core[:, j] * rng.uniform(-2, 2) + 10.0 ** rng.uniform(-12, -4) * rng.normal(size=r)
    if rng.random() < 0.3:  # a speed that no row sees
        core[:, k] = 0.0
    mix = rng.normal(size=(int(rng.integers(0, 3)), r))
    A = np.vstack([core, mix @ core, np.zeros((int(rng.integers(0, 2)), n))])
    A = A[rng.permutation(len(A))]
    root = rng.normal(size=(n, n)) + 2.0 * np.eye(n)
    units = 10.0 ** rng.uniform(-2, 2, n)
    return A * units, (root @ root.T) * np.outer(units, units), r


def test_singular_values_and_vectors_are_those_of_numpy():
    rng = np.random.default_rng(0)
    for _ in range(300):
        m, n = rng.integers(1, 9, 2)
        R = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-6, 6, (m, 1))
        turned, U, sigma = R.copy(), np.zeros((m, m)), np.zeros(m)
        row_svd(turned, m, n, U, sigma)
        theirs = np.zeros(m)
        theirs[: min(m, n)] = np.linalg.svd(R, compute_uv=False)
        np.testing.assert_allclose(sigma, theirs, rtol=0, atol=1e-14 * theirs[0])
        np.testing.assert_allclose(U.T @ U, np.eye(m), rtol=0, atol=1e-13)
        np.testing.assert_allclose(U @ turned, R, rtol=0, atol=1e-13 * theirs[0])


def test_small_singular_values_keep_their_digits():
    """Rotations work on rows of very different length as they are; forming A A' would lose the small ones."""
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for k in range(3, 14):
        scales = np.array([1.0, 10.0**-k, 10.0 ** (-2 * k)])
        R, U, sigma = scales[:, None] * Q[:3], np.zeros((3, 3)), np.zeros(3)
        row_svd(R, 3, 5, U, sigma)
        np.testing.assert_allclose(sigma, scales, rtol=1e-13)


def test_pivots_span_the_largest_volume_first():
    R = np.array([[1.0, 0.0, 3.0, 3.0], [0.0, 2.0, 0.0, 1e-9]])
    perm, norms = np.zeros(4, np.int64), np.zeros(4)
    volume = pivoted_columns(R.copy(), 2, 4, perm, norms)
    assert perm[:2].tolist() == [3, 1] or perm[:2].tolist() == [2, 1]
    assert volume == pytest.approx(6.0, rel=1e-8)
    assert sorted(perm.tolist()) == [0, 1, 2, 3]


def test_rank_and_choice_hold_on_3000_random_sets_of_rows():
    """The largest factor by which a choice made A_D worse than A itself is 2.4; 1.0 would be perfect."""
    rng = np.random.default_rng(2)
    worst = 0.0
    for case in range(3000):
        A, M, rank = random_rows(rng)
        choice = Choice(A, M)
        assert choice.rank == rank, case
        assert sorted(choice.order.tolist()) == list(range(A.shape[1]))
        independent = choice.order[rank:]
        assert np.all(np.diff(independent) > 0)
        if rank == len(A):
            assert np.array_equal(choice.combine, np.eye(rank))
        all_rows = np.linalg.svd(choice.rows, compute_uv=False)
        dependent = np.linalg.cond(choice.dependent)
        assert dependent <= choice.condition * (1 + 1e-6), "the published condition is an upper bound"
        worst = max(worst, dependent / (all_rows[0] / all_rows[-1]))
    assert worst <= 10.0, worst


def test_condition_of_the_dependent_block_stays_small_for_orthonormal_rows():
    rng = np.random.default_rng(3)
    conditions = []  # the largest is 2.8
    for _ in range(2000):
        A = np.ascontiguousarray(np.linalg.qr(rng.normal(size=(9, 3)))[0].T)  # orthonormal rows
        conditions.append(np.linalg.cond(Choice(A, np.eye(9)).dependent))
    assert max(conditions) <= 10.0, max(conditions)


def test_units_do_not_matter():
    """Metres or millimetres, the same speeds are dependent: columns are compared by their inertia."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        A, root = rng.normal(size=(2, 6)), rng.normal(size=(6, 6))
        M, unit = root @ root.T + np.eye(6), 10.0 ** rng.uniform(-3, 3, 6)
        assert Choice(A, M).order.tolist() == Choice(A * unit, M * np.outer(unit, unit)).order.tolist()


def test_a_speed_that_a_row_does_not_see_is_never_dependent():
    choice = Choice(np.array([[0.0, 1e-12, 3.0, 0.0]]), np.eye(4))
    assert choice.rank == 1 and choice.order.tolist() == [2, 0, 1, 3]


def test_the_rank_has_hysteresis():
    """Between the two thresholds a row that counted goes on counting and one that did not is not taken on."""
    A = np.array([[1.0, 0.0, 0.0], [1.0, 3e-8, 0.0]])
    assert Choice(A, np.eye(3), rank_before=1).rank == 1
    assert Choice(A, np.eye(3), rank_before=2).rank == 2


def test_rows_of_zeros_have_rank_zero():
    choice = Choice(np.zeros((2, 3)), np.eye(3))
    assert choice.rank == 0 and choice.order.tolist() == [0, 1, 2]


def test_a_choice_that_stays_says_so():
    A = np.array([[0.0, 5.0, 1.0]])
    assert Choice(A, np.eye(3)).changed
    again = Choice(np.array([[5.0, 1.0, 0.0]]), np.eye(3), rank_before=1)
    assert not again.changed
