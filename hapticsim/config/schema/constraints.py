"""Every kind of constraint in a config file: its keys, and the rows that it makes of them.

A new kind is a class and a line in ``AnyConstraint``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from hapticsim.config.row_maker import RowMaker
from hapticsim.config.schema.constraint_entry import Bodies, ConstraintEntry
from hapticsim.config.schema.robot import Name, NotNegative, Origin, Positive, Vector3
from hapticsim.model import constraints as rows
from hapticsim.model.constraints import Row
from hapticsim.model.curves.curve import smooth_curve
from hapticsim.model.curves.curve_checks import CurveFault

SQUARE = 1e-3  # cosine of the angle of two directions that still count as square to each other

Direction = Vector3


class TwoPoints(ConstraintEntry):
    """A point of one body and a point of another."""

    bodies: Bodies = Field(description="two bodies, one of them may be 'world'")
    point_a_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the first")
    point_b_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the second")


class PointConstraint(TwoPoints):
    """A point of one body stays at a point of another: a loop closed by a ball joint."""

    kind: Literal["point"] = Field(description="point")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        return rows.point_rows(a, maker.vector("point_a_m"), b, maker.vector("point_b_m"))


class HingeConstraint(TwoPoints):
    """A point and an axis in common: a loop closed by a hinge."""

    kind: Literal["hinge"] = Field(description="hinge")
    axis_a: Direction = Field(default=[0.0, 0.0, 1.0], description="in the frame of the first")
    axis_b: Direction = Field(default=[0.0, 0.0, 1.0], description="in the frame of the second")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        p_a, axis_a = maker.vector("point_a_m"), maker.direction("axis_a")
        return rows.hinge_rows(a, p_a, axis_a, b, maker.vector("point_b_m"), maker.direction("axis_b"))


class WeldConstraint(ConstraintEntry):
    """Two frames coincide."""

    kind: Literal["weld"] = Field(description="weld")
    bodies: Bodies = Field(description="two bodies, one of them may be 'world'")
    origin_a: Origin = Field(default=Origin(), description="frame in the first body")
    origin_b: Origin = Field(default=Origin(), description="frame in the second body")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        return rows.weld_rows(a, self.origin_a.placement(), b, self.origin_b.placement())


class DistanceConstraint(TwoPoints):
    """Two points keep their distance: a rod with ball joints at its ends."""

    kind: Literal["distance"] = Field(description="distance")
    distance_m: Positive = Field(description="between the points")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        p_a, p_b = maker.vector("point_a_m"), maker.vector("point_b_m")
        return rows.distance_rows(a, p_a, b, p_b, self.distance_m)


class PlaneGuide(TwoPoints):
    """A point of the first body stays in a plane of the second: a tool guide."""

    kind: Literal["plane"] = Field(description="plane")
    normal_b: Direction = Field(default=[0.0, 0.0, 1.0], description="of the plane through point_b_m")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        p_a, p_b = maker.vector("point_a_m"), maker.vector("point_b_m")
        return rows.plane_rows(a, p_a, b, p_b, maker.direction("normal_b"))


class LineGuide(TwoPoints):
    """A point of the first body stays on a line of the second."""

    kind: Literal["line"] = Field(description="line")
    direction_b: Direction = Field(description="of the line through point_b_m")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        p_a, p_b = maker.vector("point_a_m"), maker.vector("point_b_m")
        return rows.line_rows(a, p_a, b, p_b, maker.direction("direction_b"))


class CircleGuide(TwoPoints):
    """A point of the first body stays on a circle of the second, about point_b_m."""

    kind: Literal["circle"] = Field(description="circle")
    normal_b: Direction = Field(default=[0.0, 0.0, 1.0], description="of the plane of the circle")
    radius_m: Positive = Field(description="radius")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        p_a, p_b = maker.vector("point_a_m"), maker.vector("point_b_m")
        return rows.circle_rows(a, p_a, b, p_b, maker.direction("normal_b"), self.radius_m)


class CurveGuide(ConstraintEntry):
    """A point of the first body stays on a smooth curve through points of the second."""

    kind: Literal["curve"] = Field(description="curve")
    bodies: Bodies = Field(description="two bodies, one of them may be 'world'")
    point_a_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the first")
    points_b_m: list[Vector3] = Field(
        description="in the frame of the second, in order: 2 to 256, closed at least 3"
    )
    closed: bool = Field(
        default=False,
        description="whether it returns to the first point; an open one goes on along its end tangents",
    )

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        try:
            curve = smooth_curve(maker.vector("points_b_m").reshape(-1, 3), self.closed)
        except CurveFault as fault:
            where = () if fault.point is None else (fault.point,)
            raise maker.refuse(("points_b_m", *where), fault.problem) from None
        return rows.curve_rows(a, maker.vector("point_a_m"), b, curve)


class GearConstraint(ConstraintEntry):
    """Displacements of joints, times factors, keep their sum: a gear (two joints), a differential (three)."""

    kind: Literal["gear"] = Field(description="gear")
    factors: dict[Name, float] = Field(description="factor of each joint's displacement")
    offset: float | None = Field(
        default=None, description="the sum [rad or m]; left out: what it is when switched on"
    )

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        for name, factor in self.factors.items():
            maker.joint(name, "factors", name)
            if factor == 0.0:
                raise maker.refuse(
                    ("factors", name), "= 0 couples nothing: give a factor, or leave the joint out."
                )
        if len(self.factors) < 2:
            raise maker.refuse(("factors",), "couples fewer than two joints: name two or more.")
        made = rows.joint_rows(tuple(self.factors.items()), self.offset or 0.0)
        return made if self.offset is not None else _latched(made)


class LockConstraint(ConstraintEntry):
    """Joints stay where they are when it is switched on: a lock, a latch, a brake."""

    kind: Literal["lock"] = Field(description="lock")
    joints: Annotated[list[Name], Field(min_length=1)] = Field(description="joints with one coordinate")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        return rows.lock_rows(tuple(maker.joint(name, "joints", i) for i, name in enumerate(self.joints)))


class MotionConstraint(ConstraintEntry):
    """A joint follows ``offset + v t + a (sin(w t + p) - sin p)``."""

    kind: Literal["motion"] = Field(description="motion")
    joint: Name = Field(description="joint with one coordinate")
    offset: float | None = Field(
        default=None,
        description="displacement at the start [rad or m]; left out: what it is when switched on",
    )
    speed_per_s: float = Field(default=0.0, description="v [rad/s or m/s]")
    amplitude: float = Field(default=0.0, description="a [rad or m]")
    angular_frequency_rad_per_s: NotNegative = Field(default=0.0, description="w")
    phase_rad: float = Field(default=0.0, description="p")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        made = rows.motion_rows(
            maker.joint(self.joint, "joint"),
            self.offset or 0.0,
            self.speed_per_s,
            self.amplitude,
            self.angular_frequency_rad_per_s,
            self.phase_rad,
        )
        return made if self.offset is not None else _latched(made)


class RollingConstraint(ConstraintEntry):
    """A ball of the first body rolls on a plane of the second without slipping."""

    kind: Literal["rolling"] = Field(description="rolling")
    bodies: Bodies = Field(description="what rolls, and on what")
    centre_a_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="of the ball, in the frame of the first")
    radius_m: Positive = Field(description="radius of the ball")
    normal_b: Direction = Field(
        default=[0.0, 0.0, 1.0], description="of the plane, in the frame of the second"
    )
    along_b: Direction | None = Field(
        default=None, description="the one direction in which it does not slip; left out: all"
    )

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        along = None if self.along_b is None else maker.direction("along_b")
        normal = maker.direction("normal_b")
        if along is not None:
            lengths = np.linalg.norm(along) * np.linalg.norm(normal)
            if abs(along @ normal) > SQUARE * lengths:
                raise maker.refuse(
                    ("along_b",),
                    f"= {along.tolist()} is not square to normal_b = {normal.tolist()}: give a direction in "
                    "the plane.",
                )
        return rows.rolling_rows(a, maker.vector("centre_a_m"), self.radius_m, b, normal, along)


class WheelConstraint(ConstraintEntry):
    """A point of the first body does not move sideways: a wheel that does not slip, a blade."""

    kind: Literal["wheel"] = Field(description="wheel")
    bodies: Bodies = Field(description="what carries it, and what it stands on")
    point_a_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the first")
    side_a: Direction = Field(description="the sideways direction, in the frame of the first")

    def rows(self, maker: RowMaker) -> tuple[Row, ...]:
        a, b = maker.bodies()
        return rows.skate_rows(a, maker.vector("point_a_m"), maker.direction("side_a"), b)


def _latched(made: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows, holding the displacement they find when they are switched on."""
    return tuple(Row(row.kind, joints=row.joints, drive=row.drive, latch=True) for row in made)


AnyConstraint = Annotated[
    PointConstraint
    | HingeConstraint
    | WeldConstraint
    | DistanceConstraint
    | PlaneGuide
    | LineGuide
    | CircleGuide
    | CurveGuide
    | GearConstraint
    | LockConstraint
    | MotionConstraint
    | RollingConstraint
    | WheelConstraint,
    Field(discriminator="kind"),
]
