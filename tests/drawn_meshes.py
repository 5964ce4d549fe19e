"""Closed surfaces made of triangles, counter-clockwise seen from outside, and shapes with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import TriangleMesh

CUBE = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def torus(ring_m: float, tube_m: float, around: int = 48, across: int = 24) -> TriangleMesh:
    """A torus about z, its middle circle of radius ``ring_m``, from ``2 around across`` triangles."""
    long, short = np.meshgrid(
        2.0 * np.pi * np.arange(around) / around, 2.0 * np.pi * np.arange(across) / across, indexing="ij"
    )
    out = ring_m + tube_m * np.cos(short)
    points = np.stack([out * np.cos(long), out * np.sin(long), tube_m * np.sin(short)], axis=-1)
    i, j = (n.ravel() for n in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return TriangleMesh(
        points.reshape(-1, 3), np.concatenate([np.stack(t, 1) for t in ((a, b, c), (a, c, d))])
    )


def ball(radius_m: float | Callable[[np.ndarray], np.ndarray], subdivisions: int = 3) -> TriangleMesh:
    """A ball from 20 4^n triangles, with one radius or that of each direction (n, 3)."""
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=subdivisions)
    way = np.array(made.vertices)
    radius = radius_m(way)[:, None] if callable(radius_m) else radius_m
    return TriangleMesh(way * radius, np.array(made.faces, dtype=np.int64))


def cuboid(half_m: tuple[float, float, float]) -> TriangleMesh:
    """Twelve triangles."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    return TriangleMesh(corners * half_m, CUBE)


def shape_of(
    name: str,
    mesh: TriangleMesh,
    body: str = WORLD,
    X_BS: Placement | None = None,
    color: tuple[int, int, int] = (150, 160, 175),
) -> Shape:
    """A shape of kind ``mesh``."""
    size = tuple(np.abs(mesh.vertices).max(axis=0).tolist())
    return Shape(name, body, "mesh", size, X_BS or Placement(), color, mesh)
