"""The features of a triangle mesh, its faces, edges and vertices: over which of them a point lies, how far.

A feature has a region: the points to which it is nearer than what is beside it.  Over a face that is the
prism above its triangle; of an edge the wedge between the ends of the edge and the prisms of both its
triangles; of a vertex what the planes across all its edges, through the vertex, leave.  A point outside its
nearest surface lies in the region of each feature whose distance is a local minimum.

Features are numbered: of nt triangles face t is t; the edge from corner i of t to the next one is
nt + 3 t + i, the smaller of the two numbers that its triangles give it; vertex v is 4 nt + v.  All points are
in the axes of the mesh [m].
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import inlined, kernel

POINT = 1e-12  # [m] nearer to an edge or a vertex than this there is no direction from it but its own normal


@inlined
def corner_after(i):
    """The next corner of a triangle."""
    return i + 1 if i < 2 else 0


@inlined
def edge_number(plan, half_edge):
    """The smaller of both numbers 3 t + i of an edge."""
    return min(half_edge, plan.mesh_neighbour[half_edge])


@kernel
def inward(plan, half_edge, x, y, z):
    """How far a point is over a triangle from its edge 3 t + i [m], below 0 beyond it."""
    t = half_edge // 3
    a, b = plan.mesh_triangle[half_edge], plan.mesh_triangle[3 * t + corner_after(half_edge - 3 * t)]
    p, q, n = plan.mesh_vertex[a], plan.mesh_vertex[b], plan.mesh_normal[t]
    ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    mx, my, mz = n[1] * ez - n[2] * ey, n[2] * ex - n[0] * ez, n[0] * ey - n[1] * ex
    size = math.sqrt(ex * ex + ey * ey + ez * ez)
    return ((x - p[0]) * mx + (y - p[1]) * my + (z - p[2]) * mz) / size


@kernel
def along(plan, a, b, x, y, z):
    """How far a point is past vertex a towards vertex b [m]."""
    p, q = plan.mesh_vertex[a], plan.mesh_vertex[b]
    ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    size = math.sqrt(ex * ex + ey * ey + ez * ez)
    return ((x - p[0]) * ex + (y - p[1]) * ey + (z - p[2]) * ez) / size


@inlined
def ends_of(plan, half_edge):
    """Both vertices of an edge."""
    t = half_edge // 3
    return plan.mesh_triangle[half_edge], plan.mesh_triangle[3 * t + corner_after(half_edge - 3 * t)]


@kernel
def region_margin(plan, feature, x, y, z):
    """How far a point is inside the region of a feature [m], below 0 beyond it."""
    faces = plan.mesh_normal.shape[0]
    if feature < faces:
        first = 3 * feature
        margin = min(inward(plan, first, x, y, z), inward(plan, first + 1, x, y, z))
        return min(margin, inward(plan, first + 2, x, y, z))
    if feature < 4 * faces:
        half_edge = feature - faces
        a, b = ends_of(plan, half_edge)
        wedge = -max(inward(plan, half_edge, x, y, z), inward(plan, plan.mesh_neighbour[half_edge], x, y, z))
        return min(wedge, min(along(plan, a, b, x, y, z), along(plan, b, a, x, y, z)))
    v = feature - 4 * faces
    margin = math.inf
    for i in range(plan.mesh_ring_start[v], plan.mesh_ring_start[v + 1]):
        _, w = ends_of(plan, plan.mesh_ring[i])
        margin = min(margin, -along(plan, v, w, x, y, z))
    return margin


@kernel
def from_feature(plan, feature, x, y, z):
    """Distance [m] of a point from a feature, below 0 behind it, and the normal there, four scalars.

    The sign is that of the sum of the normals around the feature, of a vertex weighted by their angles: right
    where this feature is the nearest (Baerentzen and Aanaes 2005).
    """
    faces = plan.mesh_normal.shape[0]
    if feature < faces:
        p, n = plan.mesh_vertex[plan.mesh_triangle[3 * feature]], plan.mesh_normal[feature]
        return (x - p[0]) * n[0] + (y - p[1]) * n[1] + (z - p[2]) * n[2], n[0], n[1], n[2]
    if feature < 4 * faces:
        half_edge = feature - faces
        a, b = ends_of(plan, half_edge)
        p, q = plan.mesh_vertex[a], plan.mesh_vertex[b]
        n, m = plan.mesh_normal[half_edge // 3], plan.mesh_normal[plan.mesh_neighbour[half_edge] // 3]
        ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        dx, dy, dz = x - p[0], y - p[1], z - p[2]
        share = (dx * ex + dy * ey + dz * ez) / (ex * ex + ey * ey + ez * ez)
        dx, dy, dz = dx - share * ex, dy - share * ey, dz - share * ez
        nx, ny, nz = n[0] + m[0], n[1] + m[1], n[2] + m[2]
    else:
        p, n = plan.mesh_vertex[feature - 4 * faces], plan.mesh_vertex_normal[feature - 4 * faces]
        dx, dy, dz = x - p[0], y - p[1], z - p[2]
        nx, ny, nz = n[0], n[1], n[2]
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if distance < POINT:
        size = max(math.sqrt(nx * nx + ny * ny + nz * nz), POINT)
        return 0.0, nx / size, ny / size, nz / size
    distance = math.copysign(distance, dx * nx + dy * ny + dz * nz)
    return distance, dx / distance, dy / distance, dz / distance


@kernel
def nearest_of_triangle(plan, t, x, y, z, least):
    """The feature of triangle t that is nearest to a point, and the square of its distance [m^2].

    least   [m^2] a square beyond which only that it is beyond counts.
    """
    faces, first = plan.mesh_normal.shape[0], 3 * t
    n = plan.mesh_normal[t]
    p = plan.mesh_vertex[plan.mesh_triangle[first]]
    height = (x - p[0]) * n[0] + (y - p[1]) * n[1] + (z - p[2]) * n[2]
    if height * height >= least:
        return t, math.inf
    beyond = False
    for i in range(3):
        a, b = ends_of(plan, first + i)
        p, q = plan.mesh_vertex[a], plan.mesh_vertex[b]
        ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        mx, my, mz = n[1] * ez - n[2] * ey, n[2] * ex - n[0] * ez, n[0] * ey - n[1] * ex
        dx, dy, dz = x - p[0], y - p[1], z - p[2]
        inside = dx * mx + dy * my + dz * mz
        if inside < 0.0:
            beyond = True
            ahead = dx * ex + dy * ey + dz * ez
            behind = (x - q[0]) * ex + (y - q[1]) * ey + (z - q[2]) * ez
            if ahead >= 0.0 and behind <= 0.0:
                square = inside * inside / (ex * ex + ey * ey + ez * ez)
                return faces + edge_number(plan, first + i), height * height + square
    if not beyond:
        return t, height * height
    nearest, shortest = -1, math.inf
    for i in range(3):
        v = plan.mesh_triangle[first + i]
        p = plan.mesh_vertex[v]
        square = (x - p[0]) ** 2 + (y - p[1]) ** 2 + (z - p[2]) ** 2
        if square < shortest:
            nearest, shortest = v, square
    return 4 * faces + nearest, shortest


@kernel
def curvature_term(plan, feature, distance, nx, ny, nz, vx, vy, vz):
    """What the curvature around a feature adds to the second derivative of the distance [m/s^2].

    v   velocity of the point in the mesh [m/s], in its axes: |P v|^2 - (n . v)^2 over the distance, where P
    takes the part along an edge away, and of a face everything.
    """
    faces = plan.mesh_normal.shape[0]
    if feature < faces or abs(distance) < POINT:
        return 0.0
    across = nx * vx + ny * vy + nz * vz
    square = vx * vx + vy * vy + vz * vz - across * across
    if feature < 4 * faces:
        a, b = ends_of(plan, feature - faces)
        p, q = plan.mesh_vertex[a], plan.mesh_vertex[b]
        ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        ahead = vx * ex + vy * ey + vz * ez
        square -= ahead * ahead / (ex * ex + ey * ey + ez * ez)
    return square / distance
