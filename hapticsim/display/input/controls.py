"""Keys, buttons and wheel: what each does to the view, to the hand's target and to the force."""

from __future__ import annotations

import math

import numpy as np
import pygame

from hapticsim.display.input.pointer import DISENGAGE, ENGAGE, FIRST, SECOND, Buttons, PointerTarget
from hapticsim.display.scene.camera import OrbitCamera

_TURN_KEY = math.radians(4.0)  # per key press; keys repeat
_TURN_PIXEL = math.radians(0.35)
_ZOOM = 1.1
_WHEEL_M = 0.004  # device metres per notch
_ESC_AGAIN_S = 2.0
_TURN_RATE = 1.5  # [rad/s] of the hand, while a key is held
_LONGEST_S = 0.1  # that counts as held: the hand does not catch up with a frame that took long
_SHIFT = (pygame.K_LSHIFT, pygame.K_RSHIFT)
_FREE = {pygame.K_b: FIRST, pygame.K_n: SECOND}
_HAND = {pygame.K_COMMA: 1.0, pygame.K_PERIOD: -1.0}  # seen from above: to the left, to the right
_TURNS = {
    pygame.K_LEFT: (-_TURN_KEY, 0.0),
    pygame.K_RIGHT: (_TURN_KEY, 0.0),
    pygame.K_UP: (0.0, _TURN_KEY),
    pygame.K_DOWN: (0.0, -_TURN_KEY),
}


class Controls:
    """State of the input: what is open, what was asked for, and where the pointer stands.

    ``pointer`` is None until a scene is known, and stays None when this window does not steer.
    """

    def __init__(self, camera: OrbitCamera) -> None:
        self.camera = camera
        self.pointer: PointerTarget | None = None
        self.buttons = Buttons()
        self.closing = False
        self.help_shown = False
        self.screenshot_wanted = False
        self.first_view_wanted = False
        self.resized = False
        self.switches_wanted: list[int] = []  # numbers of constraints, from 1
        self._down: set[int] = set()  # keys that switch: they repeat, and one press is one wish
        self._turning: set[int] = set()  # keys held that turn the hand
        self._turned_s = 0.0
        self._shift = False  # followed event by event: asking pygame tells the end of a batch of events
        self._esc_at_s = -math.inf
        self._at_px = (0.5 * camera.width_px, 0.5 * camera.height_px)
        self._pointed = False  # the pointer was moved over the view

    def esc_again(self, now_s: float) -> bool:
        """Whether Esc was pressed a moment ago, so that a second press closes the window."""
        return now_s - self._esc_at_s < _ESC_AGAIN_S

    def take(self, event: pygame.event.Event, now_s: float) -> None:
        """Act on one event at monotonic time ``now_s``."""
        if event.type == pygame.QUIT:
            self.closing = True
        elif event.type == pygame.VIDEORESIZE:
            self.resized = True
        elif event.type == pygame.KEYDOWN:
            self._key(event, now_s)
        elif event.type == pygame.KEYUP:
            self._shift = self._shift and event.key not in _SHIFT
            self._down.discard(event.key)
            self._turning.discard(event.key)
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._shift = False
            self._down.clear()
            self._turning.clear()
        elif event.type == pygame.MOUSEMOTION:
            self._move(event)
        elif event.type == pygame.MOUSEWHEEL:
            self._push(event.y * _WHEEL_M)
        elif event.type == pygame.MOUSEBUTTONDOWN and self._in_view(event.pos):
            if event.button == pygame.BUTTON_LEFT:
                self.buttons.click(ENGAGE, now_s)
            elif event.button == pygame.BUTTON_RIGHT:
                self.buttons.click(DISENGAGE, now_s)

    def map_again(self, origin_W: np.ndarray, R_WD: np.ndarray, motion_scale: float, reach: float) -> None:
        """The device lies elsewhere in the world now (`PointerTarget`): the target stays under the pointer.

        A pointer that never moved asks for nothing: its target stays in the middle of the device.
        """
        if self.pointer is None:
            return
        self.pointer.origin_W, self.pointer.R_WD = origin_W, R_WD
        self.pointer.motion_scale, self.pointer.reach = motion_scale, reach
        if self._pointed:
            self.pointer.follow(*self._at_px, self.camera)

    def rotate_hand(self, now_s: float) -> None:
        """Turn the hand while a key for it is held; called again and again."""
        elapsed_s = min(max(now_s - self._turned_s, 0.0), _LONGEST_S)
        self._turned_s = now_s
        if self.pointer is not None:
            self.pointer.rotate_by(_TURN_RATE * elapsed_s * sum(_HAND[key] for key in self._turning))

    def _in_view(self, at_px: tuple[int, int]) -> bool:
        return 0 <= at_px[0] < self.camera.width_px and 0 <= at_px[1] < self.camera.height_px

    def _key(self, event: pygame.event.Event, now_s: float) -> None:
        key = event.key
        if key in _SHIFT:
            self._shift = True
        if event.unicode and event.unicode in "123456789":
            if key not in self._down:
                self.switches_wanted.append(int(event.unicode))
            self._down.add(key)
        elif key in _FREE:
            if key not in self._down:
                self.buttons.click(_FREE[key], now_s)
            self._down.add(key)
        elif key in _HAND:
            self._turning.add(key)
        elif key in _TURNS:
            self.camera.orbit(*_TURNS[key])
            self._keep_offset()
        elif key in (pygame.K_PLUS, pygame.K_EQUALS, pygame.K_KP_PLUS) or event.unicode == "+":
            self._zoom(1.0 / _ZOOM)
        elif key in (pygame.K_MINUS, pygame.K_KP_MINUS) or event.unicode == "-":
            self._zoom(_ZOOM)
        elif key == pygame.K_SPACE:
            self.buttons.click(ENGAGE, now_s)
        elif key == pygame.K_ESCAPE:
            self.closing = self.esc_again(now_s)
            self.buttons.click(DISENGAGE, now_s)
            self._esc_at_s = now_s
        elif key == pygame.K_q:
            self.closing = True
        elif key == pygame.K_s:
            self.screenshot_wanted = True
        elif key == pygame.K_h:
            self.help_shown = not self.help_shown
        elif key == pygame.K_v:
            self.first_view_wanted = True
        elif key == pygame.K_r and self.pointer is not None:
            self.pointer.reset_depth()
            self.pointer.follow(*self._at_px, self.camera)

    def _move(self, event: pygame.event.Event) -> None:
        if event.buttons[1]:  # middle button held: turn the view
            self.camera.orbit(-event.rel[0] * _TURN_PIXEL, event.rel[1] * _TURN_PIXEL)
            self._at_px = event.pos
            self._keep_offset()
        elif self._shift:
            self._at_px = event.pos
            if self.pointer is not None:
                depth = float(self.camera.to_camera(self.pointer.to_world(self.pointer.target_D)[None])[0, 1])
                self.pointer.push(-event.rel[1] * depth / self.camera.focal_px, self.camera)
                self._keep_offset()
        elif self._in_view(event.pos):
            self._at_px, self._pointed = event.pos, True
            if self.pointer is not None:
                self.pointer.follow(*self._at_px, self.camera)

    def _push(self, step: float) -> None:
        if self.pointer is not None:
            self.pointer.push(step * self.pointer.motion_scale, self.camera)
            self.pointer.follow(*self._at_px, self.camera)

    def _zoom(self, factor: float) -> None:
        self.camera.zoom(factor)
        self._keep_offset()

    def _keep_offset(self) -> None:
        """The view moved, or the depth, and the hand must not: the pointer goes on from where it is."""
        if self.pointer is not None:
            self.pointer.keep_offset(*self._at_px, self.camera)
