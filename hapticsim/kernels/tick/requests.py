"""First stage of a tick: what the hand asks for, and what is held for the tick."""

from __future__ import annotations

import math

from hapticsim.codes import EVERY_TICK
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.haptics.coupling import handle_motion
from hapticsim.kernels.haptics.hand import seat_orientation
from hapticsim.kernels.haptics.safety import asks_for_handle, update_safety
from hapticsim.kernels.haptics.torque import sample_torques
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import CHOICES, EVENTS, MAY_RESPOND, MODE, PIECES, TRIALS
from hapticsim.kernels.motion.deformation import take_deformation
from hapticsim.kernels.motion.energy import REFUSED, SPARE
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.motion.stiffness import choose_method
from hapticsim.kernels.tick.commit import checkpoint


@kernel
def take_requests(plan, state, inp, out, ws):
    """Decide on force, sample torque laws, choose the method of integration.

    Returns the state of the force output before, and whether the tick before was refused.
    """
    clear_tick(plan, out, ws)
    copy(state.q, ws.q0)
    copy(state.u, ws.u0)
    take_deformation(state, ws)
    checkpoint(plan, state, ws)
    safety, was_refused = state.safety[MODE], state.energy[2] == REFUSED
    hx = hy = hz = 0.0
    if plan.handle_frame >= 0 and asks_for_handle(state, inp):
        place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
        _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    update_safety(plan, state, inp, hx, hy, hz)
    if plan.handle_frame >= 0:
        seat_orientation(plan, state, inp, ws, safety)
    sample_torques(plan, state, inp, ws)
    choose_method(plan, state, inp, ws)
    return safety, was_refused


@kernel
def clear_tick(plan, out, ws):
    """Forget what the tick before counted."""
    ws.work[SPARE] = ws.reach[0] = 0.0
    ws.foreseen[0] = math.inf
    ws.substep[0] = ws.counts[MAY_RESPOND] = ws.moved[0] = ws.sleepers[0] = ws.quiets[0] = ws.sampled[
        0
    ] = ws.left_out[0] = 0
    if plan.steps != EVERY_TICK:  # time steps overlook nothing, and find_far_pairs writes all they ask for
        for k in range(ws.apart.size):
            ws.fires[k] = ws.overlooked[k] = 0
            ws.apart[k] = 0.0
    out.counts[EVENTS] = 0
    out.counts[PIECES] = 0
    out.counts[CHOICES] = out.counts[TRIALS] = 0
