"""The panel's section about constraints: what each does, rank, independent speeds, residual."""

from __future__ import annotations

import numpy as np
import pygame

from hapticsim.display.messages.constraints import FREE, HELD, ConstraintNow, ConstraintView
from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.display.palette import FAINT, ORANGE, PURPLE, TEXT, Color, Type

_MOST = 6  # constraints named one by one
_MOST_LINES = 2  # of independent speeds


def draw_constraint_list(
    type_: Type,
    surface: pygame.Surface,
    area: pygame.Rect,
    y: int,
    scene: SceneMessage | None,
    state: StateMessage,
) -> int:
    """Draw the section from ``y`` down; returns where the next begins, ``y`` where there are none."""
    imposed = state.imposed
    if not imposed.constraints:
        return y
    rank = f"rank {imposed.rank} of {imposed.rows} rows"
    type_.write(surface, "constraints", (area.left, y), FAINT)
    color = ORANGE if imposed.rank < imposed.rows else FAINT
    type_.write(surface, rank, (area.right, y + 1), color, type_.small, right=True)
    y += 19
    views = {c.name: c for c in scene.constraints} if scene else {}
    for number, now in enumerate(imposed.constraints[:_MOST], 1):
        _draw_sign(surface, (area.left + 4, y + 7), now)
        type_.write(surface, f"    {number}  {now.name}", (area.left, y), TEXT)
        words = what_it_does(now, views.get(now.name))
        type_.write(surface, words, (area.right, y), sign_color(now), right=True)
        y += 19
    if len(imposed.constraints) > _MOST:
        type_.write(surface, f"    and {len(imposed.constraints) - _MOST} more", (area.left, y), FAINT)
        y += 19
    independent = [s for s in scene.speeds if s not in imposed.dependent] if scene else []
    words = f"independent speeds: {', '.join(independent) or 'none'}"
    lines = type_.wrap(words, area.width, type_.small)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1]} ..."]
    for line in (*lines, f"residual before projection: {imposed.residual:.1e}"):
        type_.write(surface, line, (area.left, y), FAINT, type_.small)
        y += 15
    return y + 8


def sign_color(now: ConstraintNow) -> Color:
    """Colour of a constraint, in the panel as in the scene."""
    return FAINT if now.hold == FREE else PURPLE if now.hold == HELD else ORANGE


def what_it_does(now: ConstraintNow, view: ConstraintView | None) -> str:
    """``free``, the size of its force, or that it slips and under what friction.

    Forces come before moments where a constraint has both.
    """
    if now.hold == FREE:
        return "free"
    units = [row.unit for row in view.rows] if view else []
    if len(units) != len(now.force):
        units = ["N"] * len(now.force)
    unit = "N" if "N" in units else "N m"
    size = float(np.linalg.norm([f for f, u in zip(now.force, units, strict=True) if u == unit]))
    return f"{'slips, ' if now.slips else ''}{size:.2f} {unit}"


def _draw_sign(surface: pygame.Surface, at: tuple[int, int], now: ConstraintNow) -> None:
    """Full: held; a ring: free; a triangle: slips."""
    x, y = at
    color = sign_color(now)
    if now.slips:
        pygame.draw.polygon(surface, color, [(x - 4, y + 4), (x + 4, y + 4), (x, y - 4)])
    else:
        pygame.draw.circle(surface, color, at, 4, 1 if now.hold == FREE else 0)
