"""Six-dimensional vector algebra over any scalar.

The letters are Featherstone's (Rigid Body Dynamics Algorithms, 2008, chapter 2): motion vectors stack angular
over linear velocity of the origin, force vectors stack moment over force, a coordinate transform X is a
rotation E (from old to new axes) after a shift r of the origin (in old axes).

A scalar is anything with + - * /: a float, a traced expression (``trace.py``), a high-precision number.
Vectors are lists of scalars and matrices are lists of rows, so that the order of every operation is the one
written here: a traced function and the recursion on floats then agree to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from hapticsim.equations.scalars import precision
from hapticsim.equations.scalars.sines import sine_and_cosine

Scalar = Any
Vector = list[Any]
Matrix = list[list[Any]]

IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@singledispatch
def sin_cos(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return (sin x, cos x); other scalars register their own."""
    return sine_and_cosine(x)


@singledispatch
def square_root(x: Scalar) -> Scalar:
    """Return the square root; other scalars register their own."""
    return math.sqrt(x)


@singledispatch
def constant_type(x: Scalar) -> Callable[[float], Scalar]:
    """Return the type of a model's constants beside the scalar x; other precisions register their own.

    The small numbers of the formulas (0, 1, 1/2) stay floats: they are exact in every precision.
    """
    return float


# Single precision: numpy rounds every operation on float32 scalars.


@sin_cos.register
def _(x: np.float32) -> tuple[np.float32, np.float32]:
    return precision.sin(x), precision.cos(x)


@square_root.register
def _(x: np.float32) -> np.float32:
    return precision.sqrt(x)


@constant_type.register
def _(x: np.float32) -> Callable[[float], np.float32]:
    return np.float32


def zeros(n: int) -> Vector:
    """Return n zeros."""
    return [0.0] * n


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Return a . b, summed from the left."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def add(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    """Return a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def subtract(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    """Return a - b."""
    return [x - y for x, y in zip(a, b, strict=True)]


def scale(k: Scalar, a: Sequence[Scalar]) -> Vector:
    """Return k a."""
    return [k * x for x in a]


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    """Return a x b for 3-vectors."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(A: Matrix, b: Sequence[Scalar]) -> Vector:
    """Return A b."""
    return [dot(row, b) for row in A]


def transposed(A: Matrix) -> Matrix:
    """Return A'."""
    return [list(column) for column in zip(*A, strict=True)]


def product(A: Matrix, B: Matrix) -> Matrix:
    """Return A B."""
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def mirrored(upper: Matrix) -> Matrix:
    """Return the symmetric matrix with the given upper triangle; what is below it is not looked at."""
    n = len(upper)
    return [[upper[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


def congruence(E: Matrix, A: Matrix) -> Matrix:
    """Return E' A E for a symmetric 3 x 3 A, symmetric to the bit."""
    columns = transposed(E)
    AE = product(A, E)
    AE_columns = transposed(AE)
    return mirrored([[dot(columns[i], AE_columns[j]) if j >= i else 0.0 for j in range(3)] for i in range(3)])


def cross_motion(v: Vector, m: Vector) -> Vector:
    """Return v x m, the rate of a motion vector carried along with v."""
    w, u = v[:3], v[3:]
    return cross(w, m[:3]) + add(cross(w, m[3:]), cross(u, m[:3]))


def cross_force(v: Vector, f: Vector) -> Vector:
    """Return v x* f, the rate of a force vector carried along with v."""
    w, u = v[:3], v[3:]
    return add(cross(w, f[:3]), cross(u, f[3:])) + cross(w, f[3:])


@dataclass(frozen=True)
class RigidInertia:
    """Rigid-body inertia about the origin: mass m, first moment h = m c, rotational inertia I."""

    m: Scalar
    h: Vector
    I: Matrix

    def __mul__(self, v: Vector) -> Vector:
        """Return the momentum of the motion v, or the force of the acceleration v."""
        w, u = v[:3], v[3:]
        return add(times(self.I, w), cross(self.h, u)) + subtract(scale(self.m, u), cross(self.h, w))

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(
            self.m + other.m,
            add(self.h, other.h),
            [add(a, b) for a, b in zip(self.I, other.I, strict=True)],
        )

    def articulated(self) -> ArticulatedInertia:
        """Return the same inertia as blocks."""
        m, (x, y, z) = self.m, self.h
        skew = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        return ArticulatedInertia(self.I, skew, [[m, 0.0, 0.0], [0.0, m, 0.0], [0.0, 0.0, m]])


@dataclass(frozen=True)
class ArticulatedInertia:
    """Articulated-body inertia in blocks: (moment; force) = [I H; H' M] (angular; linear) motion."""

    I: Matrix
    H: Matrix
    M: Matrix

    def matrix(self) -> Matrix:
        """Return the 6 x 6 matrix."""
        return [a + b for a, b in zip(self.I, self.H, strict=True)] + [
            a + b for a, b in zip(transposed(self.H), self.M, strict=True)
        ]

    def __mul__(self, v: Vector) -> Vector:
        return times(self.matrix(), v)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            *(
                [add(a, b) for a, b in zip(A, B, strict=True)]
                for A, B in ((self.I, other.I), (self.H, other.H), (self.M, other.M))
            )
        )

    def __sub__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            *(
                [subtract(a, b) for a, b in zip(A, B, strict=True)]
                for A, B in ((self.I, other.I), (self.H, other.H), (self.M, other.M))
            )
        )


def inertia_from_matrix(A: Matrix) -> ArticulatedInertia:
    """Return the blocks of a symmetric 6 x 6 matrix."""
    return ArticulatedInertia([r[:3] for r in A[:3]], [r[3:] for r in A[:3]], [r[3:] for r in A[3:]])


@dataclass(frozen=True)
class Transform:
    """Plücker transform from frame A to B: E turns axes of A into axes of B, r is B's origin in A."""

    E: Matrix
    r: Vector

    def motion(self, v: Vector) -> Vector:
        """Return X v: a motion vector of A in B."""
        w, u = v[:3], v[3:]
        return times(self.E, w) + times(self.E, subtract(u, cross(self.r, w)))

    def force_back(self, f: Vector) -> Vector:
        """Return X' f: a force vector of B in A."""
        Et = transposed(self.E)
        n, f = times(Et, f[:3]), times(Et, f[3:])
        return add(n, cross(self.r, f)) + f

    def rigid_back(self, inertia: RigidInertia) -> RigidInertia:
        """Return X' I X for a rigid-body inertia of B."""
        m, r = inertia.m, self.r
        h = times(transposed(self.E), inertia.h)
        I = congruence(self.E, inertia.I)
        g = add(h, scale(m, r))  # first moment about the new origin
        # I - r x (h x .) - g x (r x .), with a x (b x .) = b a' - (a . b) 1
        rh, gr = dot(r, h), dot(g, r)
        upper = [
            [
                I[i][j] - (h[i] * r[j] + r[i] * g[j]) + (rh + gr if i == j else 0.0) if j >= i else 0.0
                for j in range(3)
            ]
            for i in range(3)
        ]
        return RigidInertia(m, g, mirrored(upper))

    def articulated_back(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """Return X' I X for an articulated-body inertia of B."""
        Et = transposed(self.E)
        I, M = congruence(self.E, inertia.I), congruence(self.E, inertia.M)
        H = product(product(Et, inertia.H), self.E)
        r = self.r
        H_new = transposed([add(h, cross(r, m)) for h, m in zip(transposed(H), M, strict=True)])  # H + r x M
        rH = transposed([cross(r, h) for h in H])  # r x H'
        Hr = [cross(h, r) for h in H_new]  # rows of H_new (r x), so that v -> H_new (r x v) is subtracted
        upper = [[I[i][j] + rH[i][j] - Hr[i][j] if j >= i else 0.0 for j in range(3)] for i in range(3)]
        return ArticulatedInertia(mirrored(upper), H_new, M)
