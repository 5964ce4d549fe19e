"""Punctuality in numbers: histograms the loop fills and percentiles anybody can read meanwhile."""

from __future__ import annotations

import numpy as np
from numba import njit

BINS = 8000
BIN_NS = 250  # up to 2 ms; anything longer falls into the last bin, and the maximum is kept apart


@njit(nogil=True)
def count_duration(histogram, largest, i, duration_ns):
    """Add a duration [ns] to a histogram (BINS,) and to the maximum largest[i]."""
    b = duration_ns // BIN_NS
    histogram[min(max(b, 0), histogram.size - 1)] += 1
    largest[i] = max(largest[i], duration_ns)


def percentiles_us(histogram: np.ndarray, largest_ns: int) -> dict[str, float]:
    """p50, p99, p99.9, p99.99 and max [us] of a histogram; a percentile is the upper edge of its bin."""
    counts = histogram.copy()
    total = int(counts.sum())
    names = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
    if total == 0:
        return dict.fromkeys([*names, "max"], 0.0)
    cumulative = np.cumsum(counts)
    out = {}
    for name, share in names.items():
        b = int(np.searchsorted(cumulative, share * total))
        edge = (b + 1) * BIN_NS
        out[name] = (min(edge, largest_ns) if b < BINS - 1 else largest_ns) / 1000.0
    out["max"] = largest_ns / 1000.0
    return out
