"""Sine and cosine of an angle, for one number or for the lanes of a vector alike, to the same bits.

A C library takes one angle at a time, and its last bit is its own: an arm of seven joints spent a quarter of
a free tick there.  Here is no branch, so that the angles of all joints are worked on at once, and the bits
are those of IEEE arithmetic, on any machine.

The angle is reduced to y + e within pi/4 of 0 by a multiple of pi/2 in three parts (Cody & Waite 1980).  The
polynomials are those of Sun's fdlibm (k_sin.c, k_cos.c, 1993): what comes out is within 0.8 of a unit in the
last place.  Beyond LARGEST the multiple has too many bits: there the C library is asked.
"""

from __future__ import annotations

import math
from typing import Any

LARGEST = 8e5  # [rad] less than 2^19 quarters of a turn: a multiple of pi/2 times its first part is exact

QUARTERS = 6.36619772367581382433e-01  # 2 / pi
TO_WHOLE = 6755399441055744.0  # 1.5 * 2^52: what is added to it is rounded to a whole number
PART_1 = 1.57079632673412561417e00  # the first 33 bits of pi / 2
PART_2 = 6.07710050630396597660e-11  # the second 33
PART_3 = 2.02226624879595063154e-21  # what is left

S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


def reduce_and_expand(x: Any) -> tuple[Any, Any, Any]:
    """Return the angle in quarters of a turn, added to TO_WHOLE, and sine and cosine of what is left.

    x : [rad] a float, or anything that adds, subtracts and multiplies as floats do.
    """
    shifted = x * QUARTERS + TO_WHOLE
    n = shifted - TO_WHOLE
    r = x - n * PART_1
    w = n * PART_2
    rest = r - w
    w = n * PART_3 - ((r - rest) - w)
    y = rest - w
    e = (rest - y) - w
    z = y * y
    zz = z * z
    half = z * 0.5
    v = z * y
    p = (z * S4 + S3) * z + S2 + z * zz * (z * S6 + S5)
    sine = y - ((z * (e * 0.5 - v * p) - e) - v * S1)
    p = z * ((z * C3 + C2) * z + C1) + zz * zz * ((z * C6 + C5) * z + C4)
    w = -half + 1.0
    cosine = w + (((-w + 1.0) - half) + (z * p - y * e))
    return shifted, sine, cosine


def sine_and_cosine(x: float) -> tuple[float, float]:
    """Return sine and cosine of an angle [rad].

    Raises ValueError for infinity, as ``math.sin`` does.
    """
    if not abs(x) <= LARGEST:
        return math.sin(x), math.cos(x)
    shifted, sine, cosine = reduce_and_expand(x)
    quarter = int(shifted - TO_WHOLE) & 3
    if quarter & 1:
        sine, cosine = cosine, sine
    return (-sine if quarter & 2 else sine), (-cosine if (quarter + 1) & 2 else cosine)


def sin(x: float) -> float:
    """Return the sine of an angle [rad]."""
    return sine_and_cosine(x)[0]


def cos(x: float) -> float:
    """Return the cosine of an angle [rad]."""
    return sine_and_cosine(x)[1]
