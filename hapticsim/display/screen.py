"""The surface that a window shows: opened, brought to a size that can be drawn on, saved as a picture."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pygame

from hapticsim.display.panel.panel import WIDTH as PANEL_WIDTH
from hapticsim.errors import ConfigError, DeviceError
from hapticsim.files.new_file import check_new_file

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tga")
SIZE = (1100, 720)  # [px] at the start
_SMALLEST = (PANEL_WIDTH + 200, 300)


def open_screen(in_memory: bool = False) -> pygame.Surface:
    """The window's surface.  Only video and fonts are started: sound would claim the sound card.

    in_memory : nobody has to see it; where there is no display, draw without one.

    Raises DeviceError when there is no display.
    """
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    if in_memory and not has_display:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    refusal = "no display: set DISPLAY or WAYLAND_DISPLAY, or give --screenshot FILE.png to draw without one."
    try:
        with _without_words():
            pygame.display.init()
        if pygame.display.get_driver() in ("dummy", "offscreen") and not os.environ.get("SDL_VIDEODRIVER"):
            pygame.display.quit()
            raise DeviceError(refusal)
        pygame.display.set_caption("hapticsim")
        pygame.key.set_repeat(300, 40)
        return pygame.display.set_mode(SIZE, pygame.RESIZABLE)
    except pygame.error as problem:
        raise DeviceError(refusal) from problem


@contextmanager
def _without_words() -> Iterator[None]:
    """Keep SDL and the libraries below it from writing to standard error: what is wrong is said here."""
    kept = os.dup(2)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def resized_screen(before: pygame.Surface) -> pygame.Surface:
    """The surface after the user resized the window, made larger again where nothing would fit."""
    screen = pygame.display.get_surface() or before
    width, height = (max(a, b) for a, b in zip(screen.get_size(), _SMALLEST, strict=True))
    if (width, height) != screen.get_size():
        screen = pygame.display.set_mode((width, height), pygame.RESIZABLE)
    return screen


def save_picture(screen: pygame.Surface, path: Path) -> None:
    """Save what is on the screen.

    Raises
    ------
    ConfigError : the file cannot be written.
    """
    try:
        pygame.image.save(screen, path)
    except (pygame.error, OSError) as problem:
        raise ConfigError(
            path, "", f"cannot be saved ({problem}): save the picture to a file in a folder you can write."
        ) from problem


def check_can_save(path: Path) -> None:
    """Refuse now what ``save_picture`` would refuse after the last frame.

    Raises
    ------
    ConfigError : it exists already, is no kind of picture, or in a folder that cannot be written.
    """
    check_new_file(path, PICTURES, "a picture")
