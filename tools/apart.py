"""A direction in which two convex solids are apart: while it lasts nobody need ask how deep they are."""

from __future__ import annotations

import numpy as np

from hapticsim.assemble.overlap import overlap_of
from hapticsim.model.candidates import HULLS, hull_of, touching_as
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.scene import Shape

LEAST_SIN = 1e-3  # of the angle between two edges whose common normal is tried


class Pair:
    """Two shapes, and the direction in which they overlapped least when many were asked.

    They are as deep in one another as they overlap in that direction of all in which they do least: one that
    keeps them apart is enough.
    """

    def __init__(self, a: Shape, b: Shape) -> None:
        self.a, self.b = touching_as(a, b)
        self.is_convex = all(s.kind in (*HULLS, "capsule") and not s.solids for s in (self.a, self.b))
        self.n_B = np.zeros(3)  # from B to A
        if self.is_convex:
            self.hull_a, self.hull_b = hull_of(self.a), hull_of(self.b)
            self.radii = sum(s.size[0] for s in (self.a, self.b) if s.kind == "capsule")

    def depth(self, X_WA: Placement, X_WB: Placement, allowed: float) -> float | None:
        """Depth [m] of one in the other if it is more than ``allowed``, and None otherwise."""
        if self.is_convex:
            if self.n_B.any() and self._overlap(self.n_B[None], X_WA, X_WB)[0] <= allowed:
                return None
            normals = self._normals(X_WA, X_WB)
            overlaps = self._overlap(normals, X_WA, X_WB)
            self.n_B = normals[overlaps.argmin()]
            if overlaps.min() <= allowed:
                return None
        depth = overlap_of(self.a, X_WA, self.b, X_WB)
        return depth if depth is not None and depth > allowed else None

    def _overlap(self, n_B: np.ndarray, X_WA: Placement, X_WB: Placement) -> np.ndarray:
        """How far they overlap along each direction (k, 3) [m]: how deep they are is the least along any."""
        n_W = n_B @ X_WB.rotation.T
        end_b = (n_B @ self.hull_b.vertices.T).max(axis=1) + n_W @ X_WB.translation
        start_a = (n_W @ X_WA.rotation @ self.hull_a.vertices.T).min(axis=1) + n_W @ X_WA.translation
        return end_b - start_a + self.radii

    def _normals(self, X_WA: Placement, X_WB: Placement) -> np.ndarray:
        """Directions (k, 3) worth a try: of the faces, across edges, and from middle to middle."""
        R_BA = X_WB.rotation.T @ X_WA.rotation
        across = np.cross(
            (self.hull_a.edge_lines[:, None, 3:6] @ R_BA.T), self.hull_b.edge_lines[None, :, 3:6]
        )
        across = across.reshape(-1, 3)
        size = np.linalg.norm(across, axis=1)
        usable = size > LEAST_SIN
        across = across[usable] / size[usable, None]
        way = X_WB.rotation.T @ (X_WA.translation - X_WB.translation)
        faces = [self.hull_b.planes[:, :3], -self.hull_a.planes[:, :3] @ R_BA.T]
        return np.concatenate([*faces, across, -across, way[None] / max(float(np.linalg.norm(way)), 1e-12)])
