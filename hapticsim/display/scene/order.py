"""Painter's order: which faces to draw before which.

Round shapes are cut into facets so small that their depth decides.  Boxes and planes have faces too large
for that: a table top reaches both nearer and farther than the fingertip on it.  For them the order follows
from convexity: when the eye and a point lie on the outer side of the same face of a convex solid, the solid
cannot hide the point.
"""

from __future__ import annotations

import numpy as np

TOUCHING_M = 1e-5  # things that only touch a face count as lying outside it


def face_planes(p_WS: np.ndarray, R_WS: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outward planes ``n . x = d`` of boxes: (ns, 6, 3) normals and (ns, 6) [m] offsets.

    p_WS (ns, 3) [m], R_WS (ns, 3, 3), half (ns, 3) [m] half extents; a plane shape is a box of half height 0.
    """
    axes = np.swapaxes(R_WS, 1, 2)  # row k: axis k of the box in the world
    normals = np.concatenate([axes, -axes], axis=1)
    offsets = np.einsum("nki,ni->nk", normals, p_WS) + np.concatenate([half, half], axis=1)
    return normals, offsets


def corners_of(p_WS: np.ndarray, R_WS: np.ndarray, half: np.ndarray) -> np.ndarray:
    """(ns, 8, 3) [m] corners of boxes, given as to `face_planes`."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    return p_WS[:, None] + np.einsum("nij,ncj->nci", R_WS, signs * half[:, None])


def solids_back_to_front(
    p_WS: np.ndarray, R_WS: np.ndarray, half: np.ndarray, eye_W: np.ndarray
) -> list[int]:
    """Indices of boxes in drawing order.

    Box j may follow box i when a face plane of either shows that i cannot hide j.  Where that holds one way
    only, it orders the pair; where it holds neither way (boxes that intersect) the farther centre goes
    first.
    """
    count = len(p_WS)
    normals, offsets = face_planes(p_WS, R_WS, half)
    corners = corners_of(p_WS, R_WS, half)
    # outside[i, k, j]: every corner of box j lies beyond face k of box i
    beyond = np.einsum("iks,jcs->ikjc", normals, corners) - offsets[:, :, None, None]
    outside = (beyond > -TOUCHING_M).all(axis=3)
    facing = (normals @ eye_W > offsets)[:, :, None]
    may_follow = (outside & facing).any(axis=1).T | (outside & ~facing).any(axis=1)  # [j, i]
    distance = np.linalg.norm(p_WS - eye_W, axis=1)
    unsure = ~may_follow & ~may_follow.T
    must_follow = (may_follow & ~may_follow.T) | (unsure & (distance[:, None] < distance[None, :]))
    left, order = set(range(count)), []
    while left:
        ready = [j for j in left if not any(must_follow[j, i] for i in left if i != j)]
        chosen = max(ready or left, key=lambda j: distance[j])  # a cycle is broken at its farthest member
        order.append(chosen)
        left.remove(chosen)
    return order


def hidden(normals: np.ndarray, offsets: np.ndarray, eye_W: np.ndarray, points_W: np.ndarray) -> np.ndarray:
    """(n,) whether the solid with planes (6, 3), (6,) may hide each of (n, 3) points from the eye."""
    facing = normals @ eye_W > offsets
    if not facing.any():  # the eye is inside the solid: its faces look away and are not drawn
        return np.zeros(len(points_W), dtype=bool)
    outside = points_W @ normals[facing].T > offsets[facing] - TOUCHING_M
    return ~outside.any(axis=1)


def layers(
    facets_W: np.ndarray, p_WS: np.ndarray, R_WS: np.ndarray, half: np.ndarray, eye_W: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Layer of every small facet (by its (n, 3) centre) and of every solid: lower layers are drawn first.

    The solid drawn r-th has layer 2 r + 1; a facet stands just below the first solid that may hide it.
    """
    count = len(p_WS)
    facet_layer = np.full(len(facets_W), 2 * count)
    solid_layer = np.zeros(count, dtype=int)
    if count == 0:
        return facet_layer, solid_layer
    normals, offsets = face_planes(p_WS, R_WS, half)
    order = solids_back_to_front(p_WS, R_WS, half, eye_W)
    for rank in reversed(range(count)):
        solid = order[rank]
        solid_layer[solid] = 2 * rank + 1
        facet_layer[hidden(normals[solid], offsets[solid], eye_W, facets_W)] = 2 * rank
    return facet_layer, solid_layer
