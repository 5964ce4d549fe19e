"""The keys of a config file: type, unit, default and meaning of each.

Every number is SI and carries its unit in the key.  Nothing here knows files or models: ``build`` makes a
``Scene`` of it, ``refusal`` turns what does not fit into a sentence, ``reference`` prints it as a page.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hapticsim.codes import MAX_EVENTS
from hapticsim.config.schema.compliance import AnyLaw
from hapticsim.config.schema.constraints import AnyConstraint
from hapticsim.config.schema.robot import (
    MOST_CORNERS,
    MOST_OF_GLOBE,
    MOST_SIDES,
    Byte,
    Decompose,
    Endpoint,
    Name,
    NotNegative,
    Origin,
    PathName,
    Positive,
    PositiveVector2,
    PositiveVector3,
    Quaternion,
    Robot,
    Section,
    Vector2,
    Vector3,
    Words,
)
from hapticsim.config.schema.settings import FromMapping
from hapticsim.model.scene import MAX_ROWS, MOST_ROWS, PLASTIC_BELOW
from hapticsim.model.settings import (
    CouplerSettings,
    JointFrictionSettings,
    LinkSettings,
    SafetySettings,
    SleepSettings,
    StopSettings,
)

LARGEST = 1e300  # a whole number beyond is none that a float can be


def _one_or_three(value: Any) -> list[float]:
    numbers = value if isinstance(value, list) else [value] * 3
    if len(numbers) != 3 or not all(
        isinstance(n, int | float) and not isinstance(n, bool) and 0.0 < n < LARGEST for n in numbers
    ):
        raise ValueError("is no scale")
    return [float(n) for n in numbers]


Scale = Annotated[
    Any, AfterValidator(_one_or_three), Words("a finite number above 0, or a list of 3 of them")
]


class ShapeEntry(Section):
    """What all shapes have.  Shapes that appear in no contact are only drawn."""

    name: Name = Field(description="unique")
    body: Name = Field(default="world", description="body that carries it, or 'world'")
    origin: Origin = Field(default=Origin(), description="pose of the shape in the body frame")
    color: Annotated[list[Byte], Field(min_length=3, max_length=3)] = Field(
        default=[150, 160, 175], description="red, green, blue, 0 to 255"
    )


class Sphere(ShapeEntry):
    """A ball about the shape's origin."""

    kind: Literal["sphere"] = Field(description="sphere")
    radius_m: Positive = Field(description="radius")


class Capsule(ShapeEntry):
    """A cylinder along z of the shape with half balls at its ends."""

    kind: Literal["capsule"] = Field(description="capsule")
    radius_m: Positive = Field(description="radius")
    length_m: Positive = Field(description="distance between the centres of the two ends")


class Cylinder(ShapeEntry):
    """A cylinder along z of the shape, with flat ends."""

    kind: Literal["cylinder"] = Field(description="cylinder")
    radius_m: Positive = Field(description="radius")
    length_m: Positive = Field(description="distance between its ends")
    sides: Annotated[int, Field(ge=3, le=MOST_SIDES)] | None = Field(
        default=None,
        description="boxes, capsules, convex meshes, cylinders, cones and ellipsoids touch it as a prism "
        "with so many sides",
    )


class Cone(ShapeEntry):
    """A cone along z of the shape, with a flat base below and its apex above; the origin is halfway up."""

    kind: Literal["cone"] = Field(description="cone")
    radius_m: Positive = Field(description="radius of the base")
    length_m: Positive = Field(description="distance from the base to the apex")
    sides: Annotated[int, Field(ge=3, le=MOST_SIDES)] | None = Field(
        default=None,
        description="boxes, capsules, convex meshes, cylinders, cones and ellipsoids touch it as a pyramid "
        "with so many sides",
    )


class Ellipsoid(ShapeEntry):
    """An ellipsoid about the shape's origin, along its axes."""

    kind: Literal["ellipsoid"] = Field(description="ellipsoid")
    radii_m: PositiveVector3 = Field(description="half axes along x, y, z")
    sides: Annotated[int, Field(ge=4, le=MOST_OF_GLOBE)] | None = Field(
        default=None,
        description="boxes, capsules, convex meshes, cylinders, cones and ellipsoids touch it as a solid "
        "with so many sides around z, and half as many bands along it",
    )


class Box(ShapeEntry):
    """A cuboid about the shape's origin."""

    kind: Literal["box"] = Field(description="box")
    half_extents_m: PositiveVector3 = Field(description="half of its length along x, y, z")


class Plane(ShapeEntry):
    """The half space below z = 0 of the shape."""

    kind: Literal["plane"] = Field(description="plane")
    drawn_half_extents_m: PositiveVector2 = Field(
        default=[1.0, 1.0], description="size of the part that is drawn"
    )


SMOOTH_WORDS = "curved between its corners, so that facets are not felt; {}: with its defaults"


class Smooth(Section):
    """A mesh curved by the normals at its corners: at most 256 triangles for one, 500 000 in all."""

    crease_deg: Annotated[float, Field(ge=0.0, le=60.0)] = Field(
        default=30.0, description="edges at which the surface turns by more stay sharp"
    )
    facet_deg: Annotated[float, Field(ge=0.25, le=10.0)] = Field(
        default=1.0, description="it is divided until neighbouring triangles turn by no more"
    )


class Texture(Section):
    """A map of heights that makes a mesh rough; it repeats along x, y and z. At most 500 000 triangles are
    made."""

    file: PathName = Field(description="NPY, CSV or grey PNG file with the heights, relative to this config")
    size_m: PositiveVector2 = Field(description="length and width of the map on the surface")
    scale: Positive = Field(default=1.0, description="metres per unit of the file")


class MeshEntry(ShapeEntry):
    """A closed surface of triangles, read from a file; its coordinates are those of the shape."""

    kind: Literal["mesh"] = Field(description="mesh")
    file: PathName = Field(description="STL, OBJ, PLY, OFF, glTF, GLB or DAE file, relative to this config")
    scale: Scale = Field(default=1.0, description="metres per unit of the file; three: along its x, y, z")
    convex: bool = Field(default=False, description="true: its convex hull, without holes and hollows")
    corners: Annotated[int, Field(ge=4, le=MOST_CORNERS)] | None = Field(
        default=None, description="with convex: how many corners the hull may have"
    )
    decompose: Decompose | None = Field(
        default=None, description="several convex hulls, to touch more than spheres; {}: with its defaults"
    )
    smooth: Smooth | None = Field(default=None, description=SMOOTH_WORDS)
    texture: Texture | None = Field(default=None, description="made rough by a map of heights")


def _rows(value: Any) -> list[list[float]]:
    rows = value if isinstance(value, list) else []
    if not rows or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        raise ValueError("is no table")
    if not all(isinstance(h, int | float) and not isinstance(h, bool) for row in rows for h in row):
        raise ValueError("is no table of numbers")
    return [[float(h) for h in row] for row in rows]


Heights = Annotated[Any, AfterValidator(_rows), Words("a list of rows with as many finite numbers each")]


class HeightFieldEntry(ShapeEntry):
    """Heights over a grid in x and y about the shape's origin, solid below; spheres may touch it."""

    kind: Literal["height_field"] = Field(description="height_field")
    file: PathName | None = Field(
        default=None, description="NPY, CSV or grey PNG file with the heights, relative to this config"
    )
    heights_m: Heights | None = Field(
        default=None, description="instead: rows of heights along x, the first at the lowest y"
    )
    size_m: PositiveVector2 = Field(description="length along x and along y, from first to last height")
    scale: Positive = Field(default=1.0, description="metres per unit of the file")
    base_m: Positive = Field(default=0.1, description="how far it is solid below its lowest height")
    smooth: Smooth | None = Field(default=None, description=SMOOTH_WORDS)


AnyShape = Annotated[
    Sphere | Capsule | Cylinder | Cone | Ellipsoid | Box | Plane | MeshEntry | HeightFieldEntry,
    Field(discriminator="kind"),
]


MOST_FRICTION = 10.0  # what is steeper than 84 degrees is no coefficient anybody measured


class ContactEntry(Section):
    """Two shapes that may touch: rigid or not, never pulling, with friction."""

    between: Annotated[list[Name], Field(min_length=2, max_length=2)] = Field(
        description="shape names: a sphere, capsule, box, cylinder, cone, ellipsoid or convex mesh, and a "
        "plane or another of these; a decomposed mesh as a convex one; or a sphere and any mesh; a * in a "
        "name stands for any letters"
    )
    restitution: Annotated[float, Field(ge=0.0, le=1.0)] = Field(
        default=0.0, description="speed after an impact by speed before it"
    )
    plastic_below_m_per_s: Annotated[float, Field(ge=1e-9, le=1.0)] = Field(
        default=PLASTIC_BELOW, description="what strikes no faster is not thrown back, so that bouncing ends"
    )
    friction: Annotated[float, Field(ge=0.0, le=MOST_FRICTION)] = Field(
        default=0.0,
        description="coefficient of Coulomb friction, of what slides; of what is rigid above 0 in scenes "
        "without constraints",
    )
    static_over_kinetic: Annotated[float, Field(ge=1.0, le=10.0)] = Field(
        default=1.0, description="coefficient of what sticks by that of what slides; with friction"
    )
    compliance: AnyLaw | None = Field(
        default=None, description="how the surfaces yield; left out: the contact is rigid"
    )
    leave_out: list[Annotated[list[Name], Field(min_length=2, max_length=2)]] = Field(
        default=[], description="pairs of shape names, also with a *, that ``between`` does not mean"
    )


class TorqueEntry(Section):
    """Torque law of a joint, held for a tick if it can: ``tau = c + gravity(q) + kp (q_ref - q) - kd u``."""

    joint: Name = Field(description="joint name, or 'all' for every joint that has no entry of its own")
    law: Literal["none", "constant", "gravity_compensation", "pd"] = Field(description="which terms apply")
    gravity_compensation: bool = Field(
        default=False, description="with law pd: add the torque that holds the weight"
    )
    constant_Nm: float | None = Field(default=None, description="c, revolute; law constant")
    constant_N: float | None = Field(default=None, description="c, prismatic; law constant")
    stiffness_Nm_per_rad: NotNegative | None = Field(default=None, description="kp, revolute; law pd")
    stiffness_N_per_m: NotNegative | None = Field(default=None, description="kp, prismatic; law pd")
    damping_Nms_per_rad: NotNegative | None = Field(
        default=None, description="kd, revolute; law pd or gravity_compensation"
    )
    damping_Ns_per_m: NotNegative | None = Field(
        default=None, description="kd, prismatic; law pd or gravity_compensation"
    )
    reference_rad: float | None = Field(
        default=None, description="q_ref, revolute; left out: the initial angle"
    )
    reference_m: float | None = Field(
        default=None, description="q_ref, prismatic; left out: the initial displacement"
    )


class HandleEntry(Section):
    """The point of the mechanism that the hand holds through the coupler."""

    body: Name | None = Field(default=None, description="a moving body")
    point_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="point in the body frame")
    site: Name | None = Field(default=None, description="instead: a site of robot.mjcf")


class UniversalStart(Section):
    """Start of a universal joint: about the axis, then about axis2."""

    angles_rad: Vector2 = Field(default=[0.0, 0.0], description="angles")
    rates_rad_per_s: Vector2 = Field(default=[0.0, 0.0], description="their rates")


class CylindricalStart(Section):
    """Start of a cylindrical joint."""

    angle_rad: float = Field(default=0.0, description="angle about the axis")
    displacement_m: float = Field(default=0.0, description="displacement along it")
    angular_velocity_rad_per_s: float = Field(default=0.0, description="about the axis")
    velocity_m_per_s: float = Field(default=0.0, description="along it")


class PlanarStart(Section):
    """Start of a planar joint, in the axes of the joint frame that span its plane."""

    xy_m: Vector2 = Field(default=[0.0, 0.0], description="position of the body's origin")
    angle_rad: float = Field(default=0.0, description="angle about the axis")
    velocity_m_per_s: Vector2 = Field(default=[0.0, 0.0], description="velocity of the body's origin")
    angular_velocity_rad_per_s: float = Field(default=0.0, description="about the axis")


class BallStart(Section):
    """Start of a ball joint, in the axes of the joint frame."""

    rpy_rad: Vector3 | None = Field(default=None, description="orientation of the body, as in an origin")
    quaternion_wxyz: Quaternion | None = Field(default=None, description="orientation, instead of rpy_rad")
    angular_velocity_rad_per_s: Vector3 = Field(default=[0.0, 0.0, 0.0], description="angular velocity")


class FreeStart(BallStart):
    """Start of a free joint, in the axes of the joint frame."""

    xyz_m: Vector3 = Field(default=[0.0, 0.0, 0.0], description="position of the body")
    velocity_m_per_s: Vector3 = Field(default=[0.0, 0.0, 0.0], description="velocity of the body's origin")


class Initial(Section):
    """Where the mechanism starts; joints left out start at zero, at rest."""

    q_rad: dict[Name, float] = Field(default={}, description="angles by joint name, revolute or helical")
    q_m: dict[Name, float] = Field(default={}, description="displacements by joint name, prismatic")
    u_rad_per_s: dict[Name, float] = Field(
        default={}, description="speeds by joint name, revolute or helical"
    )
    u_m_per_s: dict[Name, float] = Field(default={}, description="speeds by joint name, prismatic")
    universal: dict[Name, UniversalStart] = Field(default={}, description="by joint name")
    cylindrical: dict[Name, CylindricalStart] = Field(default={}, description="by joint name")
    planar: dict[Name, PlanarStart] = Field(default={}, description="by joint name")
    ball: dict[Name, BallStart] = Field(default={}, description="orientations and velocities by joint name")
    free: dict[Name, FreeStart] = Field(default={}, description="poses and velocities by joint name")


class MappingEntry(Section):
    """Device workspace to world; the device frame has X right, Y away from the user, Z up."""

    origin_m: Vector3 | None = Field(
        default=None, description="world point of the device's centre; left out: the handle at the start"
    )
    rpy_rad: Vector3 = Field(default=[0.0, 0.0, 0.0], description="device axes in the world, as in an origin")
    motion_scale: Positive = Field(default=1.0, description="metres in the world per metre of the device")
    force_scale: Positive = Field(default=1.0, description="force on the hand per force in the world")


class Device(Section):
    """The hand's end."""

    driver: Name = Field(default="scripted", description="name of an installed driver")
    emulate: Name = Field(
        default="omega_3", description="row of the device table that an emulated device takes after"
    )
    options: dict[str, Any] = Field(default={}, description="handed to the driver untouched")
    hold_to_run: Literal["engage", "first", "second", "third", "fourth"] | None = Field(
        default=None,
        description="button that must stay down for force, in a run; left out: what the driver says",
    )
    endpoint: Endpoint | None = Field(
        default=None, description="ipc:// or tcp:// address; left out: a private ipc folder"
    )


class Publish(Section):
    """What observers may subscribe to."""

    rate_Hz: Annotated[float, Field(gt=0.0, le=1000.0)] = Field(
        default=200.0, description="state messages per second"
    )
    endpoint: Endpoint | None = Field(
        default=None, description="ipc:// or tcp:// address; left out: a private ipc folder"
    )
    look_ahead_s: Annotated[float, Field(ge=0.0, le=2.0)] = Field(
        default=0.15, description="how far ahead the ghost is when there is no link; 0: no ghost"
    )


class SceneFile(Section):
    """A scene file; ``extends: other.yaml`` starts from that file: mappings merge, the last value wins."""

    name: Name = Field(description="title")
    robot: Robot = Field(description="the mechanism")
    gravity_m_per_s2: Vector3 = Field(
        default=[0.0, 0.0, -9.81],
        description="in world axes, z up; not of a mechanism file, which says its own",
    )
    shapes: list[AnyShape] = Field(default=[], description="geometry, to touch and to draw")
    contacts: list[ContactEntry] = Field(default=[], description="pairs of shapes that may touch")
    constraints: list[AnyConstraint] = Field(
        default=[], description="what ties bodies and joints to one another; may be switched"
    )
    switch_on_button: dict[Name, Name] = Field(
        default={}, description="by name of a constraint, the button of the device that switches it"
    )
    torques: list[TorqueEntry] = Field(default=[], description="torque laws of joints")
    handle: HandleEntry | None = Field(
        default=None, description="what the hand holds; left out: nothing to hold"
    )
    initial: Initial = Field(default=Initial(), description="where it starts")
    close_loops: bool = Field(
        default=False, description="start at the nearest place where the constraints are closed"
    )
    rate_Hz: Annotated[float, Field(ge=100.0, le=10000.0)] = Field(
        default=1000.0, description="ticks per second"
    )
    max_rows: Annotated[int, Field(ge=1, le=MOST_ROWS)] = Field(
        default=MAX_ROWS,
        description="rows of contacts and constraints that can be imposed at once; what a tick takes grows "
        "with the third power of those that are, of bodies that touch one another or are joined",
    )
    max_events: Annotated[int, Field(ge=1, le=MAX_EVENTS)] = Field(
        default=MAX_EVENTS,
        description="events located in a tick; at the last one contacts nearly closed are taken as resting; "
        "the fewer they are, the less time a tick may take",
    )
    contact_regime: Literal["exact", "time_stepping"] = Field(
        default="exact",
        description="exact: touches are located in time and held by embedding; time_stepping: a tick is one "
        "step with impulses, for piles of many parts",
    )
    joint_stops: Annotated[StopSettings, FromMapping()] | None = Field(
        default=None, description="the ends of the ranges of joints stop them; left out: they are shown alone"
    )
    joint_friction: Annotated[JointFrictionSettings, FromMapping()] | None = Field(
        default=None, description="Coulomb friction of joints acts; left out: it is shown alone"
    )
    sleep: Annotated[SleepSettings, FromMapping()] | None = Field(
        default=None, description="bodies that rest fall asleep; left out: none does"
    )
    mapping: MappingEntry = Field(default=MappingEntry(), description="device workspace to world")
    coupler: Annotated[CouplerSettings, FromMapping()] = Field(
        default=CouplerSettings(), description="between the device and the handle"
    )
    safety: Annotated[SafetySettings, FromMapping()] = Field(
        default=SafetySettings(), description="limits of the force output"
    )
    device: Device = Field(default=Device(), description="the hand's end")
    link: Annotated[LinkSettings, FromMapping()] | None = Field(
        default=None, description="delay between operator and remote site; left out: none"
    )
    publish: Publish = Field(default=Publish(), description="what observers get")
    duration_s: Positive | None = Field(default=None, description="how long to run; left out: until stopped")
