"""Triangles turned so that all face outwards: each as its neighbours, then each piece as what it encloses."""

from __future__ import annotations

import numpy as np

from hapticsim.config.mesh_file.components import components
from hapticsim.config.mesh_file.edges import Edges


def alike(triangles: np.ndarray, edges: Edges) -> np.ndarray | None:
    """Return the triangles of a closed surface, some turned so that neighbours face the same way.

    None where that cannot be, as on a Klein bottle.
    """
    # Each triangle stands twice, as it is and turned; neighbours are tied in the states that agree.
    t, u = (edges.pairs // 3).T
    turned = np.where(edges.agree, 0, 1)
    a = np.concatenate([2 * t, 2 * t + 1])
    b = np.concatenate([2 * u + turned, 2 * u + 1 - turned])
    label = components(2 * len(triangles), a, b).reshape(-1, 2)
    if np.any(label[:, 0] == label[:, 1]):
        return None
    as_is = np.bincount(label[:, 0], minlength=int(label.max()) + 1)  # the state that turns fewer is chosen
    ahead = as_is[label[:, 0]] - as_is[label[:, 1]]
    turn = (ahead < 0) | ((ahead == 0) & (label[:, 0] > label[:, 1]))
    return np.where(turn[:, None], triangles[:, ::-1], triangles)


def pieces(triangles: np.ndarray, edges: Edges) -> np.ndarray:
    """Return which piece of a closed surface each triangle belongs to, (nt,) from 0."""
    t, u = (edges.pairs // 3).T
    return components(len(triangles), t, u)


def outwards(vertices: np.ndarray, triangles: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the triangles with every piece turned that faces inwards: all, or those outside all others.

    A piece that faces inwards inside another is a hollow, and stays.  And the volume inside, by the cube of
    the size of the surface.
    """
    volumes = _volumes(vertices, triangles, piece)
    if volumes.sum() < 0.0:
        triangles, volumes = triangles[:, ::-1], -volumes
    inwards = np.flatnonzero(volumes < 0.0)
    if not len(inwards):
        return triangles, float(volumes.sum())
    x, _, z = vertices[triangles].transpose(2, 0, 1)
    furthest, lowest, highest = x.max(axis=1), z.min(axis=1), z.max(axis=1)
    turned = np.zeros(len(volumes), dtype=bool)
    for k in inwards:
        point = vertices[triangles[np.argmax(piece == k), 0]]
        near = (lowest <= point[2]) & (highest > point[2]) & (furthest > point[0]) & (piece != k)
        turned[k] = not is_inside(point, vertices[triangles[near]])
    volumes[turned] *= -1.0
    return np.where(turned[piece][:, None], triangles[:, ::-1], triangles), float(volumes.sum())


def is_inside(point: np.ndarray, corners: np.ndarray) -> bool:
    """Whether a ray along x from the point (3,) leaves closed surfaces of triangles (nt, 3, 3)."""
    # In the plane of y and z: the edges that cross z = 0, their ends in order, so that neighbours agree.
    p = corners - point
    above = p[:, :, 2] > 0.0
    q, q_above = np.roll(p, -1, axis=1), np.roll(above, -1, axis=1)
    low, high = np.where(above[..., None], q, p), np.where(above[..., None], p, q)
    crosses = above != q_above
    with np.errstate(divide="ignore", invalid="ignore"):
        share = -low[..., 2] / (high[..., 2] - low[..., 2])
        beyond = low[..., 1] + share * (high[..., 1] - low[..., 1]) > 0.0
    met = (crosses & beyond).sum(axis=1) == 1
    p = p[met]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    ahead = np.einsum("ij,ij->i", normal, p[:, 0]) * np.sign(normal[:, 0]) > 0.0
    return int(np.sign(normal[ahead, 0]).sum()) != 0


def _volumes(vertices: np.ndarray, triangles: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Signed volumes of pieces by the cube of the size of all, so that none is too small or too far off."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    centred = (vertices - 0.5 * (low + high)) / np.max(high - low)
    a, b, c = (centred[corner] for corner in triangles.T)
    return np.bincount(piece, weights=np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0)
