"""The surface that a window shows: opened, brought to a size that can be drawn on, saved as a picture."""

from __future__ import annotations

import os
from pathlib import Path

import pygame

from hapticsim.display.panel import WIDTH as PANEL_WIDTH
from hapticsim.errors import ConfigError, DeviceError

SIZE = (1100, 720)  # [px] at the start
_SMALLEST = (PANEL_WIDTH + 200, 300)


def open_screen() -> pygame.Surface:
    """The window's surface.  Only video and fonts are started: sound would claim the sound card.

    Raises DeviceError when there is no display.
    """
    refusal = "no display: set DISPLAY or WAYLAND_DISPLAY, or SDL_VIDEODRIVER=dummy to draw without one."
    try:
        pygame.display.init()
        if pygame.display.get_driver() in ("dummy", "offscreen") and not os.environ.get("SDL_VIDEODRIVER"):
            pygame.display.quit()
            raise DeviceError(refusal)
        pygame.display.set_caption("hapticsim")
        pygame.key.set_repeat(300, 40)
        return pygame.display.set_mode(SIZE, pygame.RESIZABLE)
    except pygame.error as problem:
        raise DeviceError(refusal) from problem


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
    ConfigError : a folder, or in one that does not exist or cannot be written.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ConfigError(path, "", "is in a folder that does not exist: make it first.")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ConfigError(
            path, "", "cannot be written: save the picture to a file in a folder you can write."
        )
