"""Traced scalars: arithmetic that writes itself down.

Running a recursion on traced scalars yields the list of operations one robot needs.  On the way

- constants stay Python floats, so that constant arithmetic is done once, here;
- zeros and ones vanish (a structural zero is the float 0.0);
- equal operations are one operation (hash consing), with operands in a canonical order;
- signs are carried outside: ``a - b`` and ``b - a`` are one operation;
- a constant that meets a traced value is rounded to the precision of the trace.

Nothing is reassociated, so that a compiled trace gives the bits of the recursion on floats (a zero may change
its sign, nothing else).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hapticsim.equations.scalars.precision import PRECISIONS, Precision
from hapticsim.equations.scalars.spatial import constant_type, sin_cos, square_root

Operation = tuple[str, Any, int]


class Trace:
    """The operations of one function, each one stored once, operands before users.

    ``operations[n]`` is (op, a, b): ``("input", name, index)``, ``("constant", value, 0)``, a function
    ``("sin", a, 0)`` or a binary operation ``("+", a, b)`` on operation numbers a and b.
    """

    def __init__(self, precision: Precision = PRECISIONS["float64"]) -> None:
        self.precision = precision
        self.operations: list[Operation] = []
        self._numbers: dict[Operation, int] = {}

    def inputs(self, name: str, n: int) -> list[Traced]:
        """Return the n entries of an input array."""
        return [Traced(self, self.number("input", name, k), False) for k in range(n)]

    def number(self, op: str, a: Any, b: int = 0) -> int:
        """Return the number of an operation, a new one only if it has not been seen."""
        operation = (op, a, b)
        number = self._numbers.get(operation)
        if number is None:
            number = self._numbers[operation] = len(self.operations)
            self.operations.append(operation)
        return number


class Traced:
    """A value that will exist at run time: an operation of a trace, or its negative."""

    __slots__ = ("negative", "number", "trace")
    __array_ufunc__ = None  # a numpy scalar on the left leaves the operation to us

    def __init__(self, trace: Trace, number: int, negative: bool) -> None:
        self.trace, self.number, self.negative = trace, number, negative

    def _lifted(self, other: Any) -> Traced:
        if isinstance(other, Traced):
            return other
        value = float(self.trace.precision.number(other))
        return Traced(self.trace, self.trace.number("constant", abs(value)), value < 0.0)

    def __neg__(self) -> Traced:
        return Traced(self.trace, self.number, not self.negative)

    def __add__(self, other: object) -> Traced | float:
        if not isinstance(other, Traced) and other == 0.0:
            return self
        b = self._lifted(other)
        if self.negative == b.negative:
            i, j = sorted((self.number, b.number))
            return Traced(self.trace, self.trace.number("+", i, j), self.negative)
        if self.number == b.number:
            return 0.0
        i, j = (b.number, self.number) if self.negative else (self.number, b.number)  # i - j
        if i < j:
            return Traced(self.trace, self.trace.number("-", i, j), False)
        return Traced(self.trace, self.trace.number("-", j, i), True)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Traced | float:
        return self + (-other)

    def __rsub__(self, other: object) -> Traced | float:
        return (-self) + other

    def __mul__(self, other: object) -> Traced | float:
        if not isinstance(other, Traced):
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            if other == -1.0:
                return -self
        b = self._lifted(other)
        i, j = sorted((self.number, b.number))
        return Traced(self.trace, self.trace.number("*", i, j), self.negative != b.negative)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Traced:
        b = self._lifted(other)
        return Traced(self.trace, self.trace.number("/", self.number, b.number), self.negative != b.negative)

    def __rtruediv__(self, other: object) -> Traced | float:
        if other == 0.0:
            return 0.0
        return self._lifted(other) / self

    def __repr__(self) -> str:
        return f"{'-' if self.negative else ''}t{self.number}"


@sin_cos.register
def _(x: Traced) -> tuple[Traced, Traced]:
    trace = x.trace
    return (
        Traced(trace, trace.number("sin", x.number), x.negative),
        Traced(trace, trace.number("cos", x.number), False),
    )


@constant_type.register
def _(x: Traced) -> Callable[[Any], Any]:
    return x.trace.precision.number


@square_root.register
def _(x: Traced) -> Traced:
    trace = x.trace
    number = trace.number("-", trace.number("constant", 0.0), x.number) if x.negative else x.number
    return Traced(trace, trace.number("sqrt", number), False)
