"""Bodies and joints of a compiled MJCF file as a tree.

A body of MuJoCo may have several joints, or a joint whose axis does not go through its origin; here a joint
has one child, whose origin lies on its axis.  So bodies without mass stand between them, named
``body:joint``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError, listed
from hapticsim.model.mjcf.naming import Names
from hapticsim.model.multibody.checks import check_moving_bodies
from hapticsim.model.multibody.joint import Body, Joint, Placement
from hapticsim.model.multibody.order import order_tree
from hapticsim.model.multibody.rotation import rotation_of
from hapticsim.model.multibody.tree import Model

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
SAME = 1e-6  # rad and m: directions of joints that differ by less
KINDS = {FREE: "free", BALL: "ball", SLIDE: "prismatic", HINGE: "revolute"}


def tree_of(path: Path, mj: Any, names: Names) -> Model:
    """Return the tree; coordinate 0 is where the file draws the robot.

    Raises
    ------
    ConfigError : the masses do not say how it accelerates.
    """
    bodies: list[Body] = []
    joints: list[Joint] = []
    for index in range(1, mj.nbody):
        _check_directions(path, mj, names, index)
        _add(mj, names, index, bodies, joints)
    ordered = order_tree(path, bodies, joints, "body {!r}".format, "joint {!r}".format)
    check_moving_bodies(path, *ordered, "body {!r}".format)
    return Model(names.model, *ordered, np.array(mj.opt.gravity))


def _check_directions(path: Path, mj: Any, names: Names, index: int) -> None:
    """Refuse joints of a body that move it the same way: between them nothing has mass.

    An armature on all of them but one would tell them apart.
    """
    first, count = int(mj.body_jntadr[index]), int(mj.body_jntnum[index])
    bare = [j for j in range(first, first + count) if not mj.dof_armature[mj.jnt_dofadr[j]] > 0.0]
    twists = []
    for j in bare:
        p, axis, kind = np.array(mj.jnt_pos[j]), np.array(mj.jnt_axis[j]), int(mj.jnt_type[j])
        for a in {HINGE: [axis], BALL: list(np.eye(3))}.get(kind, []):
            twists.append(np.concatenate([a, np.cross(p, a)]))
        if kind == SLIDE:
            twists.append(np.concatenate([np.zeros(3), axis]))
    if (twists and np.linalg.svd(np.array(twists), compute_uv=False)[-1] < SAME) or len(twists) > 6:
        raise ConfigError(
            path,
            f"body {names.bodies[index]!r}",
            f"has joints that move it the same way ({listed(names.joints[j] for j in bare)}): remove one, or "
            "give them an armature.",
        )


def _add(mj: Any, names: Names, index: int, bodies: list[Body], joints: list[Joint]) -> None:
    """Add a body with its joints, and what stands between them."""
    name, at = names.bodies[index], names.bodies[mj.body_parentid[index]]
    X_PB = Placement(rotation_of(mj.body_quat[index]), np.array(mj.body_pos[index]))
    first, count = int(mj.body_jntadr[index]), int(mj.body_jntnum[index])
    come = np.zeros(3)  # in axes of the body, where the last of its joints is
    for j in range(first, first + count):
        on = np.array(mj.jnt_pos[j]) if mj.jnt_type[j] != FREE else come
        is_last = j == first + count - 1 and not on.any()
        child = name if is_last else names.between(name, names.joints[j])
        place = X_PB @ Placement(translation=on) if j == first else Placement(translation=on - come)
        joints.append(_joint(mj, j, names.joints[j], at, child, place))
        if not is_last:
            bodies.append(Body(child))
        at, come = child, on
    if at != name:
        place = Placement(translation=-come) if count else X_PB
        joints.append(Joint(names.fixing(name), "fixed", at, name, place))
    bodies.append(_body(mj, index, name))


def _body(mj: Any, index: int, name: str) -> Body:
    R_BI = rotation_of(mj.body_iquat[index])
    inertia = R_BI @ np.diag(mj.body_inertia[index]) @ R_BI.T
    return Body(name, float(mj.body_mass[index]), np.array(mj.body_ipos[index]), 0.5 * (inertia + inertia.T))


def _joint(mj: Any, j: int, name: str, parent: str, child: str, X_PJ: Placement) -> Joint:
    kind, dof = KINDS[int(mj.jnt_type[j])], int(mj.jnt_dofadr[j])
    one = mj.jnt_type[j] in (SLIDE, HINGE)
    zero = float(mj.qpos0[mj.jnt_qposadr[j]])
    low, high = mj.jnt_range[j] - zero if one and mj.jnt_limited[j] else (-math.inf, math.inf)
    return Joint(
        name=name,
        kind=kind,
        parent=parent,
        child=child,
        X_PJ=X_PJ,
        axis_J=np.array(mj.jnt_axis[j]) if one else np.array([0.0, 0.0, 1.0]),
        damping=float(mj.dof_damping[dof]),
        coulomb=float(mj.dof_frictionloss[dof]),
        armature=0.0 if kind == "free" else float(mj.dof_armature[dof]),
        lower=float(low),
        upper=float(high),
        effort_limit=float(np.abs(mj.jnt_actfrcrange[j]).max())
        if one and mj.jnt_actfrclimited[j]
        else math.inf,
    )
