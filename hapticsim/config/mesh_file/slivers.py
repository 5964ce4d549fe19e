"""Triangles that are next to nothing, flipped away: their normal is rounding, and a sphere is held along it.

A mesher that puts a vertex on an edge of another triangle closes the surface by a sliver with three corners
on a line.  Its longest edge is flipped: the triangle beyond is cut in two at the vertex on its edge.
"""

from __future__ import annotations

import numpy as np

THIN = 1e-12  # area by the square of the longest edge, below which a triangle has none: rounding of a product
SLIVER = 1e-6  # the same, below which what an STL file rounds (1e-7) turns the normal by more than 6 degrees
MOST_FLIPS = 100_000  # some seconds; the worst of 779 meshes of robots has 8 slivers


def thinness(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Twice the area of triangles (nt, 3) by the square of their longest edge, (nt,)."""
    a, b, c = (vertices[corner] for corner in triangles.T)
    u, v, w = b - a, c - b, a - c
    doubled = np.linalg.norm(np.cross(u, v), axis=1)
    longest = np.max([np.einsum("ij,ij->i", e, e) for e in (u, v, w)], axis=0, initial=0.0)
    return doubled / np.where(longest > 0.0, longest, 1.0)


def without_slivers(vertices: np.ndarray, triangles: np.ndarray, twins: np.ndarray) -> np.ndarray:
    """Return the triangles of a closed surface with the longest edges of slivers flipped.

    An edge is flipped where both triangles that come of it are less thin than the sliver was.

    twins : ``Edges.twins``.
    """
    waiting = np.flatnonzero(thinness(vertices, triangles) < SLIVER).tolist()
    if not waiting:
        return triangles
    flips, triangles, twins = 0, triangles.copy(), twins.copy()
    while waiting and flips < MOST_FLIPS:
        t = waiting.pop()
        if (u := _flip(vertices, triangles, twins, t)) is not None:
            flips += 1
            waiting += [k for k in (t, u) if thinness(vertices, triangles[[k]])[0] < SLIVER]
    return triangles


def _flip(vertices: np.ndarray, triangles: np.ndarray, twins: np.ndarray, t: int) -> int | None:
    """Flip the longest edge of triangle t in place, and return the other triangle; None where it stays."""
    ends = vertices[triangles[t]]
    i = int(np.argmax(np.linalg.norm(np.roll(ends, -1, axis=0) - ends, axis=1)))
    u, j = divmod(int(twins[3 * t + i]), 3)
    p, q, b = (int(triangles[t, (i + k) % 3]) for k in range(3))
    d = int(triangles[u, (j + 2) % 3])
    new = np.array([[p, d, b], [q, b, d]])
    now = thinness(vertices, triangles[[t]])[0]
    if (
        b == d
        or thinness(vertices, new).min() <= now
        or _are_joined(triangles, twins, 3 * t + (i + 2) % 3, d)
    ):
        return None
    outside = [int(twins[3 * u + (j + 1) % 3]), int(twins[3 * t + (i + 2) % 3])]  # beyond p-d, b-p
    outside += [int(twins[3 * t + (i + 1) % 3]), int(twins[3 * u + (j + 2) % 3])]  # beyond q-b, d-q
    triangles[[t, u]] = new
    for half, twin in zip((3 * t, 3 * t + 2, 3 * u, 3 * u + 2), outside, strict=True):
        twins[half], twins[twin] = twin, half
    twins[3 * t + 1], twins[3 * u + 1] = 3 * u + 1, 3 * t + 1
    return u


def _are_joined(triangles: np.ndarray, twins: np.ndarray, half: int, d: int) -> bool:
    """Whether an edge goes to vertex d from the vertex where a half edge starts."""
    here = half
    while True:
        t, c = divmod(here, 3)
        if int(triangles[t, (c + 1) % 3]) == d:
            return True
        here = int(twins[3 * t + (c + 2) % 3])
        if here == half:
            return False
