"""Kernels one at a time, from the disk cache: compiled with an explicit signature as the tick itself is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from numba import float64, int64

from hapticsim.kernels.entry import compile_cached
from hapticsim.kernels.machine_code.called import DECLARED
from hapticsim.kernels.memory.arrays import Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.block_array import BlockArray

VECTOR, MATRIX, CUBE = (BlockArray(float64, n) for n in (1, 2, 3))
INTS = BlockArray(int64, 1)
INT, FLOAT = int64, float64
PLAN, STATE, INPUT, OUTPUT, WORKSPACE = (c._type for c in (Plan, State, Input, Output, Workspace))


def compiled(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """A kernel for exactly these argument types, compiled at its first call.

    Every process of a test run imports every file: compiled there, all would wait for the same function.
    """
    function = getattr(kernel, "py_func", kernel)  # units of a tick are plain functions
    declared = (unit.signature for unit in DECLARED.values() if unit.function is function)
    signature = next((one for one in declared if one.args == arguments), arguments)  # a unit is compiled once
    machine_code = cache(lambda: compile_cached(function, signature))

    @wraps(function)
    def call(*given: Any) -> Any:
        return machine_code()(*given)

    return call
