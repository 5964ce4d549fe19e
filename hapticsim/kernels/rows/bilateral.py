"""Rows of constraints that hold both ways, one kind each.

Every row writes A and s with A udot + s = 0, its prescribed rate b with A u = b, and returns its gap, zero
for a row that restricts motion only.  rho is from the body's origin, w the angular velocity:

    POINT     n . (p_A - p_B), n fixed in B: loop closure, guide plane, one row each
    ANGLE     m . n, m fixed in A, n fixed in B: two make a hinge, three a weld
    DISTANCE  |p_A - p_B| - l
    SPEEDS    c . u, with the displacement c . q: gears, locked joints, prescribed motion
    ROLL      t . (v_A - v_B) at the point where a ball of radius r touches the plane with normal n, n and t
              fixed in B
    SKATE     n . (v_A - v_B) at p_A, n fixed in A: a blade, or a wheel without side slip
    EQUATION  an equation of the mechanism, made from its symbols
    CURVE     n . (p_A - c), c the nearest place on a curve of B, n one of two normals there (curve.py)

A drive adds a prescribed displacement f(t) = v t + a (sin(w t + p) - sin p): gap - f, A u = b + f',
A udot + s - f''.
"""

from __future__ import annotations

import math

from hapticsim.codes import (
    ANGLE_ROW,
    CURVE_ROW,
    DISTANCE_ROW,
    EQUATION_ROW,
    POINT_ROW,
    ROLL_ROW,
    SKATE_ROW,
)
from hapticsim.kernels.geometry.point import (
    add_partial,
    angular_velocity,
    cross_dot,
    place,
    point_row,
    relative_motion,
    rolling_remainder,
    rotate,
)
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.rows.curve import curve_row

SHORTEST = 1e-9  # [m] two points nearer than this have no direction between them


@kernel
def bilateral_row(plan, state, k, q, t, A, s, b, i, ws):
    """Write row i of A, s and b for row k at the frames in ws; return its gap.

    t   [s] since the start of the run.
    """
    gap = b[i] = 0.0
    kind = plan.row_kind[k]
    if kind == EQUATION_ROW:
        j = plan.row_item[k]
        for r in range(A.shape[1]):
            A[i, r] = ws.equation_A[j, r]
        s[i], b[i], gap = ws.equation_s[j], ws.equation_b[j], ws.equation_phi[j]
    elif kind == POINT_ROW:
        gap = _point(plan, k, A, s, i, ws)
    elif kind == ANGLE_ROW:
        gap = _angle(plan, k, A, s, i, ws)
    elif kind == DISTANCE_ROW:
        gap = _distance(plan, k, A, s, i, ws)
    elif kind == ROLL_ROW:
        _roll(plan, k, A, s, i, ws)
    elif kind == SKATE_ROW:
        _skate(plan, k, A, s, i, ws)
    elif kind == CURVE_ROW:
        gap = curve_row(plan, k, A, s, i, ws)
    else:
        s[i], j = 0.0, plan.row_item[k]
        for r in range(A.shape[1]):
            A[i, r] = plan.factor_u[j, r]
        for l in range(q.size):
            gap += plan.factor_q[j, l] * q[l]
    drive = plan.row_drive[k]
    speed, size, rate, phase = drive[0], drive[1], drive[2], drive[3]
    if speed != 0.0 or size != 0.0:
        angle = rate * t + phase
        gap -= speed * t + size * (math.sin(angle) - math.sin(phase))
        b[i] += speed + size * rate * math.cos(angle)
        s[i] += size * rate * rate * math.sin(angle)
    return gap - state.offset[k]


@kernel
def _point(plan, k, A, s, i, ws):
    a, b = plan.row_a[k], plan.row_b[k]
    px, py, pz = place(a, plan.row_point_a[k], ws.X)
    ox, oy, oz = place(b, plan.row_point_b[k], ws.X)
    nx, ny, nz = rotate(b, plan.row_direction_b[k], ws.X)
    point_row(plan, a, b, px, py, pz, nx, ny, nz, A, s, i, ws)
    return nx * (px - ox) + ny * (py - oy) + nz * (pz - oz)


@kernel
def _distance(plan, k, A, s, i, ws):
    a, b = plan.row_a[k], plan.row_b[k]
    px, py, pz = place(a, plan.row_point_a[k], ws.X)
    ox, oy, oz = place(b, plan.row_point_b[k], ws.X)
    x, y, z = px - ox, py - oy, pz - oz
    length = math.sqrt(x * x + y * y + z * z)
    scale = 1.0 / max(length, SHORTEST)
    nx, ny, nz = x * scale, y * scale, z * scale
    tx, ty, tz = point_row(plan, a, b, px, py, pz, nx, ny, nz, A, s, i, ws)
    n_dot = nx * tx + ny * ty + nz * tz
    s[i] += (tx * tx + ty * ty + tz * tz - n_dot * n_dot) * scale  # the direction turns
    return length - plan.row_length[k]


@kernel
def _angle(plan, k, A, s, i, ws):
    a, b = plan.row_a[k], plan.row_b[k]
    mx, my, mz = rotate(a, plan.row_direction_a[k], ws.X)
    nx, ny, nz = rotate(b, plan.row_direction_b[k], ws.X)
    cx, cy, cz = my * nz - mz * ny, mz * nx - mx * nz, mx * ny - my * nx  # m x n
    for r in range(A.shape[1]):
        total = 0.0
        if a >= 0:
            V = ws.V[a, r]
            total += cx * V[0] + cy * V[1] + cz * V[2]
        if b >= 0:
            V = ws.V[b, r]
            total -= cx * V[0] + cy * V[1] + cz * V[2]
        A[i, r] = total
    ax, ay, az = angular_velocity(a, ws.vel)
    bx, by, bz = angular_velocity(b, ws.vel)
    dx, dy, dz = angular_velocity(a, ws.acc)
    ex, ey, ez = angular_velocity(b, ws.acc)
    wx, wy, wz = ax - bx, ay - by, az - bz
    px, py, pz = ay * mz - az * my, az * mx - ax * mz, ax * my - ay * mx  # m'
    qx, qy, qz = by * nz - bz * ny, bz * nx - bx * nz, bx * ny - by * nx  # n'
    s[i] = (
        (dx - ex) * cx
        + (dy - ey) * cy
        + (dz - ez) * cz
        + cross_dot(px, py, pz, nx, ny, nz, wx, wy, wz)
        + cross_dot(mx, my, mz, qx, qy, qz, wx, wy, wz)
    )
    return mx * nx + my * ny + mz * nz


@kernel
def _roll(plan, k, A, s, i, ws):
    a, b, radius = plan.row_a[k], plan.row_b[k], plan.row_length[k]
    cx, cy, cz = place(a, plan.row_point_a[k], ws.X)
    nx, ny, nz = rotate(b, plan.row_direction_b[k], ws.X)
    tx, ty, tz = rotate(b, plan.row_direction_a[k], ws.X)  # fixed in B, too
    rx, ry, rz = -radius * nx, -radius * ny, -radius * nz
    for r in range(A.shape[1]):
        A[i, r] = 0.0
    add_partial(plan, a, cx + rx, cy + ry, cz + rz, tx, ty, tz, 1.0, A, i, ws)
    add_partial(plan, b, cx + rx, cy + ry, cz + rz, tx, ty, tz, -1.0, A, i, ws)
    s[i] = rolling_remainder(a, b, cx, cy, cz, rx, ry, rz, tx, ty, tz, ws)


@kernel
def _skate(plan, k, A, s, i, ws):
    a, b = plan.row_a[k], plan.row_b[k]
    px, py, pz = place(a, plan.row_point_a[k], ws.X)
    nx, ny, nz = rotate(a, plan.row_direction_a[k], ws.X)
    for r in range(A.shape[1]):
        A[i, r] = 0.0
    add_partial(plan, a, px, py, pz, nx, ny, nz, 1.0, A, i, ws)
    add_partial(plan, b, px, py, pz, nx, ny, nz, -1.0, A, i, ws)
    vx, vy, vz, ex, ey, ez = relative_motion(a, b, px, py, pz, ws)
    wx, wy, wz = angular_velocity(a, ws.vel)
    s[i] = nx * ex + ny * ey + nz * ez + cross_dot(wx, wy, wz, nx, ny, nz, vx, vy, vz)
