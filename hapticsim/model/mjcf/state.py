"""Positions and velocities as MuJoCo has them, qpos and qvel, and the coordinates and speeds of the tree.

Hinges and slides count from ``qpos0``.  MuJoCo's free joint has the position and velocity of the body in the
world and its angular velocity in the body; here all are seen from where the file draws the body, and
velocities are in its axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hapticsim.model.mjcf.naming import Names
from hapticsim.model.mjcf.tree import BALL, FREE
from hapticsim.model.multibody.rotation import rotation_of

JointState = tuple[np.ndarray, np.ndarray]  # coordinates and speeds of one joint


def tree_state(mj: Any, names: Names, qpos: np.ndarray, qvel: np.ndarray) -> dict[str, JointState]:
    """Return the coordinates and speeds of each joint by its name."""
    found: dict[str, JointState] = {}
    for j, name in enumerate(names.joints):
        a, d = int(mj.jnt_qposadr[j]), int(mj.jnt_dofadr[j])
        match int(mj.jnt_type[j]):
            case k if k == FREE:
                body = mj.jnt_bodyid[j]
                turned, R_WB = mj.body_quat[body], rotation_of(unit(qpos[a + 3 : a + 7]))
                p = rotation_of(turned).T @ (qpos[a : a + 3] - mj.body_pos[body])
                q = np.concatenate([p, product(inverse(turned), unit(qpos[a + 3 : a + 7]))])
                u = np.concatenate([qvel[d + 3 : d + 6], R_WB.T @ qvel[d : d + 3]])
            case k if k == BALL:
                q, u = product(inverse(mj.qpos0[a : a + 4]), unit(qpos[a : a + 4])), qvel[d : d + 3]
            case _:
                q, u = qpos[a : a + 1] - mj.qpos0[a : a + 1], qvel[d : d + 1]
        found[name] = np.array(q), np.array(u)
    return found


def mujoco_state(mj: Any, names: Names, state: Mapping[str, JointState]) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos (nq,) and qvel (nv,): the inverse of ``tree_state``."""
    qpos, qvel = np.array(mj.qpos0), np.zeros(mj.nv)
    for j, name in enumerate(names.joints):
        a, d = int(mj.jnt_qposadr[j]), int(mj.jnt_dofadr[j])
        q, u = state[name]
        match int(mj.jnt_type[j]):
            case k if k == FREE:
                body = mj.jnt_bodyid[j]
                turned = mj.body_quat[body]
                qpos[a : a + 3] = mj.body_pos[body] + rotation_of(turned) @ q[:3]
                qpos[a + 3 : a + 7] = product(turned, q[3:])
                qvel[d : d + 3] = rotation_of(qpos[a + 3 : a + 7]) @ u[3:]
                qvel[d + 3 : d + 6] = u[:3]
            case k if k == BALL:
                qpos[a : a + 4], qvel[d : d + 3] = product(mj.qpos0[a : a + 4], q), u
            case _:
                qpos[a], qvel[d] = mj.qpos0[a] + q[0], u[0]
    return qpos, qvel


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(4,) product of two quaternions (w, x, y, z)."""
    v, w = np.asarray(a[1:]), np.asarray(b[1:])
    return np.concatenate([[a[0] * b[0] - v @ w], a[0] * w + b[0] * v + np.cross(v, w)])


def inverse(quaternion: np.ndarray) -> np.ndarray:
    """(4,) inverse of a unit quaternion."""
    return np.asarray(quaternion) * np.array([1.0, -1.0, -1.0, -1.0])


def unit(quaternion: np.ndarray) -> np.ndarray:
    """(4,) unit quaternion of this direction; MuJoCo takes any length."""
    length = float(np.linalg.norm(quaternion))
    return quaternion / length if length > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])
