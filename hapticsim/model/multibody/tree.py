"""Kinematic tree: how bodies and joints hang together.

A tree and a mechanism by Kane's method are siblings: ``model/protocol.py`` says what a scene asks of either.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hapticsim.arguments import shown
from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.multibody.columns import Column, coordinate_columns, speed_columns
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Link, Start
from hapticsim.model.multibody.kinematic_trees import find_kinematic_trees

REACH_m = 0.5  # of a sliding joint without limits


def no_joint(model: str, name: object, names: list[str]) -> HapticsimError:
    """Return the refusal of a joint that is not there."""
    return HapticsimError(
        f"{model} has no joint {shown(name)}{nearest(name, names)}; it has {listed(names)}."
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
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Least and largest coordinate [rad] or [m] of each joint that has one, within which also those that
        follow it are in their ranges; infinite where there is no end."""
        ranges = {j.name: (j.lower, j.upper) for j in self.moving_joints if j.unit is not None}
        for joint in self.joints:
            if joint.mimic and joint.mimic.joint in ranges:
                low, high = ranges[joint.mimic.joint]
                factor, offset = joint.mimic.multiplier, joint.mimic.offset
                ends = sorted(((joint.lower - offset) / factor, (joint.upper - offset) / factor))
                ranges[joint.mimic.joint] = max(low, ends[0]), min(high, ends[1])
        return ranges

    @property
    def coulomb(self) -> dict[str, float]:
        """Coulomb friction [N m] or [N] of each joint with one coordinate that rubs, with that of those that
        follow it, by how fast they do."""
        friction = {j.name: j.coulomb for j in self.moving_joints if j.unit is not None}
        for joint in self.joints:
            if joint.mimic and joint.mimic.joint in friction:
                friction[joint.mimic.joint] += abs(joint.mimic.multiplier) * joint.coulomb
        return {name: force for name, force in friction.items() if force > 0.0}

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
        return self._place(joint_name, [joint.nq for joint in self.joints])

    def u_slice(self, joint_name: str) -> slice:
        """Where the speeds of a joint stand in u.

        Raises
        ------
        HapticsimError : there is no joint of this name.
        """
        return self._place(joint_name, [joint.nu for joint in self.joints])

    def _place(self, joint_name: str, counts: list[int]) -> slice:
        start = 0
        for joint, count in zip(self.joints, counts, strict=True):
            if isinstance(joint_name, str) and joint.name == joint_name:
                return slice(start, start + count)
            start += count
        raise no_joint(self.name, joint_name, [joint.name for joint in self.joints])

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where each unit quaternion starts in q."""
        starts, start = [], 0
        for joint in self.joints:
            if joint.quaternion is not None:
                starts.append(start + joint.quaternion)
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

    # -- what it has in common with a mechanism: model/protocol.py ---------------------------------------

    constraints = ()
    row_count = 0
    handle = None
    has_own_gravity = False
    program = None

    @property
    def links(self) -> tuple[Link, ...]:
        """Where each body hangs, in the order of the bodies."""
        return tuple(Link(j.parent, j.child, j.X_PJ.translation) for j in self.joints)

    @property
    def has_followers(self) -> bool:
        """Whether a joint follows another."""
        return any(j.mimic for j in self.joints)

    @property
    def coordinate_columns(self) -> list[Column]:
        """Name, unit and meaning of each coordinate, in the order of q."""
        return [one for joint in self.moving_joints for one in coordinate_columns(joint)]

    @property
    def speed_columns(self) -> list[Column]:
        """Name, unit and meaning of each generalized speed, in the order of u."""
        return [one for joint in self.moving_joints for one in speed_columns(joint)]

    def rigid_groups(self) -> dict[str, str]:
        """Return, for each body and the world, the body (or world) that its group goes by.

        Two bodies are rigid with each other where they have the same.
        """
        anchor = {WORLD: WORLD}
        for joint in self.joints:  # parents first
            anchor[joint.child] = anchor[joint.parent] if joint.kind == "fixed" else joint.child
        return anchor

    def kinematic_trees(self) -> tuple[np.ndarray, dict[str, int]]:
        """Return the tree of each speed, (nu,) int, and of each body, -1 for what is fixed to the world."""
        return find_kinematic_trees(self.joints)

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and u (nu,) at zero displacement, at rest."""
        return self.zero_q(), np.zeros(self.nu)

    def starts(self, speed: bool) -> tuple[str, list[Start]]:
        """Return the moving joints: a scene gives their starts by their names."""
        return "moving joint", [
            Start(j.name, f"{j.kind} joint", j.kind, j.unit, self.q_slice(j.name), self.u_slice(j.name))
            for j in self.moving_joints
        ]

    def random_q(self, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return coordinates (nq,) at random, within the limits of the joints."""
        q = start.copy()
        for joint in self.moving_joints:
            place = self.q_slice(joint.name)
            if joint.quaternion is not None:
                first = place.start + joint.quaternion
                quaternion = rng.normal(size=4)
                q[first : first + 4] = quaternion / np.linalg.norm(quaternion)
            elif joint.nq == 1 and np.isfinite(joint.lower) and np.isfinite(joint.upper):
                q[place] = rng.uniform(joint.lower, joint.upper)
            else:
                angular = joint.kind != "prismatic"
                q[place] = rng.uniform(-np.pi, np.pi, joint.nq) if angular else rng.uniform(-1, 1) * REACH_m
        return q

    def with_gravity(self, gravity_W: np.ndarray) -> Model:
        """Return the model under another gravity (3,) [m/s^2]."""
        return replace(self, gravity_W=gravity_W)

    def as_tree(self, remedy: str) -> Model:
        """Return the model itself: a mechanism is refused here."""
        return self
