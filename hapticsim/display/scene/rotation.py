"""Signs of rotation: axes at the device and at the handle, and the torque on the hand as a bent arrow.

Both crosses have the same shape, a dot at the end of x.  They are alike while the coupler is not twisted, and
what is between them is what the coupler pulls back.  All sizes are pixels of the screen: an orientation is
as well seen from afar.
"""

from __future__ import annotations

import math

import numpy as np
import pygame

from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.display.palette import SKY, TEXT, VERMILION, Color
from hapticsim.display.scene import marks
from hapticsim.display.scene.camera import OrbitCamera

DEVICE_PX, GRIP_PX = (11.0, 30.0), (5.0, 22.0)  # where the arms begin and end, from the middle
ARC_PX = 40.0  # radius of the torque
ARC_AT_LIMIT = math.radians(300.0)
LIMIT_NM = 0.2  # assumed for the scale where the device states none
_SHORTEST_ARC = math.radians(3.0)
_STEPS = 48  # points of the longest arc
_BEHIND_M = 0.05  # what is this near to the eye or behind it is not marked


def draw_rotation(
    canvas: pygame.Surface,
    camera: OrbitCamera,
    scene: SceneMessage,
    state: StateMessage,
    device_W: np.ndarray,
    k: int,
) -> None:
    """Draw the rotation of a scene whose coupler turns; device_W (3,) [m] is where the device is."""
    turned, R_WD = state.turned, scene.R_WD
    R_WH, grip_W = turned.device_W(R_WD), turned.grip_W(R_WD)
    if state.device_connected:
        draw_axes(canvas, camera, device_W, R_WH, DEVICE_PX, SKY, k)
    if grip_W is not None and state.handle_W is not None:
        draw_axes(canvas, camera, state.handle_W, grip_W, GRIP_PX, TEXT, k)
    if state.device_connected:
        limit = scene.torque_limit_Nm or LIMIT_NM
        arc = torque_arc(camera, device_W, R_WD @ turned.hand_torque_D / limit, R_WH)
        if arc is not None:
            marks.bent_arrow(canvas, arc * k, VERMILION, k)


def draw_axes(
    canvas: pygame.Surface,
    camera: OrbitCamera,
    at_W: np.ndarray,
    R_W: np.ndarray,
    from_to_px: tuple[float, float],
    color: Color,
    k: int,
) -> None:
    """Three arms along the columns of R_W (3, 3) about a point (3,) [m]; x ends in a dot."""
    scale = metres_per_pixel(camera, at_W)
    if scale is None:
        return
    near, far = (at_W + px * scale * R_W.T for px in from_to_px)  # a row for each arm
    a_px, b_px = camera.project(near)[0] * k, camera.project(far)[0] * k
    for a, b in zip(a_px.tolist(), b_px.tolist(), strict=True):
        pygame.draw.line(canvas, color, a, b, max(1, round(2.0 * k)))
    pygame.draw.circle(canvas, color, b_px[0].tolist(), 4.0 * k)


def torque_arc(
    camera: OrbitCamera, at_W: np.ndarray, share_W: np.ndarray, R_WH: np.ndarray
) -> np.ndarray | None:
    """(n, 2) pixels of an arc by the right-hand rule about a torque, from the device's x axis on.

    share_W : (3,) torque over its limit; the arc is as long, up to nearly a full turn.
    Returns None where it would be too short to be seen, or is behind the eye.
    """
    size = float(np.linalg.norm(share_W))
    angle = ARC_AT_LIMIT * min(size, 1.0)
    scale = metres_per_pixel(camera, at_W)
    if angle < _SHORTEST_ARC or scale is None:
        return None
    n = share_W / size
    # of the device's axes the first that is not nearly along the torque, made square to it
    start = next(x for x in R_WH.T if abs(x @ n) < 0.9)
    start = start - (start @ n) * n
    start /= np.linalg.norm(start)
    turn = np.linspace(0.0, angle, max(3, math.ceil(_STEPS * angle / ARC_AT_LIMIT)))[:, None]
    ring_W = at_W + ARC_PX * scale * (np.cos(turn) * start + np.sin(turn) * np.cross(n, start))
    pixels: np.ndarray = camera.project(ring_W)[0]
    return pixels


def metres_per_pixel(camera: OrbitCamera, at_W: np.ndarray) -> float | None:
    """[m] that a pixel covers at a point (3,) [m]; None behind the eye."""
    depth = float(camera.to_camera(at_W[None])[0, 1])
    return depth / camera.focal_px if depth > _BEHIND_M else None
