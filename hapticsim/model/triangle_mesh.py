"""Surfaces of triangles, as a shape carries them: closed ones, which are touched, and others, drawn alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from hapticsim.model.hull import Hull, hull_of_triangles

ROUNDED = 1e-6  # of the size: triangles of a hull whose slivers were taken out are bent by up to 1e-7


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles that are drawn and never touched: they need not be closed, nor face outwards.

    They go counter-clockwise seen from outside where their source says so.
    """

    vertices: np.ndarray  # (nv, 3) [m] in the axes of the shape
    triangles: np.ndarray  # (nt, 3) int64, indices of vertices


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Vertices that triangles share, each counter-clockwise seen from outside.

    Every edge belongs to two triangles, which pass it in opposite directions: the surface is closed, and has
    an inside (``config.mesh_file`` refuses others).  About each vertex there is one fan of triangles,
    and each triangle has an area.
    """

    vertices: np.ndarray  # (nv, 3) [m] in the axes of the shape
    triangles: np.ndarray  # (nt, 3) int64, indices of vertices

    @cached_property
    def is_convex(self) -> bool:
        """Whether no vertex is beyond the plane of any triangle, by more than a millionth of its size."""
        return bool(self._beyond.max() <= self._rounded)

    @cached_property
    def _beyond(self) -> np.ndarray:
        """How far each vertex (columns) is beyond the plane of each triangle (rows) [m]."""
        a, b, c = (self.vertices[self.triangles[:, i]] for i in range(3))
        n = np.cross(b - a, c - a)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        return n @ self.vertices.T - np.sum(n * a, axis=1)[:, None]

    @property
    def _rounded(self) -> float:
        return float(ROUNDED * np.ptp(self.vertices, axis=0).max())

    @cached_property
    def most_in_a_face(self) -> int:
        """How many vertices lie in the plane of one triangle, at most; of a convex mesh with few vertices."""
        return int(np.max(np.sum(self._beyond > -self._rounded, axis=1)))

    @cached_property
    def hull(self) -> Hull:
        """Its faces, edges and vertices; of a convex mesh with few vertices."""
        return hull_of_triangles(self.vertices, self.triangles, self._beyond, self._rounded)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of its vertices and triangles, by which a recording knows its surface again."""
        digest = hashlib.sha256(self.vertices.astype("<f8").tobytes())
        digest.update(self.triangles.astype("<i8").tobytes())
        return digest.hexdigest()


@lru_cache(maxsize=256)
def prism(radius: float, length: float, sides: int) -> TriangleMesh:
    """A prism along z about the origin, whose 2 ``sides`` corners lie on a cylinder: it is inside of it.

    Its flat sides are up to radius (1 - cos(pi / sides)) nearer to the axis.
    """
    turns = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(turns), np.sin(turns)])
    vertices = np.vstack([np.column_stack([ring, np.full(sides, z)]) for z in (-0.5 * length, 0.5 * length)])
    low = np.arange(sides)
    beside = np.roll(low, -1)
    high, high_beside, fan = low + sides, beside + sides, np.arange(1, sides - 1)
    triangles = [
        np.column_stack([low, beside, high_beside]),
        np.column_stack([low, high_beside, high]),
        np.column_stack([np.zeros_like(fan), fan + 1, fan]),
        np.column_stack([np.zeros_like(fan), fan, fan + 1]) + sides,
    ]
    return TriangleMesh(vertices, np.vstack(triangles).astype(np.int64))


@lru_cache(maxsize=256)
def pyramid(radius: float, length: float, sides: int) -> TriangleMesh:
    """A pyramid along z about the origin, whose ``sides`` + 1 corners lie on a cone with its apex upwards."""
    turns = 2.0 * np.pi * np.arange(sides) / sides
    base = np.column_stack([radius * np.cos(turns), radius * np.sin(turns), np.full(sides, -0.5 * length)])
    low, fan = np.arange(sides), np.arange(1, sides - 1)
    triangles = [
        np.column_stack([low, np.roll(low, -1), np.full(sides, sides)]),
        np.column_stack([np.zeros_like(fan), fan + 1, fan]),
    ]
    return TriangleMesh(np.vstack([base, [0.0, 0.0, 0.5 * length]]), np.vstack(triangles).astype(np.int64))


@lru_cache(maxsize=256)
def globe(half: tuple[float, float, float], sides: int) -> TriangleMesh:
    """Meridians and parallels of an ellipsoid with these half axes: its corners lie on it, two at the poles.

    As many sides go around z, and half as many bands from pole to pole.  Its flat faces are up to
    1 - cos(pi / sides) cos(pi / (2 bands)) of a half axis nearer to the middle.
    """
    bands = sides // 2
    turns, up = 2.0 * np.pi * np.arange(sides) / sides, np.pi * np.arange(1, bands) / bands - 0.5 * np.pi
    rings = [
        np.column_stack([np.cos(u) * np.cos(turns), np.cos(u) * np.sin(turns), np.full(sides, np.sin(u))])
        for u in up
    ]
    vertices = np.vstack([*rings, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]])
    low = np.arange(sides)
    beside, south, north, top = np.roll(low, -1), len(vertices) - 2, len(vertices) - 1, sides * (bands - 2)
    triangles = [np.column_stack([beside, low, np.full(sides, south)])]
    for first in range(0, top, sides):
        over, over_beside = low + first + sides, beside + first + sides
        triangles += [
            np.column_stack([low + first, beside + first, over_beside]),
            np.column_stack([low + first, over_beside, over]),
        ]
    triangles.append(np.column_stack([low + top, beside + top, np.full(sides, north)]))
    return TriangleMesh(vertices * half, np.vstack(triangles).astype(np.int64))
