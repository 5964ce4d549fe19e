"""Topic ``stats``: figures that a server may leave out, so every one of them is optional here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StatsMessage:
    """How the loop is doing.  A spread holds any of p50, p99, p999 and max, in [µs]."""

    ticks: int | None = None
    missed: int | None = None  # ticks that began after the next one was due
    lateness_us: Mapping[str, float] = field(default_factory=dict)
    execution_us: Mapping[str, float] = field(default_factory=dict)
    round_trip_us: Mapping[str, float] = field(default_factory=dict)
    scheduling: str = ""
    recorder: str = ""
    dropped: Mapping[str, float] = field(default_factory=dict)  # messages, by reason

    @classmethod
    def read(cls, payload: Mapping[str, Any]) -> StatsMessage:
        """From the payload; what is not a number where one belongs is left out."""
        return cls(
            ticks=_whole(payload.get("ticks")),
            missed=_whole(payload.get("missed")),
            lateness_us=_spread(payload.get("lateness_us")),
            execution_us=_spread(payload.get("execution_us")),
            round_trip_us=_spread(payload.get("round_trip_us")),
            scheduling=str(payload.get("scheduling") or ""),
            recorder=str(payload.get("recorder") or ""),
            dropped=_spread(payload.get("dropped")),
        )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _spread(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        return {}
    return {str(k): float(v) for k, v in value.items() if isinstance(v, (int, float)) and math.isfinite(v)}
