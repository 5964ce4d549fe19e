"""Arrays of blocks in compiled code: numpy finds the same in them, and no index counts from the end."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from numba import float64, int64, njit, types

import hapticsim.kernels
from hapticsim.kernels.machine_code.store import Store
from hapticsim.kernels.memory.block_array import BlockArray

KERNELS = Path(hapticsim.kernels.__file__).parent
IN_PYTHON = ("machine_code", "memory")  # what compiles kernels, and allocates for them


def read_and_write(vector, matrix, cube, i, j, k):
    row = matrix[i]
    row[j] += cube[i, j, k] + cube[i][j][k] + vector[k]
    rest = vector[i:]
    rest[0] = matrix[i, j] - vector[k]
    cube[i, j] = vector[k]
    column = matrix[:, j]
    return row[j] + rest[0] + column[i] + cube[i, j, k - 1]


def code_of(array):
    compiled = njit(float64(array(float64, 1, "C"), int64))(lambda vector, i: vector[i])
    return compiled.inspect_llvm(compiled.signatures[0])


COMPILED = njit(float64(*(BlockArray(float64, n) for n in (1, 2, 3)), int64, int64, int64))(read_and_write)


@pytest.mark.parametrize("seed", range(20))
def test_elements_rows_and_slices_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    given = rng.normal(size=6), rng.normal(size=(4, 5)), rng.normal(size=(4, 5, 6))
    ours, numpys = [array.copy() for array in given], [array.copy() for array in given]
    i, j, k = int(rng.integers(4)), int(rng.integers(5)), int(rng.integers(1, 6))
    assert COMPILED(*ours, i, j, k) == read_and_write(*numpys, i, j, k)
    for one, other in zip(ours, numpys, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_is_asked_of_an_index_which_numba_does_of_its_own_arrays():
    assert "icmp slt" in code_of(types.Array)
    assert "icmp slt" not in code_of(BlockArray)


def test_machine_code_for_either_kind_of_array_is_kept_apart(tmp_path):
    store = Store(lambda: tmp_path, read_and_write)
    kinds = [
        kind(float64, n, "C", readonly)
        for kind in (BlockArray, types.Array)
        for n in (1, 2)
        for readonly in (0, 1)
    ]
    assert len({store.file((kind,)) for kind in kinds}) == len(kinds) == len({str(kind) for kind in kinds})


def test_no_kernel_has_an_index_that_counts_from_the_end():
    files = [path for path in KERNELS.rglob("*.py") if path.parent.name not in IN_PYTHON]
    assert len(files) > 60
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Subscript):
                axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                negative = [axis for axis in axes if isinstance(axis, ast.UnaryOp)]
                assert not negative, f"{path.name}, line {node.lineno}: {ast.unparse(node)}"
