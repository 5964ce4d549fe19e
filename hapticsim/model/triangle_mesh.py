"""A closed surface of triangles, as a shape carries it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Vertices that triangles share, each counter-clockwise seen from outside.

    Every edge belongs to two triangles, which pass it in opposite directions: the surface is closed, and has
    an inside (``config.mesh_file`` refuses others).
    """

    vertices: np.ndarray  # (nv, 3) [m] in the axes of the shape
    triangles: np.ndarray  # (nt, 3) int64, indices of vertices
