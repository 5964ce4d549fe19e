"""Gap of a sphere against a plane, a box, a capsule or a cylinder, and the constraint row that holds it.

A corner is a sphere of radius 0; a capsule against a flat face is its two end spheres.  With c the centre, o
and R the pose of the surface and x = R'(c - o) the centre in its axes, the gap is phi = dist(x) - radius, and

    row       A_r = n . (V_r at c - V_r of B at c)
    phi_dot  = n . (v_c - v_B at c) = A u
    phi_ddot = n . (a_c - a_B at c) - 2 n . (w_B x v) + (|P x_dot|^2 - (n . x_dot)^2) / dist

where v = v_c - v_B at c = R x_dot, and P keeps the axes in which the nearest point of a box sits on an edge
or corner (the surface is curved there: its gap has a Hessian; on a face the last term is zero).  Of a capsule
dist is that from its middle line, a segment along z, and radius the sum of both radii; P keeps x and y beside
the segment, and all axes past an end of it.
"""

from __future__ import annotations

import math

from hapticsim.codes import (
    ON_BOX,
    ON_CAPSULE,
    ON_CROSSING,
    ON_CYLINDER,
    ON_EDGES,
    ON_HULLS,
    ON_MESH,
    ON_PLANE,
    ON_RIM,
    ON_SIDE,
    ON_SUPPORT,
)
from hapticsim.kernels.geometry.box_edges import edges_gap, edges_row, edges_witness, past_edges
from hapticsim.kernels.geometry.corner import (
    FACES,
    axis_of,
    distance_outside,
    height_over,
    holding_face,
    nearest_to_corner,
    sign_of,
)
from hapticsim.kernels.geometry.corner_edges import face_at_border
from hapticsim.kernels.geometry.cylinder import bend_of_cylinder, nearest_on_cylinder
from hapticsim.kernels.geometry.hull_contact import hulls_gap, hulls_row, hulls_witness, past_hulls
from hapticsim.kernels.geometry.mesh.contact import mesh_row, mesh_witness
from hapticsim.kernels.geometry.point import add_point_row, clear_row, place, rotate, surface_pose
from hapticsim.kernels.geometry.rim import rim_row, rim_witness
from hapticsim.kernels.geometry.segments import past_ends, segments_row, segments_witness
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.units import quadric_witness, write_quadric_row

OFF_FACE = 2  # axes clamped from which on a box is touched at an edge


@inlined
def nearest_on_box(x, y, z, a, b, c):
    """Signed distance and outward normal (box axes) of a point from a box of half extents a, b, c.

    Returns distance, nx, ny, nz and three flags of the axes in which the nearest point is clamped.  Inside,
    the face that is least deep is taken.
    """
    dx = x - a if x > a else (x + a if x < -a else 0.0)
    dy = y - b if y > b else (y + b if y < -b else 0.0)
    dz = z - c if z > c else (z + c if z < -c else 0.0)
    fx, fy, fz = dx != 0.0, dy != 0.0, dz != 0.0
    count = int(fx) + int(fy) + int(fz)
    if count >= OFF_FACE:
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if distance > 1e-9:
            return distance, dx / distance, dy / distance, dz / distance, fx, fy, fz
    ex, ey, ez = abs(x) - a, abs(y) - b, abs(z) - c
    if ex >= ey and ex >= ez:
        return ex, math.copysign(1.0, x), 0.0, 0.0, True, False, False
    if ey >= ez:
        return ey, 0.0, math.copysign(1.0, y), 0.0, False, True, False
    return ez, 0.0, 0.0, math.copysign(1.0, z), False, False, True


@inlined
def roundness(plan, k):
    """Radius of the surface of candidate k about the line from which distances are taken [m]."""
    return plan.surface_half[k, 0] if ON_CAPSULE <= plan.surface_kind[k] < ON_EDGES else 0.0


@inlined
def nearest_on_segment(x, y, z, half):
    """Distance and direction of a point from a segment along z, and three flags as ``nearest_on_box``.

    The direction is that of z where the point lies on the segment itself.
    """
    dz = z - half if z > half else (z + half if z < -half else 0.0)
    distance = math.sqrt(x * x + y * y + dz * dz)
    if distance > 1e-9:
        return distance, x / distance, y / distance, dz / distance, True, True, dz != 0.0 or half == 0.0
    return 0.0, 0.0, 0.0, 1.0, False, False, True


@inlined
def sphere_centre(plan, k, X):
    """Centre of the sphere of candidate k in the world, three scalars."""
    return place(plan.row_a[k], plan.row_point_a[k], X)


@inlined
def is_corner_on_box(plan, k):
    """True for a sharp corner against a box: it is held by one face, and only over that face."""
    return plan.surface_kind[k] == ON_BOX and plan.row_length[k] == 0.0


@inlined
def inward(plan, k, X):
    """Direction from a corner into its own body, world axes, three scalars."""
    return rotate(plan.row_a[k], plan.sphere_inward[k], X)


@inlined
def centre_in_box(plan, k, X):
    """Centre of the sphere of candidate k in the axes of its box, three scalars."""
    cx, cy, cz = sphere_centre(plan, k, X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = surface_pose(plan, k, X)
    x, y, z = cx - ox, cy - oy, cz - oz
    return r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z


@inlined
def corner_in_box(plan, k, X):
    """A corner in the axes of its box: its position and the direction into its body, six scalars."""
    x, y, z = centre_in_box(plan, k, X)
    gx, gy, gz = inward(plan, k, X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, X)
    return (
        x,
        y,
        z,
        r0 * gx + r3 * gy + r6 * gz,
        r1 * gx + r4 * gy + r7 * gz,
        r2 * gx + r5 * gy + r8 * gz,
    )


@kernel
def face_of(plan, state, k, X):
    """Face that holds the corner of candidate k, or would hold it if it came in here; 0 for none."""
    face = state.face[k]
    if 0 < face <= FACES:
        return face
    x, y, z, gx, gy, gz = corner_in_box(plan, k, X)
    half = plan.surface_half[k]
    face = holding_face(x, y, z, gx, gy, gz, half[0], half[1], half[2])
    return face_at_border(plan, k, face, x, y, z, X) if face > 0 else 0


@kernel
def over_face(plan, k, face, X):
    """Gap and normal of a corner to the plane of a face of its box, and the rest, as ``witness``."""
    cx, cy, cz = sphere_centre(plan, k, X)
    x, y, z = centre_in_box(plan, k, X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, X)
    half = plan.surface_half[k]
    height = height_over(face, x, y, z, half[0], half[1], half[2])
    axis, n = axis_of(face), sign_of(face)
    if axis == 0:
        return height, n * r0, n * r3, n * r6, cx, cy, cz, True, False, False
    if axis == 1:
        return height, n * r1, n * r4, n * r7, cx, cy, cz, False, True, False
    return height, n * r2, n * r5, n * r8, cx, cy, cz, False, False, True


@kernel
def witness(plan, state, k, X):
    """Gap, normal (world), centre of the sphere (world) and clamped-axis flags of candidate k.

    X   (nf, 12) poses of the frames.
    Returns phi [m], nx, ny, nz, cx, cy, cz, fx, fy, fz: of a corner that a face holds, to that face.
    """
    if plan.surface_kind[k] == ON_CROSSING:
        phi, nx, ny, nz, cx, cy, cz = segments_witness(plan, k, X)
        return phi, nx, ny, nz, cx, cy, cz, False, False, True
    if plan.surface_kind[k] == ON_EDGES:
        phi, nx, ny, nz, cx, cy, cz = edges_witness(plan, state, k, X)
        return phi, nx, ny, nz, cx, cy, cz, False, False, True
    if plan.surface_kind[k] == ON_HULLS:
        phi, nx, ny, nz, cx, cy, cz = hulls_witness(plan, state, k, X)
        return phi, nx, ny, nz, cx, cy, cz, False, False, True
    if plan.surface_kind[k] == ON_MESH:
        phi, nx, ny, nz, cx, cy, cz, _ = mesh_witness(plan, state, k, X)
        return phi, nx, ny, nz, cx, cy, cz, False, False, True
    if plan.surface_kind[k] == ON_RIM:
        phi, nx, ny, nz, cx, cy, cz = rim_witness(plan, k, X)
        return phi, nx, ny, nz, cx, cy, cz, False, False, True
    if plan.surface_kind[k] >= ON_SUPPORT:
        phi, nx, ny, nz, cx, cy, cz = quadric_witness(plan, k, X)
        return phi, nx, ny, nz, cx, cy, cz, False, False, True
    return witness_beside(plan, state, k, surface_pose(plan, k, X), X)


@inlined
def witness_beside(plan, state, k, pose, X):
    """The same beside a surface with this pose (12 scalars), of what has one sphere and one surface."""
    cx, cy, cz = sphere_centre(plan, k, X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = pose
    x, y, z = cx - ox, cy - oy, cz - oz
    if plan.surface_kind[k] == ON_PLANE:
        distance = r2 * x + r5 * y + r8 * z
        return distance - plan.row_length[k], r2, r5, r8, cx, cy, cz, False, False, True
    half, face = plan.surface_half[k], state.face[k]
    if 0 < face <= FACES:
        return over_face(plan, k, face, X)
    x, y, z = r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z
    if plan.surface_kind[k] == ON_CAPSULE or plan.surface_kind[k] == ON_SIDE:
        distance, nx, ny, nz, fx, fy, fz = nearest_on_segment(x, y, z, half[2])
        distance -= half[0]
    elif plan.surface_kind[k] == ON_CYLINDER:
        distance, nx, ny, nz = nearest_on_cylinder(x, y, z, half[0], half[2])
        fx, fy, fz = math.hypot(x, y) > half[0], False, abs(z) > half[2]
    elif face == 0 and is_corner_on_box(plan, k):
        gx, gy, gz = inward(plan, k, X)
        gx, gy, gz = r0 * gx + r3 * gy + r6 * gz, r1 * gx + r4 * gy + r7 * gz, r2 * gx + r5 * gy + r8 * gz
        distance, nx, ny, nz = nearest_to_corner(x, y, z, gx, gy, gz, half[0], half[1], half[2])
        fx, fy, fz = nx != 0.0, ny != 0.0, nz != 0.0
    else:
        distance, nx, ny, nz, fx, fy, fz = nearest_on_box(x, y, z, half[0], half[1], half[2])
    return (
        distance - plan.row_length[k],
        r0 * nx + r1 * ny + r2 * nz,
        r3 * nx + r4 * ny + r5 * nz,
        r6 * nx + r7 * ny + r8 * nz,
        cx,
        cy,
        cz,
        fx,
        fy,
        fz,
    )


@inlined
def height_over_plane(plan, k, X):
    """How far the sphere of candidate k is from its plane [m]."""
    cx, cy, cz = sphere_centre(plan, k, X)
    _, _, nx, _, _, ny, _, _, nz, ox, oy, oz = surface_pose(plan, k, X)
    return nx * (cx - ox) + ny * (cy - oy) + nz * (cz - oz) - plan.row_length[k]


def gap_of(plan, state, k, X):
    """Gap of candidate k [m] over where it is held, negative when deeper.

    Past the end of a side it grows with the way to there, so that what another candidate holds never closes.
    """
    if plan.surface_kind[k] == ON_PLANE:
        return height_over_plane(plan, k, X) - state.depth[k]
    if plan.surface_kind[k] == ON_EDGES:
        return edges_gap(plan, state, k, X)
    if plan.surface_kind[k] == ON_HULLS:
        return hulls_gap(plan, state, k, X)
    if has_ends(plan, k):
        phi, past = witness(plan, state, k, X)[0], past_side(plan, state, k, X)
        return (phi if past <= 0.0 else max(phi, 0.0) + past) - state.depth[k]
    if state.face[k] == 0 and is_corner_on_box(plan, k):
        x, y, z = centre_in_box(plan, k, X)
        half = plan.surface_half[k]
        distance = distance_outside(x, y, z, half[0], half[1], half[2])
        if distance > 0.0:
            return distance - state.depth[k]
    return witness(plan, state, k, X)[0] - state.depth[k]


@inlined
def is_between_features(plan, k):
    """True where candidate k is about two sides, edges or features, those of a mesh, a rim, or a shape that
    ``quadric.py`` is about."""
    kind = plan.surface_kind[k]
    return ON_CROSSING <= kind <= ON_MESH or kind >= ON_RIM


@inlined
def has_ends(plan, k):
    """True where candidate k is about a side, edges or features: past their ends another one holds."""
    return ON_SIDE <= plan.surface_kind[k] <= ON_HULLS


@kernel
def past_side(plan, state, k, X):
    """How far candidate k, which has ends, is past them [m], below 0 within."""
    if plan.surface_kind[k] == ON_EDGES:
        return past_edges(plan, state, k, X)
    if plan.surface_kind[k] == ON_HULLS:
        return past_hulls(plan, state, k, X)
    if plan.surface_kind[k] == ON_CROSSING:
        return past_ends(plan, k, X)
    _, _, z = centre_in_box(plan, k, X)
    return abs(z) - plan.surface_half[k, 2]


@inlined
def held_by(plan, state, k, X):
    """What holds the sphere of candidate k when its row is imposed: as ``witness``, a corner by its face."""
    if is_corner_on_box(plan, k):
        face = face_of(plan, state, k, X)
        if face > 0:
            return over_face(plan, k, face, X)
    return witness(plan, state, k, X)


@kernel
def other_row(plan, state, kind, k, i, ws):
    """The same where another than a sphere or a corner touches, or on another surface than a plane, a box, a
    capsule or a cylinder."""
    if kind == ON_CROSSING:
        return segments_row(plan, k, i, ws)
    if kind == ON_EDGES:
        return edges_row(plan, state, k, i, ws)
    if kind == ON_HULLS:
        return hulls_row(plan, state, k, i, ws)
    if kind == ON_MESH:
        return mesh_row(plan, state, k, i, ws)
    if kind == ON_RIM:
        return rim_row(plan, k, i, ws)
    return write_quadric_row(plan, k, i, ws)


def contact_row(plan, state, k, i, ws):
    """Write row i of ws.A and ws.s for candidate k from the frames in ws; return its gap [m] over where it is
    held.

    A udot + s is the second derivative of the gap; A u its first.
    """
    clear_row(plan, k, i, ws)
    kind = plan.surface_kind[k]
    if kind >= ON_CROSSING and kind != ON_CYLINDER:
        return other_row(plan, state, kind, k, i, ws) - state.depth[k]
    phi, nx, ny, nz, cx, cy, cz, fx, fy, fz = held_by(plan, state, k, ws.X)
    tx, ty, tz = add_point_row(plan, plan.row_a[k], plan.row_b[k], cx, cy, cz, nx, ny, nz, ws.A, ws.s, i, ws)
    if kind == ON_CYLINDER:
        r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, ws.X)
        vx, vy, vz = r0 * tx + r3 * ty + r6 * tz, r1 * tx + r4 * ty + r7 * tz, r2 * tx + r5 * ty + r8 * tz
        x, y, z = centre_in_box(plan, k, ws.X)
        half = plan.surface_half[k]
        ws.s[i] += bend_of_cylinder(x, y, z, half[0], half[2], vx, vy, vz)
    elif int(fx) + int(fy) + int(fz) >= OFF_FACE:
        r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, ws.X)
        x, y, z = r0 * tx + r3 * ty + r6 * tz, r1 * tx + r4 * ty + r7 * tz, r2 * tx + r5 * ty + r8 * tz
        n_dot = nx * tx + ny * ty + nz * tz
        curved = x * x * fx + y * y * fy + z * z * fz - n_dot * n_dot
        ws.s[i] += curved / (phi + plan.row_length[k] + roundness(plan, k))
    ws.b[i] = 0.0
    return phi - state.depth[k]
