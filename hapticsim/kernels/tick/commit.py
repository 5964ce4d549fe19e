"""Last stage of a tick: its outcome becomes the state, or is refused and the state before stays."""

from __future__ import annotations

import math

from hapticsim.codes import CROWDED_TICKS, EVERY_TICK, Event, Fault
from hapticsim.kernels.events.activation import CONFLICT, INCONSISTENT, release
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.haptics.safety import FAULT, take_force_away
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import MODE
from hapticsim.kernels.motion.deformation import give_deformation
from hapticsim.kernels.motion.energy import BEFORE, REFUSED, UNKNOWN, farthest, gained, total_energy
from hapticsim.kernels.motion.integrate import is_finite
from hapticsim.kernels.rows.row_table import FREE, HELD
from hapticsim.kernels.solve.speed_selection import AFTER_STEP, UNCHOSEN, record
from hapticsim.kernels.tick.certificate import certify_gain, certify_nothing

NOT_FINITE, EVENT_NOT_FINITE, EVENT_SAFETY = int(Fault.NOT_FINITE), int(Event.NOT_FINITE), int(Event.SAFETY)
ENERGY, EVENT_ENERGY = int(Fault.ENERGY), int(Event.ENERGY)


@kernel
def checkpoint(plan, state, ws):
    """Remember the state, which stays if the tick is refused."""
    copy(ws.q0, ws.good_q)
    copy(ws.u0, ws.good_u)
    first = plan.contacts if plan.steps == EVERY_TICK else 0  # a tick that is refused lets contacts go
    for b in range(first, state.mode.size):
        ws.good_mode[b] = state.mode[b]
    if plan.steps != EVERY_TICK:
        copy(state.mode, ws.touched)
    for c in range(plan.contacts, state.friction.size):
        ws.slip_force[c] = state.friction[c]
    if plan.steps == CROWDED_TICKS:
        copy(state.grip, ws.good_grip)
        copy(state.face, ws.good_face)
        copy(state.depth, ws.good_depth)
        ws.stepped[0] = int(state.volume[0] == AFTER_STEP)


@kernel
def commit_or_reject(plan, state, out, ws, safety, was_refused):
    """End the tick.  safety: state of the force output before it; was_refused: so was the tick before."""
    commanded = is_finite(out.hand_force_D) and is_finite(out.hand_torque_D)
    finite = is_finite(ws.q0) and is_finite(ws.u0) and commanded
    beyond = farthest(plan, ws) if finite else math.inf
    gain = gained(plan, state, ws) if beyond <= 1.0 else 0.0
    if not math.isfinite(gain):
        finite, beyond, gain = False, math.inf, 0.0
    refused = beyond > 1.0 or gain != 0.0
    certify_gain(out, ws)
    state.energy[2] = max(state.energy[2], UNKNOWN)
    if beyond > 1.0:
        reject_tick(plan, state, out, ws, NOT_FINITE)
        record(out, EVENT_NOT_FINITE, -1, beyond if finite else 0.0, plan.tick_s)
    elif refused:
        reject_tick(plan, state, out, ws, ENERGY)
        record(out, EVENT_ENERGY, -1, gain, plan.tick_s)
    if gain != 0.0 and was_refused:
        release_last(plan, state, out, plan.tick_s)
    if not refused:
        copy(ws.q0, state.q)
        copy(ws.u0, state.u)
        give_deformation(state, ws)
        for c in range(plan.contacts, state.mode.size):
            state.friction[c] = ws.slip_force[c] if state.mode[c] > HELD else 0.0
    if state.safety[MODE] == FAULT:  # also one that was found in the middle of the tick
        copy(state.hand_force_D, out.hand_force_D)
        copy(state.hand_torque_D, out.hand_torque_D)
    if state.safety[MODE] != safety:
        record(out, EVENT_SAFETY, -1, state.safety[MODE], 0.0)
    state.tick[0] += 1


@kernel
def reject_tick(plan, state, out, ws, fault):
    """Refuse the tick: the state at its start, at rest, nothing touching, and no force.

    Coordinates are put onto the rows that held then, where that takes no more than the speeds had: to close
    the gaps of the last step may cost energy near a singular configuration, which no later tick should find.
    """
    copy(ws.good_q, state.q)
    for c in range(plan.contacts, state.mode.size):
        state.mode[c] = ws.good_mode[c]
    state.energy[0] = state.energy[1] = 0.0
    state.energy[2] = REFUSED
    for r in range(state.u.size):
        state.u[r] = 0.0
    if plan.energy != 0 and total_energy(plan, ws, ws.put_q, state.u) <= ws.work[BEFORE]:
        copy(ws.put_q, state.q)
    for k in range(plan.contacts):
        state.mode[k] = FREE
        state.face[k] = 0
        state.depth[k] = 0.0
    for t in range(state.still.size):
        state.still[t] = 0
    ws.sleepers[0] = 0
    certify_nothing(out)
    for k in range(state.impulse.size):
        state.impulse[k] = out.force[k] = 0.0
    for k in range(state.friction_impulse_W.shape[0]):
        for c in range(3):
            state.friction_impulse_W[k, c] = out.friction_W[k, c] = 0.0
    for k in range(state.grip.size):
        state.grip[k] = 0
    state.rank[0] = state.rank[1] = 0
    state.volume[0] = UNCHOSEN
    take_force_away(state, fault)
    copy(state.hand_force_D, out.hand_force_D)
    copy(state.hand_torque_D, out.hand_torque_D)


@kernel
def release_last(plan, state, out, t):
    """Release the last constraint that holds: ticks gain energy again and again, also from rest."""
    for c in range(state.mode.size - 1, plan.contacts - 1, -1):
        if state.mode[c] != FREE:
            record(out, CONFLICT, c, 1.0, t)
            release(state, out, c, t)
            take_force_away(state, INCONSISTENT)
            return
