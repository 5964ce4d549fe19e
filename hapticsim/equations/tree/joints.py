"""The joint table: everything the recursions know about a joint.

A joint kind is one class with four answers: the transform across it, the motion subspace S it allows, the
velocity product c and the rates of its coordinates.  A new kind is a new class and a new line in ``TABLE``;
no recursion changes.  Kinds that are others in a row (universal, cylindrical, planar) are not here:
``model.moving`` has taken them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from hapticsim.equations.scalars.spatial import (
    IDENTITY,
    Matrix,
    Transform,
    Vector,
    scale,
    sin_cos,
    times,
    transposed,
    zeros,
)
from hapticsim.model.moving import MovingBody


class JointMotion(Protocol):
    """What a joint allows, in the child's moving frame M."""

    nq: int
    nu: int

    def transform(self, q: Vector) -> Transform:
        """Return X_MJ(q): from the joint frame fixed in the parent to the child's frame."""

    def subspace(self, q: Vector) -> list[Vector]:
        """Return the nu columns of S, so that the child moves with S u relative to its parent."""

    def bias(self, q: Vector, u: Vector) -> Vector | None:
        """Return c_J = (dS/dt) u in moving axes, or None where S is constant."""

    def rates(self, q: Vector, u: Vector) -> Vector:
        """Return qdot = W(q) u."""


def unit(n: int, k: int, value: float = 1.0) -> Vector:
    """Return the n-vector with ``value`` in place k and zeros elsewhere."""
    e = zeros(n)
    e[k] = value
    return e


class Revolute:
    """Turns by q [rad] about a coordinate axis of M."""

    nq = nu = 1

    def __init__(self, body: MovingBody) -> None:
        self.axis, self.sign = body.axis, body.sign

    def transform(self, q: Vector) -> Transform:
        s, c = sin_cos(self.sign * q[0])
        k = self.axis
        i, j = (k + 1) % 3, (k + 2) % 3
        E = [unit(3, row) for row in range(3)]
        E[i][i], E[i][j] = c, s  # rx, ry, rz of the book are one matrix relabelled
        E[j][i], E[j][j] = -s, c
        return Transform(E, zeros(3))

    def subspace(self, q: Vector) -> list[Vector]:
        return [unit(6, self.axis, self.sign)]

    def bias(self, q: Vector, u: Vector) -> Vector | None:
        return None

    def rates(self, q: Vector, u: Vector) -> Vector:
        return [u[0]]


class RevoluteAbout(Revolute):
    """Turns by q [rad] about any axis of M, which is not turned along it."""

    def __init__(self, body: MovingBody) -> None:
        self.direction = [float(x) for x in body.direction_M]

    def transform(self, q: Vector) -> Transform:
        s, c = sin_cos(q[0])
        a = self.direction
        x, y, z = scale(s, a)
        skew = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        versine = 1.0 - c
        # R = c 1 + (1 - c) a a' + s a x; E is its transpose
        R = [
            [versine * a[i] * a[j] + skew[i][j] + (c if i == j else 0.0) for j in range(3)] for i in range(3)
        ]
        return Transform(transposed(R), zeros(3))

    def subspace(self, q: Vector) -> list[Vector]:
        return [self.direction + zeros(3)]


class Helical(Revolute):
    """Turns by q [rad] about a coordinate axis of M and slides along it by the pitch [m/rad] times q."""

    def __init__(self, body: MovingBody) -> None:
        super().__init__(body)
        self.slide = float(body.joint.pitch) * self.sign

    def transform(self, q: Vector) -> Transform:
        r = zeros(3)
        r[self.axis] = self.slide * q[0]
        return Transform(super().transform(q).E, r)

    def subspace(self, q: Vector) -> list[Vector]:
        s = unit(6, self.axis, self.sign)
        s[3 + self.axis] = self.slide
        return [s]


class Prismatic:
    """Slides by q [m] along a coordinate axis of M."""

    nq = nu = 1

    def __init__(self, body: MovingBody) -> None:
        self.axis, self.sign = body.axis, body.sign

    def transform(self, q: Vector) -> Transform:
        r = zeros(3)
        r[self.axis] = self.sign * q[0]
        return Transform(IDENTITY, r)

    def subspace(self, q: Vector) -> list[Vector]:
        return [unit(6, 3 + self.axis, self.sign)]

    def bias(self, q: Vector, u: Vector) -> Vector | None:
        return None

    def rates(self, q: Vector, u: Vector) -> Vector:
        return [u[0]]


class PrismaticAlong(Prismatic):
    """Slides by q [m] along any axis of M, which is not turned along it."""

    def __init__(self, body: MovingBody) -> None:
        self.direction = [float(x) for x in body.direction_M]

    def transform(self, q: Vector) -> Transform:
        return Transform(IDENTITY, scale(q[0], self.direction))

    def subspace(self, q: Vector) -> list[Vector]:
        return [zeros(3) + self.direction]


class Ball:
    """Turns freely about the origin: q = unit quaternion (w, x, y, z), u = omega in M.

    The quaternion is used as it is given: normalising it is the integrator's business.
    """

    nq, nu = 4, 3

    def __init__(self, body: MovingBody) -> None:
        pass

    def transform(self, q: Vector) -> Transform:
        return Transform(transposed(rotation(q)), zeros(3))

    def subspace(self, q: Vector) -> list[Vector]:
        return [unit(6, k) for k in range(3)]

    def bias(self, q: Vector, u: Vector) -> Vector | None:
        return None

    def rates(self, q: Vector, u: Vector) -> Vector:
        return quaternion_rate(q, u)


class Free:
    """Moves freely: q = (position in J [m], unit quaternion w, x, y, z), u = (omega, v of the origin) in M.

    The quaternion is used as it is given: normalising it is the integrator's business.
    """

    nq, nu = 7, 6

    def __init__(self, body: MovingBody) -> None:
        pass

    def transform(self, q: Vector) -> Transform:
        return Transform(transposed(rotation(q[3:])), list(q[:3]))

    def subspace(self, q: Vector) -> list[Vector]:
        return [unit(6, k) for k in range(6)]

    def bias(self, q: Vector, u: Vector) -> Vector | None:
        return None

    def rates(self, q: Vector, u: Vector) -> Vector:
        return times(rotation(q[3:]), u[3:]) + quaternion_rate(q[3:], u[:3])


def rotation(quaternion: Vector) -> Matrix:
    """Return R (from body to reference axes) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return [
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ]


def quaternion_rate(quaternion: Vector, omega: Vector) -> Vector:
    """Return half the product of a quaternion and (0, omega), omega in body axes [rad/s]."""
    w, x, y, z = quaternion
    a, b, c = scale(0.5, omega)
    return [
        -(x * a) - y * b - z * c,
        w * a + y * c - z * b,
        w * b + z * a - x * c,
        w * c + x * b - y * a,
    ]


TABLE: dict[str, Callable[[MovingBody], JointMotion]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "helical": Helical,
    "ball": Ball,
    "free": Free,
}
# Where the frame M was not turned along the joint axis.
UNALIGNED: dict[str, Callable[[MovingBody], JointMotion]] = {
    "revolute": RevoluteAbout,
    "continuous": RevoluteAbout,
    "prismatic": PrismaticAlong,
}


def joint_motion(body: MovingBody) -> JointMotion:
    """Return what the joint of a moving body allows."""
    return (TABLE if body.axis >= 0 else UNALIGNED)[body.joint.kind](body)


def largest_entry(s: Vector) -> int | None:
    """Return where a constant column of S is largest, or None when it depends on the coordinates."""
    if not all(isinstance(x, float | np.floating) for x in s):
        return None
    return max(range(6), key=lambda k: abs(s[k]))
