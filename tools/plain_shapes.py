"""Signed distances of two shapes by plain geometry, many poses at once, in NumPy.

A sphere is a box without extent with a radius around it, a capsule one with extent along z alone, a box one
without radius: one computation serves all of them.  Of two boxes that are apart the distance is that of a
corner of one from the other, or that of two edges that cross; of two that overlap it is the largest of the
separations along the normals of faces and across two edges (Gottschalk, Lin and Manocha 1996).

Arrays over poses come first: R (n, 3, 3) holds the axes of A in those of B as columns, c (n, 3) [m] is the
middle of A there.  Normals point from B to A, in the axes of B.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import trimesh
from mesh_scenes import corners_of, is_inside

from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import TriangleMesh

SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
LEAST_SQUARE = 1e-20  # of the sine of the angle below which two edges are parallel
DIRECTED = 1e-7  # [m] nearer points than this give no direction: the axis that separates most does
APART, RIVAL = (
    1e-4,
    1e-5,
)  # [m] nearer than APART a normal is unique if it separates more by RIVAL than others
SAME_POINT = 1e-9  # [m] nearest points on two triangles that are nearer to one another than this are one
ROUNDING = 1e-15  # [m]
BISECTIONS = 200
CORNERS = 16  # of both boxes
PORTION = 250  # poses at once: 144 pairs of edges each


@dataclass
class Distances:
    """Of n poses: the signed distance, the normal, whether it is the only one, and what edges are nearest."""

    distance: np.ndarray  # (n,) [m], below 0 where the shapes overlap
    normal: np.ndarray  # (n, 3)
    unique: np.ndarray  # (n,) bool
    sine: np.ndarray  # (n,) of the angle between two edges that are nearer than all corners; else 1
    within: np.ndarray | None = None  # (n,) bool, of hulls: plain_hulls.Nearest


def core_of(shape: Shape) -> tuple[np.ndarray, float]:
    """Half extents (3,) [m] of the box inside a shape, and the radius [m] around it."""
    match shape.kind, shape.size:
        case "box", half:
            return np.array(half), 0.0
        case "sphere", (radius,):
            return np.zeros(3), radius
        case "capsule", (radius, length):
            return np.array([0.0, 0.0, 0.5 * length]), radius
    raise ValueError(f"a {shape.kind} has no box inside")


def width_of(shape: Shape) -> float:
    """Least width of a shape [m]; of a plane without bound, of a mesh that of the box around it."""
    if shape.kind == "plane":
        return np.inf
    if shape.kind in ("cylinder", "cone"):
        return min(2.0 * shape.size[0], shape.size[1])
    return 2.0 * (shape.size[0] if shape.kind in ("sphere", "capsule") else min(shape.size))


def distances(a: Shape, b: Shape, R: np.ndarray, c: np.ndarray) -> Distances:
    """Signed distances of two shapes at n poses."""
    if b.kind == "plane":
        if a.kind in ("cylinder", "cone"):
            down = over_plane(*a.size, R, c, a.kind == "cone")
        elif a.kind == "ellipsoid":
            down = c[:, 2] - np.linalg.norm(R[:, 2, :] * a.size, axis=1)
        else:
            half, radius = core_of(a)
            down = c[:, 2] - np.abs(R[:, 2, :]) @ half - radius
        return Distances(down, np.tile([0.0, 0.0, 1.0], (len(c), 1)), np.full(len(c), True), np.ones(len(c)))
    if b.kind == "mesh":
        return from_mesh(b.mesh, a.size[0], c)
    if b.kind == "cylinder":
        return from_cylinder(b.size[0], 0.5 * b.size[1], a.size[0], c)
    if b.kind == "cone":
        return from_cone(b.size[0], 0.5 * b.size[1], a.size[0], c)
    if b.kind == "ellipsoid":
        return from_ellipsoid(np.array(b.size), a.size[0], c)
    (half_a, radius_a), (half_b, radius_b) = core_of(a), core_of(b)
    parts = [
        of_boxes(R[i : i + PORTION], c[i : i + PORTION], half_a, half_b) for i in range(0, len(c), PORTION)
    ]
    distance, *rest = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Distances(distance - radius_a - radius_b, *rest)


def over_plane(
    radius: float, length: float, R: np.ndarray, c: np.ndarray, is_cone: bool = False
) -> np.ndarray:
    """Least heights [m] of a cylinder over a plane: of its rims, and of eight points of each end, at 0.99
    of the radius from the axis, that stand out by 1e-5 of it; of a cone those of its base, and its apex."""
    up, side = R[:, 2, 2], radius * np.hypot(R[:, 2, 0], R[:, 2, 1])
    down = -up if is_cone else -np.abs(up)  # of the end that is looked at
    rims = c[:, 2] + 0.5 * length * down - side
    turns = 0.25 * np.pi * np.arange(8)
    ring = 0.99 * radius * np.stack([np.cos(turns), np.sin(turns)])
    points = c[:, 2] + (0.5 * length + 1e-5 * radius) * down + (R[:, 2, :2] @ ring).min(axis=1)
    least = np.minimum(rims, points)
    return np.minimum(least, c[:, 2] + 0.5 * length * up) if is_cone else least


def from_cone(R: float, half: float, radius: float, c: np.ndarray) -> Distances:
    """The same of spheres around c and a cone: from a triangle, in the plane of axis and point.

    Of its edges the base and the side count, each from end to end; the axis is none.
    """
    out = np.hypot(c[:, 0], c[:, 1])
    p = np.stack([out, c[:, 2]], axis=1)
    rim, apex, middle = np.array([R, -half]), np.array([0.0, half]), np.array([0.0, -half])
    inside = np.full(len(c), True)
    away, normals = [], []
    for start, end in ((middle, rim), (rim, apex)):
        along = (end - start) / np.linalg.norm(end - start)
        normal = np.array([along[1], -along[0]])
        t = np.clip((p - start) @ along, 0.0, np.linalg.norm(end - start))
        away.append(p - start - t[:, None] * along)
        normals.append(np.tile(normal, (len(c), 1)))
        inside &= (p - start) @ normal < 0.0
    distances = np.linalg.norm(np.stack(away), axis=2)
    k, rows = np.argmin(distances, axis=0), np.arange(len(c))
    near, size = np.stack(away)[k, rows], distances[k, rows]
    n = np.where(
        (inside | (size < DIRECTED))[:, None],
        np.stack(normals)[k, rows],
        near / np.maximum(size, DIRECTED)[:, None],
    )
    distance = np.where(inside, -size, size)
    normal = np.column_stack([n[:, :1] * c[:, :2] / out[:, None], n[:, 1]])
    unique = (distance > APART) | (np.abs(distances[0] - distances[1]) > RIVAL)
    return Distances(distance - radius, normal, unique, np.ones(len(c)))


def from_ellipsoid(half: np.ndarray, radius: float, c: np.ndarray) -> Distances:
    """The same of spheres around c and an ellipsoid: t of x = q + t A^-2 q between bounds, by halves.

    Of a point inside, where nearest points are several, none is unique.
    """
    u = (c / half) ** 2
    least = half.min()
    low, high = np.full(len(c), -least * least), np.linalg.norm(c, axis=1) * half.max()
    for _ in range(BISECTIONS):
        t = 0.5 * (low + high)
        above = ((half[None] ** 2 / (half[None] ** 2 + t[:, None])) ** 2 * u).sum(axis=1) > 1.0
        low, high = np.where(above, t, low), np.where(above, high, t)
    q = half**2 * c / (half**2 + low[:, None])
    normal = q / half**2
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    distance = ((c - q) * normal).sum(axis=1)
    unique = distance > -0.5 * least * least / half.max()
    return Distances(distance - radius, normal, unique, np.ones(len(c)))


def from_mesh(mesh: TriangleMesh | None, radius: float, c: np.ndarray) -> Distances:
    """The same of spheres around c and a mesh: of the nearest point of all triangles, one by one."""
    assert mesh is not None
    corners, distance, normal = corners_of(mesh), np.empty(len(c)), np.empty_like(c)
    unique = np.empty(len(c), bool)
    for i, point in enumerate(c):
        nearest = trimesh.triangles.closest_point(corners, np.tile(point, (len(corners), 1)))
        away = point - nearest
        squares = (away**2).sum(axis=1)
        k = int(np.argmin(squares))
        side = -1.0 if is_inside(corners, point) else 1.0
        size = np.sqrt(squares[k])
        distance[i], normal[i] = side * size - radius, side * away[k] / size
        as_near = away[np.sqrt(squares) < size + RIVAL]
        unique[i] = bool(np.all(np.abs(as_near - away[k]) < SAME_POINT))
    return Distances(distance, normal, unique, np.ones(len(c)))


def from_cylinder(R: float, half: float, radius: float, c: np.ndarray) -> Distances:
    """The same of spheres around c and a cylinder: from a rectangle, in the plane of axis and point."""
    out = np.hypot(c[:, 0], c[:, 1])
    beyond = np.stack([out - R, np.abs(c[:, 2]) - half], axis=1)
    outside = np.maximum(beyond, 0.0)
    distance = np.linalg.norm(outside, axis=1)
    inside = distance == 0.0
    nearest_face = np.eye(2)[np.argmax(beyond, axis=1)]
    n = np.where(inside[:, None], nearest_face, outside / np.where(inside, 1.0, distance)[:, None])
    distance = np.where(inside, beyond.max(axis=1), distance)
    around = c[:, :2] / out[:, None]
    normal = np.column_stack([n[:, :1] * around, n[:, 1] * np.sign(c[:, 2])])
    unique = (distance > APART) | (np.abs(beyond[:, 0] - beyond[:, 1]) > RIVAL)
    return Distances(distance - radius, normal, unique, np.ones(len(c)))


def of_boxes(R: np.ndarray, c: np.ndarray, half_a: np.ndarray, half_b: np.ndarray) -> tuple[np.ndarray, ...]:
    """Distance [m], normal, uniqueness and sine (see Distances) of two boxes."""
    n, separation, sines = separations(R, c, half_a, half_b)
    order = np.argsort(separation, axis=1)
    rows = np.arange(len(c))
    best, second = order[:, -1], order[:, -2]
    most, axis = separation[rows, best], n[rows, best]
    away, sine = nearest(R, c, half_a, half_b)
    apart = np.linalg.norm(away, axis=1)
    distance = np.where(most <= 0.0, most, apart)
    by_axis = distance < DIRECTED
    normal = np.where(by_axis[:, None], axis, away / np.where(by_axis, 1.0, apart)[:, None])
    unique = (distance > APART) | (most - separation[rows, second] > RIVAL)
    return distance, normal, unique, np.where(most <= 0.0, sines[rows, best], sine)


def separations(
    R: np.ndarray, c: np.ndarray, half_a: np.ndarray, half_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The fifteen axes (n, 15, 3), towards A, how far apart [m] both boxes are along them, and sines (n, 15).

    These are of the angles between the edges that an axis is across; 1 for the normals of faces.
    """
    of_a = np.swapaxes(R, 1, 2)
    across = np.cross(of_a[:, :, None, :], np.eye(3)[None, None]).reshape(-1, 9, 3)
    size = np.linalg.norm(across, axis=2)
    parallel = size < np.sqrt(LEAST_SQUARE)
    across /= np.where(parallel, 1.0, size)[:, :, None]
    n = np.concatenate([np.broadcast_to(np.eye(3), of_a.shape), of_a, across], axis=1)
    along = np.einsum("nki,ni->nk", n, c)
    n = np.where(along[:, :, None] < 0.0, -n, n)
    reach = np.abs(n) @ half_b + np.abs(np.einsum("nki,nij->nkj", n, R)) @ half_a
    separation = np.abs(along) - reach
    separation[:, 6:][parallel] = -np.inf
    return n, separation, np.concatenate([np.ones((len(c), 6)), size], axis=1)


def nearest(
    R: np.ndarray, c: np.ndarray, half_a: np.ndarray, half_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, 3) [m] from the nearest point of B to that of A, where both are apart, and sines (n,)."""
    corners_a = c[:, None] + np.einsum("nij,kj->nki", R, SIGNS * half_a)
    of_a = corners_a - np.clip(corners_a, -half_b, half_b)
    corners_b = np.einsum("nji,nkj->nki", R, SIGNS * half_b - c[:, None])
    of_b = np.einsum("nij,nkj->nki", R, np.clip(corners_b, -half_a, half_a) - corners_b)
    of_edges, sines = crossings(R, c, half_a, half_b)
    away = np.concatenate([of_a, of_b, of_edges], axis=1)
    squares = (away**2).sum(axis=2)
    rows = np.arange(len(c))
    best = np.argmin(squares, axis=1)
    by_corner = np.sqrt(squares[:, :CORNERS].min(axis=1)) <= np.sqrt(squares[rows, best]) + ROUNDING
    sine = np.where(by_corner, 1.0, sines[rows, np.maximum(best - CORNERS, 0)])
    return away[rows, best], sine


def edges_of(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middles (12, 3) [m] of the edges of a box, and their axes (12,)."""
    axes = np.repeat(np.arange(3), 4)
    middles = np.array(
        [
            np.where(np.arange(3) == axis, 0.0, np.insert(signs, axis, 0.0)) * half
            for axis in range(3)
            for signs in itertools.product((-1.0, 1.0), repeat=2)
        ]
    )
    return middles, axes


def crossings(
    R: np.ndarray, c: np.ndarray, half_a: np.ndarray, half_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, 144, 3) [m] between nearest points of each pair of edges, and sines (n, 144).

    Where the lines cross past an end, or are parallel, clamping gives points that a corner is nearer to, or
    as near [Ericson 2005, 5.1.9].
    """
    (middle_a, axis_a), (middle_b, axis_b) = edges_of(half_a), edges_of(half_b)
    most_a, most_b = half_a[axis_a][None, :, None], half_b[axis_b][None, None]
    p = c[:, None] + np.einsum("nij,kj->nki", R, middle_a)
    a, b = np.swapaxes(R, 1, 2)[:, axis_a], np.eye(3)[axis_b]
    x = p[:, :, None] - middle_b[None, None]  # (n, 12, 12, 3), from an edge of B to one of A
    cosine = np.einsum("nki,li->nkl", a, b)
    w = np.cross(a[:, :, None], b[None, None])
    square = (w**2).sum(axis=3)
    s = -(np.cross(x, b[None, None]) * w).sum(axis=3) / np.maximum(square, LEAST_SQUARE)
    s = np.clip(s, -most_a, most_a)
    t = np.clip(np.einsum("nkli,li->nkl", x, b) + cosine * s, -most_b, most_b)
    s = np.clip(cosine * t - np.einsum("nkli,nki->nkl", x, a), -most_a, most_a)
    away = x + s[..., None] * a[:, :, None] - t[..., None] * b[None, None]
    return away.reshape(len(c), -1, 3), np.sqrt(square).reshape(len(c), -1)
