"""A block of named arrays and numbers that compiled code receives as one pointer.

numba passes a tuple of forty arrays as some three hundred arguments and counts references on each, at every
call.  A ``Block`` is one address: of a table with, per field, the number itself or the data pointer and the
shape of an array. Inside compiled code ``block.field`` is a plain array that owns nothing; the table never
changes, and the loads are marked so, which lets LLVM keep them in registers.

Subclasses declare numbers by annotation, and arrays with their shape::

    class State(Block, whole=True):
        q: Vector = of("nq")
        tick: IntVector = of(1)

The arrays of a whole block lie one behind the other in one buffer, so that it is copied and packed at once.
Those of a packed block do so as well, each at a cache line of its own, on huge pages where there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np import arrayobj

from hapticsim.kernels.memory.block_array import BlockArray
from hapticsim.kernels.memory.huge_pages import LARGE, LINE, WORD, zeros_on_huge_pages
from hapticsim.kernels.memory.shape import Shape, check_shapes

Int = Annotated[int, (types.int64, 0)]
Float = Annotated[float, (types.float64, 0)]
Vector = Annotated[np.ndarray, (types.float64, 1)]
Matrix = Annotated[np.ndarray, (types.float64, 2)]
Cube = Annotated[np.ndarray, (types.float64, 3)]
IntVector = Annotated[np.ndarray, (types.int64, 1)]
IntMatrix = Annotated[np.ndarray, (types.int64, 2)]

# What a whole block has beside its fields: its buffer read as integers and as numbers, and for each of its
# words whether it is an integer (1) or a number (0).
WHOLE = (("words", types.int64, 1), ("numbers", types.float64, 1), ("integer", types.int64, 1))


class BlockType(types.Type):
    """numba type of a block class: name and fields (name, scalar type, dimensions)."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type, int], ...]) -> None:
        self.fields = fields
        super().__init__(name=f"Block.{name}({','.join(f'{n}:{t}:{d}' for n, t, d in fields)})")

    def find(self, name: str) -> tuple[int, types.Type, int] | None:
        """First word, scalar type and dimensions of a field."""
        word = 0
        for field, scalar, ndim in self.fields:
            if field == name:
                return word, scalar, ndim
            word += 1 + ndim
        return None


class Block:
    """Named arrays (C-contiguous float64 or int64) and numbers; the set of fields is fixed when it is built.

    Raises TypeError for a missing or unknown field and ValueError for an array of another shape.
    Arrays of the right kind are kept, not copied (a whole block, and a packed one, copies them into its
    buffer); their contents may change, they may not be replaced.
    """

    _type: ClassVar[BlockType]
    _whole: ClassVar[bool]
    _packed: ClassVar[bool]
    _shapes: ClassVar[dict[str, Shape]]
    _constants: ClassVar[dict[str, Any]]  # of the module, which shapes may name
    address: int  # of the table
    words: np.ndarray
    numbers: np.ndarray
    integer: np.ndarray

    def __init_subclass__(cls, whole: bool = False, packed: bool = False) -> None:
        hints = get_type_hints(cls, include_extras=True)
        fields = tuple(
            (name, *hint.__metadata__[0]) for name, hint in hints.items() if hasattr(hint, "__metadata__")
        )
        cls._whole, cls._packed = whole, packed
        cls._shapes = {name: shape for name, shape in vars(cls).items() if isinstance(shape, Shape)}
        cls._constants = {n: v for n, v in vars(sys.modules[cls.__module__]).items() if isinstance(v, int)}
        for name in cls._shapes:
            delattr(cls, name)
        cls._type = BlockType(cls.__name__, fields + (WHOLE if whole else ()))

    def __init__(self, **values: Any) -> None:
        fields = self._type.fields
        names = {name for name, _, _ in self._declared()}
        if names != set(values):
            wrong = ", ".join(sorted(names ^ set(values)))
            raise TypeError(f"{type(self).__name__} needs exactly its fields; missing or unknown: {wrong}")
        if self._whole:
            values = self._in_one_buffer(values)
        if self._packed:
            values = self._on_huge_pages(values)
        table = np.zeros(sum(1 + f[2] for f in fields), np.int64)
        word = 0
        for name, scalar, ndim in fields:
            dtype = np.int64 if scalar is types.int64 else np.float64
            if ndim == 0:
                value: Any = dtype(values[name])
                table[word : word + 1].view(dtype)[0] = value
                value = value.item()
            else:
                value = np.ascontiguousarray(values[name], dtype)
                if value.ndim != ndim:
                    raise ValueError(f"{type(self).__name__}.{name} has {value.ndim} dimensions, not {ndim}")
                table[word] = value.ctypes.data
                table[word + 1 : word + 1 + ndim] = value.shape
            object.__setattr__(self, name, value)
            word += 1 + ndim
        check_shapes(type(self).__name__, self._shapes, vars(self), self._constants)
        object.__setattr__(self, "_table", table)
        object.__setattr__(self, "address", table.ctypes.data)

    @classmethod
    def zeros(cls, sizes: Mapping[str, int], **given: Any) -> Self:
        """A block for these sizes: what is given, and zeros.

        Raises KeyError or NameError for a size that is missing, and what ``Block`` raises.
        """
        values = dict(given)
        for name, scalar, _ in cls._declared():
            if name not in given and name in cls._shapes:
                shape = cls._shapes[name].worked_out({**cls._constants, **sizes})
                values[name] = np.zeros(shape, np.int64 if scalar is types.int64 else np.float64)
        return cls(**values)

    @classmethod
    def numbers_named(cls) -> tuple[str, ...]:
        """Names of the fields that are a number, neither a whole one nor an array."""
        return tuple(name for name, scalar, ndim in cls._declared() if scalar is types.float64 and ndim == 0)

    @classmethod
    def _declared(cls) -> tuple[tuple[str, types.Type, int], ...]:
        return cls._type.fields[: -len(WHOLE)] if cls._whole else cls._type.fields

    def _in_one_buffer(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arrays copied into one buffer, as views of it, and the fields of ``WHOLE``.

        None can be written to where one of the arrays given cannot.
        """
        sizes = [np.size(values[name]) for name, _, _ in self._declared()]
        words = np.zeros(sum(sizes), np.int64)
        integer = np.zeros(sum(sizes), np.int64)
        views: dict[str, Any] = {"words": words, "numbers": words.view(np.float64), "integer": integer}
        start = 0
        for (name, scalar, _), size in zip(self._declared(), sizes, strict=True):
            part = slice(start, start + size)
            is_integer = scalar is types.int64
            integer[part] = is_integer
            view = (words if is_integer else views["numbers"])[part].reshape(np.shape(values[name]))
            view[...] = values[name]
            views[name] = view
            start += size
        if any(not np.asarray(values[name]).flags.writeable for name, _, _ in self._declared()):
            for view in views.values():
                view.flags.writeable = False
        return views

    def _on_huge_pages(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arrays copied into one buffer, as views of it; one that is large has huge pages already."""
        views, places, start = dict(values), {}, 0
        for name, scalar, ndim in self._declared():
            dtype = np.int64 if scalar is types.int64 else np.float64
            views[name] = np.asarray(values[name], dtype)
            if ndim > 0 and views[name].nbytes < LARGE:
                places[name] = start
                start += -(-views[name].size // LINE) * LINE
        words = zeros_on_huge_pages(start)
        for name, begin in places.items():
            array = views[name]
            views[name] = words[begin : begin + array.size].view(array.dtype).reshape(array.shape)
            views[name][...] = array
        return views

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be replaced; write into the array")

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and values in the order of declaration."""
        for name, _, _ in self._declared():
            yield name, getattr(self, name)

    def copy(self) -> Self:
        """A block of copies."""
        return type(self)(**{n: v.copy() if isinstance(v, np.ndarray) else v for n, v in self.items()})

    def take(self, other: Self) -> None:
        """Copy the contents of another block of the same shapes into this one's arrays."""
        if self._whole:
            self.words[:] = other.words
            return
        for name, value in self.items():
            if isinstance(value, np.ndarray):
                value[...] = getattr(other, name)


@typeof_impl.register(Block)
def _typeof_block(value, _context):
    return value._type


@register_model(BlockType)
class _BlockModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(64))


@unbox(BlockType)
def _unbox_block(_kind, obj, c):
    address = c.pyapi.object_getattr_string(obj, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value)


def block_at(cls: type[Block]) -> Any:
    """What compiled code calls to have the block of a class that is at an address.

    Of each block among the arguments of a call from Python numba finds out the type anew, in two
    microseconds; of a whole number, as its address, in none.
    """

    @intrinsic
    def at(typing_context, address):
        return cls._type(types.int64), lambda _context, _builder, _signature, args: args[0]

    return at


@infer_getattr
class _BlockAttribute(AttributeTemplate):
    key = BlockType

    def generic_resolve(self, kind, name):
        found = kind.find(name)
        if found is None:
            return None
        _, scalar, ndim = found
        return scalar if ndim == 0 else BlockArray(scalar, ndim)


@lower_getattr_generic(BlockType)
def _load_field(context, builder, kind, address, name):
    word, scalar, ndim = kind.find(name)
    i64 = ir.IntType(64)
    constant = builder.module.add_metadata([])

    def load(offset, llvm_type):
        at = builder.add(address, ir.Constant(i64, offset * WORD))
        value = builder.load(builder.inttoptr(at, llvm_type.as_pointer()))
        value.set_metadata("invariant.load", constant)
        return value

    if ndim == 0:
        return load(word, context.get_value_type(scalar))
    array_type = BlockArray(scalar, ndim)
    array = context.make_array(array_type)(context, builder)
    shape = [load(word + 1 + i, i64) for i in range(ndim)]
    strides = [ir.Constant(i64, WORD)]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    arrayobj.populate_array(
        array,
        data=load(word, context.get_value_type(scalar).as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(i64, WORD),
        meminfo=None,
    )
    return impl_ret_borrowed(context, builder, array_type, array._getvalue())
