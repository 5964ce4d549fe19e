"""A device that swings by itself: found by its force, which changes its side while the device moves.

A port is the force on the hand with the velocity of the device, or the torque with the angular velocity.  A
reversal is a force of a share of its limit after one as large to the other side.  Between two reversals of a
device that swings by itself little time goes by, and its velocity changes as no hand changes it:

- a swing that saturates is slow, 5 to 10 Hz, and its mean acceleration between reversals is that of the clamp
  on the bare device, 28 m/s^2 and more for any device of the table.  A hand that shakes a handle that does
  not give way has 4 f v, 16 m/s^2 at 8 Hz and 0.5 m/s;
- a swing that does not saturate is quicker than a hand can shake.

A reversal that is neither starts the count anew, and so does a swing that has become smaller by its end: it
dies by itself.  A tap, and a wall, push to one side.  The time of an interruption does not count: a device
without force keeps its velocity, and a computer that stands still three times a second must not hide a swing.
"""

from __future__ import annotations

import math

from hapticsim.codes import Fault, Safety
from hapticsim.kernels.arrays import PORT, SWING
from hapticsim.kernels.jit import kernel

SHARE = 0.25  # of the limit from which a force has a side
SLOWEST_S = 0.2  # between two reversals of a swing that saturates
ACCELERATION = 24.0  # [m/s^2] mean between its reversals
QUICK_S = 0.05  # between two reversals of a swing that does not: 10 Hz
SPEED = 0.1  # [m/s] change of velocity that counts then
GRIP_M = 0.04  # at which the rotation is held: rates of the rotation are those of the grip, over this
REVERSALS = 6  # in a row: three periods
FADE_S = 0.05  # from full force to none
DYING = 0.9  # of the change of velocity that the count began with
# State.swing has of each port: side 3, velocity at the last reversal 3, time since [s], reversals counted,
# and the change of velocity at the first of these
FADING = 2 * PORT  # place of the mark that the force goes

ARMING, ARMED, INTERRUPTED = int(Safety.ARMING), int(Safety.ARMED), int(Safety.INTERRUPTED)
OSCILLATION = int(Fault.OSCILLATION)


@kernel
def forget_swing(state):
    """Start anew: nothing was felt yet."""
    for i in range(SWING):
        state.swing[i] = 0.0


@kernel
def count_reversals(m, at, force, vx, vy, vz, limit, tick_s, length):
    """Advance a port by one tick; True at the last of REVERSALS in a row.

    m (SWING,)         memory, the port's from ``at`` on
    force (3,)         on the hand; its limit
    vx, vy, vz         velocity of the device, or angular velocity
    length       [m]   that makes a velocity of it
    """
    fx, fy, fz = force[0], force[1], force[2]
    m[at + 6] += tick_s
    if m[at + 6] > SLOWEST_S:
        m[at + 7] = 0.0
    size = math.sqrt(fx * fx + fy * fy + fz * fz)
    if size < SHARE * limit or size == 0.0:
        return False
    along = fx * m[at] + fy * m[at + 1] + fz * m[at + 2]
    turned = along < 0.0
    if turned:
        dx, dy, dz = vx - m[at + 3], vy - m[at + 4], vz - m[at + 5]
        change, since = length * math.sqrt(dx * dx + dy * dy + dz * dz), m[at + 6]
        slow = since <= SLOWEST_S and change >= ACCELERATION * since
        quick = since <= QUICK_S and change >= SPEED
        if m[at + 7] + 1.0 >= REVERSALS and change < DYING * m[at + 8]:
            m[at + 7] = 0.0
        m[at + 7] = m[at + 7] + 1.0 if slow or quick else 0.0
        if m[at + 7] == 1.0:
            m[at + 8] = change
        m[at + 6] = 0.0
        m[at + 3], m[at + 4], m[at + 5] = vx, vy, vz
    if turned or (m[at] == 0.0 and m[at + 1] == 0.0 and m[at + 2] == 0.0):
        m[at], m[at + 1], m[at + 2] = fx / size, fy / size, fz / size
    return m[at + 7] >= REVERSALS


@kernel
def watch_swing(plan, state, inp):
    """Look at the forces of this tick; True at the tick in which a swing has taken all force away.

    From the last reversal on the gain fades to zero within FADE_S; then the fault state is entered.
    """
    m, mode = state.swing, state.safety[0]
    if mode == INTERRUPTED:
        return False
    if mode != ARMING and mode != ARMED:
        forget_swing(state)
        return False
    v, w = inp.device, inp.turn
    pushes = count_reversals(m, 0, state.hand_force_D, v[3], v[4], v[5], inp.coupler[2], plan.tick_s, 1.0)
    turns = count_reversals(
        m, PORT, state.hand_torque_D, w[4], w[5], w[6], inp.turn_coupler[2], plan.tick_s, GRIP_M
    )
    if pushes or turns:
        m[FADING] = 1.0
    if m[FADING] == 0.0:
        return False
    state.safety[0] = ARMED  # a ramp that still rose ends
    state.gain[0] -= plan.tick_s / FADE_S
    return state.gain[0] <= 0.0
