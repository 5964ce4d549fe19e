"""Sine and cosine of several angles as LLVM instructions, eight angles at a time (scalars/sines.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from hapticsim.equations.scalars.sines import LARGEST, reduce_and_expand

LANES = 8
_WORD, _LANE = ir.IntType(64), ir.IntType(32)


class _Vector:
    """A value that adds, subtracts and multiplies by instructions; a float among them stands in all lanes."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def __add__(self, other: _Vector | float) -> _Vector:
        return _Vector(self.builder, self.builder.fadd(self.value, self._same(other)))

    def __sub__(self, other: _Vector | float) -> _Vector:
        return _Vector(self.builder, self.builder.fsub(self.value, self._same(other)))

    def __mul__(self, other: _Vector | float) -> _Vector:
        return _Vector(self.builder, self.builder.fmul(self.value, self._same(other)))

    def __neg__(self) -> _Vector:
        return _Vector(self.builder, self.builder.fneg(self.value))

    def _same(self, other: _Vector | float) -> Any:
        return other.value if isinstance(other, _Vector) else _all(self.value.type, other)


def write_sines(builder: Any, angles: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return sine and cosine of each angle, float64 values; those of scalars/sines.py to the bit."""
    found: list[tuple[Any, Any]] = []
    for start in range(0, len(angles), LANES):
        found += _write_together(builder, angles[start : start + LANES])
    return found


def _write_together(b: Any, angles: Sequence[Any]) -> list[tuple[Any, Any]]:
    lanes = 1 << (len(angles) - 1).bit_length()  # what is added is the first angle again
    kind, whole = ir.VectorType(ir.DoubleType(), lanes), ir.VectorType(_WORD, lanes)
    packed = ir.Constant(kind, ir.Undefined)
    for lane in range(lanes):
        angle = angles[lane] if lane < len(angles) else angles[0]
        packed = b.insert_element(packed, angle, ir.Constant(_LANE, lane))
    shifted, sine, cosine = (v.value for v in reduce_and_expand(_Vector(b, packed)))
    quarter = b.bitcast(shifted, whole)
    odd = _has_bit(b, quarter, 1)
    below = b.xor(odd, _has_bit(b, quarter, 2))  # (quarter + 1) & 2
    s, c = b.select(odd, cosine, sine), b.select(odd, sine, cosine)
    s = b.select(_has_bit(b, quarter, 2), b.fneg(s), s)
    c = b.select(below, b.fneg(c), c)
    above = b.fcmp_unordered(">", packed, _all(kind, LARGEST))
    beyond = b.or_(above, b.fcmp_unordered("<", packed, _all(kind, -LARGEST)))
    s, c = _by_library(b, len(angles), packed, beyond, s, c)
    return [tuple(b.extract_element(v, ir.Constant(_LANE, k)) for v in (s, c)) for k in range(len(angles))]


def _by_library(b: Any, count: int, packed: Any, beyond: Any, s: Any, c: Any) -> tuple[Any, Any]:
    """Return s and c with the lanes replaced that are beyond what the polynomials are for."""
    bits = ir.IntType(packed.type.count)
    asked = b.icmp_unsigned("!=", b.bitcast(beyond, bits), ir.Constant(bits, 0))
    before = b.block
    with b.if_then(asked, likely=False):
        exact = []
        for name, value in (("llvm.sin", s), ("llvm.cos", c)):
            function = b.module.declare_intrinsic(name, [ir.DoubleType()])
            for k in range(count):
                lane = ir.Constant(_LANE, k)
                other = b.call(function, [b.extract_element(packed, lane)])
                kept = b.extract_element(value, lane)
                chosen = b.select(b.extract_element(beyond, lane), other, kept)
                value = b.insert_element(value, chosen, lane)
            exact.append(value)
        asking = b.block
    joined = []
    for value, other in zip((s, c), exact, strict=True):
        phi = b.phi(value.type)
        phi.add_incoming(value, before)
        phi.add_incoming(other, asking)
        joined.append(phi)
    return joined[0], joined[1]


def _has_bit(b: Any, words: Any, bit: int) -> Any:
    """Return in which lanes a bit is 1."""
    return b.icmp_unsigned("!=", b.and_(words, _all(words.type, bit)), _all(words.type, 0))


def _all(kind: Any, number: float) -> Any:
    """Return a vector of the same number everywhere."""
    return ir.Constant(kind, [ir.Constant(kind.element, number)] * kind.count)
