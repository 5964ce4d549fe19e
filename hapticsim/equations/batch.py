"""A compiled function evaluated at many states, on all cores.

The loop over the states is itself compiled, once for every signature: it calls the function of a robot by its
address, so it serves all robots.  It does not need the GIL, so threads share the states among them.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import float32, float64, int64, types, void
from numba.core import cgutils
from numba.extending import intrinsic

from hapticsim.arguments import real_numbers
from hapticsim.equations.codegen.cache import load_compiled
from hapticsim.equations.forest import BETWEEN_TREES
from hapticsim.errors import HapticsimError
from hapticsim.files.cache_folder import cache_folder

# Two threads cost 0.3 ms to start, as much as this many evaluations of Panda on one.
LEAST_STATES_PER_THREAD = 1000
PIECES_PER_THREAD = 4  # so that a core that is busy with something else does not hold up the others

_ELEMENTS = {"d": float64, "s": float32}

_SOURCE = '''"""One function after another state: {kinds}."""

from hapticsim.equations.batch import callable_at

function_at = callable_at("{kinds}")


def {name}(address, start, stop, {arrays}):
    function = function_at(address)
    for k in range(start, stop):
        function({rows})
'''


def kinds_of(signature: Any) -> str:
    """Return a signature as text: ``d1d2`` takes a vector and a matrix of float64, ``s1`` one of float32."""
    letters = {element: letter for letter, element in _ELEMENTS.items()}
    return "".join(f"{letters[a.dtype]}{a.ndim}" for a in signature.args)


def address_of(compiled: Any, signature: Any) -> int:
    """Return the C-callable address of a compiled function, valid as long as the function lives."""
    if not hasattr(compiled, "get_compile_result"):
        raise HapticsimError("NUMBA_DISABLE_JIT is set, so nothing is compiled: unset it to get addresses.")
    result = compiled.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


def callable_at(kinds: str) -> Any:
    """Return an intrinsic that turns an address into a function of these kinds of arrays."""
    kind = types.FunctionType(_signature(kinds, 0))

    @intrinsic
    def at_address(typing_context: Any, address: Any) -> Any:
        def build(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            function = cgutils.create_struct_proxy(kind)(context, builder)
            function.c_addr = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
            function.py_addr = cgutils.get_null_value(function.py_addr.type)
            return function._getvalue()

        return kind(types.int64), build

    return at_address


@cache
def loop_over(kinds: str) -> Any:
    """Return the compiled loop ``(address, start, stop, *arrays)``; arrays have one axis more, in front."""
    name = f"loop_{kinds}"
    letters = [f"a{i}" for i in range(len(kinds) // 2)]
    source = _SOURCE.format(
        kinds=kinds, name=name, arrays=", ".join(letters), rows=", ".join(f"{a}[k]" for a in letters)
    )
    digest = hashlib.sha256(f"{source} {_own_hash()} numba {numba.__version__}".encode())
    return load_compiled(
        cache_folder(f"equations-{digest.hexdigest()[:24]}"),
        name,
        lambda: source,
        void(int64, int64, int64, *_signature(kinds, 1).args),
        f"compiling the loop {kinds}",
        None,
    )


def evaluate(
    compiled: Any, signature: Any, arrays: Sequence[np.ndarray], count: int, threads: int | None = None
) -> None:
    """Call a compiled function for every row of the arrays (count, ...), its arguments in their order.

    threads : at most so many, all cores if not given.  Few states are done in this thread.
    """
    if not hasattr(compiled, "get_compile_result"):  # without the JIT
        for k in range(count):
            compiled(*(a[k] for a in arrays))
        return
    loop, address = loop_over(kinds_of(signature)), address_of(compiled, signature)
    most = threads if threads is not None else len(os.sched_getaffinity(0))
    workers = min(most, count // LEAST_STATES_PER_THREAD)
    if workers <= 1:
        loop(address, 0, count, *arrays)
        return
    bounds = np.linspace(0, count, workers * PIECES_PER_THREAD + 1).astype(int).tolist()
    with ThreadPoolExecutor(workers) as pool:
        pieces = [pool.submit(loop, address, a, b, *arrays) for a, b in itertools.pairwise(bounds)]
    for piece in pieces:
        piece.result()


def checked_states(where: str, name: str, value: Any, n: int) -> np.ndarray:
    """Return an input (count, n) as a C-contiguous array of finite float64, or refuse it."""
    try:
        array: np.ndarray = np.ascontiguousarray(real_numbers(value), dtype=np.float64)
    except ValueError:
        raise HapticsimError(
            f"{name} of {where} must be numbers in {n} columns, one row per state."
        ) from None
    if array.ndim != 2 or array.shape[1] != n:
        raise HapticsimError(
            f"{name} of {where} must have shape (states, {n}), got {array.shape}: one row per state."
        )
    finite = np.isfinite(array)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise HapticsimError(f"{name}[{row}, {column}] of {where} is not finite: give a number.")
    return array


def batch(
    where: str,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, tuple[int, ...]],
    run: Callable[[list[np.ndarray], int], None],
    out: Any = None,
) -> Any:
    """Allocate or check what is written, run, and return it: an array, or arrays by name if several.

    where : whose function it is, for refusals.
    inputs : checked arrays (count, n) by name; an input that is also an output is copied.
    outputs : shape of each output at one state.
    run : called with all arrays, in the order of the function's arguments, and the number of states.
    out : arrays to write into, in the form of what is returned.
    """
    lengths = {name: len(array) for name, array in inputs.items()}
    if len(set(lengths.values())) > 1:
        rows = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise HapticsimError(f"{where} must get as many rows of every input, got {rows}.")
    count = next(iter(lengths.values()))
    given = _given(where, outputs, out)
    arrays: dict[str, np.ndarray] = {}
    for name, shape in outputs.items():
        arrays[name] = _target(where, name, (count, *shape), given.get(name))
        if name in BETWEEN_TREES:
            arrays[name][...] = 0.0
    for name, array in inputs.items():
        if name in outputs:
            arrays[name][:] = array
        else:
            overlaps = any(np.may_share_memory(array, target) for target in given.values())
            arrays[name] = array.copy() if overlaps else array
    run([arrays[name] for name in dict.fromkeys((*inputs, *outputs))], count)
    return arrays[next(iter(outputs))] if len(outputs) == 1 else {name: arrays[name] for name in outputs}


def _given(where: str, outputs: Mapping[str, Any], out: Any) -> dict[str, Any]:
    if out is None:
        return {}
    if len(outputs) == 1 and not isinstance(out, Mapping):
        return {next(iter(outputs)): out}
    if not isinstance(out, Mapping) or set(out) != set(outputs):
        raise HapticsimError(f"out of {where} must be a dict of the arrays {', '.join(outputs)}.")
    return dict(out)


def _target(where: str, name: str, shape: tuple[int, ...], given: Any) -> np.ndarray:
    if given is None:
        return np.empty(shape)
    fits = isinstance(given, np.ndarray) and given.dtype == np.float64 and given.shape == shape
    if not (fits and given.flags.c_contiguous and given.flags.writeable):
        found = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
        raise HapticsimError(
            f"out {name} of {where} must be a writeable C-contiguous float64 array of shape {shape}, "
            f"got {found}: make it with numpy.empty({shape})."
        )
    return given


def _signature(kinds: str, more: int) -> Any:
    """The signature of these arrays, or of stacks of them."""
    pairs = zip(kinds[::2], kinds[1::2], strict=True)
    return void(*(types.Array(_ELEMENTS[letter], int(n) + more, "C") for letter, n in pairs))


@cache
def _own_hash() -> str:
    with open(__file__, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
