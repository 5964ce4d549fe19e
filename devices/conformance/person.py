"""The check of a driver's axes, which needs a person at the handle."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ..base import ZERO, Driver, Vector
from ..pacing import Pacer
from .bench import FAILED, OK, RATE_HZ, Found, Make, opened

Ask = Callable[[str], str]  # shows a question, returns what was typed

DIRECTIONS = {"right": (0, 1.0), "away": (1, 1.0), "up": (2, 1.0)}  # axis and sign in the device frame
LEAST_M = 0.01
PUSH_S = 1.0
FIRM = 0.15  # of the largest force: what everybody feels


def check_frames(make: Make, ask: Ask) -> Found:
    """X is to the right, Y away from the user, Z up, for positions and for forces."""
    with opened(make) as driver:
        for where, (axis, sign) in DIRECTIONS.items():
            ask("Hold the handle at the centre of its workspace, still, and press Enter. ")
            before = _position(driver)
            ask(f"Move it {_to(where)} by a hand's width, hold it there, and press Enter. ")
            moved = tuple(b - a for a, b in zip(before, _position(driver), strict=True))
            if math.hypot(*moved) < LEAST_M:
                return FAILED, f"moved {_to(where)}, the position changed by {_mm(moved)} only: give m."
            if sign * moved[axis] < 0.7 * math.hypot(*moved):
                return FAILED, (
                    f"moved {_to(where)}, the position changed by {_mm(moved)} (X right, Y away, Z up): turn "
                    "the axes in the driver."
                )
        for where, (axis, sign) in DIRECTIONS.items():
            ask("Hold the handle loosely at the centre; it will push for a second. Press Enter. ")
            push = FIRM * driver.info.limits.max_force_N * sign
            _push(driver, (push * (axis == 0), push * (axis == 1), push * (axis == 2)))
            felt = ask("Which way did it push: right, left, away, toward, up or down? ").strip().lower()
            if felt != where:
                return FAILED, f"a force {_to(where)} was felt as {felt!r}: turn the axes in the driver."
    return OK, "X right, Y away, Z up, for positions and forces"


def _to(where: str) -> str:
    return {"right": "to the right", "away": "away from you", "up": "up"}[where]


def _mm(moved: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{1e3 * c:+.0f}" for c in moved) + ") mm"


def _position(driver: Driver) -> Vector:
    for _ in range(20):  # what was measured before the person answered is old
        driver.write(ZERO)
        sample = driver.read(time.monotonic())
    return sample.position_m


def _push(driver: Driver, force_N: Vector) -> None:
    pacer, ticks = Pacer(1.0 / RATE_HZ), round(PUSH_S * RATE_HZ)
    try:
        for i in range(ticks):
            driver.read(pacer.wait())
            share = min(4.0 * i / ticks, 4.0 * (ticks - i) / ticks, 1.0)  # in a quarter of the time, and out
            driver.write((share * force_N[0], share * force_N[1], share * force_N[2]))
    finally:
        driver.write(ZERO)
