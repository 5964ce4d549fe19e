"""Shapes as flat quadrilaterals, all of a scene in one block of arrays.

One transform, one projection and one sort per frame then serve every shape: no loop over shapes or faces in
Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hapticsim.display.messages.scene import Poses
from hapticsim.display.messages.shapes import DrawnShape

FINE, COARSE = (22, 4), (16, 3)  # facets around a capsule, and from its rim to its pole
_CELLS = 8  # into which lines divide a plane, each way
_LONGEST, _MOST = (
    0.125,
    1500,
)  # edge of a mesh, of its diagonal; and triangles to which it is divided for that
_MOST_OF_SCENE = 3500  # to which all meshes together are divided: a frame of ten thousand takes 0.1 s
_LONGER = 1.3  # by how much edges that stay get longer, step by step
_RINGS = (
    8  # of facets along a capsule, at most, where there are meshes among whose triangles they are ordered
)
_THIN_M = 0.025  # shapes up to this radius are small on the screen and drawn coarse

_CORNERS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
_BOX_FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Vertices and faces of several shapes, each in the frame of its own shape."""

    points_S: np.ndarray  # (nv, 3) [m]
    point_shape: np.ndarray  # (nv,) which shape a vertex belongs to
    faces: (
        np.ndarray
    )  # (nf, 4) vertex indices, counter-clockwise seen from outside; a triangle repeats its last
    face_shape: np.ndarray  # (nf,)
    normals_S: np.ndarray  # (nf, 3) unit, outward
    colors: np.ndarray  # (nf, 3) 0..255


def box(hx: float, hy: float, hz: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (8, 3) [m] and faces (6, 4) of a box with half extents [m]; a sheet when ``hz`` is zero."""
    points = _CORNERS * (hx, hy, hz)
    return points, np.array(_BOX_FACES if hz > 0.0 else _BOX_FACES[:2])


def grid(hx: float, hy: float) -> np.ndarray:
    """(n, 2, 3) [m] ends of the lines that divide a plane with half extents [m], in its own frame."""
    stops = np.linspace(-1.0, 1.0, _CELLS + 1)[1:-1]
    along = [[(hx * t, -hy, 0.0), (hx * t, hy, 0.0)] for t in stops]
    return np.array(along + [[(-hx, hy * t, 0.0), (hx, hy * t, 0.0)] for t in stops])


def capsule(
    radius: float, length: float, around: int = FINE[0], over: int = FINE[1], along: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and faces (nf, 4) of a capsule along z; a sphere at length 0 [m].

    around, over, along : facets around it, from rim to pole, and from rim to rim.
    """
    # Rings of constant latitude from the lower pole to the upper one; the equator stands twice, at both rims.
    half = np.linspace(0.0, 0.5 * math.pi, over + 1)
    between = np.linspace(-0.5, 0.5, along + 1)[1:-1] if length > 0.0 else np.zeros(0)
    north = half if length > 0.0 else half[1:]
    latitude = np.concatenate([half - 0.5 * math.pi, np.zeros(len(between)), north])
    shift = length * np.concatenate([np.full(over + 1, -0.5), between, np.full(len(north), 0.5)])
    angle = np.arange(around) * (2.0 * math.pi / around)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.empty((len(latitude), around, 3))
    points[:, :, :2] = radius * np.cos(latitude)[:, None, None] * ring
    points[:, :, 2] = (radius * np.sin(latitude) + shift)[:, None]
    i, k = np.meshgrid(np.arange(len(latitude) - 1), np.arange(around), indexing="ij")
    here, beside = i * around + k, i * around + (k + 1) % around
    faces = np.stack([here, beside, beside + around, here + around], axis=-1).reshape(-1, 4)
    return points.reshape(-1, 3), faces


def cylinder(radius: float, length: float, around: int, along: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and faces (nf, 4) of a cylinder along z, with the middles of its ends."""
    angle = np.arange(around) * (2.0 * math.pi / around)
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    heights = length * np.linspace(-0.5, 0.5, along + 1)
    rings = np.concatenate([np.column_stack([ring, np.full(around, z)]) for z in heights])
    points = np.concatenate([rings, [[0.0, 0.0, heights[0]], [0.0, 0.0, heights[-1]]]])
    k = np.arange(around)
    after, top, low, high = (k + 1) % around, along * around, len(rings), len(rings) + 1
    sides = [
        np.stack([k + i, after + i, after + i + around, k + i + around], axis=1)
        for i in range(0, top, around)
    ]
    ends = [
        np.stack([np.full(around, low), after, k, k], axis=1),
        np.stack([np.full(around, high), k + top, after + top, after + top], axis=1),
    ]
    return points, np.concatenate([*sides, *ends])


def cone(radius: float, length: float, around: int, along: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and faces (nf, 4) of a cone along z: a cylinder whose upper rim is its apex."""
    points, faces = cylinder(radius, length, around, along)
    points[:, :2] *= 0.5 - points[:, 2:] / length
    return points, faces[:-around]


def divided(points: np.ndarray, triangles: np.ndarray, least_m: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and triangles (nt, 3) of the same surface, its long triangles cut in halves.

    Depth orders what is small.  A mesh of many triangles stays as it is, and so do edges up to ``least_m``.
    """
    longest = max(_LONGEST * float(np.linalg.norm(np.ptp(points, axis=0))), least_m)
    while True:
        corners = points[triangles]
        length = np.linalg.norm(
            np.roll(corners, -1, axis=1) - corners, axis=2
        )  # of the edge that begins there
        long = length.max(axis=1) > longest
        if not long.any() or len(triangles) + int(long.sum()) > _MOST:
            return points, triangles
        turned = (length[long].argmax(axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(triangles[long], turned, axis=1).T
        middle = len(points) + np.arange(len(a))
        points = np.concatenate([points, 0.5 * (points[a] + points[b])])
        halves = np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)
        triangles = np.concatenate([triangles[~long], *halves])


def divided_together(
    surfaces: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each surface ``divided``; where that gives too many triangles, longer edges stay, as long in all."""
    found = [divided(*surface) for surface in surfaces]
    sizes = [float(np.linalg.norm(np.ptp(points, axis=0))) for points, _ in surfaces]
    least_m, whole = _LONGEST * min(sizes, default=0.0), max(sizes, default=0.0)
    while sum(len(triangles) for _, triangles in found) > _MOST_OF_SCENE and least_m < whole:
        least_m *= _LONGER
        found = [divided(*surface, least_m) for surface in surfaces]
    return found


def tessellate(shapes: tuple[DrawnShape, ...]) -> Mesh:
    """One mesh for all shapes; the index of a shape in the mesh is its index in ``shapes``."""
    points: list[np.ndarray] = [np.zeros((0, 3))]
    faces: list[np.ndarray] = [np.zeros((0, 4), dtype=int)]
    point_shape: list[np.ndarray] = [np.zeros(0, dtype=int)]
    face_shape: list[np.ndarray] = [np.zeros(0, dtype=int)]
    count, meshes = 0, any(shape.kind == "mesh" for shape in shapes)
    cut = iter(divided_together([(s.vertices_S, s.triangles) for s in shapes if s.kind == "mesh"]))
    for index, shape in enumerate(shapes):
        if shape.kind == "box":
            new_points, new_faces = box(*shape.size[:3])
        elif shape.kind == "plane":
            new_points, new_faces = box(shape.size[0], shape.size[1], 0.0)
        elif shape.kind == "mesh":
            new_points, triangles = next(cut)
            new_faces = triangles[:, [0, 1, 2, 2]]
        else:
            around, over = COARSE if shape.size[0] <= _THIN_M else FINE
            length = shape.size[1] if shape.kind not in ("sphere", "ellipsoid") else 0.0
            along = min(math.ceil(length / (2.0 * shape.size[0])), _RINGS) if meshes and length > 0.0 else 1
            if shape.kind == "cylinder":
                new_points, new_faces = cylinder(shape.size[0], length, around, along)
            elif shape.kind == "cone":
                new_points, new_faces = cone(shape.size[0], length, around, along)
            elif shape.kind == "ellipsoid":
                new_points, new_faces = capsule(1.0, 0.0, around, over)
                new_points = new_points * shape.size[:3]
            else:
                new_points, new_faces = capsule(shape.size[0], length, around, over, along)
        points.append(new_points)
        faces.append(new_faces + count)
        point_shape.append(np.full(len(new_points), index))
        face_shape.append(np.full(len(new_faces), index))
        count += len(new_points)
    all_points, all_faces, owner = np.concatenate(points), np.concatenate(faces), np.concatenate(face_shape)
    a, b, c, d = (all_points[all_faces[:, k]] for k in range(4))
    normals = np.cross(c - a, d - b)  # the diagonals span the face even where two corners coincide at a pole
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    colors = np.array([s.color for s in shapes], dtype=float).reshape(-1, 3)[owner]
    return Mesh(all_points, np.concatenate(point_shape), all_faces, owner, normals, colors)


def mesh_sizes(mesh: Mesh, shapes: tuple[DrawnShape, ...]) -> np.ndarray:
    """(ns,) size class of the triangles of each shape of kind ``mesh``, 1 the finest; 0 of other shapes.

    Every class is twice as large as the one below it.
    """
    is_mesh = np.array([s.kind == "mesh" for s in shapes], dtype=bool)
    corners = mesh.points_S[mesh.faces]
    extent = np.linalg.norm(np.ptp(corners, axis=1), axis=1)  # of each face
    size = np.array([np.median(extent[mesh.face_shape == i]) if m else 1.0 for i, m in enumerate(is_mesh)])
    power = np.rint(np.log2(np.maximum(size, 1e-9))).astype(int)
    return np.where(is_mesh, power - power.min(where=is_mesh, initial=1000) + 1, 0)


def place(shapes: tuple[DrawnShape, ...], poses: Poses) -> tuple[np.ndarray, np.ndarray]:
    """Poses of the shapes in the world: (ns, 3) [m] positions and (ns, 3, 3) rotations.

    Shapes on a body that ``poses`` does not hold stay where the world would carry them.
    """
    p_WS = np.array([s.p_BS for s in shapes]).reshape(-1, 3)
    R_WS = np.array([s.R_BS for s in shapes]).reshape(-1, 3, 3)
    body = np.array([s.body for s in shapes], dtype=int)
    moving = (body >= 0) & (body < len(poses.p_WB))
    R_WB, p_WB = poses.R_WB[body[moving]], poses.p_WB[body[moving]]
    p_WS[moving] = np.einsum("nij,nj->ni", R_WB, p_WS[moving]) + p_WB
    R_WS[moving] = R_WB @ R_WS[moving]
    return p_WS, R_WS
