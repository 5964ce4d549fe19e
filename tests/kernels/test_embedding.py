"""Embedded constraints against the full system that numpy solves at once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hapticsim.kernels.linalg import selection
from hapticsim.kernels.memory.allocate import sizes_of_run
from hapticsim.kernels.memory.arrays import Workspace
from hapticsim.kernels.solve import embedding
from tests import naive
from tests.kernel_access import INT, INTS, MATRIX, VECTOR, WORKSPACE, compiled

combine_rows = compiled(embedding.combine_rows, MATRIX, INT, INT, MATRIX, VECTOR, MATRIX, VECTOR)
embedded_acceleration = compiled(
    embedding.embedded_acceleration, MATRIX, VECTOR, INT, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR
)
constraint_forces = compiled(
    embedding.constraint_forces, MATRIX, INT, INT, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR, VECTOR
)
select_speeds = compiled(
    selection.select_speeds, MATRIX, INT, MATRIX, INT, INTS, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, INTS
)


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
        order=np.arange(n),
        combine=np.eye(m),
    )
    ws = case.ws
    case.rank, _, _ = select_speeds(
        case.A, m, case.M, 0, case.order, case.combine, ws.R, ws.U, ws.sigma, ws.norms, ws.perm
    )
    case.rows, case.rest = case.A, case.s
    if case.rank < m:
        case.rows, case.rest = np.zeros((m, n)), np.zeros(m)
        combine_rows(case.combine, m, case.rank, case.A, case.s, case.rows, case.rest)
    return case


CASES = [(1, 1, 0), (4, 1, 0), (6, 2, 0), (6, 3, 0), (7, 5, 0), (6, 3, 1), (7, 4, 3), (3, 3, 0), (6, 1, 2)]


@pytest.mark.parametrize(("n", "r", "redundant"), CASES)
def test_accelerations_and_forces_are_those_of_the_full_system(n, r, redundant):
    rng = np.random.default_rng(100 * n + 10 * r + redundant)
    for _ in range(60):
        case = system(rng, n, r, redundant)
        assert case.rank == r
        udot, lam = np.zeros(n), np.zeros(case.m)
        assert embedded_acceleration(case.rows, case.rest, r, case.order, case.M, case.f, case.ws, udot) > 0.0
        constraint_forces(case.combine, case.m, r, case.order, case.M, case.f, case.ws, udot, lam)
        theirs, forces = naive.kkt(case.M, case.A, case.s, case.f)
        sigma = np.linalg.svd(case.A, compute_uv=False)
        digits = 1e-14 * (sigma[0] / sigma[r - 1]) ** 2 * np.linalg.cond(case.M)
        np.testing.assert_allclose(udot, theirs, rtol=0, atol=digits * (1 + np.abs(theirs).max()))
        np.testing.assert_allclose(lam, forces, rtol=0, atol=10 * digits * (1 + np.abs(forces).max()))


def test_dependent_speeds_that_no_row_sees_are_reported_as_singular():
    case = system(np.random.default_rng(0), 3, 1, 0)
    case.A[0] = [1.0, 0.0, 1.0]
    order = np.array([1, 0, 2])
    assert embedded_acceleration(case.A, case.s, 1, order, case.M, case.f, case.ws, np.zeros(3)) == 0.0


@pytest.mark.parametrize("rows", (1, 2))
def test_what_cannot_be_solved_leaves_nothing_of_an_earlier_solution(rows):
    """Accelerations are zero where no row sees the dependent speeds, and NaN where rows are not finite."""
    case = system(np.random.default_rng(1), 4, rows, 0)
    udot = np.full(4, 7.0)
    assert embedded_acceleration(case.A, case.s, rows, case.order, case.M, case.f, case.ws, udot) > 0.0
    none = np.zeros_like(case.A)
    assert embedded_acceleration(none, case.s, rows, case.order, case.M, case.f, case.ws, udot) == 0.0
    assert udot.tolist() == [0.0] * 4
    for value in (np.nan, np.inf):
        case.A[0] = value
        assert embedded_acceleration(case.A, case.s, rows, case.order, case.M, case.f, case.ws, udot) == 0.0
        assert np.isnan(udot).all()
