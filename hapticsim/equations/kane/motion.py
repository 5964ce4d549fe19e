"""A mechanism at one state, over any scalar: Kane's equations on values.

With the partial angular velocities omega_r and partial velocities v_r of every body (the coefficients of u_r,
Gillespie, Haptics-e 3(2) (2003), Eqs. (23), (29)) and the remainders of its accelerations alpha, a (what is
left at udot = 0)

    M_rs = sum  m v_r . v_s + omega_r . I omega_s                                   (33), terms in udot
    h_r  = sum  m v_r . (a - g) + omega_r . (I alpha + omega x I omega)  -  F_r     (33), the rest, and (32)

Rows of constraints are (3): A u = b, and A udot + s = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hapticsim.equations.catalogue import Outputs
from hapticsim.equations.kane.mechanism import System
from hapticsim.equations.kane.parts import Affine, Load, Mass, Place
from hapticsim.equations.kane.symbolic import Evaluation
from hapticsim.equations.scalars.spatial import (
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    mirrored,
    scale,
    subtract,
    times,
    zeros,
)


class Motion:
    """A mechanism at one state; without u only what needs no speeds."""

    def __init__(self, system: System, q: Vector, u: Vector | None = None) -> None:
        self.system = system
        x = system.x
        at_q = dict(zip(x.q, q, strict=True))
        self._at_q = Evaluation(at_q, system.parameters)
        self._u = u
        if u is not None:
            at_u = at_q | dict(zip(x.u, u, strict=True))
            slow = Evaluation(at_u, system.parameters)
            self.qdot = [slow(rate.expression) for rate in system.rates]  # (2)
            self._at = Evaluation(at_u | dict(zip(x.rates, self.qdot, strict=True)), system.parameters)

    def at_q(self, expressions: Sequence[Any]) -> Vector:
        return self._at_q.each(expressions)

    @cached_property
    def W(self) -> Matrix:
        """(nq, nu) of qdot = W u + X."""
        return [self._at_q.each(rate.by_u) for rate in self.system.rates]

    @cached_property
    def X(self) -> Vector:
        return [self._at_q(rate.remainder) for rate in self.system.rates]

    @cached_property
    def qddot(self) -> Vector:
        """(nq,) without udot."""
        return [weighted(self._at.each(rate.by_q), self.qdot) for rate in self.system.rates]

    # -- of expressions affine in the speeds -----------------------------------------------------------------

    def value(self, parts: Sequence[Affine]) -> Vector:
        return self._at.each(part.expression for part in parts)

    def partials(self, parts: Sequence[Affine]) -> list[Vector]:
        """Return the coefficients of every speed: nu rows, one entry for each part."""
        columns = []
        for part in parts:
            direct, by_rates = self._at_q.each(part.by_u), self._at_q.each(part.by_rates)
            columns.append(
                [direct[r] + weighted(by_rates, [row[r] for row in self.W]) for r in range(self.system.nu)]
            )
        return [list(row) for row in zip(*columns, strict=True)]

    def rate(self, parts: Sequence[Affine]) -> Vector:
        """Return the time derivatives of the parts without udot."""
        return [
            weighted(self._at.each(part.by_q), self.qdot) + weighted(self._at.each(part.by_rates), self.qddot)
            for part in parts
        ]

    def acceleration(self, v: Sequence[Affine], axes_omega: Sequence[Affine]) -> Vector:
        """Return the derivative in the world, without udot, of a vector in axes that turn with omega."""
        return add(self.rate(v), cross(self.value(axes_omega), self.value(v)))

    # -- Kane's equations ------------------------------------------------------------------------------------

    def mass_matrix(self) -> Matrix:
        n = self.system.nu
        M: Matrix = [zeros(n) for _ in range(n)]
        for body in self.system.masses:
            m, I = self._mass(body), self._inertia(body)
            v, omega = self.partials(body.place.v), self.partials(body.place.axes.omega) if I else None
            for r in range(n):
                momentum = times(I, omega[r]) if I and omega else None
                for s in range(r, n):
                    M[r][s] = M[r][s] + m * dot(v[r], v[s])
                    if omega and momentum:
                        M[r][s] = M[r][s] + dot(momentum, omega[s])
        return mirrored(M)

    def bias(self) -> Vector:
        h = zeros(self.system.nu)
        for body in self.system.masses:
            m, I, place = self._mass(body), self._inertia(body), body.place
            a = subtract(self.acceleration(place.v, place.v_axes.omega), self.at_q(body.gravity))
            h = add(h, [dot(scale(m, v), a) for v in self.partials(place.v)])
            if I:
                omega = self.value(place.axes.omega)
                moment = add(times(I, self.rate(place.axes.omega)), cross(omega, times(I, omega)))
                h = add(h, [dot(o, moment) for o in self.partials(place.axes.omega)])
        for load in self.system.loads:
            h = subtract(h, self.active_force(load))
        return h

    def active_force(self, load: Load, vector: Vector | None = None) -> Vector:
        """Return F_r (32) of a load, or of another vector in its axes."""
        f = self._at.each(load.vector) if vector is None else vector
        return [dot(v, f) for v in self.partials(load.motion)]

    def energy(self) -> tuple[Scalar, Scalar]:
        kinetic: Scalar = 0.0
        for body in self.system.masses:
            v, I = self.value(body.place.v), self._inertia(body)
            kinetic = kinetic + 0.5 * self._mass(body) * dot(v, v)
            if I:
                omega = self.value(body.place.axes.omega)
                kinetic = kinetic + 0.5 * dot(omega, times(I, omega))
        return kinetic, self._at_q(self.system.potential)

    def _mass(self, body: Mass) -> float:
        return float(self._at_q(body.mass))

    def _inertia(self, body: Mass) -> Matrix | None:
        return None if body.inertia is None else [self._at_q.each(row) for row in body.inertia]

    # -- places and rows -------------------------------------------------------------------------------------

    def pose(self, place: Place) -> Vector:
        return [e for row in place.axes.R_WF for e in self.at_q(row)] + self.at_q(place.p_W)

    def frame_outputs(self, names: Sequence[str]) -> Outputs:
        X, V, vel, acc = [], [], [], []
        for place in (self.system.places[name] for name in names):
            R = [self.at_q(row) for row in place.axes.R_WF]
            R_v = [self.at_q(row) for row in place.v_axes.R_WF]
            omega, v = place.axes.omega, place.v
            X.append(self.pose(place))
            pairs = zip(self.partials(omega), self.partials(v), strict=True)
            V.append([times(R, o) + times(R_v, w) for o, w in pairs])
            vel.append(times(R, self.value(omega)) + times(R_v, self.value(v)))
            a = self.acceleration(v, place.v_axes.omega)
            acc.append(times(R, self.rate(omega)) + times(R_v, a))
        return {"X": X, "V": V, "vel": vel, "acc": acc}

    def sensors(self, expressions: Sequence[Any]) -> Vector:
        """Return the values of expressions in q, qdot and u."""
        return self._at.each(expressions)

    def rows(self) -> Outputs:
        parts = [part for _, part in self.system.rows]
        A = [list(row) for row in zip(*self.partials(parts), strict=True)] if parts else []
        drive = [
            self._at_q(part.remainder) + weighted(self._at_q.each(part.by_rates), self.X) for part in parts
        ]
        return {
            "phi": self.at_q([phi for phi, _ in self.system.rows]),
            "A": A,
            "b": [-value for value in drive],
            "s": self.rate(parts),
        }


def weighted(a: Vector, b: Vector) -> Scalar:
    """Return a . b; empty sums are 0."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
