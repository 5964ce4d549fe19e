"""Every kind of joint, about any axis: against Pinocchio and the derivative of the pose, and unaligned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import poses
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import JOINT_KINDS, Body, Joint, Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.multibody.tree import Model

MOVING = [kind for kind in JOINT_KINDS if kind != "fixed"]
GRAVITY = np.array([0.3, -0.2, -9.81])


def random_body(rng: np.random.Generator, name: str) -> Body:
    box = rng.uniform(0.1, 0.5, 3)  # extents of a brick, which has a possible inertia
    mass = rng.uniform(0.5, 3.0)
    R = rotation_from_rpy(rng.uniform(-3.0, 3.0, 3))
    inertia = R @ np.diag(mass / 12.0 * (box @ box - box**2)) @ R.T
    return Body(name, mass, rng.uniform(-0.2, 0.2, 3), 0.5 * (inertia + inertia.T))


def random_joint(rng: np.random.Generator, kind: str, parent: str, child: str) -> Joint:
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    other = np.cross(axis, rng.normal(size=3))
    return Joint(
        name=f"to_{child}",
        kind=kind,
        parent=parent,
        child=child,
        X_PJ=Placement(rotation_from_rpy(rng.uniform(-3.0, 3.0, 3)), rng.uniform(-0.4, 0.4, 3)),
        axis_J=axis,
        axis2_J=other / np.linalg.norm(other),
        pitch=0.07 if kind == "helical" else 0.0,
        armature=0.0,
    )


def random_model(kinds: list[str], seed: int) -> Model:
    """A tree with one joint per kind: a chain with every third body hanging on the one before the last."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i, kind in enumerate(kinds):
        parent = "world" if i == 0 else f"b{i - 2}" if i % 3 == 2 else f"b{i - 1}"
        bodies.append(random_body(rng, f"b{i}"))
        joints.append(random_joint(rng, kind, parent, f"b{i}"))
    return Model("random", tuple(bodies), tuple(joints), GRAVITY)


def random_state(model: Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = rng.uniform(-1.5, 1.5, model.nq)
    for k in model.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, rng.normal(size=model.nu), rng.normal(size=model.nu)


def pinocchio_joint(pin: Any, joint: Joint) -> Any:
    a, b = joint.axis_J, joint.axis2_J
    if joint.kind == "planar":
        tree = moving_tree(Model("plane", (Body("b", 1.0),), (replace(joint, parent="world", child="b"),)))
        x, y = (e.joint.axis_J for e in tree.bodies[:2])
        plane = pin.JointModelComposite(pin.JointModelPrismaticUnaligned(x))
        plane.addJoint(pin.JointModelPrismaticUnaligned(y))
        return plane.addJoint(pin.JointModelRevoluteUnaligned(a))
    if joint.kind == "cylindrical":
        return pin.JointModelComposite(pin.JointModelRevoluteUnaligned(a)).addJoint(
            pin.JointModelPrismaticUnaligned(a)
        )
    return {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(a),
        "continuous": lambda: pin.JointModelRevoluteUnaligned(a),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(a),
        "helical": lambda: pin.JointModelHelicalUnaligned(a, joint.pitch),
        "universal": lambda: pin.JointModelUniversal(a, b),
        "ball": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }[joint.kind]()


def in_pinocchio(pin: Any, model: Model) -> Any:
    other = pin.Model()
    other.gravity.linear = model.gravity_W
    index = {"world": 0}
    for body, joint in zip(model.bodies, model.joints, strict=True):
        X = pin.SE3(joint.X_PJ.rotation, joint.X_PJ.translation)
        index[body.name] = other.addJoint(index[joint.parent], pinocchio_joint(pin, joint), X, joint.name)
        other.appendBodyToJoint(
            index[body.name], pin.Inertia(body.mass, body.com_B, body.inertia_com_B), pin.SE3.Identity()
        )
    return other


# From our order of coordinates and speeds to theirs.
Q_ORDER = {"free": [0, 1, 2, 4, 5, 6, 3], "ball": [1, 2, 3, 0]}
U_ORDER = {"free": [3, 4, 5, 0, 1, 2]}


def orders(model: Model) -> tuple[np.ndarray, np.ndarray]:
    q = [model.q_slice(j.name).start + k for j in model.joints for k in Q_ORDER.get(j.kind, range(j.nq))]
    u = [model.u_slice(j.name).start + k for j in model.joints for k in U_ORDER.get(j.kind, range(j.nu))]
    return np.array(q), np.array(u)


@pytest.mark.parametrize(
    "kinds",
    [[k] for k in MOVING] + [[k, "revolute", k, "prismatic"] for k in MOVING] + [MOVING, MOVING[::-1]],
    ids="-".join,
)
def test_every_kind_agrees_with_pinocchio(kinds):
    pin = pytest.importorskip("pinocchio")
    model = random_model(kinds, seed=len(kinds))
    other, rng = in_pinocchio(pin, model), np.random.default_rng(1)
    data, (iq, iu) = other.createData(), orders(model)
    tree = moving_tree(model)
    for _ in range(5):
        q, u, tau = random_state(model, rng)
        link = Linkage(tree, q.tolist())
        their_q, their_u = q[iq], u[iu]
        udot = np.array(recursions.forward_dynamics(link, u.tolist(), tau.tolist()))
        theirs = pin.aba(other, data, their_q, their_u, tau[iu])
        np.testing.assert_allclose(udot[iu], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
        bias = np.array(recursions.inverse_dynamics(link, u.tolist(), None))
        np.testing.assert_allclose(bias[iu], pin.nle(other, data, their_q, their_u), rtol=0, atol=1e-10)
        M = np.triu(pin.crba(other, data, their_q))
        M = M + np.triu(M, 1).T
        np.testing.assert_allclose(
            np.array(recursions.mass_matrix(link))[np.ix_(iu, iu)], M, rtol=0, atol=1e-11
        )
        kinetic, potential = recursions.energy(link, u.tolist())
        assert kinetic == pytest.approx(pin.computeKineticEnergy(other, data, their_q, their_u), rel=1e-11)
        assert potential == pytest.approx(pin.computePotentialEnergy(other, data, their_q), abs=1e-11)


@pytest.mark.parametrize("kind", MOVING)
def test_the_rates_of_the_coordinates_move_the_body_with_its_partial_velocities(kind):
    model = random_model([kind], seed=3)
    tree, rng, h = moving_tree(model), np.random.default_rng(2), 1e-6
    q, u, _ = random_state(model, rng)
    link = Linkage(tree, q.tolist())
    qdot = np.array(recursions.rates(link, u.tolist()))

    def pose(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        R, p = poses(Linkage(tree, q.tolist()))[-1]
        return np.array(R), np.array(p)

    (R_before, p_before), (R_after, p_after) = pose(q - h * qdot), pose(q + h * qdot)
    R, _ = pose(q)
    W = R.T @ (R_after - R_before) / (2.0 * h)
    v, _ = link.velocities(u.tolist())
    np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], v[-1][:3], atol=1e-8)
    np.testing.assert_allclose((p_after - p_before) / (2.0 * h), R @ np.array(v[-1][3:]), atol=1e-8)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "cylindrical", "planar"])
def test_frames_left_as_they_are_give_the_same_dynamics(kind):
    model = random_model([kind, "ball", kind], seed=4)
    q, u, tau = random_state(model, np.random.default_rng(5))
    turned, left = (Linkage(moving_tree(model, aligned), q.tolist()) for aligned in (True, False))
    assert any(b.axis < 0 for b in left.tree.bodies) and all(b.axis >= 0 for b in turned.tree.bodies)
    for function in (recursions.forward_dynamics, recursions.inverse_dynamics):
        np.testing.assert_allclose(
            function(left, u.tolist(), tau.tolist()), function(turned, u.tolist(), tau.tolist()), rtol=1e-9
        )
