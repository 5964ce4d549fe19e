"""What the first view shows: every shape, the places of constraints, where the device reaches."""

from __future__ import annotations

import numpy as np

from hapticsim.display.messages.scene import Poses, SceneMessage
from hapticsim.display.scene.mesh import Mesh, place

_WIDE = 4.0  # what stands still and is so many times as long as all else together is surroundings


def points_to_show(scene: SceneMessage, mesh: Mesh, poses: Poses) -> np.ndarray:
    """(n, 3) [m] points of the world between which everything lies that the first view is to show.

    A floor may be far larger than what stands on it: such surroundings do not count.  A recording has no
    device that could reach further than it did.
    """
    p_WS, R_WS = place(scene.shapes, poses)
    points_W = np.einsum("nij,nj->ni", R_WS[mesh.point_shape], mesh.points_S) + p_WS[mesh.point_shape]
    shown = [poses.p_WB] if len(scene.shapes) == 0 else []
    shown += [_of_constraints(scene, poses)]
    if scene.role != "recording" or len(points_W) == 0:
        reach = scene.motion_scale * scene.workspace_radius
        shown.append(scene.origin_W + reach * np.array([[-1.0, 0, 0], [1, 0, 0], [0, 0, -1], [0, 0, 1]]))
    wide = surroundings(scene, mesh, poses)
    shown.append(points_W[~wide[mesh.point_shape]])
    return np.concatenate(shown)


def surroundings(scene: SceneMessage, mesh: Mesh, poses: Poses) -> np.ndarray:
    """(ns,) whether a shape stands still and is much larger than everything else together."""
    p_WS, R_WS = place(scene.shapes, poses)
    points_W = np.einsum("nij,nj->ni", R_WS[mesh.point_shape], mesh.points_S) + p_WS[mesh.point_shape]
    lengths = np.array([_length(points_W[mesh.point_shape == i]) for i in range(len(scene.shapes))])
    wide = np.zeros(len(lengths), dtype=bool)
    for i in np.argsort(-lengths):  # the largest first: without it the next may be large too
        others = np.concatenate(
            [points_W[~wide[mesh.point_shape] & (mesh.point_shape != i)], _of_constraints(scene, poses)]
        )
        if scene.shapes[i].body >= 0 or len(others) == 0 or lengths[i] <= _WIDE * _length(others):
            break
        wide[i] = True
    return wide


def _length(points: np.ndarray) -> float:
    """Diagonal [m] of the box around (n, 3) points."""
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def _of_constraints(scene: SceneMessage, poses: Poses) -> np.ndarray:
    """(n, 3) [m] points that are joined or kept somewhere, and the curves on which they are kept."""
    found: list[np.ndarray] = [np.zeros((0, 3))]

    def add(body: int, points_B: np.ndarray) -> None:
        inside = 0 <= body < len(poses.p_WB)
        found.append(points_B @ poses.R_WB[body].T + poses.p_WB[body] if inside else points_B)

    for constraint in scene.constraints:
        for row in constraint.rows:
            if row.kind == "curve":
                add(row.b, row.curve.reshape(-1, 3))
            if row.kind in ("point", "distance", "curve"):
                add(row.a, row.point_a[None])
            if row.kind == "distance":
                add(row.b, row.point_b[None])
    return np.concatenate(found)
