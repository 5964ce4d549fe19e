"""The mouse moves the target of a hand that holds an emulated device.

Options besides those of ``hapticsim_devices.held``:

    pointer    endpoint on which a window publishes the topic ``pointer``; without it the driver opens a pad
               window of its own
    reach      1.5: how far the target may go, in workspace radii; beyond 1 the hand can lean on what it meets
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol

from hapticsim.errors import DeviceError
from hapticsim.wire.messages.device import Button
from hapticsim.wire.subscriber import Subscriber

from .base import ZERO, DeviceSample, Vector
from .held import HeldDriver
from .options import Options
from .pad_process import PadProcess
from .target import SmoothTarget, within

SILENT_AFTER_S = 0.5  # of a window that publishes with every frame
NAMED = sum(Button)  # other bits of a window are not passed on
TURN_REACH = 2.0  # [rad] either way: a wrist turns no further


class PointerSource(Protocol):
    """Whatever knows where the pointer is."""

    def pointer(self) -> tuple[Vector, int] | None:
        """Goal of the hand [m] (device frame) and buttons; None while nobody points."""

    def turn(self) -> float | None:
        """Goal of the hand's turn about Z [rad]; None while nobody turns it."""

    def show(self, sample: DeviceSample, force_N: Vector) -> None:
        """Let the user see the handle and the force."""

    def notice(self, mode: int, fault: int) -> None:
        """Let the user see the server's mode."""

    def close(self) -> None:
        """Let go."""


class PublishedPointer:
    """The pointer of another window, from the topic ``pointer``."""

    def __init__(self, endpoint: str) -> None:
        self._subscriber = Subscriber(endpoint, topics=("pointer",))

    def pointer(self) -> tuple[Vector, int] | None:
        """Newest goal and buttons; None when the window has been silent, or sent something else."""
        payload = self._subscriber.latest("pointer")
        if payload is None or self._subscriber.age_s("pointer") > SILENT_AFTER_S:
            return None
        return goal_and_buttons(payload)

    def turn(self) -> float | None:
        """Key ``turn`` of the newest message; None without one."""
        turn = (self._subscriber.latest("pointer") or {}).get("turn")
        if not isinstance(turn, (int, float)) or not abs(turn) < 10.0:  # NaN fails too
            return None
        return float(turn)

    def show(self, sample: DeviceSample, force_N: Vector) -> None:
        """Nothing: the window sees the server's state."""

    def notice(self, mode: int, fault: int) -> None:
        """Nothing: the window sees the server's state."""

    def close(self) -> None:
        """Stop listening."""
        self._subscriber.close()


class Mouse(HeldDriver):
    """An emulated device moved by a pointer."""

    name: ClassVar[str] = "mouse"

    def _take_options(self, options: Options) -> None:
        self._endpoint = options.text("pointer", None)
        self._reach_m = (
            options.number("reach", 1.5, above=0.0, at_most=10.0) * self.info.limits.workspace_radius_m
        )
        self._target = SmoothTarget(self.hand_speed_m_per_s)
        self._source: PointerSource | None = None
        self._goal: Vector = ZERO
        self._turn = SmoothTarget(self.hand_speed_rad_per_s)  # of the angle, in its first number
        self._turn_goal = 0.0

    @classmethod
    def unavailable(cls) -> str | None:
        if find_spec("pygame") is None:
            return "pygame is missing: install hapticsim[window], or give option pointer=ENDPOINT."
        if sys.platform == "linux" and not any(
            os.environ.get(key) for key in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
        ):
            return "there is no display: start it from a desktop, or take --device scripted."
        return None

    def open(self) -> None:
        if self._endpoint is not None:
            self._source = PublishedPointer(self._endpoint)
            return
        reason = self.unavailable()
        if reason is not None:
            raise DeviceError(f"mouse: {reason}")
        self._source = PadProcess(self.info, self._reach_m)

    def _steer(self, time_s: float) -> tuple[Vector, int, int]:
        found = self._source.pointer() if self._source is not None else None
        buttons = 0
        if found is not None:
            self._goal, buttons = within(found[0], self._reach_m), found[1]
        return self._target.at(time_s, self._goal), buttons, 0

    def _steer_rotation(self, time_s: float) -> float:
        found = self._source.turn() if self._source is not None else None
        if found is not None:
            self._turn_goal = min(max(found, -TURN_REACH), TURN_REACH)
        return self._turn.at(time_s, (self._turn_goal, 0.0, 0.0))[0]

    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        if self._source is not None:
            self._source.show(sample, sample.force_N)
        return sample

    def notice(self, mode: int, fault: int) -> None:
        if self._source is not None:
            self._source.notice(mode, fault)

    def close(self) -> None:
        super().close()
        if self._source is not None:
            self._source.close()
            self._source = None


def goal_and_buttons(payload: dict[str, Any]) -> tuple[Vector, int] | None:
    """The goal [m] and the buttons of a ``pointer`` message; None if it is not one."""
    target, buttons = payload.get("target"), payload.get("buttons", 0)
    if not isinstance(target, (list, tuple)) or len(target) != 3 or not isinstance(buttons, int):
        return None
    if not all(isinstance(c, (int, float)) and abs(c) < 10.0 for c in target):  # NaN fails too
        return None
    return (float(target[0]), float(target[1]), float(target[2])), buttons & NAMED
