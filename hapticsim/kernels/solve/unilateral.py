"""Contacts push and never pull: which stay, and with what impulse or force.

Both questions are the same small problem: minimise 1/2 x' W x + c' x over x >= 0, with W = A M^-1 A' positive
semidefinite.  For impulses c = A u-, and W x + c is the approach speed after a plastic impact (Moreau's
impact law: the post-impact kinetic energy is the least one allowed; ``resolve_contacts.strike`` adds
restitution to it); for forces c = A udot_free + s and W x + c is the separation acceleration.  Solved by the
active-set method of Lawson and Hanson (1974, ch. 23) on the normal equations; dependent rows never enter the
passive set together, so W need not be regular.
"""

from __future__ import annotations

from hapticsim.kernels.linalg.linear import ldl_factor, ldl_solve
from hapticsim.kernels.machine_code.jit import kernel

FREE, PASSIVE, BARRED = 0, 1, 2  # x = 0; x solved for; x = 0 because the row depends on the passive ones
UNSEEN, SEEN = 3, 4  # before a part is solved: which rows are in it
DEPENDENT = 1e-11  # a pivot below this share of the row's own entry in W is rounding


@kernel
def nonnegative_minimum(W, c, m, tolerance, x, z, gradient, passive, part, P):
    """Write the minimiser x (m,) of 1/2 x'Wx + c'x over x >= 0, and W x + c to gradient.

    tolerance  a gradient above -tolerance counts as met.
    Rows that W does not join are solved part by part.  z (m,), passive (m,), part (m,) and P (m, m) scratch.
    Returns False when the iteration limit was reached (x is then feasible, not optimal).
    """
    done = True
    for i in range(m):
        x[i] = 0.0
        passive[i] = UNSEEN
    for i in range(m):
        if passive[i] == UNSEEN:
            n = gather_part(W, m, i, passive, part)
            if not minimise_part(W, c, m, tolerance, x, z, gradient, passive, part, n, P):
                done = False
    return done


@kernel
def gather_part(W, m, first, passive, part):
    """Write to part the rows that W joins with row ``first``, in rising order; return their number.

    passive   UNSEEN for the rows that are in no part yet; becomes FREE for those of this one.
    """
    part[0], n, seen = first, 1, 0
    passive[first] = SEEN
    while seen < n:
        row = W[part[seen]]
        for j in range(m):
            if row[j] != 0.0 and passive[j] == UNSEEN:
                passive[j] = SEEN
                part[n] = j
                n += 1
        seen += 1
    n = 0
    for i in range(first, m):
        if passive[i] == SEEN:
            passive[i] = FREE
            part[n] = i
            n += 1
    return n


@kernel
def minimise_part(W, c, m, tolerance, x, z, gradient, passive, part, n, P):
    """``nonnegative_minimum`` for the n rows of a part; no other row is passive."""
    done = False
    for _ in range(3 * n + 3):
        worst, enter = -tolerance, -1
        for a in range(n):
            i = part[a]
            total, row = c[i], W[i]
            for b in range(n):
                total += row[part[b]] * x[part[b]]
            gradient[i] = total
            if passive[i] == FREE and total < worst:
                worst, enter = total, i
        if enter < 0:
            done = True
            break
        passive[enter] = PASSIVE
        if not go_to_passive(W, c, m, x, z, passive, part, n, enter, P):
            passive[enter] = BARRED
    for a in range(n):
        passive[part[a]] = FREE
    return done


@kernel
def go_to_passive(W, c, m, x, z, passive, part, n, enter, P):
    """Move x to where the passive rows alone are solved for; those that would pull leave them on the way.

    enter   the row that became passive, -1: none.  False where it depends on the others, or would pull.
    """
    while True:
        if not solve_passive(W, c, m, passive, z, P) or (enter >= 0 and x[enter] == 0.0 and z[enter] <= 0.0):
            return False
        alpha, leave = 1.0, -1
        for a in range(n):
            i = part[a]
            if passive[i] == PASSIVE and z[i] <= 0.0:
                step = x[i] / (x[i] - z[i]) if x[i] > z[i] else 0.0
                if step < alpha:
                    alpha, leave = step, i
        if leave < 0:
            for a in range(n):
                i = part[a]
                x[i] = z[i] if passive[i] == PASSIVE else 0.0
            return True
        for a in range(n):
            i = part[a]
            if passive[i] == PASSIVE:
                x[i] += alpha * (z[i] - x[i])
        x[leave] = 0.0
        passive[leave] = FREE
        for a in range(n):
            if passive[part[a]] == BARRED:
                passive[part[a]] = FREE


@kernel
def solve_passive(W, c, m, passive, z, P):
    """Solve W_PP z_P = -c_P over the passive rows by factorisation; z is 0 elsewhere.

    Returns False when the passive rows depend on one another.
    """
    n = 0
    for i in range(m):
        if passive[i] != PASSIVE:
            continue
        k = 0
        for j in range(i + 1):
            if passive[j] == PASSIVE:
                P[n, k] = W[i, j]
                k += 1
        z[n] = -c[i]
        n += 1
    if not ldl_factor(P, n, P):
        return False
    k = 0
    for i in range(m):
        if passive[i] == PASSIVE:
            if P[k, k] * W[i, i] * DEPENDENT > 1.0:  # the diagonal holds inverse pivots
                return False
            k += 1
    ldl_solve(P, n, z)
    k = n
    for i in range(m - 1, -1, -1):
        if passive[i] == PASSIVE:
            k -= 1
            z[i] = z[k]
        else:
            z[i] = 0.0
    return True
