"""The row of a point of body A along a direction fixed in body B: contacts, loop closures, guides.

With p the point, v = v_A - v_B the velocity of A relative to B there, and n fixed in B:

    row      A_r = n . (V_r of A at p - V_r of B at p)
    rate     n . v = A u
    its rate A udot + s,  s = n . (a_A - a_B) - 2 n . (w_B x v)  with the accelerations at udot = 0
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import inlined, kernel


@inlined
def place(frame, point, X):
    """A point of a body in the world, three scalars; frame -1 is the world."""
    if frame < 0:
        return point[0], point[1], point[2]
    B = X[frame]
    return (
        B[0] * point[0] + B[1] * point[1] + B[2] * point[2] + B[9],
        B[3] * point[0] + B[4] * point[1] + B[5] * point[2] + B[10],
        B[6] * point[0] + B[7] * point[1] + B[8] * point[2] + B[11],
    )


@inlined
def rotate(frame, direction, X):
    """A direction fixed in a body in world axes, three scalars."""
    if frame < 0:
        return direction[0], direction[1], direction[2]
    B = X[frame]
    return (
        B[0] * direction[0] + B[1] * direction[1] + B[2] * direction[2],
        B[3] * direction[0] + B[4] * direction[1] + B[5] * direction[2],
        B[6] * direction[0] + B[7] * direction[1] + B[8] * direction[2],
    )


@inlined
def in_body(frame, x, y, z, X):
    """A direction in the world in the axes of a body, three scalars."""
    if frame < 0:
        return x, y, z
    B = X[frame]
    return B[0] * x + B[3] * y + B[6] * z, B[1] * x + B[4] * y + B[7] * z, B[2] * x + B[5] * y + B[8] * z


@inlined
def surface_pose(plan, k, X):
    """Rotation (row by row) and position of the surface of candidate k in the world, 12 scalars."""
    return shape_pose(plan.row_b[k], plan.surface_pose[k], X)


@inlined
def shape_pose(frame, S, X):
    """The same of a shape with the pose S (12,) in a body."""
    if frame < 0:
        return (S[0], S[1], S[2], S[3], S[4], S[5], S[6], S[7], S[8], S[9], S[10], S[11])
    B = X[frame]
    return (
        B[0] * S[0] + B[1] * S[3] + B[2] * S[6],
        B[0] * S[1] + B[1] * S[4] + B[2] * S[7],
        B[0] * S[2] + B[1] * S[5] + B[2] * S[8],
        B[3] * S[0] + B[4] * S[3] + B[5] * S[6],
        B[3] * S[1] + B[4] * S[4] + B[5] * S[7],
        B[3] * S[2] + B[4] * S[5] + B[5] * S[8],
        B[6] * S[0] + B[7] * S[3] + B[8] * S[6],
        B[6] * S[1] + B[7] * S[4] + B[8] * S[7],
        B[6] * S[2] + B[7] * S[5] + B[8] * S[8],
        B[0] * S[9] + B[1] * S[10] + B[2] * S[11] + B[9],
        B[3] * S[9] + B[4] * S[10] + B[5] * S[11] + B[10],
        B[6] * S[9] + B[7] * S[10] + B[8] * S[11] + B[11],
    )


@kernel
def add_partial(plan, frame, px, py, pz, nx, ny, nz, sign, A, i, ws):
    """Add sign n . (partial velocity at p) of a body to row i of A."""
    if frame < 0:
        return
    x, y, z = px - ws.X[frame, 9], py - ws.X[frame, 10], pz - ws.X[frame, 11]
    mx, my, mz = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx  # rho x n
    row, partial = A[i], ws.V[frame]
    for r in range(plan.frame_first[frame], plan.frame_end[frame]):
        V = partial[r]
        row[r] += sign * (mx * V[0] + my * V[1] + mz * V[2] + nx * V[3] + ny * V[4] + nz * V[5])


@inlined
def motion(frame, px, py, pz, ws):
    """Velocity and remainder acceleration of the material point of a body at p, six scalars."""
    if frame < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    vel, acc = ws.vel[frame], ws.acc[frame]
    x, y, z = px - ws.X[frame, 9], py - ws.X[frame, 10], pz - ws.X[frame, 11]
    gx, gy, gz = vel[1] * z - vel[2] * y, vel[2] * x - vel[0] * z, vel[0] * y - vel[1] * x  # w x rho
    return (
        vel[3] + gx,
        vel[4] + gy,
        vel[5] + gz,
        acc[3] + acc[1] * z - acc[2] * y + vel[1] * gz - vel[2] * gy,
        acc[4] + acc[2] * x - acc[0] * z + vel[2] * gx - vel[0] * gz,
        acc[5] + acc[0] * y - acc[1] * x + vel[0] * gy - vel[1] * gx,
    )


@inlined
def driven_acceleration(plan, frame, px, py, pz, udot, ws):
    """What udot adds to the acceleration of the material point of a body at p, three scalars."""
    ax = ay = az = bx = by = bz = 0.0
    if frame >= 0:
        for r in range(plan.frame_first[frame], plan.frame_end[frame]):
            V = ws.V[frame, r]
            ax, ay, az = ax + udot[r] * V[0], ay + udot[r] * V[1], az + udot[r] * V[2]
            bx, by, bz = bx + udot[r] * V[3], by + udot[r] * V[4], bz + udot[r] * V[5]
        x, y, z = px - ws.X[frame, 9], py - ws.X[frame, 10], pz - ws.X[frame, 11]
        bx, by, bz = bx + ay * z - az * y, by + az * x - ax * z, bz + ax * y - ay * x
    return bx, by, bz


@inlined
def angular_velocity(frame, motion_of):
    """Angular velocity or acceleration of a body from ws.vel or ws.acc, three scalars."""
    if frame < 0:
        return 0.0, 0.0, 0.0
    return motion_of[frame, 0], motion_of[frame, 1], motion_of[frame, 2]


@inlined
def relative_motion(a, b, px, py, pz, ws):
    """v_A - v_B and a_A - a_B - w_B x (v_A - v_B) of the material points at p, six scalars.

    The second is the rate of the first where p moves with A.
    """
    ux, uy, uz, cx, cy, cz = motion(a, px, py, pz, ws)
    vx, vy, vz, dx, dy, dz = motion(b, px, py, pz, ws)
    tx, ty, tz = ux - vx, uy - vy, uz - vz
    wx, wy, wz = angular_velocity(b, ws.vel)
    return (
        tx,
        ty,
        tz,
        cx - dx - (wy * tz - wz * ty),
        cy - dy - (wz * tx - wx * tz),
        cz - dz - (wx * ty - wy * tx),
    )


@inlined
def cross_dot(ax, ay, az, bx, by, bz, cx, cy, cz):
    """(a x b) . c."""
    return (ay * bz - az * by) * cx + (az * bx - ax * bz) * cy + (ax * by - ay * bx) * cz


@kernel
def point_row(plan, a, b, px, py, pz, nx, ny, nz, A, s, i, ws):
    """Write row i of A and s for the point p, moving with A, along n, fixed in B.

    Returns v_A - v_B at p, three scalars.
    """
    for r in range(A.shape[1]):
        A[i, r] = 0.0
    return add_point_row(plan, a, b, px, py, pz, nx, ny, nz, A, s, i, ws)


@kernel
def clear_row(plan, k, i, ws):
    """Make row i of ws.A zero, for a contact k: where it is not yet, which is where it was written last."""
    row = ws.A[i]
    for r in range(ws.row_low[i], ws.row_high[i]):
        row[r] = 0.0
    ws.row_low[i], ws.row_high[i] = plan.row_first[k], plan.row_end[k]


@kernel
def add_point_row(plan, a, b, px, py, pz, nx, ny, nz, A, s, i, ws):
    """``point_row`` where row i of A is zero."""
    add_partial(plan, a, px, py, pz, nx, ny, nz, 1.0, A, i, ws)
    add_partial(plan, b, px, py, pz, nx, ny, nz, -1.0, A, i, ws)
    tx, ty, tz, ex, ey, ez = relative_motion(a, b, px, py, pz, ws)
    wx, wy, wz = angular_velocity(b, ws.vel)
    s[i] = nx * ex + ny * ey + nz * ez + cross_dot(wx, wy, wz, nx, ny, nz, tx, ty, tz)
    return tx, ty, tz


@kernel
def rolling_remainder(a, b, cx, cy, cz, rx, ry, rz, tx, ty, tz, ws):
    """s [m/s^2] of the row A udot + s that is the rate of t . v, with v = v_A - v_B + (w_A - w_B) x rho.

    That is the velocity of the material points that touch, rho from the centre c, which moves with A; rho and
    the direction t are fixed in B.
    """
    vx, vy, vz, ex, ey, ez = relative_motion(a, b, cx, cy, cz, ws)
    ax, ay, az = angular_velocity(a, ws.vel)
    bx, by, bz = angular_velocity(b, ws.vel)
    dx, dy, dz = angular_velocity(a, ws.acc)
    fx, fy, fz = angular_velocity(b, ws.acc)
    wx, wy, wz = ax - bx, ay - by, az - bz
    vx, vy, vz = vx + wy * rz - wz * ry, vy + wz * rx - wx * rz, vz + wx * ry - wy * rx
    px, py, pz = by * rz - bz * ry, bz * rx - bx * rz, bx * ry - by * rx  # w_B x rho
    return (
        tx * ex
        + ty * ey
        + tz * ez
        + cross_dot(dx - fx, dy - fy, dz - fz, rx, ry, rz, tx, ty, tz)
        + cross_dot(wx, wy, wz, px, py, pz, tx, ty, tz)
        + cross_dot(bx, by, bz, tx, ty, tz, vx, vy, vz)
    )
