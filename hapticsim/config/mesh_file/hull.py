"""The convex hull of what a mesh file holds, as a part like those of files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.parts import Part
from hapticsim.errors import ConfigError


def hull_of(path: Path, parts: Sequence[Part]) -> Part:
    """Return the convex hull of all vertices: its own vertices, and triangles that face outwards.

    Raises
    ------
    ConfigError : all vertices lie in one plane, or the hull cannot be found to rounding.
    """
    from scipy.spatial import ConvexHull, QhullError  # of the extra ``meshes``

    points = np.unique(np.concatenate([points for points, _ in parts]), axis=0)
    middle = points.mean(axis=0)
    try:
        hull = ConvexHull(points - middle)
    except (QhullError, ValueError):
        raise ConfigError(
            path, "", "has no convex hull, as its vertices lie in one plane or line: give it a thickness."
        ) from None
    a, b, c = (points[hull.simplices[:, i]] - middle for i in range(3))
    inward = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0.0
    triangles = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, label = np.unique(triangles, return_inverse=True)
    return points[used], label.reshape(-1, 3).astype(np.int64)
