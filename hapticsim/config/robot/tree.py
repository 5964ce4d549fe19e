"""The ``robot:`` section to a ``Model``: an inline tree, a URDF by path or by name, or a mechanism file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.config.schema.robot import (
    BodyEntry,
    JointEntry,
    Limits,
    MechanismEntry,
    Robot,
    Urdf,
)
from hapticsim.errors import ConfigError, Refuse
from hapticsim.files.special_file import SPECIAL, is_special
from hapticsim.model.followers import with_followers
from hapticsim.model.library import library_path
from hapticsim.model.multibody.checks import check_inertial, check_moving_bodies
from hapticsim.model.multibody.joint import ANGULAR, LINEAR, Body, Joint, Mimic
from hapticsim.model.multibody.notes import joint_notes
from hapticsim.model.multibody.order import order_tree
from hapticsim.model.multibody.tree import Model
from hapticsim.model.protocol import SceneModel
from hapticsim.model.urdf import load_urdf

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


def build_model(entry: Robot, name: str, file: Path, refuse: Refuse, notes: list[str]) -> SceneModel:
    """Make the model that ``robot:`` describes; paths in it are relative to ``file``."""
    inline = entry.bodies is not None or entry.joints is not None
    if entry.mechanism is not None:
        if inline or entry.urdf is not None:
            raise refuse(("robot",), "has a mechanism and a tree beside it: give one of the two.")
        return _from_file(entry.mechanism, file, refuse)
    if not inline and entry.urdf is None:
        raise refuse(("robot",), "has neither bodies and joints nor a urdf: give one of the two.")
    model = None if entry.urdf is None else _from_urdf(entry.urdf, file, refuse, notes)
    if inline:
        model = _from_tree(entry.bodies or [], entry.joints or [], name, model, refuse, notes)
    assert model is not None
    if not model.moving_joints:
        raise refuse(("robot",), "has no joint that moves: give at least one a type other than fixed.")
    return model


def _from_file(entry: MechanismEntry, file: Path, refuse: Refuse) -> SceneModel:
    place = ("robot", "mechanism")
    if "\0" in entry.path:
        raise refuse((*place, "path"), f"= {entry.path!r} is not a path: remove the NUL character.")
    for name, value in entry.parameters.items():
        if not isinstance(value, bool | int | float | str) or not math.isfinite(
            value if isinstance(value, float) else 0.0
        ):
            raise refuse(
                (*place, "parameters", name),
                f"= {value!r} is not usable: write a number, a word, true or false.",
            )
    from hapticsim.equations.kane.source import load_mechanism  # numba, which nobody else needs here

    path = file.parent / entry.path
    if is_special(path):
        raise ConfigError(path, "", SPECIAL)
    return load_mechanism(path, entry.parameters)


def urdf_path(entry: Urdf, file: Path, refuse: Refuse) -> Path:
    """The file that ``robot.urdf`` names; a path in it is relative to ``file``."""
    place = ("robot", "urdf")
    if (entry.path is None) == (entry.package is None):
        raise refuse(place, "must have either a path or the name of a robot in package: give one of the two.")
    if entry.path is not None:
        if "\0" in entry.path:
            raise refuse((*place, "path"), f"= {entry.path!r} is not a path: remove the NUL character.")
        return file.parent / entry.path
    return library_path(str(entry.package), refuse((*place, "package"), "").file)


def _from_urdf(entry: Urdf, file: Path, refuse: Refuse, notes: list[str]) -> Model:
    path = urdf_path(entry, file, refuse)
    return load_urdf(path, entry.fixed_base, notes, entry.locked, entry.mimic)


def _from_tree(
    bodies: list[BodyEntry],
    joints: list[JointEntry],
    name: str,
    robot: Model | None,
    refuse: Refuse,
    notes: list[str],
) -> Model:
    """A tree of these bodies, after those of a robot if there is one: they may hang on it."""
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
    return Model(robot.name if robot else name, *ordered)


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
