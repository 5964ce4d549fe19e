"""Many states at once: the bits of one at a time, on any number of threads; refusals at the door."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numba import config

from hapticsim.equations import batch as batching
from hapticsim.equations.base import Equations
from hapticsim.equations.batch import kinds_of
from hapticsim.equations.catalogue import CATALOGUE, shapes_of
from hapticsim.equations.compiled import compile_equations, signature
from hapticsim.equations.tree.impulse_response import response_factor
from hapticsim.errors import HapticsimError
from tests.models import branching_tree, planar_two_link, some_state

FRAMES = ("tool", "flag", "post")
MANY = 2500  # enough for two threads


@pytest.fixture(scope="module")
def equations() -> Equations:
    return compile_equations(branching_tree(), FRAMES)


def states(equations: Equations, name: str, count: int) -> list[np.ndarray]:
    """Inputs of a function, one row per state."""
    drawn = [some_state(equations.model, seed) for seed in range(min(count, 50))]
    q, u, tau = (np.array([s[i] for s in drawn])[np.arange(count) % len(drawn)] for i in range(3))
    F = np.array([response_factor(equations.tree, x.tolist()) for x in q])
    of = {"q": q, "u": u, "tau": tau, "udot": tau, "delta": u, "F": F}
    return [of[a] for a in CATALOGUE[name].inputs]


def one_at_a_time(equations: Equations, name: str, inputs: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The same by single calls of the kernel."""
    entry, shapes = CATALOGUE[name], shapes_of(name, equations.tree, equations.frames)
    found: dict[str, list[np.ndarray]] = {a: [] for a in entry.outputs}
    for row in zip(*inputs, strict=True):
        arrays = {a: np.zeros(shapes[a]) for a in entry.arguments}
        for a, value in zip(entry.inputs, row, strict=True):
            arrays[a][:] = value
        getattr(equations.kernels, name)(*arrays.values())
        for a in entry.outputs:
            found[a].append(arrays[a])
    return {a: np.array(rows) for a, rows in found.items()}


def by_name(name: str, found: Any) -> dict[str, np.ndarray]:
    outputs = CATALOGUE[name].outputs
    return {outputs[0]: found} if len(outputs) == 1 else found


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_batch_has_the_bits_of_single_calls(equations: Equations, name: str) -> None:
    inputs = states(equations, name, 7)
    kept = [a.copy() for a in inputs]
    found = by_name(name, equations.batch(name, *inputs))
    for output, expected in one_at_a_time(equations, name, inputs).items():
        np.testing.assert_array_equal(found[output], expected)
    for array, before in zip(inputs, kept, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(equations: Equations, threads: int) -> None:
    inputs = states(equations, "kane", MANY * threads)
    found = equations.batch("kane", *inputs, threads=threads)
    for output, expected in one_at_a_time(equations, "kane", [a[:50] for a in inputs]).items():
        np.testing.assert_array_equal(found[output], np.resize(expected, found[output].shape))


@pytest.mark.long
def test_threads_share_all_states_among_them(equations: Equations, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = kinds_of(signature("forward_dynamics"))
    loop, pieces = batching.loop_over(kinds), []

    def noted(address: int, start: int, stop: int, *arrays: np.ndarray) -> None:
        pieces.append((start, stop))
        loop(address, start, stop, *arrays)

    monkeypatch.setattr(batching, "loop_over", lambda _kinds: noted)
    equations.batch("forward_dynamics", *states(equations, "forward_dynamics", MANY), threads=2)
    assert len(pieces) == 8
    assert sorted(k for start, stop in pieces for k in range(start, stop)) == list(range(MANY))


def test_robots_share_the_loop_of_a_signature(equations: Equations) -> None:
    assert kinds_of(signature("inverse_dynamics")) == kinds_of(signature("forward_dynamics")) == "d1d1d1d1"
    other = compile_equations(planar_two_link(), ())
    before = batching.loop_over.cache_info().currsize
    equations.batch("inverse_dynamics", *states(equations, "inverse_dynamics", 2))
    between = batching.loop_over.cache_info().currsize
    other.batch("inverse_dynamics", *states(other, "inverse_dynamics", 2))
    assert between <= before + 1 and batching.loop_over.cache_info().currsize == between


def test_no_states_give_no_rows(equations: Equations) -> None:
    assert equations.batch("mass_matrix", np.empty((0, equations.nq))).shape == (
        0,
        equations.nu,
        equations.nu,
    )


def test_results_go_into_the_arrays_that_are_given(equations: Equations) -> None:
    q, u, tau = states(equations, "forward_dynamics", 5)
    expected = equations.batch("forward_dynamics", q, u, tau)
    out = np.full((5, equations.nu), np.nan)
    assert equations.batch("forward_dynamics", q, u, tau, out=out) is out
    np.testing.assert_array_equal(out, expected)
    arrays = equations.batch("kinematics", q, u)
    given = {name: np.full_like(array, np.nan) for name, array in arrays.items()}
    assert equations.batch("kinematics", q, u, out=given)["V"] is given["V"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(given[name], array)


def test_an_output_may_overlap_an_input(equations: Equations) -> None:
    q, u, tau = states(equations, "forward_dynamics", 6)
    expected = equations.batch("forward_dynamics", q, u, tau)
    memory = np.vstack([tau, tau[:1]])
    equations.batch(
        "forward_dynamics", q, u, memory[:-1], out=memory[1:]
    )  # row k is written over input k + 1
    np.testing.assert_array_equal(memory[1:], expected)
    wrong = 1.01 * q
    equations.batch("normalise", wrong, out=wrong)
    np.testing.assert_array_equal(wrong, equations.batch("normalise", 1.01 * q))


def test_without_the_jit_the_same_comes_out(equations: Equations, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = states(equations, "bias", 3)
    compiled = equations.batch("bias", *inputs)
    monkeypatch.setattr(config, "DISABLE_JIT", True)
    interpreted = compile_equations(branching_tree(), FRAMES).batch("bias", *inputs)
    np.testing.assert_array_equal(interpreted, compiled)


ROWS = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda e: e.batch("biass", ROWS, ROWS),
            "planar_two_link has no function 'biass' (did you mean 'bias'?); there are",
        ),
        (
            lambda e: e.batch("bias", ROWS),
            "bias of planar_two_link takes q, u, got 1 arrays: give one for each.",
        ),
        (
            lambda e: e.batch("bias", ROWS, ROWS[:2]),
            "bias of planar_two_link must get as many rows of every input, got q 3, u 2.",
        ),
        (
            lambda e: e.batch("bias", ROWS, ROWS[0]),
            "u of bias of planar_two_link must have shape (states, 2), got (2,): one row per state.",
        ),
        (
            lambda e: e.batch("bias", ROWS, [[0, 0], [0, np.inf], [0, 0]]),
            "u[1, 1] of bias of planar_two_link is not finite: give a number.",
        ),
        (
            lambda e: e.batch("bias", "up", ROWS),
            "q of bias of planar_two_link must be numbers in 2 columns, one row per state.",
        ),
        (
            lambda e: e.batch("bias", ROWS, ROWS, threads=0),
            "bias of planar_two_link cannot run on 0 threads: give a whole number from 1 to 1024.",
        ),
        (
            lambda e: e.batch("bias", ROWS, ROWS, out=np.empty((3, 4))[:, :2]),
            "out h of bias of planar_two_link must be a writeable C-contiguous float64 array of shape "
            "(3, 2), got float64 (3, 2): make it with numpy.empty((3, 2)).",
        ),
        (
            lambda e: e.batch("kinematics", ROWS, ROWS, out=ROWS),
            "out of kinematics of planar_two_link must be a dict of the arrays qdot, X, V, vel, acc.",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(HapticsimError, match=f"^{re.escape(sentence)}"):
        call(compile_equations(planar_two_link(), ()))
