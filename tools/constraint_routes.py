"""Constrained accelerations by both routes, in compiled loops: what ``bench_constraints.py`` times.

Dense: ``kane`` (M, h and the frames), then embedding in the independent speeds.  O(n): ``kinematics`` (the
frames), ``forward_dynamics`` and ``response_factor``, then one response per row.  Rows are velocities of the
origins of frames along the world axes, three per frame, that are to stay as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64

from hapticsim.equations.base import Equations
from hapticsim.equations.catalogue import shapes_of
from hapticsim.kernels.entry import compile_cached
from hapticsim.kernels.linalg.selection import select_speeds
from hapticsim.kernels.machine_code.foreign import (
    forward_dynamics_at,
    kane_at,
    kinematics_at,
    response_factor_at,
)
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.allocate import sizes_of_run
from hapticsim.kernels.memory.arrays import Workspace
from hapticsim.kernels.solve import embedding
from hapticsim.kernels.solve.embedding import embedded_acceleration
from hapticsim.kernels.solve.response import response_acceleration

STATES = 16
VECTOR, MATRIX, CUBE, INTS = float64[::1], float64[:, ::1], float64[:, :, ::1], int64[::1]
WORKSPACE = Workspace._type


@kernel
def point_rows(r, V, acc, A, s):
    """A and s of the first r rows: row i is the velocity of frame i // 3 along axis i % 3."""
    for i in range(r):
        s[i] = acc[i // 3, 3 + i % 3]
        for j in range(A.shape[1]):
            A[i, j] = V[i // 3, j, 3 + i % 3]


def dense_loop(calls, kane, q, u, tau, orders, r, ws, qdot, udot):
    """Evaluate by embedding, state after state; udot (STATES, nu)."""
    for c in range(calls):
        k = c % q.shape[0]
        kane_at(kane)(q[k], u[k], qdot, ws.M, ws.h, ws.X, ws.V, ws.vel, ws.acc)
        point_rows(r, ws.V, ws.acc, ws.A, ws.s)
        for j in range(u.shape[1]):
            ws.f[j] = tau[k, j] - ws.h[j]
        embedded_acceleration(ws.A, ws.s, r, orders[k], ws.M, ws.f, ws, udot[k])


def solve_loop(calls, order, r, ws, udot):
    """Rows and embedding alone, with what ``kane`` left in ws."""
    for _ in range(calls):
        point_rows(r, ws.V, ws.acc, ws.A, ws.s)
        embedded_acceleration(ws.A, ws.s, r, order, ws.M, ws.f, ws, udot)


def response_loop(
    calls, kinematics, forward, factor, respond, q, u, tau, r, ws, F, Q, Y, L, t, qdot, udot, lam
):
    """Evaluate by responses, state after state; udot (STATES, nu), lam (STATES, r)."""
    for c in range(calls):
        k = c % q.shape[0]
        kinematics_at(kinematics)(q[k], u[k], qdot, ws.X, ws.V, ws.vel, ws.acc)
        point_rows(r, ws.V, ws.acc, ws.A, ws.s)
        forward_dynamics_at(forward)(q[k], u[k], tau[k], udot[k])
        response_factor_at(factor)(q[k], F)
        response_acceleration(respond, F, ws.A, ws.s, r, udot[k], Q, Y, L, t, udot[k], lam[k])


def select_loop(calls, A, m, M, earlier, combine, R, U, sigma, norms, perm):
    """Choose the speeds anew for one set of rows after the other."""
    n = M.shape[0]
    for c in range(calls):
        select_speeds(A[c % A.shape[0]], m, 0, n, M, earlier, 0, combine, R, U, sigma, norms, perm)


def _dense() -> Any:
    inputs = (int64, int64, MATRIX, MATRIX, MATRIX, int64[:, ::1], int64, WORKSPACE)
    return compile_cached(dense_loop, (*inputs, VECTOR, MATRIX))


def _solve() -> Any:
    return compile_cached(solve_loop, (int64, INTS, int64, WORKSPACE, VECTOR))


def _responses() -> Any:
    inputs = (*[int64] * 5, MATRIX, MATRIX, MATRIX, int64, WORKSPACE)
    return compile_cached(response_loop, (*inputs, VECTOR, *[MATRIX] * 3, VECTOR, VECTOR, MATRIX, MATRIX))


class Case:
    """A robot with r rows at random states, and the two ways to its accelerations.

    q, u, tau : (STATES, nq or nu) in -1 .. 1, quaternions of length 1.
    dense, responses : evaluate so many times; the results are in the arrays of these names.
    solve : embed and solve alone so many times, at the last state that ``dense`` was at.
    """

    def __init__(self, equations: Equations, r: int, seed: int = 0) -> None:
        self.equations, self.r = equations, r
        nq, nu, nf = equations.nq, equations.nu, len(equations.frames)
        rng = np.random.default_rng(seed)
        self.q = rng.uniform(-1.0, 1.0, (STATES, nq))
        for k in equations.tree.quaternions:
            self.q[:, k : k + 4] /= np.linalg.norm(self.q[:, k : k + 4], axis=1, keepdims=True)
        self.u, self.tau = rng.uniform(-1.0, 1.0, (2, STATES, nu))
        self.ws = Workspace.zeros(sizes_of_run(nq, nu, nf) | {"nr": r})
        self.order = np.zeros((STATES, nu), np.int64)
        self.udot_dense, self.udot_responses = np.zeros((2, STATES, nu))
        self.lam_dense, self.lam_responses = np.zeros((2, STATES, r))
        F = np.zeros(shapes_of("response_factor", equations.tree, ())["F"])
        self.scratch = (F, np.zeros((r, nu)), np.zeros((r, nu)), np.zeros((r, r)), np.zeros(r), np.zeros(nq))
        self._choose()
        self._bind()

    def _bind(self) -> None:
        """Make the loops ready: what a batch costs beyond its evaluations is some microseconds then."""
        e, ws, qdot, F_to_t = self.equations, self.ws, self.scratch[-1], self.scratch[:-1]
        state = (self.q, self.u, self.tau)
        dense, responses, solve = _dense(), _responses(), _solve()
        kane = e.address("kane")
        names = ("kinematics", "forward_dynamics", "response_factor", "response")
        addresses = [e.address(name) for name in names]
        self.dense = lambda calls: dense(calls, kane, *state, self.order, self.r, ws, qdot, self.udot_dense)
        self.responses = lambda calls: responses(
            calls, *addresses, *state, self.r, ws, *F_to_t, qdot, self.udot_responses, self.lam_responses
        )
        self.solve = lambda calls: solve(calls, self.order[-1], self.r, ws, self.udot_dense[-1])

    def differences(self) -> tuple[float, float]:
        """Return the largest relative differences of udot and of the row forces between the routes."""
        self.responses(STATES)
        self.dense(STATES)
        forces = compile_cached(
            embedding.constraint_forces.py_func,
            (MATRIX, int64, int64, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR, VECTOR),
        )
        one = _dense()
        for k in range(STATES):
            state = (self.q[k : k + 1], self.u[k : k + 1], self.tau[k : k + 1], self.order[k : k + 1])
            out = np.zeros(self.q.shape[1]), self.udot_dense[k : k + 1]
            one(1, self.equations.address("kane"), *state, self.r, self.ws, *out)
            ws = self.ws
            identity = np.eye(self.r)
            forces(identity, self.r, self.r, self.order[k], ws.M, ws.f, ws, out[1][0], self.lam_dense[k])
        return (
            _relative(self.udot_responses, self.udot_dense),
            _relative(self.lam_responses, self.lam_dense),
        )

    def _choose(self) -> None:
        """Choose the dependent speeds of every state, as the tick would."""
        select = compile_cached(
            select_speeds.py_func,
            (MATRIX, *[int64] * 3, MATRIX, INTS, int64, *[MATRIX] * 3, VECTOR, VECTOR, INTS),
        )
        ws, r, n, combine = self.ws, self.r, self.equations.nu, np.eye(self.r)
        for k in range(STATES):
            kane = self.equations.kernels.kane
            kane(self.q[k], self.u[k], self.scratch[-1], ws.M, ws.h, ws.X, ws.V, ws.vel, ws.acc)
            for i in range(r):
                ws.A[i] = ws.V[i // 3, :, 3 + i % 3]
            order = self.order[k]
            rank, _ = select(ws.A, r, 0, n, ws.M, order, 0, combine, ws.R, ws.U, ws.sigma, ws.norms, ws.perm)
            order[:rank] = ws.perm[:rank]
            order[rank:] = np.setdiff1d(np.arange(n), order[:rank])
            if rank != r:
                raise ValueError(f"{self.equations.model.name}: of {r} rows only {rank} are independent.")


def selection_loop(m: int, n: int, seed: int = 0) -> Any:
    """Return a function that chooses so many times among n speeds under m random rows."""
    rng = np.random.default_rng(seed)
    A, root = rng.normal(size=(STATES, m, n)), rng.normal(size=(n, n))
    ws, order, combine = Workspace.zeros(sizes_of_run(n, n) | {"nr": m}), np.arange(n), np.eye(m)
    loop = compile_cached(
        select_loop, (int64, CUBE, int64, MATRIX, INTS, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, INTS)
    )
    M = root @ root.T + n * np.eye(n)
    return lambda calls: loop(calls, A, m, M, order, combine, ws.R, ws.U, ws.sigma, ws.norms, ws.perm)


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of a state, relative to the largest entry there."""
    return float((np.abs(a - b).max(axis=1) / np.abs(b).max(axis=1)).max())
