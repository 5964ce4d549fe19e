"""Embedded constraints against the full system that numpy solves at once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hapticsim.kernels.memory.allocate import sizes_of_run
from hapticsim.kernels.memory.arrays import Workspace
from hapticsim.kernels.solve import embedding
from tests import naive, plain_solves
from tests.choices import choose
from tests.kernel_access import INT, INTS, MATRIX, VECTOR, WORKSPACE, compiled

combine_rows = compiled(embedding.combine_rows, MATRIX, INT, INT, MATRIX, VECTOR, MATRIX, VECTOR)
embedded_acceleration = compiled(
    embedding.embedded_acceleration, MATRIX, VECTOR, INT, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR
)
constraint_forces = compiled(
    embedding.constraint_forces, MATRIX, INT, INT, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR, VECTOR
)


def embedded(case: SimpleNamespace, udot: np.ndarray) -> float:
    """Accelerations of a case; |det A_D|."""
    rows, rest = case.A, case.s
    if case.rank < case.m:
        rows, rest = case.ws.B, case.ws.t
        combine_rows(case.combine, case.m, case.rank, case.A, case.s, rows, rest)
    return embedded_acceleration(rows, rest, case.rank, case.order, case.M, case.f, case.ws, udot)


def system(rng: np.random.Generator, n: int, r: int, redundant: int) -> SimpleNamespace:
    """M, f, rows A (the last ones combinations of the first r), consistent s, and a choice of speeds."""
    root, m = rng.normal(size=(n, n)), r + redundant
    core, s_core = rng.normal(size=(r, n)), rng.normal(size=r)
    mix = rng.normal(size=(redundant, r))
    case = SimpleNamespace(
        n=n,
        m=m,
        M=root @ root.T + np.eye(n),
        f=rng.normal(size=n),
        A=np.vstack([core, mix @ core]),
        s=np.concatenate([s_core, mix @ s_core]),
        ws=Workspace.zeros(sizes_of_run(n, n) | {"nr": m}),
    )
    chosen = choose(case.A, case.M)
    case.rank, case.order, case.combine = chosen.rank, chosen.order, chosen.combine
    return case


CASES = [(1, 1, 0), (4, 1, 0), (6, 2, 0), (6, 3, 0), (7, 5, 0), (6, 3, 1), (7, 4, 3), (3, 3, 0), (6, 1, 2)]


@pytest.mark.parametrize(("n", "r", "redundant"), CASES)
def test_accelerations_and_forces_are_those_of_the_full_system(n, r, redundant):
    rng = np.random.default_rng(100 * n + 10 * r + redundant)
    for _ in range(60):
        case = system(rng, n, r, redundant)
        assert case.rank == r
        udot, lam = np.zeros(n), np.zeros(case.m)
        assert embedded(case, udot) > 0.0
        constraint_forces(case.combine, case.m, r, case.order, case.M, case.f, case.ws, udot, lam)
        theirs, forces = naive.kkt(case.M, case.A, case.s, case.f)
        sigma = np.linalg.svd(case.A, compute_uv=False)
        digits = 1e-14 * (sigma[0] / sigma[r - 1]) ** 2 * np.linalg.cond(case.M)
        np.testing.assert_allclose(udot, theirs, rtol=0, atol=digits * (1 + np.abs(theirs).max()))
        np.testing.assert_allclose(lam, forces, rtol=0, atol=10 * digits * (1 + np.abs(forces).max()))


def of_bodies(rng: np.random.Generator, bodies: int) -> tuple[np.ndarray, np.ndarray]:
    """M of bodies with 1 to 4 speeds each, and rows that say something of one or two of them."""
    sizes = rng.integers(1, 5, bodies)
    ends = np.cumsum(sizes)
    M, rows = np.zeros((ends[-1], ends[-1])), []
    for size, end in zip(sizes, ends, strict=True):
        root = rng.normal(size=(size, size))
        M[end - size : end, end - size : end] = root @ root.T + np.eye(size)
    for _ in range(int(rng.integers(1, ends[-1]))):
        row = np.zeros(ends[-1])
        for body in rng.choice(bodies, min(bodies, int(rng.integers(1, 3))), replace=False):
            row[ends[body] - sizes[body] : ends[body]] = rng.normal(size=sizes[body])
        rows.append(row)
    return M, np.array(rows)


def test_bodies_that_have_nothing_to_do_with_one_another_move_as_where_nothing_is_skipped():
    rng, checked = np.random.default_rng(7), 0
    for _ in range(150):
        M, A = of_bodies(rng, int(rng.integers(2, 6)))
        (m, n), f = A.shape, rng.normal(size=len(M))
        s = A @ rng.normal(size=n)
        ws, it, udot = Workspace.zeros(sizes_of_run(n, n) | {"nr": m}), choose(A, M), np.full(n, np.nan)
        r, order, combine = it.rank, it.order, it.combine
        B, t = np.full((m, n), np.nan), np.full(m, np.nan)
        combine_rows(combine, m, r, A, s, B, t)
        np.testing.assert_array_equal(B[:r], plain_solves.combined(combine, r, A))
        np.testing.assert_array_equal(t[:r], plain_solves.combined(combine, r, s[:, None])[:, 0])
        assert embedded_acceleration(B, t, r, order, M, f, ws, udot) > 0.0
        plain = plain_solves.embedded(B[:r], t[:r], order, M, f)
        if r > 1:  # one row alone takes a way of its own
            np.testing.assert_array_equal(udot, plain)
        theirs, _ = naive.kkt(M, A, s, f)
        digits = 1e-14 * it.condition**2 * np.linalg.cond(M)
        np.testing.assert_allclose(udot, theirs, rtol=0, atol=10 * digits * (1 + np.abs(theirs).max()))
        checked += r > 1
    assert checked > 100


def test_dependent_speeds_that_no_row_sees_are_reported_as_singular():
    case = system(np.random.default_rng(0), 3, 1, 0)
    case.A[0] = [1.0, 0.0, 1.0]
    case.order = np.array([1, 0, 2])
    assert embedded(case, np.zeros(3)) == 0.0


@pytest.mark.parametrize("rows", (1, 2))
def test_what_cannot_be_solved_leaves_nothing_of_an_earlier_solution(rows):
    """Accelerations are zero where no row sees the dependent speeds, and NaN where rows are not finite."""
    case = system(np.random.default_rng(1), 4, rows, 0)
    udot = np.full(4, 7.0)
    assert embedded(case, udot) > 0.0
    good, case.A = case.A, np.zeros_like(case.A)
    assert embedded(case, udot) == 0.0
    assert udot.tolist() == [0.0] * 4
    for value in (np.nan, np.inf):
        case.A = good.copy()
        case.A[0] = value
        assert embedded(case, udot) == 0.0
        assert np.isnan(udot).all()
