"""The tables of convex solids as the tick takes them: vertices, faces with their borders, edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hapticsim.model.candidates import Candidate
from hapticsim.model.hull import Features, Hull


def plan_of_hulls(candidates: Sequence[Candidate]) -> dict[str, np.ndarray]:
    """The fields ``hull_...`` of the plan; a solid that several pairs have stands there once.

    Points of other solids that hold a vertex stand behind all vertices, and have no neighbours.
    """
    solids: list[tuple[Hull, Features]] = []
    pair = np.zeros((len(candidates), 2), np.int64)
    number: dict[int, int] = {}
    for k, candidate in enumerate(candidates):
        for side, solid in enumerate(zip(candidate.hulls or (), candidate.features, strict=True)):
            if id(solid[1]) not in number:
                number[id(solid[1])] = len(solids)
                solids.append(solid)
            pair[k, side] = number[id(solid[1])]
    corners = starts([len(hull.vertices) for hull, _ in solids])
    features = [one for _, one in solids]
    held = [points for one in features for points in one.held]
    behind = corners[-1] + starts([len(points) for points in held])
    rings = [
        np.array([*(first + v for v in ring), *range(behind[corner], behind[corner + 1])], np.int64)
        for corner, (first, ring) in enumerate(
            (int(first), ring) for one, first in zip(features, corners, strict=False) for ring in one.rings
        )
    ]
    borders = [border for one in features for border in one.borders]
    return {
        "hull_a": pair[:, 0],
        "hull_b": pair[:, 1],
        "hull_corners": corners,
        "hull_faces": starts([len(one.planes) for one in features]),
        "hull_edges": starts([len(one.lines) for one in features]),
        "hull_ball": stacked([hull.ball[None] for hull, _ in solids], 4),
        "hull_vertex": stacked([*(hull.vertices for hull, _ in solids), *held], 3),
        "hull_neighbour_start": starts([*map(len, rings), *[0] * int(behind[-1] - corners[-1])]),
        "hull_neighbour": np.concatenate([np.zeros(0, np.int64), *rings]),
        "hull_face": stacked([one.planes for one in features], 4),
        "hull_border_start": starts([len(border) for border in borders]),
        "hull_border": stacked(borders, 4),
        "hull_edge": stacked([one.lines for one in features], 14),
    }


def starts(counts: Sequence[int]) -> np.ndarray:
    """Where each of several stretches begins, and where the last one ends."""
    return np.cumsum([0, *counts]).astype(np.int64)


def stacked(parts: Sequence[np.ndarray], width: int) -> np.ndarray:
    return np.concatenate([np.zeros((0, width)), *parts])
