"""The panel's section about the torque on the hand, in scenes whose coupler turns."""

from __future__ import annotations

import numpy as np
import pygame

from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.display.palette import FAINT, TEXT, Type
from hapticsim.display.panel.gauges import draw_bar
from hapticsim.display.scene.rotation import LIMIT_NM


def draw_torque(
    type_: Type,
    surface: pygame.Surface,
    area: pygame.Rect,
    y: int,
    scene: SceneMessage,
    state: StateMessage,
    silent: bool,
) -> int:
    """Draw the section from ``y`` down; returns where the next begins.

    silent : nothing has arrived for a while, so that the torque is not known.
    """
    torque_D, limit = state.turned.hand_torque_D, scene.torque_limit_Nm
    size = 0.0 if silent else float(np.linalg.norm(torque_D))
    type_.write(surface, "torque on the hand", (area.left, y), FAINT)
    text = "unknown" if silent else f"{size:.3f} N m"
    type_.write(surface, text, (area.right, y - 5), TEXT, type_.large, right=True)
    bar = pygame.Rect(area.left, y + 22, area.width, 10)
    draw_bar(surface, bar, size, limit, LIMIT_NM)
    if not silent:
        axes = [2] if scene.rotation == "z" else [0, 1, 2]
        parts = "   ".join(f"{'xyz'[i]} {1e3 * torque_D[i]:+.0f}" for i in axes)
        type_.write(surface, f"{parts} mN m", (area.left, bar.bottom + 5), FAINT, type_.small)
    if limit is not None:
        type_.write(
            surface, f"limit {limit:g} N m", (area.right, bar.bottom + 5), FAINT, type_.small, right=True
        )
    return bar.bottom + 28
