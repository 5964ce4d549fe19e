"""Texts in the picture, placed so that none covers another; a line leads to what a text is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pygame

from hapticsim.display.palette import WELL, Color, Type

_GAP = 2  # [px] between two texts
_NEAR = 26.0  # [px] from a place to the middle of its text, beyond which a line leads there
_DISC = 9  # [px] radius of the ground of a number


@dataclass(frozen=True)
class Label:
    """Text to be written beside a place of the picture once the picture is finished."""

    text: str
    at: tuple[float, float]  # [px] of the screen, the place it is about
    color: Color
    in_disc: bool = False  # on a dark disc: the number of a constraint


def write_labels(type_: Type, surface: pygame.Surface, labels: Sequence[Label]) -> list[pygame.Rect]:
    """Write all labels for which there is room; returns the rectangles that they take."""
    sizes = [_size(type_, label) for label in labels]
    taken: list[pygame.Rect] = []
    for label, place in zip(labels, place_labels(labels, sizes, surface.get_rect()), strict=True):
        if place is None:
            continue
        taken.append(place)
        middle = pygame.Vector2(place.center)
        away = middle - label.at
        if away.length() > _NEAR + 0.5 * (0 if label.in_disc else place.width):
            end = _border(place, away)
            pygame.draw.line(surface, WELL, label.at, end, 3)
            pygame.draw.line(surface, label.color, label.at, end, 1)
        if label.in_disc:
            pygame.draw.aacircle(surface, WELL, place.center, _DISC)
        width, height = type_.body.size(label.text)
        type_.write(surface, label.text, (place.centerx - width / 2, place.centery - height / 2), label.color)
    return taken


def place_labels(
    labels: Sequence[Label], sizes: Sequence[tuple[int, int]], area: pygame.Rect
) -> list[pygame.Rect | None]:
    """A rectangle inside the area for each label, none over another; None where there is no room near by.

    Greedy, in the order of the labels: each takes the first free of some places around its own, right of it
    first, then farther away.

    sizes : [px] width and height of each.
    """
    taken: list[pygame.Rect] = []
    places: list[pygame.Rect | None] = []
    for label, size in zip(labels, sizes, strict=True):
        found = next((r for r in _candidates(label, size) if _is_free(r, taken, area)), None)
        if found is not None:
            taken.append(found)
        places.append(found)
    return places


def _is_free(place: pygame.Rect, taken: list[pygame.Rect], area: pygame.Rect) -> bool:
    return area.contains(place) and place.inflate(2 * _GAP, 2 * _GAP).collidelist(taken) < 0


def _candidates(label: Label, size: tuple[int, int]) -> list[pygame.Rect]:
    """Rectangles around a place, the wanted one first."""
    x, y = label.at
    width, height = size
    found = []
    for ring in range(7):
        out = (14 if label.in_disc else 8) + 20 * ring
        for across, up in ((1, 0.4), (1, 1), (-1, 0.4), (1, -1), (-1, 1), (0, 1), (-1, -1), (0, -1)):
            middle = (x + across * (out + 0.5 * width), y - up * (out + 0.5 * height))
            rectangle = pygame.Rect(0, 0, width, height)
            rectangle.center = (round(middle[0]), round(middle[1]))
            found.append(rectangle)
    return found


def _border(place: pygame.Rect, away: pygame.Vector2) -> tuple[float, float]:
    """Where the way from outside to the middle of a rectangle meets its border."""
    shares = [
        half / abs(part)
        for half, part in ((place.width / 2, away.x), (place.height / 2, away.y))
        if abs(part) > 1e-9
    ]
    share = min([*shares, 1.0])
    return place.centerx - share * away.x, place.centery - share * away.y


def _size(type_: Type, label: Label) -> tuple[int, int]:
    return (2 * _DISC, 2 * _DISC) if label.in_disc else type_.body.size(label.text)
