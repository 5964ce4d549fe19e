"""Second stage of a tick: which rows hold when it begins."""

from __future__ import annotations

from hapticsim.kernels.events.activation import release_violated
from hapticsim.kernels.events.inside import GAP_DEEP, forget_feature
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.events.resolve_contacts import LEAVE, touching
from hapticsim.kernels.events.switching import activate_what_touches, slip_or_break
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.rows.row_table import FREE, list_rows
from hapticsim.kernels.rows.rub import rests
from hapticsim.kernels.solve.speed_selection import UNCHOSEN, record
from hapticsim.kernels.tick.piece_start import LOOKING, RESOLVED
from hapticsim.kernels.units import (
    find_far_pairs,
    follow_meshes,
    put_edges_in_places,
    resolve,
    resolve_after_switch,
    start_piece,
    switch_as_asked,
    watch_constraints,
)


@kernel
def begin_tick(plan, state, inp, out, ws):
    """Switch constraints as asked, resolve what touches or pulls, start the first piece; return its rows."""
    changed = switch_as_asked(plan, state, inp, ws, out)
    m = list_rows(plan, state, ws)
    if changed or m != state.rank[1]:
        m = resolve_anew(plan, state, inp, ws, out)
    pulls = start_piece(plan, state, inp, out, ws, 0.0, m, LOOKING)
    copy(ws.good_q if changed else ws.q0, ws.put_q)
    find_far_pairs(plan, ws, 1)
    put_edges_in_places(plan, state, ws, out, m, GAP_DEEP)
    kept = leave_lost_corners(plan, state, out, ws, m)
    if kept < m:
        m = kept
        pulls = start_piece(plan, state, inp, out, ws, 0.0, m, LOOKING)
    if touching(plan, state, ws, out, m) or pulls or (plan.sticking_rows != 0 and rests(plan, state, ws)):
        m = resolve(plan, state, inp, ws, out, 0.0, 0)
        start_piece(plan, state, inp, out, ws, 0.0, m, RESOLVED)
        find_far_pairs(plan, ws, 1)  # what was resolved may be faster
    return watch_constraints(plan, state, inp, ws, out, m)


@kernel
def resolve_anew(plan, state, inp, ws, out):
    """Impulse, contacts and speeds for other rows than the tick before had; return the rows."""
    if state.mode.size > plan.contacts:
        return resolve_after_switch(plan, state, inp, ws, out, 0.0)
    ws.moved[0] = 1
    return resolve(plan, state, inp, ws, out, 0.0, 0)


def check_constraints(plan, state, inp, ws, out, t, m):
    """Release what is violated or broken, let slip what friction does not hold, activate what touches.

    Returns the number of rows.
    """
    slips = release_violated(plan, state, ws, out, m, t) or slip_or_break(plan, state, ws, out, m, t)
    if slips:
        m = resolve_after_switch(plan, state, inp, ws, out, t)
    m, activated = activate_what_touches(plan, state, inp, ws, out, t, m)
    if slips or activated:
        start_piece(plan, state, inp, out, ws, t, m, RESOLVED)
        find_far_pairs(plan, ws, 1)
    return m


@kernel
def leave_lost_corners(plan, state, out, ws, m):
    """Delete the rows of corners that slid past the edge of their face; return the rows left."""
    follow_meshes(plan, state, ws)
    for i in range(ws.counts[HELD_ROWS], m):
        if is_lost(plan, state, ws.rows[i], ws.X):
            state.mode[ws.rows[i]] = FREE
            forget_feature(plan, state, ws.rows[i])
            state.depth[ws.rows[i]] = min(state.depth[ws.rows[i]], 0.0)
            state.rank[0] = state.rank[1] = 0
            state.volume[0] = UNCHOSEN
            record(out, LEAVE, ws.rows[i], 0.0, 0.0)
    return list_rows(plan, state, ws)
