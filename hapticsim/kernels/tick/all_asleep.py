"""A tick in which everything sleeps: time goes on, and the sample of the tick before holds.

Of each body only the torques applied and the coordinates are read: some nanoseconds.
"""

from __future__ import annotations

from hapticsim.codes import EVERY_TICK, Event
from hapticsim.kernels.haptics.safety import FAULT, asks_for_handle, is_on, update_safety
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import CHOICES, EVENTS, MODE, PIECES, TRIALS
from hapticsim.kernels.motion.energy import remembered
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.tick.certificate import certify_nothing

EVENT_SAFETY = int(Event.SAFETY)


def sleep_through(plan, state, inp, out, ws):
    """Take a tick in which everything sleeps; False, and nothing is done, where something is awake, or out
    does not hold the sample of this state.

    Of scenes with a handle or constraints none is such a tick.
    """
    if not is_all_asleep(plan, state, inp, out, ws):
        return False
    out.counts[EVENTS] = out.counts[CHOICES] = 0
    out.counts[PIECES], out.counts[TRIALS] = 1, int(plan.steps != EVERY_TICK)
    certify_nothing(out)
    if plan.energy != 0:
        state.energy[1] = remembered(plan, state)
    safety = state.safety[MODE]
    update_safety(plan, state, inp, 0.0, 0.0, 0.0)
    if state.safety[MODE] == FAULT:
        for i in range(3):
            out.hand_force_D[i], out.hand_torque_D[i] = state.hand_force_D[i], state.hand_torque_D[i]
    if state.safety[MODE] != safety:
        record(out, EVENT_SAFETY, -1, state.safety[MODE], 0.0)
    state.tick[0] += 1
    ws.slept[0] = state.tick[0]
    return True


@inlined
def was_all_asleep(state, ws):
    """Whether the tick before left everything asleep, and a rehearsal of this one may have, too."""
    return ws.slept[0] == state.tick[0] or ws.slept[0] == state.tick[0] + 1


@kernel
def is_all_asleep(plan, state, inp, out, ws):
    """Whether all slept in the last tick, which left its sample in out, and nothing wakes any."""
    if plan.handle_frame >= 0 or state.mode.size > plan.contacts or not was_all_asleep(state, ws):
        return False
    if asks_for_handle(state, inp) or is_on(state):
        return False
    for t in range(state.still.size):
        if state.still[t] <= plan.rest_ticks:
            return False
    for r in range(inp.torque.size):
        if inp.torque[r] != 0.0:
            return False
    for i in range(out.q.size):
        if out.q[i] != state.q[i]:
            return False
    return True
