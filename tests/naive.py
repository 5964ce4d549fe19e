"""Plain twins of the kernels: slow, obvious, and sharing nothing with what they check.

Nothing here imports ``hapticsim.kernels``.  Where a kernel eliminates, the twin solves the full system; where
a kernel walks an active set, the twin tries every one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


def kkt(M: Array, A: Array, s: Array, f: Array) -> tuple[Array, Array]:
    """udot and row forces of ``M udot = f + A' lam, A udot + s = 0``; of redundant rows the least forces."""
    n, m = M.shape[0], A.shape[0]
    K = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    x = np.linalg.lstsq(K, np.concatenate([f, -s]), rcond=1e-11)[0]
    return x[:n], x[n:]


def least_nonnegative(W: Array, c: Array) -> Array:
    """The minimiser of ``1/2 x'Wx + c'x`` over x >= 0, by trying every set of positive entries."""
    m = len(c)
    best, least = np.zeros(m), 0.0
    for size in range(1, m + 1):
        for rows in itertools.combinations(range(m), size):
            part = list(rows)
            x = np.zeros(m)
            x[part] = np.linalg.lstsq(W[np.ix_(part, part)], -c[part], rcond=1e-11)[0]
            if x.min() < -1e-12:
                continue
            value = 0.5 * x @ W @ x + c @ x
            if value < least - 1e-14:
                best, least = x, value
    return best


def plastic_impact(M: Array, A: Array, u: Array) -> tuple[Array, float]:
    """Speeds after an impact in which nothing bounces, and the kinetic energy lost [J]."""
    Minv = np.linalg.inv(M)
    x = least_nonnegative(A @ Minv @ A.T, A @ u)
    after = u + Minv @ A.T @ x
    return after, 0.5 * u @ M @ u - 0.5 * after @ M @ after


def distance_to_box(p: Array, half: Array) -> float:
    """Signed distance [m] of a point in box axes: to the nearest point, or minus the depth under a face."""
    outside = p - np.clip(p, -half, half)
    if np.any(outside):
        return float(np.linalg.norm(outside))
    return float(np.max(np.abs(p) - half))


def distance_of_corner(p: Array, half: Array, inward: Array) -> float:
    """The same for a corner; inside, under the nearest face that has the corner's body on its outer side."""
    if np.any(np.abs(p) > half):
        return distance_to_box(p, half)
    faces = [i for i in range(3) if np.sign(p[i]) * inward[i] > 0.0] or [0, 1, 2]
    return float(max(abs(p[i]) - half[i] for i in faces))


def distance_to_segment(x: np.ndarray, half: float) -> float:
    """Of a point from a segment of this half length along z: the least over its points."""
    return float(np.linalg.norm(x - np.array([0.0, 0.0, np.clip(x[2], -half, half)])))


def distance_to_cylinder(x: np.ndarray, radius: float, half: float) -> float:
    """Of a point from a cylinder along z, signed: that from a box, in the plane of the axis and the point."""
    return distance_to_box(np.array([np.hypot(x[0], x[1]), x[2]]), np.array([radius, half]))


def distance_to_cone(x: np.ndarray, radius: float, half: float) -> float:
    """Of a point from a cone along z, signed: that from its base and side, in the plane of axis and point."""
    p = np.array([np.hypot(x[0], x[1]), x[2]])
    rim, apex, middle = np.array([radius, -half]), np.array([0.0, half]), np.array([0.0, -half])
    side = apex - rim
    inside = p[1] > -half and side[0] * (p[1] - rim[1]) - side[1] * (p[0] - rim[0]) > 0.0
    found = []
    for start, end in ((middle, rim), (rim, apex)):
        along = end - start
        t = np.clip((p - start) @ along / (along @ along), 0.0, 1.0)
        found.append(np.linalg.norm(p - start - t * along))
    return float(-min(found) if inside else min(found))


def distance_to_ellipsoid(x: np.ndarray, half: np.ndarray) -> float:
    """Of a point outside an ellipsoid: t of x = q + t A^-2 q, q on it, by halves."""
    low, high = 0.0, float(np.linalg.norm(x) * max(half))
    for _ in range(60):
        t = 0.5 * (low + high)
        q = half**2 * x / (half**2 + t)
        low, high = (t, high) if np.sum((q / half) ** 2) > 1.0 else (low, t)
    return float(np.linalg.norm(x - q))


def height_of_ellipsoid(middle: np.ndarray, axes: np.ndarray, half: np.ndarray) -> float:
    """Least height [m] over z = 0; columns of ``axes`` are its axes, and half (3,) its half axes [m]."""
    return float(middle[2] - np.linalg.norm((axes * half)[2]))


def crossing(x: np.ndarray, a: np.ndarray, half_a: float, half_b: float) -> tuple[float, float]:
    """Distance of two segments, and how far the nearest points of their lines are past the ends of either.

    x and a : middle of the one, and its direction; the other lies along z about the origin.
    """
    b = np.array([0.0, 0.0, 1.0])
    s, t = np.linalg.lstsq(np.stack([a, -b], axis=1), -x, rcond=None)[0]
    past = max(abs(s) - half_a, abs(t) - half_b)
    apart = [np.linalg.norm(x + s * a - t * b)] if past <= 0.0 else []
    for end in (-half_a, half_a):
        apart.append(distance_to_segment(x + end * a, half_b))
    for end in (-half_b, half_b):
        to = np.clip((end * b - x) @ a, -half_a, half_a)
        apart.append(np.linalg.norm(x + to * a - end * b))
    return float(min(apart)), float(past)


def distance_to_plane(p: Array) -> float:
    """Height [m] of a point over z = 0 of the plane's axes."""
    return float(p[2])


def height_of_rim(p: Array, axis: Array, radius: float) -> float:
    """Least height [m] over z = 0 of a circle about p: how far down its plane goes within it."""
    across = [v - (v @ axis) * axis for v in np.eye(3)]
    u = max(across, key=np.linalg.norm)
    u = u / np.linalg.norm(u)
    return float(p[2] - radius * np.hypot(u[2], np.cross(axis, u)[2]))


def turned(q: Array) -> Array:
    """(3, 3) rotation of a unit quaternion w, x, y, z, by Rodrigues' formula."""
    w, v = q[0], q[1:]
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


@dataclass(frozen=True)
class PlanarArm:
    """Two uniform rods in the vertical x-z plane, q > 0 lifts, from the textbook's formulas.

    Its tip is a ball over the plane z = floor.
    """

    l1: float = 0.4  # [m]
    l2: float = 0.3
    m1: float = 1.2  # [kg]
    m2: float = 0.7
    gravity: float = 9.81  # [m/s^2]
    radius: float = 0.02  # [m]
    floor: float = -0.35  # [m]

    def mass_matrix(self, q: Array) -> Array:
        l1, l2, m1, m2 = self.l1, self.l2, self.m1, self.m2
        a = m1 * l1**2 / 3 + m2 * l1**2
        b = m2 * l2**2 / 3
        c = 0.5 * m2 * l1 * l2 * np.cos(q[1])
        return np.array([[a + b + 2 * c, b + c], [b + c, b]])

    def bias(self, q: Array, u: Array) -> Array:
        l1, l2, m1, m2, g = self.l1, self.l2, self.m1, self.m2, self.gravity
        s = 0.5 * m2 * l1 * l2 * np.sin(q[1])
        g2 = 0.5 * m2 * g * l2 * np.cos(q[0] + q[1])
        g1 = (0.5 * m1 + m2) * g * l1 * np.cos(q[0]) + g2
        return np.array([-s * u[1] * (2 * u[0] + u[1]) + g1, s * u[0] ** 2 + g2])

    def tip(self, q: Array) -> Array:
        """x and z [m]."""
        a, b = q[0], q[0] + q[1]
        return np.array(
            [self.l1 * np.cos(a) + self.l2 * np.cos(b), self.l1 * np.sin(a) + self.l2 * np.sin(b)]
        )

    def jacobian(self, q: Array) -> Array:
        a, b = q[0], q[0] + q[1]
        x, z = self.l2 * np.cos(b), self.l2 * np.sin(b)
        return np.array([[-self.l1 * np.sin(a) - z, -z], [self.l1 * np.cos(a) + x, x]])

    def tip_remainder(self, q: Array, u: Array) -> Array:
        """The tip's acceleration [m/s^2] without udot."""
        a, b, w = q[0], q[0] + q[1], u[0] + u[1]
        return -np.array(
            [
                self.l1 * np.cos(a) * u[0] ** 2 + self.l2 * np.cos(b) * w**2,
                self.l1 * np.sin(a) * u[0] ** 2 + self.l2 * np.sin(b) * w**2,
            ]
        )

    def gap(self, q: Array) -> float:
        return float(self.tip(q)[1] - self.radius - self.floor)

    def motion(self, q: Array, u: Array, force: Array, touching: bool) -> tuple[Array, float]:
        """udot and the floor's force [N] under a force at the tip (x, z) [N]."""
        J = self.jacobian(q)
        f = J.T @ force - self.bias(q, u)
        M, n = self.mass_matrix(q), J[1]
        if not touching:
            return np.linalg.solve(M, f), 0.0
        K = np.array([[*M[0], -n[0]], [*M[1], -n[1]], [*n, 0.0]])
        x = np.linalg.solve(K, [*f, -self.tip_remainder(q, u)[1]])
        return x[:2], float(x[2])
