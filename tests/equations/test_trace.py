"""Traced scalars write down what is needed, once, and give the bits of the recursion on floats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from hapticsim.equations.catalogue import CATALOGUE, shapes_of
from hapticsim.equations.codegen.emit import emit_module
from hapticsim.equations.compiled import generate
from hapticsim.equations.forest import OF_TICKS
from hapticsim.equations.scalars.spatial import sin_cos, square_root
from hapticsim.equations.scalars.trace import Trace
from hapticsim.equations.tree.impulse_response import response_factor
from hapticsim.model.moving import moving_tree
from tests.models import ALL, branching_tree, planar_two_link, some_state, with_zeros_between_trees


def run_as_python(source: str, monkeypatch: pytest.MonkeyPatch):
    """Run a generated module by the interpreter, without numba, and return its namespace."""
    monkeypatch.setattr(config, "DISABLE_JIT", True)
    namespace: dict = {}
    exec(compile(source, "<generated>", "exec"), namespace)
    return namespace


def operations_of(build) -> list[str]:
    """Return the lines that a function of (x, y) needs, loads and the store left out."""
    trace = Trace()
    x, y = trace.inputs("q", 2)
    source = emit_module("f", {"q": (2,), "out": (1,)}, trace, {"out": [build(x, y)]}, "test")
    return [line.strip() for line in source.splitlines() if line.startswith("    t")]


def test_zeros_and_ones_vanish():
    trace = Trace()
    (x,) = trace.inputs("q", 1)
    assert x * 0.0 == 0.0 and 0.0 * x == 0.0 and x - x == 0.0 and 0.0 / x == 0.0
    assert x + 0.0 is x and 0.0 + x is x and x * 1.0 is x and x - 0.0 is x
    assert repr(x * -1.0) == repr(-x)


def test_equal_operations_are_done_once_whatever_the_order_and_sign():
    assert len(operations_of(lambda x, y: (x - y) * (y - x))) == 2  # one difference, one square
    assert len(operations_of(lambda x, y: (x + y) + (y + x))) == 2
    assert len(operations_of(lambda x, y: x * y - y * (-x))) == 2
    assert len(operations_of(lambda x, y: sin_cos(x)[0] * sin_cos(-x)[0])) == 2


def test_what_no_output_needs_is_not_written():
    assert operations_of(lambda x, y: [x * y, x + 2.0][1]) == ["t4 = q0 + 2.0"]


def test_sine_and_cosine_of_a_joint_are_computed_once_in_every_function():
    tree = moving_tree(planar_two_link())
    for name in CATALOGUE:
        source = generate(name, tree, ("fore",))
        assert source.count("sin(") <= 2 and source.count("cos(") <= 2, name


numbers = st.floats(-10.0, 10.0).filter(lambda x: abs(x) > 1e-3)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(numbers, numbers, st.integers(0, 10**9))
def test_a_random_expression_has_the_bits_of_python(a, b, seed):
    rng = np.random.default_rng(seed)
    trace = Trace()
    traced, plain = [*trace.inputs("q", 2), 0.0, 1.0, -1.5], [a, b, 0.0, 1.0, -1.5]
    for _ in range(12):
        i, j = rng.integers(len(plain), size=2)
        op = rng.integers(6)
        x, y, s, t = plain[i], plain[j], traced[i], traced[j]
        if op == 3 and y == 0.0:
            continue
        if op == 5 and x < 0.0:
            continue
        results = [
            lambda x, y: x + y,
            lambda x, y: x - y,
            lambda x, y: x * y,
            lambda x, y: x / y,
            lambda x, y: sin_cos(-x)[0],
            lambda x, y: square_root(x),
        ][op]
        plain.append(results(x, y))
        traced.append(results(s, t))
        if not math.isfinite(plain[-1]):
            return
    source = emit_module("f", {"q": (2,), "out": (len(plain),)}, trace, {"out": traced}, "test")
    with pytest.MonkeyPatch.context() as monkeypatch:
        function = run_as_python(source, monkeypatch)["f"]
    out = np.full(len(plain), np.nan)
    function(np.array([a, b]), out)
    np.testing.assert_array_equal(out, plain)


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("make", ALL)
def test_generated_code_has_the_bits_of_the_recursion_on_floats(make, name, monkeypatch):
    model = make()
    tree, frames = moving_tree(model), model.body_names[-2:]
    shapes = shapes_of(name, tree, frames)
    entry = CATALOGUE[name]
    q, u, tau = some_state(model, 9)
    F = np.array(response_factor(tree, q.tolist()))
    inputs = {"q": q, "u": u, "tau": tau, "udot": tau, "delta": u, "F": F}
    arrays = {
        a: inputs[a].copy() if a in entry.inputs else np.full(shape, np.nan) for a, shape in shapes.items()
    }
    if name in OF_TICKS:
        arrays |= {a: with_zeros_between_trees(model, frames, a) for a in ("M", "V") if a in arrays}
    run_as_python(generate(name, tree, frames), monkeypatch)[name](*arrays.values())
    expected = entry.build(tree, frames, *(inputs[a].tolist() for a in entry.inputs))
    for output in entry.outputs:
        np.testing.assert_array_equal(arrays[output], np.array(expected[output]).reshape(shapes[output]))


def test_a_generated_module_says_which_robot_it_is_for():
    source = generate("bias", moving_tree(branching_tree()), ())
    assert source.startswith('"""branching_tree: bias (12 coordinates, 11 speeds).')
