"""An exact tick that lacks rows for what touches, or events for what comes in, becomes one time step; so does
one in which what rubs strikes, or does what no exact tick says (rubbing/resolve_rubbing.py).

So nothing is let through, and nothing stands still.  Ticks are exact again as soon as there are rows for all
that holds.
"""

from __future__ import annotations

from hapticsim.codes import CROWDED_TICKS, Event
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import CHOICES, EVENTS, OVERFLOWS, REHEARSAL
from hapticsim.kernels.motion.energy import SPARE
from hapticsim.kernels.rows.row_table import FREE, HELD
from hapticsim.kernels.rows.rub import NONE, needs_a_step
from hapticsim.kernels.solve.speed_selection import AFTER_STEP, record
from hapticsim.kernels.time_stepping.near_contacts import let_go
from hapticsim.kernels.units import gap, sleep_again, take_time_step

LEAVE, STEPPED = int(Event.LEAVE), int(Event.STEPPED)
WIDE = 1e-5  # [m] a contact is held open by no more


@kernel
def is_step(plan, state, ws):
    """Whether more contacts hold than there are rows, so that the tick is a time step from its start; or what
    rubs is held where no rows say how it slides."""
    if plan.sticking_rows != 0 and needs_a_step(plan, state, ws):
        return True
    return plan.steps == CROWDED_TICKS and contacts_held(plan, state) > ws.rows.size


@kernel
def let_open_go(plan, state, out, ws):
    """Let contacts go that the step left open, at the frames in ws, and tell: an exact tick would hold them
    there."""
    for k in range(plan.contacts):
        if state.mode[k] == HELD and gap(plan, state, k, ws.X) > WIDE:
            let_go(plan, state, k)
            record(out, LEAVE, k, 0.0, plan.tick_s)


@kernel
def contacts_held(plan, state):
    held = 0
    for k in range(plan.contacts):
        held += int(state.mode[k] == HELD)
    return held


@kernel
def step_instead(plan, state, inp, out, ws):
    """Take the tick that ended half way as one time step from its start, the sample of which was taken."""
    copy(ws.good_q, ws.q0)
    copy(ws.good_u, ws.u0)
    copy(ws.good_mode, state.mode)
    copy(ws.good_face, state.face)
    copy(ws.good_depth, state.depth)
    for k in range(plan.contacts):
        ws.fires[k] = ws.overlooked[k] = 0
        ws.apart[k] = 0.0
    out.counts[EVENTS] = out.counts[CHOICES] = 0
    ws.work[SPARE] = 0.0
    sleep_again(plan, state, inp, ws)
    ws.sampled[0] = 1
    step_from_start(plan, state, inp, out, ws)


@kernel
def step_from_start(plan, state, inp, out, ws):
    """Take the tick as one time step, after which speeds are chosen anew; the first of several is told."""
    told, place = ws.stepped[0] == 1, out.counts[EVENTS]
    if not told:
        record(out, STEPPED, -1, 0.0, 0.0)  # before what touches fills the list
        for k in range(plan.contacts):
            if state.mode[k] >= FREE:
                state.impulse[k] = 0.0  # of some earlier step
    if plan.sticking_rows != 0:
        forget_grips(plan, state, out, ws)
    take_time_step(plan, state, inp, out, ws)
    if out.counts[REHEARSAL] == 0:
        let_open_go(plan, state, out, ws)
    if not told and place < out.counts[EVENTS]:
        out.events[place, 2] = contacts_held(plan, state)
    out.counts[OVERFLOWS] += 1
    state.rank[0] = state.rank[1] = 0
    state.volume[0] = AFTER_STEP


@kernel
def forget_grips(plan, state, out, ws):
    """What contacts do after a time step is asked anew.  Its impulses begin with the forces of this tick
    where they were told, else, as all others, with those of the step before."""
    for k in range(plan.contacts):
        state.grip[k] = NONE
        if state.mode[k] == HELD and ws.sampled[0] == 1:
            state.impulse[k] = plan.tick_s * max(out.force[k], 0.0)
            for c in range(3):
                state.friction_impulse_W[k, c] = plan.tick_s * out.friction_W[k, c]
