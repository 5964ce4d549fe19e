"""Impulses by Gauss-Seidel with conjugate directions, against the plain one-row method run to its end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from scipy.optimize import nnls

import hapticsim as hs
from hapticsim.kernels.time_stepping import gauss_seidel, near_contacts
from tests.kernel_access import FLOAT, INT, PLAN, VECTOR, WORKSPACE, compiled
from tests.seeds import seeds
from tests.whole_scenes.test_time_stepping import cubes

solve_pushes = compiled(gauss_seidel.solve_pushes, PLAN, WORKSPACE, INT, VECTOR, FLOAT, VECTOR, VECTOR)
rate_along = compiled(near_contacts.rate_along, WORKSPACE, INT, VECTOR)


class Problem:
    """n rows between cubes and the world, drawn at random; every third one repeats an earlier one.

    alone : each row is about one cube and the world.
    friction : of all contacts.
    """

    def __init__(
        self, rng: np.random.Generator, n: int, alone: bool = False, bodies: int = 3, friction: float = 0.0
    ) -> None:
        scene = cubes([(0.3 * i, 0.0, 1.0) for i in range(bodies)])
        contacts = tuple(replace(pair, friction=friction) for pair in scene.contacts)
        sim = hs.Simulation(replace(scene, max_rows=max(scene.max_rows, n), contacts=contacts))
        self.plan, self.ws = sim.plan, sim._workspace
        nu = 6 * bodies
        roots = rng.normal(size=(bodies, 6, 6))
        self.M = np.zeros((nu, nu))
        for t in range(bodies):
            self.M[6 * t : 6 * t + 6, 6 * t : 6 * t + 6] = roots[t] @ roots[t].T + 0.3 * np.eye(6)
        self.A = np.zeros((n, nu))
        half = self.ws.near_J.shape[1] // 2
        trees = np.stack([self.plan.row_tree_a, self.plan.row_tree_b], axis=1)
        drawn = np.flatnonzero((trees < 0).any(axis=1)) if alone else np.arange(len(trees))
        self.ws.near_J[:] = self.ws.near_Y[:] = 0.0
        for i in range(n):
            k = int(rng.choice(drawn))
            if i % 3 == 2:
                k, self.A[i] = int(self.ws.near[i - 1]), self.A[i - 1]
            self.ws.near[i] = k
            for side, t in enumerate(trees[k]):
                self.ws.near_speeds[i, 2 * side : 2 * side + 2] = (6 * t, 6) if t >= 0 else (0, 0)
                if t >= 0:
                    at = slice(6 * t, 6 * t + 6)
                    if i % 3 != 2:
                        self.A[i, at] = rng.normal(size=6)
                    here = slice(side * half, side * half + 6)
                    self.ws.near_J[i, here] = self.A[i, at]
                    self.ws.near_Y[i, here] = np.linalg.solve(self.M[at, at], self.A[i, at])
            self.ws.near_mobility[i] = self.A[i] @ np.linalg.solve(self.M, self.A[i])
        self.u = rng.normal(size=nu)
        # rates that some speeds have, so that there is an answer
        self.least = self.A @ rng.normal(size=nu) - rng.uniform(0.0, 1.0, n)

    def exact(self) -> np.ndarray:
        """Speeds after the impulses, by scipy: the dual is a nonnegative least squares problem."""
        L = np.linalg.cholesky(np.linalg.inv(self.M))
        x, _ = nnls(L.T @ self.A.T, L.T @ self.M @ self._nearest(), maxiter=10_000)
        return self.u + np.linalg.solve(self.M, self.A.T @ x)

    def _nearest(self) -> np.ndarray:
        """w with A w = least - A u where some w has that, which makes the problem one of nonnegative least
        squares."""
        return np.linalg.lstsq(self.A, self.least - self.A @ self.u, rcond=None)[0]


def plain(problem: Problem, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Projected Gauss-Seidel, one row after the other."""
    Y = np.linalg.solve(problem.M, problem.A.T).T.copy()
    x, v = np.zeros(len(Y)), problem.u.copy()
    go_plain_rounds(np.ascontiguousarray(problem.A), Y, problem.least, rounds, x, v)
    return x, v


@njit
def go_plain_rounds(A, Y, least, rounds, x, v):
    """Its rounds, compiled: some ten million rows are visited."""
    for _ in range(rounds):
        for i in range(len(A)):
            change = max((least[i] - A[i] @ v) / (A[i] @ Y[i]), -x[i])
            x[i] += change
            v += change * Y[i]


@pytest.mark.parametrize("seed", seeds(8, 30))
def test_the_speeds_are_those_of_the_plain_method_run_to_its_end(seed: int):
    rng = np.random.default_rng(seed)
    problem = Problem(rng, int(rng.integers(1, 16)))
    n = len(problem.A)
    x, v = np.zeros(n), problem.u.copy()
    left = solve_pushes(problem.plan, problem.ws, n, problem.least, 1e-12, x, v)
    _, slow = plain(problem, 20_000)
    assert x.min() >= 0.0
    np.testing.assert_allclose(v, problem.u + np.linalg.solve(problem.M, problem.A.T @ x), atol=1e-10)
    rates = problem.A @ v - problem.least
    assert rates.min() >= -max(1e-6, 50.0 * left)
    assert np.abs(x * rates).max() <= max(1e-6, 50.0 * left) * max(1.0, x.max())
    np.testing.assert_allclose(v, slow, atol=1e-5)
    for i in range(n):
        assert rate_along(problem.ws, i, v) == pytest.approx(problem.A[i] @ v, abs=1e-12)


def test_conjugate_directions_need_fewer_rounds_than_the_plain_method():
    rng, nearer = np.random.default_rng(3), 0
    for _ in range(20):
        problem = Problem(rng, 15)
        x, v = np.zeros(15), problem.u.copy()
        solve_pushes(problem.plan, problem.ws, 15, problem.least, 0.0, x, v)
        rounds = min(gauss_seidel.MOST, max(gauss_seidel.FEWEST, gauss_seidel.VISITS // 15))
        _, slow = plain(problem, rounds // 4)
        _, end = plain(problem, 40_000)
        nearer += np.abs(v - end).max() <= np.abs(slow - end).max() + 1e-9
    assert nearer >= 18


def test_an_island_that_rounding_alone_moves_gets_no_impulse():
    problem = Problem(np.random.default_rng(5), 15, alone=True)
    of_last = np.flatnonzero(np.any(problem.A[:, 12:] != 0.0, axis=1))
    problem.ws.near_J[of_last] *= 1e-17
    problem.ws.near_Y[of_last] *= 1e-17
    problem.ws.near_mobility[of_last] *= 1e-34
    x, v = np.zeros(15), problem.u.copy()
    solve_pushes(problem.plan, problem.ws, 15, problem.least, 1e-12, x, v)
    assert of_last.size > 0 and x.any()
    assert not x[of_last].any()
    np.testing.assert_array_equal(v[12:], problem.u[12:])


def test_what_one_island_is_given_changes_nothing_of_another():
    problem = Problem(np.random.default_rng(5), 15, alone=True)
    of_last = np.any(problem.A[:, 12:] != 0.0, axis=1)
    answers = []
    for push in (0.0, 3.0):
        x, v = np.zeros(15), problem.u.copy()
        v[12:] += push
        solve_pushes(problem.plan, problem.ws, 15, problem.least + push * of_last, 1e-12, x, v)
        answers.append((x, v))
    (x, v), (other_x, other_v) = answers
    assert 0 < of_last.sum() < 15 and x[~of_last].any()
    assert np.any(x[of_last] != other_x[of_last])
    np.testing.assert_array_equal(x[~of_last], other_x[~of_last])
    np.testing.assert_array_equal(v[:12], other_v[:12])


def test_a_row_that_nothing_moves_along_is_left_alone():
    problem = Problem(np.random.default_rng(4), 3)
    problem.ws.near_mobility[0] = 0.0
    x, v = np.zeros(3), problem.u.copy()
    solve_pushes(problem.plan, problem.ws, 3, problem.least, 1e-12, x, v)
    assert x[0] == 0.0
    assert np.isfinite(v).all()
