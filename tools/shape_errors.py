"""How far what the kernels say of two shapes is off plain geometry and off coal (see check_shapes.py)."""

from __future__ import annotations

import math

import coal
import numpy as np
from plain_shapes import width_of
from shape_candidates import Least
from shape_poses import TOUCHING, Poses, are_hulls

from hapticsim.assemble.overlap import LEAST_SIN, overlap_of
from hapticsim.kernels.events.edge_places import ACROSS, REACH
from hapticsim.kernels.events.hull_places import NEARER
from hapticsim.kernels.events.inside import GAP_DEEP
from hapticsim.kernels.geometry.box_edges import NOWHERE
from hapticsim.kernels.geometry.corner import LEVEL
from hapticsim.kernels.geometry.segments import PARALLEL
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.scene import Shape

DISTANCE = 1e-9  # by the width: what counts as the same distance
TOLERANCE, ITERATIONS = 1e-14, 10_000  # of coal
ROUGH = {
    "ellipsoid": 1e-10,
    "cone": 1e-12,
}  # of coal beside these: with less it is off by more, or finds nothing


def coal_shape(shape: Shape) -> coal.CollisionGeometry:
    match shape.kind, shape.size:
        case "sphere", (radius,):
            return coal.Sphere(radius)
        case "capsule", (radius, length):
            return coal.Capsule(radius, length)
        case "cylinder", (radius, length):
            return coal.Cylinder(radius, length)
        case "cone", (radius, length):
            return coal.Cone(radius, length)
        case "ellipsoid", half:
            return coal.Ellipsoid(*half)
        case "box", half:
            return coal.Box(*(2.0 * np.array(half)))
        case "plane", _:
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    assert shape.mesh is not None
    surface = coal.BVHModelOBBRSS()
    surface.beginModel(len(shape.mesh.triangles), len(shape.mesh.vertices))
    for triangle in shape.mesh.triangles:
        surface.addTriangle(*shape.mesh.vertices[triangle])
    surface.endModel()
    return surface


def coal_hull(shape: Shape) -> coal.CollisionGeometry:
    """A box or a convex mesh."""
    if shape.mesh is None:
        return coal_shape(shape)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in shape.mesh.vertices:
        points.append(point)
    for triangle in shape.mesh.triangles.tolist():
        triangles.append(coal.Triangle(*triangle))
    return coal.Convex(points, triangles)


def coal_distances(a: Shape, b: Shape, poses: Poses) -> tuple[np.ndarray, np.ndarray]:
    """Signed distances (n,) [m] and normals (n, 3) from B to A, in the axes of B."""
    if are_hulls(a, b):
        first, second, less = coal_hull(a), coal_hull(b), 0.0
    else:
        less = 0.9 * a.size[0] if b.kind in ("mesh", *ROUGH) else 0.0
        first, second = coal.Sphere(a.size[0] - less) if less > 0.0 else coal_shape(a), coal_shape(b)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    if b.kind in ROUGH:
        request.gjk_variant, request.gjk_tolerance = coal.GJKVariant.NesterovAcceleration, ROUGH[b.kind]
    origin = coal.Transform3s()
    distance, normal = np.empty(len(poses.c)), np.empty_like(poses.c)
    for i, (R, c) in enumerate(zip(poses.R, poses.c, strict=True)):
        result = coal.DistanceResult()
        distance[i] = coal.distance(first, coal.Transform3s(R, c), second, origin, request, result) - less
        normal[i] = -result.normal
    return distance, normal


def distance_errors(a: Shape, b: Shape, poses: Poses, i: int, least: Least, other: float) -> dict[str, float]:
    """Errors of the least gap at pose i: from plain geometry, and from coal."""
    gap, sine, width = float(poses.plain.distance[i]), float(poses.plain.sine[i]), width_of_pair(a, b)
    if gap > 0.0 and least.past <= 0.0:
        return {"distance": np.inf}
    if has_sharp_edges(a, b) and gap < -GAP_DEEP:
        return {}
    by_feature = have_faces(a, b) and gap < (0.0 if poses.aligned[i] else -TOUCHING)
    if sine < least_sine(a, b):
        more, parting = least.gap - gap, sine * sum(half_diagonal(s) for s in (a, b))
        lowest = -width - gap if by_feature else -DISTANCE * width
        return {"parallel": max(more, 0.0) / (parting + DISTANCE * width) if more >= lowest else np.inf}
    if by_feature:
        return {"distance": 0.0 if -width <= least.gap < DISTANCE * width else np.inf}
    if are_hulls(a, b) and gap < 0.0 and -LEVEL <= least.gap - gap < 0.0:  # a feature as deep to rounding
        return {"distance": 0.0}
    if (
        are_hulls(a, b) and gap > REACH and 0.0 <= least.gap - gap <= NEARER
    ):  # of many as near a place has one
        return {"distance": 0.0}
    if are_hulls(a, b) and gap > REACH and least.gap == NOWHERE:  # places are for what a tick may reach
        return {}
    if (
        poses.plain.within is not None and not poses.plain.within[i]
    ):  # nearest at ends, which no place is about
        return {"distance": 0.0 if least.gap >= gap - DISTANCE * width else np.inf}
    coal_is_worse = poses.aligned[i] or (are_hulls(a, b) and have_faces(a, b) and abs(gap) <= TOUCHING)
    coal_is_worse |= b.kind == "ellipsoid"
    return {
        "distance": abs(least.gap - gap) / width,
        "aligned" if coal_is_worse else "coal": abs(least.gap - other) / width,
    }


def normal_errors(
    a: Shape, b: Shape, poses: Poses, i: int, least: Least, other: np.ndarray
) -> dict[str, float]:
    """Error of the normal at pose i [rad], where it is unique and the gap is the distance of the shapes."""
    gap = float(poses.plain.distance[i])
    if not poses.plain.unique[i] or poses.plain.sine[i] < least_sine(a, b):
        return {}
    if abs(least.gap - gap) > DISTANCE * width_of_pair(a, b):
        return {}
    normal = poses.R_WB[i].T @ least.normal
    error = angle(normal, poses.plain.normal[i])
    coal_is_worse = poses.aligned[i] or (have_faces(a, b) and abs(gap) <= TOUCHING) or b.kind in ROUGH
    return {"normal": error if coal_is_worse else max(error, angle(normal, other))}


def overlap_errors(a: Shape, b: Shape, poses: Poses, i: int, other: float) -> dict[str, float]:
    """Error of the depth at pose i by which a start is refused."""
    gap = float(poses.plain.distance[i])
    depth = overlap_of(a, Placement(poses.R[i], poses.c[i]), b, Placement())
    if depth is None or gap >= 0.0 or poses.plain.sine[i] < LEAST_SIN:
        return {}
    error = abs(depth + gap) if poses.aligned[i] else max(abs(depth + gap), abs(depth + other))
    return {"overlap": error / width_of_pair(a, b)}


def width_of_pair(a: Shape, b: Shape) -> float:
    return min(width_of(a), width_of(b))


def has_sharp_edges(a: Shape, b: Shape) -> bool:
    """True for pairs whose edges may cross: those that ``overlap_of`` is for."""
    return are_hulls(a, b) or (b.kind == "box" and a.kind in ("box", "capsule"))


def have_faces(a: Shape, b: Shape) -> bool:
    """True for two boxes, or hulls."""
    return a.kind != "capsule" and (are_hulls(a, b) or a.kind == b.kind == "box")


def half_diagonal(shape: Shape) -> float:
    """Of the box inside a shape, of a mesh that of the box around it [m]."""
    if shape.kind == "capsule":
        return 0.5 * shape.size[1]
    return float(np.linalg.norm(shape.size)) if shape.kind in ("box", "mesh") else 0.0


def least_sine(a: Shape, b: Shape) -> float:
    """Sine of the angle below which two edges, or sides of capsules, are parallel for the kernels."""
    return math.sqrt(ACROSS if has_sharp_edges(a, b) else PARALLEL)


def angle(a: np.ndarray, b: np.ndarray) -> float:
    """Between two unit vectors [rad]."""
    return 2.0 * float(np.arcsin(min(0.5 * float(np.linalg.norm(a - b)), 1.0)))
