"""What every guard asks for when it fires."""

from __future__ import annotations

from hapticsim.codes import ONE_SIDED
from hapticsim.kernels.events.guards import block_of_guard, is_of_block, row_forces
from hapticsim.kernels.events.switching import let_slip, stick
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.geometry.mesh.search import is_on_mesh
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.rows.row_table import HELD, list_rows
from hapticsim.kernels.units import (
    activate_by_touch,
    follow_meshes,
    resolve,
    resolve_after_switch,
    slip_or_stick,
    stage,
)


def dispatch_event(plan, state, inp, ws, out, t, fired):
    """Do what guard ``fired`` asks for at (ws.q0, ws.u0); return the number of rows."""
    m = list_rows(plan, state, ws)
    block = block_of_guard(state, fired)
    if not is_of_block(state, fired) and is_on_mesh(plan, block):
        place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
        follow_meshes(plan, state, ws)
        if not is_lost(plan, state, block, ws.X):
            return m
    if plan.block_law[block] != ONE_SIDED:
        m = slip_or_stick(plan, state, inp, ws, out, t, block)
    else:
        tensile = is_of_block(state, fired) and state.mode[block] == HELD
        tensile = tensile and (state.rank[0] == m or plan.sticking_rows != 0)
        m = resolve(plan, state, inp, ws, out, t, int(tensile))
    return activate_by_touch(plan, state, inp, ws, out, t, m)


def release_or_hold(plan, state, inp, ws, out, t, block):
    """Let a constraint slip that friction no longer holds, or hold one whose slip came to rest, at (ws.q0,
    ws.u0); return the number of rows."""
    if state.mode[block] > HELD:
        stick(plan, state, ws, out, block, t)
    else:
        m = list_rows(plan, state, ws)
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        row_forces(plan, state, ws, m, ws.du[0])
        let_slip(plan, state, ws, out, block, m, t)
    return resolve_after_switch(plan, state, inp, ws, out, t)
