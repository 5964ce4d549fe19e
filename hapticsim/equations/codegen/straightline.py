"""Straight-line Python handed to LLVM as it stands.

numba's front end takes about a millisecond for a line of Python, because a line could be anything; the
functions that ``emit`` writes are sums and products of floats.  ``straight_line`` turns such a function into
a numba intrinsic whose body is one LLVM instruction per operation (Talos, 32 joints, forward dynamics: 0.9 s
instead of 9).  Indices become constants, since the shapes are known.  No instruction may be contracted or
reassociated, so that the result has the bits that Python would compute.

Accepted: ``t = a[i]``, ``t = x + y`` (- * /), ``t = -x``, ``t = sin(x)`` (cos, sqrt), ``a[i, j] = x``, where
x and y are names, numbers, entries of ``numbers`` or negated names, and ``a[:] = 0.0`` for a whole array.
"""

from __future__ import annotations

import ast
import hashlib
import math
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hapticsim.equations.codegen.vector_sines import write_sines

Shape = tuple[int, ...]

# LLVM schedules a block of n instructions in more than n steps.  Parts that hand on their values in memory
# grow in proportion: Tiago's ``kane`` (101 joints, 54 546 lines) compiles in 9 s instead of 23 and runs 4 %
# longer, with the same bits.  Below SPLIT_FROM nobody waits long enough to pay for that.
SPLIT_FROM, PART = 20_000, 500


# What stands in front of the numbers in machine code, and says where they are (``transplant.py``).
MARK = hashlib.sha256(b"the numbers of a hapticsim model").digest()
ALIGNED = 32  # bytes


def number_bytes(numbers: Sequence[float], dtype: Any) -> bytes:
    """Return how numbers of a model stand in machine code."""
    return MARK + np.array(numbers, dtype).tobytes()


def straight_line(
    numbers: tuple[float, ...] = (), /, **shapes: Shape
) -> Callable[[Callable[..., None]], Any]:
    """Make a straight-line function callable from compiled code; plain Python again when the JIT is off.

    numbers : what ``numbers[k]`` stands for in its lines.  In machine code they are data: another robot may
        have the same instructions.
    shapes : of the array arguments by name, all C-contiguous and of one precision, float64 or float32, which
        is that of every operation and constant.  They are not checked at run time.
    """

    def wrap(function: Callable[..., None]) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function

        def lines(builder: Any, pointers: dict[str, Any], real: Any) -> None:
            data = _data(builder.module, real, numbers) if numbers else None
            write(builder, pointers, shapes, real, _body_of(function), data)

        return _intrinsic(function.__code__.co_varnames[: function.__code__.co_argcount], lines)

    return wrap


def straight_line_at(
    places: Sequence[tuple[Any, ...]], numbers: Sequence[float], /, **shapes: Shape
) -> Callable[[Callable[..., None]], Any]:
    """The same for a function that is called once for each place, and compiled once.

    places : for each call where its numbers begin, and for each array where its entries do, as a tuple: in
        the leading dimensions.
    The function takes numbers first.
    """

    def wrap(function: Callable[..., None]) -> Any:
        def in_places(*arrays: np.ndarray) -> None:
            for start, *firsts in places:
                views = [
                    a[tuple(slice(k, None) for k in first)] for a, first in zip(arrays, firsts, strict=True)
                ]
                function(numbers[start:], *views)

        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return in_places

        def lines(builder: Any, pointers: dict[str, Any], real: Any) -> None:
            data = _data(builder.module, real, numbers) if numbers else real.as_pointer()(None)
            pointer = real.as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer] * (1 + len(pointers)))
            once = ir.Function(builder.module, kind, builder.module.get_unique_name("kind"))
            once.linkage = "internal"
            once.attributes.add("noinline")
            inside = ir.IRBuilder(once.append_basic_block())
            own, *arguments = once.args
            write(inside, dict(zip(pointers, arguments, strict=True)), shapes, real, _body_of(function), own)
            inside.ret_void()
            for start, *firsts in places:
                offsets = [
                    sum(k * math.prod(shapes[name][d + 1 :]) for d, k in enumerate(first))
                    for name, first in zip(pointers, firsts, strict=True)
                ]
                there = [_after(builder, x, k) for x, k in zip(pointers.values(), offsets, strict=True)]
                builder.call(once, [_after(builder, data, start), *there])

        return _intrinsic(function.__code__.co_varnames[1 : function.__code__.co_argcount], lines)

    return wrap


def _after(builder: Any, pointer: Any, entries: int) -> Any:
    """Return the address that many entries further on."""
    return builder.gep(pointer, [ir.Constant(ir.IntType(64), entries)])


def _intrinsic(names: Sequence[str], lines: Callable[..., None]) -> Any:
    """Return what compiled code calls with arrays of these names; ``lines`` writes its instructions."""

    def typing(typingctx: Any, *arguments: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pointers = {
                name: context.make_array(kind)(context, builder, value).data
                for name, kind, value in zip(names, signature.args, values, strict=True)
            }
            lines(builder, pointers, context.get_value_type(signature.args[0].dtype))
            return context.get_dummy_value()

        return types.void(*arguments), codegen

    # numba counts the arguments of an intrinsic by its signature
    parameters = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in ("typingctx", *names)]
    typing.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return intrinsic(typing)


def _body_of(function: Callable[..., None]) -> list[ast.stmt]:
    """Return the statements of a function, read from its file."""
    tree = ast.parse(Path(function.__code__.co_filename).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            return node.body
    raise ValueError(f"{function.__code__.co_filename} has no function {function.__name__}")


def write(
    builder: Any,
    pointers: dict[str, Any],
    shapes: dict[str, Shape],
    real: Any,
    statements: Sequence[ast.stmt],
    numbers: Any = None,
) -> None:
    """Write the statements where the builder stands; many of them as calls of functions of bounded size.

    numbers : where those of the model are.
    """
    if len(statements) < SPLIT_FROM:
        _Writer(builder, pointers, shapes, real, {}, numbers).write(statements)
        return
    pointer, names = real.as_pointer(), list(pointers)
    kind = ir.FunctionType(ir.VoidType(), [pointer] * (2 + len(names)))
    shared = _Shared()
    parts = []
    for start in range(0, len(statements), PART):
        part = ir.Function(builder.module, kind, builder.module.get_unique_name("part"))
        part.linkage = "internal"
        part.attributes.add("noinline")
        scratch, own, *arguments = part.args
        shared.begin(ir.IRBuilder(part.append_basic_block()), scratch)
        inside = dict(zip(names, arguments, strict=True))
        _Writer(shared.builder, inside, shapes, real, shared, own).write(statements[start : start + PART])
        parts.append(part)
    shared.end()
    scratch = cgutils.alloca_once(builder, real, size=max(1, len(shared.slots)))
    for part in parts:
        builder.call(part, [scratch, pointer(None) if numbers is None else numbers, *pointers.values()])


def _data(module: Any, real: Any, numbers: Sequence[float]) -> Any:
    """Write numbers as data that no instruction depends on; return their address."""
    data = number_bytes(numbers, np.float64 if isinstance(real, ir.DoubleType) else np.float32)
    kind = ir.ArrayType(ir.IntType(8), len(data))
    place = ir.GlobalVariable(module, kind, module.get_unique_name("numbers"))
    place.linkage, place.global_constant, place.align = "internal", True, ALIGNED
    place.storage_class = "externally_initialized"  # never folded into instructions, and never written
    place.initializer = ir.Constant(kind, bytearray(data))
    zero, start = ir.Constant(ir.IntType(64), 0), ir.Constant(ir.IntType(64), len(MARK))
    return place.gep([zero, start]).bitcast(real.as_pointer())


def _angles(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the names whose sine or cosine is assigned, each once."""
    found: dict[str, None] = {}
    for statement in statements:
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name(id="sin" | "cos"), args=[ast.Name(id=angle)])):
                found[angle] = None
    return list(found)


class _Shared(dict):
    """Values by name in the part that is being written; those of earlier parts come through memory."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        self._made: dict[str, tuple[Any, Any, Any]] = {}  # builder and scratch of its part, value
        self._builders: list[Any] = []

    def begin(self, builder: Any, scratch: Any) -> None:
        """Go on with the next part."""
        self.clear()
        self.builder, self._scratch = builder, scratch
        self._builders.append(builder)

    def end(self) -> None:
        """Let every part return."""
        for builder in self._builders:
            builder.ret_void()

    def __setitem__(self, name: str, value: Any) -> None:
        self._made[name] = self.builder, self._scratch, value
        super().__setitem__(name, value)

    def __missing__(self, name: str) -> Any:
        builder, scratch, value = self._made[name]
        if isinstance(value, ir.Constant):
            return value
        if name not in self.slots:
            self.slots[name] = len(self.slots)
            builder.store(value, self._slot(builder, scratch, name))
        loaded = self.builder.load(self._slot(self.builder, self._scratch, name))
        super().__setitem__(name, loaded)
        return loaded

    def _slot(self, builder: Any, scratch: Any, name: str) -> Any:
        return builder.gep(scratch, [ir.Constant(ir.IntType(64), self.slots[name])])


class _Writer:
    """Writes LLVM instructions for straight-line statements.

    values : what names stand for, added to.
    numbers : address of those of the model.
    """

    def __init__(
        self,
        builder: Any,
        pointers: dict[str, Any],
        shapes: dict[str, Shape],
        real: Any,
        values: dict[str, Any],
        numbers: Any,
    ) -> None:
        self.builder, self.pointers, self.shapes, self.real = builder, pointers, shapes, real
        self.values, self.numbers = values, numbers
        self._is_double = isinstance(real, ir.DoubleType)
        self._angles: list[str] = []
        self._sines: dict[str, tuple[Any, Any]] = {}  # and cosines, by the names of their angles

    def write(self, statements: Sequence[ast.stmt]) -> None:
        self._angles = _angles(statements)
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=x):
                    self.values[name] = self.value(x)
                case ast.Assign(
                    targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(None, None, None))],
                    value=ast.Constant(value=0.0),
                ):
                    self.clear(name)
                case ast.Assign(targets=[ast.Subscript() as target], value=x):
                    self.builder.store(self.value(x), self.element(target))
                case ast.Pass():
                    pass
                case _:
                    raise self._refusal(statement)

    def value(self, node: ast.expr) -> Any:
        b = self.builder
        match node:
            case ast.Name(id=name):
                return self.values[name]
            case ast.Constant(value=int() | float() as number):
                return ir.Constant(self.real, float(number))
            case ast.BinOp(left=x, op=op, right=y):
                write = {ast.Add: b.fadd, ast.Sub: b.fsub, ast.Mult: b.fmul, ast.Div: b.fdiv}[type(op)]
                return write(self.value(x), self.value(y))
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return b.fneg(self.value(x))
            case ast.Subscript(value=ast.Name(id="numbers"), slice=ast.Constant(value=k)):
                return b.load(b.gep(self.numbers, [ir.Constant(ir.IntType(64), k)]))
            case ast.Subscript():
                return b.load(self.element(node))
            case ast.Call(func=ast.Name(id=("sin" | "cos") as name), args=[x]) if self._is_double:
                return self.sine_and_cosine(x)[name == "cos"]
            case ast.Call(func=ast.Name(id=("sin" | "cos" | "sqrt") as name), args=[x]):
                function = b.module.declare_intrinsic(f"llvm.{name}", [self.real])
                return b.call(function, [self.value(x)])
        raise self._refusal(node)

    def sine_and_cosine(self, angle: ast.expr) -> tuple[Any, Any]:
        """Return both of an angle; of one with a name with those of all others that are known by now."""
        if not isinstance(angle, ast.Name):
            return write_sines(self.builder, [self.value(angle)])[0]
        if angle.id not in self._sines:
            new = [n for n in self._angles if n not in self._sines and n != angle.id and n in self.values]
            new.append(angle.id)
            found = write_sines(self.builder, [self.values[name] for name in new])
            self._sines |= dict(zip(new, found, strict=True))
        return self._sines[angle.id]

    def clear(self, array: str) -> None:
        """Write zeros to a whole array."""
        size = math.prod(self.shapes[array]) * (8 if isinstance(self.real, ir.DoubleType) else 4)
        cgutils.memset(self.builder, self.pointers[array], ir.Constant(ir.IntType(64), size), 0)

    def element(self, node: ast.Subscript) -> Any:
        """Return the address of an array element; its offset is a constant."""
        array, index = ast.unparse(node.value), ast.literal_eval(node.slice)
        offset = 0
        for k, n in zip(index if isinstance(index, tuple) else (index,), self.shapes[array], strict=True):
            offset = offset * n + k
        return self.builder.gep(self.pointers[array], [ir.Constant(ir.IntType(64), offset)])

    def _refusal(self, node: ast.AST) -> ValueError:
        return ValueError(
            f"line {getattr(node, 'lineno', '?')} is not straight-line code: {ast.unparse(node)}"
        )
