"""Rows along the surface where a contact touches: of what sticks, and of what slides.

With c the centre of the sphere (a corner has the radius 0), n the normal of a flat surface fixed in B, and
rho = -r n from c to where it touches,

    v = v_A - v_B at c + (w_A - w_B) x rho

is the velocity of the material points that touch there, against one another.  What sticks has t . v = 0 along
two tangents; what slides is held back along v (Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 11).
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_PLANE
from hapticsim.kernels.geometry.contact import held_by, is_corner_on_box
from hapticsim.kernels.geometry.corner import FACES
from hapticsim.kernels.geometry.point import add_partial, clear_row, motion, rolling_remainder
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.quiet import is_quiet

ASKEW = 0.6  # cosine to the x axis up to which this axis gives the first tangent


@inlined
def is_flat(plan, state, k):
    """Whether contact k is a sphere or a corner on a flat face: the only ones with rows along the surface."""
    if plan.surface_kind[k] == ON_PLANE:
        return True
    return is_corner_on_box(plan, k) and 0 < state.face[k] <= FACES


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
    """s of the row of contact k along t, which is fixed in B: the rate of t . v is row . udot + s."""
    r = plan.row_length[k]
    nx, ny, nz, x, y, z = normal_and_centre(plan, state, k, ws.X)
    a, b = plan.row_a[k], plan.row_b[k]
    return rolling_remainder(a, b, x, y, z, -r * nx, -r * ny, -r * nz, tx, ty, tz, ws)


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
