"""Rates and accelerations of a gap by differences along a motion of two free bodies.

Each body turns by the rotation vector theta = w t + alpha t^2/2 in its own axes, and its origin moves by
R_0 (v t + (v_dot + w x v) t^2/2): at t = 0 its generalized speeds are u = (w, v), and u_dot = (alpha, v_dot).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from shape_poses import quaternion_by, turned

FIRST = np.array([4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0])  # of f(jh) - f(-jh), j = 1 ... 4
SECOND = np.array([8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0])  # of f(jh) - 2 f(0) + f(-jh)
STEPS = (4e-3, 1e-3)  # [s] tried in turn
SETTLED = 2e-7  # [m/s], [m/s^2] and by size: how much differences at half the step may differ

Gap = Callable[[np.ndarray], tuple[float, list[int]]]


class Motion:
    """A motion from a pose q (14,) with random speeds u (12,) and accelerations udot (12,)."""

    def __init__(self, rng: np.random.Generator, q: np.ndarray) -> None:
        self.q = q
        self.u, self.udot = rng.uniform(-1.0, 1.0, (2, 12))

    def at(self, t: float) -> np.ndarray:
        """Coordinates (14,) after t [s]."""
        q = self.q.copy()
        for i in range(2):
            at, quaternion = q[7 * i : 7 * i + 3], q[7 * i + 3 : 7 * i + 7]
            (w, v), (alpha, v_dot) = (x[6 * i : 6 * i + 6].reshape(2, 3) for x in (self.u, self.udot))
            moved = v * t + 0.5 * (v_dot + np.cross(w, v)) * t * t
            at += turned(quaternion[None])[0] @ moved
            quaternion[:] = times(quaternion, quaternion_by(w * t + 0.5 * alpha * t * t))
        return q


def times(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Product of two quaternions w, x, y, z."""
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def differences(gap: Gap, motion: Motion) -> tuple[float, float] | None:
    """First and second derivative of a gap at the start of a motion [m/s, m/s^2].

    gap   of coordinates: [m], and on which part of the surface.  None where the motion leaves the part, or
          differences with half a step differ from those with the whole.
    """
    here, part = gap(motion.q)
    for step in STEPS:
        found = []
        for h in (step, 0.5 * step):
            seen = [gap(motion.at(sign * j * h)) for j in range(1, 5) for sign in (1.0, -1.0)]
            if any(of != part for _, of in seen):
                break
            plus, minus = (np.array([phi for phi, _ in seen[i::2]]) for i in range(2))
            found.append(
                np.array([FIRST @ (plus - minus) / h, SECOND @ (plus - 2.0 * here + minus) / (h * h)])
            )
        if len(found) == 2 and np.all(np.abs(found[1] - found[0]) <= SETTLED * (1.0 + np.abs(found[1]))):
            return float(found[1][0]), float(found[1][1])
    return None
