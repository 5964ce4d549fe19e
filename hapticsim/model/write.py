"""Model to YAML: the text of a scene file that reads back as the same model.

Numbers are written so that reading gives the same floats.  Two of them need care, because a file does not
hold what the model holds: an orientation is written as angles, and an axis is normalised when it is read.
For both, what is written is looked for among the neighbours of the obvious answer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import yaml

from hapticsim.arguments import unusable
from hapticsim.errors import HapticsimError
from hapticsim.model.multibody.joint import ANGULAR, LINEAR, Body, Joint, Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.protocol import SceneModel, is_model

# Fields and their keys by the unit in which the joint moves; limits are for joints with one coordinate.
_KEYS = {
    "damping": {ANGULAR: "damping_Nms_per_rad", LINEAR: "damping_Ns_per_m"},
    "coulomb": {ANGULAR: "coulomb_friction_Nm", LINEAR: "coulomb_friction_N"},
    "armature": {ANGULAR: "armature_kg_m2", LINEAR: "armature_kg"},
}
_LIMIT_KEYS = {
    "lower": {ANGULAR: "lower_rad", LINEAR: "lower_m"},
    "upper": {ANGULAR: "upper_rad", LINEAR: "upper_m"},
    "effort_limit": {ANGULAR: "effort_Nm", LINEAR: "effort_N"},
    "velocity_limit": {ANGULAR: "velocity_rad_per_s", LINEAR: "velocity_m_per_s"},
}

STEPS = 8  # neighbours tried on either side: 2 sufficed for the joints of 66 robots and 10 000 random triples
SCALES = 2000  # lengths tried for an axis: of 10 000 random ones 4 needed more than 500, none more than these
UNLIMITED = 1e15  # no file may hold a larger number; URDFs write such for 'no limit'
IMPROPER = 1e-9  # R'R may differ from 1 by this much: files print angles and axes with 12 digits


def model_to_yaml(model: SceneModel) -> str:
    """Return the scene file (``name``, ``robot``, ``gravity_m_per_s2``) that ``load`` reads as this model.

    Masses, inertias, positions, limits, damping, armature and friction are the same floats.  So are
    orientations and axes that came from a file; one made by arithmetic (a product of rotations, say) may have
    no angles that give its very bits, and is then written to within 1e-15 per entry.  What means nothing for
    a joint, such as the axis of a fixed one, is left out, and so is a limit beyond 1e15.

    Reading orders bodies depth first, and refuses inertias that no body can have (some published URDFs hold
    such).

    Raises
    ------
    HapticsimError : not a model, or a mechanism by Kane's method; a joint has a property that a scene file
        has no key for.
    """
    if not is_model(model):
        raise unusable("model_to_yaml", "model", model, "a hapticsim.Model")
    model = model.as_tree(
        "write a scene file that names its Python file under robot: {mechanism: {path: ...}}."
    )
    data = {
        "name": model.name,
        "robot": {
            "bodies": [_body(b) for b in model.bodies],
            "joints": [_joint(model.name, j) for j in model.joints],
        },
        "gravity_m_per_s2": _floats(model.gravity_W),
    }
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=110)


def _body(body: Body) -> dict[str, Any]:
    I = 0.5 * (body.inertia_com_B + body.inertia_com_B.T)
    if body.mass == 0.0 and not body.com_B.any() and not I.any():
        return {"name": body.name}
    matrix = {"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]}
    inertial = {
        "mass_kg": float(body.mass),
        "com_m": _floats(body.com_B),
        "inertia_kg_m2": {key: float(value) for key, value in matrix.items()},
    }
    return {"name": body.name, "inertial": inertial}


def _joint(model_name: str, joint: Joint) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": joint.name,
        "type": joint.kind,
        "parent": joint.parent,
        "child": joint.child,
    }
    if origin := _origin(model_name, joint):
        entry["origin"] = origin
    units = joint.units
    if not units:
        return entry
    plain = Joint("", joint.kind, "", "")
    if not np.array_equal(joint.axis_J, plain.axis_J):
        entry["axis"] = direction_of(joint.axis_J)
    if joint.kind == "universal":
        entry["axis2"] = direction_of(joint.axis2_J)
    if joint.kind == "helical":
        entry["pitch_m_per_rad"] = float(joint.pitch)
    if joint.mimic is not None:
        entry["mimic"] = {
            "joint": joint.mimic.joint,
            "multiplier": float(joint.mimic.multiplier),
            f"offset_{units[0]}": float(joint.mimic.offset),
        }
    limits: dict[str, float] = {}
    for table, target, fits in (
        (_KEYS, entry, len(set(units)) == 1),
        (_LIMIT_KEYS, limits, len(units) == 1),
    ):
        for field, keys in table.items():
            value, without = float(getattr(joint, field)), getattr(plain, field)
            if value == without or (table is _LIMIT_KEYS and abs(value) > UNLIMITED):
                continue
            if not fits:
                raise HapticsimError(
                    f"{model_name}: joint {joint.name!r} is {joint.kind} and has {field} = {value:g}, for "
                    f"which a scene file has no key: set it to {without:g} before writing."
                )
            target[keys[units[0]]] = value
    if limits:
        entry["limits"] = limits
    return entry


def _origin(model_name: str, joint: Joint) -> dict[str, list[float]]:
    X: Placement = joint.X_PJ
    origin: dict[str, list[float]] = {}
    if X.translation.any():
        origin["xyz_m"] = _floats(X.translation)
    if not np.array_equal(X.rotation, np.eye(3)):
        R = X.rotation
        error = np.abs(R.T @ R - np.eye(3)).max() + np.abs(np.cross(R[0], R[1]) - R[2]).max()
        if not error <= IMPROPER:
            raise HapticsimError(
                f"{model_name}: the placement of joint {joint.name!r} is off a rotation by {error:.2g}: "
                "give it an orthonormal, right-handed matrix."
            )
        origin["rpy_rad"] = rpy_of(R)
    return origin


def rpy_of(R: np.ndarray) -> list[float]:
    """Roll, pitch, yaw [rad] of a rotation, such that ``rotation_from_rpy`` gives its bits where any can.

    The entries of R separate: the third row's first is -sin(pitch), its others hold pitch and roll, and the
    first column's others pitch and yaw.  So each angle is searched alone, and what passes is tried together.
    Angles beyond half a turn, as files hold them, are tried too.
    """
    principal = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    turn = 2.0 * math.pi
    halves = [principal, math.copysign(math.pi, principal) - principal]
    for pitch in _around(*(x + k * turn for k in (0, -1, 1) for x in halves)):
        sine, cosine = _sin_cos([pitch])
        if -sine[0] != R[2, 0]:
            continue
        rolls = _angles(R[2, 1], R[2, 2], cosine[0])
        yaws = _angles(R[1, 0], R[0, 0], cosine[0])
        for roll, yaw in itertools.product(rolls, yaws):
            if np.array_equal(rotation_from_rpy([roll, pitch, yaw]), R):
                return [roll, pitch, yaw]
    roll = math.atan2(R[2, 1], R[2, 2])
    s, c = math.sin(roll), math.cos(roll)
    # yaw of R Rx(-roll), whose entries do not vanish where the pitch is a quarter turn
    return [roll, principal, math.atan2(s * R[0, 2] - c * R[0, 1], c * R[1, 1] - s * R[1, 2])]


def direction_of(axis: np.ndarray) -> list[float]:
    """A vector that gives the bits of a unit vector when it is divided by its length, where any can."""
    sizes = sorted(abs(float(x)) for x in axis if x)
    scales = itertools.chain((1.0,), (1.0 / x for x in sizes), (1.0 + k / SCALES for k in range(1, SCALES)))
    for scale in scales:
        v = axis * scale
        if np.array_equal(v / float(np.linalg.norm(v)), axis):
            return _floats(v)
    return _floats(axis)


def _angles(sine: float, cosine: float, factor: float) -> list[float]:
    """Angles whose sine and cosine, times the factor, are the two numbers to the bit."""
    sign = math.copysign(1.0, factor)
    x = math.atan2(sign * sine, sign * cosine)
    near = np.array(_around(x, x - 2.0 * math.pi, x + 2.0 * math.pi))
    s, c = _sin_cos(near)
    return near[(factor * s == sine) & (factor * c == cosine)].tolist()


def _sin_cos(angles: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As ``rotation_from_rpy`` takes them: of an array, since numpy may round those of a number otherwise."""
    return np.sin(angles), np.cos(angles)


def _around(*centres: float) -> list[float]:
    """The centres and the floats on either side of them, nearest first."""
    steps = sorted(range(-STEPS, STEPS + 1), key=abs)
    return [x + k * math.ulp(x) for x in centres for k in steps]


def _floats(vector: np.ndarray) -> list[float]:
    return [float(x) for x in vector]


class _Dumper(yaml.SafeDumper):
    """Writes names in quotes where a reader would take them for numbers; YAML 1.1 misses 1e-3."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    try:
        float(text)
    except ValueError:
        return dumper.represent_str(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _quoted)
