"""Impulses of few contacts by their active set, where rounds over them do not come to an end."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.kernels.time_stepping import few_pushes, gauss_seidel
from tests.kernel_access import FLOAT, INT, VECTOR, WORKSPACE, compiled
from tests.kernels.test_gauss_seidel import Problem, plain, solve_pushes
from tests.seeds import seeds

EPS = np.finfo(float).eps
MET = gauss_seidel.MET  # [m/s]
solve_few = compiled(few_pushes.solve_few, WORKSPACE, INT, VECTOR, FLOAT, VECTOR, VECTOR)


def wedged(rng: np.random.Generator, n: int, askew: float) -> Problem:
    """A problem whose rows, of the first cube and the world, are along two directions but for ``askew``."""
    problem = Problem(rng, n, alone=True)
    directions = rng.normal(size=(2, 6))
    problem.A[:] = 0.0
    problem.ws.near_speeds[:n] = (0, 6, 0, 0)
    trees = np.stack([problem.plan.row_tree_a, problem.plan.row_tree_b], axis=1)
    problem.ws.near[:n] = np.flatnonzero((trees.max(axis=1) == 0) & (trees.min(axis=1) < 0))[0]
    problem.ws.near_J[:] = problem.ws.near_Y[:] = 0.0
    for i in range(n):
        problem.A[i, :6] = directions[i % 2] + askew * rng.normal(size=6)
        problem.ws.near_J[i, :6] = problem.A[i, :6]
        problem.ws.near_Y[i, :6] = np.linalg.solve(problem.M[:6, :6], problem.A[i, :6])
        problem.ws.near_mobility[i] = problem.A[i] @ np.linalg.solve(problem.M, problem.A[i])
    wanted = problem.u.copy()
    wanted[:6] += np.linalg.solve(problem.M[:6, :6], directions.sum(axis=0))
    problem.least = problem.A @ wanted - askew * rng.uniform(0.0, 1.0, n)
    return problem


@pytest.mark.parametrize("askew", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("seed", seeds(6, 60))
def test_wedged_rows_are_solved_where_rounds_are_not_enough(seed: int, askew: float):
    problem = wedged(np.random.default_rng(seed), 20, askew)
    x, v = np.zeros(20), problem.u.copy()
    left = solve_pushes(problem.plan, problem.ws, 20, problem.least, MET, x, v)
    assert left <= MET
    assert x.min() >= 0.0
    np.testing.assert_allclose(v, problem.u + np.linalg.solve(problem.M, problem.A.T @ x), atol=1e-8)
    rates = problem.A @ v - problem.least
    assert rates.min() >= -MET  # with these two nothing is left to be minimised
    assert np.abs(x * rates).max() <= MET * max(1.0, x.max())


def test_plain_rounds_leave_such_rates_open():
    problem = wedged(np.random.default_rng(0), 20, 1e-3)
    x, v = plain(problem, gauss_seidel.MOST)
    assert np.abs(x * (problem.A @ v - problem.least)).max() > 1e-6 * x.max()


def test_what_rows_that_say_the_same_share_stays_shared():
    problem = Problem(np.random.default_rng(3), 1, alone=True)
    for i in range(1, 4):
        for a in (problem.ws.near, problem.ws.near_speeds, problem.ws.near_J, problem.ws.near_Y):
            a[i] = a[0]
        problem.ws.near_mobility[i] = problem.ws.near_mobility[0]
    problem.u[:] = 0.0
    least = np.ones(4)
    x, v = np.zeros(4), problem.u.copy()
    solve_pushes(problem.plan, problem.ws, 4, least, MET, x, v)  # leaves the lists of the island
    x[:], v[:] = 0.2 / problem.ws.near_mobility[0], 0.8 * (v - problem.u) + problem.u
    b = int(np.flatnonzero(np.diff(problem.ws.near_start[: len(problem.plan.tree_first) + 1]) == 4)[0])
    solve_few(problem.ws, b, least, MET, x, v)
    np.testing.assert_allclose(x, 0.25 / problem.ws.near_mobility[0], rtol=4 * EPS / few_pushes.NEAR)


def test_rows_that_nothing_can_move_along_get_nothing():
    problem = wedged(np.random.default_rng(1), 20, 1e-5)
    problem.ws.near_mobility[:5] = 0.0
    x, v = np.zeros(20), problem.u.copy()
    solve_pushes(problem.plan, problem.ws, 20, problem.least, MET, x, v)
    assert not x[:5].any() and x[5:].any()
    assert np.isfinite(v).all()


@pytest.mark.parametrize("n", [6, 30, few_pushes.FEW])
@pytest.mark.parametrize("seed", seeds(6, 200))
def test_from_any_start_what_pushes_has_its_rate_and_the_rest_no_less(seed: int, n: int):
    rng = np.random.default_rng(seed)
    problem = Problem(rng, n, bodies=12)
    assert n <= problem.ws.c.size
    solve_pushes(
        problem.plan, problem.ws, n, problem.least, MET, np.zeros(n), problem.u.copy()
    )  # leaves the lists
    before = rng.uniform(0.0, 3.0, n) / problem.ws.near_mobility[:n] * (rng.random(n) < rng.uniform(0.0, 1.0))
    x, v = before.copy(), problem.u + np.linalg.solve(problem.M, problem.A.T @ before)
    for b in range(len(problem.plan.tree_first)):
        solve_few(problem.ws, b, problem.least, MET, x, v)
    assert x.min() >= 0.0
    np.testing.assert_allclose(v, problem.u + np.linalg.solve(problem.M, problem.A.T @ x), atol=1e-9)
    rates = problem.A @ v - problem.least + few_pushes.NEAR * problem.ws.near_mobility[:n] * (x - before)
    assert rates.min() >= -MET
    assert np.abs(rates[x > 0.0]).max(initial=0.0) <= 1e-9
