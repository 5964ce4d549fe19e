"""Loads, stores and fences that order memory between threads.

LLVM and the processor may reorder plain accesses; everything that two threads share goes through these.  Each
works on element ``i`` of a C-contiguous int64 array and is an aligned, lock-free instruction.
"""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj


def _element(context, builder, kind, array, index):
    array = arrayobj.make_array(kind)(context, builder, array)
    return builder.gep(array.data, [index])


def _is_ints(array):
    return isinstance(array, types.Array) and array.ndim == 1 and array.dtype == types.int64


@intrinsic
def load_acquire(typing_context, array, i):
    """``array[i]``; what the writer stored before its store_release is seen by what follows."""
    if not _is_ints(array):
        return None

    def build(context, builder, signature, args):
        at = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(at, "acquire", 8)

    return types.int64(array, types.intp), build


@intrinsic
def store_release(typing_context, array, i, value):
    """``array[i] = value`` after everything this thread stored before."""
    if not _is_ints(array):
        return None

    def build(context, builder, signature, args):
        at = _element(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], at, "release", 8)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.int64), build


@intrinsic
def swap(typing_context, array, i, expected, value):
    """Store value in ``array[i]`` if expected is there, all at once; return whether it was."""
    if not _is_ints(array):
        return None

    def build(context, builder, signature, args):
        at = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.extract_value(builder.cmpxchg(at, args[2], args[3], "acq_rel", "acquire"), 1)

    return types.boolean(array, types.intp, types.int64, types.int64), build


@intrinsic
def fence(typing_context):
    """Nothing moves across, in either direction."""

    def build(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.none(), build
