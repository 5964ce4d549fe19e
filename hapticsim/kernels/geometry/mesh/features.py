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

FACE, FIRST_EDGE, FIRST_CORNER = 0, 1, 4  # parts of a triangle: its edges and corners one after the other
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
def across(plan, feature, x, y, z):
    """The feature beyond the border that a point is farthest past, or nearest to."""
    faces = plan.mesh_normal.shape[0]
    least, beyond = math.inf, -1
    if feature < faces:
        for half_edge in range(3 * feature, 3 * feature + 3):
            margin = inward(plan, half_edge, x, y, z)
            if margin < least:
                least, beyond = margin, faces + edge_number(plan, half_edge)
        return beyond
    if feature < 4 * faces:
        half_edge = feature - faces
        other = plan.mesh_neighbour[half_edge]
        a, b = ends_of(plan, half_edge)
        over, over_other = inward(plan, half_edge, x, y, z), inward(plan, other, x, y, z)
        past_a, past_b = along(plan, a, b, x, y, z), along(plan, b, a, x, y, z)
        if min(past_a, past_b) < -max(over, over_other):
            return 4 * faces + (a if past_a < past_b else b)
        return half_edge // 3 if over > over_other else other // 3
    v = feature - 4 * faces
    for i in range(plan.mesh_ring_start[v], plan.mesh_ring_start[v + 1]):
        half_edge = plan.mesh_ring[i]
        _, w = ends_of(plan, half_edge)
        margin = -along(plan, v, w, x, y, z)
        if margin < least:
            least, beyond = margin, faces + edge_number(plan, half_edge)
    return beyond


@inlined
def time_below(start, rate, change, level):
    """When start + rate t + change t^2 / 2 falls to ``level`` [s]; inf where it never does, or is there."""
    above = start - level
    square = rate * rate - 2.0 * change * above
    if above <= 0.0 or square < 0.0:
        return math.inf
    slope = math.sqrt(square) - rate
    return 2.0 * above / slope if slope > 0.0 else math.inf


@kernel
def leaves_over(plan, half_edge, sign, level, x, y, z, vx, vy, vz, ax, ay, az):
    """When a point moving so has ``inward``, times sign, at ``level`` [s]: of planes across an edge."""
    here = sign * inward(plan, half_edge, x, y, z)
    rate = sign * inward(plan, half_edge, x + vx, y + vy, z + vz) - here
    change = sign * inward(plan, half_edge, x + ax, y + ay, z + az) - here
    return time_below(here, rate, change, level)


@kernel
def leaves_past(plan, a, b, sign, level, x, y, z, vx, vy, vz, ax, ay, az):
    """The same of ``along``: of planes through a vertex."""
    here = sign * along(plan, a, b, x, y, z)
    rate = sign * along(plan, a, b, x + vx, y + vy, z + vz) - here
    change = sign * along(plan, a, b, x + ax, y + ay, z + az) - here
    return time_below(here, rate, change, level)


@kernel
def leaves_region(plan, feature, level, x, y, z, vx, vy, vz, ax, ay, az):
    """When the margin of a region falls to ``level`` [s], for a point of velocity v and acceleration a in the
    axes of the mesh; inf where it does not."""
    faces = plan.mesh_normal.shape[0]
    first = math.inf
    if feature < faces:
        for half_edge in range(3 * feature, 3 * feature + 3):
            t = leaves_over(plan, half_edge, 1.0, level, x, y, z, vx, vy, vz, ax, ay, az)
            first = min(first, t)
    elif feature < 4 * faces:
        half_edge = feature - faces
        a, b = ends_of(plan, half_edge)
        first = leaves_over(plan, half_edge, -1.0, level, x, y, z, vx, vy, vz, ax, ay, az)
        other = plan.mesh_neighbour[half_edge]
        first = min(first, leaves_over(plan, other, -1.0, level, x, y, z, vx, vy, vz, ax, ay, az))
        first = min(first, leaves_past(plan, a, b, 1.0, level, x, y, z, vx, vy, vz, ax, ay, az))
        first = min(first, leaves_past(plan, b, a, 1.0, level, x, y, z, vx, vy, vz, ax, ay, az))
    else:
        v = feature - 4 * faces
        for i in range(plan.mesh_ring_start[v], plan.mesh_ring_start[v + 1]):
            _, w = ends_of(plan, plan.mesh_ring[i])
            first = min(first, leaves_past(plan, v, w, -1.0, level, x, y, z, vx, vy, vz, ax, ay, az))
    return first


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
    first, n = 3 * t, plan.mesh_normal[t]
    a, b = plan.mesh_vertex[plan.mesh_triangle[first]], plan.mesh_vertex[plan.mesh_triangle[first + 1]]
    c = plan.mesh_vertex[plan.mesh_triangle[first + 2]]
    part, square = nearest_part(
        a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], n[0], n[1], n[2], x, y, z, least
    )
    return feature_of_part(plan, t, part), square


@inlined
def feature_of_part(plan, t, part):
    """The feature that a part of triangle t is."""
    faces = plan.mesh_normal.shape[0]
    if part == FACE:
        return t
    if part < FIRST_CORNER:
        return faces + edge_number(plan, 3 * t + part - FIRST_EDGE)
    return 4 * faces + plan.mesh_triangle[3 * t + part - FIRST_CORNER]


@inlined
def nearest_part(ax, ay, az, bx, by, bz, cx, cy, cz, nx, ny, nz, x, y, z, least):
    """The part of a triangle a, b, c with the normal n that is nearest: as ``nearest_of_triangle``."""
    height = (x - ax) * nx + (y - ay) * ny + (z - az) * nz
    if height * height > least:
        return FACE, math.inf
    beside_c, along_ab, square = beside_edge(ax, ay, az, bx, by, bz, nx, ny, nz, x, y, z)
    if beside_c and along_ab:
        return FIRST_EDGE, height * height + square
    beside_a, along_bc, square = beside_edge(bx, by, bz, cx, cy, cz, nx, ny, nz, x, y, z)
    if beside_a and along_bc:
        return FIRST_EDGE + 1, height * height + square
    beside_b, along_ca, square = beside_edge(cx, cy, cz, ax, ay, az, nx, ny, nz, x, y, z)
    if beside_b and along_ca:
        return FIRST_EDGE + 2, height * height + square
    if not (beside_a or beside_b or beside_c):
        return FACE, height * height
    part, shortest = FIRST_CORNER, (x - ax) ** 2 + (y - ay) ** 2 + (z - az) ** 2
    square = (x - bx) ** 2 + (y - by) ** 2 + (z - bz) ** 2
    if square < shortest:
        part, shortest = FIRST_CORNER + 1, square
    square = (x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2
    if square < shortest:
        part, shortest = FIRST_CORNER + 2, square
    return part, shortest


@inlined
def beside_edge(px, py, pz, qx, qy, qz, nx, ny, nz, x, y, z):
    """Whether a point is beyond the edge from p to q, whether between its ends, how far beyond, squared."""
    ex, ey, ez = qx - px, qy - py, qz - pz
    mx, my, mz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    dx, dy, dz = x - px, y - py, z - pz
    inside = dx * mx + dy * my + dz * mz
    ahead = dx * ex + dy * ey + dz * ez
    behind = (x - qx) * ex + (y - qy) * ey + (z - qz) * ez
    return inside < 0.0, ahead >= 0.0 and behind <= 0.0, inside * inside / (ex * ex + ey * ey + ez * ez)


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
