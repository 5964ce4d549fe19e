"""A device that swings by itself: found by its force, which changes its side while the device moves.

A port is the force on the hand with the velocity of the device, or the torque with the angular velocity.  A
reversal is a force of a share of its limit after one as large to the other side.  Between two reversals of a
device that swings by itself little time goes by, and its velocity changes as no hand changes it:

- a swing that saturates is slow, 5 to 10 Hz, and its mean acceleration between reversals is that of the clamp
  on the bare device, 28 m/s^2 and more for any device of the table.  A hand that shakes a handle that does
  not give way has 4 f v, 16 m/s^2 at 8 Hz and 0.5 m/s;
- a swing that does not saturate is quicker than a hand can shake.

A reversal that is neither starts the count anew, and so does a swing that has become smaller by its end: it
dies by itself.  A tap, and a wall, push to one side.

The time of an interruption does not count: a computer that stands still three times a second must not hide a
swing.  What the velocity changes in its first 15 ms does, because the last force acts until the device knows
of it, and shows late; what it changes later does not, because a hand may do that to a device without force.
A reversal after one that is no swing's neither counts nor starts the count anew, unless the last was such.
"""

from __future__ import annotations

import math

from hapticsim.codes import Fault, Safety
from hapticsim.kernels.haptics.coupling import NONE
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import MODE, PORT, SWING

SHARE = 0.25  # of the limit from which a force has a side
SLOWEST_S = 0.2  # between two reversals of a swing that saturates
ACCELERATION = 24.0  # [m/s^2] mean between its reversals
QUICK_S = 0.05  # between two reversals of a swing that does not, interruptions included: 10 Hz
SPEED = 0.1  # [m/s] change of velocity that counts then
LINGER_S = 0.015  # a force that was taken away still shows: delays, and a velocity taken from positions
LEAST_GAP_S = 0.001  # any interruption is longer
GRIP_M = 0.04  # at which the rotation is held: rates of the rotation are those of the grip, over this
REVERSALS = 6  # in a row: three periods
FADE_S = 0.05  # from full force to none
DYING = 0.9  # of the change of velocity that the count began with
# Places in what State.swing has of each port
SIDE = 0  # of the force, 3
CHANGE = 3  # of the velocity under force since the last reversal, 3
VELOCITY = 6  # a tick ago, 3
SINCE = 9  # time under force since the last reversal [s]
WHOLE = 10  # all time since it [s]
COUNT = 11  # reversals in a row
FIRST = 12  # size of the change at the first of these
AWAY = 13  # time of the interruption [s]
SKIPPED = 14  # 1: the last reversal did not count, because of an interruption before it
FADING = 2 * PORT  # place of the mark that the force goes

ARMING, ARMED, INTERRUPTED = int(Safety.ARMING), int(Safety.ARMED), int(Safety.INTERRUPTED)
OSCILLATION = int(Fault.OSCILLATION)


@kernel
def forget_swing(state):
    """Start anew: nothing was felt yet."""
    for i in range(SWING):
        state.swing[i] = 0.0


@kernel
def overlook(m, at, velocity, first, gap_s):
    """Advance a port by a tick of an interruption: what the velocity changes counts for LINGER_S."""
    m[at + WHOLE] += gap_s
    m[at + AWAY] += gap_s
    if m[at + AWAY] <= LINGER_S:
        follow(m, at, velocity, first)
    for i in range(3):
        m[at + VELOCITY + i] = velocity[first + i]


@kernel
def follow(m, at, velocity, first):
    """Add what the velocity changed since the tick before."""
    for i in range(3):
        m[at + CHANGE + i] += velocity[first + i] - m[at + VELOCITY + i]
        m[at + VELOCITY + i] = velocity[first + i]


@kernel
def count_reversals(m, at, force, velocity, first, limit, gap_s, length):
    """Advance a port by one tick with force; True at the last of REVERSALS in a row.

    m (SWING,)         memory, the port's from ``at`` on
    force (3,)         on the hand; its limit
    velocity           of the device, or angular velocity, 3 numbers from ``first`` on
    gap_s              real time since the tick before
    length       [m]   that makes a velocity of it
    """
    m[at + AWAY] = 0.0
    m[at + SINCE] += gap_s
    m[at + WHOLE] += gap_s
    follow(m, at, velocity, first)
    along = force_2 = change_2 = 0.0
    for i in range(3):
        along += force[i] * m[at + SIDE + i]
        force_2 += force[i] ** 2
        change_2 += m[at + CHANGE + i] ** 2
    if m[at + SINCE] > SLOWEST_S:
        m[at + COUNT] = 0.0
    size = math.sqrt(force_2)
    if size < SHARE * limit or size == 0.0:
        return False
    has_side = m[at] != 0.0 or m[at + 1] != 0.0 or m[at + 2] != 0.0
    if has_side and not along < 0.0:
        return m[at + COUNT] >= REVERSALS
    for i in range(3):
        m[at + SIDE + i] = force[i] / size
    if not has_side:
        return False
    change, since = length * math.sqrt(change_2), m[at + SINCE]
    slow = since <= SLOWEST_S and change >= ACCELERATION * since
    quick = m[at + WHOLE] <= QUICK_S and change >= SPEED
    dies = m[at + COUNT] + 1.0 >= REVERSALS and change < DYING * m[at + FIRST]
    was_interrupted = m[at + WHOLE] > m[at + SINCE] + LEAST_GAP_S
    if was_interrupted and m[at + SKIPPED] == 0.0 and (dies or not (slow or quick)):
        m[at + SKIPPED] = 1.0
    else:
        m[at + SKIPPED] = 0.0
        if dies:
            m[at + COUNT] = 0.0
        m[at + COUNT] = m[at + COUNT] + 1.0 if slow or quick else 0.0
        if m[at + COUNT] == 1.0:
            m[at + FIRST] = change
    m[at + SINCE] = m[at + WHOLE] = 0.0
    for i in range(3):
        m[at + CHANGE + i] = 0.0
    return m[at + COUNT] >= REVERSALS


@kernel
def watch_swing(plan, state, inp):
    """Look at the forces of this tick; True at the tick in which a swing has taken all force away.

    From the last reversal on the gain fades to zero within FADE_S; then the fault state is entered.
    """
    m, mode, gap_s = state.swing, state.safety[MODE], inp.gap[0]
    if mode == INTERRUPTED:
        overlook(m, 0, inp.device, 3, gap_s)
        if plan.coupled_rotation != NONE:
            overlook(m, PORT, inp.device_rotation, 4, gap_s)
        return False
    if mode != ARMING and mode != ARMED:
        forget_swing(state)
        return False
    pushes = count_reversals(m, 0, state.hand_force_D, inp.device, 3, inp.coupler[2], gap_s, 1.0)
    turns = plan.coupled_rotation != NONE and count_reversals(
        m, PORT, state.hand_torque_D, inp.device_rotation, 4, inp.rotation_coupler[2], gap_s, GRIP_M
    )
    if pushes or turns:
        m[FADING] = 1.0
    if m[FADING] == 0.0:
        return False
    state.safety[MODE] = ARMED  # a ramp that still rose ends
    state.gain[0] -= plan.tick_s / FADE_S
    return state.gain[0] <= 0.0
