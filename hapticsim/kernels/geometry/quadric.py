"""An ellipsoid on a plane, and a sphere against an ellipsoid or a cone: gap, normal and row.

They are units of the tick (kernels/units.py), which only scenes with such shapes have.
"""

from __future__ import annotations

from hapticsim.codes import ON_ELLIPSOID, ON_SUPPORT
from hapticsim.kernels.geometry.contact import centre_in_box, sphere_centre
from hapticsim.kernels.geometry.cylinder import bend_of_cone, nearest_on_cone
from hapticsim.kernels.geometry.ellipsoid import (
    bend_of_ellipsoid,
    nearest_on_ellipsoid,
    normal_within,
    support_row,
    support_witness,
)
from hapticsim.kernels.geometry.point import add_point_row, surface_pose
from hapticsim.kernels.units import quadric_witness


def nearest_on_quadric(plan, k, X):
    """Gap [m] of candidate k, normal, and the point that touches or the sphere's centre, seven scalars."""
    if plan.surface_kind[k] == ON_SUPPORT:
        return support_witness(plan, k, X)
    x, y, z = centre_in_box(plan, k, X)
    half = plan.surface_half[k]
    if plan.surface_kind[k] == ON_ELLIPSOID:
        distance, x, y, z = nearest_on_ellipsoid(x, y, z, half[0], half[1], half[2])
    else:
        distance, x, y, z = nearest_on_cone(x, y, z, half[0], half[2])
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, X)
    cx, cy, cz = sphere_centre(plan, k, X)
    nx, ny, nz = r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z
    return distance - plan.row_length[k], nx, ny, nz, cx, cy, cz


def quadric_row(plan, k, i, ws):
    """Write row i of ws.A and ws.s for candidate k; return its gap [m]."""
    if plan.surface_kind[k] == ON_SUPPORT:
        return support_row(plan, k, i, ws)
    phi, nx, ny, nz, cx, cy, cz = quadric_witness(plan, k, ws.X)
    vx, vy, vz = add_point_row(plan, plan.row_a[k], plan.row_b[k], cx, cy, cz, nx, ny, nz, ws.A, ws.s, i, ws)
    vx, vy, vz = normal_within(surface_pose(plan, k, ws.X), vx, vy, vz)
    x, y, z = centre_in_box(plan, k, ws.X)
    half = plan.surface_half[k]
    if plan.surface_kind[k] == ON_ELLIPSOID:
        ws.s[i] += bend_of_ellipsoid(x, y, z, half[0], half[1], half[2], vx, vy, vz)
    else:
        ws.s[i] += bend_of_cone(x, y, z, half[0], half[2], vx, vy, vz)
    ws.b[i] = 0.0
    return phi
