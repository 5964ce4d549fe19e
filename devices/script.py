"""What a scripted hand is told: waypoints of its path, turns of its wrist, presses of its buttons.

A movement from one waypoint or turn to the next has minimum jerk.  Everything that a person wrote is checked
here, once; refusals are ConfigErrors.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hapticsim.wire.messages.device import Button

from .base import Vector
from .options import Options

BUTTONS = {button.name.lower(): int(button) for button in Button if button.name}
PEAK_OVER_MEAN_SPEED = 15.0 / 8.0  # of a minimum-jerk movement, at its middle
ROUNDED = 1.0 + 1e-9  # a script that was scaled to a speed has it, but for rounding
CLOSED = 1e-6  # [m, rad] between the two ends of a script that repeats


@dataclass(frozen=True, slots=True)
class Waypoint:
    """The hand wants to be at ``position_m`` (device frame) at ``time_s`` after the first read."""

    time_s: float
    position_m: Vector


@dataclass(frozen=True, slots=True)
class Turn:
    """The hand wants the handle turned by ``angle_rad`` about Z at ``time_s`` after the first read."""

    time_s: float
    angle_rad: float


@dataclass(frozen=True, slots=True)
class Press:
    """A button (bit mask) held down from ``time_s`` for ``hold_s``."""

    time_s: float
    button: int
    hold_s: float = 0.2


def minimum_jerk(s: float) -> float:
    """Part of the way after the part ``s`` of the time: at rest, and without acceleration, at both ends."""
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def place_between(times: Sequence[float], places: Sequence[Sequence[float]], time_s: float) -> list[float]:
    """Where a movement through ``places`` at ``times`` is; held before the first and after the last."""
    k = bisect_right(times, time_s)
    if k == 0 or k == len(times):
        return list(places[0 if k == 0 else -1])
    s = minimum_jerk((time_s - times[k - 1]) / (times[k] - times[k - 1]))
    return [a + s * (b - a) for a, b in zip(places[k - 1], places[k], strict=True)]


def read_waypoints(given: list[Any]) -> tuple[Waypoint, ...]:
    """The option ``waypoints``, at least one, times increasing."""
    if not given:
        raise Options.refusal(
            "waypoints", "is empty: give at least one {time_s, position_m}, or leave it out."
        )
    found: list[Waypoint] = []
    for i, entry in enumerate(given):
        key = f"waypoints[{i}]"
        if not isinstance(entry, dict) or set(entry) != {"time_s", "position_m"}:
            raise Options.refusal(
                key, f"= {entry!r} is not usable: give {{time_s: s, position_m: [x, y, z]}}."
            )
        time_s = Options({"time_s": entry["time_s"]}, f"{key}.").number("time_s", 0.0, at_least=0.0)
        position = entry["position_m"]
        if (
            not isinstance(position, (list, tuple))
            or len(position) != 3
            or not all(_is_finite(c) for c in position)
        ):
            raise Options.refusal(
                f"{key}.position_m", f"= {position!r} is not usable: give three finite numbers."
            )
        if found and time_s <= found[-1].time_s:
            raise Options.refusal(
                f"{key}.time_s", f"= {time_s:g} is not after {found[-1].time_s:g}: sort the script by time."
            )
        found.append(Waypoint(time_s, (float(position[0]), float(position[1]), float(position[2]))))
    return tuple(found)


def read_turns(given: list[Any]) -> tuple[Turn, ...]:
    """The option ``turns``, times increasing, angles of at most half a turn."""
    found: list[Turn] = []
    for i, entry in enumerate(given):
        key = f"turns[{i}]"
        if not isinstance(entry, dict) or set(entry) != {"time_s", "angle_rad"}:
            raise Options.refusal(key, f"= {entry!r} is not usable: give {{time_s: s, angle_rad: angle}}.")
        numbers = Options(entry, f"{key}.")
        time_s = numbers.number("time_s", 0.0, at_least=0.0)
        if found and time_s <= found[-1].time_s:
            raise Options.refusal(
                f"{key}.time_s", f"= {time_s:g} is not after {found[-1].time_s:g}: sort the turns by time."
            )
        found.append(Turn(time_s, numbers.number("angle_rad", 0.0, at_least=-math.pi, at_most=math.pi)))
    return tuple(found)


def read_presses(given: list[Any]) -> tuple[Press, ...]:
    """The option ``presses``: buttons by name or by the number of their bit."""
    found: list[Press] = []
    for i, entry in enumerate(given):
        key = f"presses[{i}]"
        if not isinstance(entry, dict) or not {"time_s", "button"} <= set(entry) <= {
            "time_s",
            "button",
            "hold_s",
        }:
            raise Options.refusal(
                key, f"= {entry!r} is not usable: give {{time_s: s, button: engage, hold_s: s}}."
            )
        button = entry["button"]
        if isinstance(button, str) and button in BUTTONS:
            mask = BUTTONS[button]
        elif isinstance(button, int) and not isinstance(button, bool) and 0 <= button < 32:
            mask = 1 << button
        else:
            raise Options.refusal(
                f"{key}.button",
                f"= {button!r} is not usable: give {', '.join(BUTTONS)} or a bit from 0 to 31.",
            )
        times = Options({k: entry[k] for k in ("time_s", "hold_s") if k in entry}, f"{key}.")
        found.append(
            Press(times.number("time_s", 0.0, at_least=0.0), mask, times.number("hold_s", 0.2, above=0.0))
        )
    return tuple(found)


def check_path(waypoints: tuple[Waypoint, ...], hand_speed_m_per_s: float, repeat: bool) -> None:
    """Refuse a path that is too fast for the hand, or that jumps when it starts again."""
    for i, (a, b) in enumerate(itertools.pairwise(waypoints), start=1):
        peak = PEAK_OVER_MEAN_SPEED * math.dist(a.position_m, b.position_m) / (b.time_s - a.time_s)
        if peak > hand_speed_m_per_s * ROUNDED:
            raise Options.refusal(
                f"waypoints[{i}].time_s",
                f"= {b.time_s:g} asks the hand for {peak:.2f} m/s: allow more time, or raise "
                f"hand_speed_m_per_s = {hand_speed_m_per_s:g}.",
            )
    ends = waypoints[0].position_m, waypoints[-1].position_m
    if repeat and math.dist(*ends) > CLOSED:
        raise Options.refusal(
            "waypoints", "do not end where they begin: close the path, or give repeat: false."
        )


def check_turns(turns: tuple[Turn, ...], hand_speed_rad_per_s: float, period_s: float | None) -> None:
    """Refuse turns that are too fast for the hand, or that jump when the script starts again.

    period_s : after which it does; None: never.
    """
    for i, (a, b) in enumerate(itertools.pairwise(turns), start=1):
        peak = PEAK_OVER_MEAN_SPEED * abs(b.angle_rad - a.angle_rad) / (b.time_s - a.time_s)
        if peak > hand_speed_rad_per_s * ROUNDED:
            raise Options.refusal(
                f"turns[{i}].time_s",
                f"= {b.time_s:g} asks the hand for {peak:.2f} rad/s: allow more time, or raise "
                f"hand_speed_rad_per_s = {hand_speed_rad_per_s:g}.",
            )
    if period_s is None or not turns:
        return
    times, angles = [t.time_s for t in turns], [(t.angle_rad,) for t in turns]
    (first,), (last,) = place_between(times, angles, 0.0), place_between(times, angles, period_s)
    if abs(last - first) > CLOSED:
        raise Options.refusal(
            "turns",
            f"are at {last:g} rad when the script starts again after {period_s:g} s, and began at {first:g}: "
            "turn back before, or give repeat: false.",
        )


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
