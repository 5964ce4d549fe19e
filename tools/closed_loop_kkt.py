"""The arm on the plane by the method of the paper: (24) at every stage of a Runge-Kutta step, with Q held.

Written from the paper and compiled by itself; of the simulator only the equations of motion are used.  Kane's
remainder acceleration of the fingertip is J_r_dot qdot of (18).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from closed_loop_task import BODY, NORMAL, PLANE_m, ball_of
from numba import njit

from hapticsim.equations.base import Equations
from hapticsim.kernels.machine_code.foreign import kane_at
from hapticsim.model.scene import Scene


@njit
def contact_terms(kane, q, u, point_B, n, M, h, X, V, vel, acc):
    """M and h at (q, u); return the row n' J_r, and n . r, its rate, and n . J_r_dot qdot."""
    qdot = np.empty(q.size)
    kane_at(kane)(q, u, qdot, M, h, X, V, vel, acc)
    R, omega, alpha = X[0, :9].copy().reshape(3, 3), vel[0, :3].copy(), acc[0, :3].copy()
    arm = R @ point_B
    row = np.empty(u.size)
    for r in range(u.size):
        row[r] = n @ (V[0, r, 3:] + np.cross(V[0, r, :3], arm))
    rest = n @ (acc[0, 3:] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)))
    return row, n @ (X[0, 9:] + arm), row @ u, rest


@njit
def acceleration(kane, q, u, Q, surface, held, s_v, s_p, M, h, X, V, vel, acc):
    """Return qddot (nu,) and the contact force f [N] of (24); without contact f = 0.

    surface  (7,) the tip in its body, the normal n, the height d of the tip on the plane
    """
    nu = u.size
    row, r_n, e_dot, rest = contact_terms(kane, q, u, surface[:3], surface[3:6], M, h, X, V, vel, acc)
    if not held:
        return np.linalg.solve(M, Q - h), 0.0
    K, b = np.zeros((nu + 1, nu + 1)), np.empty(nu + 1)
    K[:nu, :nu], K[:nu, nu], K[nu, :nu] = M, row, row
    b[:nu] = Q - h
    b[nu] = -rest - s_v * e_dot - s_p * (r_n - surface[6])  # (23)
    x = np.linalg.solve(K, b)
    return x[:nu].copy(), -x[nu]


@njit
def advance(kane, q, u, Q, surface, held, s_v, s_p, T, euler, M, h, X, V, vel, acc):
    """Take one step of RK4, or of Euler's method, of T [s] from (q, u), in place, with Q held."""
    k1 = acceleration(kane, q, u, Q, surface, held, s_v, s_p, M, h, X, V, vel, acc)[0]
    if euler:
        q += T * u
        u += T * k1
        return
    u2 = u + 0.5 * T * k1
    k2 = acceleration(kane, q + 0.5 * T * u, u2, Q, surface, held, s_v, s_p, M, h, X, V, vel, acc)[0]
    u3 = u + 0.5 * T * k2
    k3 = acceleration(kane, q + 0.5 * T * u2, u3, Q, surface, held, s_v, s_p, M, h, X, V, vel, acc)[0]
    u4 = u + T * k3
    k4 = acceleration(kane, q + T * u3, u4, Q, surface, held, s_v, s_p, M, h, X, V, vel, acc)[0]
    q += T / 6.0 * (u + 2.0 * (u2 + u3) + u4)
    u += T / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)


@dataclass(frozen=True)
class Method:
    """Factors of (22), both 0 switch the stabiliser off, and how it is integrated."""

    s_v: float = 0.0  # [1/s]
    s_p: float = 0.0  # [1/s^2]
    euler: bool = False


ON, OFF = Method(1414.0, 1e6), Method()
SLOWER_ON = Method(141.4, 1e4)  # damping ratio as ON, time constant 10 ms instead of 1 ms
EULER_ON, EULER_OFF = replace(ON, euler=True), replace(OFF, euler=True)


class KktArm:
    """The arm, its fingertip on the plane or free, by (24).

    q, u (nu,) are the state; ``held`` says whether the contact is imposed.
    """

    def __init__(self, equations: Equations, scene: Scene, method: Method) -> None:
        if equations.frames != (BODY,):
            raise ValueError(f"equations of the frame {BODY!r} alone are needed, not of {equations.frames}")
        ball, nu = ball_of(scene), equations.nu
        self.held = True
        self.q, self.u = scene.q0.copy(), scene.u0.copy()
        self._surface = np.array([*ball.X_BS.translation, *NORMAL, PLANE_m + ball.size[0]])
        self._equations, self._kane = equations, equations.address("kane")  # the one keeps the other alive
        self._gains, self._euler, self._T = (method.s_v, method.s_p), method.euler, scene.tick_s
        shapes = ((nu, nu), (nu,), (1, 12), (1, nu, 6), (1, 6), (1, 6))
        self._scratch = tuple(np.zeros(shape) for shape in shapes)  # M, h, X, V, vel, acc

    def step(self, Q: np.ndarray, seconds: float | None = None) -> None:
        """Go on by one servo cycle, or by so many seconds, with Q (nu,) held."""
        T = self._T if seconds is None else seconds
        state = (self._kane, self.q, self.u, Q, self._surface, self.held)
        advance(*state, *self._gains, T, self._euler, *self._scratch)

    def acceleration(self, Q: np.ndarray) -> tuple[np.ndarray, float]:
        """qddot (nu,) and the contact force [N] at the state under Q (nu,)."""
        state = (self._kane, self.q, self.u, Q, self._surface, self.held)
        udot, f = acceleration(*state, *self._gains, *self._scratch)
        return udot, float(f)

    def terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
        """M, h, the row n' J_r (nu,), the loop error e [m] (19) and its rate [m/s] (20)."""
        s = self._surface
        found = contact_terms(self._kane, self.q, self.u, s[:3], s[3:6], *self._scratch)
        row, r_n, e_dot, _ = found
        return self._scratch[0].copy(), self._scratch[1].copy(), row, float(r_n - s[6]), float(e_dot)
