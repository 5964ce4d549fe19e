"""A convex solid that is joined to others: what of its faces, edges and vertices shows on the outside.

Where the flush tops of two solids meet, a corner that slides over the seam would strike the hidden side of
the second.  So a face is touched only where no other solid lies beyond it, and an edge only where it is one
of the solids together, with the wedge that they make there.  A vertex that others hold opens upwards along a
direction only if these do, too.  Hidden edges still separate two solids, and are kept for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hapticsim.model.hull import Features, Hull, border_of
from hapticsim.model.triangle_mesh import TriangleMesh

FLUSH = 5e-5  # of the size: what is nearer to a solid than this is on it; CoACD leaves 2e-5 between two
LEAST = 1e-4  # of the size: what shows of an edge or across a face and is smaller is left out
STRAIGHT = 1e-3  # [rad] by which the wedge about an edge is less than straight at least
HIDDEN = np.array([[0.0, 0.0, 0.0, -1e6]])  # a border that any point is far past [m]
NEVER = -1.0  # half length along which an edge is touched [m]
Interval = tuple[float, float, float, float]  # along an edge from, to [m]; wedge from, to [rad]


@dataclass(frozen=True, eq=False)
class Piece(TriangleMesh):
    """The surface of a convex solid that is joined to others of its shape."""

    others: tuple[Hull, ...] = ()  # in the same axes
    size: float = 1.0  # [m] of all of them together

    @cached_property
    def features(self) -> Features:
        """Its faces, edges and vertices where they show on the outside of all of them."""
        return joined(self.hull, self.others, self.size)


def joined(hull: Hull, others: Sequence[Hull], size: float) -> Features:
    """Return what of a hull is touched beside others in the same axes, all of a size [m]."""
    near = [other for other in others if _may_meet(hull, other, FLUSH * size)]
    planes, borders = [], []
    for plane, face in zip(hull.planes, hull.faces, strict=True):
        pieces = [hull.vertices[list(face)]]
        for other in near:
            pieces = [left for piece in pieces for left in _outside(piece, plane, other, size)]
        planes += [plane] * max(len(pieces), 1)
        borders += [border_of(piece, plane[:3]) for piece in pieces] or [HIDDEN]
    lines = [line for edge in hull.edge_lines for line in _showing(edge, near, size)]
    held = [
        np.concatenate([np.zeros((0, 3)), *(o.vertices for o in near if _depth(o, v) <= FLUSH * size)])
        for v in hull.vertices
    ]
    return Features(np.array(planes), borders, np.array(lines), hull.rings, held)


def _may_meet(hull: Hull, other: Hull, near: float) -> bool:
    apart = np.linalg.norm(hull.ball[:3] - other.ball[:3])
    return bool(apart <= hull.ball[3] + other.ball[3] + near)


def _depth(hull: Hull, point: np.ndarray) -> float:
    """How far [m] a point is beyond the planes of a hull at most, below 0 inside."""
    return float(np.max(hull.planes[:, :3] @ point - hull.planes[:, 3]))


def _outside(polygon: np.ndarray, plane: np.ndarray, other: Hull, size: float) -> list[np.ndarray]:
    """What is left of a convex polygon (n, 3) in a plane where another hull lies beyond: convex pieces."""
    rest, pieces = polygon, []
    beyond = 2.0 * FLUSH * size * plane[:3]
    for m in other.planes:
        heights = (rest + beyond) @ m[:3] - m[3]
        out = _clipped(rest, -heights)
        if _width(out) > LEAST * size:
            pieces.append(out)
        rest = _clipped(rest, heights)
        if not _width(rest) > LEAST * size:
            return [polygon]
    return pieces


def _clipped(polygon: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The part (n, 3) of a convex polygon where heights, given at its vertices, are at most 0."""
    kept = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if heights[i] <= 0.0:
            kept.append(polygon[i])
        if (heights[i] < 0.0 < heights[j]) or (heights[j] < 0.0 < heights[i]):
            share = heights[i] / (heights[i] - heights[j])
            kept.append(polygon[i] + share * (polygon[j] - polygon[i]))
    return np.array(kept).reshape(-1, 3)


def _width(polygon: np.ndarray) -> float:
    """Twice the area of a convex polygon by its longest side [m]."""
    if len(polygon) < 3:
        return 0.0
    sides = np.roll(polygon, -1, axis=0) - polygon
    area = np.linalg.norm(np.sum(np.cross(polygon - polygon[0], sides), axis=0))
    return float(area / max(np.linalg.norm(sides, axis=1).max(), 1e-300))


def _showing(edge: np.ndarray, others: Sequence[Hull], size: float) -> list[np.ndarray]:
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
    return rows


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
