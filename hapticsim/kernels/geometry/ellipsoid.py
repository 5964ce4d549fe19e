"""An ellipsoid: how far a point is from it, how a plane touches it, and how these gaps bend.

With a the half axes, along the axes of the ellipsoid, and A = diag(a):

A point x has its nearest point at A^2 g, g_i = x_i / (a_i^2 + t), where t is the largest root of |A g| = 1,
and is t |g| away from it along n = g / |g| [Eberly 2013].  1 / |A g| is concave in t and rises to 1: Newton's
method comes to the root from below and never passes it.  For a velocity v of the point

    v H v = (v - (n . v) n) . g' / |g|,  g'_i = (v_i - t' g_i) / (a_i^2 + t),  t' so that |A g| stays 1

A plane with the normal n is touched by the support point -A^2 n / h of the ellipsoid, h = |A n| below its
middle.  With w the part across n of the angular velocity relative to the plane, phi_ddot has beside that of
the material point there

    - |A n x A (w x n)|^2 / h^3 = - ((b c w_x)^2 + (c a w_y)^2 + (a b w_z)^2) / h^3
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.point import (
    add_point_row,
    angular_velocity,
    shape_pose,
    surface_pose,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel

MOST = 40  # steps of Newton's method: none of 1.2 million points took more than 16, half axes up to 1 : 1000
ENOUGH = 4e-16  # of t: what a step changes when it is the last
OFF = 1e-12  # of a half axis: a point inside counts as so far beside each middle plane, for one way out


@kernel
def root_of(x, y, z, a, b, c):
    """t + m^2 [m^2] of a point, m the least half axis, three squares less m^2, and the point as it was taken.

    Seven scalars.
    """
    m = min(a, min(b, c))
    da, db, dc = (a - m) * (a + m), (b - m) * (b + m), (c - m) * (c + m)
    u, v, w = x / a, y / b, z / c
    outside = u * u + v * v + w * w >= 1.0
    if not outside:
        x = math.copysign(max(abs(x), OFF * a), x)
        y = math.copysign(max(abs(y), OFF * b), y)
        z = math.copysign(max(abs(z), OFF * c), z)
    s = max(a * abs(x) - da, max(b * abs(y) - db, c * abs(z) - dc))
    if outside:
        s = max(s, m * m)
    for _ in range(MOST):
        ga, gb, gc = a * x / (da + s), b * y / (db + s), c * z / (dc + s)
        size = math.sqrt(ga * ga + gb * gb + gc * gc)
        step = size * size * (size - 1.0) / (ga * ga / (da + s) + gb * gb / (db + s) + gc * gc / (dc + s))
        if not step > ENOUGH * s:
            break
        s += step
    return s, da, db, dc, x, y, z


@inlined
def nearest_on_ellipsoid(x, y, z, a, b, c):
    """Signed distance [m] and gradient of a point from an ellipsoid with these half axes, four scalars."""
    s, da, db, dc, x, y, z = root_of(x, y, z, a, b, c)
    gx, gy, gz = x / (da + s), y / (db + s), z / (dc + s)
    size = math.sqrt(gx * gx + gy * gy + gz * gz)
    m = min(a, min(b, c))
    return (s - m * m) * size, gx / size, gy / size, gz / size


@inlined
def bend_of_ellipsoid(x, y, z, a, b, c, vx, vy, vz):
    """Second derivative of that distance [m/s^2] along a straight way with velocity v."""
    s, da, db, dc, x, y, z = root_of(x, y, z, a, b, c)
    ka, kb, kc = 1.0 / (da + s), 1.0 / (db + s), 1.0 / (dc + s)
    gx, gy, gz = ka * x, kb * y, kc * z
    ax, ay, az = a * a * ka * gx, b * b * kb * gy, c * c * kc * gz
    rate = (ax * vx + ay * vy + az * vz) / (ax * gx + ay * gy + az * gz)
    ex, ey, ez = ka * (vx - rate * gx), kb * (vy - rate * gy), kc * (vz - rate * gz)
    square = gx * gx + gy * gy + gz * gz
    along = (gx * vx + gy * vy + gz * vz) / square
    return ((vx - along * gx) * ex + (vy - along * gy) * ey + (vz - along * gz) * ez) / math.sqrt(square)


@inlined
def normal_within(pose, nx, ny, nz):
    """A direction of the world in the axes of a pose (12 scalars), three scalars."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = pose
    return r0 * nx + r3 * ny + r6 * nz, r1 * nx + r4 * ny + r7 * nz, r2 * nx + r5 * ny + r8 * nz


@kernel
def support_witness(plan, k, X):
    """Gap [m] of the ellipsoid of candidate k, normal of its plane, and the point that touches, in the world,
    seven scalars."""
    pose = shape_pose(plan.row_a[k], plan.edge_pose[k], X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ex, ey, ez = pose
    _, _, nx, _, _, ny, _, _, nz, ox, oy, oz = surface_pose(plan, k, X)
    x, y, z = normal_within(pose, nx, ny, nz)
    a, b, c = plan.edge_half[k, 0], plan.edge_half[k, 1], plan.edge_half[k, 2]
    h = math.sqrt(a * x * (a * x) + b * y * (b * y) + c * z * (c * z))
    x, y, z = a * a * x / h, b * b * y / h, c * c * z / h
    return (
        nx * (ex - ox) + ny * (ey - oy) + nz * (ez - oz) - h,
        nx,
        ny,
        nz,
        ex - (r0 * x + r1 * y + r2 * z),
        ey - (r3 * x + r4 * y + r5 * z),
        ez - (r6 * x + r7 * y + r8 * z),
    )


@inlined
def turning_across(plan, k, ws):
    """Of an ellipsoid on a plane, in its axes: the normal, and the angular velocity across it [rad/s], six
    scalars."""
    pose = shape_pose(plan.row_a[k], plan.edge_pose[k], ws.X)
    _, _, nx, _, _, ny, _, _, nz, _, _, _ = surface_pose(plan, k, ws.X)
    wx, wy, wz = angular_velocity(plan.row_a[k], ws.vel)
    vx, vy, vz = angular_velocity(plan.row_b[k], ws.vel)
    wx, wy, wz = wx - vx, wy - vy, wz - vz
    along = nx * wx + ny * wy + nz * wz
    px, py, pz = normal_within(pose, wx - along * nx, wy - along * ny, wz - along * nz)
    nx, ny, nz = normal_within(pose, nx, ny, nz)
    return nx, ny, nz, px, py, pz


@kernel
def rates_of_support(plan, k, ws):
    """Least h and h of candidate k by the longest half axis, and the rate of the normal [1/s].

    A change of the normal by h over the longest half axis moves the point that touches by about that length.
    """
    nx, ny, nz, wx, wy, wz = turning_across(plan, k, ws)
    a, b, c = plan.edge_half[k, 0], plan.edge_half[k, 1], plan.edge_half[k, 2]
    longest = max(a, max(b, c))
    h = math.sqrt(a * nx * (a * nx) + b * ny * (b * ny) + c * nz * (c * nz))
    return min(a, min(b, c)) / longest, h / longest, math.sqrt(wx * wx + wy * wy + wz * wz)


@kernel
def support_row(plan, k, i, ws):
    """Write row i of ws.A and ws.s for an ellipsoid on a plane; return its gap [m]."""
    phi, nx, ny, nz, px, py, pz = support_witness(plan, k, ws.X)
    add_point_row(plan, plan.row_a[k], plan.row_b[k], px, py, pz, nx, ny, nz, ws.A, ws.s, i, ws)
    nx, ny, nz, wx, wy, wz = turning_across(plan, k, ws)
    a, b, c = plan.edge_half[k, 0], plan.edge_half[k, 1], plan.edge_half[k, 2]
    square = a * nx * (a * nx) + b * ny * (b * ny) + c * nz * (c * nz)
    wx, wy, wz = b * c * wx, c * a * wy, a * b * wz
    ws.s[i] -= (wx * wx + wy * wy + wz * wz) / (square * math.sqrt(square))
    ws.b[i] = 0.0
    return phi
