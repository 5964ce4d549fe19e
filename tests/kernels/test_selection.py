"""On-line selection: the rank is right, and what is chosen as dependent can be solved for."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from hapticsim.kernels.linalg import selection
from tests.choices import choose
from tests.kernel_access import FLOAT, INT, INTS, MATRIX, VECTOR, compiled

pivot_columns = compiled(selection.pivot_columns, MATRIX, INT, INT, INTS, INT, INTS, VECTOR)
solve_pivots = compiled(selection.solve_pivots, MATRIX, INT, INT, INTS)
exchange_columns = compiled(selection.exchange_columns, MATRIX, INT, INT, INTS)
condition_with = compiled(selection.condition_with, INTS, MATRIX, INT, INT, FLOAT, MATRIX)


class Choice:
    """What ``select_speeds`` says of rows A with mass matrix M."""

    def __init__(
        self, A: np.ndarray, M: np.ndarray, rank_before: int = 0, order: np.ndarray | None = None
    ) -> None:
        self.A, self.M = A, M
        vars(self).update(vars(choose(A, M, rank_before, order)))

    @property
    def rows(self) -> np.ndarray:
        """The combined rows, columns scaled by the inertia of their speeds."""
        return self.combine[:, : self.rank].T @ self.A / np.sqrt(np.diag(self.M))

    @property
    def dependent(self) -> np.ndarray:
        return self.rows[:, self.order[: self.rank]]

    @property
    def dependent_of_basis(self) -> np.ndarray:
        """V_D: the dependent columns of an orthonormal basis of the rows, by numpy."""
        V = np.linalg.svd(self.A / np.sqrt(np.diag(self.M)), full_matrices=False)[2]
        return V[: self.rank, self.order[: self.rank]]


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


def hard_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of up to 12 in up to 40 speeds: columns and rows parallel to within 1e-1 to 1e-8, bad scales."""
    m, n = int(rng.integers(1, 13)), int(rng.integers(2, 41))
    A = rng.normal(size=(m, n))
    for _ in range(int(rng.integers(0, 4))):
        i, j = rng.choice(n, 2, replace=False)
        A[:, i] = rng.uniform(-2, 2) * A[:, j] + 10.0 ** rng.uniform(-8, -1) * rng.normal(size=m)
    for _ in range(int(rng.integers(0, 3)) if m > 1 else 0):
        i, j = rng.choice(m, 2, replace=False)
        A[i] = rng.uniform(-2, 2) * A[j] + 10.0 ** rng.uniform(-18, -1) * rng.normal(size=n)
    return A * 10.0 ** rng.uniform(-2, 2, n), np.diag(10.0 ** rng.uniform(-3, 3, n))


def test_pivots_span_the_largest_volume_first():
    Q = np.linalg.qr(np.array([[1.0, 0.0, 3.0, 3.0], [0.0, 2.0, 0.0, 1e-9]]).T)[0].T
    W, pivots = np.ascontiguousarray(Q), np.zeros(2, np.int64)
    pivot_columns(W, 2, 4, np.arange(4), 0, pivots, np.zeros(4))
    assert set(pivots.tolist()) in ({1, 2}, {1, 3})
    solve_pivots(W, 2, 4, pivots)
    np.testing.assert_allclose(W, np.linalg.solve(Q[:, pivots], Q), rtol=0, atol=1e-15)


def test_a_column_that_was_a_pivot_is_preferred_to_one_up_to_twice_as_long():
    for share, kept in ((0.51, True), (0.49, False)):
        W, pivots = np.array([[1.0, share]]) / np.hypot(1.0, share), np.zeros(1, np.int64)
        pivot_columns(W, 1, 2, np.array([1, 0]), 1, pivots, np.zeros(2))
        assert pivots[0] == (1 if kept else 0)


def test_exchanges_end_where_no_single_one_doubles_the_volume():
    """From pivots picked at random, that is, from the worst."""
    rng = np.random.default_rng(7)
    needed = []
    for _ in range(300):
        r, n = int(rng.integers(1, 13)), int(rng.integers(14, 41))
        V = np.linalg.qr(rng.normal(size=(n, r)))[0].T
        pivots = rng.choice(n, r, replace=False)
        W = np.linalg.solve(V[:, pivots], V)
        before = abs(np.linalg.det(V[:, pivots]))
        needed.append(exchange_columns(W, r, n, pivots))
        np.testing.assert_allclose(W, np.linalg.solve(V[:, pivots], V), rtol=0, atol=1e-9)
        assert np.abs(W).max() <= 2.0
        assert abs(np.linalg.det(V[:, pivots])) >= before * 2.0 ** needed[-1] * (1 - 1e-6)
    assert 3 <= max(needed) <= 30


def test_rows_at_which_pivoting_alone_fails_are_mended_by_an_exchange():
    """Kahan's triangle among many short columns: its columns are the pivots in turn, and nearly dependent."""
    r, short, c = 24, 400, 0.2
    K = np.diag(np.sqrt(1.0 - c * c) ** np.arange(r)) @ (np.eye(r) - c * np.triu(np.ones((r, r)), 1))
    K *= 0.9 / np.linalg.norm(K, 2) * (1.0 - 1e-9 * np.arange(r))
    values, Q = np.linalg.eigh(np.eye(r) - K @ K.T)
    rest = np.linalg.qr(np.random.default_rng(0).normal(size=(short, r)))[0].T
    V = np.hstack([K, Q * np.sqrt(values) @ Q.T @ rest])  # orthonormal rows
    n, W, pivots = r + short, V.copy(), np.zeros(r, np.int64)
    pivot_columns(W, r, n, np.arange(n), 0, pivots, np.zeros(n))
    solve_pivots(W, r, n, pivots)
    assert pivots.tolist() == list(range(r)) and np.linalg.cond(V[:, pivots]) > 100.0
    assert exchange_columns(W, r, n, pivots) == 1
    assert np.linalg.cond(V[:, pivots]) < 10.0


@pytest.mark.parametrize(("chosen_before", "limit"), [(False, 5.0), (True, 8.0)])
def test_the_dependent_block_is_well_conditioned_whatever_the_rows_are(chosen_before, limit):
    """The largest are 2.8 and, keeping what can be kept of a random earlier choice, 3.9; proven is 37."""
    rng = np.random.default_rng(8)
    worst = 0.0
    for case in range(2000):
        A, M = hard_rows(rng)
        m, n = A.shape
        before = int(rng.integers(1, min(m, n) + 1)) if chosen_before else 0
        choice = Choice(A, M, before, rng.permutation(n))
        condition, r = np.linalg.cond(choice.dependent_of_basis), choice.rank
        assert condition <= np.sqrt(1.0 + 4.0 * r * (n - r)) * (1 + 1e-6), case
        worst = max(worst, condition)
    assert worst <= limit, worst


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


def test_the_rank_is_that_of_forty_digits_on_both_sides_of_the_thresholds():
    """Singular values a millionth above or below a threshold, from exact rotations, rounded to doubles."""
    rng = np.random.default_rng(9)
    seen = set()
    with mpmath.workdps(40):
        for case in range(24):
            m, n = int(rng.integers(2, 6)), int(rng.integers(6, 9))
            threshold = (selection.RANK_KEEP, selection.RANK_GAIN)[case % 2]
            values = np.sort(10.0 ** rng.uniform(-3, 0, m))[::-1]
            values[-1] = values[0] * threshold * (1 + (1e-6, -1e-6)[case // 2 % 2])
            U, V = (mpmath.qr(mpmath.matrix(rng.normal(size=(k, k)).tolist()))[0] for k in (m, n))
            A = U * mpmath.matrix(np.hstack([np.diag(values), np.zeros((m, n - m))]).tolist()) * V.T
            A = np.array(A.tolist(), dtype=float)
            true = [float(x) for x in mpmath.svd_r(mpmath.matrix(A.tolist()), compute_uv=False)]
            for before in range(m + 1):
                counted = 0
                while counted < m:
                    limit = selection.RANK_KEEP if counted < before else selection.RANK_GAIN
                    if true[counted] <= limit * true[0]:
                        break
                    counted += 1
                choice = Choice(A, np.eye(n), before)
                assert choice.rank == counted, (case, before)
                np.testing.assert_allclose(choice.sigma, true, rtol=0, atol=1e-14 * true[0])
                seen.add((m - counted, before == m, case % 4))
    assert {lost for lost, *_ in seen} == {0, 1} and len(seen) >= 8


def test_what_is_not_finite_leads_nowhere_outside_the_arrays():
    """The tick finds it at its end; until then a choice is a choice."""
    for bad in (np.nan, np.inf, -np.inf):
        for m in (1, 3):
            A = np.ones((m, 5)) + np.eye(m, 5)
            A[m // 2, 3] = bad
            choice = Choice(A, np.eye(5), rank_before=m, order=np.array([4, 2, 0, 1, 3]))
            assert 0 <= choice.rank < m and sorted(choice.order.tolist()) == [0, 1, 2, 3, 4]


def test_more_rows_than_speeds():
    A = np.random.default_rng(10).normal(size=(7, 3))
    choice = Choice(A, np.eye(3))
    assert choice.rank == 3 and sorted(choice.order.tolist()) == [0, 1, 2]
    assert np.linalg.cond(choice.dependent) <= choice.condition * (1 + 1e-9)


def test_a_speed_that_a_row_does_not_see_is_never_dependent():
    choice = Choice(np.array([[0.0, 1e-12, 3.0, 0.0]]), np.eye(4))
    assert choice.rank == 1 and choice.order.tolist() == [2, 0, 1, 3]


def test_the_rank_has_hysteresis():
    """Between the two thresholds a row that counted goes on counting and one that did not is not taken on."""
    A = np.array([[1.0, 0.0, 0.0], [1.0, 3e-6, 0.0]])
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


def test_a_choice_is_kept_until_another_is_twice_as_good():
    before = np.array([2, 0, 1])
    assert not Choice(np.array([[1.0, 0.0, 0.6]]), np.eye(3), 1, before).changed
    assert Choice(np.array([[1.0, 0.0, 0.4]]), np.eye(3), 1, before).order.tolist() == [0, 1, 2]


def test_the_same_speeds_in_another_order_are_no_new_choice():
    rng = np.random.default_rng(11)
    for _ in range(50):
        A = rng.normal(size=(4, 9))
        first = Choice(A, np.eye(9))
        order = np.concatenate([rng.permutation(first.order[:4]), first.order[4:]])
        again = Choice(A, np.eye(9), 4, order)
        assert not again.changed and again.order.tolist() == order.tolist()


def test_a_row_that_comes_leaves_the_dependent_speeds_dependent():
    """Most often: they are given up only where another speed is twice as good."""
    rng = np.random.default_rng(12)
    kept = 0
    for _ in range(200):
        A = rng.normal(size=(4, 12))
        first = Choice(A[:3], np.eye(12))
        more = Choice(A, np.eye(12), 3, first.order)
        assert more.changed and more.rank == 4
        kept += set(first.order[:3].tolist()) <= set(more.order[:4].tolist())
    assert kept >= 190, kept


def test_the_condition_that_earlier_speeds_would_have_is_a_bound_for_them():
    rng = np.random.default_rng(12)
    seen = 0
    for _ in range(300):
        n = int(rng.integers(2, 9))
        m = int(rng.integers(1, n))
        A, M = rng.normal(size=(m, n)), np.diag(rng.uniform(0.1, 10.0, n))
        choice = Choice(A, M)
        earlier = rng.permutation(n)[:m]
        scaled = A / np.sqrt(np.diag(M))
        inverse = np.linalg.inv(scaled[:, earlier])
        got = condition_with(earlier, choice.R, m, n, choice.condition, np.zeros((m, m)))
        sigma = np.linalg.svd(scaled, compute_uv=False)
        bound = sigma[0] / sigma[-1] * np.sqrt(1.0 - m + np.sum((inverse @ scaled) ** 2))
        assert got == pytest.approx(bound, rel=1e-6)
        assert np.linalg.norm(scaled, 2) * np.linalg.norm(inverse, 2) <= got * (1.0 + 1e-9)
        seen += got > 2.0 * choice.condition
    assert seen > 30


def test_speeds_that_the_rows_do_not_see_have_no_condition():
    choice = Choice(np.array([[1.0, 0.0]]), np.eye(2))
    args = choice.R, 1, 2, choice.condition, np.zeros((1, 1))
    assert condition_with(np.array([1]), *args) == np.inf


def test_entries_whose_squares_are_nothing_do_not_divide_by_it():
    """A body at rest leaves 1e-218 in its quaternion, and its rows have entries of that size."""
    rows = np.eye(4)[:3]
    rows[0, 2] = rows[1, 2] = 1e-200
    turned, pivots = rows.copy(), np.zeros(3, np.int64)
    pivot_columns(turned, 3, 4, np.array([2, 0, 1, 3]), 1, pivots, np.zeros(4))
    assert pivots[0] == 2 and sorted(pivots) == [0, 1, 2]
    assert np.all(np.isfinite(turned))
    np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-15)
    choice = Choice(rows, np.eye(4), rank_before=1, order=np.array([2, 0, 1, 3]))
    assert choice.rank == 3 and choice.condition == pytest.approx(1.0)
