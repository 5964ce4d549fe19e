"""A mechanism by Kane's method: names, masses and start; the sibling of a tree (protocol.py).

There is no tree: every body hangs on the world by itself.  What a scene calls a moving joint is one
generalized speed.  It has a coordinate where one has that speed as its rate, and goes by the name of the
coordinate then; otherwise it goes by its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np

from hapticsim.errors import HapticsimError
from hapticsim.mechanism import Mechanism
from hapticsim.model.constraints import Constraint, Friction, equation_rows
from hapticsim.model.multibody.columns import Column
from hapticsim.model.multibody.joint import WORLD, Body, Link, Start
from hapticsim.model.multibody.tree import no_joint


class Source(Protocol):
    """Where a mechanism can be had again; equal digests mean equal mechanisms."""

    @property
    def digest(self) -> str: ...

    @property
    def where(self) -> str: ...

    @property
    def text(self) -> str | None: ...  # of the Python file that makes it

    def mechanism(self) -> Mechanism: ...


@dataclass(frozen=True)
class Variable:
    """A coordinate or a generalized speed."""

    name: str
    unit: str  # "rad" or "m", of a speed per second


@dataclass(frozen=True)
class Rows:
    """The rows of one switchable constraint: first those of q, then those of u only."""

    name: str
    start: int  # its first row among all rows of the mechanism
    count: int
    held: bool  # at the start
    friction: tuple[float, float, float | str] | None = None  # static, kinetic, load [N] or whose force it is
    units: tuple[str, ...] = ()  # (count,) "rad" or "m": its force is a torque, or a force

    def constraint(self) -> Constraint:
        """Return it in the words of a scene."""
        friction = None
        if self.friction is not None:
            static, kinetic, normal = self.friction
            friction = (
                Friction(static, kinetic, normal=normal)
                if isinstance(normal, str)
                else Friction(static, kinetic, load=normal)
            )
        numbers = tuple(range(self.start, self.start + self.count))
        return Constraint(self.name, equation_rows(numbers, self.units), self.held, friction)


@dataclass(frozen=True)
class Speed:
    """One generalized speed, as a scene moves it: what a moving joint is to a tree."""

    name: str  # of the coordinate that has it as its rate, or its own
    coordinate: int  # where that coordinate stands in q, -1: there is none
    unit: str | None  # "rad" or "m" of the coordinate

    child = WORLD
    quaternion = None
    effort_limit = np.inf
    nu = 1

    @property
    def nq(self) -> int:
        return int(self.coordinate >= 0)

    @property
    def kind(self) -> str:
        return "a speed without a coordinate" if self.unit is None else f"a coordinate in {self.unit}"

    @property
    def title(self) -> str:
        return f"speed {self.name!r}" if self.unit is None else f"coordinate {self.name!r}"


@dataclass(frozen=True, eq=False)
class MechanismModel:
    """Names, masses and start of a mechanism; gravity is among its forces."""

    name: str
    bodies: tuple[Body, ...]
    fixed: frozenset[str] = frozenset()  # names of the bodies that never move
    coordinates: tuple[Variable, ...] = ()
    speeds: tuple[Variable, ...] = ()
    rate_of: tuple[int, ...] = ()  # (nu,) the coordinate whose rate a speed is, -1: none
    q0: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (nq,)
    u0: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (nu,)
    rows: tuple[Rows, ...] = ()
    handle: tuple[str, tuple[float, float, float]] | None = None  # body, point [m] in its frame
    sensors: tuple[str, ...] = ()  # names
    source: Any = None  # a Source

    quaternions = ()
    has_followers = False
    has_own_gravity = True

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nu(self) -> int:
        return len(self.speeds)

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(b.name for b in self.bodies)

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """None: a mechanism says no ranges."""
        return {}

    @property
    def coulomb(self) -> dict[str, float]:
        """None: a mechanism says its friction itself."""
        return {}

    @property
    def links(self) -> tuple[Link, ...]:
        return tuple(Link(WORLD, name) for name in self.body_names)

    def rigid_groups(self) -> dict[str, str]:
        return {WORLD: WORLD} | {name: WORLD if name in self.fixed else name for name in self.body_names}

    def kinematic_trees(self) -> tuple[np.ndarray, dict[str, int]]:
        """Return one tree: any two speeds may meet in the mass matrix of a mechanism."""
        trees = {name: -1 if name in self.fixed else 0 for name in self.body_names}
        return np.zeros(self.nu, np.int64), {WORLD: -1} | trees

    @property
    def moving_joints(self) -> tuple[Speed, ...]:
        """One per generalized speed, in the order of u."""
        return tuple(
            Speed(self.coordinates[i].name, i, self.coordinates[i].unit) if i >= 0 else Speed(s.name, i, None)
            for s, i in zip(self.speeds, self.rate_of, strict=True)
        )

    @property
    def speed_names(self) -> list[str]:
        return [speed.name for speed in self.moving_joints]

    @property
    def coordinate_columns(self) -> list[Column]:
        return [Column(f"[{v.name}]", v.unit, "coordinate of the mechanism") for v in self.coordinates]

    @property
    def speed_columns(self) -> list[Column]:
        return [
            Column(f"[{name}]", f"{v.unit}/s", f"generalized speed {v.name}")
            for name, v in zip(self.speed_names, self.speeds, strict=True)
        ]

    def q_slice(self, joint_name: str) -> slice:
        """Where the coordinate of a speed stands in q; empty for a speed without one."""
        speed = self.moving_joints[self.u_slice(joint_name).start]
        start = max(speed.coordinate, 0)
        return slice(start, start + speed.nq)

    def u_slice(self, joint_name: str) -> slice:
        """Where a speed stands in u."""
        for r, name in enumerate(self.speed_names):
            if isinstance(joint_name, str) and name == joint_name:
                return slice(r, r + 1)
        raise no_joint(self.name, joint_name, self.speed_names)

    @property
    def damping(self) -> np.ndarray:
        """(nu,) zeros: the forces of a mechanism are in its bias."""
        return np.zeros(self.nu)

    @property
    def row_count(self) -> int:
        """Number of rows of all constraints together."""
        return sum(rows.count for rows in self.rows)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The switchable constraints in the words of a scene."""
        return tuple(rows.constraint() for rows in self.rows)

    @property
    def program(self) -> str | None:
        return None if self.source is None else self.source.text

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        return self.q0.copy(), self.u0.copy()

    def starts(self, speed: bool) -> tuple[str, list[Start]]:
        """Return coordinates or speeds: a scene gives their starts by their own names."""
        what, variables = ("speed", self.speeds) if speed else ("coordinate", self.coordinates)
        nowhere = slice(0, 0)
        return what, [
            Start(
                v.name,
                f"{what} in {v.unit}",
                what,
                v.unit,
                nowhere if speed else slice(i, i + 1),
                slice(i, i + 1) if speed else nowhere,
            )
            for i, v in enumerate(variables)
        ]

    def random_q(self, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return start + rng.uniform(-1.0, 1.0, self.nq)

    def with_gravity(self, gravity_W: np.ndarray) -> MechanismModel:
        return self

    def as_tree(self, remedy: str) -> NoReturn:
        """Refuse a mechanism where only a tree of joints will do."""
        raise HapticsimError(f"{self.name} is a mechanism by Kane's method and no tree of joints: {remedy}")
