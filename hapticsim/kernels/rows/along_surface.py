"""Rows along the surface where a contact touches: of what sticks, and of what slides.

With c the centre of the sphere (a corner has the radius 0), n the normal of the surface, and rho = -r n from
c to where it touches,

    v = v_A - v_B at c + (w_A - w_B) x rho

is the velocity of the material points that touch there, against one another.  What sticks has t . v = 0 along
two tangents; what slides is held back along v (Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 11).
Where the surface is round, n turns against B as c moves over it: by the velocity of c across n and across the
line, or the point, that distances are taken from, by the distance from there (Montana 1988).
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_PLANE, ON_SIDE
from hapticsim.kernels.geometry.contact import (
    OFF_FACE,
    held_by,
    is_corner_on_box,
    roundness,
    surface_pose,
)
from hapticsim.kernels.geometry.corner import FACES
from hapticsim.kernels.geometry.point import (
    add_partial,
    angular_velocity,
    clear_row,
    cross_dot,
    motion,
    relative_motion,
    rolling_remainder,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.quiet import is_quiet

ASKEW = 0.6  # cosine to the x axis up to which this axis gives the first tangent


@inlined
def has_slip_rows(plan, state, k):
    """Whether contact k has rows along the surface: a sphere on a plane, a box, a sphere or a capsule, or a
    corner on a flat face."""
    if is_corner_on_box(plan, k):
        return 0 < state.face[k] <= FACES
    return plan.surface_kind[k] <= ON_SIDE


@inlined
def first_tangent(nx, ny, nz):
    """A unit vector across a unit vector."""
    if abs(nx) < ASKEW:
        size = math.sqrt(ny * ny + nz * nz)
        return 0.0, -nz / size, ny / size
    size = math.sqrt(nx * nx + nz * nz)
    return nz / size, 0.0, -nx / size


@inlined
def both_tangents(nx, ny, nz):
    """Two unit vectors across a unit vector, and across one another, six scalars."""
    tx, ty, tz = first_tangent(nx, ny, nz)
    return tx, ty, tz, ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx


@kernel
def normal_and_centre(plan, state, k, X):
    """Normal of the surface of contact k, and the centre of its sphere, in the world, six scalars."""
    _, nx, ny, nz, cx, cy, cz, _, _, _ = held_by(plan, state, k, X)
    return nx, ny, nz, cx, cy, cz


@kernel
def slip_velocity(plan, state, k, ws):
    """v [m/s] of contact k along its surface, in the world, three scalars; at the frames in ws."""
    nx, ny, nz, x, y, z = normal_and_centre(plan, state, k, ws.X)
    r = plan.row_length[k]
    x, y, z = x - r * nx, y - r * ny, z - r * nz
    ax, ay, az, _, _, _ = motion(plan.row_a[k], x, y, z, ws)
    bx, by, bz, _, _, _ = motion(plan.row_b[k], x, y, z, ws)
    vx, vy, vz = ax - bx, ay - by, az - bz
    along = nx * vx + ny * vy + nz * vz
    return vx - along * nx, vy - along * ny, vz - along * nz


@inlined
def speed_along(plan, state, k, ws):
    """|v| [m/s] of the same."""
    x, y, z = slip_velocity(plan, state, k, ws)
    return math.sqrt(x * x + y * y + z * z)


@kernel
def remainder_along(plan, state, k, tx, ty, tz, ws):
    """s of the row of contact k along t, which is fixed in B or nothing slips: the rate of t . v is
    row . udot + s."""
    r = plan.row_length[k]
    nx, ny, nz, x, y, z = normal_and_centre(plan, state, k, ws.X)
    a, b = plan.row_a[k], plan.row_b[k]
    remainder = rolling_remainder(a, b, x, y, z, -r * nx, -r * ny, -r * nz, tx, ty, tz, ws)
    if r > 0.0 and plan.surface_kind[k] != ON_PLANE:
        px, py, pz = turning_normal(plan, state, k, ws)
        ax, ay, az = angular_velocity(a, ws.vel)
        bx, by, bz = angular_velocity(b, ws.vel)
        remainder -= r * cross_dot(ax - bx, ay - by, az - bz, px, py, pz, tx, ty, tz)
    return remainder


@kernel
def turning_normal(plan, state, k, ws):
    """Rate of the normal of contact k against body B [1/s], in the world, three scalars."""
    phi, nx, ny, nz, cx, cy, cz, fx, fy, fz = held_by(plan, state, k, ws.X)
    if int(fx) + int(fy) + int(fz) < OFF_FACE:
        return 0.0, 0.0, 0.0
    vx, vy, vz, _, _, _ = relative_motion(plan.row_a[k], plan.row_b[k], cx, cy, cz, ws)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, ws.X)
    x, y, z = r0 * vx + r3 * vy + r6 * vz, r1 * vx + r4 * vy + r7 * vz, r2 * vx + r5 * vy + r8 * vz
    x, y, z = x * fx, y * fy, z * fz
    vx, vy, vz = r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z
    along = nx * vx + ny * vy + nz * vz
    far = phi + plan.row_length[k] + roundness(plan, k)
    return (vx - along * nx) / far, (vy - along * ny) / far, (vz - along * nz) / far


@kernel
def add_row_along(plan, state, k, tx, ty, tz, A, i, ws):
    """Add the row of contact k along t to row i of A."""
    nx, ny, nz, x, y, z = normal_and_centre(plan, state, k, ws.X)
    r = plan.row_length[k]
    x, y, z = x - r * nx, y - r * ny, z - r * nz
    add_partial(plan, plan.row_a[k], x, y, z, tx, ty, tz, 1.0, A, i, ws)
    add_partial(plan, plan.row_b[k], x, y, z, tx, ty, tz, -1.0, A, i, ws)


@kernel
def write_row_along(plan, state, k, tx, ty, tz, i, ws):
    """Write row i of ws.A, ws.s and ws.b: that of contact k along t."""
    clear_row(plan, k, i, ws)
    add_row_along(plan, state, k, tx, ty, tz, ws.A, i, ws)
    ws.s[i] = remainder_along(plan, state, k, tx, ty, tz, ws)
    ws.b[i] = ws.phi[i] = 0.0


def write_sticking_rows(plan, state, ws):
    """Write the first ws.counts[HELD_ROWS] rows, two for each contact that sticks, at the frames in ws."""
    for i in range(0, ws.counts[HELD_ROWS], 2):
        k = ws.rows[i]
        if is_quiet(plan, ws, k):
            continue
        nx, ny, nz, _, _, _ = normal_and_centre(plan, state, k, ws.X)
        tx, ty, tz, sx, sy, sz = both_tangents(nx, ny, nz)
        write_row_along(plan, state, k, tx, ty, tz, i, ws)
        write_row_along(plan, state, k, sx, sy, sz, i + 1, ws)
