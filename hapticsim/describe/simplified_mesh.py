"""The surface of a mesh with few triangles, to be looked at: what is published, drawn and recorded of it.

Vertex clustering (Rossignac and Borrel 1993): a grid of cubic cells is laid over the mesh, the vertices in a
cell become one, and the triangles that have two corners in one cell vanish.  It keeps no topology, which
nobody sees, and takes any mesh.  The one vertex lies where the planes of the triangles about those of the
cell are nearest (Lindstrom 2000), so that edges and corners stay sharp.  What touches is the whole mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import Surface, TriangleMesh

# Measured on two cores: a mesh of 1500 triangles is 30 kB of a message, packed in 0.09 ms, in which the wire
# thread of a server waits, and costs the window 5 ms a frame.  With 3000 a scene is at most 110 kB, and 256
# may wait for an observer.  A million triangles are made so few in 0.7 s.
MOST_TRIANGLES = 3000  # of a mesh
MOST_OF_SCENE = 3000  # of all meshes together
FEWEST = 12  # of a mesh among very many: those of a box
_MOST_CELLS = 1 << 12  # along the longest side; finer than any picture
_PULL = 0.01  # weight by that of all planes with which a vertex is held to the mean
_NO_AREA = 1e-60  # weight of planes that say nothing
_MOST_NUMBERED = 2_000_000  # vertices of which three are numbered in an int64

_BOX = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


Triangles = TriangleMesh | Surface
_known: WeakKeyDictionary[Triangles, tuple[int, Surface]] = WeakKeyDictionary()  # with its limit


def surfaces_of(shapes: Sequence[Shape]) -> list[Surface | None]:
    """Return the surface to be drawn of each mesh, None for other shapes; slow for large ones, once."""
    found = [shape.mesh or shape.surface for shape in shapes]
    meshes = [one for one in found if one]
    sizes = [float(np.linalg.norm(np.ptp(one.vertices, axis=0))) for one in meshes]
    most = iter(shares([len(one.triangles) for one in meshes], sizes))
    return [_surface_of(one, next(most)) if one else None for one in found]


def shares(counts: Sequence[int], sizes: Sequence[float]) -> list[int]:
    """Return how many triangles each mesh of a scene may have, from those that they have and their sizes.

    Each may have ``FEWEST``, and of what is left of ``MOST_OF_SCENE`` as much as its size is of all sizes.
    What small meshes do not need goes to the others.
    """
    wanted = [max(min(count, MOST_TRIANGLES) - FEWEST, 0) for count in counts]
    order = sorted(range(len(counts)), key=lambda k: wanted[k] / sizes[k])
    from_here = np.cumsum([sizes[k] for k in reversed(order)])[::-1].tolist()  # sizes of it and those behind
    left, most = max(MOST_OF_SCENE - FEWEST * len(counts), 0), [MOST_TRIANGLES] * len(counts)
    for k, of_others in zip(order, from_here, strict=True):
        fair = int(left * sizes[k] / of_others)
        if wanted[k] > fair:
            most[k] = FEWEST + fair
        left -= min(wanted[k], fair)
    return most


def simplified(mesh: Triangles, most: int) -> Surface:
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
    cell_m = float((high - low).max()) / fits
    places = np.clip(_nearest_to_planes(vertices, triangles, cluster, cell_m), low, high)
    names, numbered = np.unique(kept, return_inverse=True)
    return Surface(places[names], numbered.reshape(-1, 3))


def _surface_of(mesh: Triangles, most: int) -> Surface:
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


def _nearest_to_planes(
    vertices: np.ndarray, triangles: np.ndarray, cluster: np.ndarray, cell_m: float
) -> np.ndarray:
    """(nc, 3) [m] where the squares of the distances from planes, times area squared, are least in sum.

    They are the planes of triangles with a corner in the cluster.  What they leave open, as on a plane or
    along an edge, is as near to the mean of the vertices as can be; far from it the mean itself is taken.
    """
    count = int(cluster.max()) + 1
    members = np.bincount(cluster, minlength=count)
    means = np.column_stack([np.bincount(cluster, axis, count) for axis in vertices.T]) / members[:, None]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross((b - a) / cell_m, (c - a) / cell_m)  # twice the area long
    A, rest = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for corner in range(3):
        at = cluster[triangles[:, corner]]
        beyond = np.sum(normals * (a - means[at]), axis=1)  # of the mean
        for i in range(3):
            rest[:, i] += np.bincount(at, normals[:, i] * beyond, count)
            for j in range(i + 1):
                A[:, i, j] += np.bincount(at, normals[:, i] * normals[:, j], count)
                A[:, j, i] = A[:, i, j]
    weight = np.trace(A, axis1=1, axis2=2)
    weight[~(weight > _NO_AREA)] = 1.0
    A = A / weight[:, None, None] + _PULL * np.eye(3)
    moved = np.linalg.solve(A, rest[:, :, None] / weight[:, None, None])[:, :, 0]
    moved[~(np.abs(moved).max(axis=1) <= cell_m)] = 0.0
    return means + moved


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
