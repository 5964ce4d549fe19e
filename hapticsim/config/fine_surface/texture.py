"""A mesh made rough by a map of heights: divided until it has a vertex for each height, and raised there.

A map that is finer than the mesh can be is averaged over the longest edge.  It repeats along x, y and z: at
a place of the mesh it is looked up across each axis, and the three heights are weighed by the squares of the
normal's components.  What is touched is the raised surface itself, so that its normal, its gap and the
energy of a contact belong together.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hapticsim.config.fine_surface.smoothing import MOST_TRIANGLES, Array, around, corner_normals, divided
from hapticsim.config.mesh_file.read import check_packages
from hapticsim.config.mesh_file.slivers import THIN, thinness
from hapticsim.errors import ConfigError
from hapticsim.model.triangle_mesh import TriangleMesh

HIGHEST = 0.25  # of the smallest extent of the mesh, so that no side comes through the opposite one


def roughened(
    path: Path, key: str, mesh: TriangleMesh, heights: Array, size: tuple[float, float], notes: list[str]
) -> TriangleMesh:
    """Return the mesh raised by heights (ny, nx) [m], a map of ``size`` [m] along x and y that repeats.

    path, key : of the texture, for sentences.
    notes : gets a sentence that tells how fine it is.

    Raises
    ------
    ConfigError : heights are too large, the surface would fold over, or the map repeats within two edges of
        the finest mesh.
    """
    check_packages(path)
    vertices, triangles = mesh.vertices, mesh.triangles
    thin, most = float(np.ptp(vertices, axis=0).min()), float(np.abs(heights).max())
    if most > HIGHEST * thin:
        raise ConfigError(
            path,
            key,
            f"raises the mesh by up to {most * 1e3:.3g} mm, and it is {thin * 1e3:.3g} mm thin: "
            "give it a smaller scale.",
        )
    apart = min(size[0] / heights.shape[1], size[1] / heights.shape[0])
    twins, face, turn = around(vertices, triangles)
    sharp = np.ones(len(turn), dtype=bool)
    while longest_edge(vertices, triangles) > apart and 4 * len(triangles) <= MOST_TRIANGLES:
        vertices, triangles = divided(vertices, triangles, twins, face, sharp, 0.0)  # all edges stay straight
        twins, face, turn = around(vertices, triangles)
        sharp = np.ones(len(turn), dtype=bool)
    longest = longest_edge(vertices, triangles)
    if longest > 0.5 * min(size):
        raise ConfigError(
            path,
            key,
            f"repeats every {min(size) * 1e3:.3g} mm, and {MOST_TRIANGLES} triangles leave edges of "
            f"{longest * 1e3:.3g} mm on this mesh: give a larger size_m, or a smaller part of the mesh.",
        )
    over = round(longest / (size[0] / heights.shape[1])), round(longest / (size[1] / heights.shape[0]))
    heights = averaged(averaged(heights, over[0], 1), over[1], 0)
    normal = vertex_normals(vertices, triangles, twins, face)
    raised = vertices + normal * height_at(vertices, normal, heights, size)[:, None]
    if np.any(thinness(raised, triangles) <= THIN) or np.any(
        np.einsum("ij,ij->i", around(raised, triangles)[1], face) <= 0.0
    ):
        raise ConfigError(
            path, key, "folds the mesh over: give it lower heights (scale), or a larger size_m, or remove it."
        )
    notes.append(
        f"{path}: {key + ': ' if key else ''}{len(mesh.triangles)} triangles became {len(triangles)}, with "
        f"edges of up to {longest * 1e3:.2g} mm; the map has a height every {apart * 1e3:.2g} mm"
        + (", of which means are taken." if max(over) > 1 else ".")
    )
    return TriangleMesh(raised, triangles)


def longest_edge(vertices: Array, triangles: Array) -> float:
    """Length of the longest edge [m]."""
    corners = vertices[triangles]
    return float(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).max())


def vertex_normals(vertices: Array, triangles: Array, twins: Array, face: Array) -> Array:
    """(nv, 3) unit: the mean of the triangles around each vertex, weighted by their angles there."""
    found = np.empty_like(vertices)
    found[triangles.ravel()] = corner_normals(
        vertices, triangles, twins, face, np.zeros(triangles.size, dtype=bool)
    )
    return found


def height_at(points: Array, normal: Array, heights: Array, size: tuple[float, float]) -> Array:
    """Height [m] of the map at points (n, 3) with unit normals (n, 3), seen along x, y and z."""
    total = np.zeros(len(points))
    for axis, (along, across) in enumerate(((1, 2), (0, 2), (0, 1))):
        total += normal[:, axis] ** 2 * repeated(
            heights, points[:, along] / size[0], points[:, across] / size[1]
        )
    return total


def averaged(heights: Array, over: int, axis: int) -> Array:
    """The mean of so many neighbours along an axis of a map that repeats, about each place."""
    over = min(over, heights.shape[axis])
    if over < 2:
        return heights
    before = np.roll(heights, over // 2, axis)
    total = np.cumsum(np.concatenate([np.zeros_like(before.take([0], axis)), before, before], axis), axis)
    places = np.arange(heights.shape[axis])
    found: Array = (total.take(places + over, axis) - total.take(places, axis)) / over
    return found


def repeated(heights: Array, x: Array, y: Array) -> Array:
    """Linear between the heights (ny, nx) of a map that repeats with a period of 1 in x and y."""
    ny, nx = heights.shape
    i, j = np.floor(x * nx), np.floor(y * ny)
    a, b = x * nx - i, y * ny - j
    i, j = i.astype(np.int64), j.astype(np.int64)
    left, right, low, high = i % nx, (i + 1) % nx, j % ny, (j + 1) % ny
    found: Array = (1.0 - b) * ((1.0 - a) * heights[low, left] + a * heights[low, right]) + b * (
        (1.0 - a) * heights[high, left] + a * heights[high, right]
    )
    return found
