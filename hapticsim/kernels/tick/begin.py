"""Second stage of a tick: which rows hold when it begins."""

from __future__ import annotations

from hapticsim.kernels.events.activation import release_violated
from hapticsim.kernels.events.edge_places import put_edges_in_places
from hapticsim.kernels.events.follow_mesh import follow_meshes
from hapticsim.kernels.events.inside import GAP_DEEP, forget_feature
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.events.resolve_contacts import LEAVE, touching
from hapticsim.kernels.events.switching import activate_by_touch, slip_or_break, switch_as_asked
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.rows.row_table import FREE, list_rows
from hapticsim.kernels.solve.speed_selection import UNCHOSEN, record
from hapticsim.kernels.tick.piece_start import LOOKING, RESOLVED
from hapticsim.kernels.units import resolve, resolve_after_switch, start_piece


@kernel
def begin_tick(plan, state, inp, out, ws):
    """Switch constraints as asked, resolve what touches or pulls, start the first piece; return its rows."""
    changed = state.mode.size > plan.contacts and switch_as_asked(plan, state, inp, ws, out)
    m = list_rows(plan, state, ws)
    if changed or m != state.rank[1]:
        m = resolve_after_switch(plan, state, inp, ws, out, 0.0)
    pulls = start_piece(plan, state, inp, out, ws, 0.0, m, LOOKING)
    copy(ws.good_q if changed else ws.q0, ws.put_q)
    put_edges_in_places(plan, state, ws, m, GAP_DEEP)
    kept = leave_lost_corners(plan, state, out, ws, m)
    if kept < m:
        m = kept
        pulls = start_piece(plan, state, inp, out, ws, 0.0, m, LOOKING)
    if touching(plan, state, ws, out, m) or pulls:
        m = resolve(plan, state, inp, ws, out, 0.0, 0)
        start_piece(plan, state, inp, out, ws, 0.0, m, RESOLVED)
    if state.mode.size > plan.contacts:
        m = watch_constraints(plan, state, inp, out, ws, m)
    return m


@kernel
def watch_constraints(plan, state, inp, out, ws, m):
    """Release what is violated or broken, let slip what friction does not hold, activate what touches."""
    slips = release_violated(plan, state, ws, out, m, 0.0) or slip_or_break(plan, state, ws, out, m, 0.0)
    if slips:
        m = resolve_after_switch(plan, state, inp, ws, out, 0.0)
    m, activated = activate_by_touch(plan, state, inp, ws, out, 0.0, m)
    if slips or activated:
        start_piece(plan, state, inp, out, ws, 0.0, m, RESOLVED)
    return m


@kernel
def leave_lost_corners(plan, state, out, ws, m):
    """Delete the rows of corners that slid past the edge of their face; return the rows left."""
    follow_meshes(plan, state, ws.X)
    for i in range(ws.counts[HELD_ROWS], m):
        if is_lost(plan, state, ws.rows[i], ws.X):
            state.mode[ws.rows[i]] = FREE
            forget_feature(plan, state, ws.rows[i])
            state.depth[ws.rows[i]] = min(state.depth[ws.rows[i]], 0.0)
            state.rank[0] = state.rank[1] = 0
            state.volume[0] = UNCHOSEN
            record(out, LEAVE, ws.rows[i], 0.0, 0.0)
    return list_rows(plan, state, ws)
