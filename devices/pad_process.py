"""The pad window's process, seen from the driver.

A window that draws takes milliseconds, so it lives in a process of its own and shares some numbers with the
driver (pad_shared.py).
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from multiprocessing import sharedctypes
from typing import Any

from hapticsim.errors import DeviceError

from .base import DeviceInfo, DeviceSample, Finished, Vector
from .pad_shared import OPEN, STARTING, PadTerms, Shared

START_S = 15.0  # a first import of pygame from a cold disk
QUIET_S = 0.5  # a window that has not looked for so long holds no button down


class PadProcess:
    """Opens the window, and is its end in the driver.

    Raises
    ------
    DeviceError : the window did not open.
    """

    def __init__(self, info: DeviceInfo, reach_m: float) -> None:
        processes = multiprocessing.get_context("spawn")
        self._shared: Any = sharedctypes.RawValue(Shared)
        self._shared.mode = -1
        limits = info.limits
        terms = PadTerms(
            info.model, limits.workspace_radius_m, reach_m, limits.max_force_N, limits.turning is not None
        )
        self._process = processes.Process(
            target=_run_pad, args=(self._shared, terms), name="pad", daemon=True
        )
        self._looks, self._looked_s = 0, time.monotonic()
        self._process.start()
        give_up = time.monotonic() + START_S
        while self._shared.state == STARTING and self._process.is_alive() and time.monotonic() < give_up:
            time.sleep(0.01)
        if self._shared.state != OPEN:
            self.close()
            raise DeviceError(
                "mouse: the pad window did not open: check the display, or give option pointer=ENDPOINT."
            )

    def pointer(self) -> tuple[Vector, int] | None:
        """Goal of the hand and buttons.  Raises Finished when the window was closed, or its process ended.

        The buttons of a window that stands still are up: a dead-man's button must not stay down in it.
        """
        shared, now_s = self._shared, time.monotonic()
        if shared.state != OPEN:
            raise Finished("the pad window was closed.")
        x, y, z = shared.goal_m
        if shared.looks != self._looks:
            self._looks, self._looked_s = shared.looks, now_s
        if now_s - self._looked_s < QUIET_S:
            return (x, y, z), shared.buttons
        if not self._process.is_alive():
            raise Finished("the pad window ended by itself.")
        return (x, y, z), 0

    def turn(self) -> float | None:
        """Goal of the hand's turn about Z [rad]."""
        return float(self._shared.turn_goal_rad)

    def show(self, sample: DeviceSample, force_N: Vector) -> None:
        """Hand over what the window draws; a memory copy."""
        shared = self._shared
        shared.handle_m[:] = sample.position_m
        shared.force_N[:] = force_N
        shared.target_m[:] = sample.target_m or (math.nan,) * 3
        shared.turn_rad = 2.0 * math.atan2(sample.quaternion_wxyz[3], sample.quaternion_wxyz[0])

    def notice(self, mode: int, fault: int) -> None:
        """Hand over the server's mode."""
        self._shared.mode, self._shared.fault = mode, fault

    def close(self) -> None:
        """Ask the window to close; end its process if it does not."""
        self._shared.leave = 1
        self._process.join(timeout=1.0)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(timeout=1.0)


def _run_pad(shared: Any, terms: PadTerms) -> None:
    if hasattr(os, "sched_setscheduler"):  # a window that draws with the priority of the bridge stops others
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    # pygame is imported here, in the window's process, and not in the driver's
    from .pad import run_pad

    run_pad(shared, terms)
