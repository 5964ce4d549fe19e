"""Blocks whose arrays lie in one buffer: the same arrays, copied and packed at once, or at cache lines."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hapticsim.kernels.memory.allocate import sizes_of_run
from hapticsim.kernels.memory.arrays import (
    CHOICE,
    MAX_CHOICES,
    Input,
    Output,
    Plan,
    State,
    Workspace,
)
from hapticsim.kernels.memory.block import Block, Int, IntMatrix, Matrix, Vector
from hapticsim.kernels.memory.huge_pages import LARGE, LINE, PAGE, SMALL, WORD, zeros_on_huge_pages
from hapticsim.kernels.memory.pack import pack_state, place_of, read_packed, state_size, unpack_state
from hapticsim.kernels.memory.shape import of
from tests.kernel_access import STATE, VECTOR, compiled

pack = compiled(pack_state, STATE, VECTOR)
read = compiled(read_packed, VECTOR, STATE)


def drawn(rng: np.random.Generator) -> State:
    """A state of random sizes and contents."""
    names = ("nq", "nu", "nk", "nc", "nb", "nw", "nr", "ni", "ng", "nd", "ns")
    sizes = {name: int(rng.integers(0, 5)) for name in names}
    values = {}
    for name, array in State.zeros(sizes).items():
        integers = rng.integers(-(2**52), 2**52, array.shape)
        is_integer = array.dtype == np.int64
        values[name] = integers if is_integer else rng.normal(size=array.shape) * 10.0 ** rng.integers(300)
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


class Packed(Block, packed=True):
    few: Vector = of("nf")
    count: Int
    names: IntMatrix = of("nn, 3")
    none: Vector = of("no")
    many: Matrix = of("nm, 8")


@pytest.mark.parametrize("many", [1, 5000, LARGE // WORD // 8])
def test_arrays_of_a_packed_block_begin_cache_lines_and_only_a_large_one_is_not_copied(many: int):
    rng = np.random.default_rng(many)
    given = {
        "few": rng.normal(size=3),
        "names": rng.integers(-9, 9, (7, 3)),
        "none": np.zeros(0),
        "many": rng.normal(size=(many, 8)),
    }
    block = Packed(count=4, **given)
    assert block.count == 4
    copied = [name for name in given if given[name].nbytes < LARGE]
    for name, array in given.items():
        assert np.array_equal(getattr(block, name), array) and getattr(block, name).dtype == array.dtype
        assert (getattr(block, name) is array) == (name not in copied)
    places = sorted(
        (getattr(block, name).ctypes.data, getattr(block, name).nbytes) for name in copied if given[name].size
    )
    assert {address % (WORD * LINE) for address, _ in places} == {0}
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(places)), "none lies over another"


@pytest.mark.parametrize("count", [1, SMALL // WORD - 1, SMALL // WORD, LARGE // WORD + 3])
def test_many_zeros_begin_a_huge_page(count: int):
    words = zeros_on_huge_pages(count)
    assert words.size == count and not words.any() and words.flags.writeable
    assert words.ctypes.data % (PAGE if count * WORD >= SMALL else WORD * LINE) == 0


def test_a_missing_field_and_a_wrong_shape_are_refused():
    values = dict(State.zeros(sizes_of_run(3, 2, nk=2, nc=1, nw=4)).items())
    with pytest.raises(ValueError, match=r"State\.q has 2 dimensions, not 1"):
        State(**values | {"q": np.zeros((2, 2))})
    with pytest.raises(ValueError, match=r"State\.order has the shape \(3,\), and \(nu\) is \(2,\)"):
        State(**values | {"order": np.zeros(3, np.int64)})
    with pytest.raises(
        ValueError, match=r"State\.combine has the shape \(4, 3\), and \(nr, nr\) is \(4, 4\)"
    ):
        State(**values | {"combine": np.zeros((4, 3))})
    with pytest.raises(ValueError, match=r"State\.swing has the shape \(30,\), and \(SWING\) is \(31,\)"):
        State(**values | {"swing": np.zeros(30)})
    with pytest.raises(TypeError, match="missing or unknown: speed"):
        State.zeros(sizes_of_run(3, 2), speed=np.zeros(2))
    with pytest.raises(KeyError, match="nu"):
        State.zeros({"nq": 3})
    values.pop("u")
    with pytest.raises(TypeError, match="missing or unknown: u"):
        State(**values)


@pytest.mark.parametrize("block", [Plan, State, Input, Output, Workspace])
def test_every_array_has_a_shape_of_as_many_extents_as_it_has_dimensions(block: type[Block]):
    declared = {name: ndim for name, _, ndim in block._declared() if ndim}
    assert {name: len(shape.extents) for name, shape in block._shapes.items()} == declared


def test_sizes_are_sums_of_those_that_are_named():
    ws = Workspace.zeros(sizes_of_run(7, 6, nf=2, nk=3, nc=2, nw=11, ne=1, nF=5))
    assert ws.V.shape == (2, 6, 6) and ws.guard0.shape == (3 + 2 + 3,) and ws.F.shape == (5,)
    assert ws.rows.shape == (11,) and ws.rows.dtype == np.int64 and ws.phi.dtype == float
    assert Workspace.zeros(sizes_of_run(7, 6, nw=100, max_rows=32)).rows.shape == (32,)
    assert Workspace.zeros(sizes_of_run(7, 6)).rows.shape == (1,), "a kernel may look at the first"
    assert Output.zeros(sizes_of_run(7, 6)).choices.shape == (MAX_CHOICES, CHOICE + 3 * 6)
