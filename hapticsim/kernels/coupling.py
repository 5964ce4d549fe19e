"""Virtual coupler: a spring-damper between the device's point and the handle.

The device's point in the world is p_a = origin + scale R_WD p_D.  The coupler pulls the handle with
f = gain * clamp(K (p_a - p_h) + B (v_a - v_h)) and the hand with the opposite force (Colgate, Stanley and
Brown 1995; gains in haptics/coupler.py).  Between two samples the anchor moves on with the measured velocity.
"""

from __future__ import annotations

import math

from hapticsim.kernels.jit import inlined, kernel


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
    gain = state.gain[0]
    if gain == 0.0:
        return 0.0, 0.0, 0.0
    px, py, pz, vx, vy, vz = anchor(plan, state, inp)
    _, _, _, hx, hy, hz, wx, wy, wz = handle_motion(plan, ws)
    fx, fy, fz = spring_damper(
        inp.coupler[0],
        inp.coupler[1],
        inp.coupler[2] / plan.force_scale,
        px + vx * t - hx,
        py + vy * t - hy,
        pz + vz * t - hz,
        vx - wx,
        vy - wy,
        vz - wz,
    )
    return gain * fx, gain * fy, gain * fz


@kernel
def add_handle_force(plan, state, inp, ws, t):
    """Add to ws.f the generalized active force F_r = V_r . f of coupler and outside force at the handle."""
    i = plan.handle_frame
    fx, fy, fz = coupler_force(plan, state, inp, ws, t)
    fx += inp.force_W[0]
    fy += inp.force_W[1]
    fz += inp.force_W[2]
    if fx == 0.0 and fy == 0.0 and fz == 0.0:
        return
    rx, ry, rz, _, _, _, _, _, _ = handle_motion(plan, ws)
    mx, my, mz = ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx
    for r in range(ws.f.size):
        V = ws.V[i, r]
        ws.f[r] += mx * V[0] + my * V[1] + mz * V[2] + fx * V[3] + fy * V[4] + fz * V[5]
