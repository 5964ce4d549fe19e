"""Shadows of round shapes on level faces, straight down: where the fingertip is above the table.

A light overhead makes the shadow touch the shape exactly when the shape touches the surface, which is what
a person at a haptic device needs to see.  Meshes and ellipsoids cast that of a capsule about as large; boxes
cast none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hapticsim.display.messages.shapes import DrawnShape

_HALF = 9  # points on each round end
_FADE_M = 0.35  # height at which a shadow has lost two thirds of its strength
_UPRIGHT = 0.999  # cosine of the tilt below which a face counts as level


@dataclass(frozen=True, eq=False)
class Level:
    """A horizontal upper face."""

    centre_W: np.ndarray  # (3,) [m]
    x_W: np.ndarray  # (3,) unit, along the first edge
    y_W: np.ndarray  # (3,) unit
    hx: float  # [m] half extents
    hy: float


def caster(shape: DrawnShape) -> tuple[np.ndarray, float]:
    """Centres (2, 3) [m] in the shape, and radius [m], of the capsule whose shadow a shape casts.

    That of a mesh or an ellipsoid lies along the longest side of the box around it, and is as wide as the
    next longest.
    """
    ends = np.zeros((2, 3))
    if shape.kind == "capsule":
        ends[:, 2] = -0.5 * shape.size[1], 0.5 * shape.size[1]
    if shape.kind in ("cylinder", "cone"):
        reach = max(0.5 * shape.size[1] - shape.size[0], 0.0)
        ends[:, 2] = -reach, reach
    if shape.kind not in ("mesh", "ellipsoid"):
        return ends, shape.size[0]
    points = (
        np.array([shape.size, np.negative(shape.size)]) if shape.kind == "ellipsoid" else shape.vertices_S
    )
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.5 * (high - low)
    _, radius, longest = np.sort(half).tolist()
    ends[:, half.argmax()] = radius - longest, longest - radius
    return 0.5 * (low + high) + ends, radius


def stadium(a: np.ndarray, b: np.ndarray, radius: float) -> np.ndarray:
    """(2 * _HALF, 2) [m] outline around the segment between two points (2,) in a plane."""
    heading = math.atan2(b[1] - a[1], b[0] - a[0])
    angle = heading + np.linspace(-0.5 * math.pi, 0.5 * math.pi, _HALF)
    cap = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate([b + cap, a - cap])


def shadow_on(
    level: Level, a_W: np.ndarray, b_W: np.ndarray, radius: float
) -> tuple[np.ndarray, float] | None:
    """Outline (n, 3) [m] and strength 0..1 of the shadow of a capsule with centres a, b; None without one."""
    top = float(level.centre_W[2])
    if a_W[2] > b_W[2]:
        a_W, b_W = b_W, a_W
    if b_W[2] <= top:
        return None
    if a_W[2] < top:  # the part below the face casts nothing on it
        a_W = a_W + (top - a_W[2]) / (b_W[2] - a_W[2]) * (b_W - a_W)
    axes = np.stack([level.x_W, level.y_W], axis=1)
    outline = stadium((a_W - level.centre_W) @ axes, (b_W - level.centre_W) @ axes, radius)
    limit = np.array([level.hx, level.hy])
    low, high = outline.min(axis=0), outline.max(axis=0)
    if (low >= limit).any() or (high <= -limit).any():
        return None
    outline = np.clip(outline, -limit, limit)
    strength = math.exp(-max(float(a_W[2]) - top - radius, 0.0) / _FADE_M)
    return level.centre_W + outline @ axes.T, strength


def level_face(p_WS: np.ndarray, R_WS: np.ndarray, half: np.ndarray) -> Level | None:
    """The upper face of a box, ``half`` (3,) [m] its half extents, that stands upright; None otherwise."""
    if R_WS[2, 2] < _UPRIGHT:
        return None
    return Level(p_WS + R_WS[:, 2] * half[2], R_WS[:, 0], R_WS[:, 1], float(half[0]), float(half[1]))
