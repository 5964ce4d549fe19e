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
from hapticsim.model.joined.edges import showing
from hapticsim.model.joined.faces import FLUSH, outside
from hapticsim.model.triangle_mesh import TriangleMesh

MOST_CUTS = 8  # pieces of a face; the 124 of a hull of 64 corners have 992, of 1024 that a tick tells apart
HIDDEN = np.array([[0.0, 0.0, 0.0, -1e6]])  # a border that any point is far past [m]


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
            pieces = [left for piece in pieces for left in outside(piece, plane, other, size)]
        if len(pieces) > MOST_CUTS:
            pieces = [hull.vertices[list(face)]]
        planes += [plane] * max(len(pieces), 1)
        borders += [border_of(piece, plane[:3]) for piece in pieces] or [HIDDEN]
    lines = [line for edge in hull.edge_lines for line in showing(edge, near, size)]
    held = [
        np.concatenate([np.zeros((0, 3)), *(o.vertices for o in near if _depth(o, v) <= FLUSH * size)])
        for v in hull.vertices
    ]
    return Features(np.array(planes), borders, np.array(lines), hull.rings, held)


def _may_meet(hull: Hull, other: Hull, near: float) -> bool:
    low, high = hull.vertices.min(axis=0) - near, hull.vertices.max(axis=0) + near
    return bool(np.all(other.vertices.max(axis=0) >= low) and np.all(other.vertices.min(axis=0) <= high))


def _depth(hull: Hull, point: np.ndarray) -> float:
    """How far [m] a point is beyond the planes of a hull at most, below 0 inside."""
    return float(np.max(hull.planes[:, :3] @ point - hull.planes[:, 3]))
