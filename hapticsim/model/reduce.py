"""A model with some of its joints held: fixed where they stand, the rest as it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.multibody.checks import check_moving_bodies
from hapticsim.model.multibody.joint import Joint, Placement
from hapticsim.model.multibody.tree import Model
from hapticsim.model.protocol import SceneModel


def lock_joints(model: SceneModel, displacements: Mapping[str, float]) -> Model:
    """Return the model with the named joints fixed at the given displacements [rad or m].

    Bodies, their order and the other joints stay; joints that follow a locked one are fixed where that puts
    them.  Joint limits are not asked.  The mass matrix of the result is that of the model at the same posture
    without the rows and columns of the locked joints.

    Raises
    ------
    HapticsimError : a name is not that of a joint with one coordinate of its own, a displacement is not a
        finite number, what is left moves something without mass, or the model is a mechanism by Kane's
        method.
    """
    model = model.as_tree("hold a coordinate with a constraint of kind 'lock' in the scene file instead.")
    lockable = [j.name for j in model.joints if j.kind in LOCKABLE and j.mimic is None]
    for name, x in displacements.items():
        if name not in lockable:
            raise HapticsimError(
                f"{model.name} {_why_not(model, name)}{nearest(name, lockable)}: "
                f"the joints that can be locked are {listed(lockable)}."
            )
        if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not math.isfinite(x):
            raise HapticsimError(
                f"{model.name}: joint {name!r} cannot be locked at {x!r}: give a finite number of rad or m."
            )

    def held(joint: Joint) -> Joint:
        if joint.name in displacements:
            return fixed_at(joint, float(displacements[joint.name]))
        mimic = joint.mimic
        if mimic is not None and mimic.joint in displacements:
            return fixed_at(joint, mimic.multiplier * float(displacements[mimic.joint]) + mimic.offset)
        return joint

    joints = tuple(held(j) for j in model.joints)
    check_moving_bodies(model.name, model.bodies, joints, "body {!r}".format)
    return replace(model, joints=joints)


def fixed_at(joint: Joint, displacement: float) -> Joint:
    """Return the fixed joint that holds the child where a joint with one coordinate does at a displacement.

    displacement : [rad or m]; at 0 the placement keeps its bits.
    """
    X_PB = joint.X_PJ
    if displacement != 0.0:
        X_PB = X_PB @ _DISPLACED[joint.kind](joint, displacement)
    return replace(joint, kind="fixed", X_PJ=X_PB, lower=-math.inf, upper=math.inf, mimic=None)


def kept_coordinates(model: Model, reduced: Model, q: np.ndarray) -> np.ndarray:
    """Return the coordinates of the reduced model (nq,) out of those of the full one."""
    kept = [q[model.q_slice(j.name)] for j in reduced.moving_joints]
    return np.concatenate([*kept, np.zeros(0)])


def kept_speeds(model: Model, reduced: Model) -> np.ndarray:
    """Return where the speeds of the reduced model stand in u of the full one: integers (nu,)."""
    kept = [np.arange(model.nu)[model.u_slice(j.name)] for j in reduced.moving_joints]
    return np.concatenate([*kept, np.zeros(0, int)])


def _why_not(model: Model, name: str) -> str:
    joint = next((j for j in model.joints if j.name == name), None)
    if joint is None:
        return f"has no joint {name!r} to lock"
    if joint.mimic is not None:
        return f"cannot lock {name!r}, which follows {joint.mimic.joint!r}"
    return f"cannot lock {name!r}, which is {joint.kind}"


def _turned(joint: Joint, angle: float) -> Placement:
    """X_JB of a body turned about the axis: Rodrigues' formula R = 1 + sin K + (1 - cos) K K."""
    x, y, z = joint.axis_J
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    versine = 2.0 * math.sin(0.5 * angle) ** 2  # 1 - cos, exact for small angles
    return Placement(np.eye(3) + math.sin(angle) * K + versine * (K @ K))


def _slid(joint: Joint, distance: float) -> Placement:
    return Placement(translation=distance * joint.axis_J)


def _screwed(joint: Joint, angle: float) -> Placement:
    return _slid(joint, joint.pitch * angle) @ _turned(joint, angle)


# How a joint with one coordinate places its child.
_DISPLACED: dict[str, Callable[[Joint, float], Placement]] = {
    "revolute": _turned,
    "continuous": _turned,
    "prismatic": _slid,
    "helical": _screwed,
}
LOCKABLE = tuple(_DISPLACED)
