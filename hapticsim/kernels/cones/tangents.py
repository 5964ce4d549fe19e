"""Two directions across the normal of a contact, and the rows of the material points that touch there.

    rate along t    t . (v_A - v_B at the point where they touch) = T u

Of what rolls the point moves over both bodies while its two material points are at rest against one another.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.contact import is_corner_on_box, over_face, witness
from hapticsim.kernels.geometry.corner import FACES
from hapticsim.kernels.geometry.point import add_partial, clear_row
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.rows.along_surface import both_tangents
from hapticsim.kernels.rows.row_table import HELD
from hapticsim.kernels.time_stepping.near_contacts import SOFT, product, slip_along, write_response

STUCK = 1e-5  # [m/s] what slips no faster as a step begins has static friction in it


def write_tangents(plan, state, ws, i):
    """Give the near contact i a place among those that rub, with its tangents, rows, responses and mass, and
    the impulse of the last step if it held.

    Expects the frames at the start of the step, and the factor of M in ws.L.
    """
    k, j = ws.near[i], ws.rubbing[0]
    ws.rubbing[0], ws.near_rub[i] = j + 1, j
    nx, ny, nz, x, y, z = touch_of(plan, state, ws, i)
    t = ws.rub_directions[j]
    t[0], t[1], t[2], t[3], t[4], t[5] = both_tangents(nx, ny, nz)
    mobility_1 = write_row_along(plan, ws, i, 2 * j, x, y, z, t[0], t[1], t[2])
    mobility_2 = write_row_along(plan, ws, i, 2 * j + 1, x, y, z, t[3], t[4], t[5])
    coupled = response_between(ws, i, ws.rub_J[2 * j], ws.rub_Y[2 * j + 1])
    half = 0.5 * (mobility_1 - mobility_2)
    largest = 0.5 * (mobility_1 + mobility_2) + math.sqrt(half * half + coupled * coupled)
    moves = largest > SOFT * ws.near_mobility[i] and largest > 0.0
    ws.rub_mass[j] = 1.0 / largest if moves else 0.0
    held = state.mode[k] == HELD and moves
    ws.rub_most[j] = plan.contact_friction[k]
    if moves and slip_along(ws, i, ws.u0) <= STUCK:
        ws.rub_most[j] = plan.contact_static[k]
    before = state.friction_impulse_W[k]
    for c in range(2):
        along = t[3 * c] * before[0] + t[3 * c + 1] * before[1] + t[3 * c + 2] * before[2]
        ws.rub_x[j, c] = along if held else 0.0


@kernel
def touch_of(plan, state, ws, i):
    """Normal of the near contact i, and the point on A that touches, in the world, six scalars.

    A corner on a box touches the face that holds it, or would.
    """
    k, face = ws.near[i], ws.near_face[i]
    if is_corner_on_box(plan, k) and 0 < face <= FACES:
        _, nx, ny, nz, x, y, z, _, _, _ = over_face(plan, k, face, ws.X)
    else:
        _, nx, ny, nz, x, y, z, _, _, _ = witness(plan, state, k, ws.X)
    radius = plan.row_length[k]
    return nx, ny, nz, x - radius * nx, y - radius * ny, z - radius * nz


@kernel
def write_row_along(plan, ws, i, row, x, y, z, tx, ty, tz):
    """Write row ``row`` of ws.rub_J and ws.rub_Y: that of a point of the near contact i along t; return
    T M^-1 T'."""
    k = ws.near[i]
    clear_row(plan, k, 0, ws)
    add_partial(plan, plan.row_a[k], x, y, z, tx, ty, tz, 1.0, ws.A, 0, ws)
    add_partial(plan, plan.row_b[k], x, y, z, tx, ty, tz, -1.0, ws.A, 0, ws)
    return write_response(plan, ws, i, ws.rub_J[row], ws.rub_Y[row])


@kernel
def response_between(ws, i, J, Y):
    """J Y of two rows of the near contact i."""
    half, at = ws.near_J.shape[1] // 2, ws.near_speeds[i]
    total = product(J, Y, at[1])
    if at[3] > 0:
        total += product(from_row(J, half), from_row(Y, half), at[3])
    return total
