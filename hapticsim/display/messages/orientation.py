"""Quaternions that came over the wire, as rotation matrices."""

from __future__ import annotations

import numpy as np

from hapticsim.display.messages.reading import Payload, Unreadable, numbers

SHORTEST = 1e-6  # length of a quaternion that still has a direction


def rotations(quaternions: np.ndarray) -> np.ndarray:
    """(n, 4) quaternions w, x, y, z (any length but zero) to (n, 3, 3) rotation matrices."""
    quaternions = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    w, x, y, z = quaternions.T
    R = np.empty((len(quaternions), 3, 3))
    R[:, 0, 0], R[:, 1, 1], R[:, 2, 2] = (
        1 - 2 * (y * y + z * z),
        1 - 2 * (x * x + z * z),
        1 - 2 * (x * x + y * y),
    )
    R[:, 0, 1], R[:, 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    R[:, 0, 2], R[:, 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    R[:, 1, 2], R[:, 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    return R


def orientation(payload: Payload, key: str) -> np.ndarray | None:
    """(3, 3) rotation matrix of the quaternion under a key, None where there is none.  Raises Unreadable."""
    value = payload.get(key)
    if value is None:
        return None
    quaternion = numbers(value, key, 4)
    if np.linalg.norm(quaternion) < SHORTEST:
        raise Unreadable(f"{key} is a quaternion of length zero")
    R: np.ndarray = rotations(quaternion[None])[0]
    return R
