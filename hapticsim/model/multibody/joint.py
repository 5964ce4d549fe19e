"""A body, a joint, and what the joints of a kind have in common.

Frames: every body B has a frame fixed in it; a joint J is placed in its parent body P by ``X_PJ`` and the
child's frame coincides with the joint frame at zero displacement.  SI units; world axes have z up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WORLD = "world"
ANGULAR, LINEAR = "rad", "m"


@dataclass(frozen=True)
class JointKind:
    """What all joints of a kind have in common."""

    nq: int  # generalized coordinates
    units: tuple[str, ...]  # of each generalized speed, per second
    quaternion: int | None = None  # where a unit quaternion (w, x, y, z) starts among the coordinates

    @property
    def nu(self) -> int:
        """Number of generalized speeds."""
        return len(self.units)


# Coordinates and speeds, in order; J is the joint frame in the parent, B the child's frame.
#   helical      angle; the body slides by pitch times it along the axis
#   universal    angle about the axis (fixed in the parent), then about axis 2 (fixed in the child)
#   cylindrical  angle about the axis and displacement along it
#   planar       two displacements square to the axis, in axes of J, then the angle about the axis
#   ball         quaternion of B in J; u is the angular velocity in axes of B
#   free         position of B in J and the quaternion; u is angular then linear velocity in axes of B
# All others have u = qdot.
JOINT_KINDS = {
    "fixed": JointKind(0, ()),
    "revolute": JointKind(1, (ANGULAR,)),
    "continuous": JointKind(1, (ANGULAR,)),
    "prismatic": JointKind(1, (LINEAR,)),
    "helical": JointKind(1, (ANGULAR,)),
    "universal": JointKind(2, (ANGULAR, ANGULAR)),
    "cylindrical": JointKind(2, (ANGULAR, LINEAR)),
    "planar": JointKind(3, (LINEAR, LINEAR, ANGULAR)),
    "ball": JointKind(4, (ANGULAR,) * 3, 0),
    "free": JointKind(7, (ANGULAR,) * 3 + (LINEAR,) * 3, 3),
}


@dataclass(frozen=True, eq=False)
class Placement:
    """Pose of frame F in frame P: ``p_P = rotation @ p_F + translation``."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))  # (3, 3) R_PF
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) [m] p_PF in axes of P

    def __matmul__(self, other: Placement) -> Placement:
        """Compose: ``X_AC = X_AB @ X_BC``."""
        return Placement(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)


@dataclass(frozen=True, eq=False)
class Body:
    """Rigid body with its mass distribution in its own frame B."""

    name: str
    mass: float = 0.0  # [kg]
    com_B: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) [m] centre of mass
    inertia_com_B: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))  # (3, 3) [kg m^2] about it


@dataclass(frozen=True)
class Mimic:
    """Displacement of a joint that follows another: ``multiplier`` times the other's, plus ``offset``."""

    joint: str  # the one followed: it has a coordinate of its own
    multiplier: float = 1.0
    offset: float = 0.0  # [rad] or [m]


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint between a parent body (or the world) and its one child body."""

    name: str
    kind: str  # a key of JOINT_KINDS
    parent: str  # body name or WORLD
    child: str  # body name
    X_PJ: Placement = field(default_factory=Placement)
    axis_J: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))  # (3,) unit
    axis2_J: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))  # (3,) unit, universal
    pitch: float = 0.0  # [m/rad] helical
    damping: float = 0.0  # [N m s/rad] or [N s/m]
    coulomb: float = 0.0  # [N m] or [N]; acts where a scene asks for it
    armature: float = 0.0  # [kg m^2] or [kg], rotor inertia seen at the joint
    lower: float = -np.inf  # [rad] or [m]
    upper: float = np.inf
    effort_limit: float = np.inf  # [N m] or [N]
    velocity_limit: float = np.inf  # [rad/s] or [m/s]
    mimic: Mimic | None = None  # kinds with one coordinate only

    @property
    def nq(self) -> int:
        """Number of generalized coordinates; none for a joint that follows another."""
        return 0 if self.mimic else JOINT_KINDS[self.kind].nq

    @property
    def nu(self) -> int:
        """Number of generalized speeds; none for a joint that follows another."""
        return 0 if self.mimic else JOINT_KINDS[self.kind].nu

    @property
    def units(self) -> tuple[str, ...]:
        """``rad`` or ``m`` of each generalized speed of its kind, per second."""
        return JOINT_KINDS[self.kind].units

    @property
    def unit(self) -> str | None:
        """``rad`` or ``m``, in which a joint with one coordinate moves; None for all others."""
        return self.units[0] if len(self.units) == 1 else None

    @property
    def quaternion(self) -> int | None:
        """Where a unit quaternion starts among its coordinates; None: it has none."""
        return JOINT_KINDS[self.kind].quaternion

    @property
    def title(self) -> str:
        """What a refusal calls it."""
        return f"{self.kind} joint {self.name!r}"


@dataclass(frozen=True)
class Link:
    """A body and what it hangs on."""

    parent: str  # body name or WORLD
    child: str  # body name
    p_P: np.ndarray = field(default_factory=lambda: np.zeros(3))  # (3,) [m] where the joint is in the parent


@dataclass(frozen=True)
class Start:
    """What the ``initial:`` section of a scene can give a start to, by name."""

    name: str
    title: str  # "revolute joint", "coordinate in rad"
    kind: str  # of a joint with several coordinates: the key of its start
    unit: str | None  # "rad" or "m" of its one coordinate or speed; None: it has several
    q: slice  # where it stands; of a speed of a mechanism nowhere
    u: slice
