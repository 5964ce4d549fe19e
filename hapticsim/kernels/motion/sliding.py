"""Accelerations with contacts that slide: friction and normal forces, which need one another, at once.

Every contact i that slides along d_i has the friction -mu_i N_i d_i, and the normal forces of the imposed
rows answer it linearly:

    N = N0 + C N,    C[i, j] = change of N_i by the friction that a unit of N_j gives

so that (1 - C) N = N0, one small system without symmetry.  Its pivots are positive while friction and normal
forces determine one another; one that is not says that they jam (Painleve 1895).
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.linear import ldl_solve, lu_solve_transposed
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.memory.arrays import BEGINS, HELD_ROWS
from hapticsim.kernels.motion.stage import solve_embedded
from hapticsim.kernels.rows.along_surface import add_row_along, slip_velocity, speed_along
from hapticsim.kernels.rows.row_table import HELD
from hapticsim.kernels.rows.rub import SLIDES, SLOW, carried_direction, rubs, slide_direction
from hapticsim.kernels.solve.islands import island_of_row
from hapticsim.kernels.solve.row_forces import write_row_forces

JAMS = 1e-3  # a pivot of 1 - C below this
FOLLOWED = 1.0  # rad that friction would turn a slip in a piece; beyond 2.8 the method is unstable
STRAIGHT = 1e-6  # [rad] what turns no more goes straight on


def embed_sliding(plan, state, ws, q, u, t, udot, m):
    """udot under ws.f with the m rows embedded and the friction of what slides, which ws.f then has.

    Returns |det A_D|.
    """
    n = list_sliding(plan, state, ws, m)
    det = solve_embedded(plan, state, ws, m, udot)
    if n == 0 or not det > 0.0:
        return det
    write_row_forces(plan, state, ws, m, udot)
    for i in range(n):
        ws.slid_push[i] = ws.lam[ws.sliding[i]]
    for j in range(n):
        answer_friction(plan, state, ws, m, n, j)
    if not eliminate(ws.slid_C, n, ws.slid_push):
        ws.left_out[0] = 1
    if ws.counts[BEGINS] == 1:
        note_quickness(plan, state, ws, n)
    for j in range(n):
        force = friction_of(plan, ws, j) * ws.slid_push[j]
        for r in range(udot.size):
            ws.f[r] += force * ws.slid_A[j, r]
            udot[r] += ws.slid_push[j] * ws.slid_udot[j, r]
    return det


@kernel
def list_sliding(plan, state, ws, m):
    """Write which of the m rows are of contacts that slide, and their rows along it; return how many."""
    n = 0
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if not rubs(plan, k) or state.grip[k] != SLIDES:
            continue
        ws.sliding[n] = i
        x, y, z = slide_direction(plan, state, k, ws.counts[BEGINS], ws)
        ws.slide_now_W[k, 0], ws.slide_now_W[k, 1], ws.slide_now_W[k, 2] = x, y, z
        for r in range(ws.f.size):
            ws.slid_A[n, r] = 0.0
        add_row_along(plan, state, k, x, y, z, ws.slid_A, n, ws)
        n += 1
    return n


@kernel
def note_quickness(plan, state, ws, n):
    """Write how fast [1/s] friction turns the slip of each contact that slides, as a piece begins: inf of one
    that only begins to slide."""
    for j in range(n):
        k, change = ws.rows[ws.sliding[j]], 0.0
        for r in range(ws.f.size):
            change += ws.slid_A[j, r] * ws.slid_udot[j, r]
        speed = speed_along(plan, state, k, ws)
        ws.turns_by[k] = abs(change * ws.slid_push[j]) / speed if speed > SLOW else math.inf


@kernel
def turns_too_fast(plan, state, ws, seconds):
    """Whether a slip turned in a piece so long that friction turns it faster than such a step follows.

    A slip of v [m/s] turns at the rate mu N / (m v) towards where it is driven: as it comes to rest, or
    begins, that is faster than any step.  Where it stays on its line that does nothing.  Expects the frames
    at the end of the piece in ws.
    """
    for k in range(plan.contacts):
        if state.mode[k] == HELD and rubs(plan, k) and state.grip[k] == SLIDES:
            if ws.turns_by[k] * seconds > FOLLOWED:
                x, y, z = slip_velocity(plan, state, k, ws)
                dx, dy, dz = carried_direction(plan, state, k, ws)
                along = x * dx + y * dy + z * dz
                x, y, z = x - along * dx, y - along * dy, z - along * dz
                if math.sqrt(x * x + y * y + z * z) > STRAIGHT * abs(along) + SLOW:
                    return True
    return False


@inlined
def friction_of(plan, ws, j):
    """What the contact that slides in place j has of friction along its row, per unit of its normal force."""
    return -plan.contact_friction[ws.rows[ws.sliding[j]]]


@inlined
def island_of_sliding(plan, ws, j):
    """The island of the contact that slides in place j."""
    return island_of_row(plan, ws, ws.sliding[j]) if ws.islands[0] > 1 else 0


@kernel
def answer_friction(plan, state, ws, m, n, j):
    """Column j of 1 - C, and to ws.slid_udot[j] the accelerations, by the friction that a unit of N_j gives.

    By the factors that the last solve left in ws, in the island of the contact alone.
    """
    b = island_of_sliding(plan, ws, j)
    r, order, change, row = state.rank[0], state.order, ws.slid_udot[j], ws.slid_A[j]
    mu = friction_of(plan, ws, j)
    start, end, first, last = 0, r, r, row.size
    low, high = 0, row.size
    if plan.solve_islands != 0:
        start, end = ws.island_dependent[b], ws.island_dependent[b + 1]
        first, last = ws.island_free[b], ws.island_free[b + 1]
        low, high = ws.island_first[b], ws.island_end[b]
    for k in range(row.size):
        change[k] = 0.0
    y = from_row(ws.y, first - r)
    for i in range(last - first):
        total = row[order[first + i]]
        for d in range(start, end):
            total += ws.D[d, i] * row[order[d]]
        y[i] = mu * total
    ldl_solve(from_row(ws.K, first - r), last - first, y)
    for i in range(last - first):
        change[order[first + i]] = y[i]
    for d in range(start, end):
        total = 0.0
        for i in range(last - first):
            total += ws.D[d, i] * y[i]
        change[order[d]] = total
    for d in range(start, end):
        total = -mu * row[order[d]]
        for k in range(low, high):
            total += ws.M[order[d], k] * change[k]
        ws.c[d] = total
    lu_solve_transposed(
        from_row(ws.LU, start), end - start, from_row(ws.pivots, start), from_row(ws.c, start)
    )
    for i in range(n):
        ws.slid_C[i, j] = 1.0 if i == j else 0.0
        if island_of_sliding(plan, ws, i) == b:
            ws.slid_C[i, j] -= force_of_row(plan, state, ws, m, ws.sliding[i], start, end)


@inlined
def force_of_row(plan, state, ws, m, k, start, end):
    """Force of the imposed row k, of the forces ws.c along the dependent speeds of its island."""
    total = 0.0
    if state.rank[0] < m:
        for i in range(start, end):
            total += state.combine[k, i] * ws.c[i]
    elif plan.solve_islands == 0:
        total = ws.c[k]
    else:
        for i in range(start, end):
            if ws.ordered_rows[i] == k:
                total = ws.c[i]
    return total


@kernel
def eliminate(C, n, b):
    """Solve C x = b in place of b (n,) without exchanging rows; False where a pivot is not positive."""
    good = True
    for p in range(n):
        if not C[p, p] > JAMS:
            good = False
            C[p, p] = 1.0
        for i in range(p + 1, n):
            share = C[i, p] / C[p, p]
            for j in range(p + 1, n):
                C[i, j] -= share * C[p, j]
            b[i] -= share * b[p]
    for p in range(n - 1, -1, -1):
        for j in range(p + 1, n):
            b[p] -= C[p, j] * b[j]
        b[p] /= C[p, p]
    return good
