"""The choice of independent speeds for the rows imposed, and the record of what happens in a tick."""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.linalg.selection import condition_with, select_speeds
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import CHOICE, CHOICES, EVENTS, SELECTIONS
from hapticsim.kernels.solve.diagnosis import null_vectors
from hapticsim.kernels.solve.embedding import factor_dependent, scaled_volume

SELECT, RANK, OVERFLOW = int(Event.SELECT), int(Event.RANK), int(Event.OVERFLOW)
SAFETY, NOT_FINITE, ENERGY = int(Event.SAFETY), int(Event.NOT_FINITE), int(Event.ENERGY)
HALTED = int(Event.HALTED)
UNCHOSEN = 1e300  # a volume that none reaches: the speeds are chosen again
KEPT = 4  # last places of the list of events that others do not take


@kernel
def record(out, kind, contact, value, t):
    """Append an event; the last places are kept for OVERFLOW, HALTED, then SAFETY and a refusal."""
    n, room = out.counts[EVENTS], out.events.shape[0] - KEPT
    if kind == OVERFLOW:
        room += 1
    elif kind == HALTED:
        room += 2
    elif kind == SAFETY or kind == NOT_FINITE or kind == ENERGY:
        room += KEPT
    if n < room:
        out.events[n, 0] = kind
        out.events[n, 1] = contact
        out.events[n, 2] = value
        out.events[n, 3] = t
        out.counts[EVENTS] += 1


@kernel
def refuse_unless_finite(ws, m):
    """Have the tick refused where the m rows are not finite: it must not go on as if nothing were imposed."""
    total = 0.0
    for i in range(m):
        for r in range(ws.u0.size):
            total += abs(ws.A[i, r])
    if not math.isfinite(total):
        ws.u0[0] = math.nan


@kernel
def report_choice(state, ws, out, before, condition, formerly, freed, t):
    """Append to out.choices what was chosen, and the ``freed`` directions that a drop of rank set free.

    condition, formerly   of the choice, and what it would be without it; 0 where that says nothing.
    """
    n = out.counts[CHOICES]
    if n < out.choices.shape[0]:
        row = out.choices[n]
        row[0] = t
        row[1] = before
        row[2] = state.rank[0]
        row[3] = state.rank[1]
        row[4] = condition
        row[5] = formerly
        nu = state.order.size
        for r in range(nu):
            row[CHOICE + r] = state.order[r]
            row[CHOICE + nu + r] = ws.N[0, r] if freed > 0 else 0.0
            row[CHOICE + 2 * nu + r] = ws.N[1, r] if freed > 1 else 0.0
        out.counts[CHOICES] += 1


def choose_independent(state, ws, out, m, t):
    """Choose independent speeds for the m rows in ws.A; a changed choice is recorded."""
    before, missing = state.rank[0], state.rank[1] - state.rank[0]
    state.rank[1] = m
    if m == 0:
        state.rank[0] = 0
        if missing > 0:
            record(out, RANK, -1, 0.0, t)
        return 0
    refuse_unless_finite(ws, m)
    formerly = 0.0
    for i in range(before):
        ws.earlier[i] = state.order[i]
    rank, condition, changed = select_speeds(
        ws.A, m, ws.M, before, state.order, state.combine, ws.R, ws.U, ws.sigma, ws.norms, ws.perm
    )
    state.rank[0] = rank
    if changed and rank == before and rank > 0:
        formerly = condition_with(ws.earlier, ws.R, rank, ws.u0.size, condition, ws.LU)
    if rank == m:
        det = factor_dependent(ws.A, rank, state.order, ws.LU, ws.pivots)
    else:
        for i in range(rank):
            for j in range(ws.u0.size):
                total = 0.0
                for k in range(m):
                    total += state.combine[k, i] * ws.A[k, j]
                ws.B[i, j] = total
        det = factor_dependent(ws.B, rank, state.order, ws.LU, ws.pivots)
    state.volume[0] = scaled_volume(det, rank, state.order, ws.M)
    if changed:
        out.counts[SELECTIONS] += 1
        record(out, SELECT, -1, condition, t)
    if m - rank != missing:
        record(out, RANK, -1, rank, t)
    freed = 0
    if m - rank > missing:
        freed = null_vectors(
            ws.A, m, ws.M, ws.U, ws.sigma, rank, ws.u0, m - rank - missing, ws.R, ws.norms, ws.N
        )
    report_choice(state, ws, out, before, condition, formerly, freed, t)
    return rank
