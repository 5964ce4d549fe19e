"""A mechanism by Kane's method with the face of a ``Model``, so that nobody else need know the difference.

There is no tree: every body hangs on the world by itself.  A generalized speed appears as a moving joint with
one speed.  It has a coordinate where one has that speed as its rate, and goes by the coordinate's name then;
otherwise it goes by its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hapticsim.errors import HapticsimError
from hapticsim.mechanism import Mechanism
from hapticsim.model.constraints import Constraint, Friction, equation_rows
from hapticsim.model.multibody.tree import ANGULAR, WORLD, Joint, Model, no_joint


class Source(Protocol):
    """Where a mechanism can be had again; equal digests mean equal mechanisms."""

    @property
    def digest(self) -> str: ...

    @property
    def where(self) -> str: ...

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
class SpeedJoint(Joint):
    """One generalized speed; ``coordinate`` says where the coordinate stands that has it as its rate."""

    coordinate: int = -1

    @property
    def nq(self) -> int:
        return int(self.coordinate >= 0)

    @property
    def nu(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class MechanismModel(Model):
    """Names, masses and start of a mechanism.  ``gravity_W`` is not used: gravity is among its forces."""

    coordinates: tuple[Variable, ...] = ()
    speeds: tuple[Variable, ...] = ()
    rate_of: tuple[int, ...] = ()  # (nu,) the coordinate whose rate a speed is, -1: none
    q0: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (nq,)
    u0: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (nu,)
    rows: tuple[Rows, ...] = ()
    handle: tuple[str, tuple[float, float, float]] | None = None  # body, point [m] in its frame
    sensors: tuple[str, ...] = ()  # names
    source: Any = None  # a Source

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nu(self) -> int:
        return len(self.speeds)

    @property
    def moving_joints(self) -> tuple[Joint, ...]:
        """One joint per generalized speed, in the order of u."""
        return tuple(
            SpeedJoint(
                name=self.coordinates[i].name if i >= 0 else speed.name,
                # A torque law needs a joint that moves along one coordinate; without one it is refused.
                kind="cylindrical" if i < 0 else "revolute" if speed.unit == ANGULAR else "prismatic",
                parent=WORLD,
                child=WORLD,
                coordinate=i,
            )
            for speed, i in zip(self.speeds, self.rate_of, strict=True)
        )

    def q_slice(self, joint_name: str) -> slice:
        """Where the coordinate of a joint stands in q; empty for a joint without one."""
        for joint in self.moving_joints:
            if isinstance(joint_name, str) and joint.name == joint_name and isinstance(joint, SpeedJoint):
                start = max(joint.coordinate, 0)
                return slice(start, start + joint.nq)
        raise no_joint(self, joint_name)

    def u_slice(self, joint_name: str) -> slice:
        """Where the speed of a joint stands in u."""
        for r, joint in enumerate(self.moving_joints):
            if isinstance(joint_name, str) and joint.name == joint_name:
                return slice(r, r + 1)
        raise no_joint(self, joint_name)

    @property
    def quaternions(self) -> tuple[int, ...]:
        return ()

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

    def zero_q(self) -> np.ndarray:
        """(nq,) zeros."""
        return np.zeros(self.nq)


def check_tree(model: Model, remedy: str) -> None:
    """Refuse a mechanism where only a tree of joints will do; its bodies would pass for free ones.

    remedy : the end of the sentence.
    """
    if isinstance(model, MechanismModel):
        raise HapticsimError(f"{model.name} is a mechanism by Kane's method and no tree of joints: {remedy}")
