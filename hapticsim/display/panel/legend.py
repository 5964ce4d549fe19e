"""What the signs in the scene mean, as small pictures with words beside them."""

from __future__ import annotations

import numpy as np
import pygame

from hapticsim.display.palette import FAINT, ORANGE, PANEL, PURPLE, SKY, TEXT, VERMILION, YELLOW, Color, Type
from hapticsim.display.scene import marks

_ROW = 20  # [px]
_PICTURE = 40  # width of a sign [px]
_FINER = 4  # drawn this much larger and shrunk once
_ROWS = (
    "where the hand wants to be",
    "the device",
    "the coupler, from device to handle",
    "force of a contact",
    "force on the hand",
    "prediction of where the handle goes",
    "a constraint; dashed while it is free",
)
_TURNING_ROWS = (
    "how device and handle are turned",
    "torque on the hand",
)


class Legend:
    """Drawn once, shown in every frame.

    turns : with the signs of rotation.
    """

    def __init__(self, type_: Type, width: int, turns: bool = False) -> None:
        rows = _ROWS + (_TURNING_ROWS if turns else ())
        self.height = _ROW * len(rows)  # [px]
        self.picture = pygame.Surface((width, self.height)).convert()
        self.picture.fill(PANEL)
        signs = _signs(len(rows), turns)
        self.picture.blit(pygame.transform.smoothscale(signs, (_PICTURE, self.height)), (0, 0))
        for row, words in enumerate(rows):
            type_.write(self.picture, words, (_PICTURE + 8, _ROW * row + 2), FAINT, type_.small)


def _signs(rows: int, turns: bool) -> pygame.Surface:
    k = float(_FINER)
    surface = pygame.Surface((_PICTURE * _FINER, rows * _ROW * _FINER)).convert(32)
    surface.fill(PANEL)

    def at(x: float, row: int) -> np.ndarray:
        return np.array([x, (row + 0.5) * _ROW]) * k

    marks.cross(surface, at(20, 0), 9.0, ORANGE, k)
    marks.ring(surface, at(20, 1), 7.0, SKY, k)
    marks.coil(surface, at(4, 2), at(36, 2), FAINT, k)
    pygame.draw.circle(surface, TEXT, at(36, 2).tolist(), 3.0 * k)
    marks.arrow(surface, at(6, 3), at(34, 3), YELLOW, k)
    marks.arrow(surface, at(6, 4), at(34, 4), VERMILION, k)
    marks.dotted(surface, np.array([at(x, 5) for x in (6, 13, 20, 27, 34)]), SKY, k)
    pygame.draw.line(surface, PURPLE, at(4, 6).tolist(), at(36, 6).tolist(), round(2.0 * k))
    pygame.draw.circle(surface, PURPLE, at(20, 6).tolist(), 5.0 * k)
    if turns:
        for x, color in ((10, SKY), (30, TEXT)):
            _axes(surface, at(x, 7), color, k)
        turn = np.linspace(-0.5, 3.9, 40)[:, None]
        arc = at(20, 8) + 7.0 * k * np.hstack([np.cos(turn), -np.sin(turn)])
        marks.bent_arrow(surface, arc, VERMILION, k)
    return surface


def _axes(surface: pygame.Surface, middle: np.ndarray, color: Color, k: float) -> None:
    """The cross of ``turning``, small."""
    for x, y in ((8, -1), (-3, 4), (0, -8)):
        end = middle + np.array([x, y]) * k
        pygame.draw.line(surface, color, middle.tolist(), end.tolist(), round(1.5 * k))
        if x > 0:
            pygame.draw.circle(surface, color, end.tolist(), 2.5 * k)
