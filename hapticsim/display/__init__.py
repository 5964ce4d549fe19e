"""The window: what the server publishes, drawn, and the pointer that moves the hand.

    messages   what of a payload the window understands
    feed       the newest of every topic, and its age
    palette    colours and type
    scene      camera, faces, signs: one frame
    panel      the column of figures, and words over the scene
    input      pointer, keys and wheel
    screen     the surface: opened, resized, saved
    pace       how often and how finely to draw
    window     the loop

The window meets the server only through ``hapticsim.wire``; it needs pygame (extra ``window``).
"""

from __future__ import annotations

import os

from hapticsim.errors import DeviceError

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

try:
    import pygame as _pygame  # noqa: F401
except ImportError as _missing:  # the server side installs without it
    raise DeviceError(
        "the window needs pygame: install it with `pip install 'hapticsim[window]'`."
    ) from _missing
