"""The arrays of a block as compiled code sees them: no index counts from the end.

numba asks of every signed index whether it is negative, and adds the length of the axis if it is; that took
a seventh of a tick.  Here an index is taken as it is, as numba does not ask either whether it is too large;
with NUMBA_BOUNDSCHECK=1 it asks both.
"""

from __future__ import annotations

import operator

from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_cast
from numba.core.typing import signature
from numba.extending import lower_builtin, models, register_model
from numba.np import arrayobj


class BlockArray(types.Array):
    """numba type of such an array; a slice of one is another."""

    def __init__(self, dtype, ndim, layout="C", readonly=False, aligned=True):
        plain = types.Array(dtype, ndim, layout, readonly, None, aligned)
        super().__init__(dtype, ndim, layout, readonly, f"block {plain.name}", aligned)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        """The type with other properties."""
        plain = super().copy(dtype, ndim, layout, readonly)
        return BlockArray(plain.dtype, plain.ndim, plain.layout, not plain.mutable, plain.aligned)

    def __repr__(self):  # machine code is kept by it (machine_code/store.py)
        return f"Block{super().__repr__()}"


register_model(BlockArray)(models.ArrayModel)


@lower_cast(BlockArray, types.Array)
@lower_cast(types.Array, BlockArray)
def _the_same_memory(_context, _builder, _kind, _other, array):
    return array


@lower_builtin(operator.getitem, BlockArray, types.Integer)
def _get_item(context, builder, sig, args):
    kind, index = _as_it_is(context, builder, sig.args[1], args[1])
    unsigned = signature(sig.return_type, sig.args[0], kind)
    return arrayobj.getitem_arraynd_intp(context, builder, unsigned, (args[0], index))


@lower_builtin(operator.getitem, BlockArray, types.BaseTuple)
def _get_item_of_axes(context, builder, sig, args):
    kind, index = _as_it_is(context, builder, sig.args[1], args[1])
    unsigned = signature(sig.return_type, sig.args[0], kind)
    return arrayobj.getitem_array_tuple(context, builder, unsigned, (args[0], index))


@lower_builtin(operator.setitem, BlockArray, types.Integer, types.Any)
@lower_builtin(operator.setitem, BlockArray, types.BaseTuple, types.Any)
def _set_item(context, builder, sig, args):
    kind, index = _as_it_is(context, builder, sig.args[1], args[1])
    unsigned = signature(sig.return_type, sig.args[0], kind, sig.args[2])
    return arrayobj.setitem_array(context, builder, unsigned, (args[0], index, args[2]))


def _as_it_is(context, builder, kind, index):
    """Type and value of an index, unsigned, of which numba does not ask that question."""
    if isinstance(kind, types.BaseTuple):
        axes = zip(kind.types, cgutils.unpack_tuple(builder, index, len(kind)), strict=True)
        kinds, parts = zip(*(_as_it_is(context, builder, *axis) for axis in axes), strict=True)
        kind = types.Tuple(kinds)
        return kind, context.make_tuple(builder, kind, parts)
    if not isinstance(kind, types.Integer):
        return kind, index
    return types.uintp, context.cast(builder, index, kind, types.uintp)
