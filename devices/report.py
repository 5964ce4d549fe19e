"""What a run of the bridge came to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hapticsim.wire.device.link import DeviceLink

from .guard import ForceGuard
from .plausible import Plausibility
from .watchdog import Watchdog


@dataclass(slots=True)
class BridgeReport:
    """Counters of one run, filled by the bridge."""

    ticks: int = 0
    missed: int = 0  # deadlines that passed unserved
    worst_late_s: float = 0.0  # latest wake-up after its deadline
    round_trip_p50_us: float = math.nan  # state sent to its answer in hand, of the newest 2000
    round_trip_p99_us: float = math.nan
    largest_force_N: float = 0.0  # let through to the driver
    silences: int = 0  # times the server stopped talking
    interruptions: int = 0  # times force went and came back by itself
    longest_interruption_s: float = 0.0
    suspended: int = 0  # times the computer was suspended
    hangs: int = 0  # times the driver's read did not return in time
    jumps: int = 0  # positions further away than any hand moves
    not_finite: int = 0  # commands refused
    bad_samples: int = 0  # measurements that were not usable, not sent
    sessions: int = 0
    dropped: dict[str, int] = field(default_factory=dict)  # frames the wire refused, by reason

    def fill(self, guard: ForceGuard, plausible: Plausibility, watchdog: Watchdog, link: DeviceLink) -> None:
        """Take over what others counted."""
        self.largest_force_N = guard.largest_N
        self.silences, self.not_finite = guard.silences, guard.not_finite
        self.interruptions, self.longest_interruption_s = guard.interruptions, guard.longest_s
        self.bad_samples, self.jumps, self.hangs = plausible.unusable, plausible.jumps, watchdog.hangs
        trip = link.round_trip
        self.round_trip_p50_us, self.round_trip_p99_us = trip.percentile_us(50), trip.percentile_us(99)
        self.dropped = {str(reason): count for reason, count in link.dropped.items()}

    def text(self) -> str:
        """The report in one line."""
        parts = [
            f"{self.ticks} ticks, {self.missed} missed, at worst {1e3 * self.worst_late_s:.1f} ms late",
            f"round trip p50 {self.round_trip_p50_us:.0f} us, p99 {self.round_trip_p99_us:.0f} us",
            f"largest force {self.largest_force_N:.2f} N",
        ]
        if self.interruptions:
            parts.append(interrupted(self.interruptions, self.longest_interruption_s))
        for count, what in (
            (self.silences, "silences of the server"),
            (self.not_finite, "forces not finite"),
            (self.bad_samples, "bad measurements"),
            (self.jumps, "jumps of the position"),
            (self.hangs, "hangs of the driver"),
            (self.suspended, "times suspended"),
            (sum(self.dropped.values()), "frames dropped"),
        ):
            if count:
                parts.append(f"{count} {what}")
        return ", ".join(parts) + "."


def interrupted(times: int, longest_s: float) -> str:
    """How often force went and came back by itself, in words."""
    how_often = "once" if times == 1 else f"{times} times"
    return f"force interrupted {how_often}, {1e3 * longest_s:.0f} ms at most"
