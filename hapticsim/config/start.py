"""Where the joints start: the ``initial:`` section."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.config.robot import ANGULAR, Refuse, motion_unit
from hapticsim.config.schema.scene import BallStart, FreeStart, Initial
from hapticsim.errors import listed, nearest
from hapticsim.model.mechanism_model import MechanismModel, Variable
from hapticsim.model.multibody.rotation import quaternion_from_rpy, rotation_of
from hapticsim.model.multibody.tree import Joint, Model

NORMALISED = 1e-3  # a quaternion whose length is off by more was not meant to be one
SILENT = 1e-6  # printed with seven digits: not worth a note


def initial_state(
    initial: Initial, model: Model, refuse: Refuse, notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return q (nq,) and u (nu,) at the start."""
    if isinstance(model, MechanismModel):
        return _mechanism_start(initial, model, refuse)
    q, u = model.zero_q(), np.zeros(model.nu)
    joints = {j.name: j for j in model.moving_joints}

    def resolve(key: str, name: str, wanted: str) -> Joint:
        if name not in joints:
            raise refuse(
                ("initial", key, name),
                f"names no moving joint{nearest(name, joints)}: they are {listed(joints)}.",
            )
        if _start_key(joints[name], speed=key.startswith("u_")) != wanted:
            raise refuse(
                ("initial", key, name),
                f"is a {joints[name].kind} joint: write it under "
                f"{_start_key(joints[name], speed=key.startswith('u_'))}.",
            )
        return joints[name]

    for key, values, target, where in (
        ("q_rad", initial.q_rad, q, model.q_slice),
        ("q_m", initial.q_m, q, model.q_slice),
        ("u_rad_per_s", initial.u_rad_per_s, u, model.u_slice),
        ("u_m_per_s", initial.u_m_per_s, u, model.u_slice),
    ):
        for name, value in values.items():
            target[where(resolve(key, name, key).name)] = value
    for key in ("universal", "cylindrical", "planar", "ball", "free"):
        for name, start in getattr(initial, key).items():
            joint = resolve(key, name, key)
            place = ("initial", key, name)
            q[model.q_slice(joint.name)], u[model.u_slice(joint.name)] = _start(start, place, refuse, notes)
    return q, u


def _mechanism_start(
    initial: Initial, model: MechanismModel, refuse: Refuse
) -> tuple[np.ndarray, np.ndarray]:
    """The mechanism's own start, with what the config says otherwise."""
    q, u = model.q0.copy(), model.u0.copy()
    for key, given in initial:
        if key not in ("q_rad", "q_m", "u_rad_per_s", "u_m_per_s"):
            if given:
                raise refuse(
                    ("initial", key),
                    "is for joints with several coordinates: a mechanism has none; remove it.",
                )
            continue
        variables: tuple[Variable, ...] = model.coordinates if key.startswith("q_") else model.speeds
        what = "coordinate" if key.startswith("q_") else "speed"
        names = [v.name for v in variables]
        for name, value in given.items():
            if name not in names:
                raise refuse(
                    ("initial", key, name),
                    f"names no {what}{nearest(name, names)}: they are {listed(names)}.",
                )
            i = names.index(name)
            fitting = f"q_{variables[i].unit}" if what == "coordinate" else f"u_{variables[i].unit}_per_s"
            if key != fitting:
                raise refuse(
                    ("initial", key, name), f"is a {what} in {variables[i].unit}: write it under {fitting}."
                )
            (q if what == "coordinate" else u)[i] = value
    return q, u


def _start(
    start: Any, place: tuple[str, ...], refuse: Refuse, notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds of a joint with several of them."""
    if not isinstance(start, BallStart):
        q: list[float] = []
        u: list[float] = []
        for key, value in start:  # the schema names coordinates and speeds in the order of ``JOINT_KINDS``
            (u if "per_s" in key else q).extend(value if isinstance(value, list) else [value])
        return np.array(q), np.array(u)
    quaternion = _orientation(start, place, refuse, notes)
    R_JB = rotation_of(quaternion)
    omega_B = R_JB.T @ np.array(start.angular_velocity_rad_per_s)
    if not isinstance(start, FreeStart):
        return quaternion, omega_B
    v_B = R_JB.T @ np.array(start.velocity_m_per_s)
    return np.concatenate([start.xyz_m, quaternion]), np.concatenate([omega_B, v_B])


def _orientation(start: BallStart, place: tuple[str, ...], refuse: Refuse, notes: list[str]) -> np.ndarray:
    """The unit quaternion (w, x, y, z) of a start."""
    if start.quaternion_wxyz is None:
        return quaternion_from_rpy(start.rpy_rad or [0.0, 0.0, 0.0])
    if start.rpy_rad is not None:
        raise refuse(place, "has both rpy_rad and quaternion_wxyz: give one of the two.")
    quaternion = np.array(start.quaternion_wxyz)
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > NORMALISED:
        raise refuse(
            (*place, "quaternion_wxyz"),
            f"= {start.quaternion_wxyz} has the length {length:.6g}: it must be 1 within {NORMALISED:g}.",
        )
    if abs(length - 1.0) > SILENT:
        notes.append(f"{'.'.join(place)}.quaternion_wxyz has the length {length:.6g} and was normalised.")
    return quaternion / length


def _start_key(joint: Joint, speed: bool) -> str:
    """The key under which the start of a joint is written."""
    unit = motion_unit(joint)
    if unit is None:
        return joint.kind
    if unit == ANGULAR:
        return "u_rad_per_s" if speed else "q_rad"
    return "u_m_per_s" if speed else "q_m"
