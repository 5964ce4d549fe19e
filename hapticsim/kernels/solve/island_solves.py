"""The equations of motion of many bodies: what ``embedding`` does, island by island (islands.py).

These are units of the tick that only scenes with several trees have.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.quiet import is_quiet_island
from hapticsim.kernels.solve.embedding import (
    AS_THEY_STAND,
    BY_ISLAND,
    accelerate,
    dependent_forces,
    factor_dependent,
    give_up,
    scaled_volume,
    spread_change,
)
from hapticsim.kernels.solve.islands import find_islands

ROUNDING = 1e-16  # [m] or [m/s], or in radians, that a row may miss and is as good as met
FREE_BODY = 6  # speeds of a body that is joined to none
FOLD = 1e100  # a product beyond this, or below its inverse, is divided, or multiplied, by it


def solve_islands(plan, state, ws, m, udot):
    """udot under ws.f with the m rows in ws.A embedded, of which some may depend on others.

    Returns what the choice of speeds is watched by (``factor_islands``), 0 where an island is singular.
    """
    if ws.quiets[0] == 0:  # else they are those of the first stage of the piece
        find_islands(plan, state, ws, m)
    if state.rank[0] == m:
        return _accelerate_all(plan, ws.A, ws.s, BY_ISLAND, state, ws, udot)
    combine_in_islands(state.combine, ws)
    return _accelerate_all(plan, ws.B, ws.t, AS_THEY_STAND, state, ws, udot)


@kernel
def combine_in_islands(combine, ws):
    """ws.B = combine' ws.A and ws.t = combine' ws.s, each island's combinations of its rows, in the speeds
    between its first and its last alone."""
    for b in range(ws.islands[0]):
        low, high = ws.island_first[b], ws.island_end[b]
        if is_quiet_island(ws, b):
            continue
        if high - low == FREE_BODY:
            combine_on_body(combine, b, low, ws)
            continue
        for i in range(ws.island_dependent[b], ws.island_dependent[b + 1]):
            ws.t[i] = 0.0
            for j in range(low, high):
                ws.B[i, j] = 0.0
        for place in range(ws.island_row[b], ws.island_row[b + 1]):
            k = ws.ordered_rows[place]
            row = ws.A[k]
            for i in range(ws.island_dependent[b], ws.island_dependent[b + 1]):
                share, combined = combine[k, i], ws.B[i]
                if share != 0.0:
                    ws.t[i] += share * ws.s[k]
                    for j in range(low, high):
                        combined[j] += share * row[j]


@kernel
def combine_on_body(combine, b, low, ws):
    """The same of an island of one free body, whose speeds begin at ``low``: the commonest, unrolled."""
    for i in range(ws.island_dependent[b], ws.island_dependent[b + 1]):
        total = b0 = b1 = b2 = b3 = b4 = b5 = 0.0
        for place in range(ws.island_row[b], ws.island_row[b + 1]):
            k = ws.ordered_rows[place]
            share, row = combine[k, i], from_row(ws.A[k], low)
            if share != 0.0:
                total += share * ws.s[k]
                b0 += share * row[0]
                b1 += share * row[1]
                b2 += share * row[2]
                b3 += share * row[3]
                b4 += share * row[4]
                b5 += share * row[5]
        ws.t[i], to = total, from_row(ws.B[i], low)
        to[0], to[1], to[2], to[3], to[4], to[5] = b0, b1, b2, b3, b4, b5


@kernel
def factor_islands(plan, A, way, order, ws):
    """Factor A_D of all islands into ws.LU; return the product of their |det A_D|, 0 or NaN where one is.

    With several trees columns are scaled by inertia at once, as ``embedding.scaled_volume`` does, and the
    product is folded: hundreds of factors go beyond all numbers.  When it is folded once more than before it
    jumps, and the speeds are chosen anew.
    """
    product = 1.0
    for b in range(ws.islands[0]):
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        if is_quiet_island(ws, b):
            continue
        det = factor_dependent(A, way, start, end, order, ws)
        if not det > 0.0:
            return det
        if plan.solve_islands == 0:
            return det
        product *= scaled_volume(det, end - start, from_row(order, start), ws.M)
        if product > FOLD:
            product /= FOLD
        elif product < 1.0 / FOLD:
            product *= FOLD
    return product


@inlined
def volume_of(plan, det, r, order, M):
    """What the choice of speeds is watched by, of what a stage returned."""
    return det if plan.solve_islands != 0 else scaled_volume(det, r, order, M)


@inlined
def sleeps(plan, ws, r):
    """Whether the tree of speed r sleeps in this tick."""
    return ws.sleepers[0] > 0 and ws.asleep[plan.tree_of_speed[r]] == 1


@kernel
def _accelerate_all(plan, A, s, way, state, ws, udot):
    """udot of all islands; what ``factor_islands`` returns."""
    r, order = state.rank[0], state.order
    det = factor_islands(plan, A, way, order, ws)
    if not det > 0.0:
        give_up(udot, det)
        return 0.0
    for b in range(ws.islands[0]):
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        first, last = ws.island_free[b], ws.island_free[b + 1]
        if is_quiet_island(ws, b):
            keep_accelerations(order, start, end, first, last, ws, udot)
            continue
        if ws.islands[0] > 1 and start == end and sleeps(plan, ws, order[first]):
            continue  # its accelerations become 0 (units.stage)
        trouble = accelerate(A, s, way, start, end, first, last, r, order, ws.M, ws.f, ws, udot)
        if trouble != 0.0:
            give_up(udot, det + trouble)
            return 0.0
    return det


@kernel
def keep_accelerations(order, start, end, first, last, ws, udot):
    """udot of an island is that of the first stage of the piece."""
    for i in range(start, end):
        udot[order[i]] = ws.du[0, order[i]]
    for i in range(first, last):
        udot[order[i]] = ws.du[0, order[i]]


def forces_of_islands(plan, state, ws, m, udot):
    """ws.lam of the m rows, as ``embedding.constraint_forces``; islands as ``solve_islands`` left them."""
    r, order = state.rank[0], state.order
    for b in range(ws.islands[0]):
        if is_quiet_island(ws, b):
            continue
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        low, high = ws.island_first[b], ws.island_end[b]
        dependent_forces(start, end, low, high, order, ws.M, ws.f, ws, udot)
        for place in range(ws.island_row[b], ws.island_row[b + 1]):
            k = ws.ordered_rows[place]
            if r == m:
                ws.lam[k] = ws.c[place]
            else:
                total = 0.0
                for i in range(start, end):
                    total += state.combine[k, i] * ws.c[i]
                ws.lam[k] = total


@kernel
def misses_nothing(ws, b, missing):
    """Whether the rows of island b miss no more than rounding."""
    for place in range(ws.island_row[b], ws.island_row[b + 1]):
        if not abs(missing[ws.ordered_rows[place]]) <= ROUNDING:
            return False
    return True


def change_of_islands(plan, state, ws, m, missing, change):
    """``embedding.least_change``, with islands as ``solve_islands`` left them."""
    r = state.rank[0]
    for b in range(ws.islands[0]):
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        if ws.islands[0] > 1 and misses_nothing(ws, b, missing):
            for i in range(start, end):
                change[state.order[i]] = 0.0
            for i in range(ws.island_free[b], ws.island_free[b + 1]):
                change[state.order[i]] = 0.0
            continue
        for i in range(start, end):
            if r == m:
                ws.g[i] = missing[ws.ordered_rows[i]]
            else:
                total = 0.0
                for place in range(ws.island_row[b], ws.island_row[b + 1]):
                    k = ws.ordered_rows[place]
                    total += state.combine[k, i] * missing[k]
                ws.g[i] = total
        spread_change(start, end, ws.island_free[b], ws.island_free[b + 1], r, state.order, ws, change)
