"""``bodies`` and ``joints`` of the ``robot:`` section to a ``Model``, alone or hanging on another robot."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from hapticsim.config.schema.robot import (
    BodyEntry,
    JointEntry,
    Limits,
)
from hapticsim.errors import Refuse
from hapticsim.model.followers import with_followers
from hapticsim.model.multibody.checks import check_inertial, check_moving_bodies
from hapticsim.model.multibody.joint import ANGULAR, LINEAR, Body, Joint, Mimic
from hapticsim.model.multibody.notes import joint_notes
from hapticsim.model.multibody.order import order_tree
from hapticsim.model.multibody.tree import Model

PARALLEL = 1e-3  # sine of the angle below which two axes count as one


def turning_or_sliding(joint: Joint) -> str | None:
    """``rad`` or ``m`` where all speeds of a joint have that unit: one damping fits them all; else None."""
    units = set(joint.units)
    return units.pop() if len(units) == 1 else None


def pick_unit(
    refuse: Refuse,
    place: tuple[str | int, ...],
    entry: Any,
    keys: tuple[str, str],
    unit: str | None,
    what: str,
    default: float = 0.0,
) -> float:
    """Return the value of the one key of two that fits the motion, refusing the key of the other unit.

    keys : the key for turning, the key for sliding.
    unit : of ``Joint.unit``.
    what : how the sentence names the joint, e.g. ``revolute joint 'elbow'``.
    """
    values = tuple(getattr(entry, key) for key in keys)
    fitting = {ANGULAR: 0, LINEAR: 1}.get(unit or "", None)
    for index, (key, value) in enumerate(zip(keys, values, strict=True)):
        if value is not None and index != fitting:
            remedy = "leave it out" if fitting is None else f"write {keys[fitting]}"
            raise refuse((*place, key), f"does not fit the {what}: {remedy}.")
    value = None if fitting is None else values[fitting]
    return default if value is None else float(value)


def tree_of(
    bodies: list[BodyEntry],
    joints: list[JointEntry],
    name: str,
    robot: Model | None,
    refuse: Refuse,
    notes: list[str],
) -> Model:
    """Return a tree of these bodies, after those of a robot if there is one: they may hang on it."""
    file = refuse(("robot",), "").file

    def body_key(body: str) -> str:
        return f"robot.bodies[{_last([b.name for b in bodies], body)}]"

    def joint_key(joint: str) -> str:
        return f"robot.joints[{_last([j.name for j in joints], joint)}]"

    if not bodies:
        raise refuse(("robot", "bodies"), "is empty: a robot needs at least one body.")
    before = robot.joints if robot else ()
    own = [_joint(j, i, refuse) for i, j in enumerate(joints)]
    new = with_followers(file, [*before, *own], joint_key)[len(before) :]
    ordered = order_tree(
        file,
        [*(robot.bodies if robot else ()), *(_body(b, i, file) for i, b in enumerate(bodies))],
        [*before, *new],
        body_key,
        joint_key,
    )
    check_moving_bodies(file, *ordered, body_key)
    notes.extend(joint_notes(new))
    return Model(name, *ordered) if robot is None else replace(robot, bodies=ordered[0], joints=ordered[1])


def _last(names: list[str], name: str) -> int:
    return max((i for i, n in enumerate(names) if n == name), default=0)


def _body(entry: BodyEntry, index: int, file: str) -> Body:
    inertial = entry.inertial
    if inertial is None:
        return Body(entry.name)
    X_BI = inertial.origin.placement()
    i = inertial.inertia_kg_m2
    inertia = (
        X_BI.rotation
        @ np.array([[i.xx, i.xy, i.xz], [i.xy, i.yy, i.yz], [i.xz, i.yz, i.zz]])
        @ X_BI.rotation.T
    )
    inertia = 0.5 * (inertia + inertia.T)
    com = X_BI.rotation @ np.array(inertial.com_m) + X_BI.translation
    check_inertial(file, f"robot.bodies[{index}].inertial", inertial.mass_kg, com, inertia)
    return Body(entry.name, inertial.mass_kg, com, inertia)


def _joint(entry: JointEntry, index: int, refuse: Refuse) -> Joint:
    place = ("robot", "joints", index)
    axis = _direction(entry.axis, (*place, "axis"), refuse)
    joint = Joint(entry.name, entry.type, entry.parent, entry.child, entry.origin.placement(), axis)
    joint = replace(
        joint, axis2_J=_second_axis(entry, axis, place, refuse), pitch=_pitch(entry, place, refuse)
    )
    unit, what = turning_or_sliding(joint), f"{entry.type} joint {entry.name!r}"

    def pick(angular: str, linear: str) -> float:
        return pick_unit(refuse, place, entry, (angular, linear), unit, what)

    mimic = None
    if entry.mimic is not None:
        offset = pick_unit(
            refuse, (*place, "mimic"), entry.mimic, ("offset_rad", "offset_m"), joint.unit, what
        )
        mimic = Mimic(entry.mimic.joint, entry.mimic.multiplier, offset)
    limits, bounded = entry.limits or Limits(), joint.unit

    def limit(angular: str, linear: str, default: float) -> float:
        return pick_unit(refuse, (*place, "limits"), limits, (angular, linear), bounded, what, default)

    lower, upper = limit("lower_rad", "lower_m", -math.inf), limit("upper_rad", "upper_m", math.inf)
    if lower > upper:
        raise refuse((*place, "limits"), f"has lower = {lower:g} above upper = {upper:g}: exchange them.")
    return replace(
        joint,
        damping=pick("damping_Nms_per_rad", "damping_Ns_per_m"),
        coulomb=pick("coulomb_friction_Nm", "coulomb_friction_N"),
        armature=pick("armature_kg_m2", "armature_kg"),
        mimic=mimic,
        lower=lower,
        upper=upper,
        effort_limit=limit("effort_Nm", "effort_N", math.inf),
        velocity_limit=limit("velocity_rad_per_s", "velocity_m_per_s", math.inf),
    )


def _direction(given: list[float], place: tuple[str | int, ...], refuse: Refuse) -> np.ndarray:
    axis = np.array(given)
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        raise refuse(place, f"= {given} has length zero: give it a direction such as [0, 0, 1].")
    return axis / length


def _second_axis(
    entry: JointEntry, axis: np.ndarray, place: tuple[str | int, ...], refuse: Refuse
) -> np.ndarray:
    """The second axis of a universal joint; of all others a placeholder."""
    if (entry.axis2 is None) == (entry.type == "universal"):
        remedy = "is missing: a universal joint has two" if entry.axis2 is None else "is for universal joints"
        raise refuse((*place, "axis2"), f"{remedy}: {'add it' if entry.axis2 is None else 'leave it out'}.")
    if entry.axis2 is None:
        return np.array([1.0, 0.0, 0.0])
    axis2 = _direction(entry.axis2, (*place, "axis2"), refuse)
    if float(np.linalg.norm(np.cross(axis, axis2))) < PARALLEL:
        raise refuse((*place, "axis2"), f"= {entry.axis2} is parallel to axis: give another direction.")
    return axis2


def _pitch(entry: JointEntry, place: tuple[str | int, ...], refuse: Refuse) -> float:
    """The pitch of a helical joint; of all others 0."""
    if (entry.pitch_m_per_rad is None) == (entry.type == "helical"):
        if entry.pitch_m_per_rad is None:
            raise refuse(
                (*place, "pitch_m_per_rad"), "is missing: a helical joint slides as it turns: add it."
            )
        raise refuse((*place, "pitch_m_per_rad"), "is for helical joints: leave it out.")
    return entry.pitch_m_per_rad or 0.0
