"""Where an edge of a box crosses an edge of another box, or the side of a capsule.

The twelve edges of a box are numbered: axis 4 x, y, z, plus 1 and 2 where the next two axes are on their
positive side.  The side of a capsule is edge 8 of a box without width.  Which two edges a candidate is about
stands in State.face while it is not 0 (events/edge_places.py), as EDGE_PAIR + 12 (edge of A) + edge of B.

Of two sharp edges the gap is the distance of their lines along n, which is across both and points out of B
and into A: it is negative where they have passed one another, and its row (segments.py) is smooth there.  It
counts while the nearest points lie within both edges; beyond, a corner is nearest.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.corner import EDGE
from hapticsim.kernels.geometry.point import shape_pose, surface_pose
from hapticsim.kernels.geometry.segments import PARALLEL, crossing_row, nearest_on_lines
from hapticsim.kernels.machine_code.jit import inlined, kernel

EDGES, EDGE_PAIR = 12, 16
SIDE = 8  # the edge that stands for the side of a capsule
INSET = 0.25 * EDGE  # [m] what is nearer to the end of an edge is left to the corner, which is held beyond it
NOWHERE = 1e3  # [m] gap of a candidate that no edges are near to


@inlined
def edge_line(r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz, half, edge):
    """Middle, direction (unit), direction out of the box, and half length of an edge of a box with this pose.

    half    (3,) [m] half extents.  Ten scalars, in the axes of the pose.
    """
    s = 1.0 if edge & 1 else -1.0
    t = 1.0 if edge & 2 else -1.0
    axis = edge >> 2
    if axis == 0:
        ax, ay, az, bx, by, bz, cx, cy, cz = r0, r3, r6, s * r1, s * r4, s * r7, t * r2, t * r5, t * r8
        b, c = half[1], half[2]
    elif axis == 1:
        ax, ay, az, bx, by, bz, cx, cy, cz = r1, r4, r7, s * r2, s * r5, s * r8, t * r0, t * r3, t * r6
        b, c = half[2], half[0]
    else:
        ax, ay, az, bx, by, bz, cx, cy, cz = r2, r5, r8, s * r0, s * r3, s * r6, t * r1, t * r4, t * r7
        b, c = half[0], half[1]
    return (
        ox + b * bx + c * cx,
        oy + b * by + c * cy,
        oz + b * bz + c * cz,
        ax,
        ay,
        az,
        bx + cx,
        by + cy,
        bz + cz,
        half[axis],
    )


@inlined
def has_edges(state, k):
    """True while candidate k, a place for edges, is about two of them."""
    return state.face[k] >= EDGE_PAIR


@kernel
def nearest_on_edges(plan, state, k, X):
    """Nearest points P and Q of the lines of both edges, their distance along n, n, both directions, and how
    far the points are past an end [m].

    Seventeen scalars: P, Q, distance [m], n (unit, world), a, b, past.
    """
    number = max(state.face[k] - EDGE_PAIR, 0)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = shape_pose(plan.row_a[k], plan.edge_pose[k], X)
    px, py, pz, ax, ay, az, gx, gy, gz, half_a = edge_line(
        r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz, plan.edge_half[k], number // EDGES
    )
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = surface_pose(plan, k, X)
    qx, qy, qz, bx, by, bz, hx, hy, hz, half_b = edge_line(
        r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz, plan.surface_half[k], number % EDGES
    )
    if number // EDGES == SIDE and plan.row_length[k] > 0.0:  # a capsule has no outside of its middle line
        gx = gy = gz = 0.0
    s, t, square = nearest_on_lines(px - qx, py - qy, pz - qz, ax, ay, az, bx, by, bz)
    if square < PARALLEL:
        return px, py, pz, qx, qy, qz, NOWHERE, 0.0, 0.0, 1.0, ax, ay, az, bx, by, bz, half_a + half_b
    past = max(abs(s) - half_a, abs(t) - half_b) + INSET
    px, py, pz = px + s * ax, py + s * ay, pz + s * az
    qx, qy, qz = qx + t * bx, qy + t * by, qz + t * bz
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    size = math.copysign(
        math.sqrt(nx * nx + ny * ny + nz * nz), nx * (hx - gx) + ny * (hy - gy) + nz * (hz - gz)
    )
    nx, ny, nz = nx / size, ny / size, nz / size
    distance = nx * (px - qx) + ny * (py - qy) + nz * (pz - qz)
    return px, py, pz, qx, qy, qz, distance, nx, ny, nz, ax, ay, az, bx, by, bz, past


@kernel
def edges_witness(plan, state, k, X):
    """Gap [m], normal out of B and nearest point of A's edge, or middle line, in the world, seven scalars.

    Past an end the gap is at least the way to there, so that it closes only where the edges cross.
    """
    if not has_edges(state, k):
        return NOWHERE, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    px, py, pz, _, _, _, distance, nx, ny, nz, _, _, _, _, _, _, past = nearest_on_edges(plan, state, k, X)
    phi = distance - plan.row_length[k]
    return phi if past <= 0.0 else max(phi, 0.0) + past, nx, ny, nz, px, py, pz


@kernel
def edges_gap(plan, state, k, X):
    """Gap of a place for edges [m] over where it is held, as ``contact.gap_of``; inf while it is empty."""
    return edges_witness(plan, state, k, X)[0] - state.depth[k] if has_edges(state, k) else math.inf


@kernel
def past_edges(plan, state, k, X):
    """How far the crossing of candidate k is past an end of its edges [m], below 0 within."""
    return nearest_on_edges(plan, state, k, X)[16] if has_edges(state, k) else NOWHERE


@kernel
def edges_row(plan, state, k, i, ws):
    """Write row i of ws.A and ws.s for the edges of candidate k that cross; return their gap [m]."""
    px, py, pz, qx, qy, qz, distance, nx, ny, nz, ax, ay, az, bx, by, bz, _ = nearest_on_edges(
        plan, state, k, ws.X
    )
    crossing_row(plan, k, px, py, pz, qx, qy, qz, nx, ny, nz, ax, ay, az, bx, by, bz, distance, i, ws)
    return distance - plan.row_length[k]
