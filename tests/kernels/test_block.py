"""A block whose arrays lie in one buffer: the same arrays, copied and packed at once."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.kernels.memory.arrays import State
from hapticsim.kernels.memory.pack import pack_state, place_of, read_packed, state_size, unpack_state
from tests.kernel_access import STATE, VECTOR, compiled

pack = compiled(pack_state, STATE, VECTOR)
read = compiled(read_packed, VECTOR, STATE)


def drawn(rng: np.random.Generator) -> State:
    """A state of random shapes and contents."""
    values = {}
    for name, scalar, ndim in State._declared():
        shape = tuple(rng.integers(0, 5, ndim))
        integers = rng.integers(-(2**52), 2**52, shape)
        values[name] = (
            integers if scalar.name == "int64" else rng.normal(size=shape) * 10.0 ** rng.integers(300)
        )
    return State(**values)


def one_after_the_other(state: State) -> np.ndarray:
    return np.concatenate([np.ravel(array).astype(float) for _, array in state.items()])


@pytest.mark.parametrize("seed", range(20))
def test_a_state_is_packed_in_the_order_of_its_declaration_and_comes_back(seed: int):
    state = drawn(np.random.default_rng(seed))
    row = np.full(state_size(state), np.nan)
    pack(state, row)
    assert row.tobytes() == one_after_the_other(state).tobytes()
    assert np.array_equal(row[place_of(state, "safety") :][: state.safety.size], state.safety)
    for back in (lambda other: unpack_state(row, other), lambda other: read(row, other)):
        other = state.copy()
        for _, array in other.items():
            array[...] = 7
        back(other)
        assert {n: a.tobytes() for n, a in other.items()} == {n: a.tobytes() for n, a in state.items()}


def test_a_copy_shares_nothing_and_takes_all_of_another_at_once():
    rng = np.random.default_rng(1)
    state = drawn(rng)
    other = state.copy()
    for (_, mine), (_, its) in zip(state.items(), other.items(), strict=True):
        assert mine.tobytes() == its.tobytes() and not np.shares_memory(mine, its)
        its[...] = 3
    state.take(other)
    assert all(np.all(array == 3) for _, array in state.items())


def test_what_is_made_of_arrays_that_cannot_be_written_to_cannot_either():
    values = dict(drawn(np.random.default_rng(2)).items())
    values["q"].flags.writeable = False
    for name, array in State(**values).items():
        assert not array.flags.writeable, name


def test_a_missing_field_and_a_wrong_dimension_are_refused():
    values = dict(drawn(np.random.default_rng(3)).items())
    with pytest.raises(ValueError, match=r"State\.q has 2 dimensions, not 1"):
        State(**values | {"q": np.zeros((2, 2))})
    values.pop("u")
    with pytest.raises(TypeError, match="missing or unknown: u"):
        State(**values)
