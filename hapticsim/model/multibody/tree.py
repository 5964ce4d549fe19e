"""Kinematic tree: bodies, joints and how they hang together.

Frames: every body B has a frame fixed in it; a joint J is placed in its parent body P by ``X_PJ`` and the
child's frame coincides with the joint frame at zero displacement.  SI units; world axes have z up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hapticsim.arguments import shown
from hapticsim.errors import HapticsimError, listed, nearest

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
    coulomb: float = 0.0  # [N m] or [N]; carried, not yet acted on
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


def no_joint(model: Model, name: object) -> HapticsimError:
    """Return the refusal of a joint that is not there."""
    names = [joint.name for joint in model.joints]
    return HapticsimError(
        f"{model.name} has no joint {shown(name)}{nearest(name, names)}; it has {listed(names)}."
    )


@dataclass(frozen=True, eq=False)
class Model:
    """A tree of bodies.  Bodies and joints are ordered parents first; ``joints[i].child == bodies[i].name``.

    The generalized coordinates q and speeds u are stacked in the order of the moving joints.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    gravity_W: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))  # (3,) [m/s^2]

    @property
    def nq(self) -> int:
        """Number of generalized coordinates."""
        return sum(j.nq for j in self.joints)

    @property
    def nu(self) -> int:
        """Number of generalized speeds."""
        return sum(j.nu for j in self.joints)

    @property
    def moving_joints(self) -> tuple[Joint, ...]:
        """The joints that have coordinates."""
        return tuple(j for j in self.joints if j.nu > 0)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in their order."""
        return tuple(b.name for b in self.bodies)

    @property
    def speed_names(self) -> list[str]:
        """A name per generalized speed: that of its joint, numbered where the joint has several."""
        names: list[str] = []
        for joint in self.moving_joints:
            names += [joint.name] if joint.nu == 1 else [f"{joint.name}[{i}]" for i in range(joint.nu)]
        return names

    def q_slice(self, joint_name: str) -> slice:
        """Where the coordinates of a joint stand in q.

        Raises
        ------
        HapticsimError : there is no joint of this name.
        """
        start = 0
        for joint in self.joints:
            if isinstance(joint_name, str) and joint.name == joint_name:
                return slice(start, start + joint.nq)
            start += joint.nq
        raise no_joint(self, joint_name)

    def u_slice(self, joint_name: str) -> slice:
        """Where the speeds of a joint stand in u.

        Raises
        ------
        HapticsimError : there is no joint of this name.
        """
        start = 0
        for joint in self.joints:
            if isinstance(joint_name, str) and joint.name == joint_name:
                return slice(start, start + joint.nu)
            start += joint.nu
        raise no_joint(self, joint_name)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where each unit quaternion starts in q."""
        starts, start = [], 0
        for joint in self.joints:
            if (offset := JOINT_KINDS[joint.kind].quaternion) is not None:
                starts.append(start + offset)
            start += joint.nq
        return tuple(starts)

    @property
    def damping(self) -> np.ndarray:
        """(nu,) [N m s/rad or N s/m] viscous damping of each speed, with that of its followers."""
        total = np.zeros(self.nu)
        for joint in self.joints:
            if joint.mimic:
                total[self.u_slice(joint.mimic.joint)] += joint.mimic.multiplier**2 * joint.damping
            else:
                total[self.u_slice(joint.name)] += joint.damping
        return total

    def zero_q(self) -> np.ndarray:
        """(nq,) zero displacement: coordinates 0, quaternions 1, 0, 0, 0."""
        q = np.zeros(self.nq)
        q[list(self.quaternions)] = 1.0
        return q
