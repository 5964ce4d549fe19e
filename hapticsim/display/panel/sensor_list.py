"""The panel's section about the sensors of a mechanism: a name and a number each."""

from __future__ import annotations

import pygame

from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.display.messages.sensors import sensor_words
from hapticsim.display.palette import FAINT, TEXT, Type

_MOST = 6  # sensors named one by one


def draw_sensor_list(
    type_: Type,
    surface: pygame.Surface,
    area: pygame.Rect,
    y: int,
    scene: SceneMessage | None,
    state: StateMessage,
) -> int:
    """Draw the section from ``y`` down; returns where the next begins, ``y`` where there are none."""
    lines = sensor_lines(scene, state)
    if not lines:
        return y
    type_.write(surface, "sensors", (area.left, y), FAINT)
    y += 19
    for label, shown in lines[:_MOST]:
        type_.write(surface, f"    {label}", (area.left, y), TEXT, type_.small)
        type_.write(surface, shown, (area.right, y), TEXT, type_.small, right=True)
        y += 15
    if len(lines) > _MOST:
        type_.write(surface, f"    and {len(lines) - _MOST} more", (area.left, y), FAINT, type_.small)
        y += 15
    return y + 8


def sensor_lines(scene: SceneMessage | None, state: StateMessage) -> list[tuple[str, str]]:
    """What is shown of every sensor, in the order of the scene."""
    order = scene.sensors if scene else ()
    names = [*(n for n in order if n in state.sensors), *(n for n in state.sensors if n not in order)]
    return [sensor_words(name, state.sensors[name]) for name in names]
