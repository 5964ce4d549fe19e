"""A surface of triangles that is drawn and never touched: it need not be closed, nor face outwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles to be drawn, counter-clockwise seen from outside where their source says so."""

    vertices: np.ndarray  # (nv, 3) [m] in the axes of the shape
    triangles: np.ndarray  # (nt, 3) int64, indices of vertices
