"""Force and torque on the hand, from those of the coupler: scaled, clamped, slew-limited, bounded in power.

Only a fault and an interruption take them away at once (safety.py); everything else is slew-limited.
"""

from __future__ import annotations

import math

from hapticsim.codes import Fault
from hapticsim.kernels.haptics.coupling import (
    ABOUT_Z,
    NONE,
    conjugate,
    coupler_torque,
    orientation_error,
    product,
    quaternion,
    rotation_stretch,
    to_world,
)
from hapticsim.kernels.haptics.safety import ARMED, ARMING, FAULT, INTERRUPTED, is_on, take_force_away
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import MODE

MAX_TWIST = 2.8  # [rad] of the coupler; at pi the short way round changes its side, and the torque with it
SHARE_OF_POWER = 0.5  # of the largest force at the largest speed: what a hand may get where nobody says less
TWIST, OVERLOAD = int(Fault.TWIST), int(Fault.OVERLOAD)


@kernel
def command_hand(plan, state, inp, fx, fy, fz):
    """Force on the hand (device axes) opposite to the coupler force f, clamped and slew-limited."""
    if state.safety[MODE] == FAULT or state.safety[MODE] == INTERRUPTED:
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
    last, most = state.hand_force_D, plan.slew_limit_N_per_s * plan.tick_s
    dx, dy, dz = wx - last[0], wy - last[1], wz - last[2]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    share = most / size if size > most else 1.0
    last[0] += share * dx
    last[1] += share * dy
    last[2] += share * dz


@kernel
def bound_power(plan, state, inp):
    """Take all force away where the hand would get more power [W] than allowed."""
    v, w, f, m = inp.device, inp.device_rotation, state.hand_force_D, state.hand_torque_D
    limit = plan.max_power_W
    if limit == 0.0:
        limit = SHARE_OF_POWER * inp.coupler[2] * plan.max_device_speed_m_per_s
    power = f[0] * v[3] + f[1] * v[4] + f[2] * v[5]
    if plan.coupled_rotation != NONE:
        power += m[0] * w[4] + m[1] * w[5] + m[2] * w[6]
    if power > limit and is_on(state):
        take_force_away(state, OVERLOAD)


@kernel
def seat_orientation(plan, state, inp, ws, before):
    """At the tick that arms, hold the handle's body as it stands to the device: no torque to start with.

    before is the state (codes.Safety) at the start of the tick; frames in ws are of its start.  After an
    interruption it stays seated, or the handle would slip with each.
    """
    now, on = state.safety[MODE], before == ARMING or before == ARMED or before == INTERRUPTED
    if plan.coupled_rotation == NONE or on or not (now == ARMING or now == ARMED):
        return
    d, q = inp.device_rotation, plan.quaternion_WD
    held = product((q[0], q[1], q[2], q[3]), (d[0], d[1], d[2], d[3]))
    there = product(conjugate(held), quaternion(ws.X[plan.handle_frame]))
    size = math.sqrt(there[0] ** 2 + there[1] ** 2 + there[2] ** 2 + there[3] ** 2)
    if not size > 0.5:  # the device measures no orientation
        return
    o = state.turn_offset
    o[0], o[1], o[2], o[3] = there[0] / size, there[1] / size, there[2] / size, there[3] / size


@kernel
def sample_torque(plan, state, inp, out, ws):
    """Torque of the coupler at the start of the tick: what is published, and the command for the hand.

    A coupler twisted further than MAX_TWIST takes all force away.
    """
    if plan.coupled_rotation == NONE:
        return
    if state.gain[0] > 0.0:
        w, x, y, z = orientation_error(plan, state, inp, ws, 0.0)
        ex, ey, ez = rotation_stretch(plan, w, x, y, z)
        if math.sqrt(ex * ex + ey * ey + ez * ez) > MAX_TWIST:
            take_force_away(state, TWIST)
    x, y, z = coupler_torque(plan, state, inp, ws, 0.0)
    m = out.coupler_torque_W
    m[0], m[1], m[2] = to_world(plan, x, y, z)
    if plan.coupled_rotation == ABOUT_Z:
        command_torque(plan, state, inp, 0.0, 0.0, z)
    else:
        command_torque(plan, state, inp, x, y, z)
    for i in range(3):
        out.hand_torque_D[i] = state.hand_torque_D[i]


@kernel
def command_torque(plan, state, inp, x, y, z):
    """Torque on the hand opposite to the coupler torque (device axes), clamped and slew-limited."""
    last = state.hand_torque_D
    if state.safety[MODE] == FAULT or state.safety[MODE] == INTERRUPTED:
        last[0] = last[1] = last[2] = 0.0
        return
    s, limit, most = -plan.torque_scale, inp.rotation_coupler[2], plan.slew_limit_Nm_per_s * plan.tick_s
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
