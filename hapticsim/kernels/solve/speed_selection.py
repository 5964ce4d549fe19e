"""The choice of independent speeds for the rows imposed, and the record of what happens in a tick."""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.linalg.selection import condition_with, select_speeds
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import CHOICE, CHOICES, EVENTS, SELECTIONS
from hapticsim.kernels.solve.diagnosis import null_vectors
from hapticsim.kernels.solve.embedding import AS_THEY_STAND, BY_ISLAND
from hapticsim.kernels.solve.island_solves import combine_in_islands, factor_islands, volume_of
from hapticsim.kernels.solve.islands import find_islands, join_trees, place_rows, span_islands

SELECT, RANK, OVERFLOW = int(Event.SELECT), int(Event.RANK), int(Event.OVERFLOW)
SAFETY, NOT_FINITE, ENERGY = int(Event.SAFETY), int(Event.NOT_FINITE), int(Event.ENERGY)
HALTED = int(Event.HALTED)
UNCHOSEN = 1e300  # a volume that none reaches: the speeds are chosen again
AFTER_STEP = 1e299  # the same after an exact tick that became a time step
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


@kernel
def choose_in_island(plan, state, ws, b, before, rank):
    """Choose the dependent speeds of island b: to ws.chosen from rank on.

    Its combinations of rows go to the columns from rank on of state.combine, its left vectors to those of
    ws.U, and what is left of both where rows depend on others to the last columns.
    before   speeds that were dependent, in ws.earlier.
    Returns its rank, the condition, what that would be with the speeds chosen before (0: that says nothing),
    and whether these are others now.
    """
    start, m = ws.island_row[b], ws.island_row[b + 1] - ws.island_row[b]
    first, n = ws.island_first[b], ws.island_end[b] - ws.island_first[b]
    known = 0
    for i in range(before):
        if ws.island_of[plan.tree_of_speed[ws.earlier[i]]] == b:
            ws.local[known] = ws.earlier[i] - first
            known += 1
    for i in range(m):
        gathered, row = ws.B[i], ws.A[ws.ordered_rows[start + i]]
        for k in range(first, first + n):
            gathered[k] = row[k]
    found, condition = select_speeds(
        ws.B,
        m,
        first,
        n,
        ws.M,
        ws.local,
        known,
        ws.island_combine,
        ws.R,
        ws.island_U,
        ws.island_sigma,
        ws.norms,
        ws.perm,
    )
    for i in range(known):
        ws.taken[ws.local[i] + first] = 1
    same = found == known
    for i in range(found):
        if ws.taken[ws.perm[i] + first] == 0:
            same = False
    for i in range(known):
        ws.taken[ws.local[i] + first] = 0
    formerly = 0.0
    if not same and found == known and found > 0:
        formerly = condition_with(ws.local, ws.R, found, n, condition, ws.LU)
    for i in range(found):
        ws.chosen[rank + i] = first + (ws.local[i] if same else ws.perm[i])
    spare = start - rank  # rows of the islands before that depend on others
    for j in range(m):
        column = rank + j if j < found else state.rank[1] - 1 - spare - (j - found)
        ws.sigma[column] = ws.island_sigma[j]
        for i in range(m):
            k = ws.ordered_rows[start + i]
            state.combine[k, column] = ws.island_combine[i, j]
            ws.U[k, column] = ws.island_U[i, j]
    return found, condition, formerly, not same


@kernel
def sort_nulls(state, ws, rank, m):
    """Sort the columns of state.combine and ws.U from rank on by their singular values, largest first."""
    for j in range(rank, m - 1):
        largest = j
        for k in range(j + 1, m):
            if ws.sigma[k] > ws.sigma[largest]:
                largest = k
        if largest != j:
            ws.sigma[j], ws.sigma[largest] = ws.sigma[largest], ws.sigma[j]
            for i in range(m):
                state.combine[i, j], state.combine[i, largest] = (
                    state.combine[i, largest],
                    state.combine[i, j],
                )
                ws.U[i, j], ws.U[i, largest] = ws.U[i, largest], ws.U[i, j]


@kernel
def write_order(plan, order, ws, rank, count):
    """Write to order the dependent speeds ws.chosen, then the others in rising order, island by island."""
    start = ws.island_free
    for r in range(order.size):
        ws.taken[r] = 0
    for i in range(rank):
        order[i] = ws.chosen[i]
        ws.taken[order[i]] = 1
    for b in range(count):
        start[b] = 0
    for r in range(order.size):
        start[ws.island_of[plan.tree_of_speed[r]]] += 1 - ws.taken[r]
    place = rank
    for b in range(count):
        start[b], place = place, place + start[b]
    for r in range(order.size):
        if ws.taken[r] == 0:
            b = ws.island_of[plan.tree_of_speed[r]]
            order[start[b]] = r
            start[b] += 1
        ws.taken[r] = 0


@kernel
def choose_in_islands(plan, state, ws, m, before):
    """Choose the dependent speeds of each island for the m rows in ws.A: state.rank, order and combine.

    Returns as ``choose_in_island``: the worst condition of all.
    """
    count = join_trees(plan, ws.island_of, ws.rows, m)
    place_rows(plan, ws, m, count)
    span_islands(plan, ws, count)
    for r in range(ws.taken.size):
        ws.taken[r] = 0
    for i in range(m):
        for j in range(m):
            state.combine[i, j] = ws.U[i, j] = 0.0
    rank, condition, formerly, changed = 0, 1.0, 0.0, False
    for b in range(count):
        if ws.island_row[b + 1] > ws.island_row[b]:
            found, worse, then, others = choose_in_island(plan, state, ws, b, before, rank)
            rank, condition, formerly = rank + found, max(condition, worse), max(formerly, then)
            changed = changed or others
    state.rank[0] = rank
    if rank == m:
        for i in range(m):
            for j in range(m):
                state.combine[i, j] = 1.0 if i == j else 0.0
    else:
        sort_nulls(state, ws, rank, m)
    write_order(plan, state.order, ws, rank, count)
    return rank, condition, formerly if rank == before else 0.0, changed or rank != before


def choose_independent(plan, state, ws, out, m, t):
    """Choose independent speeds for the m rows in ws.A; a changed choice is recorded."""
    before, missing = state.rank[0], state.rank[1] - state.rank[0]
    state.rank[1] = m
    if m == 0:
        state.rank[0] = 0
        if missing > 0:
            record(out, RANK, -1, 0.0, t)
        return 0
    refuse_unless_finite(ws, m)
    for i in range(before):
        ws.earlier[i] = state.order[i]
    rank, condition, formerly, changed = choose_in_islands(plan, state, ws, m, before)
    find_islands(plan, state, ws, m)
    if rank == m:
        det = factor_islands(plan, ws.A, BY_ISLAND, state.order, ws)
    else:
        combine_in_islands(state.combine, ws)
        det = factor_islands(plan, ws.B, AS_THEY_STAND, state.order, ws)
    state.volume[0] = volume_of(plan, det, rank, state.order, ws.M)
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
