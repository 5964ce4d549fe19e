"""What a run of the bridge came to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


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
    not_finite: int = 0  # commands refused
    bad_samples: int = 0  # measurements that were not finite, not sent
    sessions: int = 0
    dropped: dict[str, int] = field(default_factory=dict)  # frames the wire refused, by reason

    def text(self) -> str:
        """The report in one line."""
        parts = [
            f"{self.ticks} ticks, {self.missed} missed, at worst {1e3 * self.worst_late_s:.1f} ms late",
            f"round trip p50 {self.round_trip_p50_us:.0f} us, p99 {self.round_trip_p99_us:.0f} us",
            f"largest force {self.largest_force_N:.2f} N",
        ]
        for count, what in (
            (self.silences, "silences of the server"),
            (self.not_finite, "forces not finite"),
            (self.bad_samples, "bad measurements"),
            (sum(self.dropped.values()), "frames dropped"),
        ):
            if count:
                parts.append(f"{count} {what}")
        return ", ".join(parts) + "."
