"""The tree that moves: fixed joints lumped into the bodies they hang on.

A URDF has a link for every camera and bolt; the recursions want one body per moving joint.  ``moving_tree``
adds the mass of every body behind a fixed joint to the body that carries it, and remembers where each
original body went.

A joint that moves along several directions one after the other (universal, cylindrical, planar) is taken as
that many joints in a row, with nothing between them that has mass.

Each moving body gets a frame M with the child's origin.  M has the child's axes when the joint axis is a
coordinate axis; otherwise M is turned so that the joint axis is z of M.  The motion subspace of every joint
is therefore a coordinate direction, which is what lets the articulated-body recursion set the projected row
to an exact zero, and makes Eq. (11) of Ascher, Pai and Cloutier (1997) hold without computing the projected
pivot twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hapticsim.arguments import shown
from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Placement
from hapticsim.model.protocol import SceneModel

# Files write pi/2 with as few as 12 digits; an entry of a rotation this close to 0 or 1 was meant to be 0 or
# 1.  Taking it so changes poses by no more than this and saves arithmetic: of forward dynamics 1 % (Talos),
# 16 % (Panda), 33 % (Kinova).
SNAP = 1e-11

_IDENTITY = Placement()


@dataclass(frozen=True, eq=False)
class MovingBody:
    """One moving joint and the rigid body behind it, in its own frame M."""

    name: str  # the body the joint moves
    joint: Joint  # of one of the kinds in equations/tree/joints.py
    parent: int  # index of the moving parent, -1 for the world
    X_PJ: Placement  # joint frame at zero displacement, in the parent's moving frame (world axes for -1)
    axis: int  # 0, 1, 2: the joint axis is this coordinate axis of M, or -1: it is none; see direction_M
    sign: float  # +1 or -1: along it or against it
    direction_M: np.ndarray  # (3,) unit, the joint axis; meaningless for ball and free joints
    q_start: int  # first coordinate; of a joint that follows another, that of the other
    u_start: int  # first speed
    ratio: float  # displacement = ratio q + offset; 1 and 0 unless the joint follows another
    offset: float  # [rad] or [m]
    mass: float  # [kg]
    com: np.ndarray  # (3,) [m] centre of mass from the origin of M, axes of M; 0 without mass
    central_inertia: np.ndarray  # (3, 3) [kg m^2] about the centre of mass, axes of M


@dataclass(frozen=True, eq=False)
class MovingTree:
    """Moving bodies, parents first, and where the original bodies went."""

    name: str
    bodies: tuple[MovingBody, ...]
    where: dict[str, tuple[int, Placement]]  # body name -> (moving index or -1 for the world, X_MB)
    gravity_W: np.ndarray  # (3,) [m/s^2]
    nq: int
    nu: int
    quaternions: tuple[int, ...]  # where each unit quaternion starts in q
    has_followers: bool  # some joint follows another: several bodies share a speed

    def place_of(self, body: str) -> tuple[int, Placement]:
        """Return (moving index or -1, X_MB) of an original body, or of the world; refuse unknown names."""
        if isinstance(body, str) and body == WORLD:
            return -1, _IDENTITY
        if not isinstance(body, str) or body not in self.where:
            raise HapticsimError(
                f"{self.name} has no body {shown(body)}{nearest(body, self.where)}; "
                f"it has {listed(self.where)}."
            )
        return self.where[body]

    def path(self, index: int) -> list[int]:
        """Return the moving bodies from the root to ``index``, both included; empty for the world."""
        path: list[int] = []
        while index >= 0:
            path.append(index)
            index = self.bodies[index].parent
        return path[::-1]


def moving_tree(model: SceneModel, aligned: bool = True) -> MovingTree:
    """Lump the fixed joints of a model.

    aligned : turn the frames M along the joint axes; False keeps the child's axes, for studies of what that
        costs.

    Inertias are kept about the centre of mass, where a mass point has none: about another point they are
    differences of large numbers.  Bodies fixed to the world keep a constant pose and no longer matter for the
    dynamics.

    Raises
    ------
    HapticsimError : a mechanism by Kane's method.
    """
    model = model.as_tree("make its equations with compile_mechanism.")
    where: dict[str, tuple[int, Placement]] = {}
    bodies: list[MovingBody] = []
    parts: list[list[tuple[Body, Placement]]] = []
    nq = nu = 0
    for body, joint in zip(model.bodies, model.joints, strict=True):
        parent, X_MP = (-1, _IDENTITY) if joint.parent == WORLD else where[joint.parent]
        X_MJ = X_MP @ joint.X_PJ
        if joint.kind == "fixed":
            where[body.name] = (parent, _snapped(X_MJ))
            index = parent
        else:
            index = parent
            for element in _elements(joint):
                axis, sign, R_JM = _frame_along(element, aligned)
                mimic = joint.mimic
                bodies.append(
                    MovingBody(
                        name=body.name,
                        joint=element,
                        parent=index,
                        X_PJ=_snapped(X_MJ @ Placement(R_JM)),
                        axis=axis,
                        sign=sign,
                        direction_M=R_JM.T @ element.axis_J if axis < 0 else sign * np.eye(3)[axis],
                        q_start=model.q_slice(mimic.joint).start if mimic else nq,
                        u_start=model.u_slice(mimic.joint).start if mimic else nu,
                        ratio=mimic.multiplier if mimic else 1.0,
                        offset=mimic.offset if mimic else 0.0,
                        mass=0.0,
                        com=np.zeros(3),
                        central_inertia=np.zeros((3, 3)),
                    )
                )
                parts.append([])
                index, X_MJ = len(bodies) - 1, Placement(R_JM.T)
                nq, nu = nq + element.nq, nu + element.nu
            where[body.name] = (index, X_MJ)
        if index >= 0:
            parts[index].append((body, where[body.name][1]))
    lumped = tuple(_with_mass(b, of_it) for b, of_it in zip(bodies, parts, strict=True))
    gravity_W = np.asarray(model.gravity_W, float)
    return MovingTree(model.name, lumped, where, gravity_W, nq, nu, model.quaternions, model.has_followers)


def _elements(joint: Joint) -> list[Joint]:
    """Return the joints in a row that a joint is, all placed in the joint frame J."""
    a = joint.axis_J
    if joint.kind == "universal":
        return [replace(joint, kind="revolute"), replace(joint, kind="revolute", axis_J=joint.axis2_J)]
    if joint.kind == "cylindrical":
        return [replace(joint, kind="revolute"), replace(joint, kind="prismatic")]
    if joint.kind == "planar":
        x, y = _plane_axes(a)
        return [
            replace(joint, kind="prismatic", axis_J=x),
            replace(joint, kind="prismatic", axis_J=y),
            replace(joint, kind="revolute"),
        ]
    return [joint]


def _plane_axes(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors x and y in the plane square to a: axes x and y of J where a is its z."""
    e = np.eye(3)[0 if abs(a[0]) < 0.9 else 1]
    x = e - (e @ a) * a
    x /= np.linalg.norm(x)
    return x, np.cross(a, x)


def _square_to(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors x and y so that x, y, a are right-handed, x square to a coordinate axis."""
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(a)))], a)
    x /= np.linalg.norm(x)
    return x, np.cross(a, x)


def _with_mass(moving: MovingBody, parts: list[tuple[Body, Placement]]) -> MovingBody:
    """Return a moving body with the mass of its parts, each given with its X_MB."""
    mass = sum((body.mass for body, _ in parts), 0.0)
    places = [X.rotation @ body.com_B + X.translation for body, X in parts]
    heavy = [(body.mass, p) for (body, _), p in zip(parts, places, strict=True) if body.mass > 0.0]
    com = np.zeros(3)
    if len(heavy) == 1:
        com = heavy[0][1]
    elif heavy:
        com = sum(m * p for m, p in heavy) / mass
    I = np.zeros((3, 3))
    for (body, X), p in zip(parts, places, strict=True):
        d = p - com
        I += X.rotation @ body.inertia_com_B @ X.rotation.T + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return replace(moving, mass=mass, com=com, central_inertia=0.5 * (I + I.T))


def _frame_along(joint: Joint, aligned: bool) -> tuple[int, float, np.ndarray]:
    """Return (axis, sign, R_JM): the coordinate direction of M along which the joint moves, and M in J."""
    if joint.kind in ("ball", "free"):
        return 2, 1.0, np.eye(3)
    a = np.asarray(joint.axis_J, float)
    a = a / np.linalg.norm(a)
    k = int(np.argmax(np.abs(a)))
    if np.all(np.abs(np.delete(a, k)) < SNAP):
        return k, float(np.sign(a[k])), np.eye(3)
    if not aligned and joint.kind != "helical":
        return -1, 1.0, np.eye(3)
    return 2, 1.0, np.column_stack([*_square_to(a), a])


def _snapped(X: Placement) -> Placement:
    """Return the placement with rotation entries within SNAP of 0, 1 or -1 made exact."""
    R = np.array(X.rotation, float)
    nearest_integer = np.round(R)
    R = np.where(np.abs(R - nearest_integer) < SNAP, nearest_integer, R)
    return Placement(R, np.array(X.translation, float))
