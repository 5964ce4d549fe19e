"""What every guard asks for when it fires."""

from __future__ import annotations

from hapticsim.kernels.events.guards import row_forces
from hapticsim.kernels.events.switching import engage_by_touch, let_slip, stick
from hapticsim.kernels.rows.constraint_rows import HELD, list_rows
from hapticsim.kernels.units import resolve, settle, stage


def handle_event(plan, state, inp, ws, out, t, fired):
    """Do what guard ``fired`` asks for at (ws.q0, ws.u0); return the number of rows."""
    nk = state.active.size
    m = list_rows(plan, state, ws)
    if fired >= 2 * nk:
        c = fired - 2 * nk
        if state.hold[c] > HELD:
            stick(plan, state, ws, out, c, t)
        else:
            stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
            row_forces(state, ws, m, ws.du[0])
            let_slip(plan, state, ws, out, c, m, t)
        m = settle(plan, state, inp, ws, out, t)
    else:
        tensile = fired < nk and state.active[fired] == 1 and state.rank[0] == m
        m = resolve(plan, state, inp, ws, out, t, int(tensile))
    m, _ = engage_by_touch(plan, state, inp, ws, out, t, m)
    return m
