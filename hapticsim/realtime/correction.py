"""A running mechanism corrected from outside, between two ticks, without a step in the force on the hand."""

from __future__ import annotations

import math

from numba import njit

from hapticsim.codes import Safety
from hapticsim.kernels.memory.arrays import MODE
from hapticsim.kernels.memory.pack import read_packed
from hapticsim.realtime.atomics import load_acquire, store_release, swap
from hapticsim.realtime.exchange import ADOPTION, adopt, write_state

# How far a state to adopt has come, Exchange.control[ADOPTION]: asked for at a tick, being taken, taken, not
# taken because the loop was at another tick; or asked for as a whole.
ASKED, TAKING, TAKEN, MISSED, WHOLE = 1, 2, 3, 4, 5
EASE_S = 0.25  # in which the largest force of a device may come or go by a correction
ARMING, ARMED = int(Safety.ARMING), int(Safety.ARMED)


@njit(nogil=True)
def take_over(pending, state, io):
    """Take what another thread asks to be taken; return whether the mechanism was corrected.

    pending carries the tick before which it is true, -1: whichever comes next.
    """
    if load_acquire(io.control, ADOPTION) == 0:
        return False
    if swap(io.control, ADOPTION, ASKED, TAKING):
        if pending.tick[0] >= 0 and pending.tick[0] != state.tick[0]:
            store_release(io.control, ADOPTION, MISSED)
            return False
        adopt(pending, state)
        store_release(io.control, ADOPTION, TAKEN)
        return True
    if swap(io.control, ADOPTION, WHOLE, TAKING):
        read_packed(io.whole, state)
        write_state(state, io)
        store_release(io.control, ADOPTION, TAKEN)
    return False


@njit(nogil=True)
def _shrink(offset, most):
    """Move an offset (3,) towards zero by at most this."""
    size = math.sqrt(offset[0] ** 2 + offset[1] ** 2 + offset[2] ** 2)
    share = 1.0 - most / size if size > most else 0.0
    for i in range(3):
        offset[i] *= share


@njit(nogil=True)
def _ease(value, offset, last, limit, most, corrected, on):
    """Add to a force (3,) what a correction took from it, less and less; never more than the limit."""
    _shrink(offset, most)
    eased = False
    for i in range(3):
        if corrected:
            offset[i] = last[i] - value[i]
        if not on:
            offset[i] = 0.0
        if offset[i] != 0.0:
            eased = True
            value[i] += offset[i]
    size = math.sqrt(value[0] ** 2 + value[1] ** 2 + value[2] ** 2)
    for i in range(3):
        if eased and size > limit:
            value[i] *= limit / size
        last[i] = value[i]


@njit(nogil=True)
def ease(plan, state, inp, out, io, corrected):
    """Let force and torque on the hand go over to those of a corrected mechanism within EASE_S.

    Only what leaves for the device is eased: the mechanism, and what a remote site does, know nothing of it.
    Without force there is nothing to ease, and nothing may be left to come back later.
    """
    if io.link[0] == 0:
        return
    on = state.safety[MODE] == ARMING or state.safety[MODE] == ARMED
    e, share = io.easing, plan.tick_s / EASE_S
    _ease(out.hand_force_D, e[0:3], e[6:9], inp.coupler[2], share * inp.coupler[2], corrected, on)
    _ease(
        out.hand_torque_D,
        e[3:6],
        e[9:12],
        inp.rotation_coupler[2],
        share * inp.rotation_coupler[2],
        corrected,
        on,
    )
