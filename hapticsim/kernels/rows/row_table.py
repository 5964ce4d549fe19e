"""The row table as a tick asks it: which rows are imposed, those of constraints first; and what each says."""

from __future__ import annotations

from hapticsim.codes import Grip, Mode
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, SLIPPING
from hapticsim.kernels.quiet import is_quiet
from hapticsim.kernels.units import evaluate_held, evaluate_sticking, write_contact_row

FREE, HELD = int(Mode.FREE), int(Mode.HELD)
STICKS = int(Grip.STICKS)
ASLEEP_FREE, ASLEEP_HELD = -2, -1  # of a contact within a tick in which what it is about sleeps, or it yields


@kernel
def list_constraints(plan, state, ws):
    """Begin ws.rows with the rows of the constraints that hold; return their number."""
    m, slips = 0, 0
    for c in range(plan.contacts, state.mode.size):
        if state.mode[c] == HELD:
            for k in range(plan.block_start[c], plan.block_start[c + 1]):
                if m < ws.rows.size:
                    ws.rows[m] = k
                    m += 1
        elif state.mode[c] != FREE:
            slips += 1
    ws.counts[HELD_ROWS] = m
    ws.counts[SLIPPING] = slips
    return m


@kernel
def put_modes_back(plan, state):
    """Let the contacts that sleep be free or held, as they are between ticks."""
    for k in range(plan.contacts):
        if state.mode[k] < FREE:
            state.mode[k] = HELD if state.mode[k] == ASLEEP_HELD else FREE


@kernel
def leave_yielding(plan, state):
    """Within a tick no part of it takes up a contact whose surface yields, as if it slept."""
    if plan.yielding_forces != 0:
        for k in range(plan.contacts):
            if plan.compliant[k] == 1:
                state.mode[k] = ASLEEP_FREE


@kernel
def has_room(plan, state, ws):
    """Whether the rows of all constraints that are not free fit; one that slips may stick."""
    rows = 0
    for c in range(plan.contacts, state.mode.size):
        if state.mode[c] != FREE:
            rows += plan.block_start[c + 1] - plan.block_start[c]
    return rows <= ws.rows.size


@kernel
def list_rows(plan, state, ws):
    """ws.rows = all rows imposed, constraints first; return their number."""
    m = list_constraints(plan, state, ws)
    if plan.sticking_rows != 0:
        m = list_grips(plan, state, ws)
    for k in range(plan.contacts):
        if state.mode[k] == HELD and m < ws.rows.size:
            ws.rows[m] = k
            m += 1
    return m


@kernel
def list_grips(plan, state, ws):
    """Begin ws.rows with two rows, of the number of their contact, for each that sticks; return how many."""
    m, slides = 0, 0
    for k in range(plan.contacts):
        if state.mode[k] == HELD and plan.contact_friction[k] > 0.0:
            if state.grip[k] != STICKS:
                slides += 1
            elif m + 2 <= ws.rows.size:
                ws.rows[m] = ws.rows[m + 1] = k
                m += 2
    ws.counts[HELD_ROWS] = m
    ws.counts[SLIPPING] = slides
    return m


@kernel
def evaluate_rows(plan, state, q, u, t, m, ws):
    """Write the m rows of ws.rows at the frames in ws to ws.A, ws.s, ws.b and their gaps to ws.phi.

    t   [s] into the tick.
    """
    held = min(ws.counts[HELD_ROWS], m)
    if held > 0 and plan.sticking_rows != 0:
        evaluate_sticking(plan, state, ws)
    elif held > 0:
        evaluate_held(plan, state, q, u, t, held, ws)
    for i in range(held, m):
        if is_quiet(plan, ws, ws.rows[i]):
            continue
        ws.phi[i] = write_contact_row(plan, state, ws.rows[i], i, ws)


@kernel
def rate_of(A, i, u, b):
    """A u - b of row i."""
    total = -b[i]
    for r in range(u.size):
        total += A[i, r] * u[r]
    return total
