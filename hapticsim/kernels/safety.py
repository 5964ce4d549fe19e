"""State machine of the force output: disarmed, arming, armed, fault.

No force without an explicit arm request, and after a fault none until the next one.  The gain rises linearly
over the ramp whatever the stiffness.  A fault takes the force away at once; everything else is slew-limited.
"""

from __future__ import annotations

import math

from hapticsim.codes import Fault, Safety
from hapticsim.kernels.coupling import anchor
from hapticsim.kernels.jit import kernel

DISARMED, ARMING, ARMED, FAULT = (
    int(s) for s in (Safety.DISARMED, Safety.ARMING, Safety.ARMED, Safety.FAULT)
)
DEVICE_SILENT, DEVICE_SPEED, STRETCH = int(Fault.DEVICE_SILENT), int(Fault.DEVICE_SPEED), int(Fault.STRETCH)


@kernel
def take_force_away(state, fault):
    """Enter the fault state with no coupling and no force on the hand."""
    state.safety[0] = FAULT
    state.safety[1] |= fault
    state.gain[0] = 0.0
    for i in range(3):
        state.hand_force_D[i] = 0.0


@kernel
def update_safety(plan, state, inp, hx, hy, hz):
    """Advance the state machine by one tick; (hx, hy, hz) is the handle in the world [m]."""
    d, safety = inp.device, state.safety
    arm, disarm = inp.requests[0] != safety[2], inp.requests[1] != safety[3]
    safety[2], safety[3] = inp.requests[0], inp.requests[1]
    fresh = d[7] != 0.0 and d[6] <= plan.timeout_s
    if disarm:
        if safety[0] != FAULT:
            safety[0] = DISARMED
        state.gain[0] = 0.0
    if safety[0] == ARMING or safety[0] == ARMED:
        if not fresh:
            take_force_away(state, DEVICE_SILENT)
        elif math.sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]) > plan.max_device_speed:
            take_force_away(state, DEVICE_SPEED)
    elif arm and not disarm:  # both at once: no force
        px, py, pz, _, _, _ = anchor(plan, state, inp)
        stretch = math.sqrt((px - hx) ** 2 + (py - hy) ** 2 + (pz - hz) ** 2)
        if fresh and stretch > plan.max_stretch_m and plan.reseat == 1:
            state.origin_W[0] += hx - px
            state.origin_W[1] += hy - py
            state.origin_W[2] += hz - pz
            stretch = 0.0
        if not fresh:
            safety[1] = DEVICE_SILENT
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
