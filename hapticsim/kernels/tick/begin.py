"""Second stage of a tick, and the start of every later piece: which rows hold, and by which speeds."""

from __future__ import annotations

from hapticsim.kernels.events.activation import release_violated
from hapticsim.kernels.events.edge_places import put_edges_in_places
from hapticsim.kernels.events.follow_mesh import follow_meshes
from hapticsim.kernels.events.guards import row_forces
from hapticsim.kernels.events.inside import GAP_DEEP, forget_feature
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.events.resolve_contacts import LEAVE, touching
from hapticsim.kernels.events.switching import activate_by_touch, slip_or_break, switch_as_asked
from hapticsim.kernels.geometry.edges import feature, is_lost
from hapticsim.kernels.linalg.selection import KEEP_CHOICE
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.motion.energy import FIRST, POWER
from hapticsim.kernels.motion.integrate import largest_gap, largest_rate, project
from hapticsim.kernels.rows.row_table import FREE, list_rows
from hapticsim.kernels.solve.embedding import scaled_volume
from hapticsim.kernels.solve.speed_selection import UNCHOSEN, record
from hapticsim.kernels.units import choose_speeds, resolve, resolve_after_switch, stage, start_piece

GAP_REDUNDANT = 1e-9  # [m] by which rows that counted as redundant may be off before a new look
RATE_REDUNDANT = 1e-7  # [m/s] the same for their rates: an integration step leaves 1e-9 in moderate motion
GAP_PUT = 1e-6  # [m] a contact that an event put onto its surface from further away turned its row with it
GROWN = 8.0  # a volume that grew so much means that a better choice may have come up
LOOKING, RESOLVED = 0, 1  # whether a piece may still ask for an impulse, or was resolved by one


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


def evaluate_piece_start(plan, state, inp, out, ws, t, m, resolved):
    """First stage of a piece at (ws.q0, ws.u0), put onto the m imposed rows, and the row forces there.

    The choice of speeds is watched here, and so are rows that were redundant and are no longer.  Those need
    an impulse: unless the piece is RESOLVED already, this returns without it.  Projection moves by the order
    of rounding, so the stage is kept.

    Returns True when a contact pulls, or when rows need an impulse.
    """
    det = stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    ws.work[FIRST] = ws.work[POWER]
    if m == 0:
        return False
    rank, now = state.rank[0], scaled_volume(det, state.rank[0], state.order, ws.M)
    worse = not now > KEEP_CHOICE * state.volume[0] or now > GROWN * state.volume[0]
    off = rank < m and (largest_gap(ws, m) > GAP_REDUNDANT or largest_rate(ws, m) > RATE_REDUNDANT)
    if worse or off:
        choose_speeds(plan, state, ws, out, m, t)
        if resolved == LOOKING and 0 < rank < state.rank[0]:
            return True
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        ws.work[FIRST] = ws.work[POWER]
    if largest_of(ws.phi, ws.counts[HELD_ROWS], m) > GAP_PUT:
        project(plan, state, ws, m)
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        ws.work[FIRST] = ws.work[POWER]
    for i in range(ws.counts[HELD_ROWS], m):
        ws.part[i] = feature(plan, ws.rows[i], ws.X)
    pulls = row_forces(state, ws, m, ws.du[0])
    project(plan, state, ws, m)
    return pulls


@kernel
def largest_of(a, first, end):
    """Largest of |a[first]| .. |a[end - 1]|, 0 where there is none."""
    largest = 0.0
    for i in range(first, end):
        largest = max(largest, abs(a[i]))
    return largest


@kernel
def leave_lost_corners(plan, state, out, ws, m):
    """Delete the rows of corners that slid past the edge of their face; return the rows left."""
    follow_meshes(plan, state, ws.X)
    for i in range(ws.counts[HELD_ROWS], m):
        if is_lost(plan, state, ws.rows[i], ws.X):
            state.mode[ws.rows[i]] = FREE
            forget_feature(plan, state, ws.rows[i])
            state.rank[0] = state.rank[1] = 0
            state.volume[0] = UNCHOSEN
            record(out, LEAVE, ws.rows[i], 0.0, 0.0)
    return list_rows(plan, state, ws)
