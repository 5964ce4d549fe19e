"""Virtual coupler: a spring-damper between the device and the handle.

The device's point in the world is p_a = origin + scale R_WD p_D.  The coupler pulls the handle with
f = gain * clamp(K (p_a - p_h) + B (v_a - v_h)) and the hand with the opposite force (Colgate, Stanley and
Brown 1995; gains in haptics/coupler.py).  Between two samples the anchor moves on with the measured velocity.

Where the scene asks for it the same holds of the rotation (docs/equations.md, section 7): E turns the
handle's body, as it is, to where the device wants it, and its rotation vector is the stretch of the spring.
Coupled about the device's z alone, the stretch is the angle of E about z, and the torque is along the
gradient of that angle, so that the spring gives back what it took however the handle is tilted.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import inlined

NONE, ABOUT_Z = 0, 1  # Plan.coupled_rotation; 2: all axes
TILTED = 1e-6  # cos^2 of half the tilt from which an angle about z means nothing


@inlined
def anchor(plan, state, inp):
    """Position [m] and velocity [m/s] of the device's point in the world, six scalars."""
    R, d, s = plan.rotation_WD, inp.device, plan.motion_scale
    o = state.origin_W
    return (
        o[0] + s * (R[0, 0] * d[0] + R[0, 1] * d[1] + R[0, 2] * d[2]),
        o[1] + s * (R[1, 0] * d[0] + R[1, 1] * d[1] + R[1, 2] * d[2]),
        o[2] + s * (R[2, 0] * d[0] + R[2, 1] * d[1] + R[2, 2] * d[2]),
        s * (R[0, 0] * d[3] + R[0, 1] * d[4] + R[0, 2] * d[5]),
        s * (R[1, 0] * d[3] + R[1, 1] * d[4] + R[1, 2] * d[5]),
        s * (R[2, 0] * d[3] + R[2, 1] * d[4] + R[2, 2] * d[5]),
    )


@inlined
def handle_motion(plan, ws):
    """Offset of the handle from its body's origin (world axes), position and velocity, nine scalars."""
    i = plan.handle_frame
    X, v, p = ws.X[i], ws.vel[i], plan.handle_point
    rx = X[0] * p[0] + X[1] * p[1] + X[2] * p[2]
    ry = X[3] * p[0] + X[4] * p[1] + X[5] * p[2]
    rz = X[6] * p[0] + X[7] * p[1] + X[8] * p[2]
    return (
        rx,
        ry,
        rz,
        rx + X[9],
        ry + X[10],
        rz + X[11],
        v[3] + v[1] * rz - v[2] * ry,
        v[4] + v[2] * rx - v[0] * rz,
        v[5] + v[0] * ry - v[1] * rx,
    )


@inlined
def spring_damper(K, B, limit, ex, ey, ez, vx, vy, vz):
    """Coupler force [N] for stretch e [m] and its rate v [m/s], its length limited; three scalars."""
    fx, fy, fz = K * ex + B * vx, K * ey + B * vy, K * ez + B * vz
    size = math.sqrt(fx * fx + fy * fy + fz * fz)
    if size > limit:
        fx, fy, fz = fx * limit / size, fy * limit / size, fz * limit / size
    return fx, fy, fz


@inlined
def coupler_force(plan, state, inp, ws, t):
    """Force on the handle [N], world axes, t seconds into the tick; three scalars."""
    return coupler_force_within(plan, state, inp, ws, t, inp.coupler[2] / plan.force_scale)


@inlined
def coupler_force_within(plan, state, inp, ws, t, limit):
    """The same within another limit [N] than the hand's."""
    gain = state.gain[0]
    if gain == 0.0:
        return 0.0, 0.0, 0.0
    px, py, pz, vx, vy, vz = anchor(plan, state, inp)
    _, _, _, hx, hy, hz, wx, wy, wz = handle_motion(plan, ws)
    fx, fy, fz = spring_damper(
        inp.coupler[0],
        inp.coupler[1],
        limit,
        px + vx * t - hx,
        py + vy * t - hy,
        pz + vz * t - hz,
        vx - wx,
        vy - wy,
        vz - wz,
    )
    return gain * fx, gain * fy, gain * fz


@inlined
def product(a, b):
    """Product of two quaternions (w, x, y, z)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1],
    )


@inlined
def conjugate(a):
    """The inverse of a unit quaternion."""
    return a[0], -a[1], -a[2], -a[3]


@inlined
def quaternion(R):
    """Unit quaternion (w, x, y, z) of a rotation written row by row, R[0:9] (Shepperd 1978)."""
    trace = R[0] + R[4] + R[8]
    if trace >= R[0] and trace >= R[4] and trace >= R[8]:
        w, x, y, z = 1.0 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        w, x, y, z = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        w, x, y, z = R[2] - R[6], R[1] + R[3], 1.0 + R[4] - R[8] - R[0], R[5] + R[7]
    else:
        w, x, y, z = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4]
    size = math.sqrt(w * w + x * x + y * y + z * z)
    return w / size, x / size, y / size, z / size


@inlined
def orientation_error(plan, state, inp, ws, t):
    """E = dq q_DH q_offset q_HW q_WD in device axes, w >= 0: what the handle's body still has to turn.

    dq is how far the device turns in t seconds at the measured angular velocity.
    """
    d, q = inp.device_rotation, plan.quaternion_WD
    rate = math.sqrt(d[4] * d[4] + d[5] * d[5] + d[6] * d[6])
    s = math.sin(0.5 * rate * t) / rate if rate > 0.0 else 0.0
    moved = (math.cos(0.5 * rate * t), s * d[4], s * d[5], s * d[6])
    wanted = product(product(moved, (d[0], d[1], d[2], d[3])), state.turn_offset)
    there = product(conjugate(quaternion(ws.X[plan.handle_frame])), (q[0], q[1], q[2], q[3]))
    w, x, y, z = product(wanted, there)
    if w < 0.0:  # the short way round
        return -w, -x, -y, -z
    return w, x, y, z


@inlined
def rotation_stretch(plan, w, x, y, z):
    """Rotation vector of E [rad] in device axes, or (0, 0, angle about z), whatever the length of E."""
    if plan.coupled_rotation == ABOUT_Z:
        return 0.0, 0.0, 2.0 * math.atan2(z, w)
    size = math.sqrt(x * x + y * y + z * z)
    s = 2.0 * math.atan2(size, w) / size if size > 0.0 else 0.0
    return s * x, s * y, s * z


@inlined
def coupler_torque(plan, state, inp, ws, t):
    """Torque on the handle's body [N m] in device axes, t seconds into the tick; three scalars."""
    return coupler_torque_within(plan, state, inp, ws, t, inp.rotation_coupler[2] / plan.torque_scale)


@inlined
def coupler_torque_within(plan, state, inp, ws, t, limit):
    """The same within another limit [N m] than the hand's."""
    gain = state.gain[0]
    if gain == 0.0 or plan.coupled_rotation == NONE:
        return 0.0, 0.0, 0.0
    w, x, y, z = orientation_error(plan, state, inp, ws, t)
    ex, ey, ez = rotation_stretch(plan, w, x, y, z)
    R, v, d = plan.rotation_WD, ws.vel[plan.handle_frame], inp.device_rotation
    hx = R[0, 0] * v[0] + R[1, 0] * v[1] + R[2, 0] * v[2]
    hy = R[0, 1] * v[0] + R[1, 1] * v[1] + R[2, 1] * v[2]
    hz = R[0, 2] * v[0] + R[1, 2] * v[1] + R[2, 2] * v[2]
    K, B = inp.rotation_coupler[0], inp.rotation_coupler[1]
    if plan.coupled_rotation != ABOUT_Z:
        mx, my, mz = spring_damper(K, B, limit, ex, ey, ez, d[4] - hx, d[5] - hy, d[6] - hz)
        return gain * mx, gain * my, gain * mz
    n = w * w + z * z
    if n < TILTED:
        return 0.0, 0.0, 0.0
    ax, ay = (z * x + w * y) / n, (z * y - w * x) / n  # the angle's rate per rate of the device
    bx, by = (z * x - w * y) / n, (z * y + w * x) / n  # and of the handle
    rate = ax * d[4] + ay * d[5] + d[6] - bx * hx - by * hy - hz
    m = gain * min(max(K * ez + B * rate, -limit), limit)
    return m * bx, m * by, m


@inlined
def to_world(plan, x, y, z):
    """A vector of the device axes in world axes."""
    R = plan.rotation_WD
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@inlined
def rotation_axes(plan, state, inp, ws, t):
    """World axes by which the coupled rotation is measured at the handle; three vectors, nine scalars.

    All axes coupled: those of the device.  About the device's z: two zeros, and the gradient of that angle.
    """
    R = plan.rotation_WD
    if plan.coupled_rotation != ABOUT_Z:
        return R[0, 0], R[1, 0], R[2, 0], R[0, 1], R[1, 1], R[2, 1], R[0, 2], R[1, 2], R[2, 2]
    w, x, y, z = orientation_error(plan, state, inp, ws, t)
    n = w * w + z * z
    if n < TILTED:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    bx, by, bz = to_world(plan, (z * x - w * y) / n, (z * y + w * x) / n, 1.0)
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, bx, by, bz


@inlined
def coupler_energy(plan, state, inp, ws, t):
    """What the springs of a coupler that is linear hold [J], t seconds into the tick."""
    px, py, pz, vx, vy, vz = anchor(plan, state, inp)
    _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    x, y, z = px + vx * t - hx, py + vy * t - hy, pz + vz * t - hz
    energy = inp.coupler[0] * (x * x + y * y + z * z)
    if plan.coupled_rotation != NONE:
        w, x, y, z = orientation_error(plan, state, inp, ws, t)
        x, y, z = rotation_stretch(plan, w, x, y, z)
        energy += inp.rotation_coupler[0] * (x * x + y * y + z * z)
    return 0.5 * state.gain[0] * energy


@inlined
def add_handle_force(plan, state, inp, ws, t):
    """Add to ws.f the generalized active force F_r = V_r . f of coupler and outside force at the handle.

    Returns the power of these forces [W].  In a substep a coupler that is linear there has no limit, and its
    power is what the device puts in: its springs keep the rest, and its dampers only take.
    """
    i, linear = plan.handle_frame, ws.substep[0] > 0.0 and ws.method[1] == 1
    most, most_torque = inp.coupler[2] / plan.force_scale, inp.rotation_coupler[2] / plan.torque_scale
    if linear:
        most = most_torque = math.inf
    fx, fy, fz = coupler_force_within(plan, state, inp, ws, t, most)
    power = 0.0
    if linear:
        _, _, _, vx, vy, vz = anchor(plan, state, inp)
        _, _, _, _, _, _, wx, wy, wz = handle_motion(plan, ws)
        power = fx * (vx - wx) + fy * (vy - wy) + fz * (vz - wz)
    fx += inp.force_W[0]
    fy += inp.force_W[1]
    fz += inp.force_W[2]
    x, y, z = coupler_torque_within(plan, state, inp, ws, t, most_torque)
    if fx == 0.0 and fy == 0.0 and fz == 0.0 and x == 0.0 and y == 0.0 and z == 0.0:
        return power
    rx, ry, rz, _, _, _, _, _, _ = handle_motion(plan, ws)
    mx, my, mz = ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx
    v = ws.vel[i]
    if plan.coupled_rotation != NONE:
        if linear:
            d = inp.device_rotation
            power += x * d[4] + y * d[5] + z * d[6]
        x, y, z = to_world(plan, x, y, z)
        if linear:
            power -= x * v[0] + y * v[1] + z * v[2]
        mx, my, mz = mx + x, my + y, mz + z
    for r in range(plan.frame_first[i], plan.frame_end[i]):
        V = ws.V[i, r]
        ws.f[r] += mx * V[0] + my * V[1] + mz * V[2] + fx * V[3] + fy * V[4] + fz * V[5]
    return power + mx * v[0] + my * v[1] + mz * v[2] + fx * v[3] + fy * v[4] + fz * v[5]
