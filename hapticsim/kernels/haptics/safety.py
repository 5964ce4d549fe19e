"""State machine of the force output: disarmed, arming, armed, interrupted, fault.

No force without an explicit arm request, and after a fault none until the next one.  The gain rises linearly
over the ramp whatever the stiffness.  A fault or an interruption takes the force away at once.

An interruption is a short silence: of the device, of the bridge (which says by WATCHDOG that it heard
nothing), or of this loop.  It ends by itself when the peer was heard again within ``resume_within_s``, has
been heard for SETTLE_S, and stands where its speed allows; the gain then rises from zero.  Whatever else goes
wrong meanwhile is a fault.  A hand that pressed moves on while its force is away: the coupler may be as long
then as while it is armed.
"""

from __future__ import annotations

import math

from hapticsim.codes import DeviceFlag, Fault, Safety
from hapticsim.kernels.haptics.coupling import NONE, anchor
from hapticsim.kernels.haptics.oscillation import FADING, OSCILLATION, forget_swing
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import ARMS, DISARMS, FAULTS, MODE

MAX_ANGULAR_SPEED = 50.0  # [rad/s] of the device; no wrist turns so fast
# How far a sample may run ahead of its stamp: a bridge that is stopped between reading its device and
# sending, for less than a silence, stamps the sample late.  At 2 m/s and 9 ms it takes 3.6 ms.
SLACK_S = 0.004
SETTLE_S = 0.005  # heard again for so long, both ends know of the interruption: a round trip takes 2 ms
ARMED_STRETCH = 4.0  # times max_stretch_m: a coupler longer than that takes the force away
RESUME_RAMP_S = 0.2  # at most, after an interruption: about what a person needs to react; a choice
SUSPENDED_S = 0.05  # the clocks of a computer that was not suspended differ by less

DISARMED, ARMING, ARMED, FAULT, INTERRUPTED = (
    int(s) for s in (Safety.DISARMED, Safety.ARMING, Safety.ARMED, Safety.FAULT, Safety.INTERRUPTED)
)
DEVICE_SILENT, DEVICE_SPEED, JUMP = int(Fault.DEVICE_SILENT), int(Fault.DEVICE_SPEED), int(Fault.JUMP)
STALLED, SUSPENDED, STRETCH = int(Fault.STALLED), int(Fault.SUSPENDED), int(Fault.STRETCH)
LINK = int(Fault.LINK)
NOT_DRIVABLE = int(Fault.STOPPED)
READY, WATCHDOG, STOPPED = int(DeviceFlag.READY), int(DeviceFlag.WATCHDOG), int(DeviceFlag.STOPPED)


@kernel
def take_force_away(state, fault):
    """Enter the fault state with no coupling and no force on the hand."""
    state.safety[MODE] = FAULT
    state.safety[FAULTS] |= fault
    drop_force(state)


@kernel
def drop_force(state):
    """No coupling and no force on the hand, at once."""
    state.gain[0] = 0.0
    state.interruption[0] = state.interruption[1] = 0.0
    for i in range(3):
        state.hand_force_D[i] = 0.0
        state.hand_torque_D[i] = 0.0


@kernel
def is_on(state):
    """Whether the coupler pulls."""
    return state.safety[MODE] == ARMING or state.safety[MODE] == ARMED


@kernel
def silence(plan, inp):
    """Why the device and the loop did not hear each other, as a fault; 0 where they did."""
    d = inp.device
    if inp.gap[0] > plan.stall_s:
        return STALLED
    if d[7] != 0.0 and d[6] <= plan.cut_off_s and inp.flags[0] & WATCHDOG == 0:
        return 0
    return DEVICE_SILENT


@kernel
def refusal(plan, inp):
    """Why there must be no force whatever is heard: suspended, the remote site silent, the device stopped."""
    d, flags = inp.device, inp.flags[0]
    fault = SUSPENDED if inp.gap[1] > SUSPENDED_S else 0
    if not inp.link[0] <= 0.0:
        fault |= LINK
    if d[7] != 0.0 and d[6] <= plan.cut_off_s and (flags & READY == 0 or flags & STOPPED != 0):
        fault |= NOT_DRIVABLE
    return fault


@kernel
def rotates_too_fast(plan, inp):
    """Whether a device whose rotation counts turns faster than MAX_ANGULAR_SPEED."""
    w = inp.device_rotation
    return (
        plan.coupled_rotation != NONE
        and math.sqrt(w[4] * w[4] + w[5] * w[5] + w[6] * w[6]) > MAX_ANGULAR_SPEED
    )


@kernel
def room(plan, state, inp):
    """How much further the device could have moved since the last sample that counted [m]."""
    d, seen = inp.device, state.last_sample
    moved = math.sqrt((d[0] - seen[0]) ** 2 + (d[1] - seen[1]) ** 2 + (d[2] - seen[2]) ** 2)
    return seen[4] + plan.max_device_speed_m_per_s * max(seen[3] - d[6], 0.0) - moved


@kernel
def implausible(plan, state, inp):
    """What is wrong with a sample that was heard, as a fault, else 0.  NaN is left to the tick."""
    d = inp.device
    speed = math.sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5])
    if speed > plan.max_device_speed_m_per_s or rotates_too_fast(plan, inp):
        return DEVICE_SPEED
    return JUMP if room(plan, state, inp) < 0.0 else 0


@kernel
def remember(plan, state, inp, follows):
    """Count with this sample from now on; follows: it is judged by the one before, not the first of force."""
    seen, most = state.last_sample, SLACK_S * plan.max_device_speed_m_per_s
    seen[4] = min(room(plan, state, inp), most) if follows else most
    for i in range(3):
        seen[i] = inp.device[i]
    seen[3] = inp.device[6]


@kernel
def stretch_of(plan, state, inp, hx, hy, hz):
    """Distance from the device's point to the handle [m]."""
    px, py, pz, _, _, _ = anchor(plan, state, inp)
    return math.sqrt((px - hx) ** 2 + (py - hy) ** 2 + (pz - hz) ** 2)


@kernel
def interrupt(plan, state, why):
    """A silence while force is on: an interruption while it is short, then a fault.

    A force that was fading because the device swings by itself does not come back after it.
    """
    if state.swing[FADING] != 0.0:
        take_force_away(state, why | OSCILLATION)
        return
    if not state.last_sample[3] <= plan.resume_within_s:
        take_force_away(state, why)
        return
    state.safety[FAULTS] = why if state.safety[MODE] != INTERRUPTED else state.safety[FAULTS] | why
    state.safety[MODE] = INTERRUPTED
    drop_force(state)
    state.interruption[0] = state.last_sample[3]


@kernel
def resume(plan, state, inp, hx, hy, hz):
    """The peer is heard again while interrupted: ramp up once it has been for SETTLE_S."""
    lasted = state.interruption
    if lasted[1] == 0.0:
        lasted[0] = max(state.last_sample[3] - inp.device[6], 0.0)
        if not lasted[0] <= plan.resume_within_s:
            take_force_away(state, state.safety[FAULTS])
            return
    lasted[1] += inp.gap[0]
    if lasted[1] < SETTLE_S:
        return
    if not stretch_of(plan, state, inp, hx, hy, hz) <= ARMED_STRETCH * plan.max_stretch_m:
        take_force_away(state, STRETCH)
        return
    state.safety[MODE], state.safety[FAULTS] = ARMING, 0
    lasted[1] = 0.0
    lasted[2] += 1.0
    lasted[3] = max(lasted[3], lasted[0])


@kernel
def grant(plan, state, inp, hx, hy, hz):
    """An arm request that nothing refuses: start the ramp, or say why not."""
    stretch = stretch_of(plan, state, inp, hx, hy, hz)
    if stretch > plan.max_stretch_m and plan.reseat == 1:
        px, py, pz, _, _, _ = anchor(plan, state, inp)
        state.origin_W[0] += hx - px
        state.origin_W[1] += hy - py
        state.origin_W[2] += hz - pz
        stretch = 0.0
    if not stretch <= plan.max_stretch_m:
        state.safety[FAULTS] = STRETCH
        return
    state.safety[MODE], state.safety[FAULTS] = ARMING, 0
    state.gain[0] = state.interruption[0] = 0.0
    forget_swing(state)


@kernel
def asks_for_handle(state, inp):
    """Whether update_safety will look where the handle is."""
    return inp.requests[0] > state.safety[ARMS] or state.safety[MODE] == INTERRUPTED


@kernel
def update_safety(plan, state, inp, hx, hy, hz):
    """Advance the state machine by one tick; (hx, hy, hz) is the handle in the world [m].

    Requests are counts that only rise: a lower one asks for nothing.
    """
    safety = state.safety
    was_on = is_on(state)
    arm, disarm = inp.requests[0] > safety[ARMS], inp.requests[1] > safety[DISARMS]
    safety[ARMS], safety[DISARMS] = max(safety[ARMS], inp.requests[0]), max(safety[DISARMS], inp.requests[1])
    state.last_sample[3] += inp.gap[0]
    silent, refused = silence(plan, inp), refusal(plan, inp)
    if was_on and silent == STALLED and not state.last_sample[3] <= plan.resume_within_s:
        interrupt(plan, state, STALLED)  # before a request to disarm, so that the fault can be read
    if disarm and safety[MODE] != FAULT:
        safety[FAULTS] = 0 if safety[MODE] == INTERRUPTED else safety[FAULTS]
        safety[MODE] = DISARMED
        state.gain[0] = state.interruption[0] = state.interruption[1] = 0.0
    on = is_on(state) or safety[MODE] == INTERRUPTED
    if refused & NOT_DRIVABLE != 0 or (on and refused != 0):
        take_force_away(state, refused)
    elif on and inp.device[7] == 0.0:
        take_force_away(state, DEVICE_SILENT)
    elif on and silent != 0:
        interrupt(plan, state, silent)
    elif on:
        wrong = implausible(plan, state, inp)
        if wrong != 0:
            take_force_away(state, wrong)
        elif safety[MODE] == INTERRUPTED:
            resume(plan, state, inp, hx, hy, hz)
    elif arm and not disarm:  # both at once: no force
        wrong = refused | silent
        if wrong != 0:
            safety[FAULTS] = wrong
        else:
            grant(plan, state, inp, hx, hy, hz)
    if silent == 0 and safety[MODE] != INTERRUPTED:
        remember(plan, state, inp, was_on and is_on(state))
    if safety[MODE] == ARMING:
        ramp_s = plan.ramp_s
        if state.interruption[0] > 0.0:
            ramp_s = min(ramp_s, RESUME_RAMP_S)
        state.gain[0] += plan.tick_s / ramp_s if ramp_s > 0.0 else 1.0
        if state.gain[0] >= 1.0:
            state.gain[0] = 1.0
            state.interruption[0] = 0.0
            safety[MODE] = ARMED
