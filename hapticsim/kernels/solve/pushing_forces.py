"""Forces of contacts that only push: whether they can hold the rows, and what constraints then bear."""

from __future__ import annotations

from hapticsim.kernels.linalg.linear import ldl_factor, ldl_solve
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.solve.mobility import (
    contact_mobility,
    meet_accelerations,
    orthonormal_constraints,
    respond,
)
from hapticsim.kernels.solve.unilateral import nonnegative_minimum, solve_passive


@kernel
def free_accelerations(first, m, n, ws):
    """ws.c = A udot + s of the contacts, first..m, as if they gave no force; n constraints hold.

    Returns the size of the largest, at least 1.
    """
    nu = ws.f.size
    for r in range(nu):
        ws.us[r] = ws.f[r]
    ldl_solve(ws.L, nu, ws.us)
    meet_accelerations(n, ws.us, ws)
    scale = 1.0
    for i in range(first, m):
        total = ws.s[i]
        for r in range(nu):
            total += ws.A[i, r] * ws.us[r]
        ws.c[i - first] = total
        scale = max(scale, abs(total))
    return scale


def find_feasible_forces(plan, ws, m):
    """Whether the m imposed rows can hold with contacts that only push; ws.lam becomes the forces that come
    nearest, of contacts.

    Asked when the least-norm forces of redundant rows show a pull: another distribution may push everywhere.
    ws.grad is left with the acceleration [m/s^2] at which each contact would part under ws.lam, from 0 for
    the first.
    """
    first = ws.counts[HELD_ROWS]
    if not ldl_factor(ws.M, ws.u0.size, ws.L):
        return False
    n, _ = orthonormal_constraints(plan, first, ws.u0.size, ws)
    contact_mobility(plan, first, m, n, ws.u0.size, ws)
    scale = free_accelerations(first, m, n, ws)
    nonnegative_minimum(
        ws.Wr, ws.c, m - first, 1e-10 * scale, ws.x, ws.z, ws.grad, ws.passive, ws.part_rows, ws.P
    )
    holds = True
    for r in range(ws.us.size):
        ws.us[r] = 0.0
    for i in range(first, m):
        for r in range(ws.us.size):
            ws.us[r] += ws.A[i, r] * (ws.lam[i] - ws.x[i - first])
        ws.lam[i] = ws.x[i - first]
        if ws.grad[i - first] > 1e-9 * scale:
            holds = False
    if first > 0:
        take_over(plan, first, ws.us, ws)
    return holds


@kernel
def take_over(plan, first, load, ws):
    """Add to ws.lam of the first rows, of constraints, what they bear of a load (n,) that contacts gave up.

    Least squares in the metric M^-1, by the factor ws.L of M; of rows that depend on others nothing is asked.
    """
    nu = load.size
    for i in range(first):
        respond(plan, ws, i, ws.Y[i])
        ws.passive[i] = 1
    for i in range(first):
        ws.c[i] = 0.0
        for r in range(nu):
            ws.c[i] -= ws.Y[i, r] * load[r]
        for j in range(i + 1):
            total = 0.0
            for r in range(nu):
                total += ws.A[j, r] * ws.Y[i, r]
            ws.Wr[i, j] = ws.Wr[j, i] = total
    for i in range(first):  # one row more at a time: those that depend on the ones before are left out
        for j in range(i + 1, first):
            ws.passive[j] = 0
        ws.passive[i] = 1
        if not solve_passive(ws.Wr, ws.c, i + 1, ws.passive, ws.z, ws.P):
            ws.passive[i] = 0
    if solve_passive(ws.Wr, ws.c, first, ws.passive, ws.z, ws.P):
        for i in range(first):
            ws.lam[i] += ws.z[i]
