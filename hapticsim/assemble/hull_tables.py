"""The tables of convex solids as the tick takes them: vertices, faces with their borders, edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hapticsim.model.candidates import Candidate
from hapticsim.model.hull import Hull, around


def plan_of_hulls(candidates: Sequence[Candidate]) -> dict[str, np.ndarray]:
    """The fields ``hull_...`` of the plan; a solid that several pairs have stands there once."""
    solids: list[Hull] = []
    pair = np.zeros((len(candidates), 2), np.int64)
    number: dict[int, int] = {}
    for k, candidate in enumerate(candidates):
        for side, hull in enumerate(candidate.hulls or ()):
            if id(hull) not in number:
                number[id(hull)] = len(solids)
                solids.append(hull)
            pair[k, side] = number[id(hull)]
    corners = starts([len(hull.vertices) for hull in solids])
    rings = [ring for hull, first in zip(solids, corners, strict=False) for ring in _rings(hull, int(first))]
    borders = [border for hull in solids for border in _borders(hull)]
    return {
        "hull_a": pair[:, 0],
        "hull_b": pair[:, 1],
        "hull_corners": corners,
        "hull_faces": starts([len(hull.faces) for hull in solids]),
        "hull_edges": starts([len(hull.edges) for hull in solids]),
        "hull_ball": stacked([hull.ball[None] for hull in solids], 4),
        "hull_vertex": stacked([hull.vertices for hull in solids], 3),
        "hull_neighbour_start": starts([len(ring) for ring in rings]),
        "hull_neighbour": np.concatenate([np.zeros(0, np.int64), *rings]),
        "hull_face": stacked([hull.planes for hull in solids], 4),
        "hull_border_start": starts([len(border) for border in borders]),
        "hull_border": stacked(borders, 4),
        "hull_edge": stacked([hull.edge_lines for hull in solids], 13),
    }


def starts(counts: Sequence[int]) -> np.ndarray:
    """Where each of several stretches begins, and where the last one ends."""
    return np.cumsum([0, *counts]).astype(np.int64)


def stacked(parts: Sequence[np.ndarray], width: int) -> np.ndarray:
    return np.concatenate([np.zeros((0, width)), *parts])


def _rings(hull: Hull, first: int) -> list[np.ndarray]:
    """The vertices at the other end of the edges of each, numbered from ``first``."""
    beside: list[list[int]] = [[] for _ in hull.vertices]
    for u, v in hull.edges[:, :2].tolist():
        beside[u].append(first + v)
        beside[v].append(first + u)
    return [np.array(ring, np.int64) for ring in beside]


def _borders(hull: Hull) -> list[np.ndarray]:
    """Of each face the planes (n, 4) through its edges and across it: normal off the face, and its product
    with a point of the edge [m]."""
    found = []
    for face, plane in zip(hull.faces, hull.planes, strict=True):
        u, v = (hull.vertices[list(ends)] for ends in zip(*around(face), strict=True))
        m = np.cross(v - u, plane[:3])
        m /= np.linalg.norm(m, axis=1, keepdims=True)
        found.append(np.column_stack([m, np.sum(m * u, axis=1)]))
    return found
