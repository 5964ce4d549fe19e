"""A mesh whose facets are not to be felt: curved by the normals at its corners, and divided into small ones.

Force shading bends the force and leaves the surface as it is, so that the force is the gradient of no gap.
Here the surface itself is curved, and what touches is a finer mesh.

A pass puts a vertex on every edge and makes four triangles of one.  The vertex is the middle of a cubic curve
across the normals at both ends, the edge of a PN triangle [Vlachos, Peters, Boyd and Mitchell 2001].  Normals
are taken anew in each pass: a single pass of PN triangles leaves larger kinks at the edges that there were.

Edges at which the surface turns by more than the crease angle stay sharp: the normal of a corner is the mean,
weighted by angles, of the triangles around it up to the next sharp edges.  A sharp edge is curved along the
line of sharp edges that it belongs to, and ends straight where the line ends, forks, or turns by more than
the crease angle.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.edges import Edges
from hapticsim.config.mesh_file.read import check_packages
from hapticsim.config.mesh_file.slivers import THIN, thinness
from hapticsim.errors import ConfigError
from hapticsim.model.triangle_mesh import TriangleMesh

MOST_PASSES = 4  # 256 triangles for one
MOST_TRIANGLES = 500_000  # made here, in a few seconds
Array = np.ndarray


def smoothed(
    path: Path, key: str, mesh: TriangleMesh, crease: float, facet: float, notes: list[str]
) -> TriangleMesh:
    """Return the mesh curved and divided, so that neighbouring triangles turn by less than ``facet``.

    path, key : of the mesh, for sentences.
    crease, facet : [rad].
    notes : gets a sentence that tells how fine it is, also where that is not fine enough.

    Raises
    ------
    ConfigError : it folds over.
    """
    check_packages(path)
    folds = ConfigError(
        path, key, "folds the mesh over: give it a smaller crease_deg, or a finer mesh, or remove it."
    )
    vertices, triangles = mesh.vertices, mesh.triangles
    twins, face, turn = around(vertices, triangles)
    sharp, before = int(np.sum(turn > crease)) // 2, most_of(turn, crease)
    for _ in range(MOST_PASSES):
        if most_of(turn, crease) <= facet or 4 * len(triangles) > MOST_TRIANGLES:
            break
        vertices, triangles = divided(vertices, triangles, twins, face, turn > crease, crease)
        if np.any(thinness(vertices, triangles) <= THIN):
            raise folds
        coarse = np.repeat(face, 4, axis=0)
        twins, face, turn = around(vertices, triangles)
        if np.any(np.einsum("ij,ij->i", face, coarse) <= 0.0):
            raise folds
    count, now = len(mesh.triangles), degrees(most_of(turn, crease))
    became = (
        f"its {count} triangles turn by up to {now} and stay as they are"
        if len(triangles) == count
        else f"{count} triangles that turn by up to {degrees(before)} became {len(triangles)}, by up to {now}"
    )
    notes.append(f"{path}: {key + ': ' if key else ''}{became}; {sharp} edges stay sharp.")
    return TriangleMesh(vertices, triangles)


def degrees(angle: float) -> str:
    return f"{np.degrees(angle):.2g} deg"


def most_of(turn: Array, crease: float) -> float:
    """The largest angle at edges that are not sharp [rad]."""
    return float(turn[turn <= crease].max(initial=0.0))


def around(vertices: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """The twin of each half edge (3 nt,), normals (nt, 3), and by how much they turn there (3 nt,) [rad]."""
    twins = Edges.of(triangles, len(vertices)).twins
    a, b, c = (vertices[corner] for corner in triangles.T)
    n = np.cross(b - a, c - a)
    face = n / np.linalg.norm(n, axis=1, keepdims=True)
    here, beyond = np.repeat(face, 3, axis=0), face[twins // 3]
    sine = np.linalg.norm(np.cross(here, beyond), axis=1)
    return twins, face, np.arctan2(sine, np.einsum("ij,ij->i", here, beyond))


def divided(
    vertices: Array, triangles: Array, twins: Array, face: Array, sharp: Array, crease: float
) -> tuple[Array, Array]:
    """One pass: vertices and triangles, the four of each triangle side by side.

    twins, face : of ``around``.
    sharp : of each half edge, (3 nt,).
    """
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    half = np.arange(len(start))
    after = np.roll(half.reshape(-1, 3), -1, axis=1).ravel()
    a, b = vertices[start], vertices[end]
    n = corner_normals(vertices, triangles, twins, face, sharp)
    line = tangents(vertices, start, end, sharp & (half < twins), crease)
    bend = along(b - a, n[after]) - along(b - a, n[half])
    on_line = along_line(b - a, line[start]) - along_line(b - a, line[end])
    middle = 0.5 * (a + b) + np.where(sharp[:, None], on_line, bend) / 8.0
    own = half < twins
    number = np.empty(len(start), np.int64)
    number[own] = len(vertices) + np.arange(int(own.sum()))
    number[~own] = number[twins[~own]]
    p, q, r = triangles.T
    x, y, z = number.reshape(-1, 3).T  # on the edges p q, q r, r p
    four = [np.stack(t, axis=1) for t in ((p, x, z), (x, q, y), (z, y, r), (x, y, z))]
    return np.vstack([vertices, middle[own]]), np.stack(four, axis=1).reshape(-1, 3)


def along(way: Array, unit: Array) -> Array:
    """The part of each way along a unit vector, (n, 3)."""
    found: Array = np.einsum("ij,ij->i", way, unit)[:, None] * unit
    return found


def along_line(way: Array, line: Array) -> Array:
    """The same; all of it where there is no line, 0."""
    return np.where(line.any(axis=1, keepdims=True), along(way, line), way)


def corner_normals(vertices: Array, triangles: Array, twins: Array, face: Array, sharp: Array) -> Array:
    """(3 nt, 3): corners at a vertex that no sharp edge parts share theirs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    t, c = np.divmod(np.flatnonzero(~sharp), 3)
    u, d = np.divmod(twins[~sharp], 3)  # the twin starts where the half edge ends
    here = np.concatenate([3 * t + c, 3 * t + (c + 1) % 3])
    beyond = np.concatenate([3 * u + (d + 1) % 3, 3 * u + d])
    shape = (len(sharp), len(sharp))
    _, group = connected_components(coo_array((np.ones(len(here)), (here, beyond)), shape=shape))
    p = vertices[triangles]
    ahead, behind = np.roll(p, -1, axis=1) - p, np.roll(p, 1, axis=1) - p
    sine = np.linalg.norm(np.cross(ahead, behind), axis=2)
    angle = np.arctan2(sine, np.einsum("ijk,ijk->ij", ahead, behind)).ravel()
    weighted = angle[:, None] * np.repeat(face, 3, axis=0)
    total = np.stack([np.bincount(group, weighted[:, i]) for i in range(3)], axis=1)
    unit: Array = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return unit[group]


def tangents(vertices: Array, start: Array, end: Array, one: Array, crease: float) -> Array:
    """(nv, 3) direction at each vertex of the line of sharp edges through it; 0 where none goes on there.

    one   of the half edges (3 nt,) from ``start`` to ``end``: one of each sharp edge.
    """
    way = vertices[end[one]] - vertices[start[one]]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    at, out = np.concatenate([start[one], end[one]]), np.concatenate([way, -way])
    order = np.argsort(at, kind="stable")
    vertex, first, count = np.unique(at[order], return_index=True, return_counts=True)
    vertex, first = vertex[count == 2], first[count == 2]
    line = out[order][first + 1] - out[order][first]
    size = np.linalg.norm(line, axis=1)
    goes_on = size > 2.0 * np.cos(0.5 * crease)
    found = np.zeros_like(vertices)
    found[vertex[goes_on]] = line[goes_on] / size[goes_on, None]
    return found
