"""Rotations as people write them, to matrices and quaternions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def rotation_from_rpy(rpy: Sequence[float]) -> np.ndarray:
    """(3, 3) ``R = Rz(yaw) Ry(pitch) Rx(roll)``: turned about the fixed axes x, y, z in this order.

    rpy : roll, pitch, yaw [rad], the convention of URDF.
    """
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def quaternion_from_rpy(rpy: Sequence[float]) -> np.ndarray:
    """(4,) unit quaternion (w, x, y, z) of ``rotation_from_rpy``, with w >= 0."""
    half = 0.5 * np.asarray(rpy, dtype=float)
    (sr, sp, sy), (cr, cp, cy) = np.sin(half), np.cos(half)
    q = np.array(
        [
            cy * cp * cr + sy * sp * sr,
            cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
        ]
    )
    return -q if q[0] < 0.0 else q


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """(3, 3) rotation matrix of a unit quaternion (w, x, y, z)."""
    w, v = quaternion[0], np.asarray(quaternion[1:])
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    turned: np.ndarray = np.eye(3) + 2.0 * (w * skew + skew @ skew)
    return turned


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """(4,) unit quaternion (w, x, y, z) of a rotation matrix, with w >= 0.

    Shepperd's method (1978): the largest component is found first, so nothing is divided by a small number.
    """
    m = (R[0, 0], R[1, 1], R[2, 2])
    trace = m[0] + m[1] + m[2]
    q = np.empty(4)
    if trace >= max(m):
        q[0] = 1.0 + trace
        q[1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i = int(np.argmax(m))
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0] = R[k, j] - R[j, k]
        q[1 + i] = 1.0 + m[i] - m[j] - m[k]
        q[1 + j] = R[j, i] + R[i, j]
        q[1 + k] = R[k, i] + R[i, k]
    q /= np.linalg.norm(q)
    return -q if q[0] < 0.0 else q


def quaternions_of(R: np.ndarray) -> np.ndarray:
    """(n, 4) of ``quaternion_of`` for rotation matrices (n, 3, 3)."""
    m = np.diagonal(R, axis1=1, axis2=2)
    trace = m.sum(axis=1)
    x, y, z = R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]
    xy, xz, yz = R[:, 1, 0] + R[:, 0, 1], R[:, 0, 2] + R[:, 2, 0], R[:, 2, 1] + R[:, 1, 2]
    largest = [1.0 + trace, *(1.0 + 2.0 * m.T - trace)]
    rows = (largest[0], x, y, z), (x, largest[1], xy, xz), (y, xy, largest[2], yz), (z, xz, yz, largest[3])
    choice = np.argmax(np.column_stack([trace, m]), axis=1)
    q: np.ndarray = np.array(rows)[choice, :, np.arange(len(R))]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(q[:, :1] < 0.0, -q, q)
