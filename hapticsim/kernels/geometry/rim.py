"""The rim of a flat end of a cylinder over a plane: how near it is, and how its gap bends as the body turns.

With e the middle of the end, a the axis out of it (unit), R the radius, n the normal of the plane and o a
point of it, the part of n across the axis is n' = n - (n . a) a, of the length s, the sine of the tilt:

    gap       phi = n . (e - o) - R f(s),  f(s) = s
    point     p = e - R (f' / s) n'
    bend      - (R f' / s) T^2 - R f'' c^2 S^2,  T = w . (a - c n) / s,  S = w . (a x n) / s,  c = n . a

The bend is what phi_ddot has beside that of the material point p along n; w is the angular velocity relative
to the plane.  For f = s it is -R T^2 / s: of a cylinder that lies it takes away what the rolling point p is
accelerated towards the axis.

Where the end is nearly flat on the plane no point of the rim is the nearest.  There fixed points of the rim
stand out a little (model/candidates.py) and hold it; below ``BLUNT`` the rim is rounded so that nothing
jumps: f / b = 3/8 + 3/4 x^2 - 1/8 x^4 with b = BLUNT, x = s / b, which goes over into s with two derivatives.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.point import (
    add_point_row,
    angular_velocity,
    cross_dot,
    place,
    rotate,
    surface_pose,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel

BLUNT = 2e-5  # sine of the tilt below which the rim is rounded; fixed points hold it up to six times this


@inlined
def over_rim(s):
    """f(s), f'(s) / s and f''(s)."""
    if s >= BLUNT:
        return s, 1.0 / s, 0.0
    x = (s / BLUNT) * (s / BLUNT)
    f = BLUNT * (0.375 + x * (0.75 - 0.125 * x))
    return f, (1.5 - 0.5 * x) / BLUNT, 1.5 * (1.0 - x) / BLUNT


@inlined
def rim_place(plan, k, X):
    """Middle of the end of candidate k, its axis, and the normal of the plane, in the world, nine scalars."""
    ex, ey, ez = place(plan.row_a[k], plan.row_point_a[k], X)
    ax, ay, az = rotate(plan.row_a[k], plan.sphere_inward[k], X)
    _, _, nx, _, _, ny, _, _, nz, _, _, _ = surface_pose(plan, k, X)
    return ex, ey, ez, ax, ay, az, nx, ny, nz


@kernel
def rim_witness(plan, k, X):
    """Gap [m] of the rim of candidate k, normal of the plane, and the nearest point, in the world, seven
    scalars."""
    ex, ey, ez, ax, ay, az, nx, ny, nz = rim_place(plan, k, X)
    _, _, _, _, _, _, _, _, _, ox, oy, oz = surface_pose(plan, k, X)
    c, R = nx * ax + ny * ay + nz * az, plan.surface_half[k, 0]
    px, py, pz = nx - c * ax, ny - c * ay, nz - c * az
    f, slope, _ = over_rim(math.sqrt(px * px + py * py + pz * pz))
    phi = nx * (ex - ox) + ny * (ey - oy) + nz * (ez - oz) - R * f
    return phi, nx, ny, nz, ex - R * slope * px, ey - R * slope * py, ez - R * slope * pz


@inlined
def turning(plan, k, ws):
    """Of the rim of candidate k: c, s, and T and S of the angular velocity [rad/s], four scalars."""
    _, _, _, ax, ay, az, nx, ny, nz = rim_place(plan, k, ws.X)
    wx, wy, wz = angular_velocity(plan.row_a[k], ws.vel)
    vx, vy, vz = angular_velocity(plan.row_b[k], ws.vel)
    wx, wy, wz = wx - vx, wy - vy, wz - vz
    c = nx * ax + ny * ay + nz * az
    tx, ty, tz = ax - c * nx, ay - c * ny, az - c * nz
    s = math.sqrt(tx * tx + ty * ty + tz * tz)
    if s == 0.0:  # flat: the same whichever way
        along = wx * nx + wy * ny + wz * nz
        return c, s, math.sqrt(max(wx * wx + wy * wy + wz * wz - along * along, 0.0)), 0.0
    return c, s, (wx * tx + wy * ty + wz * tz) / s, cross_dot(ax, ay, az, nx, ny, nz, wx, wy, wz) / s


@kernel
def rates_of_rim(plan, k, ws):
    """Sine s of the tilt of candidate k, its rate, and s times the rate of the point round the rim [1/s]."""
    c, s, around, over = turning(plan, k, ws)
    return s, -c * over, abs(around)


@kernel
def rim_row(plan, k, i, ws):
    """Write row i of ws.A and ws.s for the rim of candidate k; return its gap [m]."""
    phi, nx, ny, nz, px, py, pz = rim_witness(plan, k, ws.X)
    add_point_row(plan, plan.row_a[k], plan.row_b[k], px, py, pz, nx, ny, nz, ws.A, ws.s, i, ws)
    c, s, around, over = turning(plan, k, ws)
    _, slope, second = over_rim(s)
    ws.s[i] -= plan.surface_half[k, 0] * (slope * around * around + second * c * c * over * over)
    ws.b[i] = 0.0
    return phi
