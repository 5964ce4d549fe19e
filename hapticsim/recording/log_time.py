"""Times of messages in a file: nanoseconds since the start of the run."""

from __future__ import annotations

import math


def nanoseconds(seconds: float, otherwise: int) -> int:
    """Return a log time; what is no time (NaN, negative, beyond 292 years) is recorded at ``otherwise``."""
    return round(seconds * 1e9) if math.isfinite(seconds) and 0.0 <= seconds < 9.2e9 else otherwise
