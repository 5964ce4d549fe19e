"""A scripted hand: the same visit every time, to the bit.

Options besides those of ``hapticsim_devices.held``:

    waypoints   list of {time_s, position_m: [x, y, z]}, times increasing; minimum jerk between two of them
    turns       list of {time_s, angle_rad}: how the hand turns the handle about Z, where ``turning`` is true
    presses     list of {time_s, button, hold_s: 0.2}; a button is engage, disengage, first to fourth, or the
                number of its bit
    repeat      true: start again after the last waypoint; false: hold it
    scale       positions of the script times this number

Without waypoints: a visit of 15 s to a table some 20 to 60 mm below the start, scaled to small workspaces and
to slow hands, with a press of engage every half second.  Without turns, and with ``turning``: half a radian
to the left and to the right before the table is reached, and one more turn on it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any, ClassVar

from .base import ENGAGE, Vector
from .held import HeldDriver
from .options import Options
from .script import (
    PEAK_OVER_MEAN_SPEED,
    Press,
    Turn,
    Waypoint,
    check_path,
    check_turns,
    place_between,
    read_presses,
    read_turns,
    read_waypoints,
)

FULL_SIZE_RADIUS_M = 0.075  # the default visit fits a workspace of this radius

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
TABLE_SPEED_M_PER_S = PEAK_OVER_MEAN_SPEED * max(
    math.dist(a.position_m, b.position_m) / (b.time_s - a.time_s) for a, b in itertools.pairwise(TABLE_VISIT)
)
# Pressing again asks for nothing while there is force, and gives it back after whatever took it away.
TABLE_PRESSES = tuple(Press(0.3 + 0.5 * n, ENGAGE) for n in range(30))

TURNING_VISIT = (
    Turn(1.0, 0.0),
    Turn(1.8, 0.5),
    Turn(2.8, -0.5),
    Turn(3.6, 0.0),
    Turn(5.6, 0.0),
    Turn(6.4, 0.4),
    Turn(7.4, 0.0),
)
TURNING_SPEED_RAD_PER_S = PEAK_OVER_MEAN_SPEED * max(
    abs(b.angle_rad - a.angle_rad) / (b.time_s - a.time_s) for a, b in itertools.pairwise(TURNING_VISIT)
)


class Scripted(HeldDriver):
    """An emulated device moved by a script."""

    name: ClassVar[str] = "scripted"

    def _take_options(self, options: Options) -> None:
        given, turns, presses = options.items("waypoints"), options.items("turns"), options.items("presses")
        self.repeat = options.flag("repeat", True)
        scale = options.number("scale", self._fitting() if given is None else 1.0, above=0.0)
        self.waypoints = tuple(
            Waypoint(w.time_s, (w.position_m[0] * scale, w.position_m[1] * scale, w.position_m[2] * scale))
            for w in (TABLE_VISIT if given is None else read_waypoints(given))
        )
        check_path(self.waypoints, self.hand_speed_m_per_s, self.repeat)
        if turns is not None:
            self.turns = read_turns(turns)
        else:
            slow = min(1.0, self.hand_speed_rad_per_s / TURNING_SPEED_RAD_PER_S)
            visit = TURNING_VISIT if given is None else ()
            self.turns = tuple(replace(t, angle_rad=slow * t.angle_rad) for t in visit)
        if presses is not None:
            self.presses = read_presses(presses)
        else:
            self.presses = TABLE_PRESSES if given is None else ()
        self._times = [w.time_s for w in self.waypoints]
        self._positions = [w.position_m for w in self.waypoints]
        self._turn_times = [t.time_s for t in self.turns]
        self._angles = [(t.angle_rad,) for t in self.turns]
        self._repeats = self.repeat and self.duration_s > 0.0
        check_turns(self.turns, self.hand_speed_rad_per_s, self.duration_s if self._repeats else None)
        self._start_s = math.nan

    def _fitting(self) -> float:
        """The size of the default visit that suits workspace and hand."""
        radius, speed = self.info.limits.workspace_radius_m, self.hand_speed_m_per_s
        return min(1.0, radius / FULL_SIZE_RADIUS_M, speed / TABLE_SPEED_M_PER_S)

    def in_numbers(self, times_s: Any) -> tuple[dict[str, Any], Any, Any, Any] | None:
        """Device and script as numbers, for a compiled run in virtual time that reads at times_s, from 0 on.

        Returns the numbers of the device, and targets, angles and buttons (devices/in_numbers.py); None once
        the driver has been read.
        """
        from .in_numbers import device_numbers, script_table

        if type(self) is not Scripted or not math.isnan(self._start_s):  # a subclass has calls of its own
            return None
        return device_numbers(self), *script_table(self, times_s)

    def continue_from(self, numbers: Any) -> None:
        """Go on where a run in numbers ended."""
        from .in_numbers import give_back

        give_back(self, numbers)

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

    def _steer_rotation(self, time_s: float) -> float:
        return self.angle_at(self._script_time(time_s))

    def _script_time(self, time_s: float) -> float:
        if math.isnan(self._start_s):
            self._start_s = time_s
        t = time_s - self._start_s
        return t % self.duration_s if self._repeats else t

    def angle_at(self, time_s: float) -> float:
        """Angle about Z [rad] ``time_s`` seconds after the start; held before the first, after the last."""
        return place_between(self._turn_times, self._angles, time_s)[0] if self.turns else 0.0

    def target_at(self, time_s: float) -> Vector:
        """Target [m] ``time_s`` seconds after the start; held before the first and after the last."""
        x, y, z = place_between(self._times, self._positions, time_s)
        return x, y, z
