"""What observers are told of the device and of the coupler that ties it to the handle, rotation included."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.multibody.rotation import quaternion_of, rotation_of

_ORIGIN_MOVED_m = 1e-6  # more than rounding, in any scene that a hand can reach
_SEEN_S = 0.1  # a device heard less long ago counts as connected


class CouplerDescriber:
    """Reads the fixed columns of the rows of an assembly (kernels/memory/sample.py).

    origin_W : (3,) [m] world point of the device's centre at the start.

    Public attributes: ``origin_W``, that of the rows described: the same array until arming moves it by more
    than rounding, so that what is told of a scene changes only with the scene.
    """

    def __init__(self, assembly: Assembly, origin_W: np.ndarray) -> None:
        scene = assembly.scene
        self._scene, self.origin_W = scene, np.array(origin_W)
        self._R_WD = np.asarray(scene.mapping.rotation_WD, float)
        names = scene.model.body_names
        self._handle = names.index(scene.handle.body) if scene.handle else None

    def scene(
        self, force_limit_N: float, torque_limit_Nm: float, workspace_radius_m: float
    ) -> dict[str, Any]:
        """Keys of topic ``scene``: how the device is mapped, what it holds, and its limits."""
        scene = self._scene
        point = list(map(float, scene.handle.point_B)) if scene.handle else None
        return {
            "mapping": {
                "origin": self.origin_W.tolist(),
                "rotation": self._R_WD.ravel().tolist(),
                "motion_scale": scene.mapping.motion_scale,
                "force_scale": scene.mapping.force_scale,
            },
            "handle": None if point is None else {"body": self._handle, "point": point},
            "coupler": {"rotation": scene.coupler.rotation},
            "limits": {
                "force_N": force_limit_N,
                "torque_Nm": torque_limit_Nm,
                "workspace_radius_m": workspace_radius_m,
            },
        }

    def state(
        self, row: np.ndarray, bodies: list[float], target: Any = None, connected: bool | None = None
    ) -> dict[str, Any]:
        """Keys of topic ``state``: ``device`` and ``coupler``.

        bodies : flat poses in the same row's state, seven numbers each.
        connected : None: by the age of the device's sample.
        """
        if connected is None:
            connected = bool(row[PLACE["device_present"]] and row[PLACE["device_age_s"]] < _SEEN_S)
        if self._handle is not None:
            reach = self._scene.mapping.motion_scale * self._R_WD @ _take(row, "device_x_m", 3)
            origin_W = _take(row, "anchor_x_m", 3) - reach
            if np.linalg.norm(origin_W - self.origin_W) > _ORIGIN_MOVED_m:
                self.origin_W = origin_W
        device = _unit(_take(row, "device_qw", 4))
        return {
            "device": {
                "connected": connected,
                "position": _take(row, "device_x_m", 3).tolist(),
                "quaternion": device.tolist(),
                "target": list(target) if target is not None else None,
                "force_N": _take(row, "hand_force_x_N", 3).tolist(),
                "torque_Nm": _take(row, "hand_torque_x_Nm", 3).tolist(),
            },
            "coupler": {
                "anchor_W": _take(row, "anchor_x_m", 3).tolist(),
                "handle_W": _take(row, "handle_x_m", 3).tolist(),
                "force_W": _take(row, "coupler_x_N", 3).tolist(),
                "torque_W": _take(row, "coupler_torque_x_Nm", 3).tolist(),
                "anchor_quaternion_W": self._wanted(row, device),
                "handle_quaternion_W": self._turned(bodies),
            },
        }

    def _wanted(self, row: np.ndarray, device: np.ndarray) -> list[float] | None:
        """Orientation R_WD R_DH R_offset that the device asks of the handle's body; None: it asks none."""
        if self._scene.coupler.rotation == "none" or row[PLACE["gain"]] == 0.0:
            return None
        offset = _unit(_take(row, "turn_offset_qw", 4))
        wanted: list[float] = quaternion_of(self._R_WD @ rotation_of(device) @ rotation_of(offset)).tolist()
        return wanted

    def _turned(self, bodies: list[float]) -> list[float] | None:
        """Orientation of the handle's body; None without a handle."""
        return None if self._handle is None else bodies[7 * self._handle + 3 : 7 * self._handle + 7]


def _take(row: np.ndarray, first: str, count: int) -> np.ndarray:
    """The columns from one on, (count,)."""
    return row[PLACE[first] : PLACE[first] + count]


def _unit(quaternion: np.ndarray) -> np.ndarray:
    """The quaternion at unit length; upright where none was measured and all four are zero."""
    size = float(np.linalg.norm(quaternion))
    return quaternion / size if size > 0.5 else np.array([1.0, 0.0, 0.0, 0.0])
