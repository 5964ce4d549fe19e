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
DEPENDENT = 1e-11  # a pivot below this share of the row's own entry in W is rounding


@kernel
def nonnegative_minimum(W, c, m, tolerance, x, z, gradient, passive, P):
    """Write the minimiser x (m,) of 1/2 x'Wx + c'x over x >= 0, and W x + c to gradient.

    tolerance  a gradient above -tolerance counts as met.
    Returns False when the iteration limit was reached (x is then feasible, not optimal).
    """
    for i in range(m):
        x[i] = 0.0
        passive[i] = FREE
    done = False
    for _ in range(3 * m + 3):
        worst, enter = -tolerance, -1
        for i in range(m):
            total = c[i]
            for j in range(m):
                total += W[i, j] * x[j]
            gradient[i] = total
            if passive[i] == FREE and total < worst:
                worst, enter = total, i
        if enter < 0:
            done = True
            break
        passive[enter] = PASSIVE
        while True:
            if not solve_passive(W, c, m, passive, z, P) or (x[enter] == 0.0 and z[enter] <= 0.0):
                passive[enter] = BARRED
                break
            alpha, leave = 1.0, -1
            for i in range(m):
                if passive[i] == PASSIVE and z[i] <= 0.0:
                    step = x[i] / (x[i] - z[i]) if x[i] > z[i] else 0.0
                    if step < alpha:
                        alpha, leave = step, i
            if leave < 0:
                for i in range(m):
                    x[i] = z[i] if passive[i] == PASSIVE else 0.0
                break
            for i in range(m):
                if passive[i] == PASSIVE:
                    x[i] += alpha * (z[i] - x[i])
            x[leave] = 0.0
            passive[leave] = FREE
            for i in range(m):
                if passive[i] == BARRED:
                    passive[i] = FREE
    return done


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
