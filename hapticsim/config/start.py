"""Where the coordinates and speeds of the model start: the ``initial:`` section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hapticsim.config.schema.scene import BallStart, FreeStart, Initial
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.mjcf.state import JointState
from hapticsim.model.multibody.joint import Start
from hapticsim.model.multibody.rotation import quaternion_from_rpy, rotation_of
from hapticsim.model.protocol import SceneModel

NORMALISED = 1e-3  # a quaternion whose length is off by more was not meant to be one
SILENT = 1e-6  # printed with seven digits: not worth a note


def initial_state(
    initial: Initial,
    model: SceneModel,
    of_robot: Mapping[str, JointState],
    refuse: Refuse,
    notes: list[str],
) -> tuple[np.ndarray, np.ndarray]:
    """Return q (nq,) and u (nu,) at the start: the model's own, with what the config says otherwise.

    of_robot : coordinates and speeds by joint, of a keyframe of the robot's file.
    """
    q, u = model.start()
    for start in model.starts(speed=False)[1]:
        if start.name in of_robot:
            q[start.q], u[start.u] = of_robot[start.name]
    for key, given in initial:
        what, entries = model.starts(speed=key.startswith("u_"))
        named = {entry.name: entry for entry in entries}
        for name, value in given.items():
            place = ("initial", key, name)
            if name not in named:
                raise refuse(place, f"names no {what}{nearest(name, named)}: they are {listed(named)}.")
            entry = named[name]
            if key != (fitting := _key(entry, speed=key.startswith("u_"))):
                raise refuse(place, f"is a {entry.title}: write it under {fitting}.")
            if entry.unit is None:
                q[entry.q], u[entry.u] = _start(value, place, refuse, notes)
            elif key.startswith("u_"):
                u[entry.u] = value
            else:
                q[entry.q] = value
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


def _key(entry: Start, speed: bool) -> str:
    """The key under which the start of a joint, a coordinate or a speed is written."""
    if entry.unit is None:
        return entry.kind
    return f"u_{entry.unit}_per_s" if speed else f"q_{entry.unit}"
