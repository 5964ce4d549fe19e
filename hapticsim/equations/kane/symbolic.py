"""SymPy expressions over any scalar of ours: floats, traced values, numbers of many digits.

Sums and products are taken from the left in SymPy's own order, what does not move put together first, so
that a trace and a run on floats do the same operations.  Equal expressions are evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy

from hapticsim.equations.scalars.spatial import Scalar, sin_cos, square_root

FUNCTIONS = "sums, products, whole and half powers, sin, cos, tan and sqrt"


def unsupported(expression: Any) -> Any:
    """Return a part of an expression that has no generated code, or None."""
    for part in sympy.preorder_traversal(expression):
        known = part.is_Symbol or part.is_Add or part.is_Mul or part.func in (sympy.sin, sympy.cos, sympy.tan)
        if known or (part.is_number and part.is_real and part.is_finite and not part.args):
            continue
        if part.is_Pow and part.exp.is_Number and part.exp.is_finite and (2 * part.exp).is_integer:
            continue
        return part
    return None


class Evaluation:
    """The values of expressions, given those of their symbols.

    values : symbol -> scalar of what moves.
    constants : symbol -> float.
    """

    def __init__(self, values: Mapping[Any, Scalar], constants: Mapping[Any, float]) -> None:
        self._known: dict[Any, Scalar] = {**constants, **values}
        self._fixed: dict[Any, bool] = {**dict.fromkeys(constants, True), **dict.fromkeys(values, False)}

    def __call__(self, expression: Any) -> Scalar:
        """Return the value of an expression."""
        value = self._known.get(expression)
        if value is None:
            value = self._known[expression] = self._value(expression)
        return value

    def each(self, expressions: Iterable[Any]) -> list[Scalar]:
        """Return the values of several."""
        return [self(e) for e in expressions]

    def _value(self, e: Any) -> Scalar:
        if e.is_Add:
            return self._folded(e.args, lambda a, b: a + b, 0.0)
        if e.is_Mul:
            return self._quotient(e)
        if e.is_Pow:
            over, half = divmod(int(2 * e.exp), 2) if e.exp > 0 else (0, 0)
            if e.exp < 0:
                return 1.0 / self(sympy.Pow(e.base, -e.exp))
            root = square_root(self(e.base)) if half else 1.0
            return _power(self(e.base), over) * root
        if e.func is sympy.sin:
            return sin_cos(self(e.args[0]))[0]
        if e.func is sympy.cos:
            return sin_cos(self(e.args[0]))[1]
        if e.func is sympy.tan:
            s, c = sin_cos(self(e.args[0]))
            return s / c
        return float(e)

    def _quotient(self, e: Any) -> Scalar:
        under = [sympy.Pow(a.base, -a.exp) for a in e.args if a.is_Pow and a.exp.is_negative]
        over = [a for a in e.args if not (a.is_Pow and a.exp.is_negative)]
        value = self._folded(over, lambda a, b: a * b, 1.0)
        return value / self._folded(under, lambda a, b: a * b, 1.0) if under else value

    def _folded(self, parts: Iterable[Any], combine: Any, neutral: float) -> Scalar:
        """Combine the parts that move, then the constant of the others."""
        constant, moving = neutral, None
        for part in parts:
            if self._is_fixed(part):
                constant = combine(constant, self(part))
            else:
                moving = self(part) if moving is None else combine(moving, self(part))
        if moving is None:
            return constant
        return moving if constant == neutral else combine(moving, constant)

    def _is_fixed(self, e: Any) -> bool:
        fixed = self._fixed.get(e)
        if fixed is None:
            fixed = self._fixed[e] = all(self._is_fixed(a) for a in e.args)
        return fixed


def _power(x: Scalar, n: int) -> Scalar:
    """Return x^n for n >= 0 by squaring."""
    value = 1.0
    while n:
        if n % 2:
            value = x * value
        x, n = (x * x if n > 1 else x), n // 2
    return value
