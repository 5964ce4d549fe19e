"""From a mechanism in SymPy's words to what Kane's equations are made of.

Kane and Levinson, Dynamics (1985), chapters 2 to 4; Gillespie, Haptics-e 3(2) (2003), Eqs. (2), (3), (23),
(29).  Nothing is multiplied out here.  Every angular velocity and velocity is written as three measure
numbers in axes in which they are short, their partial derivatives are taken, and ``motion.py`` does
the arithmetic on values: so that generated code shares what can be shared, and SymPy's time does not grow
with products of long expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy
from sympy.physics.vector import Vector as PhysicsVector

from hapticsim.equations.kane.kinematical import solve_for_rates
from hapticsim.equations.kane.parts import Affine, Axes, Expression, Load, Mass, Place, Variables
from hapticsim.equations.kane.sensors import sensor_expressions
from hapticsim.equations.kane.symbolic import FUNCTIONS, unsupported
from hapticsim.errors import ConfigError
from hapticsim.mechanism import Mechanism, Switchable

Refuse = Callable[[str, str], ConfigError]
"""From a place in the mechanism and the rest of the sentence to the refusal that names its file."""


class System:
    """The quantities of one mechanism as expressions in plain symbols.

    mechanism : from the user.
    where : its file, for refusals.

    Raises
    ------
    ConfigError : what in the mechanism cannot be used, and what to do about it.
    """

    def __init__(self, mechanism: Mechanism, where: str) -> None:
        self.mechanism, self.where = mechanism, where
        self.nq, self.nu = len(mechanism.coordinates), len(mechanism.speeds)
        self.x = Variables(
            *(
                tuple(sympy.Symbol(f"{letter}[{i}]") for i in range(n))
                for letter, n in (("q", self.nq), ("qdot", self.nq), ("u", self.nu))
            )
        )
        self._plain = _plain_names(mechanism, self.x)
        self.parameters = {sympy.sympify(k): float(v) for k, v in mechanism.parameters.items()}
        self._allowed = {*self.parameters, *self.x.q, *self.x.rates, *self.x.u}
        self._axes: dict[Any, Axes] = {}
        # qdot_j = rates[j] = sum_r W[j][r] u_r + X[j]  (2)
        kinematics = [self.scalar(e, f"kinematics[{i}]") for i, e in enumerate(mechanism.kinematics)]
        solved = solve_for_rates(kinematics, self.x, self._names_of_coordinates(), self.refuse)
        self.rates = [Affine(e, self.x) for e in solved]
        self.places: dict[str, Place] = {}
        self.masses = [self._mass(body) for body in mechanism.bodies]
        for name, (point, frame) in mechanism.frames.items():
            self._add_place(name, point, frame, f"frames[{name!r}]")
        self.loads = [self._load(i, *pair) for i, pair in enumerate(mechanism.forces)]
        self.potential = self._potential()
        self.rows = [row for c in mechanism.constraints for row in self._rows(c)]
        self.sensors = sensor_expressions(mechanism.sensors, self.scalar, self.refuse)

    # -- scalars and vectors ---------------------------------------------------------------------------------

    def refuse(self, key: str, problem: str) -> ConfigError:
        return ConfigError(self.where, key, problem)

    def scalar(self, expression: Any, key: str) -> Expression:
        """Return an expression in plain symbols, or refuse it; ``key`` says where it stands."""
        try:
            e = sympy.sympify(expression)
        except (sympy.SympifyError, TypeError, AttributeError):
            raise self.refuse(key, f"= {expression!r} is not an expression: give one of SymPy's.") from None
        if not isinstance(e, sympy.Expr):
            raise self.refuse(key, f"= {e} is not a scalar expression: give a component of it.")
        unknown = e.atoms(sympy.Derivative) - self._plain.keys()
        if unknown:
            raise self.refuse(
                key,
                f"contains {_first(unknown)}: only rates of coordinates may stand here, once differentiated.",
            )
        unknown = e.atoms(sympy.core.function.AppliedUndef) - self._plain.keys()
        if unknown:
            raise self.refuse(
                key,
                f"contains {_first(unknown)}, which is no coordinate and no speed: add it to one of the two "
                "lists.",
            )
        e = e.xreplace(self._plain)
        loose = e.free_symbols - self._allowed
        if sympy.physics.vector.dynamicsymbols._t in loose:
            raise self.refuse(
                key, "depends on time explicitly: make it a coordinate, or prescribe it by a constraint."
            )
        if loose:
            raise self.refuse(
                key, f"contains {_first(loose)}, which has no value: give it one in parameters."
            )
        if (part := unsupported(e)) is not None:
            raise self.refuse(key, f"contains {part}, for which there is no code: there are {FUNCTIONS}.")
        return e

    def vector(self, vector: Any, frame: Any, key: str) -> list[Expression]:
        """Return the three measure numbers of a vector in the axes of a frame."""
        if not isinstance(vector, PhysicsVector) and vector != 0:
            raise self.refuse(key, f"= {vector!r} is not a vector: give one of sympy.physics.vector.")
        if vector == 0:
            return [sympy.S.Zero] * 3
        try:
            return [self.scalar(e, key) for e in vector.to_matrix(frame)]
        except ValueError:
            raise self.refuse(
                key, f"uses a frame that is not connected to {frame}: orient it, directly or through others."
            ) from None

    def axes(self, frame: Any, key: str) -> Axes:
        """Return a frame's orientation and angular velocity."""
        if frame not in self._axes:
            world = self.mechanism.frame
            try:
                R, omega = world.dcm(frame), frame.ang_vel_in(world)
            except (ValueError, AttributeError):
                raise self.refuse(
                    key, f"has the frame {frame}, which is not connected to {world}: orient it."
                ) from None
            self._axes[frame] = Axes(
                frame,
                [[self.scalar(R[i, j], key) for j in range(3)] for i in range(3)],
                self.affine(self.vector(omega, frame, key), key),
            )
        return self._axes[frame]

    def affine(self, expressions: Iterable[Expression], key: str) -> list[Affine]:
        parts = [Affine(e, self.x) for e in expressions]
        if not all(part.is_affine for part in parts):
            raise self.refuse(key, "is not affine in the speeds: velocities must be, so define it anew.")
        return parts

    def shortest(
        self, vectors: Sequence[Any], key: str, own: Any = None
    ) -> tuple[Any, list[list[Expression]]]:
        """Return the frame among those the vectors are written in that needs the fewest operations."""
        world = self.mechanism.frame
        written = [f for v in vectors if isinstance(v, PhysicsVector) for _, f in v.args]
        frames = list(dict.fromkeys([*([own] if own else []), *written, world]))
        tried = [(f, [self.vector(v, f, key) for v in vectors]) for f in frames]
        return min(tried, key=lambda t: sum(sympy.count_ops(e) for v in t[1] for e in v))

    # -- bodies, forces, constraints -------------------------------------------------------------------------

    def velocity(self, point: Any, key: str) -> Any:
        """Return the velocity vector of a point in the world."""
        try:
            return point.vel(self.mechanism.frame)
        except (ValueError, AttributeError):
            raise self.refuse(
                key,
                f"has the point {point} without a velocity: set_vel, v2pt_theory or v1pt_theory give one.",
            ) from None

    def _add_place(self, name: str, point: Any, frame: Any, key: str) -> Place:
        if name in self.places or name == "world":
            raise self.refuse(key, f"= {name!r} is taken: names of bodies and frames must be unique.")
        axes, v = self.axes(frame, key), self.velocity(point, key)
        best, (measures,) = self.shortest([v], key, frame)
        try:
            p = point.pos_from(self.mechanism.origin)
        except ValueError:
            raise self.refuse(key, f"has the point {point}, which no position leads to: set_pos.") from None
        self.places[name] = Place(
            name,
            axes,
            self.vector(p, self.mechanism.frame, key),
            self.axes(best, key),
            self.affine(measures, key),
        )
        return self.places[name]

    def _mass(self, body: Any) -> Mass:
        key = f"bodies[{str(body.name)!r}]"
        rigid = hasattr(body, "frame")
        if rigid:
            place = self._add_place(str(body.name), body.masscenter, body.frame, key)
        else:
            place = self._add_place(str(body.name), body.point, self.mechanism.frame, key)
        inertia = None
        if rigid:
            I = sympy.simplify(body.central_inertia.to_matrix(body.frame))
            inertia = [[self.scalar(I[i, j], f"{key}.inertia") for j in range(3)] for i in range(3)]
            if any(e.free_symbols & {*self.x.q} for row in inertia for e in row):
                raise self.refuse(f"{key}.inertia", "changes in axes of the body: give it in its own frame.")
        gravity = self.mechanism.gravity
        g = self.vector(0 if gravity is None else gravity, place.v_axes.frame, "gravity")
        return Mass(place, self.scalar(body.mass, f"{key}.mass"), inertia, g)

    def _load(self, index: int, target: Any, vector: Any) -> Load:
        key = f"forces[{index}]"
        is_point = hasattr(target, "pos_from")
        motion = self.velocity(target, key) if is_point else target.ang_vel_in(self.mechanism.frame)
        _, (v, f) = self.shortest([motion, vector], key)
        return Load(self.affine(v, key), f)

    def _potential(self) -> Expression:
        m = self.mechanism
        energy = sympy.S.Zero if m.potential is None else self.scalar(m.potential, "potential")
        if m.gravity is not None:
            g = self.vector(m.gravity, m.frame, "gravity")
            if any(e.free_symbols - self.parameters.keys() for e in g):
                raise self.refuse("gravity", f"changes in axes of {m.frame}: give a vector fixed there.")
            for body in self.masses:
                energy -= body.mass * sum(a * b for a, b in zip(g, body.place.p_W, strict=True))
        return energy

    def _rows(self, constraint: Switchable) -> list[tuple[Expression, Affine]]:
        """Return (phi, its rate or what else is zero) for every row; phi is 0 for rows of motion."""
        key, rows = f"constraints[{constraint.name!r}]", []
        for e in constraint.configuration:
            phi = self.scalar(e, key)
            if phi.free_symbols & {*self.x.rates, *self.x.u}:
                raise self.refuse(key, "has speeds in a configuration constraint: write it under motion.")
            rate = sum(sympy.diff(phi, q) * v for q, v in zip(self.x.q, self.x.rates, strict=True))
            rows.append((phi, Affine(sympy.sympify(rate), self.x)))
        for e in constraint.motion:
            row = Affine(self.scalar(e, key), self.x)
            if not row.is_affine:
                raise self.refuse(
                    key, f"is not affine in the speeds ({e}): motion constraints must be A u = b (3)."
                )
            rows.append((sympy.S.Zero, row))
        return rows

    def _names_of_coordinates(self) -> list[str]:
        return [name_of(q) for q in self.mechanism.coordinates]


def name_of(symbol: Any) -> str:
    """Return the name of a dynamicsymbol or of a symbol: ``q1`` for q1(t)."""
    return str(symbol.func if getattr(symbol, "args", ()) else symbol)


def _plain_names(mechanism: Mechanism, x: Variables) -> dict[Any, Any]:
    t = sympy.physics.vector.dynamicsymbols._t
    plain = dict(zip((*mechanism.coordinates, *mechanism.speeds), (*x.q, *x.u), strict=True))
    return plain | {
        sympy.Derivative(q, t): rate for q, rate in zip(mechanism.coordinates, x.rates, strict=True)
    }


def _first(symbols: Iterable[Any]) -> str:
    return min(map(str, symbols))
