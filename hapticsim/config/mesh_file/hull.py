"""The convex hull of what a mesh file holds, whole or with fewer corners, as a part like those of files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.parts import Part
from hapticsim.errors import ConfigError

FEWEST_CORNERS = 4


def hull_of(path: Path, parts: Sequence[Part], corners: int | None = None) -> tuple[Part, float]:
    """Return the convex hull of all vertices: its own vertices, and triangles that face outwards.

    corners : how many it may have; those are taken that the rest is least beyond.

    Returns also how far [m] a vertex is from it at most, 0 for the whole hull.

    Raises
    ------
    ConfigError : all vertices lie in one plane, or the hull cannot be found to rounding.
    """
    from scipy.spatial import QhullError  # of the extra ``meshes``

    points = np.unique(np.concatenate([points for points, _ in parts]), axis=0)
    try:
        hull = _hull(points)
        if corners is None or len(hull[0]) <= corners:
            return hull, 0.0
        return _coarse(hull[0], corners)
    except (QhullError, ValueError):
        raise ConfigError(
            path, "", "has no convex hull, as its vertices lie in one plane or line: give it a thickness."
        ) from None


def _hull(points: np.ndarray) -> Part:
    from scipy.spatial import ConvexHull

    middle = points.mean(axis=0)
    hull = ConvexHull(points - middle)
    a, b, c = (points[hull.simplices[:, i]] - middle for i in range(3))
    inward = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0.0
    triangles = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, label = np.unique(triangles, return_inverse=True)
    return points[used], label.reshape(-1, 3).astype(np.int64)


def _coarse(points: np.ndarray, corners: int) -> tuple[Part, float]:
    """The hull of so many points, and how far others are from it; that farthest beyond a face is the next."""
    chosen = _first_corners(points)
    while True:
        vertices, triangles = _hull(points[chosen])
        a, b, c = (vertices[triangles[:, i]] for i in range(3))
        n = np.cross(b - a, c - a)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        beyond = np.max(points @ n.T - np.sum(n * a, axis=1), axis=1)
        beyond[chosen] = 0.0
        if len(chosen) == corners or not beyond.max() > 0.0:
            return (vertices, triangles), _farthest(points[beyond > 0.0], vertices[triangles])
        chosen.append(int(np.argmax(beyond)))


def _first_corners(points: np.ndarray) -> list[int]:
    """Four points far from one another, not in a plane: of the longest way, off its line, off their plane."""
    a = int(np.argmin(points[:, 0]))
    b = int(np.argmax(np.linalg.norm(points - points[a], axis=1)))
    along = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
    off = points - points[a] - np.outer((points - points[a]) @ along, along)
    c = int(np.argmax(np.linalg.norm(off, axis=1)))
    across = np.cross(along, off[c])
    return [a, b, c, int(np.argmax(np.abs((points - points[a]) @ across)))]


def _farthest(points: np.ndarray, corners: np.ndarray) -> float:
    """Largest distance [m] of points outside from the nearest of triangles (n, 3, 3)."""
    from trimesh.triangles import closest_point

    nearest = np.full(len(points), np.inf)
    for triangle in corners:
        at = closest_point(np.broadcast_to(triangle, (len(points), 3, 3)), points)
        nearest = np.minimum(nearest, np.linalg.norm(at - points, axis=1))
    return float(nearest.max(initial=0.0))
