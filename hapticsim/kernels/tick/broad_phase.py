"""Which pairs of shapes are so far apart that they cannot touch soon: the broad phase of collision detection.

Every shape has a bounding volume on its body, a ball and a box about one middle; no point of two shapes is
nearer than their volumes are.  Where a piece of a tick begins, a pair is far where its volumes are farther
apart than twice what edges are looked at from (edge_places.py).  Its candidates then have that distance,
which is no more than their gaps, for a guard, until a trial step brings the volumes near.  So nothing depends
on how fast shapes become within a piece.
"""

from __future__ import annotations

import math

from hapticsim.codes import EVERY_TICK, ON_PLANE, ON_RIM, ON_SUPPORT
from hapticsim.kernels.events.edge_places import REACH, fastest
from hapticsim.kernels.geometry.point import shape_pose, surface_pose
from hapticsim.kernels.machine_code.jit import kernel

NEAR = 1e-3  # [m] a pair that a trial step finds no farther apart than this is looked at in full


def find_far_pairs(plan, ws, begins):
    """Write ws.apart at the frames in ws: of the candidates of pairs that are far how far [m], of others 0.

    Where every tick is a time step, of the first candidate of each pair alone.

    begins   1 where a piece begins: the speeds in ws say what is far.  0 after a trial step: of what was far
    that which came near is no longer.
    """
    for v in range(plan.volume_frame.size):
        r0, r1, r2, r3, r4, r5, r6, r7, r8, x, y, z = shape_pose(
            plan.volume_frame[v], plan.volume_pose[v], ws.X
        )
        X = ws.volume_X[v]
        X[0], X[1], X[2], X[3], X[4], X[5] = r0, r1, r2, r3, r4, r5
        X[6], X[7], X[8], X[9], X[10], X[11] = r6, r7, r8, x, y, z
        if begins == 1:
            ws.volume_speed[v] = fastest(plan.volume_frame[v], x, y, z, plan.volume_radius[v], ws)
    for p in range(plan.pair_a.size):
        first, a, b = plan.pair_first[p], plan.pair_a[p], plan.pair_b[p]
        limit = NEAR
        if begins == 1:
            speed = ws.volume_speed[a] + (ws.volume_speed[b] if b >= 0 else 0.0)
            limit = 2.0 * (REACH + 2.0 * plan.tick_s * speed)
        elif ws.apart[first] == 0.0:
            continue
        apart = volumes_apart(plan, first, a, b, limit, ws)
        if apart <= limit:
            apart = 0.0
        elif begins == 0:
            continue
        end = first + 1 if plan.steps == EVERY_TICK else plan.pair_first[p + 1]
        for k in range(first, end):
            ws.apart[k] = apart


@kernel
def volumes_apart(plan, first, a, b, limit, ws):
    """How far apart [m] the volumes of the pair with this first candidate are at least; more than ``limit``
    is not looked for.

    b   -1: the surface is a plane.
    """
    A, radius = ws.volume_X[a], plan.volume_radius[a]
    if b < 0:
        kind = plan.surface_kind[first]
        if kind != ON_PLANE and kind != ON_RIM and kind != ON_SUPPORT:
            return 0.0
        _, _, nx, _, _, ny, _, _, nz, ox, oy, oz = surface_pose(plan, first, ws.X)
        return nx * (A[9] - ox) + ny * (A[10] - oy) + nz * (A[11] - oz) - radius
    B, other = ws.volume_X[b], plan.volume_radius[b]
    x, y, z = A[9] - B[9], A[10] - B[10], A[11] - B[11]
    apart = math.sqrt(x * x + y * y + z * z) - radius - other
    if apart <= limit:
        apart = max(apart, from_box(B, plan.volume_half[b], x, y, z) - radius)
    if apart <= limit:
        apart = max(apart, from_box(A, plan.volume_half[a], -x, -y, -z) - other)
    return apart


@kernel
def from_box(X, half, x, y, z):
    """Distance [m] from a box with the rotation in X of a point at (x, y, z) from its middle, 0 inside."""
    dx = max(abs(X[0] * x + X[3] * y + X[6] * z) - half[0], 0.0)
    dy = max(abs(X[1] * x + X[4] * y + X[7] * z) - half[1], 0.0)
    dz = max(abs(X[2] * x + X[5] * y + X[8] * z) - half[2], 0.0)
    return math.sqrt(dx * dx + dy * dy + dz * dz)
