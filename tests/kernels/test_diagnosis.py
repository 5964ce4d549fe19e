"""Rows that contradict each other are named; directions that a drop of rank sets free are found."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.kernels.solve import diagnosis
from tests.choices import choose
from tests.kernel_access import FLOAT, INT, MATRIX, VECTOR, compiled

conflict = compiled(diagnosis.conflict, MATRIX, INT, INT, VECTOR, FLOAT, VECTOR)
null_vectors = compiled(
    diagnosis.null_vectors,
    MATRIX, INT, MATRIX, MATRIX, VECTOR, INT, VECTOR, INT, MATRIX, VECTOR, MATRIX,
)  # fmt: skip


class Rows:
    """Rows A with mass matrix M, and what selection says of them."""

    def __init__(self, A: np.ndarray, M: np.ndarray | None = None) -> None:
        self.A = np.ascontiguousarray(A)
        self.M = np.eye(A.shape[1]) if M is None else M
        vars(self).update(vars(choose(self.A, self.M)))

    def conflict(self, b: np.ndarray, tolerance: float = 1e-9) -> tuple[float, np.ndarray]:
        share = np.full(len(b), np.nan)
        return conflict(self.U, self.rank, len(b), np.asarray(b, float), tolerance, share), share

    def free(self, count: int, u: np.ndarray | None = None) -> np.ndarray:
        n = self.A.shape[1]
        N, u = np.full((2, n), np.nan), np.zeros(n) if u is None else np.asarray(u, float)
        found = null_vectors(
            self.A, len(self.A), self.M, self.U, self.sigma, self.rank, u, count, self.R, self.norms, N
        )
        return N[:found]


def deficient(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows with redundant ones among them, a mass matrix, and their rank."""
    n = int(rng.integers(3, 14))
    r, more = int(rng.integers(1, min(n, 7))), int(rng.integers(1, 4))
    core, root = rng.normal(size=(r, n)), rng.normal(size=(n, n))
    A = np.vstack([core, rng.normal(size=(more, r)) @ core])
    units = 10.0 ** rng.uniform(-2, 2, n)
    return A[rng.permutation(r + more)] * units, (root @ root.T + np.eye(n)) * np.outer(units, units), r


def test_right_sides_that_some_speeds_give_are_no_contradiction():
    rng = np.random.default_rng(0)
    for _ in range(300):
        A, M, rank = deficient(rng)
        rows, b = Rows(A, M), A @ rng.normal(size=A.shape[1])
        assert rows.rank == rank
        size, share = rows.conflict(b, 1e-12 * np.linalg.norm(b))
        assert size == 0.0 and not share.any()


def test_independent_rows_never_contradict_each_other():
    rows = Rows(np.random.default_rng(1).normal(size=(4, 6)))
    assert rows.conflict(np.array([1.0, -2.0, 1e3, 0.0]), 0.0)[0] == 0.0


def test_a_contradiction_is_what_least_squares_cannot_remove():
    rng = np.random.default_rng(2)
    for _ in range(300):
        A, M, _ = deficient(rng)
        b = rng.normal(size=len(A))
        left = b - A @ np.linalg.lstsq(A, b, rcond=1e-9)[0]
        size, share = Rows(A, M).conflict(b)
        assert size == pytest.approx(np.linalg.norm(left), rel=1e-9)
        np.testing.assert_allclose(share, left**2 / (left @ left), rtol=0, atol=1e-8)


def test_only_the_rows_that_contradict_each_other_have_a_share():
    """Rows 1 and 3 ask the same of the speeds, and row 3 wants something else."""
    A = np.array([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 2.0, 2.0, 0.0]])
    size, share = Rows(A).conflict(np.array([5.0, 1.0, 7.0, 2.5]))
    assert size == pytest.approx(0.5 / np.sqrt(5.0))
    np.testing.assert_allclose(share, [0.0, 0.8, 0.0, 0.2], rtol=0, atol=1e-12)


def test_a_row_that_no_speed_can_serve_contradicts_alone():
    size, share = Rows(np.array([[1.0, 2.0], [0.0, 0.0]])).conflict(np.array([3.0, -0.25]))
    assert size == pytest.approx(0.25) and share.tolist() == [0.0, 1.0]


def test_a_contradiction_below_the_tolerance_counts_as_none():
    rows = Rows(np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert rows.conflict(np.array([1.0, 1.0 + 1e-6]), 1e-5)[0] == 0.0
    assert rows.conflict(np.array([1.0, 1.0 + 1e-6]), 1e-7)[0] == pytest.approx(1e-6 / np.sqrt(2.0))


def check_free(rows: Rows, N: np.ndarray) -> None:
    """The rows do not see N, which is orthonormal in the diagonal of M, its largest entries positive."""
    diagonal = np.diag(rows.M)
    np.testing.assert_allclose(N * diagonal @ N.T, np.eye(len(N)), rtol=0, atol=1e-12)
    seen = np.abs(rows.A @ N.T).max(initial=0.0)
    assert seen <= 1.1e-7 * rows.sigma[0] + 1e-15, "above what counts as rank"
    for w in N:
        assert w[np.argmax(np.abs(w))] > 0.0


@pytest.mark.parametrize("exponent", [-9, -10, -12])
def test_a_direction_that_small_values_still_tell_is_that_of_the_singular_vector(exponent):
    """A is made of singular vectors that are known, the last value 1e-9 to 1e-12."""
    rng = np.random.default_rng(-exponent)
    for _ in range(100):
        m, n = int(rng.integers(2, 7)), int(rng.integers(8, 14))
        units = 10.0 ** rng.uniform(-2, 2, n)
        U, V = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (m, n))
        sigma = np.append(np.sort(10.0 ** rng.uniform(-1, 0, m - 1))[::-1], 10.0**exponent)
        A = (U * sigma @ V[:, :m].T) * np.sqrt(units)
        rows = Rows(A, np.diag(units))
        assert rows.rank == m - 1
        N = rows.free(1, rng.normal(size=n))
        check_free(rows, N)
        cosine = abs((N[0] * np.sqrt(units)) @ V[:, m - 1])
        assert cosine == pytest.approx(1.0, abs=(1e-15 / 10.0**exponent) ** 2 + 1e-12)


def test_a_direction_that_nothing_tells_is_free_and_beside_the_motion():
    rng = np.random.default_rng(4)
    counts = set()
    for _ in range(300):
        A, M, rank = deficient(rng)
        rows, n = Rows(A, M), A.shape[1]
        null = np.linalg.svd(A / np.sqrt(np.diag(M)))[2][rank:].T
        u = null @ rng.normal(size=n - rank) / np.sqrt(np.diag(M))
        N = rows.free(2, u)
        assert len(N) == min(2, len(A) - rank, n - rank - 1)
        check_free(rows, N)
        kinetic = N * np.diag(M) @ u / np.sqrt(u @ (np.diag(M) * u))
        np.testing.assert_allclose(kinetic, 0.0, atol=1e-9)
        counts.add(len(N))
    assert counts == {0, 1, 2}


def four_bar(angle: float) -> np.ndarray:
    """Rows of a planar parallelogram's closure in the speeds of its three links (ground 2 m, cranks 1 m).

    Absolute angles of crank, coupler, crank; the third row, out of the plane, is zero.
    """
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[-s, 0.0, s], [c, 2.0, -c], [0.0, 0.0, 0.0]])


def test_a_parallelogram_that_lies_flat_is_free_to_fold():
    """Moving as a parallelogram (1, 0, 1) it may go on as the crossed one, the other direction."""
    rows = Rows(four_bar(0.3))
    assert rows.rank == 2
    flat, u = Rows(four_bar(0.0)), np.array([1.5, 0.0, 1.5])
    assert flat.rank == 1
    N = flat.free(1, u)
    check_free(flat, N)
    np.testing.assert_allclose(N[0] @ u, 0.0, atol=1e-14)
    assert len(flat.free(2, u)) == 1, "the null space has two dimensions, and one is the motion"
    both = flat.free(2)
    check_free(flat, both)
    assert len(both) == 2


def test_a_parallelogram_that_is_nearly_flat_still_tells_the_direction():
    flat = Rows(four_bar(1e-9))
    assert flat.rank == 1
    (direction,) = flat.free(1)
    expected = np.linalg.svd(four_bar(1e-9))[2][1]
    assert abs(direction @ expected) == pytest.approx(1.0, abs=1e-9)


def test_nothing_is_free_where_nothing_was_dropped():
    assert len(Rows(np.eye(3, 5)).free(2)) == 0
    assert len(Rows(np.vstack([np.eye(3), np.ones((1, 3))])).free(2)) == 0, "all speeds are dependent"
    rows = Rows(np.ones((2, 4)))
    assert len(rows.free(0)) == 0 and len(rows.free(1)) == 1


def test_rows_of_zeros_leave_everything_free():
    rows = Rows(np.zeros((2, 3)), np.diag([1.0, 4.0, 9.0]))
    N = rows.free(2)
    assert len(N) == 2
    check_free(rows, N)
