"""Colours and type, once for the whole window.

Meaning is never carried by hue alone: every colour stands beside a word or a shape.  The signal colours are
the Okabe-Ito set, which people with any common colour vision tell apart.
"""

from __future__ import annotations

import pygame

Color = tuple[int, int, int]

ORANGE: Color = (230, 159, 0)
SKY: Color = (86, 180, 233)
GREEN: Color = (24, 186, 140)  # lighter than the set's 0, 158, 115, to read as text on dark
YELLOW: Color = (240, 228, 66)
BLUE: Color = (0, 114, 178)
VERMILION: Color = (226, 104, 30)  # likewise; 213, 94, 0 in the set
PURPLE: Color = (204, 121, 167)

SKY_TOP: Color = (58, 68, 84)
SKY_BOTTOM: Color = (24, 28, 36)
GRID: Color = (98, 110, 128)
PANEL: Color = (30, 34, 42)
WELL: Color = (19, 22, 28)  # behind bars and strips
LINE: Color = (66, 74, 88)
TEXT: Color = (232, 236, 241)
FAINT: Color = (158, 168, 182)

_TYPEFACES = ["dejavusans", "liberationsans", "notosans", "segoeui", "arial", "helvetica"]
_SIZES = (12, 14, 20)  # [px]
_PICTURES_KEPT = 500


def blend(a: Color, b: Color, part: float) -> Color:
    """Colour between a (part 0) and b (part 1)."""
    return (
        round(a[0] + (b[0] - a[0]) * part),
        round(a[1] + (b[1] - a[1]) * part),
        round(a[2] + (b[2] - a[2]) * part),
    )


class Type:
    """The three sizes of text, in whatever plain typeface the machine has (pygame's own if it has none)."""

    def __init__(self) -> None:
        pygame.font.init()
        found = pygame.font.match_font(_TYPEFACES)
        shrink = 1.0 if found else 1.2  # the size of pygame's own typeface is measured otherwise
        self.small, self.body, self.large = (pygame.font.Font(found, round(s * shrink)) for s in _SIZES)
        self._pictures: dict[tuple[int, str, Color], pygame.Surface] = {}

    def write(
        self,
        surface: pygame.Surface,
        text: str,
        at: tuple[float, float],
        color: Color = TEXT,
        font: pygame.font.Font | None = None,
        right: bool = False,
    ) -> float:
        """Write one line with its upper left (or right) corner at a pixel; returns its width in pixels."""
        picture = self._picture(font or self.body, text, color)
        x = at[0] - picture.get_width() if right else at[0]
        surface.blit(picture, (x, at[1]))
        return float(picture.get_width())

    def _picture(self, font: pygame.font.Font, text: str, color: Color) -> pygame.Surface:
        """Rendered text; most of it stays the same from frame to frame."""
        key = (id(font), text, color)
        if key not in self._pictures:
            if len(self._pictures) >= _PICTURES_KEPT:
                self._pictures.clear()
            self._pictures[key] = font.render(text, True, color)
        return self._pictures[key]

    def wrap(self, text: str, width: float, font: pygame.font.Font | None = None) -> list[str]:
        """Break a sentence into lines that fit a width in pixels."""
        lines, line, size = [], "", (font or self.body).size
        for word in text.split():
            longer = f"{line} {word}" if line else word
            if line and size(longer)[0] > width:
                lines.append(line)
                line = word
            else:
                line = longer
        return [*lines, line] if line else lines
