"""The panel's instruments: a force bar with its limit, a strip of the last seconds, a bar of percentiles."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping

import numpy as np
import pygame

from hapticsim.display.palette import LINE, SKY, TEXT, VERMILION, WELL

_DECADES = (-1, 4)  # durations are drawn from 0.1 us to 10 ms, logarithmically
_NEAR = 0.9  # part of the limit from which the bar warns
_LIMIT_N = 10.0  # assumed for the scale where the device states none
_HEADROOM = 1.15  # full scale over the limit, so that the limit mark stands inside


def full_scale(limit_N: float | None) -> float:
    """Right end of force gauges [N]."""
    return _HEADROOM * (limit_N or _LIMIT_N)


class ForceHistory:
    """Magnitude of the force on the hand over the last seconds, by the server's own time."""

    def __init__(self, span_s: float = 6.0) -> None:
        self.span_s = span_s
        self.samples: deque[tuple[float, float]] = deque()  # (time [s], force [N])

    def add(self, time_s: float, force_N: float) -> None:
        """Append a sample; time that runs backwards (a restarted server) clears the strip."""
        if self.samples and time_s < self.samples[-1][0]:
            self.samples.clear()
        if not self.samples or time_s > self.samples[-1][0]:
            self.samples.append((time_s, force_N))
        while self.samples[0][0] < time_s - self.span_s:
            self.samples.popleft()


def draw_bar(
    surface: pygame.Surface, area: pygame.Rect, size: float, limit: float | None, assumed: float = _LIMIT_N
) -> None:
    """A force or torque as a length, with a mark at the limit; in the warning colour when it comes near it.

    assumed : limit for the scale where none is known.
    """
    full = _HEADROOM * (limit or assumed)
    surface.fill(WELL, area)
    near = limit is not None and size > _NEAR * limit
    filled = round(area.width * min(size / full, 1.0))
    surface.fill(VERMILION if near else SKY, (area.left, area.top, filled, area.height))
    if limit is not None:
        x = area.left + round(area.width * limit / full)
        pygame.draw.line(surface, TEXT, (x, area.top - 3), (x, area.bottom + 2), 2)


def draw_strip(
    surface: pygame.Surface, area: pygame.Rect, history: ForceHistory, limit_N: float | None
) -> None:
    """Force over time, newest at the right."""
    full = full_scale(limit_N)
    surface.fill(WELL, area)
    if limit_N is not None:
        y = area.bottom - round(area.height * limit_N / full)
        pygame.draw.line(surface, LINE, (area.left, y), (area.right - 1, y))
    if len(history.samples) >= 2:
        time_s, force_N = np.array(history.samples).T
        x = area.right - 1 - (time_s[-1] - time_s) / history.span_s * (area.width - 1)
        y = area.bottom - 2 - np.minimum(force_N / full, 1.0) * (area.height - 4)
        pygame.draw.lines(surface, SKY, False, np.column_stack([x, y]).tolist(), 2)


def log_place(duration_us: float) -> float:
    """Where a duration stands on the logarithmic scale: 0 at 0.1 us or less, 1 at 10 ms or more."""
    low, high = _DECADES
    if not duration_us > 10.0**low:  # "not above" also holds for what is not a number
        return 0.0
    return min((math.log10(duration_us) - low) / (high - low), 1.0)


def microseconds(duration_us: float) -> str:
    """A duration with its unit, in at most three figures."""
    return f"{duration_us / 1000.0:.3g} ms" if duration_us >= 999.5 else f"{duration_us:.3g} µs"


def draw_spread(
    surface: pygame.Surface, area: pygame.Rect, spread: Mapping[str, float], tick_us: float | None
) -> None:
    """Percentiles of a duration: thick to the median, thinner to 99 %, a line to 99.9 %, a stroke at the
    worst.

    spread : p50, p99, p999, max [us], each of which may be missing.
    tick_us: length of a tick [us], drawn as a white stroke: what reaches it is too late.
    """

    def x(duration_us: float) -> int:
        return area.left + round((area.width - 1) * log_place(duration_us))

    surface.fill(WELL, area)
    for key, height in (("p999", 4), ("p99", 8), ("p50", 14)):
        if key in spread:
            top = area.centery - height // 2
            surface.fill(SKY, (area.left, top, x(spread[key]) - area.left, height))
    if "max" in spread:
        at = x(spread["max"])
        pygame.draw.line(surface, VERMILION, (at, area.top + 1), (at, area.bottom - 2), 2)
    if tick_us is not None:
        at = x(tick_us)
        pygame.draw.line(surface, TEXT, (at, area.top - 2), (at, area.bottom + 1))
