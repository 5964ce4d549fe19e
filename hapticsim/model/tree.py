"""Kinematic tree: bodies, joints and how they hang together.

Frames: every body B has a frame fixed in it; a joint J is placed in its parent body P by ``X_PJ`` and the
child's frame coincides with the joint frame at zero displacement.  SI units; world axes have z up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WORLD = "world"
JOINT_KINDS = ("revolute", "continuous", "prismatic", "fixed", "free")


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


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint between a parent body (or the world) and its one child body."""

    name: str
    kind: str  # one of JOINT_KINDS
    parent: str  # body name or WORLD
    child: str  # body name
    X_PJ: Placement = field(default_factory=Placement)
    axis_J: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))  # (3,) unit
    damping: float = 0.0  # [N m s/rad] or [N s/m]
    coulomb: float = 0.0  # [N m] or [N]; carried, not yet acted on
    armature: float = 0.0  # [kg m^2] or [kg], rotor inertia seen at the joint
    lower: float = -np.inf  # [rad] or [m]
    upper: float = np.inf
    effort_limit: float = np.inf  # [N m] or [N]
    velocity_limit: float = np.inf  # [rad/s] or [m/s]

    @property
    def nq(self) -> int:
        """Number of generalized coordinates (free: position and unit quaternion w, x, y, z)."""
        return {"fixed": 0, "free": 7}.get(self.kind, 1)

    @property
    def nu(self) -> int:
        """Number of generalized speeds (free: angular then linear velocity of B, axes of B)."""
        return {"fixed": 0, "free": 6}.get(self.kind, 1)


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
        return sum(j.nq for j in self.joints)

    @property
    def nu(self) -> int:
        return sum(j.nu for j in self.joints)

    @property
    def moving_joints(self) -> tuple[Joint, ...]:
        return tuple(j for j in self.joints if j.kind != "fixed")

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(b.name for b in self.bodies)

    def q_slice(self, joint_name: str) -> slice:
        """Where the coordinates of a joint stand in q."""
        start = 0
        for joint in self.joints:
            if joint.name == joint_name:
                return slice(start, start + joint.nq)
            start += joint.nq
        raise KeyError(joint_name)

    def u_slice(self, joint_name: str) -> slice:
        """Where the speeds of a joint stand in u."""
        start = 0
        for joint in self.joints:
            if joint.name == joint_name:
                return slice(start, start + joint.nu)
            start += joint.nu
        raise KeyError(joint_name)

    def zero_q(self) -> np.ndarray:
        """(nq,) zero displacement: joints at 0, free joints at the origin with the identity quaternion."""
        q = np.zeros(self.nq)
        for joint in self.joints:
            if joint.kind == "free":
                q[self.q_slice(joint.name).start + 3] = 1.0
        return q
