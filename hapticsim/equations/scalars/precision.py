"""The precisions in which equations are generated: what numbers are on every level.

Single precision is for studies: what was measured with it in the literature, and when it fails, can be
measured again.  The tick runs in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from hapticsim.arguments import shown
from hapticsim.errors import HapticsimError, listed, nearest


@dataclass(frozen=True)
class Precision:
    """One precision; ``number`` rounds a Python float to it."""

    name: str
    number: Callable[[Any], Any]  # the scalar the reference runs on
    dtype: type  # of arrays
    element: Any  # of arrays, numba type
    functions: str  # import lines for sin, cos and sqrt where generated code runs as plain Python


PRECISIONS = {
    "float64": Precision(
        "float64",
        float,
        np.float64,
        numba.float64,
        "from math import sqrt\nfrom hapticsim.equations.scalars.sines import cos, sin",
    ),
    "float32": Precision(
        "float32",
        np.float32,
        np.float32,
        numba.float32,
        "from hapticsim.equations.scalars.precision import cos, sin, sqrt",
    ),
}


def precision_of(name: str) -> Precision:
    """Return the precision of a name; refuse others."""
    if not isinstance(name, str) or name not in PRECISIONS:
        raise HapticsimError(
            f"equations have no precision {shown(name)}{nearest(name, PRECISIONS)}; "
            f"there are {listed(PRECISIONS)}."
        )
    return PRECISIONS[name]


def sin(x: np.float32) -> np.float32:
    """Return the sine, rounded once from double precision.

    A C library's sinf, which compiled code calls, is at most a last bit away (1.4 % of the arguments in
    [-3, 3], glibc).
    """
    return np.float32(math.sin(x))


def cos(x: np.float32) -> np.float32:
    """Return the cosine, as ``sin``."""
    return np.float32(math.cos(x))


def sqrt(x: np.float32) -> np.float32:
    """Return the square root, correctly rounded."""
    return np.float32(math.sqrt(x))
