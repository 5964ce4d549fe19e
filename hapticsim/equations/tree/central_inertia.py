"""The inertia of one rigid body about its centre of mass, over any scalar.

About the origin of a joint the moments of inertia are mostly m c^2.  What the body keeps when the joint is
free is a difference of such terms, and small: for a mass point, as heads and hands of some robots are
described, nothing is left about two of three axes.  A last bit of m c^2 is then more than the answer.  About
the centre of mass nothing has to cancel (``freed_along``), and the force of a motion keeps its direction
(``__mul__``).  On the neck of iCub that is the difference between 7 and 12 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from hapticsim.equations.scalars.spatial import (
    Matrix,
    RigidInertia,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    scale,
    times,
)


@dataclass(frozen=True)
class CentralInertia:
    """Mass m, place c of the centre of mass in the body's frame, inertia I about it in the frame's axes."""

    m: Scalar
    c: Vector
    I: Matrix

    def __mul__(self, v: Vector) -> Vector:
        """Return the momentum of the motion v, or the force of the acceleration v, both about the origin."""
        w, u = v[:3], v[3:]
        f = scale(self.m, add(u, cross(w, self.c)))
        return add(times(self.I, w), cross(self.c, f)) + f

    def about_origin(self) -> RigidInertia:
        """Return the same inertia about the origin of the frame."""
        m, (x, y, z) = self.m, self.c
        xx, yy, zz = m * x * x, m * y * y, m * z * z
        yz, zx, xy = m * y * z, m * z * x, m * x * y
        point = [[yy + zz, -xy, -zx], [-xy, xx + zz, -yz], [-zx, -yz, xx + yy]]
        return RigidInertia(m, scale(m, self.c), [add(a, b) for a, b in zip(self.I, point, strict=True)])

    def freed_along(self, s: Sequence[Scalar], armature: Scalar) -> Matrix | None:
        """Return I - U U'/D (6 x 6, about the origin) with U = I s and D = s' U + armature.

        The arithmetic of rounded numbers is exact here and every entry is rounded once; high-precision ones
        keep their own.  None where D is 0 or a number is too large.
        """
        number = type(self.m)
        if not isinstance(self.m, float | np.floating):
            return self._left(list(s), armature, number)
        numbers = [self.m, *self.c, *(x for row in self.I for x in row), *s, armature]
        left = _left_exactly(tuple(float(x) for x in numbers))
        return None if left is None else [[number(x) for x in row] for row in left]

    def _left(self, s: Vector, armature: Scalar, number: Callable[[Scalar], Scalar]) -> Matrix | None:
        I = [[number(x) for x in row] for row in self.about_origin().articulated().matrix()]
        U = times(I, s)
        D = dot(s, U) + armature
        return None if D == 0 else [[I[i][j] - U[i] * U[j] / D for j in range(6)] for i in range(6)]


@lru_cache(maxsize=256)
def _left_exactly(numbers: tuple[float, ...]) -> Matrix | None:
    """Return what is left by exact fractions, from m, c (3), I (3 x 3), s (6) and the armature."""
    try:
        m, *rest = (Fraction(x) for x in numbers)
        inertia = CentralInertia(m, rest[:3], [rest[k : k + 3] for k in (3, 6, 9)])
        left = inertia._left(rest[12:18], rest[18], Fraction)
        return None if left is None else [[float(x) for x in row] for row in left]
    except (OverflowError, ValueError):  # inf and nan are no fractions, and a float has an end
        return None
