"""The rows of constraints that hold, and of those that slip, at an instant."""

from __future__ import annotations

from hapticsim.codes import Mode
from hapticsim.kernels.machine_code.foreign import rows_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.rows.bilateral import bilateral_row

FORWARD, BACKWARD = int(Mode.FORWARD), int(Mode.BACKWARD)


def write_constraint_rows(plan, state, ws, q, u, t, m, slips):
    """Write the first m rows of ws.rows, which are of constraints, and their gaps, at the frames in ws.

    slips   1: those of the constraints that slip to ws.slip_A, ws.slip_s and ws.slip_b instead.
    t   [s] into the tick.
    """
    now = state.tick[0] * plan.tick_s + t
    if slips == 0:
        evaluate_equations(plan, q, u, ws)
        for i in range(m):
            ws.phi[i] = bilateral_row(plan, state, ws.rows[i], q, now, ws.A, ws.s, ws.b, i, ws)
            ws.row_low[i], ws.row_high[i] = 0, ws.A.shape[1]
        return
    if ws.counts[HELD_ROWS] == 0:  # else they were evaluated for the rows that hold
        evaluate_equations(plan, q, u, ws)
    for c in range(plan.contacts, state.mode.size):
        if state.mode[c] == FORWARD or state.mode[c] == BACKWARD:
            k = plan.block_start[c]
            bilateral_row(plan, state, k, q, now, ws.slip_A, ws.slip_s, ws.slip_b, c, ws)


@kernel
def evaluate_equations(plan, q, u, ws):
    """The mechanism's own constraint equations at (q, u), for the rows that ask for them."""
    if plan.rows_function != 0:
        rows_at(plan.rows_function)(q, u, ws.equation_phi, ws.equation_A, ws.equation_b, ws.equation_s)
