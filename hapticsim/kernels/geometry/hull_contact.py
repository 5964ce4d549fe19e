"""Where two convex solids touch: a vertex of one on a face of the other, or an edge of each across.

Which features a candidate is about stands in State.face while it is not 0 (events/hull_places.py), as
EDGE_PAIR + (kind HULL + i) HULL + j: edge i of A across edge j of B, vertex i of A on face j of B, or
vertex i of B on face j of A.

The gap of a vertex is its height over the plane of the face, that of two edges the distance of their lines
along n, which is across both and points out of B and into A.  Both are smooth, below zero inside, and count
while the vertex is over the face, or the nearest points lie within both edges; beyond, another pair of
features is nearest.  A vertex may be past the border of its face by EDGE, and an edge ends INSET before its
end, so that where a vertex comes to a border one of both holds.

The side of a capsule is an edge without faces, with a radius around it; its ends, and vertices on its side,
have candidates of their own.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, INSET, NOWHERE
from hapticsim.kernels.geometry.corner import EDGE
from hapticsim.kernels.geometry.point import add_point_row, shape_pose, surface_pose
from hapticsim.kernels.geometry.segments import PARALLEL, crossing_row, nearest_on_lines
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HULL
from hapticsim.kernels.units import hull_contact

ACROSS, VERTEX_OF_A, VERTEX_OF_B = range(3)  # kinds of pairs of features


@inlined
def feature_number(kind, i, j):
    """The number of a pair of features."""
    return (kind * HULL + i) * HULL + j


@inlined
def has_features(state, k):
    """True while candidate k, a place for two hulls, is about features of both."""
    return state.face[k] >= EDGE_PAIR


@inlined
def features_of(state, k):
    """Kind, i and j of candidate k."""
    number = max(state.face[k] - EDGE_PAIR, 0)
    return number // (HULL * HULL), number // HULL % HULL, number % HULL


@inlined
def turned(r0, r1, r2, r3, r4, r5, r6, r7, r8, x, y, z):
    """R x."""
    return r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z


@inlined
def turned_back(r0, r1, r2, r3, r4, r5, r6, r7, r8, x, y, z):
    """R' x."""
    return r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z


@kernel
def past_border(plan, face, x, y, z):
    """How far a point, in the axes of the hull, is past the border of a face [m], negative over it."""
    past = -math.inf
    for i in range(plan.hull_border_start[face], plan.hull_border_start[face + 1]):
        m = plan.hull_border[i]
        past = max(past, m[0] * x + m[1] * y + m[2] * z - m[3])
    return past


@kernel
def on_face(plan, vertex, face, shape, surface):
    """A vertex of a hull with the pose ``shape`` beside a face of one with the pose ``surface`` (12 each).

    Returns the vertex and the normal of the face in the world, the height [m] and how far it is past the
    border [m], eight scalars.
    """
    v, n = plan.hull_vertex[vertex], plan.hull_face[face]
    s0, s1, s2, s3, s4, s5, s6, s7, s8, ox, oy, oz = shape
    px, py, pz = turned(s0, s1, s2, s3, s4, s5, s6, s7, s8, v[0], v[1], v[2])
    px, py, pz = px + ox, py + oy, pz + oz
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = surface
    x, y, z = turned_back(r0, r1, r2, r3, r4, r5, r6, r7, r8, px - ox, py - oy, pz - oz)
    nx, ny, nz = turned(r0, r1, r2, r3, r4, r5, r6, r7, r8, n[0], n[1], n[2])
    height = n[0] * x + n[1] * y + n[2] * z - n[3]
    return px, py, pz, nx, ny, nz, height, past_border(plan, face, x, y, z) - EDGE


@kernel
def line_of(plan, edge, pose):
    """Middle, direction and direction out of the hull of an edge in the world, and the half length
    [m] along which it touches."""
    e = plan.hull_edge[edge]
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = pose
    px, py, pz = turned(r0, r1, r2, r3, r4, r5, r6, r7, r8, e[0], e[1], e[2])
    ax, ay, az = turned(r0, r1, r2, r3, r4, r5, r6, r7, r8, e[3], e[4], e[5])
    gx, gy, gz = turned(r0, r1, r2, r3, r4, r5, r6, r7, r8, -e[7] - e[10], -e[8] - e[11], -e[9] - e[12])
    return px + ox, py + oy, pz + oz, ax, ay, az, gx, gy, gz, e[13]


def nearest_of_features(plan, state, k, X):
    """Nearest points P of A and Q of B, their distance along n, n, both directions of edges, and how far they
    are past an end or a border [m].

    Seventeen scalars: P, Q, distance [m], n (unit, world, out of B), a, b, past.
    """
    kind, i, j = features_of(state, k)
    pose_a, pose_b = shape_pose(plan.row_a[k], plan.edge_pose[k], X), surface_pose(plan, k, X)
    a, b = plan.hull_a[k], plan.hull_b[k]
    if kind == VERTEX_OF_A:
        px, py, pz, nx, ny, nz, h, past = on_face(
            plan, plan.hull_corners[a] + i, plan.hull_faces[b] + j, pose_a, pose_b
        )
        qx, qy, qz = px - h * nx, py - h * ny, pz - h * nz
        return px, py, pz, qx, qy, qz, h, nx, ny, nz, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, past
    if kind == VERTEX_OF_B:
        qx, qy, qz, nx, ny, nz, h, past = on_face(
            plan, plan.hull_corners[b] + i, plan.hull_faces[a] + j, pose_b, pose_a
        )
        px, py, pz = qx - h * nx, qy - h * ny, qz - h * nz
        return px, py, pz, qx, qy, qz, h, -nx, -ny, -nz, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, past
    px, py, pz, ax, ay, az, gx, gy, gz, half_a = line_of(plan, plan.hull_edges[a] + i, pose_a)
    qx, qy, qz, bx, by, bz, hx, hy, hz, half_b = line_of(plan, plan.hull_edges[b] + j, pose_b)
    s, t, square = nearest_on_lines(px - qx, py - qy, pz - qz, ax, ay, az, bx, by, bz)
    if square < PARALLEL:
        return px, py, pz, qx, qy, qz, NOWHERE, 0.0, 0.0, 1.0, ax, ay, az, bx, by, bz, half_a + half_b
    past = max(abs(s) - half_a, abs(t) - half_b) + INSET
    px, py, pz = px + s * ax, py + s * ay, pz + s * az
    qx, qy, qz = qx + t * bx, qy + t * by, qz + t * bz
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    out = nx * (hx - gx) + ny * (hy - gy) + nz * (hz - gz)
    size = math.copysign(math.sqrt(nx * nx + ny * ny + nz * nz), out)
    nx, ny, nz = nx / size, ny / size, nz / size
    distance = nx * (px - qx) + ny * (py - qy) + nz * (pz - qz)
    return px, py, pz, qx, qy, qz, distance, nx, ny, nz, ax, ay, az, bx, by, bz, past


@inlined
def hulls_witness(plan, state, k, X):
    """Gap [m], normal out of B and nearest point of A in the world, seven scalars.

    Past an end or a border the gap is at least the way to there, so that it closes only where they meet.
    """
    if not has_features(state, k):
        return NOWHERE, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    px, py, pz, _, _, _, phi, nx, ny, nz, _, _, _, _, _, _, past = hull_contact(plan, state, k, X)
    phi -= plan.row_length[k]
    return phi if past <= 0.0 else max(phi, 0.0) + past, nx, ny, nz, px, py, pz


@inlined
def hulls_place(plan, state, k, X):
    """The gap [m] of ``hulls_witness``, and how far the features are past where they meet [m], below 0
    within."""
    if not has_features(state, k):
        return NOWHERE, NOWHERE
    contact = hull_contact(plan, state, k, X)
    phi, past = contact[6] - plan.row_length[k], contact[16]
    return phi if past <= 0.0 else max(phi, 0.0) + past, past


@inlined
def hulls_gap(plan, state, k, X):
    """Gap of a place for two hulls [m] over where it is held, as ``contact.gap_of``; inf where empty."""
    return hulls_witness(plan, state, k, X)[0] - state.depth[k] if has_features(state, k) else math.inf


@inlined
def past_hulls(plan, state, k, X):
    """How far the features of candidate k are past where they meet [m], below 0 within."""
    return hull_contact(plan, state, k, X)[16] if has_features(state, k) else NOWHERE


@kernel
def hulls_row(plan, state, k, i, ws):
    """Write row i of ws.A and ws.s for the features of candidate k; return their gap [m]."""
    px, py, pz, qx, qy, qz, phi, nx, ny, nz, ax, ay, az, bx, by, bz, _ = hull_contact(plan, state, k, ws.X)
    a, b = plan.row_a[k], plan.row_b[k]
    kind, _, _ = features_of(state, k)
    if kind == ACROSS:
        crossing_row(plan, k, px, py, pz, qx, qy, qz, nx, ny, nz, ax, ay, az, bx, by, bz, phi, i, ws)
    elif kind == VERTEX_OF_A:
        add_point_row(plan, a, b, px, py, pz, nx, ny, nz, ws.A, ws.s, i, ws)
    else:
        add_point_row(plan, b, a, qx, qy, qz, -nx, -ny, -nz, ws.A, ws.s, i, ws)
    ws.b[i] = 0.0
    return phi - plan.row_length[k]
