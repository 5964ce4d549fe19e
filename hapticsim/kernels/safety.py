"""State machine of the force output: disarmed, arming, armed, fault.

No force without an explicit arm request, and after a fault none until the next one.  The gain rises linearly
over the ramp whatever the stiffness.  A fault takes the force away at once; everything else is slew-limited.
"""

from __future__ import annotations

import math

from hapticsim.codes import Fault, Safety
from hapticsim.kernels.coupling import (
    ABOUT_Z,
    NONE,
    anchor,
    conjugate,
    coupler_torque,
    product,
    quaternion,
    to_world,
    turn_error,
    turn_stretch,
)
from hapticsim.kernels.jit import kernel

MAX_TWIST = 2.8  # [rad] of the coupler; at pi the short way round changes its side, and the torque with it
MAX_TURN_RATE = 50.0  # [rad/s] of the device; no wrist turns so fast

DISARMED, ARMING, ARMED, FAULT = (
    int(s) for s in (Safety.DISARMED, Safety.ARMING, Safety.ARMED, Safety.FAULT)
)
DEVICE_SILENT, DEVICE_SPEED = int(Fault.DEVICE_SILENT), int(Fault.DEVICE_SPEED)
STRETCH, TWIST, LINK = int(Fault.STRETCH), int(Fault.TWIST), int(Fault.LINK)


@kernel
def take_force_away(state, fault):
    """Enter the fault state with no coupling and no force on the hand."""
    state.safety[0] = FAULT
    state.safety[1] |= fault
    state.gain[0] = 0.0
    for i in range(3):
        state.hand_force_D[i] = 0.0
        state.hand_torque_D[i] = 0.0


@kernel
def turns_too_fast(plan, inp):
    """Whether a device whose rotation counts turns faster than MAX_TURN_RATE."""
    w = inp.turn
    return plan.turning != NONE and math.sqrt(w[4] * w[4] + w[5] * w[5] + w[6] * w[6]) > MAX_TURN_RATE


@kernel
def update_safety(plan, state, inp, hx, hy, hz):
    """Advance the state machine by one tick; (hx, hy, hz) is the handle in the world [m].

    Requests are counts that only grow: a smaller one is of somebody else, and asks for nothing.
    """
    d, safety = inp.device, state.safety
    arm, disarm = inp.requests[0] > safety[2], inp.requests[1] > safety[3]
    safety[2], safety[3] = max(inp.requests[0], safety[2]), max(inp.requests[1], safety[3])
    fresh = d[7] != 0.0 and d[6] <= plan.timeout_s
    if disarm:
        if safety[0] != FAULT:
            safety[0] = DISARMED
        state.gain[0] = 0.0
    if safety[0] == ARMING or safety[0] == ARMED:
        if not fresh:
            take_force_away(state, DEVICE_SILENT)
        elif not inp.link[0] <= 0.0:
            take_force_away(state, LINK)
        elif math.sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]) > plan.max_device_speed:
            take_force_away(state, DEVICE_SPEED)
        elif turns_too_fast(plan, inp):
            take_force_away(state, DEVICE_SPEED)
    elif arm and not disarm:  # both at once: no force
        px, py, pz, _, _, _ = anchor(plan, state, inp)
        stretch = math.sqrt((px - hx) ** 2 + (py - hy) ** 2 + (pz - hz) ** 2)
        heard = inp.link[0] <= 0.0
        if fresh and heard and stretch > plan.max_stretch_m and plan.reseat == 1:
            state.origin_W[0] += hx - px
            state.origin_W[1] += hy - py
            state.origin_W[2] += hz - pz
            stretch = 0.0
        if not fresh:
            safety[1] = DEVICE_SILENT
        elif not heard:
            safety[1] = LINK
        elif stretch > plan.max_stretch_m:
            safety[1] = STRETCH
        else:
            safety[0] = ARMING
            safety[1] = 0
            state.gain[0] = 0.0
    if safety[0] == ARMING:
        state.gain[0] += plan.tick_s / plan.ramp_s if plan.ramp_s > 0.0 else 1.0
        if state.gain[0] >= 1.0:
            state.gain[0] = 1.0
            safety[0] = ARMED


@kernel
def command_hand(plan, state, inp, fx, fy, fz):
    """Force on the hand (device axes) opposite to the coupler force f, clamped and slew-limited."""
    if state.safety[0] == FAULT:
        for i in range(3):
            state.hand_force_D[i] = 0.0
        return
    R, s, limit = plan.rotation_WD, -plan.force_scale, inp.coupler[2]
    wx = s * (R[0, 0] * fx + R[1, 0] * fy + R[2, 0] * fz)
    wy = s * (R[0, 1] * fx + R[1, 1] * fy + R[2, 1] * fz)
    wz = s * (R[0, 2] * fx + R[1, 2] * fy + R[2, 2] * fz)
    size = math.sqrt(wx * wx + wy * wy + wz * wz)
    if size > limit:
        wx, wy, wz = wx * limit / size, wy * limit / size, wz * limit / size
    last, most = state.hand_force_D, plan.slew_N_per_s * plan.tick_s
    dx, dy, dz = wx - last[0], wy - last[1], wz - last[2]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    share = most / size if size > most else 1.0
    last[0] += share * dx
    last[1] += share * dy
    last[2] += share * dz


@kernel
def seat_turn(plan, state, inp, ws, before):
    """At the tick that arms, hold the handle's body as it stands to the device: no torque to start with.

    before is the state (codes.Safety) at the start of the tick; frames in ws are of its start.
    """
    now = state.safety[0]
    if plan.turning == NONE or before == ARMING or before == ARMED or not (now == ARMING or now == ARMED):
        return
    d, q = inp.turn, plan.quaternion_WD
    held = product((q[0], q[1], q[2], q[3]), (d[0], d[1], d[2], d[3]))
    there = product(conjugate(held), quaternion(ws.X[plan.handle_frame]))
    size = math.sqrt(there[0] ** 2 + there[1] ** 2 + there[2] ** 2 + there[3] ** 2)
    if not size > 0.5:  # the device measures no orientation
        return
    o = state.turn_offset
    o[0], o[1], o[2], o[3] = there[0] / size, there[1] / size, there[2] / size, there[3] / size


@kernel
def sample_turn(plan, state, inp, out, ws):
    """Torque of the coupler at the start of the tick: what is published, and the command for the hand.

    A coupler twisted further than MAX_TWIST takes all force away.
    """
    if plan.turning == NONE:
        return
    if state.gain[0] > 0.0:
        w, x, y, z = turn_error(plan, state, inp, ws, 0.0)
        ex, ey, ez = turn_stretch(plan, w, x, y, z)
        if math.sqrt(ex * ex + ey * ey + ez * ez) > MAX_TWIST:
            take_force_away(state, TWIST)
    x, y, z = coupler_torque(plan, state, inp, ws, 0.0)
    m = out.coupler_torque_W
    m[0], m[1], m[2] = to_world(plan, x, y, z)
    if plan.turning == ABOUT_Z:
        command_turn(plan, state, inp, 0.0, 0.0, z)
    else:
        command_turn(plan, state, inp, x, y, z)
    for i in range(3):
        out.hand_torque_D[i] = state.hand_torque_D[i]


@kernel
def command_turn(plan, state, inp, x, y, z):
    """Torque on the hand opposite to the coupler torque (device axes), clamped and slew-limited."""
    last = state.hand_torque_D
    if state.safety[0] == FAULT:
        last[0] = last[1] = last[2] = 0.0
        return
    s, limit, most = -plan.torque_scale, inp.turn_coupler[2], plan.slew_Nm_per_s * plan.tick_s
    x, y, z = s * x, s * y, s * z
    size = math.sqrt(x * x + y * y + z * z)
    if size > limit:
        x, y, z = x * limit / size, y * limit / size, z * limit / size
    dx, dy, dz = x - last[0], y - last[1], z - last[2]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    share = most / size if size > most else 1.0
    last[0] += share * dx
    last[1] += share * dy
    last[2] += share * dz
