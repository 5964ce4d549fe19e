"""A face of a convex solid, cut to where no other solid of the same shape lies beyond it."""

from __future__ import annotations

import numpy as np

from hapticsim.model.hull import Hull

FLUSH = 5e-5  # of the size: what is nearer to a solid than this is on it; CoACD leaves 2e-5 between two
LEAST = 1e-4  # of the size: what shows of an edge or across a face and is smaller is left out


def outside(polygon: np.ndarray, plane: np.ndarray, other: Hull, size: float) -> list[np.ndarray]:
    """What is left of a convex polygon (n, 3) in a plane where another hull lies beyond: convex pieces."""
    rest, pieces = polygon, []
    beyond = 2.0 * FLUSH * size * plane[:3]
    if np.any(np.all((polygon + beyond) @ other.planes[:, :3].T >= other.planes[:, 3], axis=0)):
        return [polygon]
    for m in other.planes:
        heights = (rest + beyond) @ m[:3] - m[3]
        if heights.max() <= 0.0:
            continue
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
