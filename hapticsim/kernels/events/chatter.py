"""The end of a chatter: a body that rocks to rest between corners strikes them for ever."""

from __future__ import annotations

from hapticsim.kernels.events.inside import GAP_CAPTURE, hold_here, hold_open, is_near
from hapticsim.kernels.events.resolve_contacts import TOUCH, energy_lost
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.linalg.linear import ldl_factor
from hapticsim.kernels.rows.row_table import (
    FREE,
    HELD,
    evaluate_rows,
    list_constraints,
    rate_of,
)
from hapticsim.kernels.solve.mobility import meet_rates, orthonormal_constraints
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import follow_meshes, resolve, terms, write_contact_row

RATE_CAPTURE = 0.1  # [m/s] what parts faster is let go


def rest_chattering(plan, state, inp, ws, out, t, _):
    """End a chatter: every contact nearly closed at (ws.q0, ws.u0) is taken as resting, and then resolved.

    The speeds go to the nearest ones (in kinetic energy) at which none of these contacts opens or closes, so
    that energy is only lost; what gap is left stays.
    """
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    follow_meshes(plan, state, ws.X)
    m = list_constraints(plan, state, ws)
    first = m
    evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
    for k in range(plan.contacts):
        if m == ws.rows.size:
            break
        near = state.mode[k] == HELD or is_near(plan, state, k, ws.X, GAP_CAPTURE)
        if near and not is_lost(plan, state, k, ws.X):
            write_contact_row(plan, state, k, m, ws)
            if rate_of(ws.A, m, ws.u0, ws.b) <= RATE_CAPTURE:
                ws.rows[m] = k
                m += 1
    if m > first:
        ldl_factor(ws.M, ws.u0.size, ws.L)
        n, _ = orthonormal_constraints(plan, m, ws.u0.size, ws)
        meet_rates(n, ws.u0, ws.us, ws)
        lost = energy_lost(ws, ws.us)
        for i in range(first, m):
            k = ws.rows[i]
            if state.mode[k] == FREE:
                state.mode[k] = HELD
                hold_here(plan, state, k, ws.X)
                hold_open(plan, state, k, ws.X)
                record(out, TOUCH, k, lost, t)
                lost = 0.0
    return resolve(plan, state, inp, ws, out, t, 0)
