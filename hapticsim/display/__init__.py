"""The window: what the server publishes, drawn, and the pointer that moves the hand.

    messages   what of a payload the window understands (reading: how; orientation: of quaternions;
               constraint_messages, turning_messages: of constraints and of the rotation)
    stats      figures that may be missing
    feed       the newest of every topic, and its age
    camera     world points to pixels, and back to rays
    clip       what the camera can see of a line or a polygon
    mesh       shapes to faces
    order      which face hides which
    faces      lit faces, painted far to near
    shadow     where the tip is above the table
    signs      coupler, forces, contacts, target (marks: their outlines)
    turning    how device and handle are turned, torque on the hand
    guides     loops, guides and locks
    draw       all of these, one frame
    legend     what the signs mean
    words      safety states, faults and silence, in sentences
    panel      the column of figures (gauges: its bars and strips; torque_meter; constraint_list: what holds)
    notices    words over the scene
    pointer    pixel to target of the hand
    controls   keys and buttons
    switching  the number keys
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
