"""The edges that end in a corner, and the face of a box that is to hold it.

A face holds a corner while the edges of its body lead away from the box.  Beside the border of a face an edge
may lead into it, and out of the box at once through the face beyond the border.  The corner then has to be
held by that other face: along the first one it would slide into the box, its edge ahead of it.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.corner import FACES, LEVEL, axis_of, height_over, past_edge, sign_of
from hapticsim.kernels.geometry.point import rotate, shape_pose, surface_pose
from hapticsim.kernels.machine_code.jit import inlined, kernel

LEAN = 1e-3  # sine of the angle by which an edge may lead into a face that holds its corner
HARDLY = 1e-4  # [m] what is no deeper under another face may be held there
BORDER = 1e-3  # [m] a corner farther from the border of its face, or deeper, is not held by the other face
SLIGHT = 1e-5  # [m] edges that are no deeper say nothing


@inlined
def face_at_border(plan, k, face, x, y, z, X):
    """The face that holds corner k, at (x, y, z) in the axes of its box: ``face``, or where an edge leads
    into it another one that is hardly deeper, and that all edges lead away from."""
    half = plan.surface_half[k]
    past = past_edge(face, x, y, z, half[0], half[1], half[2])
    return face if past < -HARDLY or past > LEVEL else face_edges_leave(plan, k, face, x, y, z, X)


@kernel
def face_edges_leave(plan, k, face, x, y, z, X):
    """``face_at_border`` of corner k where it is at one."""
    if least_away(plan, k, face, X) >= -LEAN:
        return face
    half = plan.surface_half[k]
    for other in range(1, FACES + 1):
        is_near = -HARDLY <= height_over(other, x, y, z, half[0], half[1], half[2]) <= LEVEL
        if other != face and is_near and least_away(plan, k, other, X) >= -LEAN:
            return other
    return face


@kernel
def least_away(plan, k, face, X):
    """Sine of the angle by which the edge in corner k leads away from a face that does so least."""
    least = 1.0
    for i in range(3):
        dx, dy, dz = direction_of_edge(plan, k, i, X)
        axis = axis_of(face)
        least = min(least, sign_of(face) * (dx if axis == 0 else (dy if axis == 1 else dz)))
    return least


@inlined
def direction_of_edge(plan, k, i, X):
    """Direction of edge i out of corner k in the axes of its box, three scalars."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8, _, _, _ = shape_pose(plan.row_a[k], plan.edge_pose[k], X)
    gx, gy, gz = rotate(plan.row_a[k], plan.sphere_inward[k], X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, X)
    ex, ey, ez = (a0, a3, a6) if i == 0 else ((a1, a4, a7) if i == 1 else (a2, a5, a8))
    side = math.copysign(1.0, ex * gx + ey * gy + ez * gz)
    ex, ey, ez = side * ex, side * ey, side * ez
    return r0 * ex + r3 * ey + r6 * ez, r1 * ex + r4 * ey + r7 * ez, r2 * ex + r5 * ey + r8 * ez


@kernel
def face_against_edges(plan, k, face, x, y, z, X):
    """The face that the edges in corner k, at (x, y, z) in the axes of its box, are least deep under: another
    one than ``face`` only where they are deep under this, and less under the other by more than SLIGHT."""
    half = plan.surface_half[k]
    a, b, c = half[0], half[1], half[2]
    past = past_edge(face, x, y, z, a, b, c)
    if past > 0.0 or past < -BORDER:
        return face
    deep = depth_of_edges(plan, k, face, x, y, z, X)
    if deep <= SLIGHT:
        return face
    found, least = face, deep - height_over(face, x, y, z, a, b, c) - SLIGHT
    for other in range(1, FACES + 1):
        height = height_over(other, x, y, z, a, b, c)
        is_near = past_edge(other, x, y, z, a, b, c) <= 0.0 and height >= -BORDER
        if other != face and is_near and -height < least:
            depth = depth_of_edges(plan, k, other, x, y, z, X) - height
            if depth < least:
                found, least = other, depth
    return found


@kernel
def depth_of_edges(plan, k, face, x, y, z, X):
    """How far the edges in corner k, at (x, y, z) in the axes of its box, go down from it under a face [m],
    until they are past the border of the face."""
    half, axis, deepest = plan.surface_half[k], axis_of(face), 0.0
    for i in range(3):
        dx, dy, dz = direction_of_edge(plan, k, i, X)
        down = -sign_of(face) * (dx if axis == 0 else (dy if axis == 1 else dz))
        length = 2.0 * plan.edge_half[k, i]
        if axis != 0:
            length = min(length, way_out(x, dx, half[0]))
        if axis != 1:
            length = min(length, way_out(y, dy, half[1]))
        if axis != 2:
            length = min(length, way_out(z, dz, half[2]))
        deepest = max(deepest, down * length)
    return deepest


@inlined
def way_out(x, rate, half):
    """How long it takes from x [m] to the end of the range from -half to half at this rate.

    Along an edge, with a component of its direction for the rate, that is its length up to a border [m].
    """
    if rate == 0.0:
        return math.inf
    return max(half - math.copysign(x, x * rate), 0.0) / abs(rate)
