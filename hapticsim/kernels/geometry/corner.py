"""A sharp corner against a box, in the axes of the box: how near it is, and which face can hold it.

At an edge of the box two faces are equally near, and rounding would choose.  A face can only hold a corner
whose own body lies on its outer side, so g, the direction from the corner into its body, decides: the bottom
corner of a puck that meets a wall on the same floor is held by the wall's side, and boxes stack flush.

The face is chosen when the corner comes in, and kept (State.face) until the contact ends: a stage of an
integrator strays, and a row that changes its normal between two stages makes energy.  A corner keeps to the
plane of its face, so that its row is smooth up to the edge and past it; beyond the edge nothing holds it.

Faces are numbered 1 to 6: -x, +x, -y, +y, -z, +z.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import inlined

EDGE = 1e-9  # [m] nearer to a face than this is on it; farther past its edge than this is off it
LEVEL = 1e-6  # [m] faces nearer to one another than this hold a corner equally well
NOT_OUTSIDE = 1e6  # [m] subtracted where a face cannot be the one a corner came through
FACES = 6


@inlined
def beyond(x, half):
    """How far a coordinate is beyond the face on its side of the box [m]."""
    return abs(x) - half


@inlined
def axis_of(face):
    """Axis (0, 1, 2) of a face."""
    return (face - 1) >> 1


@inlined
def sign_of(face):
    """1.0 for a face on the positive side of its axis, -1.0 otherwise."""
    return -1.0 if face & 1 else 1.0


@inlined
def height_over(face, x, y, z, a, b, c):
    """Distance [m] of a point from the plane of a face, negative on the box's side."""
    axis, sign = axis_of(face), sign_of(face)
    if axis == 0:
        return sign * x - a
    return sign * y - b if axis == 1 else sign * z - c


@inlined
def past_edge(face, x, y, z, a, b, c):
    """How far a point is past the nearest edge of a face [m], negative over the face."""
    axis = axis_of(face)
    i, j, k = beyond(x, a), beyond(y, b), beyond(z, c)
    if axis == 0:
        return max(j, k)
    return max(i, k) if axis == 1 else max(i, j)


@inlined
def depth_under(x, half, g):
    """Largest for the face that a corner inside the box came in through."""
    outward = math.copysign(1.0, x) * g
    return beyond(x, half) if outward > 0.0 else beyond(x, half) - NOT_OUTSIDE


@inlined
def opposed(x, half, g, least):
    """How much a face looks towards the corner's body, where it is no deeper than the least; -2 elsewhere."""
    return math.copysign(1.0, x) * g if depth_under(x, half, g) >= least - LEVEL else -2.0


@inlined
def holding_face(x, y, z, gx, gy, gz, a, b, c):
    """Face that holds a corner which comes in at (x, y, z): the least deep, among equals the most opposed.

    0 where none looks towards the corner's body.
    """
    least = max(depth_under(x, a, gx), depth_under(y, b, gy), depth_under(z, c, gz))
    if least < -0.5 * NOT_OUTSIDE:
        return 0
    i, j, k = opposed(x, a, gx, least), opposed(y, b, gy, least), opposed(z, c, gz, least)
    if i >= j and i >= k:
        return 1 + int(x > 0.0)
    if j >= k:
        return 3 + int(y > 0.0)
    return 5 + int(z > 0.0)


@inlined
def entry_axis(x, y, z, gx, gy, gz, a, b, c):
    """Axis of the face a corner inside the box came through: the least deep of those that can hold it."""
    i, j, k = depth_under(x, a, gx), depth_under(y, b, gy), depth_under(z, c, gz)
    if i >= j and i >= k:
        return 0
    return 1 if j >= k else 2


@inlined
def distance_outside(x, y, z, a, b, c):
    """Distance [m] of a free corner from the box where it is outside, as ``nearest_to_corner``; else 0."""
    dx, dy, dz = beyond(x, a), beyond(y, b), beyond(z, c)
    dx = dx if dx > EDGE else 0.0
    dy = dy if dy > EDGE else 0.0
    dz = dz if dz > EDGE else 0.0
    return math.sqrt(dx * dx + dy * dy + dz * dz)


@inlined
def nearest_to_corner(x, y, z, gx, gy, gz, a, b, c):
    """Signed distance [m] and outward normal of a free corner from the box: distance, nx, ny, nz."""
    dx, dy, dz = beyond(x, a), beyond(y, b), beyond(z, c)
    dx = math.copysign(dx, x) if dx > EDGE else 0.0
    dy = math.copysign(dy, y) if dy > EDGE else 0.0
    dz = math.copysign(dz, z) if dz > EDGE else 0.0
    if dx != 0.0 or dy != 0.0 or dz != 0.0:
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        return distance, dx / distance, dy / distance, dz / distance
    axis = entry_axis(x, y, z, gx, gy, gz, a, b, c)
    if axis == 0:
        return beyond(x, a), math.copysign(1.0, x), 0.0, 0.0
    if axis == 1:
        return beyond(y, b), 0.0, math.copysign(1.0, y), 0.0
    return beyond(z, c), 0.0, 0.0, math.copysign(1.0, z)
