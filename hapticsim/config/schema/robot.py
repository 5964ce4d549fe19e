"""The keys of a mechanism in a config file, and the kinds of value that all sections are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hapticsim.model.constraints import NAME_LENGTH, is_constraint_name
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy


@dataclass(frozen=True)
class Words:
    """Mark of a key whose type does not say what it may be."""

    text: str


ADDRESS = r"^(ipc://.+|tcp://.+:\d+)$"

MOST_CORNERS = 64  # of a hull: each is a candidate where it may touch a plane
MOST_SIDES = MOST_CORNERS // 2  # of a cylinder or a cone
MOST_OF_GLOBE = 12  # sides of an ellipsoid, which has 62 corners then
MOST_SOLIDS = 64  # two meshes of so many make all pairs that there may be
Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Vector3 = Annotated[list[float], Field(min_length=3, max_length=3)]
Vector2 = Annotated[list[float], Field(min_length=2, max_length=2)]
Quaternion = Annotated[list[float], Field(min_length=4, max_length=4)]
PositiveVector3 = Annotated[list[Positive], Field(min_length=3, max_length=3)]
PositiveVector2 = Annotated[list[Positive], Field(min_length=2, max_length=2)]
Name = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^\P{C}+$")]  # no control characters
PathName = Annotated[str, Field(min_length=1, max_length=1000)]
Byte = Annotated[int, Field(ge=0, le=255)]
Endpoint = Annotated[str, Field(pattern=ADDRESS)]


def _switchable(name: str) -> str:
    if not is_constraint_name(name):
        raise ValueError("cannot be switched by this name")
    return name


ConstraintName = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH), AfterValidator(_switchable)]


class Section(BaseModel):
    """A mapping in the file: no unknown keys, no silent conversions, finite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Origin(Section):
    """Pose of a frame in its parent: turned by roll, pitch, yaw about fixed axes x, y, z, then moved."""

    xyz_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="position in the parent frame")
    rpy_rad: Vector3 = Field(default=[0.0, 0.0, 0.0], description="R = Rz(yaw) Ry(pitch) Rx(roll)")

    def placement(self) -> Placement:
        """The pose as a rotation and a translation."""
        return Placement(rotation_from_rpy(self.rpy_rad), np.array(self.xyz_m))


class Inertia(Section):
    """Inertia matrix about the centre of mass; xy is minus the integral of x y dm."""

    xx: float = Field(description="moment about x [kg m^2]")
    yy: float = Field(description="moment about y [kg m^2]")
    zz: float = Field(description="moment about z [kg m^2]")
    xy: float = Field(default=0.0, description="matrix element [kg m^2]")
    xz: float = Field(default=0.0, description="matrix element [kg m^2]")
    yz: float = Field(default=0.0, description="matrix element [kg m^2]")


class Inertial(Section):
    """Mass distribution of a body."""

    mass_kg: NotNegative = Field(description="mass")
    com_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="centre of mass in the inertial frame")
    inertia_kg_m2: Inertia = Field(
        default=Inertia(xx=0.0, yy=0.0, zz=0.0),
        description="about the centre of mass, axes of the inertial frame",
    )
    origin: Origin = Field(default=Origin(), description="pose of the inertial frame in the body frame")


class BodyEntry(Section):
    """A rigid body of the tree."""

    name: Name = Field(description="unique; 'world' is reserved")
    inertial: Inertial | None = Field(
        default=None, description="mass distribution; without it the body has no mass"
    )


class Limits(Section):
    """Joint limits; the ends of the range stop the joint in scenes with `joint_stops`."""

    lower_rad: float | None = Field(default=None, description="revolute")
    upper_rad: float | None = Field(default=None, description="revolute")
    effort_Nm: NotNegative | None = Field(default=None, description="revolute")
    velocity_rad_per_s: NotNegative | None = Field(default=None, description="revolute")
    lower_m: float | None = Field(default=None, description="prismatic")
    upper_m: float | None = Field(default=None, description="prismatic")
    effort_N: NotNegative | None = Field(default=None, description="prismatic")
    velocity_m_per_s: NotNegative | None = Field(default=None, description="prismatic")


class MimicEntry(Section):
    """A joint that follows another: its displacement is the multiplier times the other's, plus the offset."""

    joint: Name = Field(description="the joint it follows")
    multiplier: float = Field(default=1.0, description="ratio of the displacements, in their SI units")
    offset_rad: float | None = Field(default=None, description="where the other is at 0, revolute or helical")
    offset_m: float | None = Field(default=None, description="where the other is at 0, prismatic")


class JointEntry(Section):
    """The joint that attaches one body to its parent."""

    name: Name = Field(description="unique")
    type: Literal[
        "revolute", "continuous", "prismatic", "helical", "universal", "cylindrical", "planar", "ball",
        "free", "fixed",
    ] = Field(description="kind of motion")  # fmt: skip
    parent: Name = Field(description="body name or 'world'")
    child: Name = Field(description="body name; each body is the child of exactly one joint")
    origin: Origin = Field(default=Origin(), description="pose of the joint in the parent body")
    axis: Vector3 = Field(
        default=[0.0, 0.0, 1.0], description="axis in the joint frame, normalised when read"
    )
    axis2: Vector3 | None = Field(
        default=None, description="second axis of a universal joint, in the joint frame, fixed in the child"
    )
    pitch_m_per_rad: float | None = Field(
        default=None, description="how far a helical joint slides along its axis per angle"
    )
    damping_Nms_per_rad: NotNegative | None = Field(default=None, description="viscous damping, revolute")
    damping_Ns_per_m: NotNegative | None = Field(default=None, description="viscous damping, prismatic")
    coulomb_friction_Nm: NotNegative | None = Field(
        default=None, description="acts in scenes with `joint_friction`; revolute"
    )
    coulomb_friction_N: NotNegative | None = Field(
        default=None, description="acts in scenes with `joint_friction`; prismatic"
    )
    armature_kg_m2: NotNegative | None = Field(
        default=None, description="rotor inertia seen at the joint, revolute"
    )
    armature_kg: NotNegative | None = Field(
        default=None, description="rotor inertia seen at the joint, prismatic"
    )
    limits: Limits | None = Field(default=None, description="range, effort and speed")
    mimic: MimicEntry | None = Field(
        default=None, description="the joint has no coordinate, it follows another"
    )


class Decompose(Section):
    """A concave mesh as convex hulls, by CoACD: it touches with them all that a convex mesh may touch."""

    parts: Annotated[int, Field(ge=1, le=MOST_SOLIDS)] = Field(
        default=8, description="how many hulls there may be"
    )
    corners: Annotated[int, Field(ge=4, le=MOST_CORNERS)] = Field(
        default=32, description="how many corners each may have"
    )
    concavity: Annotated[float, Field(ge=0.01, le=1.0)] = Field(
        default=0.05, description="CoACD's threshold: how deep hollows may be that a hull fills, by the size"
    )


class Urdf(Section):
    """A robot read from a URDF: give either ``path`` or ``package``."""

    path: PathName | None = Field(default=None, description="file, relative to this config")
    package: Name | None = Field(
        default=None, description="robot of the installed package example-robot-data, e.g. panda"
    )
    fixed_base: bool = Field(
        default=True, description="false: the root link floats on a free joint 'root_joint'"
    )
    mimic: bool = Field(
        default=True, description="couple joints that mimic others; false: they move on their own"
    )
    locked: list[Name] = Field(default=[], description="joints held fixed at zero displacement")
    srdf: PathName | None = Field(
        default=None,
        description="SRDF file, relative to this config, or package://NAME/path: links whose collisions it "
        "disables are in no pair that a * makes",
    )
    collision: bool = Field(
        default=False, description="true: a shape for each collision element, named by its link"
    )
    visual: bool = Field(
        default=True, description="false: visual elements are not drawn, but shapes alone, or rods"
    )
    corners: Annotated[int, Field(ge=4, le=MOST_CORNERS)] | None = Field(
        default=None,
        description="with collision: meshes are convex hulls with at most so many corners, and cylinders "
        "have half as many sides",
    )
    decompose: Decompose | None = Field(
        default=None, description="with collision, instead of corners: each mesh is several convex hulls"
    )


class Mjcf(Section):
    """A robot read from an MJCF file, MuJoCo's format; its joints are at 0 where the file draws it."""

    path: PathName = Field(description="file, relative to this config")
    keyframe: Name | None = Field(
        default=None, description="keyframe of the file to start at; left out: where it draws the robot"
    )
    collision: bool = Field(
        default=False, description="true: a shape for each geom that may collide, named by it or its body"
    )
    visual: bool = Field(
        default=True,
        description="false: geoms that MuJoCo shows are not drawn, but shapes alone, or rods",
    )
    corners: Annotated[int, Field(ge=4, le=MOST_CORNERS)] | None = Field(
        default=None,
        description="with collision: meshes are convex hulls with at most so many corners, as ellipsoids "
        "are to others, and cylinders have half as many sides",
    )
    decompose: Decompose | None = Field(
        default=None, description="with collision, instead of corners: each mesh is several convex hulls"
    )


class MechanismEntry(Section):
    """A mechanism written in SymPy's words; the file is a program and is run."""

    path: PathName = Field(description="Python file that defines mechanism(), relative to this config")
    parameters: dict[Name, Any] = Field(
        default={}, description="keyword arguments of mechanism(): numbers, words, true or false"
    )


class Robot(Section):
    """The mechanism: ``bodies`` and ``joints``, or ``urdf`` or ``mjcf`` and more bodies, or ``mechanism``."""

    bodies: list[BodyEntry] | None = Field(default=None, description="rigid bodies")
    joints: list[JointEntry] | None = Field(default=None, description="one per body")
    urdf: Urdf | None = Field(
        default=None, description="read the tree from a URDF; bodies and joints are added to it"
    )
    mjcf: Mjcf | None = Field(
        default=None, description="read the robot from an MJCF file; bodies and joints are added to it"
    )
    mechanism: MechanismEntry | None = Field(
        default=None, description="form the equations of a mechanism by Kane's method instead"
    )
