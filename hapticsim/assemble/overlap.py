"""How far two shapes are inside one another, whatever features are near: boxes, hulls, prisms, capsules in
them.

Plain geometry, beside the gaps of the kernels: for what may start, and for who checks a run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from hapticsim.model.candidates import HULLS, hull_of, touching_as
from hapticsim.model.hull import Hull, around
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.scene import Shape

LEAST_SIN = 1e-6  # of the angle between two edges that have a common normal
ROUNDING = 1e-10  # sine of the angle by which a normal across two edges may point into a face
NARROWINGS = 80  # of a bracket, by 2/3 each
CROSS = np.cross(np.eye(3)[:, None], np.eye(3)).transpose(1, 0, 2)  # [k] @: a -> a x e_k


def overlap_of(a: Shape, X_WA: Placement, b: Shape, X_WB: Placement) -> float | None:
    """Depth [m] of one shape in another at these poses, at most 0 where apart; None of other pairs.

    Of a mesh with solids it is that of the one that is deepest.
    """
    a, b = touching_as(a, b)
    if {"sphere", "plane"} & {a.kind, b.kind}:
        return None
    if a.solids or b.solids:
        pairs = itertools.product(a.solids_for(b), b.solids_for(a))
        depths = [overlap_of(solid_a, X_WA, solid_b, X_WB) for solid_a, solid_b in pairs]
        return max((depth for depth in depths if depth is not None), default=None)
    if a.kind == "box" and b.kind == "box":
        return overlap_of_boxes(a.size, X_WA, b.size, X_WB)
    if a.kind in HULLS and b.kind in HULLS:
        return overlap_of_hulls(hull_of(a), X_WA, hull_of(b), X_WB)
    if b.kind == "capsule":
        a, X_WA, b, X_WB = b, X_WB, a, X_WA
    if (a.kind, b.kind) == ("capsule", "box"):
        radius, length = a.size
        return radius - distance_of_segment(0.5 * length, X_WA, b.size, X_WB)
    if (a.kind, b.kind) == ("capsule", "mesh"):
        return a.size[0] - distance_from_hull(hull_of(a), X_WA, hull_of(b), X_WB)
    return None


def overlap_of_boxes(
    half_a: Sequence[float], X_WA: Placement, half_b: Sequence[float], X_WB: Placement
) -> float:
    """Least overlap [m] of two boxes along the axes that can separate them; at most 0 where they are apart.

    half_a, half_b   (3,) [m] half extents.  The axes are the normals of the faces and of pairs of edges
    [Gottschalk, Lin and Manocha 1996].
    """
    R_BA = X_WB.rotation.T @ X_WA.rotation
    apart_B = X_WB.rotation.T @ (X_WA.translation - X_WB.translation)
    across = R_BA.T @ CROSS  # (3, 3, 3): of axis k of B with axis i of A, in rows
    across = across.reshape(9, 3)
    size = np.sqrt(np.sum(across * across, axis=1))
    usable = size > LEAST_SIN
    n = np.concatenate([np.eye(3), R_BA.T, across[usable] / size[usable, None]])
    reach = np.abs(n @ R_BA) @ np.array(half_a) + np.abs(n) @ np.array(half_b)
    return float(np.min(reach - np.abs(n @ apart_B)))


def overlap_of_hulls(a: Hull, X_WA: Placement, b: Hull, X_WB: Placement) -> float:
    """The same of two convex solids: along the normals of their faces, and across edges that cross.

    Along a normal across two edges both are farthest out there only if it points out of both faces of B, and
    into both of A.
    """
    R = X_WB.rotation.T @ X_WA.rotation
    c = X_WB.rotation.T @ (X_WA.translation - X_WB.translation)
    points_a = a.vertices @ R.T + c
    normals_a = a.planes[:, :3] @ R.T
    beside_b = np.min(b.planes[:, :3] @ points_a.T, axis=1) - b.planes[:, 3]
    beside_a = np.min(normals_a @ b.vertices.T, axis=1) - a.planes[:, 3] - normals_a @ c
    apart = max(beside_b.max(), beside_a.max(initial=-math.inf))
    lines_a, lines_b = a.edge_lines, b.edge_lines
    along_a, along_b = lines_a[:, 3:6] @ R.T, lines_b[:, 3:6]
    n = np.cross(along_a[:, None], along_b[None])
    size = np.linalg.norm(n, axis=2)
    i, j = np.nonzero(size > LEAST_SIN)
    n = n[i, j] / size[i, j, None]
    into_a = [lines_a[:, k : k + 3] @ R.T for k in (7, 10)]
    into_b = [lines_b[:, k : k + 3] for k in (7, 10)]
    away = np.sum(n * ((into_a[0] + into_a[1])[i] - (into_b[0] + into_b[1])[j]), axis=1)
    n *= np.copysign(1.0, away)[:, None]
    separates = np.ones(len(n), bool)
    for k in range(2):
        separates &= np.sum(n * into_a[k][i], axis=1) >= -ROUNDING
        separates &= np.sum(n * into_b[k][j], axis=1) <= ROUNDING
    way = (lines_a[:, :3] @ R.T + c)[i] - lines_b[j, :3]
    gaps = np.sum(n * way, axis=1)[separates]
    return -float(max(apart, gaps.max(initial=-math.inf)))


def distance_from_hull(line: Hull, X_WL: Placement, b: Hull, X_WB: Placement) -> float:
    """Signed distance [m] of a segment from a convex solid, negative inside.

    Of one that is outside that of an end over a face, or from an edge [Ericson 2005, 5.1.9].
    """
    depth = overlap_of_hulls(line, X_WL, b, X_WB)
    if depth >= 0.0:
        return -depth
    R = X_WB.rotation.T @ X_WL.rotation
    p, q = line.vertices @ R.T + X_WB.rotation.T @ (X_WL.translation - X_WB.translation)
    start, end = b.vertices[b.edges[:, 0]], b.vertices[b.edges[:, 1]]
    x, a, e = p - start, q - p, end - start
    aa, ee, ae, xa, xe = a @ a, np.sum(e * e, axis=1), e @ a, x @ a, np.sum(x * e, axis=1)
    square = aa * ee - ae * ae
    free = square > LEAST_SIN**2 * aa * ee
    s = np.clip(np.where(free, (ae * xe - ee * xa) / np.where(free, square, 1.0), 0.0), 0.0, 1.0)
    t = np.clip((ae * s + xe) / ee, 0.0, 1.0)
    s = np.clip((ae * t - xa) / aa, 0.0, 1.0)
    distance = float(np.linalg.norm(x + s[:, None] * a - t[:, None] * e, axis=1).min())
    for point in (p, q):
        heights = b.planes[:, :3] @ point - b.planes[:, 3]
        for f in np.flatnonzero((heights >= 0.0) & (heights < distance)):
            if is_over(b, int(f), point):
                distance = float(heights[f])
    return distance


def is_over(b: Hull, face: int, point: np.ndarray) -> bool:
    """Whether a point is over a face."""
    u, v = (b.vertices[list(ends)] for ends in zip(*around(b.faces[face]), strict=True))
    return bool(np.all(np.sum(np.cross(v - u, b.planes[face, :3]) * (point - u), axis=1) <= 0.0))


def distance_of_segment(half: float, X_WS: Placement, half_b: Sequence[float], X_WB: Placement) -> float:
    """Least signed distance [m] of a segment along z from a box, negative inside.

    half   [m] half length.  The distance from a convex body is convex along a line: it has one minimum.
    """
    mx, my, mz = (X_WB.rotation.T @ (X_WS.translation - X_WB.translation)).tolist()
    ax, ay, az = (X_WB.rotation.T @ X_WS.rotation[:, 2]).tolist()
    hx, hy, hz = (float(h) for h in half_b)

    def distance(t: float) -> float:  # on floats: arrays of three numbers cost ten times as much
        x, y, z = abs(mx + t * ax) - hx, abs(my + t * ay) - hy, abs(mz + t * az) - hz
        outside = math.sqrt(max(x, 0.0) ** 2 + max(y, 0.0) ** 2 + max(z, 0.0) ** 2)
        return outside + min(max(x, y, z), 0.0)

    low, high = -half, half
    for _ in range(NARROWINGS):
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        if distance(left) < distance(right):
            high = right
        else:
            low = left
    return distance(0.5 * (low + high))
