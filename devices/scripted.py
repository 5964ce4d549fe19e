"""A scripted hand: the same visit every time, to the bit.

Options besides those of ``devices.held``:

    waypoints   list of {time_s, position_m: [x, y, z]}, times increasing; minimum jerk between two of them
    presses     list of {time_s, button: engage|disengage|number of the bit, hold_s: 0.2}
    turns       list of {time_s, angle_rad}: how the hand turns the handle about Z, where ``turning`` is true
    repeat      true: start again after the last waypoint; false: hold it
    scale       positions of the script times this number

Without waypoints: a visit of 15 s to a table some 20 to 60 mm below the start, scaled to small workspaces.
Without turns, and with ``turning``: half a radian to the left and to the right before the table is reached,
and one more turn on it.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, ClassVar

from devices.base import DISENGAGE, ENGAGE, Vector
from devices.held import HeldDriver
from devices.options import Options

BUTTONS = {"engage": ENGAGE, "disengage": DISENGAGE}
FULL_SIZE_RADIUS_M = 0.075  # the default visit fits a workspace of this radius
PEAK_OVER_MEAN_SPEED = 15.0 / 8.0  # of a minimum-jerk movement, at its middle


@dataclass(frozen=True, slots=True)
class Waypoint:
    """The hand wants to be at ``position_m`` (device frame) at ``time_s`` after the first read."""

    time_s: float
    position_m: Vector


@dataclass(frozen=True, slots=True)
class Press:
    """A button (bit mask) held down from ``time_s`` for ``hold_s``."""

    time_s: float
    button: int
    hold_s: float = 0.2


TABLE_VISIT = (
    Waypoint(0.0, (0.0, 0.0, 0.0)),
    Waypoint(1.0, (0.0, 0.0, 0.0)),  # armed and ramped by now
    Waypoint(1.7, (0.03, 0.0, 0.0)),
    Waypoint(2.7, (-0.03, 0.0, 0.0)),
    Waypoint(3.4, (0.0, 0.0, 0.0)),
    Waypoint(4.6, (0.0, 0.0, -0.06)),  # down into the table
    Waypoint(5.4, (0.0, 0.0, -0.11)),  # 50 mm more of a 300 N/m hand: beyond the 12 N of the device
    Waypoint(7.6, (0.0, 0.0, -0.11)),
    Waypoint(8.4, (0.0, 0.0, -0.06)),
    Waypoint(10.4, (0.04, 0.0, -0.06)),  # drag in contact
    Waypoint(11.6, (0.04, 0.0, 0.01)),  # lift
    Waypoint(12.8, (0.0, 0.0, 0.0)),
    Waypoint(15.0, (0.0, 0.0, 0.0)),
)
TABLE_PRESSES = (Press(0.3, ENGAGE),)


@dataclass(frozen=True, slots=True)
class Turn:
    """The hand wants the handle turned by ``angle_rad`` about Z at ``time_s`` after the first read."""

    time_s: float
    angle_rad: float


TURNING_VISIT = (
    Turn(1.0, 0.0),
    Turn(1.8, 0.5),
    Turn(2.8, -0.5),
    Turn(3.6, 0.0),
    Turn(5.6, 0.0),
    Turn(6.4, 0.4),
    Turn(7.4, 0.0),
)


class Scripted(HeldDriver):
    """An emulated device moved by a script."""

    name: ClassVar[str] = "scripted"

    def _take_options(self, options: Options) -> None:
        given, presses = options.items("waypoints"), options.items("presses")
        fitting = min(1.0, self.info.limits.workspace_radius_m / FULL_SIZE_RADIUS_M) if given is None else 1.0
        scale = options.number("scale", fitting, above=0.0)
        waypoints = TABLE_VISIT if given is None else _waypoints(given)
        self.waypoints = tuple(
            Waypoint(w.time_s, (w.position_m[0] * scale, w.position_m[1] * scale, w.position_m[2] * scale))
            for w in waypoints
        )
        if presses is not None:
            self.presses = _presses(presses)
        else:
            self.presses = TABLE_PRESSES if given is None else ()
        self.repeat = options.flag("repeat", True)
        turns = options.items("turns")
        if turns is not None:
            self.turns = _turns(turns)
        else:
            self.turns = TURNING_VISIT if given is None else ()
        self._turn_times = [t.time_s for t in self.turns]
        _check_speed(self.waypoints, self.hand_speed_m_per_s, self.repeat)
        self._times = [w.time_s for w in self.waypoints]
        self._start_s = math.nan

    @property
    def duration_s(self) -> float:
        """Length of the script, from the first read to the last waypoint."""
        return self._times[-1]

    def _steer(self, time_s: float) -> tuple[Vector, int, int]:
        t = self._script_time(time_s)
        buttons = 0
        for press in self.presses:
            if press.time_s <= t < press.time_s + press.hold_s:
                buttons |= press.button
        return self.target_at(t), buttons, 0

    def _steer_turn(self, time_s: float) -> float:
        return self.angle_at(self._script_time(time_s))

    def _script_time(self, time_s: float) -> float:
        if math.isnan(self._start_s):
            self._start_s = time_s
        t = time_s - self._start_s
        return t % self.duration_s if self.repeat and self.duration_s > 0.0 else t

    def angle_at(self, time_s: float) -> float:
        """Angle about Z [rad] ``time_s`` seconds after the start; held before the first, after the last."""
        k = bisect_right(self._turn_times, time_s)
        if not self.turns or k == 0:
            return self.turns[0].angle_rad if self.turns else 0.0
        if k == len(self.turns):
            return self.turns[-1].angle_rad
        a, b = self.turns[k - 1], self.turns[k]
        return a.angle_rad + minimum_jerk((time_s - a.time_s) / (b.time_s - a.time_s)) * (
            b.angle_rad - a.angle_rad
        )

    def target_at(self, time_s: float) -> Vector:
        """Target [m] ``time_s`` seconds after the start; held before the first and after the last."""
        k = bisect_right(self._times, time_s)
        if k == 0:
            return self.waypoints[0].position_m
        if k == len(self._times):
            return self.waypoints[-1].position_m
        a, b = self.waypoints[k - 1], self.waypoints[k]
        s = minimum_jerk((time_s - a.time_s) / (b.time_s - a.time_s))
        (ax, ay, az), (bx, by, bz) = a.position_m, b.position_m
        return ax + s * (bx - ax), ay + s * (by - ay), az + s * (bz - az)


def minimum_jerk(s: float) -> float:
    """Part of the way after the part ``s`` of the time: at rest, and without acceleration, at both ends."""
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def _waypoints(given: list[Any]) -> tuple[Waypoint, ...]:
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
        time_s = Options({"time_s": entry["time_s"]}).number("time_s", 0.0, at_least=0.0)
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


def _turns(given: list[Any]) -> tuple[Turn, ...]:
    found: list[Turn] = []
    for i, entry in enumerate(given):
        key = f"turns[{i}]"
        if not isinstance(entry, dict) or set(entry) != {"time_s", "angle_rad"}:
            raise Options.refusal(key, f"= {entry!r} is not usable: give {{time_s: s, angle_rad: angle}}.")
        numbers = Options(entry)
        time_s = numbers.number("time_s", 0.0, at_least=0.0)
        if found and time_s <= found[-1].time_s:
            raise Options.refusal(
                f"{key}.time_s", f"= {time_s:g} is not after {found[-1].time_s:g}: sort the turns by time."
            )
        found.append(Turn(time_s, numbers.number("angle_rad", 0.0, at_least=-math.pi, at_most=math.pi)))
    return tuple(found)


def _presses(given: list[Any]) -> tuple[Press, ...]:
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
        if button in BUTTONS:
            mask = BUTTONS[button]
        elif isinstance(button, int) and not isinstance(button, bool) and 0 <= button < 32:
            mask = 1 << button
        else:
            raise Options.refusal(
                f"{key}.button", f"= {button!r} is not usable: give engage, disengage or a bit from 0 to 31."
            )
        times = Options({k: entry[k] for k in ("time_s", "hold_s") if k in entry})
        found.append(
            Press(times.number("time_s", 0.0, at_least=0.0), mask, times.number("hold_s", 0.2, above=0.0))
        )
    return tuple(found)


def _check_speed(waypoints: tuple[Waypoint, ...], limit: float, repeat: bool) -> None:
    for i, (a, b) in enumerate(itertools.pairwise(waypoints), start=1):
        peak = PEAK_OVER_MEAN_SPEED * math.dist(a.position_m, b.position_m) / (b.time_s - a.time_s)
        if peak > limit:
            raise Options.refusal(
                f"waypoints[{i}].time_s",
                f"= {b.time_s:g} asks the hand for {peak:.2f} m/s: allow more time, or raise "
                f"hand_speed_m_per_s = {limit:g}.",
            )
    if repeat and len(waypoints) > 1 and math.dist(waypoints[0].position_m, waypoints[-1].position_m) > 1e-6:
        raise Options.refusal(
            "waypoints", "do not end where they begin: close the path, or give repeat: false."
        )


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
