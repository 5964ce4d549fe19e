"""What is stiff in a tick, and how its equations of motion are made linearly implicit.

The classical Runge-Kutta method bears decays up to 2.78 / h and oscillations up to 2.83 / h.  Where joint
damping, torque laws or the coupler ask for more than a bound below that, the tick is integrated by
substeps (substeps.py) in which their forces at the end of the substep are taken, linearly:

    (M + h C + h^2 K) udot = Q - h_bias - h K qdot

with C and K their damping and stiffness in terms of the speeds: on the diagonal for a joint, where C acts
like an armature, and of rank three (six with the rotation) for the coupler at the handle.  Rows are embedded
into this as into the equations of motion.
"""

from __future__ import annotations

import math

from hapticsim.kernels.haptics.coupling import (
    anchor,
    coupler_force_within,
    coupler_torque_within,
    handle_motion,
    rotation_axes,
)
from hapticsim.kernels.linalg.linear import ldl_factor, ldl_solve
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.frames import find_terms
from hapticsim.kernels.units import soften_yielding

RUNGE_KUTTA, STIFF_DAMPERS, STIFF_SPRINGS = 0, 1, 2  # ws.method[0]

# Fastest decay and oscillation, times the tick, left to the classical method.  They are known from samples
# of the configurations (hapticsim/assemble/stiff_parts.py), so there is room below 2.78 and 2.83.
DECAY, OSCILLATION = 1.0, 0.7


@kernel
def choose_method(plan, state, inp, ws):
    """Write ws.method for this tick, and which torque laws and whether the coupler are linear in its stages.

    Expects ws.tau, ws.spring and ws.damper as ``torque.sample_torques`` leaves them, and (ws.q0, ws.u0).  A
    law or a coupler beyond its limit is linear if what it is expected to be over the tick is within it: force
    / (1 + (h B + h^2 K) / mass), else its limit is held.
    """
    h, gain = plan.tick_s, state.gain[0]
    decay, square = plan.damping_rate, plan.spring_rate * plan.spring_rate
    if gain > 0.0 and plan.handle_frame >= 0:
        decay += gain * (
            inp.coupler[1] * plan.handle_mobility + inp.rotation_coupler[1] * plan.rotation_mobility
        )
        square += gain * (
            inp.coupler[0] * plan.handle_mobility + inp.rotation_coupler[0] * plan.rotation_mobility
        )
    ws.method[0] = RUNGE_KUTTA
    ws.method[1] = 0
    if h * h * square > OSCILLATION * OSCILLATION:
        ws.method[0] = STIFF_SPRINGS
    elif h * decay > DECAY:
        ws.method[0] = STIFF_DAMPERS
    else:
        return
    find_terms(plan, ws, ws.q0, ws.u0, ws.qs)
    if not ldl_factor(ws.M, ws.u0.size, ws.L):
        return
    release_limited_laws(plan, ws, h)
    if gain > 0.0 and plan.handle_frame >= 0:
        ws.method[1] = 1 if coupler_is_linear(plan, state, inp, ws, h) else 0


@kernel
def release_limited_laws(plan, ws, h):
    """Make linear the laws that pass their limit at the start of the tick and not over it.

    Expects the factor of M in ws.L.
    """
    for r in range(ws.u0.size):
        law = ws.limited[r]
        if law == 0.0:
            continue
        for i in range(ws.y.size):
            ws.y[i] = 1.0 if i == r else 0.0
        ldl_solve(ws.L, ws.y.size, ws.y)
        kp, kd = plan.torque_kp[r], plan.torque_kd[r]
        if abs(law) <= plan.torque_limit[r] * (1.0 + (h * kd + h * h * kp) * ws.y[r]):
            spring = kp * (plan.torque_reference[r] - ws.q0[plan.q_of_u[r]]) - kd * ws.u0[r]
            ws.tau[r] += law - spring - min(max(law, -plan.torque_limit[r]), plan.torque_limit[r])
            ws.spring[r], ws.damper[r] = kp, kd


@kernel
def coupler_is_linear(plan, state, inp, ws, h):
    """Whether the coupler's force and torque stay within their limits over a tick of h seconds.

    Expects frames at (ws.q0, ws.u0) and the factor of M in ws.L.
    """
    write_handle_rates(plan, state, inp, ws, 0.0)
    gain = state.gain[0]
    fx, fy, fz = coupler_force_within(plan, state, inp, ws, 0.0, math.inf)
    limit = gain * inp.coupler[2] / plan.force_scale
    K, B = gain * inp.coupler[0], gain * inp.coupler[1]
    if not is_within(ws, 0, fx, fy, fz, limit, h * B + h * h * K):
        return False
    if plan.coupled_rotation == 0:
        return True
    x, y, z = coupler_torque_within(plan, state, inp, ws, 0.0, math.inf)
    limit = gain * inp.rotation_coupler[2] / plan.torque_scale
    K, B = gain * inp.rotation_coupler[0], gain * inp.rotation_coupler[1]
    return is_within(ws, 3, x, y, z, limit, h * B + h * h * K)


@kernel
def is_within(ws, first, x, y, z, limit, share):
    """Whether a force along the three rows of ws.H from ``first`` on is within its limit over a tick.

    share   h B + h^2 K.
    """
    size = math.sqrt(x * x + y * y + z * z)
    if size <= limit:
        return True
    n = ws.y.size
    for r in range(n):
        ws.y[r] = ws.us[r] = (x * ws.H[first, r] + y * ws.H[first + 1, r] + z * ws.H[first + 2, r]) / size
    ldl_solve(ws.L, n, ws.y)
    mobility = 0.0
    for r in range(n):
        mobility += ws.us[r] * ws.y[r]
    return size <= limit * (1.0 + share * mobility)


@kernel
def write_handle_rates(plan, state, inp, ws, t):
    """ws.H: velocity of the handle's point (world axes), then rate of the coupled rotation (device axes), per
    speed of its tree; the third of the latter alone where one angle is coupled."""
    i = plan.handle_frame
    rx, ry, rz, _, _, _, _, _, _ = handle_motion(plan, ws)
    ax, ay, az, bx, by, bz, cx, cy, cz = rotation_axes(plan, state, inp, ws, t)
    for r in range(plan.frame_first[i], plan.frame_end[i]):
        V = ws.V[i, r]
        ws.H[0, r] = V[3] + V[1] * rz - V[2] * ry
        ws.H[1, r] = V[4] + V[2] * rx - V[0] * rz
        ws.H[2, r] = V[5] + V[0] * ry - V[1] * rx
        ws.H[3, r] = ax * V[0] + ay * V[1] + az * V[2]
        ws.H[4, r] = bx * V[0] + by * V[1] + bz * V[2]
        ws.H[5, r] = cx * V[0] + cy * V[1] + cz * V[2]


@kernel
def make_implicit(plan, state, inp, ws, u, t, h):
    """Turn M into M + h C + h^2 K and ws.f into ws.f - h K qdot, for a substep of h seconds from t on.

    Expects M, frames and ws.f at the start of the substep.  K counts where springs are stiff only: where they
    are not, four substeps of it explicit lose less and never gain.
    """
    n, springs = u.size, 1.0 if ws.method[0] == STIFF_SPRINGS else 0.0
    for r in range(n):
        k = springs * ws.spring[r]
        ws.M[r, r] += h * (plan.damping[r] + ws.damper[r]) + h * h * k
        ws.f[r] -= h * k * u[r]
    soften_yielding(plan, state, ws, u, h)
    if ws.method[1] == 0:
        return
    gain = state.gain[0]
    write_handle_rates(plan, state, inp, ws, t)
    K, B = springs * gain * inp.coupler[0], gain * inp.coupler[1]
    _, _, _, vx, vy, vz = anchor(plan, state, inp)
    _, _, _, _, _, _, wx, wy, wz = handle_motion(plan, ws)
    fx, fy, fz = h * K * (vx - wx), h * K * (vy - wy), h * K * (vz - wz)
    add_softness(plan, ws, ws.M, 0, h * B + h * h * K, fx, fy, fz)
    if plan.coupled_rotation != 0:
        K, B = springs * gain * inp.rotation_coupler[0], gain * inp.rotation_coupler[1]
        x = y = z = 0.0
        for r in range(plan.frame_first[plan.handle_frame], plan.frame_end[plan.handle_frame]):
            x -= ws.H[3, r] * u[r]
            y -= ws.H[4, r] * u[r]
            z -= ws.H[5, r] * u[r]
        d = inp.device_rotation
        fx, fy, fz = h * K * (x + d[4]), h * K * (y + d[5]), h * K * (z + d[6])
        add_softness(plan, ws, ws.M, 3, h * B + h * h * K, fx, fy, fz)


@kernel
def add_softness(plan, ws, M, first, share, fx, fy, fz):
    """M += share H' H and f += H' (fx, fy, fz), with the three rows of ws.H from ``first`` on."""
    a, b, c = ws.H[first], ws.H[first + 1], ws.H[first + 2]
    begin, end = plan.frame_first[plan.handle_frame], plan.frame_end[plan.handle_frame]
    for r in range(begin, end):
        ws.f[r] += a[r] * fx + b[r] * fy + c[r] * fz
        for s in range(begin, end):
            M[r, s] += share * (a[r] * a[s] + b[r] * b[s] + c[r] * c[s])
