"""The row table as a tick asks it: which rows are imposed, those of constraints first; and what each says."""

from __future__ import annotations

from hapticsim.codes import CONTACT_ROW, Mode
from hapticsim.kernels.geometry.contact import contact_row
from hapticsim.kernels.machine_code.foreign import rows_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, SLIPPING
from hapticsim.kernels.rows.bilateral import bilateral_row

FREE, HELD = int(Mode.FREE), int(Mode.HELD)


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
    for k in range(plan.contacts):
        if state.mode[k] == HELD and m < ws.rows.size:
            ws.rows[m] = k
            m += 1
    return m


@kernel
def evaluate_equations(plan, q, u, ws):
    """The mechanism's own constraint equations at (q, u), for the rows that ask for them."""
    if plan.rows_function != 0:
        rows_at(plan.rows_function)(q, u, ws.equation_phi, ws.equation_A, ws.equation_b, ws.equation_s)


@kernel
def evaluate_row(plan, state, row, i, q, t, ws):
    """Write row i of ws.A, ws.s and ws.b at the frames in ws; return its gap.

    t   [s] into the tick.
    """
    if plan.row_kind[row] == CONTACT_ROW:
        return contact_row(plan, state, row, i, ws)
    now = state.tick[0] * plan.tick_s + t
    return bilateral_row(plan, state, row, q, now, ws.A, ws.s, ws.b, i, ws)


def write_rows(plan, state, ws, q, u, t, m):
    """Write the m rows of ws.rows to ws.A, ws.s, ws.b and their gaps to ws.phi.  Returns m."""
    if ws.counts[HELD_ROWS] > 0:
        evaluate_equations(plan, q, u, ws)
    for i in range(m):
        ws.phi[i] = evaluate_row(plan, state, ws.rows[i], i, q, t, ws)
    return m


@kernel
def rate_of(A, i, u, b):
    """A u - b of row i."""
    total = -b[i]
    for r in range(u.size):
        total += A[i, r] * u[r]
    return total
