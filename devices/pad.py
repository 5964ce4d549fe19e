"""The pad: a small window in which a mouse moves a hand.

Pointer: X and Z.  Wheel, or the pointer with Shift held: Y, away from the user.  Left button (or space):
engage.  Right button (or escape): disengage.  B and N: the first and second button of a scene.  Q and E,
held: turn the hand about Z, where the handle turns.
"""

from __future__ import annotations

import math
import os
import signal
from typing import Any

import pygame

from hapticsim.codes import Fault, Safety

from .base import DISENGAGE, ENGAGE, FIRST, SECOND
from .pad_shared import CLOSED, FAILED, OPEN, PadTerms

SIZE = 460  # pixels, square
GAUGE = 34  # pixels at the right for Y
FRAMES_PER_S = 60
UNSEEN = ("dummy", "offscreen")  # what SDL falls back to when no display answers; only on request
WHEEL_STEP = 0.04  # of the reach per notch
TURN_RATE = 1.5  # [rad/s] while Q or E is held
TURN_REACH = 2.0  # [rad] either way
KEYS = {pygame.K_SPACE: ENGAGE, pygame.K_ESCAPE: DISENGAGE, pygame.K_b: FIRST, pygame.K_n: SECOND}
DIAL = 26  # pixels, radius of the dial that shows the turn

GROUND, RING, GRID = (24, 27, 34), (78, 88, 104), (40, 45, 55)
TARGET, HANDLE, PUSH, TEXT = (120, 190, 255), (245, 245, 240), (255, 120, 90), (200, 206, 216)
MODE_COLORS = {
    Safety.DISARMED: (150, 156, 166),
    Safety.ARMING: (240, 200, 90),
    Safety.ARMED: (110, 220, 140),
    Safety.FAULT: (255, 100, 90),
    Safety.INTERRUPTED: (240, 160, 70),
}


def run_pad(shared: Any, terms: PadTerms) -> None:
    """Body of the window's process: until the user closes it, the driver asks it to, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the bridge, which then closes the window
    driver = os.getppid()
    try:
        pygame.display.init()
        if pygame.display.get_driver() in UNSEEN and not os.environ.get("SDL_VIDEODRIVER"):
            raise pygame.error("nobody would see it")
        pygame.font.init()
        screen = pygame.display.set_mode((SIZE + GAUGE, SIZE))
    except pygame.error:
        shared.state = FAILED
        return
    pygame.display.set_caption(f"hapticsim pad: {terms.model}")
    pad = Pad(shared, terms, screen)
    clock = pygame.time.Clock()
    shared.state = OPEN
    while not shared.leave and os.getppid() == driver:
        if not pad.take_events(pygame.event.get()):
            break
        shared.looks += 1
        pad.draw()
        pygame.display.flip()
        pad.turn(1e-3 * clock.tick(FRAMES_PER_S))
    shared.state = CLOSED
    pygame.quit()


class Pad:
    """The window's content: events in, numbers out, and the other way round."""

    def __init__(self, shared: Any, terms: PadTerms, screen: pygame.Surface) -> None:
        self._shared, self._terms, self._screen = shared, terms, screen
        self._font = pygame.font.Font(None, 20)
        self._per_pixel = 2.0 * terms.reach_m / SIZE  # [m]

    def take_events(self, events: list[pygame.event.Event]) -> bool:
        """Move the goal and the buttons; False when the user closed the window."""
        shared = self._shared
        for event in events:
            if event.type == pygame.QUIT:
                return False
            if event.type == pygame.MOUSEMOTION:
                self._move(event.pos, event.rel)
            elif event.type == pygame.MOUSEWHEEL:
                self._deepen(event.y * WHEEL_STEP * self._terms.reach_m)
            elif event.type in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
                bit = {1: ENGAGE, 3: DISENGAGE}.get(event.button, 0)
                self._press(bit, event.type == pygame.MOUSEBUTTONDOWN)
            elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
                self._press(KEYS.get(event.key, 0), event.type == pygame.KEYDOWN)
            elif event.type == pygame.WINDOWFOCUSLOST:
                shared.buttons = 0  # a release outside the window never arrives
        return True

    def turn(self, elapsed_s: float) -> None:
        """Move the goal of the turn while Q (left about Z, seen from above) or E is held."""
        keys = pygame.key.get_pressed()
        step = TURN_RATE * elapsed_s * (int(keys[pygame.K_q]) - int(keys[pygame.K_e]))
        self._shared.turn_goal_rad = min(max(self._shared.turn_goal_rad + step, -TURN_REACH), TURN_REACH)

    def draw(self) -> None:
        """Draw the workspace, the hand's target, the handle, the force and the server's mode."""
        screen, shared, terms = self._screen, self._shared, self._terms
        screen.fill(GROUND)
        middle = SIZE // 2
        pygame.draw.line(screen, GRID, (0, middle), (SIZE, middle))
        pygame.draw.line(screen, GRID, (middle, 0), (middle, SIZE))
        pygame.draw.circle(screen, RING, (middle, middle), terms.workspace_radius_m / self._per_pixel, 2)

        target, handle = self._pixel(shared.target_m), self._pixel(shared.handle_m)
        if target is not None and handle is not None:
            pygame.draw.aaline(screen, TARGET, handle, target)
        if target is not None:
            pygame.draw.circle(screen, TARGET, target, 9, 2)
        if handle is not None:
            fx, _, fz = shared.force_N
            scale = 0.3 * SIZE / terms.max_force_N
            tip = (handle[0] + fx * scale, handle[1] - fz * scale)
            pygame.draw.line(screen, PUSH, handle, tip, 3)
            pygame.draw.circle(screen, HANDLE, handle, 6)
        self._draw_gauge(shared.target_m[1], TARGET, 2)
        self._draw_gauge(shared.handle_m[1], HANDLE, 0)
        if terms.turns:
            self._draw_dial(shared.turn_goal_rad, TARGET, 2)
            self._draw_dial(shared.turn_rad, HANDLE, 3)
        self._draw_words()

    def _draw_dial(self, angle: float, color: tuple[int, int, int], width: int) -> None:
        """The turn about Z, seen from above: straight up is away from the user."""
        x, y = DIAL + 14, SIZE - DIAL - 34
        tip = (x - DIAL * math.sin(angle), y - DIAL * math.cos(angle))
        pygame.draw.circle(self._screen, RING, (x, y), DIAL, 1)
        pygame.draw.line(self._screen, color, (x, y), tip, width)

    def _draw_gauge(self, depth_m: float, color: tuple[int, int, int], width: int) -> None:
        if depth_m == depth_m:  # not NaN
            centre = (SIZE + GAUGE // 2, round(SIZE / 2 - depth_m / self._per_pixel))
            pygame.draw.circle(self._screen, color, centre, 6, width)

    def _draw_words(self) -> None:
        shared, mode = self._shared, self._shared.mode
        name, color = "no server", MODE_COLORS[Safety.DISARMED]
        if mode >= 0:
            name, color = Safety(mode).name, MODE_COLORS[Safety(mode)]
            if shared.fault:
                name += f": {Fault(shared.fault).name}"
        force = sum(c * c for c in shared.force_N) ** 0.5
        self._write(f"{name}   {force:.1f} N", color, (10, 8))
        words = "left button: engage   right: disengage   wheel or Shift: depth"
        self._write(f"{words}   Q, E: turn" if self._terms.turns else words, TEXT, (10, SIZE - 22))
        self._write("Y", TEXT, (SIZE + GAUGE // 2 - 4, 8))

    def _write(self, text: str, color: tuple[int, int, int], place: tuple[int, int]) -> None:
        self._screen.blit(self._font.render(text, True, color), place)

    def _pixel(self, point_m: Any) -> tuple[float, float] | None:
        x, z = point_m[0], point_m[2]
        if x != x or z != z:
            return None
        return SIZE / 2 + x / self._per_pixel, SIZE / 2 - z / self._per_pixel

    def _move(self, place: tuple[int, int], step: tuple[int, int]) -> None:
        if pygame.key.get_mods() & pygame.KMOD_SHIFT:
            self._deepen(-step[1] * self._per_pixel)
            return
        self._shared.goal_m[0] = (min(place[0], SIZE) - SIZE / 2) * self._per_pixel
        self._shared.goal_m[2] = (SIZE / 2 - place[1]) * self._per_pixel

    def _deepen(self, step_m: float) -> None:
        reach = self._terms.reach_m
        self._shared.goal_m[1] = min(max(self._shared.goal_m[1] + step_m, -reach), reach)

    def _press(self, bit: int, down: bool) -> None:
        self._shared.buttons = self._shared.buttons | bit if down else self._shared.buttons & ~bit
