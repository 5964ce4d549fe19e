"""Kernels one at a time, from the disk cache: compiled with an explicit signature as the tick itself is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import float64, int64

from hapticsim.kernels.arrays import Input, Output, Plan, State, Workspace
from hapticsim.kernels.entry import compile_cached

VECTOR, MATRIX, CUBE, INTS = float64[::1], float64[:, ::1], float64[:, :, ::1], int64[::1]
INT, FLOAT = int64, float64
PLAN, STATE, INPUT, OUTPUT, WORKSPACE = (c._type for c in (Plan, State, Input, Output, Workspace))


def compiled(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """A kernel compiled for exactly these argument types."""
    return compile_cached(kernel.py_func, arguments)
