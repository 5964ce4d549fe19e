"""Convex solids that touch for a concave mesh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hapticsim.config.decomposition.points import Progress, points_of_parts
from hapticsim.config.mesh_file.read import surface_of
from hapticsim.config.schema.robot import Decompose
from hapticsim.errors import ConfigError
from hapticsim.model.joined.piece import Piece
from hapticsim.model.triangle_mesh import TriangleMesh

NEAR = 1e-3  # of the size: a point so near to the surface is on it; CoACD cuts beside corners by 6e-4
LEVEL = 3e-4  # of the size: so near to the plane of a face, it is in it; CoACD cuts off it by 1.3e-4
MOST_LOOKED_AT = 20_000  # triangles of a mesh whose planes are looked at: 5 ms a point
FLAT = 1e-9  # volume of a solid by the cube of the size of the mesh


def solids_of(
    path: Path,
    key: str,
    mesh: TriangleMesh,
    decompose: Decompose,
    notes: list[str],
    progress: Progress | None = None,
) -> tuple[Piece, ...]:
    """Return the convex solids that together are about a closed mesh, in its axes.

    path, key : of the mesh, for sentences.
    notes : gets how many there are, and how they differ from the mesh.
    progress : called with pieces of a line while it is decomposed.

    Raises
    ------
    ConfigError : coacd is missing, takes too long or fails; a part of it is flat.
    """
    found = points_of_parts(path, key, mesh, decompose.parts, decompose.concavity, progress)
    made = [_solid(path, key, i, points, mesh, decompose.corners) for i, points in enumerate(found)]
    solids = joined_pieces(made)
    more = 100.0 * (sum(volume_of(solid) for solid in solids) / volume_of(mesh) - 1.0)
    hulls = f"{len(solids)} convex hulls" if len(solids) > 1 else "one convex hull"
    notes.append(
        f"{path}: {f'{key} ' if key else ''}touches by {hulls}, with {abs(more):.2g} % "
        f"{'more' if more >= 0.0 else 'less'} volume than it has; its vertices are up to "
        f"{1e3 * _beyond(solids, mesh):.2g} mm outside of them."
    )
    return solids


def _solid(
    path: Path, key: str, number: int, points: np.ndarray, mesh: TriangleMesh, corners: int
) -> TriangleMesh:
    """The hull of points (n, 3), with their own vertices of the mesh where these are near."""
    for tried in (_on_surface(points, mesh), points):
        try:
            solid = surface_of(path, [(tried, np.zeros((0, 3), np.int64))], [], True, corners)
        except ConfigError:
            continue
        if volume_of(solid) > FLAT * _size(mesh) ** 3 and solid.is_convex:
            return solid
    raise ConfigError(
        path,
        key,
        f"has a part, number {number + 1} of its decomposition, that is flat and no convex solid: allow more "
        "concavity, or another number of parts.",
    )


def _on_surface(points: np.ndarray, mesh: TriangleMesh) -> np.ndarray:
    """Points (n, 3), those near to the surface put on it: at a vertex, else on all planes that are near."""
    from scipy.spatial import cKDTree  # of the extra ``meshes``
    from trimesh.triangles import closest_point

    near = NEAR * _size(mesh)
    far, at = cKDTree(mesh.vertices).query(points)
    moved = np.where((far < near)[:, None], mesh.vertices[at], points)
    if len(mesh.triangles) > MOST_LOOKED_AT:
        return moved
    corners = mesh.vertices[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    for i in np.flatnonzero(far >= near):
        there = closest_point(corners, np.broadcast_to(points[i], (len(corners), 3)))
        heights = np.einsum("ij,ij->i", normals, corners[:, 0] - points[i])
        beside = (np.linalg.norm(there - points[i], axis=1) < near) | (np.abs(heights) < LEVEL * _size(mesh))
        heights = heights[beside]
        step = np.linalg.lstsq(normals[beside], heights, rcond=0.1)[0]
        if np.linalg.norm(step) < 2.0 * near:
            moved[i] = points[i] + step
    return moved


def joined_pieces(solids: Sequence[TriangleMesh]) -> tuple[Piece, ...]:
    """Convex solids in the same axes as those of one shape."""
    size = float(np.ptp(np.concatenate([solid.vertices for solid in solids]), axis=0).max())
    return tuple(
        Piece(one.vertices, one.triangles, tuple(other.hull for other in solids if other is not one), size)
        for one in solids
    )


def _size(mesh: TriangleMesh) -> float:
    return float(np.ptp(mesh.vertices, axis=0).max())


def _beyond(solids: Sequence[TriangleMesh], mesh: TriangleMesh) -> float:
    """How far [m] a vertex of the mesh is beyond the planes of all solids, at most."""
    beyond = np.full(len(mesh.vertices), np.inf)
    for solid in solids:
        heights = np.full(len(mesh.vertices), -np.inf)
        for plane in solid.hull.planes:
            heights = np.maximum(heights, mesh.vertices @ plane[:3] - plane[3])
        beyond = np.minimum(beyond, heights)
    return max(0.0, float(beyond.max()))


def volume_of(mesh: TriangleMesh) -> float:
    """[m^3] that a closed surface encloses."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles] - mesh.vertices.mean(axis=0), 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)
