"""From one feature of a mesh to the next, while a sphere in contact moves over it.

The distance from the surface has one slope on both sides of the border between two regions, and another
curvature, so that the piece ends there (edges.py); here the contact goes over to the region that the sphere
has come into.  It is the one whose normal is nearest to that of the feature left: across a hollow the normal
would turn at once, and the sphere touches the other side before it gets there.
"""

from __future__ import annotations

from hapticsim.codes import EVERY_TICK
from hapticsim.kernels.geometry.contact import sphere_centre
from hapticsim.kernels.geometry.edges import past_border
from hapticsim.kernels.geometry.mesh.contact import past_region
from hapticsim.kernels.geometry.mesh.features import (
    across,
    edge_number,
    ends_of,
    from_feature,
    leaves_region,
    region_margin,
)
from hapticsim.kernels.geometry.mesh.search import MESH_FEATURE, centre_in_mesh, first_place, is_on_mesh
from hapticsim.kernels.geometry.point import (
    angular_velocity,
    driven_acceleration,
    relative_motion,
    surface_pose,
)
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.rows.row_table import HELD

CAME_IN = -1e-14  # [m] by which rounding may say that a point is beside every region
TURNED = 1e-8  # square of the angle by which the normal may turn at once


def border_ahead(plan, state, ws, seconds):
    """How long a piece may be [s], at most ``seconds``, until the first border on a mesh is just passed.

    By velocity and acceleration at the start of the piece, whose frames and ws.du[0] are in ws.  That is off
    by a sixth of the jerk times t^3, mostly less than what a piece may end past a border (edges.py).
    """
    earliest = seconds
    for k in range(plan.contacts):
        if is_on_mesh(plan, k) and state.face[k] >= MESH_FEATURE and state.mode[k] == HELD:
            a, b = plan.row_a[k], plan.row_b[k]
            px, py, pz = sphere_centre(plan, k, ws.X)
            ux, uy, uz, ex, ey, ez = relative_motion(a, b, px, py, pz, ws)
            wx, wy, wz = angular_velocity(b, ws.vel)
            fx, fy, fz = driven_acceleration(plan, a, px, py, pz, ws.du[0], ws)
            gx, gy, gz = driven_acceleration(plan, b, px, py, pz, ws.du[0], ws)
            ex += fx - gx - (wy * uz - wz * uy)
            ey += fy - gy - (wz * ux - wx * uz)
            ez += fz - gz - (wx * uy - wy * ux)
            r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = surface_pose(plan, k, ws.X)
            x, y, z = px - ox, py - oy, pz - oz
            vx, vy, vz = r0 * ux + r3 * uy + r6 * uz, r1 * ux + r4 * uy + r7 * uz, r2 * ux + r5 * uy + r8 * uz
            at = leaves_region(
                plan,
                state.face[k] - MESH_FEATURE,
                -past_border(plan, k),
                r0 * x + r3 * y + r6 * z,
                r1 * x + r4 * y + r7 * z,
                r2 * x + r5 * y + r8 * z,
                vx,
                vy,
                vz,
                r0 * ex + r3 * ey + r6 * ez,
                r1 * ex + r4 * ey + r7 * ez,
                r2 * ex + r5 * ey + r8 * ez,
            )
            earliest = min(earliest, at)
    return earliest


def follow_all(plan, state, ws):
    """Give every place that has left the region of its feature, at the frames in ws, the feature that it has
    come to."""
    if plan.steps != EVERY_TICK:
        follow_between(plan, state, 0, plan.contacts, ws.X)
        return
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        if ws.idle[begin] == 0:
            follow_between(plan, state, begin, end, ws.X)


@kernel
def follow_between(plan, state, begin, end, X):
    """The same of the candidates from begin to end."""
    for k in range(begin, end):
        if is_on_mesh(plan, k) and state.face[k] >= MESH_FEATURE and past_region(plan, state, k, X) > 0.0:
            follow(plan, state, k, X)


@kernel
def follow(plan, state, k, X):
    """The same of place k; it keeps its feature where none beside it is fit, or another place holds that."""
    faces = plan.mesh_normal.shape[0]
    feature = state.face[k] - MESH_FEATURE
    x, y, z = centre_in_mesh(plan, k, X)
    _, nx, ny, nz = from_feature(plan, feature, x, y, z)
    least, found = try_feature(plan, across(plan, feature, x, y, z), x, y, z, nx, ny, nz, TURNED, -1)
    if found >= 0:
        pass  # nearly always
    elif feature < faces:
        for i in range(3):
            v = plan.mesh_triangle[3 * feature + i]
            least, found = nearest_normal(plan, v, x, y, z, nx, ny, nz, least, found)
    elif feature < 4 * faces:
        a, b = ends_of(plan, feature - faces)
        least, found = nearest_normal(plan, a, x, y, z, nx, ny, nz, least, found)
        least, found = nearest_normal(plan, b, x, y, z, nx, ny, nz, least, found)
    else:
        least, found = nearest_normal(plan, feature - 4 * faces, x, y, z, nx, ny, nz, least, found)
    if found < 0:
        return
    first = first_place(plan, k)
    for other in range(first, first + plan.edge_places[first]):
        if other != k and state.face[other] == MESH_FEATURE + found:
            return
    state.face[k] = MESH_FEATURE + found


@kernel
def nearest_normal(plan, v, x, y, z, nx, ny, nz, least, found):
    """The feature around vertex v over which a point lies, with the normal nearest to n: the square of the
    difference, and its number; ``least`` and ``found`` where none is nearer."""
    faces = plan.mesh_normal.shape[0]
    least, found = try_feature(plan, 4 * faces + v, x, y, z, nx, ny, nz, least, found)
    for i in range(plan.mesh_ring_start[v], plan.mesh_ring_start[v + 1]):
        t = plan.mesh_ring[i] // 3
        least, found = try_feature(plan, t, x, y, z, nx, ny, nz, least, found)
        for j in range(3):
            edge = faces + edge_number(plan, 3 * t + j)
            least, found = try_feature(plan, edge, x, y, z, nx, ny, nz, least, found)
            corner = 4 * faces + plan.mesh_triangle[3 * t + j]
            least, found = try_feature(plan, corner, x, y, z, nx, ny, nz, least, found)
    return least, found


@kernel
def try_feature(plan, feature, x, y, z, nx, ny, nz, least, found):
    """The same for one feature."""
    distance, mx, my, mz = from_feature(plan, feature, x, y, z)
    turn = (mx - nx) ** 2 + (my - ny) ** 2 + (mz - nz) ** 2
    if distance > 0.0 and turn < least and region_margin(plan, feature, x, y, z) >= CAME_IN:
        return turn, feature
    return least, found
