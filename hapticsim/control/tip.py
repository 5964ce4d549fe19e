"""A point of a body as a controller sees it: where it is, its Jacobian, and the step that moves it."""

from __future__ import annotations

import numpy as np

from hapticsim.equations.base import Equations
from hapticsim.errors import ConfigError, listed, nearest


class Tip:
    """Point of a body, by the compiled equations; arrays are reused from call to call where nobody sees it.

    Parameters
    ----------
    equations : with the body among its frames.
    body, point_B : the point, (3,) [m] in the body.
    where : whose tip it is, for refusals.
    """

    def __init__(self, equations: Equations, body: str, point_B: np.ndarray, where: str) -> None:
        if body not in equations.frames:
            raise ConfigError(
                where,
                "body",
                f"= {body!r} is not among the frames of the equations{nearest(body, equations.frames)}: they "
                f"are {listed(equations.frames)}; compile the equations with this frame.",
            )
        self.point_B = np.asarray(point_B, dtype=float)
        if self.point_B.shape != (3,) or not np.all(np.isfinite(self.point_B)):
            raise ConfigError(
                where, "point_B", f"= {self.point_B.tolist()} is not usable: it must be 3 finite numbers."
            )
        self._index = equations.frames.index(body)
        nf, nu = len(equations.frames), equations.nu
        self._kane, self._kinematics = equations.kernels.kane, equations.kernels.kinematics
        self._q, self._u, self._qdot = np.zeros(nu), np.zeros(nu), np.zeros(nu)
        self._M, self._X, self._V = np.zeros((nu, nu)), np.zeros((nf, 12)), np.zeros((nf, nu, 6))
        self._vel, self._acc = np.zeros((nf, 6)), np.zeros((nf, 6))

    def at(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position (3,) [m] and Jacobian J_r (3, nu) of the point, world axes, and the bias h (nu,)."""
        self._q[:], self._u[:] = q, u
        h = np.empty(self._u.size)
        out = (self._qdot, self._M, h, self._X, self._V, self._vel, self._acc)
        self._kane(self._q, self._u, *out)
        return *self._point(), h

    def at_rest(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) [m] and Jacobian J_r (3, nu) of the point, world axes."""
        self._q[:], self._u[:] = q, 0.0
        self._kinematics(self._q, self._u, self._qdot, self._X, self._V, self._vel, self._acc)
        return self._point()

    def _point(self) -> tuple[np.ndarray, np.ndarray]:
        X, V = self._X[self._index], self._V[self._index]
        x, y, z = arm = X[:9].reshape(3, 3) @ self.point_B
        turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])  # omega @ turn = omega x arm
        return X[9:] + arm, (V[:, 3:] + V[:, :3] @ turn).T


def damped_step(J: np.ndarray, error: np.ndarray, damping: float) -> np.ndarray:
    """Return dq (nu,) that removes most of error (3,) [m]: J' (J J' + damping^2 1)^-1 error.

    J (3, nu); damping [m/rad].  Least squares with a price on the step (Wampler 1986; Nakamura & Hanafusa
    1986): bounded by |error| / (2 damping) also where J has lost rank.
    """
    step: np.ndarray = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(3), error)
    return step
