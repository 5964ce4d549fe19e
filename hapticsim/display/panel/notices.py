"""Words over the scene: the banner when nothing arrives, the help with the legend, a line at the bottom."""

from __future__ import annotations

import pygame

from hapticsim.display.palette import FAINT, LINE, ORANGE, PANEL, TEXT, Type
from hapticsim.display.panel.words import HELP

_BANNER_WIDTH = 560  # [px]
_HELP_SIZE = (470, 24 + 22 * len(HELP))


def draw_banner(type_: Type, view: pygame.Surface, text: str) -> None:
    """A sentence at the top, in the middle."""
    width = min(_BANNER_WIDTH, view.get_width() - 20)
    lines = type_.wrap(text, width - 40)
    box = pygame.Rect(0, 0, width, 24 + 20 * len(lines))
    box.midtop = (view.get_width() // 2, 24)
    view.fill(PANEL, box)
    view.fill(ORANGE, (box.left, box.top, 6, box.height))
    for row, line in enumerate(lines):
        type_.write(view, line, (box.left + 20, box.top + 13 + 20 * row), TEXT)


def draw_help(type_: Type, view: pygame.Surface, legend: pygame.Surface) -> None:
    """Every key and what it does, and every sign and what it means."""
    keys = pygame.Rect((14, 14), _HELP_SIZE)
    signs = pygame.Rect(keys.left, keys.bottom + 10, keys.width, legend.get_height() + 20)
    for box in (keys, signs):
        view.fill(PANEL, box)
        pygame.draw.rect(view, LINE, box, 1)
    for row, (key, does) in enumerate(HELP):
        y = keys.top + 14 + 22 * row
        type_.write(view, key, (keys.left + 14, y), TEXT)
        type_.write(view, does, (keys.left + 196, y), FAINT)
    view.blit(legend, (signs.left + 14, signs.top + 10))


def draw_hint(type_: Type, view: pygame.Surface, text: str) -> None:
    """One quiet line in the lower left corner, on a ground of its own: the floor is as pale as it is."""
    width, height = type_.body.size(text)
    at = (14, view.get_height() - 26)
    view.fill(PANEL, pygame.Rect(at, (width, height)).inflate(12, 6))
    type_.write(view, text, at, FAINT)
