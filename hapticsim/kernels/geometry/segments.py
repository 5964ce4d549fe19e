"""Where the sides of two capsules cross: the distance of two segments, and the row that keeps it.

With P(s) = p + s a on the middle line of A and Q(t) = q + t b on that of B, n across both lines and
D = P - Q = d n at their nearest points, the gap is phi = d - both radii while the nearest points lie within
both segments; beyond that an end is nearest, and candidates of their own hold the ends.  s and t follow the
motion, and n turns with both lines: with v = v_P - v_Q, alpha = n . (w_A x a) and beta = n . (w_B x b)

    row       A_r = n . (V_r of A at P - V_r of B at Q)
    phi_ddot = n . (a_P - a_Q) + alpha s_dot - beta t_dot + n_dot . v
    n_dot = x a + y b      [1, c; c, 1] (x, y) = -(alpha, beta),  c = a . b
    s_dot a - t_dot b = d n_dot - (v in the plane of a and b)

which holds at d = 0 too, where two sharp edges meet.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.point import (
    add_partial,
    angular_velocity,
    cross_dot,
    motion,
    place,
    rotate,
    surface_pose,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel

PARALLEL = 1e-8  # sin^2 of the angle below which two lines cross nowhere: their ends hold them
ONE_POINT = 1e-9  # [m] lines nearer than this have no direction between them but that across both


@inlined
def middle_lines(plan, k, X):
    """Middle and direction of both segments of candidate k in the world, twelve scalars: A, then B."""
    px, py, pz = place(plan.row_a[k], plan.row_point_a[k], X)
    ax, ay, az = rotate(plan.row_a[k], plan.sphere_inward[k], X)
    _, _, bx, _, _, by, _, _, bz, qx, qy, qz = surface_pose(plan, k, X)
    return px, py, pz, ax, ay, az, qx, qy, qz, bx, by, bz


@inlined
def nearest_on_lines(x, y, z, ax, ay, az, bx, by, bz):
    """Places s and t [m] of the nearest points of two lines, and sin^2 of the angle between them.

    x   from the middle of B to that of A.  With w = a x b, s = -(x x b) . w / w^2, t = -(x x a) . w / w^2.
    """
    wx, wy, wz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    square = wx * wx + wy * wy + wz * wz
    if square < PARALLEL:
        return 0.0, 0.0, square
    s = -cross_dot(x, y, z, bx, by, bz, wx, wy, wz) / square
    return s, -cross_dot(x, y, z, ax, ay, az, wx, wy, wz) / square, square


@inlined
def beyond_ends(half, s, t, square):
    """How far places on two lines are past the ends of segments [m], below 0 within both; far if parallel."""
    return max(abs(s) - half[1], abs(t) - half[2]) if square >= PARALLEL else half[1] + half[2]


@kernel
def past_ends(plan, k, X):
    """The same of the nearest points of the middle lines of candidate k."""
    px, py, pz, ax, ay, az, qx, qy, qz, bx, by, bz = middle_lines(plan, k, X)
    s, t, square = nearest_on_lines(px - qx, py - qy, pz - qz, ax, ay, az, bx, by, bz)
    return beyond_ends(plan.surface_half[k], s, t, square)


@inlined
def clamped(x, most):
    return min(max(x, -most), most)


@kernel
def nearest_points(plan, k, X):
    """Nearest points P and Q of both middle lines, where they cross, else of both segments, and the rest.

    Returns P, Q, |D|, n (from Q to P; across both lines where they meet) and how far the crossing is past an
    end [m], eleven scalars; the segments by clamping [Ericson 2005, 5.1.9].
    """
    px, py, pz, ax, ay, az, qx, qy, qz, bx, by, bz = middle_lines(plan, k, X)
    x, y, z = px - qx, py - qy, pz - qz
    half = plan.surface_half[k]
    s, t, square = nearest_on_lines(x, y, z, ax, ay, az, bx, by, bz)
    past = beyond_ends(half, s, t, square)
    if past > 0.0:
        c = ax * bx + ay * by + az * bz
        d, e = x * ax + y * ay + z * az, x * bx + y * by + z * bz
        s = clamped(s, half[1])
        t = clamped(e + c * s, half[2])
        s = clamped(c * t - d, half[1])
    px, py, pz = px + s * ax, py + s * ay, pz + s * az
    qx, qy, qz = qx + t * bx, qy + t * by, qz + t * bz
    nx, ny, nz = px - qx, py - qy, pz - qz
    distance = math.sqrt(nx * nx + ny * ny + nz * nz)
    size = distance
    if distance < ONE_POINT:
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        size = max(math.sqrt(nx * nx + ny * ny + nz * nz), ONE_POINT)
    return px, py, pz, qx, qy, qz, distance, nx / size, ny / size, nz / size, past


@kernel
def segments_witness(plan, k, X):
    """Gap [m] of the segments, normal from B to A, and nearest point of A's middle line, in the world, seven
    scalars."""
    px, py, pz, _, _, _, distance, nx, ny, nz, _ = nearest_points(plan, k, X)
    return distance - plan.row_length[k] - plan.surface_half[k, 0], nx, ny, nz, px, py, pz


@kernel
def segments_row(plan, k, i, ws):
    """Write row i of ws.A and ws.s for the crossing of candidate k; return its gap [m]."""
    px, py, pz, qx, qy, qz, distance, nx, ny, nz, _ = nearest_points(plan, k, ws.X)
    _, _, _, ax, ay, az, _, _, _, bx, by, bz = middle_lines(plan, k, ws.X)
    crossing_row(plan, k, px, py, pz, qx, qy, qz, nx, ny, nz, ax, ay, az, bx, by, bz, distance, i, ws)
    return distance - plan.row_length[k] - plan.surface_half[k, 0]


@kernel
def crossing_row(plan, k, px, py, pz, qx, qy, qz, nx, ny, nz, ax, ay, az, bx, by, bz, distance, i, ws):
    """Write row i of ws.A, which is zero, and ws.s for two lines of candidate k that stay ``distance`` apart
    along n.

    P and Q are their nearest points, a and b their directions, unit, n the direction across both.
    """
    a, b = plan.row_a[k], plan.row_b[k]
    add_partial(plan, a, px, py, pz, nx, ny, nz, 1.0, ws.A, i, ws)
    add_partial(plan, b, qx, qy, qz, nx, ny, nz, -1.0, ws.A, i, ws)
    vx, vy, vz, ex, ey, ez = motion(a, px, py, pz, ws)
    ux, uy, uz, fx, fy, fz = motion(b, qx, qy, qz, ws)
    ws.s[i] = nx * (ex - fx) + ny * (ey - fy) + nz * (ez - fz)
    ws.b[i] = 0.0
    c = ax * bx + ay * by + az * bz
    square = 1.0 - c * c
    if square < PARALLEL:
        return
    vx, vy, vz = vx - ux, vy - uy, vz - uz
    along_a, along_b = vx * ax + vy * ay + vz * az, vx * bx + vy * by + vz * bz
    wx, wy, wz = angular_velocity(a, ws.vel)
    alpha = cross_dot(wx, wy, wz, ax, ay, az, nx, ny, nz)
    wx, wy, wz = angular_velocity(b, ws.vel)
    beta = cross_dot(wx, wy, wz, bx, by, bz, nx, ny, nz)
    of_a, of_b = along_a + distance * alpha, along_b + distance * beta
    s_dot, t_dot = (c * of_b - of_a) / square, (of_b - c * of_a) / square
    ws.s[i] += alpha * s_dot - beta * t_dot
    ws.s[i] -= (along_a * (alpha - c * beta) + along_b * (beta - c * alpha)) / square
