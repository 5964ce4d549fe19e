"""A state as one row of numbers, for slots and telemetry.  Integers below 2^53 are exact."""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import State


def state_size(state: State) -> int:
    """Length of the row."""
    return int(state.words.size)


def place_of(state: State, field: str) -> int:
    """Where a field begins in the row."""
    start = 0
    for name, array in state.items():
        if name == field:
            return start
        start += array.size
    raise KeyError(field)


def unpack_state(row: np.ndarray, state: State) -> None:
    """Write a packed row into a state of the same shapes."""
    integers = state.integer == 1
    state.words[integers] = row[integers]
    state.numbers[~integers] = row[~integers]


@kernel
def read_packed(row, state):
    """Write a row of ``pack_state`` into a state of the same shapes."""
    for i in range(state.words.size):
        if state.integer[i] == 1:
            state.words[i] = int(row[i])
        else:
            state.numbers[i] = row[i]


@kernel
def pack_state(state, row):
    """Write every field of the state, in the order of its declaration, to row (state_size,)."""
    for i in range(state.words.size):
        row[i] = float(state.words[i]) if state.integer[i] == 1 else state.numbers[i]
