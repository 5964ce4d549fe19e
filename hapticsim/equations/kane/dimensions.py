"""Which quantities of a mechanism are lengths and which are angles, by the dimensions of its expressions.

Positions and velocities are of dimension length, rotations and angular velocities of none, and what is added
must be of one dimension.  In exponents of length these are linear equations; where they fix the exponent of a
coordinate or speed, its unit is known whatever it is called: a rim's speed u2 is in m/s where u2 / r turns a
frame.  A decimal fraction may be a length written as a number, so it is unknown, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from hapticsim.model.multibody.joint import ANGULAR, LINEAR

if TYPE_CHECKING:
    from hapticsim.equations.kane.mechanism import System

Form = dict[Any, float]  # exponent of length of an expression: the sum of factor x exponent of a symbol
CONSTANT = object()  # a symbol of the exponent 1
EXACT = 1e-9


class Dimensions:
    """Exponents of length of the symbols of a mechanism, as far as its expressions fix them."""

    def __init__(self, system: System) -> None:
        self._equations: list[Form] = []
        self._rate_of = dict(zip(system.x.rates, system.x.q, strict=True))
        for place in system.places.values():
            for e in (e for row in place.axes.R_WF for e in row):
                self._require(e, 0.0)
            for part in place.axes.omega:
                self._require(part.expression, 0.0)
            for e in place.p_W:
                self._require(e, 1.0)
            for part in place.v:
                self._require(part.expression, 1.0)
        for mass in system.masses:
            self._require(mass.mass, 0.0)
            for e in (e for row in mass.inertia or [] for e in row):
                self._require(e, 2.0)
        for q, rate in zip(system.x.q, system.rates, strict=True):
            self._equal(self._form(rate.expression), {q: 1.0})
        for phi, row in system.rows:
            self._form(phi)
            self._form(row.expression)
        self._symbols = list(dict.fromkeys(s for f in self._equations for s in f if s is not CONSTANT))
        self._solve()

    def unit(self, expression: Any) -> str | None:
        """Return "rad" or "m" of an expression (per second if it is a rate), None where nothing fixes it."""
        form = self._form(expression)
        if form is None or self._exponents is None:
            return None
        vector = np.array([form.get(s, 0.0) for s in self._symbols])
        if (
            set(form) - set(self._symbols) - {CONSTANT}
            or np.abs(vector @ self._free).max(initial=0.0) > EXACT
        ):
            return None
        exponent = float(vector @ self._exponents) + form.get(CONSTANT, 0.0)
        return ANGULAR if abs(exponent) < EXACT else LINEAR if abs(exponent - 1.0) < EXACT else None

    def _solve(self) -> None:
        """Least squares; what contradicts itself, as with lengths written as whole numbers, says nothing."""
        A = np.array([[f.get(s, 0.0) for s in self._symbols] for f in self._equations])
        b = np.array([-f.get(CONSTANT, 0.0) for f in self._equations])
        A = A.reshape(len(b), len(self._symbols))
        inverse = np.linalg.pinv(A)
        self._exponents: np.ndarray | None = inverse @ b
        self._free = np.eye(len(self._symbols)) - inverse @ A
        if np.abs(A @ self._exponents - b).max(initial=0.0) > EXACT:
            self._exponents = None

    def _require(self, expression: Any, exponent: float) -> None:
        self._equal(self._form(expression), {CONSTANT: exponent})

    def _equal(self, a: Form | None, b: Form | None) -> None:
        if a is None or b is None:
            return
        difference = {s: a.get(s, 0.0) - b.get(s, 0.0) for s in {**a, **b}}
        if any(difference.values()):
            self._equations.append({s: c for s, c in difference.items() if c})

    def _form(self, e: Any) -> Form | None:
        """Exponent of length of an expression; None where it may be any, as of zero."""
        if e.is_Float:
            return {e: 1.0} if e != 0 else None
        if e.is_number:
            return None if e == 0 else {}
        if e.is_Symbol:
            return {self._rate_of.get(e, e): 1.0}
        if e.is_Add:
            forms = [f for f in (self._form(a) for a in e.args if not a.is_number) if f is not None]
            for other in forms[1:]:
                self._equal(forms[0], other)
            return forms[0] if forms else None
        if e.is_Mul:
            total: Form = {}
            for a in e.args:
                form = self._form(a)
                if form is None:
                    return None
                for s, c in form.items():
                    total[s] = total.get(s, 0.0) + c
            return total
        if e.is_Pow and e.exp.is_number:
            form = self._form(e.base)
            return None if form is None else {s: float(e.exp) * c for s, c in form.items()}
        if isinstance(e, sympy.Abs):
            return self._form(e.args[0])
        for a in e.args:  # of a sine and the like, and what comes out of it
            self._equal(self._form(a), {})
        return {}
