"""What a mechanism consists of, as expressions in plain symbols: axes, places, masses, loads.

Velocities are three measure numbers, each affine in the rates of the coordinates and the generalized speeds;
the coefficients of u_r are the partial velocities (Gillespie, Haptics-e 3(2) (2003), Eqs. (23), (29)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

Expression = Any


@dataclass(frozen=True)
class Variables:
    """Plain symbols for q, qdot and u, by which everything is differentiated."""

    q: tuple[Any, ...]
    rates: tuple[Any, ...]
    u: tuple[Any, ...]


class Affine:
    """An expression affine in qdot and u, with its partial derivatives."""

    def __init__(self, expression: Expression, x: Variables) -> None:
        self.expression, self._x = expression, x

    @cached_property
    def by_u(self) -> list[Expression]:
        return [sympy.diff(self.expression, u) for u in self._x.u]

    @cached_property
    def by_rates(self) -> list[Expression]:
        return [sympy.diff(self.expression, rate) for rate in self._x.rates]

    @cached_property
    def by_q(self) -> list[Expression]:
        return [sympy.diff(self.expression, q) for q in self._x.q]

    @cached_property
    def remainder(self) -> Expression:
        """What is left at qdot = 0 and u = 0."""
        return self.expression.xreplace(dict.fromkeys((*self._x.rates, *self._x.u), sympy.S.Zero))

    @property
    def is_affine(self) -> bool:
        """Say whether no partial derivative depends on qdot or u."""
        moving = {*self._x.rates, *self._x.u}
        return not any(
            e.free_symbols & moving and sympy.simplify(e).free_symbols & moving
            for e in (*self.by_u, *self.by_rates)
        )

    @property
    def is_zero(self) -> bool:
        return not self.expression.free_symbols & {*self._x.rates, *self._x.u}


@dataclass(frozen=True, eq=False)
class Axes:
    """A reference frame F: how it stands in the world and turns."""

    frame: Any
    R_WF: list[list[Expression]]  # (3, 3)
    omega: list[Affine]  # (3,) angular velocity in the world, axes of F


@dataclass(frozen=True, eq=False)
class Place:
    """A point and a frame that belong together."""

    name: str
    axes: Axes  # its orientation and angular velocity
    p_W: list[Expression]  # (3,) [m] position
    v_axes: Axes  # in which its velocity is written
    v: list[Affine]  # (3,) [m/s]

    @property
    def is_fixed(self) -> bool:
        return all(part.is_zero for part in (*self.axes.omega, *self.v))


@dataclass(frozen=True, eq=False)
class Mass:
    """A rigid body or a particle."""

    place: Place
    mass: Expression
    inertia: list[list[Expression]] | None  # (3, 3) central, axes of the body
    gravity: list[Expression]  # (3,) [m/s^2] in v_axes of the place


@dataclass(frozen=True, eq=False)
class Load:
    """A force at a point, or a torque on a frame, beside the velocity it acts on, in the same axes."""

    motion: list[Affine]  # (3,)
    vector: list[Expression]  # (3,)
