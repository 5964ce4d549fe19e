"""An edge of a convex solid, cut to where all solids of the same shape together have one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hapticsim.model.hull import Hull
from hapticsim.model.joined.faces import FLUSH, LEAST

STRAIGHT = 1e-3  # [rad] by which the wedge about an edge is less than straight at least
MOST_ROWS = 5  # of an edge; the 186 of a hull of 64 corners have 930, of 1024 that a tick tells apart
NEVER = -1.0  # half length along which an edge is touched [m]
Interval = tuple[float, float, float, float]  # along an edge from, to [m]; wedge from, to [rad]


def showing(edge: np.ndarray, others: Sequence[Hull], size: float) -> list[np.ndarray]:
    """Rows (14,) of an edge (13,): where it shows, and the whole of it, hidden, if that is less."""
    middle, along, half, into_f, into_g = edge[:3], edge[3:6], float(edge[6]), edge[7:10], edge[10:13]
    x = into_f + into_g
    x = x / np.linalg.norm(x)
    y = np.cross(along, x)
    wide = float(np.arccos(np.clip(into_f @ x, -1.0, 1.0)))
    parts: list[Interval] = [(-half, half, -wide, wide)]
    for other in others:
        parts = [left for part in parts for left in _beside(part, middle, along, x, y, other, size)]
    if parts == [(-half, half, -wide, wide)]:
        return [np.array([*edge, half])]
    rows = [np.array([*edge, NEVER])]
    for start, end, low, high in parts:
        if end - start > LEAST * size:
            at, length = middle + 0.5 * (start + end) * along, 0.5 * (end - start)
            ways = [np.cos(angle) * x + np.sin(angle) * y for angle in (low, high)]
            rows.append(np.array([*at, *along, length, *ways[0], *ways[1], length]))
    return rows if len(rows) <= MOST_ROWS else [np.array([*edge, half])]


def _beside(
    part: Interval,
    middle: np.ndarray,
    along: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    other: Hull,
    size: float,
) -> list[Interval]:
    """What an edge is beside another hull: as it was where that is not, one of both where that is."""
    start, end, low, high = part
    heights, rise = (
        other.planes[:, :3] @ middle - other.planes[:, 3] - FLUSH * size,
        other.planes[:, :3] @ along,
    )
    if np.any(heights > max(-start, end) * np.abs(rise)):
        return [part]
    first, last = start, end
    for height, up in zip(heights.tolist(), rise.tolist(), strict=True):
        if abs(up) < FLUSH:
            if height > 0.0:
                return [part]
        elif up > 0.0:
            last = min(last, -height / up)
        else:
            first = max(first, -height / up)
    if last - first <= LEAST * size:
        return [part]
    beside = [(start, first, low, high), (last, end, low, high)]
    wedge = _wedge(other, middle + 0.5 * (first + last) * along, x, y, size)
    if wedge is not None:
        if wedge[0] > high + STRAIGHT or wedge[1] < low - STRAIGHT:  # a hollow between them
            return [part]
        both = min(low, wedge[0]), max(high, wedge[1])
        if both[1] - both[0] < np.pi - STRAIGHT:
            beside.append((first, last, *both))
    return [one for one in beside if one[1] - one[0] > LEAST * size]


def _wedge(
    other: Hull, point: np.ndarray, x: np.ndarray, y: np.ndarray, size: float
) -> tuple[float, float] | None:
    """The angles from x towards y between which a hull is at a point of it; None: all around, or straight."""
    on = other.planes[:, :3] @ point - other.planes[:, 3] > -2.0 * FLUSH * size
    normals = np.column_stack([other.planes[on, :3] @ x, other.planes[on, :3] @ y])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals[lengths > STRAIGHT] / lengths[lengths > STRAIGHT, None]
    if not len(normals):
        return None
    sides = np.concatenate([normals @ [[0.0, 1.0], [-1.0, 0.0]], normals @ [[0.0, -1.0], [1.0, 0.0]]])
    sides = sides[np.all(sides @ normals.T <= STRAIGHT, axis=1)]
    if not len(sides):
        return None
    inward = sides.sum(axis=0)
    if np.linalg.norm(inward) < STRAIGHT:  # straight: a face
        return None
    centre = float(np.arctan2(inward[1], inward[0]))
    turn = np.arctan2(sides[:, 1], sides[:, 0]) - centre
    turn = (turn + np.pi) % (2.0 * np.pi) - np.pi
    return centre + float(turn.min()), centre + float(turn.max())
