"""A state as one row of numbers, for slots and telemetry.  Integers below 2^53 are exact."""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import State


def state_size(state: State) -> int:
    """Length of the row."""
    return sum(array.size for _, array in state.items())


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
    start = 0
    for _, array in state.items():
        array[...] = row[start : start + array.size].reshape(array.shape)
        start += array.size


@kernel
def _read(array, row, start):
    for i in range(array.size):
        array[i] = row[start + i]
    return start + array.size


@kernel
def _read_ints(array, row, start):
    for i in range(array.size):
        array[i] = int(row[start + i])
    return start + array.size


@kernel
def read_packed(row, state):
    """Write a row of ``pack_state`` into a state of the same shapes."""
    n = _read(state.q, row, 0)
    n = _read(state.u, row, n)
    n = _read_ints(state.tick, row, n)
    n = _read_ints(state.active, row, n)
    n = _read_ints(state.rank, row, n)
    n = _read_ints(state.order, row, n)
    for i in range(state.combine.shape[0]):
        n = _read(state.combine[i], row, n)
    n = _read(state.volume, row, n)
    n = _read_ints(state.safety, row, n)
    n = _read(state.seen, row, n)
    n = _read(state.interruption, row, n)
    n = _read(state.gain, row, n)
    n = _read(state.hand_force_D, row, n)
    n = _read(state.swing, row, n)
    n = _read(state.origin_W, row, n)
    n = _read_ints(state.hold, row, n)
    n = _read(state.offset, row, n)
    n = _read_ints(state.switched, row, n)
    n = _read(state.hand_torque_D, row, n)
    n = _read(state.turn_offset, row, n)
    n = _read(state.friction, row, n)
    n = _read_ints(state.face, row, n)
    n = _read(state.depth, row, n)
    _read(state.energy, row, n)


@kernel
def _append(array, row, start):
    for i in range(array.size):
        row[start + i] = array[i]
    return start + array.size


@kernel
def pack_state(state, row):
    """Write every field of the state, in the order of its declaration, to row (state_size,)."""
    n = _append(state.q, row, 0)
    n = _append(state.u, row, n)
    n = _append(state.tick, row, n)
    n = _append(state.active, row, n)
    n = _append(state.rank, row, n)
    n = _append(state.order, row, n)
    for i in range(state.combine.shape[0]):
        n = _append(state.combine[i], row, n)
    n = _append(state.volume, row, n)
    n = _append(state.safety, row, n)
    n = _append(state.seen, row, n)
    n = _append(state.interruption, row, n)
    n = _append(state.gain, row, n)
    n = _append(state.hand_force_D, row, n)
    n = _append(state.swing, row, n)
    n = _append(state.origin_W, row, n)
    n = _append(state.hold, row, n)
    n = _append(state.offset, row, n)
    n = _append(state.switched, row, n)
    n = _append(state.hand_torque_D, row, n)
    n = _append(state.turn_offset, row, n)
    n = _append(state.friction, row, n)
    n = _append(state.face, row, n)
    n = _append(state.depth, row, n)
    _append(state.energy, row, n)
