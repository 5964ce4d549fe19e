"""A gamepad steers the hand, and rumbles with the force.

Options besides those of ``hapticsim_devices.held``:

    mode            rate (a stick gives a speed, the target stays where it was left) or position (a stick
                    gives a place)
    joystick        0: which gamepad
    axis_x, axis_z  0, 1: the stick's axes, right and down positive, for X and -Z
    trigger_toward, trigger_away
                    2, 5: trigger axes for Y; the shoulder buttons 4 and 5 do the same
    reach           1.5: how far the target may go, in workspace radii
    axis_turn       3: the other stick's axis, right positive, turns the hand about Z (to the right) where
                    ``turning`` is true, up to 2 rad either way

Button 0 engages, button 1 disengages; 2 and 3 are the first and second button of a scene.  Rumble is
vibration, not force: it tells that something pushes and how hard, not where to. Each rumble lasts twice the
time to the next one, so that it dies by itself when the driver does.
"""

from __future__ import annotations

import math
import os
from importlib.util import find_spec
from typing import Any, ClassVar

from hapticsim.errors import DeviceError

from .base import DISENGAGE, ENGAGE, FIRST, SECOND, ZERO, Vector
from .held import HeldDriver
from .options import Options
from .target import SmoothTarget, within

DEAD_ZONE = 0.12  # worn sticks rest within a tenth of their travel
POLL_S = 0.004  # gamepads report every 4 to 10 ms
RUMBLE_S = 0.05
BUTTONS = (ENGAGE, DISENGAGE, FIRST, SECOND)  # of the gamepad's buttons 0 to 3
SHOULDER_TOWARD, SHOULDER_AWAY = 4, 5
TURN_REACH = 2.0  # [rad] either way: a wrist turns no further


class Gamepad(HeldDriver):
    """An emulated device moved by a gamepad."""

    name: ClassVar[str] = "gamepad"

    def _take_options(self, options: Options) -> None:
        self._rate_mode = options.text("mode", "rate", choices=("rate", "position")) == "rate"
        self._index = options.count("joystick", 0)
        self._axes = (options.count("axis_x", 0), options.count("axis_z", 1))
        self._axis_turn = options.count("axis_turn", 3)
        self._triggers = (options.count("trigger_toward", 2), options.count("trigger_away", 5))
        radius = self.info.limits.workspace_radius_m
        self._reach_m = options.number("reach", 1.5, above=0.0, at_most=10.0) * radius
        self._target = SmoothTarget(self.hand_speed_m_per_s)
        self._goal: Vector = ZERO
        self._turn = SmoothTarget(self.hand_speed_rad_per_s)  # of the angle, in its first number
        self._turn_goal = self._twist = 0.0  # [rad]; deflection in [-1, 1], left positive
        self._stick: Vector = ZERO  # deflection in X, Y, Z, each in [-1, 1]
        self._buttons = 0
        self._polled_s = self._rumbled_s = -math.inf
        self._force_N = self._force_before_N = 0.0
        self._moved: set[int] = (
            set()
        )  # triggers that have reported: before that, SDL says 0 for a trigger at rest
        self._joystick: Any = None

    @classmethod
    def unavailable(cls) -> str | None:
        if find_spec("pygame") is None:
            return "pygame is missing: install hapticsim[window]."
        if _joysticks().get_count() == 0:
            return "no gamepad is connected: plug one in, or use the driver 'mouse' or 'scripted'."
        return None

    def open(self) -> None:
        reason = self.unavailable()
        if reason is not None:
            raise DeviceError(f"gamepad: {reason}")
        joysticks = _joysticks()
        if self._index >= joysticks.get_count():
            raise DeviceError(
                f"gamepad: there is no gamepad {self._index}: "
                f"give option joystick from 0 to {joysticks.get_count() - 1}."
            )
        self._joystick = joysticks.Joystick(self._index)

    def _steer(self, time_s: float) -> tuple[Vector, int, int]:
        if self._joystick is not None and time_s - self._polled_s >= POLL_S:
            elapsed_s = min(time_s - self._polled_s, 10.0 * POLL_S)
            self._polled_s = time_s
            self._poll()
            self._aim(elapsed_s)
            if time_s - self._rumbled_s >= RUMBLE_S:
                self._rumbled_s = time_s
                self._rumble()
        return self._target.at(time_s, self._goal), self._buttons, 0

    def _steer_rotation(self, time_s: float) -> float:
        return self._turn.at(time_s, (self._turn_goal, 0.0, 0.0))[0]

    def write(self, force_N: Vector) -> Vector:
        sent = super().write(force_N)
        self._force_N = math.sqrt(sent[0] ** 2 + sent[1] ** 2 + sent[2] ** 2)
        return sent

    def close(self) -> None:
        super().close()
        if self._joystick is not None:
            self._joystick.stop_rumble()
            self._joystick.quit()
            self._joystick = None

    def _poll(self) -> None:
        import pygame

        for event in pygame.event.get():
            if (
                event.type == pygame.JOYDEVICEREMOVED
                and event.instance_id == self._joystick.get_instance_id()
            ):
                raise DeviceError("gamepad: it was unplugged: plug it in and start again.")
        x, z = (self._axis(i) for i in self._axes)
        toward, away = (self._trigger(i) for i in self._triggers)
        toward = max(toward, float(self._button(SHOULDER_TOWARD)))
        away = max(away, float(self._button(SHOULDER_AWAY)))
        self._stick = (beyond_dead_zone(x), away - toward, -beyond_dead_zone(z))
        self._buttons = sum(bit for i, bit in enumerate(BUTTONS) if self._button(i))
        self._twist = -beyond_dead_zone(self._axis(self._axis_turn))

    def _aim(self, elapsed_s: float) -> None:
        scale = self.hand_speed_m_per_s * elapsed_s if self._rate_mode else self._reach_m
        origin = self._goal if self._rate_mode else ZERO
        x, y, z = (o + scale * s for o, s in zip(origin, self._stick, strict=True))
        self._goal = within((x, y, z), self._reach_m)
        step = self.hand_speed_rad_per_s * elapsed_s if self._rate_mode else TURN_REACH
        turn = (self._turn_goal if self._rate_mode else 0.0) + step * self._twist
        self._turn_goal = min(max(turn, -TURN_REACH), TURN_REACH)

    def _rumble(self) -> None:
        strong = min(self._force_N / self.info.limits.max_force_N, 1.0)
        change = min(abs(self._force_N - self._force_before_N) / self.info.limits.max_force_N, 1.0)
        self._force_before_N = self._force_N
        if strong > 0.0 or change > 0.0:
            self._joystick.rumble(strong, change, round(2000.0 * RUMBLE_S))

    def _axis(self, index: int) -> float:
        return self._joystick.get_axis(index) if index < self._joystick.get_numaxes() else 0.0

    def _trigger(self, index: int) -> float:
        value = self._axis(index)
        if value != 0.0:
            self._moved.add(index)
        return 0.5 * (value + 1.0) if index in self._moved else 0.0

    def _button(self, index: int) -> bool:
        return bool(index < self._joystick.get_numbuttons() and self._joystick.get_button(index))


def beyond_dead_zone(deflection: float) -> float:
    """The deflection of a stick without its dead zone, continuous, still reaching -1 and 1."""
    size = abs(deflection)
    if size <= DEAD_ZONE:
        return 0.0
    return math.copysign(min((size - DEAD_ZONE) / (1.0 - DEAD_ZONE), 1.0), deflection)


def _joysticks() -> Any:
    """pygame's joystick module, ready; needs no window, and hears gamepads whoever has the focus."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")
    import pygame

    if not pygame.display.get_init():
        before = os.environ.get("SDL_VIDEODRIVER")
        os.environ["SDL_VIDEODRIVER"] = "dummy"
        try:
            pygame.display.init()
        finally:  # what a window of this process would look at
            if before is None:
                del os.environ["SDL_VIDEODRIVER"]
            else:
                os.environ["SDL_VIDEODRIVER"] = before
    pygame.joystick.init()
    return pygame.joystick
