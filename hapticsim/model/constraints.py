"""Constraints on a mechanism: loop closures, gears, locked joints, rolling, tool guides, prescribed motion.

A constraint is a name, what it does at the start, and one row for every speed that it takes away.  The rows
are those of ``kernels/rows/bilateral.py``; here they are made from what people say: a hinge between two
bodies, a point that stays on a line.  ``A`` is the first body named, ``B`` the second, or the world.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from hapticsim.codes import (
    ANGLE_ROW,
    CURVE_ROW,
    DISTANCE_ROW,
    EQUATION_ROW,
    POINT_ROW,
    ROLL_ROW,
    SKATE_ROW,
    SPEEDS_ROW,
)
from hapticsim.errors import listed, nearest
from hapticsim.model.curves.curve import Curve
from hapticsim.model.multibody.joint import ANGULAR, WORLD, Placement

NAME_LENGTH = 64  # characters: as many as a request on the wire takes

ROW_WORDS = {  # as published
    POINT_ROW: "point",
    ANGLE_ROW: "angle",
    DISTANCE_ROW: "distance",
    SPEEDS_ROW: "speeds",
    ROLL_ROW: "roll",
    SKATE_ROW: "skate",
    EQUATION_ROW: "equation",
    CURVE_ROW: "curve",
}


def _none() -> np.ndarray:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class Row:
    """One row; what its kind does not use is left as it is."""

    kind: int  # codes.POINT_ROW ...
    a: str = WORLD
    b: str = WORLD
    point_a: np.ndarray = field(default_factory=_none)  # (3,) [m] in A
    point_b: np.ndarray = field(default_factory=_none)  # (3,) [m] in B
    direction_a: np.ndarray = field(default_factory=_none)  # (3,) in A; of ROLL_ROW the row's, in B
    direction_b: np.ndarray = field(default_factory=_none)  # (3,) in B; of CURVE_ROW shares of its normals
    length: float = 0.0  # [m]
    joints: tuple[tuple[str, float], ...] = ()  # of SPEEDS_ROW: joint and factor
    drive: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # speed, amplitude, rad/s, rad
    equation: int = 0
    angular: bool = False  # of EQUATION_ROW: it is about angles, and its force is a torque
    curve: Curve | None = None  # in B
    latch: bool = False  # holds the displacement found when it is switched on
    offset: float = 0.0  # [m] or [rad] displacement at which its gap is zero


@dataclass(frozen=True, eq=False)
class Friction:
    """A constraint that holds up to static * N, slips under kinetic * N; N is given or another's force."""

    static: float
    kinetic: float = 0.0  # 0: it breaks and stays free
    load: float = 1.0  # [N]
    normal: str | None = None  # constraint whose force presses
    bounded: bool = False  # impulses do not meet it: it bears no more than static * load however short


@dataclass(frozen=True, eq=False)
class Constraint:
    """Rows that hold or not, together."""

    name: str
    rows: tuple[Row, ...]
    held: bool = True
    friction: Friction | None = None  # with one row only
    touch: tuple[str, str] | None = None  # shapes whose contact switches it on


def is_constraint_name(name: object) -> bool:
    """Whether a constraint of this name can be switched over the wire: 1 to 64 printable characters."""
    return isinstance(name, str) and 1 <= len(name) <= NAME_LENGTH and name.isprintable()


def nearest_constraint(name: str, names: Collection[str]) -> str:
    """Return how the sentence ends that no constraint has this name: the nearest one, and all there are."""
    known = f"they are {listed(names)}" if names else "this scene has none"
    return f"{nearest(name, names)}: {known}."


def across(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit vectors square to a direction and to each other."""
    n = direction / np.linalg.norm(direction)
    first = np.eye(3)[int(np.argmin(np.abs(n)))]
    first = first - (first @ n) * n
    first /= np.linalg.norm(first)
    return first, np.cross(n, first)


def point_rows(a: str, point_a: np.ndarray, b: str, point_b: np.ndarray) -> tuple[Row, ...]:
    """A point of A stays at a point of B: three rows along the axes of B."""
    return tuple(Row(POINT_ROW, a, b, point_a, point_b, direction_b=axis) for axis in np.eye(3))


def plane_rows(
    a: str, point_a: np.ndarray, b: str, point_b: np.ndarray, normal_b: np.ndarray
) -> tuple[Row, ...]:
    """A point of A stays in the plane of B through a point."""
    return (Row(POINT_ROW, a, b, point_a, point_b, direction_b=normal_b / np.linalg.norm(normal_b)),)


def line_rows(
    a: str, point_a: np.ndarray, b: str, point_b: np.ndarray, direction_b: np.ndarray
) -> tuple[Row, ...]:
    """A point of A stays on the line of B through a point."""
    return tuple(Row(POINT_ROW, a, b, point_a, point_b, direction_b=n) for n in across(direction_b))


def circle_rows(
    a: str, point_a: np.ndarray, b: str, centre_b: np.ndarray, normal_b: np.ndarray, radius: float
) -> tuple[Row, ...]:
    """A point of A stays on a circle of B."""
    return (
        *plane_rows(a, point_a, b, centre_b, normal_b),
        Row(DISTANCE_ROW, a, b, point_a, centre_b, length=radius),
    )


def curve_rows(a: str, point_a: np.ndarray, b: str, curve: Curve) -> tuple[Row, ...]:
    """A point of A stays on a curve of B: a row for each of two normals."""
    return tuple(Row(CURVE_ROW, a, b, point_a, direction_b=np.eye(3)[i], curve=curve) for i in range(2))


def distance_rows(a: str, point_a: np.ndarray, b: str, point_b: np.ndarray, length: float) -> tuple[Row, ...]:
    """Two points keep their distance."""
    return (Row(DISTANCE_ROW, a, b, point_a, point_b, length=length),)


def parallel_rows(a: str, axis_a: np.ndarray, b: str, axis_b: np.ndarray) -> tuple[Row, ...]:
    """An axis of A stays parallel to an axis of B."""
    unit = axis_a / np.linalg.norm(axis_a)
    return tuple(Row(ANGLE_ROW, a, b, direction_a=unit, direction_b=n) for n in across(axis_b))


def hinge_rows(
    a: str, point_a: np.ndarray, axis_a: np.ndarray, b: str, point_b: np.ndarray, axis_b: np.ndarray
) -> tuple[Row, ...]:
    """A point and an axis in common: all that is left is to turn about it."""
    return (*point_rows(a, point_a, b, point_b), *parallel_rows(a, axis_a, b, axis_b))


def weld_rows(a: str, X_A: Placement, b: str, X_B: Placement) -> tuple[Row, ...]:
    """Two frames coincide."""
    R_A, R_B = X_A.rotation, X_B.rotation
    pairs = ((0, 1), (1, 2), (2, 0))
    turns = tuple(Row(ANGLE_ROW, a, b, direction_a=R_A[:, i], direction_b=R_B[:, j]) for i, j in pairs)
    return (*point_rows(a, X_A.translation, b, X_B.translation), *turns)


def joint_rows(factors: tuple[tuple[str, float], ...], offset: float = 0.0) -> tuple[Row, ...]:
    """Displacements of joints, times factors, add up to a constant: gears, differentials."""
    return (Row(SPEEDS_ROW, joints=factors, offset=offset),)


def lock_rows(joints: tuple[str, ...]) -> tuple[Row, ...]:
    """Joints stay where they are when this is switched on."""
    return tuple(Row(SPEEDS_ROW, joints=((name, 1.0),), latch=True) for name in joints)


def joint_frictions(coulomb: Mapping[str, float], static_over_kinetic: float) -> tuple[Constraint, ...]:
    """Joints that rub: each stays where it is by a force up to a bound, and slips against one beyond it.

    coulomb : friction of each while it moves [N m] or [N].
    """
    return tuple(
        Constraint(
            f"friction of {joint}",
            lock_rows((joint,)),
            friction=Friction(static_over_kinetic, 1.0, force, bounded=True),
        )
        for joint, force in coulomb.items()
    )


def motion_rows(
    joint: str, offset: float, speed: float, amplitude: float, angular_frequency: float, phase: float
) -> tuple[Row, ...]:
    """A joint follows offset + v t + a (sin(w t + p) - sin p)."""
    drive = (speed, amplitude, angular_frequency, phase)
    return (Row(SPEEDS_ROW, joints=((joint, 1.0),), offset=offset, drive=drive),)


def rolling_rows(
    a: str, centre_a: np.ndarray, radius: float, b: str, normal_b: np.ndarray, along: np.ndarray | None = None
) -> tuple[Row, ...]:
    """A ball of A rolls on a plane of B without slipping, in all directions or along one."""
    n = normal_b / np.linalg.norm(normal_b)
    directions = across(n) if along is None else (along / np.linalg.norm(along),)
    return tuple(
        Row(ROLL_ROW, a, b, centre_a, direction_a=t, direction_b=n, length=radius) for t in directions
    )


def skate_rows(a: str, point_a: np.ndarray, side_a: np.ndarray, b: str) -> tuple[Row, ...]:
    """A point of A does not move sideways: a blade, or a wheel that does not slip."""
    return (Row(SKATE_ROW, a, b, point_a, direction_a=side_a / np.linalg.norm(side_a)),)


def equation_rows(numbers: tuple[int, ...], units: tuple[str, ...]) -> tuple[Row, ...]:
    """Equations of the mechanism itself; units (rows,) "rad" or "m" of their gaps."""
    pairs = zip(numbers, units, strict=True)
    return tuple(Row(EQUATION_ROW, equation=n, angular=unit == ANGULAR) for n, unit in pairs)


def bodies_of(constraints: tuple[Constraint, ...]) -> set[str]:
    """Return the bodies that rows are about."""
    return {body for c in constraints for row in c.rows for body in (row.a, row.b)} - {WORLD}
