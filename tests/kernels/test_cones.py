"""Impulses in Coulomb's cone, against the law itself in numpy and against the plain method run to its end."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from hapticsim.kernels.cones import cone_rounds
from hapticsim.kernels.cones.newton import nearest_in_cone
from hapticsim.kernels.time_stepping.gauss_seidel import MET
from tests.kernel_access import FLOAT, INT, PLAN, WORKSPACE, compiled
from tests.kernels.test_gauss_seidel import Problem
from tests.seeds import seeds

solve_cones = compiled(cone_rounds.solve_cones, PLAN, WORKSPACE, INT, FLOAT)


class ConeProblem(Problem):
    """The same where every contact rubs, along two rows drawn as its own."""

    def __init__(self, rng: np.random.Generator, n: int, friction: float) -> None:
        super().__init__(rng, n, friction=friction)
        ws, half = self.ws, self.ws.near_J.shape[1] // 2
        self.friction = friction
        self.T = np.zeros((2 * n, len(self.u)))
        ws.rub_J[:] = ws.rub_Y[:] = ws.rub_x[:] = 0.0
        ws.rub_most[:n] = friction
        ws.near_rub[:n], ws.rubbing[0] = np.arange(n), n
        for i in range(n):
            for side in range(2):
                first, many = ws.near_speeds[i, 2 * side : 2 * side + 2]
                at, here = slice(first, first + many), slice(side * half, side * half + many)
                for row in (2 * i, 2 * i + 1):
                    self.T[row, at] = ws.rub_J[row, here] = rng.normal(size=many)
                    ws.rub_Y[row, here] = np.linalg.solve(self.M[at, at], self.T[row, at])
            block = self.T[2 * i : 2 * i + 2] @ np.linalg.solve(self.M, self.T[2 * i : 2 * i + 2].T)
            ws.rub_mass[i] = 1.0 / np.linalg.eigvalsh(block)[-1]
        ws.near_x[:n], ws.near_least[:n], ws.us[:], ws.free_u[:] = 0.0, self.least, self.u, self.u
        root = np.linalg.cholesky(self.M)
        ws.L[:] = root / np.diag(root)
        np.fill_diagonal(ws.L, 1.0 / np.diag(root) ** 2)

    def off(self) -> tuple[float, float, float]:
        """How far the outcome is from the law along normals and tangents [m/s], and outside its cones."""
        n, ws = len(self.A), self.ws
        x, y = np.array(ws.near_x[:n]), np.array(ws.rub_x[:n])
        v = self.u + np.linalg.solve(self.M, self.A.T @ x + self.T.T @ y.ravel())
        np.testing.assert_allclose(ws.us, v, atol=1e-9)
        mass, rub_mass = 1.0 / np.array(ws.near_mobility[:n]), np.array(ws.rub_mass[:n])
        push = np.abs(x - np.maximum(x - mass * (self.A @ v - self.least), 0.0)) / mass
        towards = y - rub_mass[:, None] * (self.T @ v).reshape(n, 2)
        size = np.linalg.norm(towards, axis=1)
        inside = np.minimum(1.0, self.friction * x / np.maximum(size, 1e-300))
        rub = np.linalg.norm(y - inside[:, None] * towards, axis=1) / rub_mass
        return push.max(), rub.max(), float((np.linalg.norm(y, axis=1) - self.friction * x).max())


@pytest.mark.parametrize("friction", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("first", [0, *[pytest.param(k, marks=pytest.mark.long) for k in range(50, 500, 50)]])
def test_what_is_found_is_in_its_cones_and_the_certificate_says_how_far_it_is_from_the_law(
    first: int, friction: float
):
    """Rows drawn at random are no bodies, and where friction is as large as the push some have no answer."""
    far = 0
    for seed in range(first, first + 50):
        rng = np.random.default_rng(seed)
        problem = ConeProblem(rng, int(rng.integers(1, 9)), friction)
        solve_cones(problem.plan, problem.ws, len(problem.A), MET)
        push, rub, outside = problem.off()
        told = problem.ws.cone_residual
        assert told[0] == pytest.approx(push, abs=1e-9) and told[1] == pytest.approx(rub, abs=1e-9)
        assert outside <= 1e-12
        far += max(push, rub) > 1e-6
    assert far <= (5 if friction == 1.0 else 1)


@njit
def plain_round(A, T, YA, YT, mass, rub_mass, least, friction, x, y, v):
    """Each contact once: its normal, then its friction."""
    for i in range(len(A)):
        change = max((least[i] - A[i] @ v) * mass[i], -x[i])
        x[i] += change
        v += change * YA[i]
        to = y[i] - rub_mass[i] * np.array([T[2 * i] @ v, T[2 * i + 1] @ v])
        size = np.sqrt(to[0] ** 2 + to[1] ** 2)
        if size > friction * x[i]:
            to *= friction * x[i] / size
        v += (to[0] - y[i, 0]) * YT[2 * i] + (to[1] - y[i, 1]) * YT[2 * i + 1]
        y[i] = to


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_speeds_are_those_of_the_plain_method(seed: int):
    """Small coefficients, for which the speeds are unique."""
    rng = np.random.default_rng(1000 + seed)
    problem = ConeProblem(rng, int(rng.integers(1, 7)), 0.1)
    n = len(problem.A)
    solve_cones(problem.plan, problem.ws, n, MET)
    A, T = np.ascontiguousarray(problem.A), np.ascontiguousarray(problem.T)
    YA, YT = (np.ascontiguousarray(np.linalg.solve(problem.M, rows.T).T) for rows in (A, T))
    mass, rub_mass = 1.0 / np.array(problem.ws.near_mobility[:n]), np.array(problem.ws.rub_mass[:n])
    x, y, v = np.zeros(n), np.zeros((n, 2)), problem.u.copy()
    for _ in range(50_000):
        plain_round(A, T, YA, YT, mass, rub_mass, problem.least, 0.1, x, y, v)
    np.testing.assert_allclose(problem.ws.us, v, atol=1e-5)


@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
@pytest.mark.parametrize(
    "vector", [(-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.1, 0.0), (0.1, 3.0, -4.0), (-9.0, 1.0, 1.0)]
)
def test_the_nearest_vector_of_a_cone_is_in_it_and_no_other_is_nearer(mu: float, vector: tuple[float, ...]):
    """One of a contact without friction pulled: of a ray the inside is its end alone."""
    if mu == 0.0:
        vector = (vector[0], 0.0, 0.0)
    *nearest, _ = nearest_in_cone(*vector, mu)
    assert nearest[0] >= 0.0 and np.hypot(*nearest[1:]) <= mu * nearest[0] * (1.0 + 1e-12)
    away = np.array(vector) - nearest
    assert away @ nearest == pytest.approx(0.0, abs=1e-12)  # and what is left is in the polar cone
    assert mu * np.hypot(*away[1:]) <= -away[0] + 1e-12
