"""The tree that moves: fixed joints lumped into the bodies they hang on.

A URDF has a link for every camera and bolt; the recursions want one body per moving joint.  ``moving_tree``
adds the mass of every body behind a fixed joint to the body that carries it, and remembers where each
original body went.

Each moving body gets a frame M with the child's origin.  M has the child's axes when the joint axis is a
coordinate axis; otherwise M is turned so that the joint axis is z of M.  The motion subspace of every joint
is therefore a coordinate direction, which is what lets the articulated-body recursion set the projected row
to an exact zero, and makes Eq. (11) of Ascher, Pai and Cloutier (1997) hold without computing the projected
pivot twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.tree import WORLD, Body, Joint, Model, Placement

# Files write pi/2 with as few as 12 digits; an entry of a rotation this close to 0 or 1 was meant to be 0 or
# 1.  Taking it so changes poses by no more than this and saves arithmetic: of forward dynamics 1 % (Talos),
# 16 % (Panda), 33 % (Kinova).
SNAP = 1e-11

_IDENTITY = Placement()


@dataclass(frozen=True, eq=False)
class MovingBody:
    """One moving joint and the rigid body behind it, in its own frame M."""

    name: str  # the body the joint moves
    joint: Joint
    parent: int  # index of the moving parent, -1 for the world
    X_PJ: Placement  # joint frame at zero displacement, in the parent's moving frame (world axes for -1)
    axis: int  # 0, 1, 2: the joint axis is this coordinate axis of M; meaningless for a free joint
    sign: float  # +1 or -1: along it or against it
    q_start: int  # first coordinate
    u_start: int  # first speed
    mass: float  # [kg]
    moment: np.ndarray  # (3,) [kg m] mass times centre of mass, axes of M
    inertia: np.ndarray  # (3, 3) [kg m^2] about the origin of M, axes of M


@dataclass(frozen=True, eq=False)
class MovingTree:
    """Moving bodies, parents first, and where the original bodies went."""

    name: str
    bodies: tuple[MovingBody, ...]
    where: dict[str, tuple[int, Placement]]  # body name -> (moving index or -1 for the world, X_MB)
    gravity_W: np.ndarray  # (3,) [m/s^2]
    nq: int
    nu: int

    def place_of(self, body: str) -> tuple[int, Placement]:
        """Return (moving index or -1, X_MB) of an original body, or of the world; refuse unknown names."""
        if body == WORLD:
            return -1, _IDENTITY
        if body not in self.where:
            raise HapticsimError(
                f"{self.name} has no body {body!r}{nearest(body, self.where)}; it has {listed(self.where)}."
            )
        return self.where[body]

    def path(self, index: int) -> list[int]:
        """Return the moving bodies from the root to ``index``, both included; empty for the world."""
        path: list[int] = []
        while index >= 0:
            path.append(index)
            index = self.bodies[index].parent
        return path[::-1]


def moving_tree(model: Model) -> MovingTree:
    """Lump the fixed joints of a model.

    Masses, first moments and inertias about the moving origin simply add.  Bodies fixed to the world keep a
    constant pose and no longer matter for the dynamics.
    """
    where: dict[str, tuple[int, Placement]] = {}
    bodies: list[MovingBody] = []
    mass: list[float] = []
    moment: list[np.ndarray] = []
    inertia: list[np.ndarray] = []
    nq = nu = 0
    for body, joint in zip(model.bodies, model.joints, strict=True):
        parent, X_MP = (-1, _IDENTITY) if joint.parent == WORLD else where[joint.parent]
        X_MJ = X_MP @ joint.X_PJ
        if joint.kind == "fixed":
            where[body.name] = (parent, _snapped(X_MJ))
            index = parent
        else:
            axis, sign, R_JM = _aligned_axis(joint)
            index = len(bodies)
            where[body.name] = (index, Placement(R_JM.T))
            X_PJ = _snapped(X_MJ @ Placement(R_JM))
            bodies.append(
                MovingBody(
                    body.name, joint, parent, X_PJ, axis, sign, nq, nu, 0.0, np.zeros(3), np.zeros((3, 3))
                )
            )
            mass.append(0.0)
            moment.append(np.zeros(3))
            inertia.append(np.zeros((3, 3)))
            nq, nu = nq + joint.nq, nu + joint.nu
        if index >= 0:
            m, h, I = _about_moving_origin(body, where[body.name][1])
            mass[index] += m
            moment[index] += h
            inertia[index] += I
    lumped = tuple(
        MovingBody(
            b.name,
            b.joint,
            b.parent,
            b.X_PJ,
            b.axis,
            b.sign,
            b.q_start,
            b.u_start,
            mass[i],
            moment[i],
            inertia[i],
        )
        for i, b in enumerate(bodies)
    )
    return MovingTree(model.name, lumped, where, np.asarray(model.gravity_W, float), nq, nu)


def _about_moving_origin(body: Body, X_MB: Placement) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass [kg], first moment [kg m] and inertia [kg m^2] about the origin of M, axes of M."""
    R = X_MB.rotation
    c = R @ body.com_B + X_MB.translation
    I = R @ body.inertia_com_B @ R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))  # parallel axes
    return body.mass, body.mass * c, 0.5 * (I + I.T)


def _aligned_axis(joint: Joint) -> tuple[int, float, np.ndarray]:
    """Return (axis, sign, R_JM): the coordinate direction of M along which the joint moves, and M in J."""
    if joint.kind == "free":
        return 2, 1.0, np.eye(3)
    a = np.asarray(joint.axis_J, float)
    a = a / np.linalg.norm(a)
    k = int(np.argmax(np.abs(a)))
    if np.all(np.abs(np.delete(a, k)) < SNAP):
        return k, float(np.sign(a[k])), np.eye(3)
    # M: z along the axis, x as square to it as the coordinate axes allow
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(a)))], a)
    x /= np.linalg.norm(x)
    return 2, 1.0, np.column_stack([x, np.cross(a, x), a])


def _snapped(X: Placement) -> Placement:
    """Return the placement with rotation entries within SNAP of 0, 1 or -1 made exact."""
    R = np.array(X.rotation, float)
    nearest_integer = np.round(R)
    R = np.where(np.abs(R - nearest_integer) < SNAP, nearest_integer, R)
    return Placement(R, np.array(X.translation, float))
