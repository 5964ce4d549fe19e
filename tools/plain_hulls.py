"""Signed distances of two convex solids by plain geometry: all axes, all vertices over all faces, all edges.

Of two that overlap the distance is the largest separation along the normals of faces and across two edges, by
all vertices of both; of two that are apart the least of a vertex over a face, and of two segments [Ericson
2005, 5.1.9].  R (n, 3, 3) holds the axes of A in those of B as columns, c (n, 3) [m] is the origin of A
there; normals point from B to A, in the axes of B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from plain_shapes import APART, DIRECTED, RIVAL, Distances

from hapticsim.model.hull import Hull, around

LEAST_SINE = 1e-10  # of the angle below which two edges are parallel
WITHIN = 1e-7  # [m] a nearest point that is so far from the end of its feature is within it
SAME_AXIS = 1e-9  # two unit vectors that differ by less are one axis
ROUNDING = 1e-15  # [m]


@dataclass
class Nearest:
    """Of two solids at a pose."""

    distance: float  # [m], below 0 where they overlap
    normal: np.ndarray  # (3,)
    unique: bool
    sine: float  # of the angle between two edges that are nearest; else 1
    within: bool  # nearest points lie within a face and at a vertex, or within two edges; or they overlap


def of_hulls(a: Hull, b: Hull, R: np.ndarray, c: np.ndarray) -> Distances:
    """Signed distances at n poses."""
    found = [nearest(a, b, *pose) for pose in zip(R, c, strict=True)]
    return Distances(
        np.array([one.distance for one in found]),
        np.array([one.normal for one in found]),
        np.array([one.unique for one in found]),
        np.array([one.sine for one in found]),
        np.array([one.within for one in found]),
    )


def nearest(a: Hull, b: Hull, R: np.ndarray, c: np.ndarray) -> Nearest:
    """The same at one pose."""
    P, Q = a.vertices @ R.T + c, b.vertices
    n, separation, sines = separations(a, b, R, P, Q)
    best = int(np.argmax(separation))
    others = separation[np.linalg.norm(n - n[best], axis=1) > SAME_AXIS]
    alone = bool(separation[best] - others.max(initial=-np.inf) > RIVAL)
    if separation[best] <= 0.0:
        return Nearest(float(separation[best]), n[best], alone, float(sines[best]), True)
    away, sine, within = apart(a, b, R, c, P, Q)
    distance = float(np.linalg.norm(away))
    normal = n[best] if distance < DIRECTED else away / distance
    return Nearest(distance, normal, alone or distance > APART, sine, within)


def separations(
    a: Hull, b: Hull, R: np.ndarray, P: np.ndarray, Q: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All axes (k, 3), how far apart [m] both are along them (k,), and sines (k,), 1 for those of faces."""
    along_a, along_b = (points[h.edges[:, 1]] - points[h.edges[:, 0]] for h, points in ((a, P), (b, Q)))
    along_a, along_b = (along / np.linalg.norm(along, axis=1, keepdims=True) for along in (along_a, along_b))
    across = np.cross(along_a[:, None], along_b[None]).reshape(-1, 3)
    size = np.linalg.norm(across, axis=1)
    across, size = across[size > LEAST_SINE], size[size > LEAST_SINE]
    across /= size[:, None]
    n = np.concatenate([b.planes[:, :3], -a.planes[:, :3] @ R.T, across, -across])
    sines = np.concatenate([np.ones(len(a.faces) + len(b.faces)), size, size])
    return n, (n @ P.T).min(axis=1) - (n @ Q.T).max(axis=1), sines


def apart(
    a: Hull, b: Hull, R: np.ndarray, c: np.ndarray, P: np.ndarray, Q: np.ndarray
) -> tuple[np.ndarray, float, bool]:
    """The shortest way (3,) [m] from B to A, the sine between edges that it joins, and whether its ends lie
    within their features."""
    ways, sines, within = [], [], []
    for hull, points in ((b, P), (a, (Q - c) @ R)):
        for face, (x, y, z, level) in zip(hull.faces, hull.planes, strict=True):
            n = np.array([x, y, z])
            corners = hull.vertices[list(face)]
            ends = np.array([hull.vertices[v] for _, v in around(face)])
            out = np.cross(ends - corners, n)
            out /= np.linalg.norm(out, axis=1, keepdims=True)
            past = np.max(points @ out.T - np.sum(corners * out, axis=1), axis=1)
            height = points @ n - level
            for i in np.flatnonzero((past <= 0.0) & (height >= 0.0)):
                ways.append(height[i] * n if hull is b else -height[i] * (R @ n))
                sines.append(1.0)
                within.append(bool(past[i] < -WITHIN))
    by_vertex = len(ways)
    of_edges, sine, inside = crossings(P[a.edges[:, :2]], Q[b.edges[:, :2]])
    size = np.linalg.norm(of_edges, axis=1)
    k = int(np.argmin(size))
    if by_vertex:
        sizes = np.linalg.norm(ways, axis=1)
        j = int(np.argmin(sizes))
        if sizes[j] <= size[k] + ROUNDING:
            return ways[j], sines[j], within[j]
    return of_edges[k], float(sine[k]) if inside[k] else 1.0, bool(inside[k])


def crossings(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ways (k, 3) [m] from segments q (m, 2, 3) to segments p (n, 2, 3), all pairs; sines (k,) between them;
    whether both ends are within (k,)."""
    i, j = (index.ravel() for index in np.indices((len(p), len(q))))
    x, a, b = p[i, 0] - q[j, 0], p[i, 1] - p[i, 0], q[j, 1] - q[j, 0]
    aa, bb, ab = (np.sum(u * v, axis=1) for u, v in ((a, a), (b, b), (a, b)))
    xa, xb = np.sum(x * a, axis=1), np.sum(x * b, axis=1)
    square = aa * bb - ab * ab
    sine = np.sqrt(np.maximum(square, 0.0) / (aa * bb))
    free = sine > LEAST_SINE
    s = np.where(free, (ab * xb - bb * xa) / np.where(free, square, 1.0), 0.0)
    t_free = (ab * s + xb) / bb
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((ab * s + xb) / bb, 0.0, 1.0)
    s = np.clip((ab * t - xa) / aa, 0.0, 1.0)
    from_end = np.minimum(np.minimum(s, 1.0 - s) * np.sqrt(aa), np.minimum(t, 1.0 - t) * np.sqrt(bb))
    inside = free & (from_end > WITHIN) & (t_free == t)
    return x + s[:, None] * a - t[:, None] * b, sine, inside
