"""The end of a chatter: a body that rocks to rest between corners strikes them for ever."""

from __future__ import annotations

from hapticsim.kernels.events.guards import is_far
from hapticsim.kernels.events.inside import GAP_CAPTURE, hold_here, hold_open, is_near
from hapticsim.kernels.events.resolve_contacts import TOUCH, energy_lost
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.linalg.linear import ldl_factor
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.rows.row_table import (
    FREE,
    HELD,
    evaluate_rows,
    list_constraints,
    list_rows,
    rate_of,
)
from hapticsim.kernels.solve.islands import join_trees
from hapticsim.kernels.solve.mobility import meet_rates, orthonormal_rows
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import (
    follow_meshes,
    resolve,
    rest_bounded,
    terms,
    wake_touched,
    write_contact_row,
)

RATE_CAPTURE = 0.1  # [m/s] what parts faster is let go
ASKEW = 1e-4  # sin^2 of the angle between rows, less of which says nothing about a chatter
RATE_MET = 1e-6  # [m/s] what moves no faster after that is taken as resting


@kernel
def mark_chattering(plan, state, ws):
    """Write 1 to ws.chosen for each island that has a contact whose guard fired in this tick; to all of them
    where none has."""
    count = join_trees(plan, ws.island_of, ws.rows, list_rows(plan, state, ws))
    for b in range(count):
        ws.chosen[b] = 0
    marked = False
    for k in range(plan.contacts):
        if ws.fires[k] > 0:
            marked = True
            if plan.row_tree_a[k] >= 0:
                ws.chosen[ws.island_of[plan.row_tree_a[k]]] = 1
            if plan.row_tree_b[k] >= 0:
                ws.chosen[ws.island_of[plan.row_tree_b[k]]] = 1
    if not marked:
        for b in range(count):
            ws.chosen[b] = 1


@kernel
def is_chattering(plan, ws, k):
    """Whether contact k is about an island that ``mark_chattering`` has marked."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    return (a >= 0 and ws.chosen[ws.island_of[a]] == 1) or (b >= 0 and ws.chosen[ws.island_of[b]] == 1)


@kernel
def list_chattering(plan, state, ws, m, mode):
    """Add to the m rows in ws those of contacts of this mode that are nearly closed, and do not open fast, in
    islands that chatter; return how many rows there are."""
    for k in range(plan.contacts):
        if m == ws.rows.size:
            break
        if state.mode[k] != mode or not is_chattering(plan, ws, k):
            continue
        near = mode == HELD or (not is_far(state, ws, k) and is_near(plan, state, ws, k, GAP_CAPTURE))
        if near and not is_lost(plan, state, k, ws.X):
            write_contact_row(plan, state, k, m, ws)
            if rate_of(ws.A, m, ws.u0, ws.b) <= RATE_CAPTURE:
                ws.rows[m] = k
                m += 1
    return m


def rest_chattering(plan, state, inp, ws, out, t, _):
    """End a chatter: of the islands that chatter every contact nearly closed at (ws.q0, ws.u0) is taken as
    resting, and then all are resolved.

    The speeds go to the nearest ones (in kinetic energy) at which none of these contacts opens or closes, so
    that energy is only lost; what gap is left stays.  A row that is nearly one of others is left out: what
    rocks on a floor tilts by 1e-4 and slides, and the row of an edge that is tilted as little would stop it.
    """
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    follow_meshes(plan, state, ws)
    wake_touched(plan, state, ws, GAP_CAPTURE)
    mark_chattering(plan, state, ws)
    stuck = rest_bounded(plan, state, inp, ws, out, t)
    m = list_constraints(plan, state, ws)
    first = m
    evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
    m = list_chattering(plan, state, ws, m, HELD)
    m = list_chattering(plan, state, ws, m, FREE)
    if m > first or stuck > 0:
        ldl_factor(ws.M, ws.u0.size, ws.L)
        n, _ = orthonormal_rows(plan, m, ws.u0.size, ASKEW, ws)
        meet_rates(n, ws.u0, ws.us, ws)
        lost = energy_lost(ws, ws.us)
        for i in range(first, m):
            k = ws.rows[i]
            if state.mode[k] == FREE and abs(rate_of(ws.A, i, ws.u0, ws.b)) <= RATE_MET:
                state.mode[k] = HELD
                hold_here(plan, state, k, ws.X)
                hold_open(plan, state, k, ws.X)
                record(out, TOUCH, k, lost, t)
                lost = 0.0
    return resolve(plan, state, inp, ws, out, t, 0)
