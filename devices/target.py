"""Where the hand wants to be, made smooth: pointers jump sixty times a second, hands do not."""

from __future__ import annotations

import math

from .base import ZERO, Vector

# Long against the 17 ms of a screen, short against the 200 ms in which people react.
FOLLOW_S = 0.06


class SmoothTarget:
    """Follows a goal with bounded speed and continuous velocity, without overshoot.

    The velocity tends to ``(goal - x) / T``, cut to the largest speed, with the time constant T / 4:
    critically damped while it is not cut.

    Parameters
    ----------
    speed_m_per_s : largest speed.
    follow_s : T, how long the target takes to close in.
    """

    def __init__(self, speed_m_per_s: float, follow_s: float = FOLLOW_S) -> None:
        self.speed_m_per_s, self.follow_s = speed_m_per_s, follow_s
        self.position_m: Vector = ZERO
        self.velocity_m_per_s: Vector = ZERO
        self._time_s = math.nan

    def at(self, time_s: float, goal_m: Vector) -> Vector:
        """Advance to ``time_s`` toward ``goal_m``; returns the target [m].  The first call takes the time."""
        elapsed_s = time_s - self._time_s
        self._time_s = time_s
        if not elapsed_s > 0.0:
            return self.position_m
        (x, y, z), (u, v, w), (gx, gy, gz) = self.position_m, self.velocity_m_per_s, goal_m
        wx, wy, wz = (gx - x) / self.follow_s, (gy - y) / self.follow_s, (gz - z) / self.follow_s
        speed = math.sqrt(wx * wx + wy * wy + wz * wz)
        if speed > self.speed_m_per_s:
            s = self.speed_m_per_s / speed
            wx, wy, wz = wx * s, wy * s, wz * s
        # Never beyond the goal in one go, however long the caller was away.
        blend = 1.0 - math.exp(-4.0 * elapsed_s / self.follow_s)
        u, v, w = u + blend * (wx - u), v + blend * (wy - v), w + blend * (wz - w)
        dt = min(elapsed_s, 0.25 * self.follow_s)
        self.velocity_m_per_s = (u, v, w)
        self.position_m = (x + u * dt, y + v * dt, z + w * dt)
        return self.position_m


def within(point_m: Vector, radius_m: float) -> Vector:
    """The point, or the one on the sphere of ``radius_m`` about the origin in its direction."""
    r = math.sqrt(point_m[0] ** 2 + point_m[1] ** 2 + point_m[2] ** 2)
    if r <= radius_m:
        return point_m
    s = radius_m / r
    return point_m[0] * s, point_m[1] * s, point_m[2] * s
