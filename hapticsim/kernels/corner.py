"""A sharp corner against a box, in the axes of the box: how near it is, and which face holds it.

At an edge of the box two faces are equally near, and rounding would choose.  A face can only hold a corner
whose own body lies on its outer side, so g, the direction from the corner into its body, decides: the bottom
corner of a puck that meets a wall on the same floor is held by the wall's side, and boxes stack flush.

A corner keeps to the plane of its face, so that its row is smooth up to the edge and past it; beyond the edge
nothing holds it.
"""

from __future__ import annotations

import math

from hapticsim.kernels.jit import inlined

EDGE = 1e-9  # [m] nearer to a face than this is on it; farther past its edge than this is off it
LEVEL = 1e-6  # [m] faces nearer than this hold a corner equally well; stages of an integrator stray that far
NOT_OUTSIDE = 1e6  # [m] subtracted where a face cannot be the one a corner came through


@inlined
def beyond(x, half):
    """How far a coordinate is beyond the face on its side of the box [m]."""
    return abs(x) - half


@inlined
def holding_cost(x, half, g):
    """Least for the face that holds a corner in contact: the nearest, among equals the most opposed."""
    outward = math.copysign(1.0, x) * g
    distance = abs(beyond(x, half))
    return -outward if outward > 0.0 and distance <= LEVEL else distance


@inlined
def holding_axis(x, y, z, gx, gy, gz, a, b, c):
    """Axis (0, 1, 2) of the face that holds a corner at (x, y, z) touching a box of half extents a, b, c."""
    i, j, k = holding_cost(x, a, gx), holding_cost(y, b, gy), holding_cost(z, c, gz)
    if i <= j and i <= k:
        return 0
    return 1 if j <= k else 2


@inlined
def past_edge(axis, x, y, z, a, b, c):
    """How far a corner is past the nearest edge of the face of an axis [m], negative over the face."""
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
def entry_axis(x, y, z, gx, gy, gz, a, b, c):
    """Axis of the face a corner inside the box came through: the least deep of those that can hold it."""
    i, j, k = depth_under(x, a, gx), depth_under(y, b, gy), depth_under(z, c, gz)
    if i >= j and i >= k:
        return 0
    return 1 if j >= k else 2


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
