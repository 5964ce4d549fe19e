"""The rest of an array from one row on, without the questions that a slice of numba's asks of its bounds.

From row 0 on it is the array itself, which the compiler sees.  Nothing is checked here.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


@intrinsic
def from_row(typing_context, array, first):
    """The rows (entries of a vector) of a C-contiguous array from ``first`` on; the same memory."""

    def build(context, builder, signature, args):
        whole = make_array(array)(context, builder, args[0])
        rest = make_array(array)(context, builder)
        shape = cgutils.unpack_tuple(builder, whole.shape)
        strides = cgutils.unpack_tuple(builder, whole.strides)
        start = builder.bitcast(whole.data, ir.IntType(8).as_pointer())
        start = builder.gep(start, [builder.mul(args[1], strides[0])])
        populate_array(
            rest,
            data=builder.bitcast(start, whole.data.type),
            shape=[builder.sub(shape[0], args[1]), *shape[1:]],
            strides=strides,
            itemsize=whole.itemsize,
            meminfo=whole.meminfo,
            parent=whole.parent,
        )
        return rest._getvalue()

    return array(array, types.intp), build
