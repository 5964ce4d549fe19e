"""From the pointer on the screen to the target of the hand, in the device's own workspace.

The target lies under the pointer: the ray through the pixel is cut with a plane of the device frame D.
That plane is X-Z (right and up) unless the view has been turned so far that it is seen edge on; then it is
the plane of D that faces the view.  Wheel and Shift move the target along the plane's normal.
"""

from __future__ import annotations

import numpy as np

from hapticsim.display.scene.camera import OrbitCamera

ENGAGE, DISENGAGE, FIRST, SECOND = 1, 2, 4, 8  # bits of ``buttons`` on topic ``pointer``
PULSE_S = 0.15  # how long a click is held on the wire: a lost message or two must not lose it
TURN_REACH = 2.0  # [rad] either way, as the driver has it
_EDGE_ON = 0.3  # cosine between view and plane normal below which another plane is taken


class PointerTarget:
    """Target of the hand that follows the pointer.

    origin_W, R_WD, motion_scale : the scene's mapping, ``p_W = origin_W + motion_scale * R_WD @ p_D``.
    reach                        : [m, device frame] how far the target may go from the centre of the device.
    """

    def __init__(self, origin_W: np.ndarray, R_WD: np.ndarray, motion_scale: float, reach: float) -> None:
        self.origin_W, self.R_WD, self.motion_scale = origin_W, R_WD, motion_scale
        self.reach = reach
        self.target_D = np.zeros(3)  # [m]
        self.turn = 0.0  # [rad] about Z of the device, where the handle turns
        self._offset_px = np.zeros(2)  # pointer minus target on the screen, after depth was changed by Shift

    def to_world(self, p_D: np.ndarray) -> np.ndarray:
        """(3,) [m] point of the device frame to the world."""
        return self.origin_W + self.motion_scale * self.R_WD @ p_D

    def depth_axis(self, camera: OrbitCamera) -> int:
        """Index of the device axis that points into the picture: 1 (Y) unless that is seen edge on."""
        into_D = np.abs(self.R_WD.T @ camera.R_WC[:, 1])
        return 1 if into_D[1] >= _EDGE_ON else int(np.argmax(into_D))

    def follow(self, x_px: float, y_px: float, camera: OrbitCamera) -> None:
        """Bring the target under the pointer, at its present depth, as far as the hand reaches."""
        axis = self.depth_axis(camera)
        normal_W = self.R_WD[:, axis]
        ray_W = camera.ray(x_px - self._offset_px[0], y_px - self._offset_px[1])
        slope = float(ray_W @ normal_W)
        if abs(slope) < 0.1 * _EDGE_ON:
            return
        distance = float((self.to_world(self.target_D) - camera.eye_W) @ normal_W) / slope
        if distance <= 0.0:  # the plane lies behind the eye along this ray
            return
        p_D = self.R_WD.T @ (camera.eye_W + distance * ray_W - self.origin_W) / self.motion_scale
        p_D[axis] = self.target_D[axis]
        self.target_D = self._held_inside(p_D, axis)

    def push(self, step: float, camera: OrbitCamera) -> None:
        """Move the target by ``step`` [m, world] away from the viewer along the plane's normal."""
        axis = self.depth_axis(camera)
        away = 1.0 if self.R_WD[:, axis] @ camera.R_WC[:, 1] >= 0.0 else -1.0
        p_D = self.target_D.copy()
        p_D[axis] += away * step / self.motion_scale
        self.target_D = self._held_inside(p_D, axis)

    def rotate_by(self, step: float) -> None:
        """Turn the hand about Z by ``step`` [rad], as far as a wrist goes."""
        self.turn = min(max(self.turn + step, -TURN_REACH), TURN_REACH)

    def reset_depth(self) -> None:
        """Back into the middle plane of the device, under the pointer again."""
        self.target_D = np.array([self.target_D[0], 0.0, self.target_D[2]])
        self._offset_px[:] = 0.0

    def keep_offset(self, x_px: float, y_px: float, camera: OrbitCamera) -> None:
        """Remember how far the pointer is from the target, so that following goes on without a jump."""
        (at,), _ = camera.project(self.to_world(self.target_D)[None])
        self._offset_px = np.array([x_px, y_px]) - at

    def _held_inside(self, p_D: np.ndarray, axis: int) -> np.ndarray:
        """Keep the depth if it can be kept, then shorten what lies in the plane."""
        depth = float(np.clip(p_D[axis], -self.reach, self.reach))
        in_plane = p_D.copy()
        in_plane[axis] = 0.0
        allowed = np.sqrt(max(self.reach**2 - depth**2, 0.0))
        length = float(np.linalg.norm(in_plane))
        if length > allowed:
            in_plane *= allowed / length
        in_plane[axis] = depth
        return in_plane


class Buttons:
    """Clicks as short pulses: the newest one wins, and none outlives ``PULSE_S``.

    A held button does not engage again by itself after a fault: one click is one request.
    """

    def __init__(self) -> None:
        self._bit, self._until_s = 0, 0.0

    def click(self, bit: int, now_s: float) -> None:
        """Start a pulse of one of the four."""
        self._bit, self._until_s = bit, now_s + PULSE_S

    def mask(self, now_s: float) -> int:
        """What to publish now."""
        return self._bit if now_s < self._until_s else 0
