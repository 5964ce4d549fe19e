"""The keys of constraints in a config file: loops, gears, locks, rolling, guides, prescribed motion."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hapticsim.config.schema.robot import (
    ConstraintName,
    Name,
    NotNegative,
    Origin,
    Positive,
    Section,
    Vector3,
)

Bodies = Annotated[list[Name], Field(min_length=2, max_length=2)]
Direction = Vector3


class FrictionEntry(Section):
    """What lets a constraint with one row slip: it holds up to ``static`` times the normal force."""

    static: NotNegative = Field(description="coefficient up to which it sticks")
    kinetic: NotNegative = Field(description="coefficient of the friction once it slips")
    normal_N: NotNegative | None = Field(default=None, description="normal force, if it is constant")
    normal: Name | None = Field(
        default=None, description="constraint above this one, of one row, whose force is the normal force"
    )


class ConstraintEntry(Section):
    """What all constraints have."""

    name: ConstraintName = Field(description="unique; it is switched by this name")
    held: bool = Field(default=True, description="whether it holds at the start")
    friction: FrictionEntry | None = Field(
        default=None,
        description="lets it slip; for constraints of one row; left out: it holds whatever comes",
    )
    break_N: Positive | None = Field(
        default=None, description="force (or torque) beyond which it breaks and stays free; one row only"
    )
    engage_on_touch: Bodies | None = Field(
        default=None, description="two shapes whose contact switches it on"
    )


class TwoPoints(ConstraintEntry):
    """A point of one body and a point of another."""

    bodies: Bodies = Field(description="two bodies, one of them may be 'world'")
    point_a_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the first")
    point_b_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the second")


class PointConstraint(TwoPoints):
    """A point of one body stays at a point of another: a loop closed by a ball joint."""

    kind: Literal["point"] = Field(description="point")


class HingeConstraint(TwoPoints):
    """A point and an axis in common: a loop closed by a hinge."""

    kind: Literal["hinge"] = Field(description="hinge")
    axis_a: Direction = Field(default=[0.0, 0.0, 1.0], description="in the frame of the first")
    axis_b: Direction = Field(default=[0.0, 0.0, 1.0], description="in the frame of the second")


class WeldConstraint(ConstraintEntry):
    """Two frames coincide."""

    kind: Literal["weld"] = Field(description="weld")
    bodies: Bodies = Field(description="two bodies, one of them may be 'world'")
    origin_a: Origin = Field(default=Origin(), description="frame in the first body")
    origin_b: Origin = Field(default=Origin(), description="frame in the second body")


class DistanceConstraint(TwoPoints):
    """Two points keep their distance: a rod with ball joints at its ends."""

    kind: Literal["distance"] = Field(description="distance")
    distance_m: Positive = Field(description="between the points")


class PlaneGuide(TwoPoints):
    """A point of the first body stays in a plane of the second: a tool guide."""

    kind: Literal["plane"] = Field(description="plane")
    normal_b: Direction = Field(default=[0.0, 0.0, 1.0], description="of the plane through point_b_m")


class LineGuide(TwoPoints):
    """A point of the first body stays on a line of the second."""

    kind: Literal["line"] = Field(description="line")
    direction_b: Direction = Field(description="of the line through point_b_m")


class CircleGuide(TwoPoints):
    """A point of the first body stays on a circle of the second, about point_b_m."""

    kind: Literal["circle"] = Field(description="circle")
    normal_b: Direction = Field(default=[0.0, 0.0, 1.0], description="of the plane of the circle")
    radius_m: Positive = Field(description="radius")


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


class GearConstraint(ConstraintEntry):
    """Displacements of joints, times factors, keep their sum: a gear (two joints), a differential (three)."""

    kind: Literal["gear"] = Field(description="gear")
    factors: dict[Name, float] = Field(description="factor of each joint's displacement")
    offset: float | None = Field(
        default=None, description="the sum [rad or m]; left out: what it is when switched on"
    )


class LockConstraint(ConstraintEntry):
    """Joints stay where they are when it is switched on: a lock, a latch, a brake."""

    kind: Literal["lock"] = Field(description="lock")
    joints: Annotated[list[Name], Field(min_length=1)] = Field(description="joints with one coordinate")


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


class WheelConstraint(ConstraintEntry):
    """A point of the first body does not move sideways: a wheel that does not slip, a blade."""

    kind: Literal["wheel"] = Field(description="wheel")
    bodies: Bodies = Field(description="what carries it, and what it stands on")
    point_a_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="in the frame of the first")
    side_a: Direction = Field(description="the sideways direction, in the frame of the first")


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
