"""What is shown of a corrected mechanism goes over to where it is; it does not jump.

Only pictures are eased.  The mechanism is corrected at once, and the force has its own easing
(``realtime/correction.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

EASE_S = 0.25  # in which what a correction left of the former place fades
POSE = 7  # position, quaternion w, x, y, z


class PoseEasing:
    """Remembers by how much shown poses differ from true ones, and lets that fade.

    Poses are flat: position [m] and unit quaternion of every body.  Time is an argument.
    """

    def __init__(self, bodies: int) -> None:
        nothing = np.zeros((bodies, 3))
        self._left = (nothing, nothing, -np.inf)  # shift, turn as rotation vectors, since when; world axes

    def correct(self, before: Sequence[float], after: Sequence[float], now_s: float) -> None:
        """The true poses jump from before to after now."""
        old, new = _split(self.shown(list(before), now_s)), _split(after)
        self._left = (old[0] - new[0], _turn_between(new[1], old[1]), now_s)

    def shown(self, poses: list[float], now_s: float) -> list[float]:
        """The poses to be shown for true ones."""
        shift, turn, from_s = self._left
        share = float(max(0.0, 1.0 - (now_s - from_s) / EASE_S))
        if share == 0.0:
            return poses
        places, quaternions = _split(poses)
        turned = _product(_quaternion(share * turn), quaternions)
        flat: list[float] = np.column_stack([places + share * shift, turned]).ravel().tolist()
        return flat


def _split(poses: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(poses, float).reshape(-1, POSE)
    return table[:, :3], table[:, 3:]


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w, v = a[:, :1], a[:, 1:]
    x, u = b[:, :1], b[:, 1:]
    return np.hstack([w * x - np.sum(v * u, axis=1, keepdims=True), w * u + x * v + np.cross(v, u)])


def _quaternion(turns: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions of rotation vectors (n, 3)."""
    angle = np.linalg.norm(turns, axis=1, keepdims=True)
    return np.hstack([np.cos(0.5 * angle), 0.5 * turns * np.sinc(0.5 * angle / np.pi)])


def _turn_between(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(n, 3) rotation vectors in world axes that take orientations start to end, the short way."""
    relative = _product(end, start * np.array([1.0, -1.0, -1.0, -1.0]))
    relative *= np.where(relative[:, :1] < 0.0, -1.0, 1.0)
    size = np.linalg.norm(relative[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(size, relative[:, :1])
    return relative[:, 1:] * np.where(size > 1e-12, angle / np.maximum(size, 1e-300), 2.0)
