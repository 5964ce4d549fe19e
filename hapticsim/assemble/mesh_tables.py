"""The tables of triangle meshes as the tick takes them: neighbours, normals, and a tree of boxes.

A tree halves the triangles across the longest side of their middles, again and again [Bentley 1975].  They
stand in the order of its leaves, and vertices in the order in which triangles name them, so that what is near
is near in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hapticsim.files.kept_arrays import kept_arrays
from hapticsim.kernels.memory.huge_pages import zeros_on_huge_pages
from hapticsim.model.candidates import Candidate
from hapticsim.model.triangle_mesh import TriangleMesh

LEAF = 4  # triangles in a leaf, at most
LARGE = 50_000  # triangles from which on tables are kept
SOURCE = Path(__file__).read_bytes()
BOX = 8  # numbers of a node of the tree
SLABS = 8  # levels of the tree, from the leaves up, that have slabs
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class MeshTables:
    """Tables of one mesh, or of several behind one another (Plan.mesh_...)."""

    vertex: np.ndarray  # (nv, 3) [m]
    vertex_normal: np.ndarray  # (nv, 3)
    normal: np.ndarray  # (nt, 3) unit
    triangle: np.ndarray  # (3 nt,)
    neighbour: np.ndarray  # (3 nt,)
    ring_start: np.ndarray  # (nv + 1,)
    ring: np.ndarray  # (3 nt,)
    box: np.ndarray  # (nodes, 8) [m] least x, y, z, then largest, then least and largest height along the
    # normal of its middle triangle, or inf: a cache line; node 0 is not used
    leaves: int


def tables_of(mesh: TriangleMesh) -> MeshTables:
    """Return the tables of a closed mesh; those of a large one are kept in the cache."""
    if len(mesh.triangles) < LARGE:
        return _made(mesh)
    about = (SOURCE, mesh.fingerprint.encode())
    found = kept_arrays(
        "meshes", about, lambda: {name: np.asarray(value) for name, value in vars(_made(mesh)).items()}
    )
    arrays = {name: array for name, array in found.items() if name != "leaves"}
    return MeshTables(**arrays, leaves=int(found["leaves"]))


def _made(mesh: TriangleMesh) -> MeshTables:
    order, leaves = halved(mesh.vertices[mesh.triangles].mean(axis=1))
    corners, named = renumbered(mesh.triangles[order], len(mesh.vertices))
    vertex = np.ascontiguousarray(mesh.vertices[named], float)
    points = vertex[corners]  # (nt, 3, 3)
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    triangle = corners.ravel().astype(np.int64)
    ring = np.argsort(triangle, kind="stable")
    ring_start = np.searchsorted(triangle[ring], np.arange(len(vertex) + 1)).astype(np.int64)
    return MeshTables(
        vertex,
        weighted_normals(len(vertex), corners, points, normal),
        normal,
        triangle,
        neighbours_of(corners),
        ring_start,
        ring.astype(np.int64),
        tree_of_boxes(points, normal, leaves),
        leaves,
    )


def neighbours_of(corners: np.ndarray) -> np.ndarray:
    """For each edge 3 t + i of the triangles (nt, 3) the same edge as the triangle beyond it passes it."""
    start, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    count = int(corners.max(initial=0)) + 1
    one_way, other_way = np.argsort(start * count + end), np.argsort(end * count + start)
    neighbour = np.empty(start.size, np.int64)
    neighbour[one_way] = other_way
    return neighbour


def weighted_normals(count: int, corners: np.ndarray, points: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Sum of the normals of the triangles around each vertex, weighted by their angles there (count, 3).

    Its sign tells the outside where a vertex is what is nearest (Baerentzen and Aanaes 2005).
    """
    total = np.zeros((count, 3))
    for i in range(3):
        a = points[:, (i + 1) % 3] - points[:, i]
        b = points[:, (i + 2) % 3] - points[:, i]
        across = np.linalg.norm(np.cross(a, b), axis=1)
        angle = np.arctan2(across, np.einsum("ij,ij->i", a, b))
        for axis in range(3):
            total[:, axis] += np.bincount(corners[:, i], angle * normal[:, axis], count)
    return total


def renumbered(corners: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (nt, 3) with vertices numbered as they name them, and the number (count,) each had before."""
    first = np.full(count, corners.size)
    first[corners.ravel()[::-1]] = np.arange(corners.size)[::-1]  # the last that is written stays
    named = np.argsort(first, kind="stable")
    number = np.empty(count, np.int64)
    number[named] = np.arange(count)
    return number[corners], named


def halved(points: np.ndarray) -> tuple[np.ndarray, int]:
    """Order of points (n, 3) in the leaves of a tree that halves them, and how many leaves it has.

    Leaf j of n holds those from j nt // n to before (j + 1) nt // n, and so all nodes of a level.
    """
    count, nodes, order = len(points), 1, np.arange(len(points))
    while nodes * LEAF < count:
        start = np.arange(nodes) * count // nodes
        node = np.repeat(np.arange(nodes), np.diff(start, append=count))
        placed = points[order]
        least = np.minimum.reduceat(placed, start)
        side = np.maximum.reduceat(placed, start) - least
        axis = side.argmax(axis=1)
        longest = np.take_along_axis(side, axis[:, None], 1)[:, 0]
        along = placed[np.arange(count), axis[node]] - least[node, axis[node]]
        order = order[np.argsort(node + 0.5 * along / np.maximum(longest, TINY)[node], kind="stable")]
        nodes *= 2
    return order, nodes


def tree_of_boxes(points: np.ndarray, normal: np.ndarray, leaves: int) -> np.ndarray:
    """Boxes and slabs (nodes, 8) of a complete tree over triangles (nt, 3, 3) in its order.

    Node i has the children 2 i and 2 i + 1.  A slab lies between two heights along the normal of the middle
    triangle of a node; nodes of more than SLABS levels have none.
    """
    count = len(points)
    start = np.arange(leaves) * count // leaves
    box = np.zeros((2 * leaves, BOX))
    box[:, 6:] = np.inf
    box[leaves:, :3] = np.minimum.reduceat(points.min(axis=1), start)
    box[leaves:, 3:6] = np.maximum.reduceat(points.max(axis=1), start)
    nodes = leaves
    for _ in range(SLABS):
        start = np.arange(nodes) * count // nodes
        size = np.diff(start, append=count)
        height = np.einsum("tij,tj->ti", points, normal[np.repeat(start + size // 2, size)])
        box[nodes : 2 * nodes, 6] = np.minimum.reduceat(height.min(axis=1), start)
        box[nodes : 2 * nodes, 7] = np.maximum.reduceat(height.max(axis=1), start)
        nodes //= 2
        if nodes == 0:
            break
    level = leaves // 2
    while level >= 1:
        children = box[2 * level : 4 * level]
        box[level : 2 * level, :3] = np.minimum(children[::2, :3], children[1::2, :3])
        box[level : 2 * level, 3:6] = np.maximum(children[::2, 3:6], children[1::2, 3:6])
        level //= 2
    return box


def at_cache_lines(box: np.ndarray) -> np.ndarray:
    """The same rows, each in a cache line of its own."""
    placed = zeros_on_huge_pages(box.size).view(float).reshape(box.shape)
    placed[:] = box
    return placed


def plan_of_meshes(candidates: Sequence[Candidate]) -> dict[str, np.ndarray]:
    """The fields ``mesh_...`` of the plan."""
    nk = len(candidates)
    root, leaves, first, count = (np.zeros(nk, np.int64) for _ in range(4))
    found: dict[int, tuple[MeshTables, int, int]] = {}
    parts: list[MeshTables] = []
    boxes = triangles = 0
    for k, candidate in enumerate(candidates):
        mesh = candidate.mesh
        if mesh is None:
            continue
        if id(mesh) not in found:
            found[id(mesh)] = tables_of(mesh), boxes, triangles
            parts.append(found[id(mesh)][0])
            boxes += len(parts[-1].box)
            triangles += len(parts[-1].normal)
        tables, root[k], first[k] = found[id(mesh)]
        leaves[k], count[k] = tables.leaves, len(tables.normal)
    vertices = np.cumsum([0, *(len(part.vertex) for part in parts)])
    corners = np.cumsum([0, *(part.triangle.size for part in parts)])

    def stacked(name: str, shape: tuple[int, ...] = (0, 3)) -> np.ndarray:
        if len(parts) == 1:  # which may be large: not copied
            return np.asarray(getattr(parts[0], name))
        return np.concatenate([np.zeros(shape), *(getattr(part, name) for part in parts)])

    def numbered(name: str, shift: np.ndarray) -> np.ndarray:
        if len(parts) == 1:
            return np.asarray(getattr(parts[0], name))
        moved = [getattr(part, name) + by for part, by in zip(parts, shift[:-1], strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *moved])

    starts = [part.ring_start[:-1] + by for part, by in zip(parts, corners[:-1], strict=True)]
    return {
        "mesh_root": root,
        "mesh_leaves": leaves,
        "mesh_first": first,
        "mesh_count": count,
        "mesh_box": at_cache_lines(stacked("box", (0, BOX))),
        "mesh_vertex": stacked("vertex"),
        "mesh_vertex_normal": stacked("vertex_normal"),
        "mesh_normal": stacked("normal"),
        "mesh_triangle": numbered("triangle", vertices),
        "mesh_neighbour": numbered("neighbour", corners),
        "mesh_ring_start": np.concatenate([*starts, corners[-1:]]).astype(np.int64),
        "mesh_ring": numbered("ring", corners),
    }
