"""Painter's order with meshes: where their triangles come among boxes, and what is smaller among them.

A triangle may be as large as the fingertip on it, so that depth does not decide between the two.  The plane
through it does: where the eye and a box, or a facet, are outside it, the triangle cannot hide that.  So what
is large is put in a line first, by depth, and what is smaller enters it before the first that hides it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hapticsim.display.scene.order import TOUCHING_M, corners_of, face_planes


def triangle_layers(
    corners_W: np.ndarray,
    normals_W: np.ndarray,
    p_WS: np.ndarray,
    R_WS: np.ndarray,
    half: np.ndarray,
    solid_layer: np.ndarray,
    eye_W: np.ndarray,
) -> np.ndarray:
    """(n,) layer of each triangle among solids that `order.layers` ranked: just below the first to follow.

    A solid follows a triangle whose centre it may hide, as with any facet: what is farther on a line of sight
    is hidden then, too, so that depth may order all facets in a layer.  It follows one of which it may hide a
    part as well, where the triangle cannot hide the solid: a floor comes before the box that stands on it.

    corners_W (n, 3, 3) [m]; normals_W (n, 3) towards the eye; p_WS, R_WS, half, solid_layer: of the solids.
    """
    if len(p_WS) == 0:
        return np.zeros(len(corners_W), dtype=int)
    planes, offsets = face_planes(p_WS, R_WS, half)
    facing = planes @ eye_W > offsets  # (ns, 6)
    beyond = np.einsum("skc,nvc->nskv", planes, corners_W) - offsets[:, :, None] > -TOUCHING_M
    outside = beyond.all(axis=3)  # (n, ns, 6) every corner of the triangle beyond a face of the solid
    of_solid = np.einsum("svc,nc->nsv", corners_of(p_WS, R_WS, half), normals_W)
    of_solid -= (corners_W[:, 0] * normals_W).sum(axis=1)[:, None, None]
    cannot_hide = (outside & ~facing).any(axis=2) | (of_solid > -TOUCHING_M).all(axis=2)
    centre_beyond = np.einsum("skc,nc->nsk", planes, corners_W.mean(axis=1)) - offsets > -TOUCHING_M
    before = ~(centre_beyond & facing).any(axis=2) | (cannot_hide & ~(outside & facing).any(axis=2))
    before &= facing.any(axis=1)  # else the eye is inside the solid
    return np.where(before, solid_layer - 1, 2 * len(p_WS)).min(axis=1)


def turns(
    groups: Sequence[np.ndarray],
    layer: np.ndarray,
    depth: np.ndarray,
    corners_W: np.ndarray,
    normals_W: np.ndarray,
    boxes: np.ndarray,
    eye_W: np.ndarray,
) -> np.ndarray:
    """(n,) turn of each of n faces within its layer; those that are hidden by others get the others' layer.

    groups : indices of faces, from large triangles to small ones; the last may be of quadrilaterals.
    layer (n,) is changed; depth (n,) [m]; corners_W (n, 4, 3) [m], normals_W (n, 3) unit and towards the eye;
    boxes (n, 2, 2) the corners of a box around each in the picture.
    """
    line = np.zeros(0, dtype=int)
    for group in groups:
        count = len(line)
        of_line = corners_W[line, :3], boxes[line], normals_W[line]
        first = first_in_front(corners_W[group], boxes[group], *of_line, eye_W)
        layer_of_first = np.append(layer[line], layer.max(initial=0) + 1)[first]
        place = np.where(layer_of_first <= layer[group], 2 * first, 2 * count)
        layer[group] = np.minimum(layer[group], layer_of_first)
        both, places = np.append(line, group), np.append(2 * np.arange(count) + 1, place)
        line = both[np.lexsort((-depth[both], places, layer[both]))]
    turn = np.zeros(len(layer), dtype=int)
    turn[line] = np.arange(len(line))
    return turn


def first_in_front(
    facets_W: np.ndarray,
    facet_boxes: np.ndarray,
    corners_W: np.ndarray,
    boxes: np.ndarray,
    normals_W: np.ndarray,
    eye_W: np.ndarray,
) -> np.ndarray:
    """(n,) index of the first triangle that hides each of n facets from the eye, m where none of m does.

    It is hidden where its centre or a corner is; where its centre is, what may hide another part of it counts
    too, or that would be seen.  facets_W (n, 4, 3) [m]; corners_W (m, 3, 3) [m] of triangles whose outside is
    towards the eye; normals_W (m, 3) unit; facet_boxes (n, 2, 2) and boxes (m, 2, 2): the corners of boxes
    around each in the picture.
    """
    first = np.full(len(facets_W), len(corners_W))
    near = np.flatnonzero(_meet(facet_boxes, _around(boxes)))
    few = np.flatnonzero(_meet(boxes, _around(facet_boxes[near])))
    i, j = np.nonzero(_meet(facet_boxes[near], boxes[few]))
    i, j = near[i], few[j]  # pairs of a facet and a triangle that meet in the picture
    rays = np.concatenate([facets_W.mean(axis=1, keepdims=True), facets_W], axis=1)[i] - eye_W
    corners = corners_W - eye_W
    plane = (corners[:, 0] * normals_W).sum(axis=1)
    behind = np.einsum("pcx,px->pc", rays, normals_W[j]) < plane[j, None] - TOUCHING_M
    hides = behind.copy()
    for k in range(3):  # inside the pyramid from the eye through the triangle
        side = np.cross(corners[:, k], corners[:, (k + 1) % 3])
        hides &= np.einsum("pcx,px->pc", rays, side[j]) <= 0.0
    centre_hidden = np.zeros(len(facets_W), dtype=bool)
    centre_hidden[i[hides[:, 0]]] = True
    before = hides.any(axis=1) | (behind[:, 0] & centre_hidden[i])
    np.minimum.at(first, i[before], j[before])
    return first


def _around(boxes: np.ndarray) -> np.ndarray:
    """(1, 2, 2) the box around (n, 2, 2) boxes; one that meets no other where there are none."""
    low = boxes[:, 0].min(axis=0, initial=np.inf)
    return np.stack([low, boxes[:, 1].max(axis=0, initial=-np.inf)])[None]


def _meet(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, m) whether each of (n, 2, 2) boxes meets each of (m, 2, 2)."""
    low, high = boxes[:, None, 0], boxes[:, None, 1]
    met = (low[..., 0] <= others[:, 1, 0]) & (high[..., 0] >= others[:, 0, 0])
    met &= low[..., 1] <= others[:, 1, 1]
    met &= high[..., 1] >= others[:, 0, 1]
    return met
