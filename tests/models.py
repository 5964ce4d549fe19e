"""Small models for tests, made by hand: each has one difficulty that the others do not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hapticsim.model.multibody.joint import WORLD, Body, Joint, Placement
from hapticsim.model.multibody.tree import Model

X, Y, Z = np.eye(3)


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """(3, 3) rotation by an angle [rad] about an axis, by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, rotation: np.ndarray | None = None) -> Placement:
    """Placement at (x, y, z) [m]."""
    return Placement(np.eye(3) if rotation is None else rotation, np.array([x, y, z]))


def body(
    name: str, mass: float, com: tuple[float, float, float], moments: tuple[float, float, float]
) -> Body:
    """Body with a diagonal inertia [kg m^2] about its centre of mass."""
    return Body(name, mass, np.array(com), np.diag(moments))


def pendulum(length: float = 0.5, mass: float = 1.0, damping: float = 0.0) -> Model:
    """A point mass on a massless rod, turning about y of the world; hangs straight down at q = 0."""
    return Model(
        "pendulum",
        (body("bob", mass, (0.0, 0.0, -length), (0.0, 0.0, 0.0)),),
        (Joint("hinge", "revolute", WORLD, "bob", axis_J=Y, damping=damping),),
    )


def planar_two_link(l1: float = 0.4, l2: float = 0.3, m1: float = 1.2, m2: float = 0.7) -> Model:
    """Two uniform rods along x in the vertical x-z plane, hinges about -y so that q > 0 lifts."""

    def rod(name: str, l: float, m: float) -> Body:
        return body(name, m, (l / 2, 0.0, 0.0), (0.0, m * l * l / 12, m * l * l / 12))

    return Model(
        "planar_two_link",
        (rod("upper", l1, m1), rod("fore", l2, m2)),
        (
            Joint("shoulder", "revolute", WORLD, "upper", axis_J=-Y),
            Joint("elbow", "revolute", "upper", "fore", X_PJ=at(l1), axis_J=-Y),
        ),
    )


def free_box(mass: float = 2.0, moments: tuple[float, float, float] = (0.02, 0.03, 0.04)) -> Model:
    """A box that floats; its centre of mass is not its origin."""
    return Model(
        "free_box",
        (body("box", mass, (0.05, -0.02, 0.03), moments),),
        (Joint("float", "free", WORLD, "box"),),
    )


def branching_tree() -> Model:
    """A floating trunk with two limbs; a slide, skew axes, armature, bodies fixed to bodies and world."""
    skew = np.array([1.0, 2.0, -2.0]) / 3.0
    bodies = (
        body("post", 5.0, (0.0, 0.0, 0.5), (0.1, 0.1, 0.1)),
        body("trunk", 4.0, (0.02, 0.01, -0.1), (0.06, 0.05, 0.04)),
        body("lamp", 0.3, (0.0, 0.03, 0.0), (0.001, 0.002, 0.002)),
        body("left", 1.1, (0.1, 0.0, 0.02), (0.004, 0.006, 0.007)),
        body("tool", 0.4, (0.0, 0.02, 0.05), (0.001, 0.0015, 0.0008)),
        body("right", 0.9, (0.0, -0.1, 0.0), (0.005, 0.003, 0.004)),
        body("slider", 0.6, (0.01, 0.0, 0.04), (0.002, 0.002, 0.001)),
        body("drum", 0.5, (0.0, 0.0, 0.01), (0.0012, 0.0012, 0.002)),
        body("flag", 0.2, (0.0, 0.1, 0.0), (0.0004, 0.0001, 0.0004)),
    )
    joints = (
        Joint("post_joint", "fixed", WORLD, "post", X_PJ=at(1.0, 0.5, 0.0)),
        Joint("trunk_joint", "free", WORLD, "trunk", X_PJ=at(0.2, 0.0, 0.7, turn(Z, 0.4))),
        Joint("lamp_joint", "fixed", "trunk", "lamp", X_PJ=at(0.1, 0.0, 0.1, turn(skew, 0.8))),
        Joint("left_joint", "revolute", "lamp", "left", X_PJ=at(0.1, 0.2, 0.0, turn(X, 0.3)), axis_J=skew),
        Joint("tool_joint", "fixed", "left", "tool", X_PJ=at(0.2, 0.0, 0.0, turn(Y, -0.6))),
        Joint(
            "right_joint", "continuous", "trunk", "right", X_PJ=at(0.0, -0.2, 0.1), axis_J=-X, armature=0.01
        ),
        Joint(
            "slider_joint", "prismatic", "right", "slider", at(0.0, -0.2, 0.0, turn(Z, 1.1)), Y, armature=0.2
        ),
        Joint("drum_joint", "revolute", "slider", "drum", X_PJ=at(0.0, 0.0, 0.1, turn(X, -np.pi / 2))),
        Joint("flag_joint", "revolute", "post", "flag", X_PJ=at(0.0, 0.0, 1.0), axis_J=Z),
    )
    return Model("branching_tree", bodies, joints)


def wam() -> Model:
    """A spherical shoulder and an elbow with an offset, about the size of a Barrett WAM, and a tip."""
    up, down = turn(X, np.pi / 2), turn(X, -np.pi / 2)
    bodies = (
        body("base", 10.0, (0.0, 0.1, 0.0), (0.13, 0.11, 0.09)),
        body("shoulder", 3.9, (0.0, 0.03, 0.015), (0.021, 0.014, 0.016)),
        body("upper", 1.8, (-0.04, 0.2, 0.0), (0.059, 0.003, 0.059)),
        body("fore", 1.1, (0.01, 0.0, 0.14), (0.018, 0.019, 0.002)),
        body("tip", 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )
    joints = (
        Joint("j1", "revolute", WORLD, "base"),
        Joint("j2", "revolute", "base", "shoulder", X_PJ=at(rotation=down)),
        Joint("j3", "revolute", "shoulder", "upper", X_PJ=at(rotation=up)),
        Joint("j4", "revolute", "upper", "fore", X_PJ=at(0.045, 0.0, 0.55, down)),
        Joint("tip_joint", "fixed", "fore", "tip", X_PJ=at(-0.045, 0.35, 0.0, up)),
    )
    return Model("wam", bodies, joints)


def floating(model: Model) -> Model:
    """The same model with its first joint replaced by a free joint."""
    first = replace(model.joints[0], kind="free")
    return replace(model, name=f"floating_{model.name}", joints=(first, *model.joints[1:]))


ALL = (pendulum, planar_two_link, free_box, branching_tree, wam)


def some_state(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q (quaternions of unit length), u and tau."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.0, 1.0, model.nq)
    for joint in model.joints:
        if joint.kind == "free":
            part = q[model.q_slice(joint.name)]
            part[3:] /= np.linalg.norm(part[3:])
    return q, rng.uniform(-2.0, 2.0, model.nu), rng.uniform(-5.0, 5.0, model.nu)


def with_zeros_between_trees(model: Model, frames: Sequence[str], array: str) -> np.ndarray:
    """M or V as the functions of a tick get it: 0 between a tree and the speeds of another, else NaN."""
    of_speed, of_body = model.kinematic_trees()
    if array == "M":
        return np.where(of_speed[:, None] != of_speed[None, :], 0.0, np.nan)
    of_frame = np.array([of_body[name] for name in frames], int).reshape(-1)
    between = of_frame[:, None] != of_speed[None, :]
    return np.repeat(np.where(between, 0.0, np.nan)[:, :, None], 6, axis=2)
