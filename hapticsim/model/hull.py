"""A convex solid by its flat faces, straight edges and vertices: what boxes and convex meshes touch by."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

Polygon = tuple[int, ...]
LEAST_FACES = 3  # that meet at a vertex; one with fewer lies within a face, or along an edge


@dataclass(frozen=True, eq=False)
class Features:
    """What touches of a convex solid, in the axes of its shape."""

    planes: np.ndarray  # (nf, 4) of faces: unit normal outwards, and its product with a point of the face [m]
    borders: list[
        np.ndarray
    ]  # of each face (n, 4) planes through its edges: normal off the face, and the same
    lines: np.ndarray  # (ne, 14) as Hull.edge_lines, and the half length along which an edge touches [m]
    rings: list[list[int]]  # of each vertex those at the other end of its edges
    held: list[np.ndarray]  # of each vertex points (n, 3) [m] of other solids that hold it


@dataclass(frozen=True, eq=False)
class Hull:
    """Vertices, and faces that are polygons of them, counter-clockwise seen from outside.

    The vertices stand so that each is as far as can be from those before it: the first few that lie in a face
    are its outermost.
    """

    vertices: np.ndarray  # (nv, 3) [m] in the axes of the shape
    faces: tuple[Polygon, ...]

    @cached_property
    def planes(self) -> np.ndarray:
        """(nf, 4) unit normal outwards, and its product with a point of the face [m]."""
        rows = []
        for face in self.faces:
            points = self.vertices[list(face)]
            n = np.sum(np.cross(points, np.roll(points, -1, axis=0)), axis=0)
            n /= np.linalg.norm(n)
            rows.append([*n, float(np.mean(points @ n))])
        return np.array(rows)

    @cached_property
    def edges(self) -> np.ndarray:
        """(ne, 4) int64: both vertices of each edge, the face that passes them so, and that beyond it."""
        owner = {pair: f for f, face in enumerate(self.faces) for pair in around(face)}
        return np.array([[u, v, f, owner[v, u]] for (u, v), f in owner.items() if u < v], np.int64)

    @cached_property
    def edge_lines(self) -> np.ndarray:
        """(ne, 13) of each edge its middle [m], direction (unit), half length [m], and the directions (unit)
        from it into both faces."""
        u, v, f, g = self.edges.T
        along = self.vertices[v] - self.vertices[u]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        along /= length
        into_f, into_g = np.cross(self.planes[f, :3], along), np.cross(along, self.planes[g, :3])
        middle = 0.5 * (self.vertices[u] + self.vertices[v])
        return np.column_stack([middle, along, 0.5 * length, into_f, into_g])

    @cached_property
    def ball(self) -> np.ndarray:
        """(4,) [m] middle and radius of a ball that holds the solid."""
        middle = 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))
        return np.array([*middle, np.linalg.norm(self.vertices - middle, axis=1).max()])

    @cached_property
    def rings(self) -> list[list[int]]:
        """Of each vertex those at the other end of its edges."""
        beside: list[list[int]] = [[] for _ in self.vertices]
        for u, v in self.edges[:, :2].tolist():
            beside[u].append(v)
            beside[v].append(u)
        return beside

    @cached_property
    def features(self) -> Features:
        """All its faces, edges and vertices."""
        borders = [
            border_of(self.vertices[list(face)], plane[:3])
            for face, plane in zip(self.faces, self.planes, strict=True)
        ]
        lines = np.column_stack([self.edge_lines, self.edge_lines[:, 6]])
        return Features(self.planes, borders, lines, self.rings, [np.zeros((0, 3))] * len(self.vertices))

    @property
    def most_in_a_face(self) -> int:
        """Vertices of the face that has most of them."""
        return max(len(face) for face in self.faces)


def around(face: Polygon) -> list[tuple[int, int]]:
    """The edges of a face, in its direction."""
    return list(zip(face, (*face[1:], face[0]), strict=True))


def border_of(polygon: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Planes (n, 4) through the edges of a polygon (n, 3) and across it: normal off it, and its product with
    a point of the edge [m]."""
    u, v = polygon, np.roll(polygon, -1, axis=0)
    m = np.cross(v - u, normal)
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    return np.column_stack([m, np.sum(m * u, axis=1)])


class Segment(Hull):
    """The middle line of a capsule: two vertices and an edge, which no face passes."""

    @cached_property
    def planes(self) -> np.ndarray:
        return np.zeros((0, 4))

    @cached_property
    def edges(self) -> np.ndarray:
        return np.array([[0, 1, -1, -1]], np.int64)

    @cached_property
    def edge_lines(self) -> np.ndarray:
        half = float(self.vertices[1, 2])
        return np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, half, *np.zeros(6)]])


@lru_cache(maxsize=256)
def segment_of(half: float) -> Segment:
    """From -half to half along z [m]."""
    return Segment(np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]), ())


@lru_cache(maxsize=256)
def hull_of_box(half: tuple[float, float, float]) -> Hull:
    """A box of these half extents [m]."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * half
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return _ordered(corners, faces)


def hull_of_triangles(
    vertices: np.ndarray, triangles: np.ndarray, beyond: np.ndarray, rounded: float
) -> Hull:
    """A closed convex surface of triangles, those of a plane made one face.

    beyond   (nt, nv) [m] how far each vertex is beyond the plane of each triangle.
    rounded  [m] by which a vertex may be off the plane of a face.
    """
    faces = _merged(vertices, triangles, beyond, rounded)
    owners = {(u, v) for face in faces for u, v in around(face)}
    if not faces or any((v, u) not in owners for u, v in owners):  # bent by about as much as is rounded
        faces = [(int(a), int(b), int(c)) for a, b, c in triangles]
    return _ordered(vertices, faces)


def _merged(vertices: np.ndarray, triangles: np.ndarray, beyond: np.ndarray, rounded: float) -> list[Polygon]:
    """Faces of the triangles whose vertices lie in one plane, the largest triangle's; none where they have
    holes."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    n = np.cross(b - a, c - a)
    size = np.linalg.norm(n, axis=1)
    taken, faces = np.zeros(len(triangles), bool), []
    for t in np.argsort(-size):
        if taken[t]:
            continue
        level = np.all(beyond[t][triangles] > -rounded, axis=1) & (n @ n[t] > 0.0) & ~taken
        level[t] = True
        taken |= level
        border = _border(triangles[level])
        if border is None:
            return []
        faces.append(border)
    meet = np.bincount([v for face in faces for v in face], minlength=len(vertices))
    faces = [tuple(v for v in face if meet[v] >= LEAST_FACES) for face in faces]
    return faces if min(map(len, faces)) >= LEAST_FACES else []


def _border(triangles: np.ndarray) -> Polygon | None:
    """The polygon that triangles make together, None where they make several, or one with a hole."""
    pairs = {(int(t[i]), int(t[i - 2])) for t in triangles for i in range(3)}
    after = {u: v for u, v in pairs if (v, u) not in pairs}
    start = next(iter(after))
    polygon = [start]
    while (v := after[polygon[-1]]) != start and len(polygon) <= len(after):
        polygon.append(v)
    return tuple(polygon) if len(polygon) == len(after) else None


def _ordered(vertices: np.ndarray, faces: Sequence[Polygon]) -> Hull:
    """The hull of the vertices that faces have, farthest from one another first."""
    used = sorted({v for face in faces for v in face})
    points = vertices[used]
    away = np.linalg.norm(points - points.mean(axis=0), axis=1)
    order: list[int] = []
    for _ in used:
        order.append(int(np.argmax(away)))
        nearest = np.linalg.norm(points - points[order[-1]], axis=1)
        away = np.minimum(away, nearest) if len(order) > 1 else nearest
    number = {used[i]: new for new, i in enumerate(order)}
    return Hull(
        np.ascontiguousarray(points[order], float),
        tuple(tuple(number[v] for v in face) for face in faces),
    )
