"""The surface of a mesh with few triangles, to be looked at: what is published, drawn and recorded of it.

Vertex clustering (Rossignac and Borrel 1993): a grid of cubic cells is laid over the mesh, the vertices in a
cell become one, at their mean, and the triangles that have two corners in one cell vanish.  It keeps no
topology, which nobody sees, and takes any mesh.  What touches is the whole mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import TriangleMesh

# Measured on two cores: a mesh of 1500 triangles is 30 kB of a message, packed in 0.09 ms, in which the wire
# thread of a server waits, and costs the window 5 ms a frame.  With 3000 a scene is at most 110 kB, and 256
# may wait for an observer.  A million triangles are made so few in 0.7 s.
MOST_TRIANGLES = 3000  # of a mesh
MOST_OF_SCENE = 3000  # of all meshes together
FEWEST = 12  # of a mesh among very many: those of a box
_MOST_CELLS = 1 << 12  # along the longest side; finer than any picture
_MOST_NUMBERED = 2_000_000  # vertices of which three are numbered in an int64

_BOX = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles to be drawn, counter-clockwise seen from outside; not always closed."""

    vertices: np.ndarray  # (nv, 3) [m] in the axes of the shape, each of them used
    triangles: np.ndarray  # (nt, 3) int64


_known: WeakKeyDictionary[TriangleMesh, tuple[int, Surface]] = WeakKeyDictionary()  # with its limit


def surfaces_of(shapes: Sequence[Shape]) -> list[Surface | None]:
    """Return the surface to be drawn of each mesh, None for other shapes; slow for large ones, once."""
    most = share([len(shape.mesh.triangles) for shape in shapes if shape.mesh])
    return [_surface_of(shape.mesh, most) if shape.mesh else None for shape in shapes]


def share(counts: Sequence[int]) -> int:
    """Return how many triangles each mesh of a scene may have, from those that they have.

    What small meshes leave of ``MOST_OF_SCENE`` goes to the others.
    """
    left = MOST_OF_SCENE
    for k, count in enumerate(sorted(counts)):
        fair = left // (len(counts) - k)
        if min(count, MOST_TRIANGLES) > fair:
            return max(fair, FEWEST)
        left -= min(count, MOST_TRIANGLES)
    return MOST_TRIANGLES


def simplified(mesh: TriangleMesh, most: int) -> Surface:
    """Return the surface of a mesh with at most so many triangles, ``most`` >= 12.

    With no more it stays as it is.  Else the grid is the finest that bisection finds with a whole number of
    cells along the longest side of the mesh.  Where that has fewer triangles than a box, the box around the
    mesh is returned.
    """
    used = np.zeros(len(mesh.vertices), dtype=bool)
    used[mesh.triangles] = True
    vertices = mesh.vertices[used]
    triangles = (np.cumsum(used) - 1)[mesh.triangles]
    if len(triangles) <= most:
        return Surface(vertices, triangles)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    places = (vertices - low) / (high - low).max()  # 0 to 1

    def joined(cells: int) -> tuple[np.ndarray, np.ndarray]:
        cluster = _clusters(places, cells)
        return cluster, _joined(triangles, cluster)

    fits, found, beyond = 1, joined(1), 2
    while beyond <= _MOST_CELLS and len((tried := joined(beyond))[1]) <= most:
        fits, found, beyond = beyond, tried, 2 * beyond
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        tried = joined(middle)
        if len(tried[1]) <= most:
            fits, found = middle, tried
        else:
            beyond = middle
    cluster, kept = found
    if len(kept) < FEWEST:
        corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        return Surface(low + corners * (high - low), _BOX)
    members = np.bincount(cluster)
    means = np.column_stack([np.bincount(cluster, axis) for axis in vertices.T]) / members[:, None]
    names, numbered = np.unique(kept, return_inverse=True)
    return Surface(means[names], numbered.reshape(-1, 3))


def _surface_of(mesh: TriangleMesh, most: int) -> Surface:
    limit, surface = _known.get(mesh, (0, None))
    if surface is None or limit != most:
        surface = simplified(mesh, most)
        _known[mesh] = most, surface
    return surface


def _clusters(places: np.ndarray, cells: int) -> np.ndarray:
    """(nv,) number of the cell that each of (nv, 3) places, from 0 to 1, lies in; without gaps."""
    at = np.minimum((places * cells).astype(np.int64), cells - 1)
    _, cluster = np.unique((at[:, 0] * cells + at[:, 1]) * cells + at[:, 2], return_inverse=True)
    return cluster


def _joined(triangles: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """(n, 3) triangles of clusters that have three different corners, each once.

    Two that have the same corners in opposite order are the sides of something thin, and both stay.
    """
    corners = cluster[triangles]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    first = corners.argmin(axis=1)[:, None]
    a, b, c = np.take_along_axis(corners, (first + np.arange(3)) % 3, axis=1).T
    count = int(cluster.max()) + 1
    if count > _MOST_NUMBERED:  # each stays: far too many, or few
        return corners
    key = np.unique((a * count + b) * count + c)
    return np.column_stack([key // (count * count), key // count % count, key % count])
