"""The signs of what is felt: coupler, device, hand target, contact forces, and the force on the hand."""

from __future__ import annotations

import numpy as np
import pygame

from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.display.palette import FAINT, ORANGE, SKY, TEXT, VERMILION, YELLOW, blend
from hapticsim.display.scene import marks
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.labels import Label
from hapticsim.display.scene.rotation import draw_rotation

_ARROW_M = 0.22  # length of an arrow at the force limit
_LIMIT_N = 10.0  # assumed for the scale of arrows where the device states none
_BEHIND_M = 0.05  # what is this near to the eye or behind it is not marked


def draw_signs(
    canvas: pygame.Surface,
    camera: OrbitCamera,
    scene: SceneMessage,
    state: StateMessage,
    target_D: np.ndarray | None,
    k: int,
) -> list[Label]:
    """Draw all signs over the scene, ``k`` canvas pixels per camera pixel; returns the texts that belong to
    them.

    target_D : (3,) [m] where the hand is asked to go, device frame; None: not known.
    """

    def pixels(*points_W: np.ndarray) -> np.ndarray | None:
        at, depth = camera.project(np.stack(points_W))
        return at if depth.min() > _BEHIND_M else None

    def to_world(p_D: np.ndarray) -> np.ndarray:
        return scene.origin_W + scene.motion_scale * scene.R_WD @ p_D

    metres_per_N = _ARROW_M / (scene.force_limit_N or _LIMIT_N)
    labels: list[Label] = []
    for contact in state.contacts:
        force_W = contact.normal_W * contact.force_N + contact.friction_N
        tip_W = contact.point_W + force_W * metres_per_N
        ends = pixels(contact.point_W, tip_W)
        if ends is not None:
            marks.arrow(canvas, ends[0] * k, ends[1] * k, YELLOW, k)
            pygame.draw.circle(canvas, YELLOW, (ends[0] * k).tolist(), 3.5 * k)
            labels.append(Label(f"{np.linalg.norm(force_W):.1f} N", (ends[1][0], ends[1][1]), YELLOW))

    device_W = state.anchor_W if state.anchor_W is not None else to_world(state.device_D)
    if state.handle_W is not None:
        ends = pixels(device_W, state.handle_W)
        if ends is not None:
            pull = float(np.linalg.norm(state.coupler_force_W)) * metres_per_N / _ARROW_M
            marks.coil(canvas, ends[0] * k, ends[1] * k, blend(FAINT, VERMILION, min(pull, 1.0)), k)
            pygame.draw.circle(canvas, TEXT, (ends[1] * k).tolist(), 3 * k)
    if state.device_connected:
        ends = pixels(device_W, device_W + scene.R_WD @ state.hand_force_D * metres_per_N)
        if ends is not None:
            marks.arrow(canvas, ends[0] * k, ends[1] * k, VERMILION, k)
            marks.ring(canvas, ends[0] * k, 8.0, SKY, k)
    if scene.turns:
        draw_rotation(canvas, camera, scene, state, device_W, k)
    if target_D is not None:
        at = pixels(to_world(target_D))
        if at is not None:
            marks.cross(canvas, at[0] * k, 14.0, ORANGE, k)
    return labels
