"""The impulse of one contact that rubs, exactly, with those of all others as they are.

With W the 3 x 3 mobility of its normal and tangents and b the rates, less what is asked of them, without its
impulse, Coulomb's law has the answers (Jourdan, Alart and Jean 1998):

    none     b_n >= 0
    sticks   -W^-1 b, where that is in the cone
    slides   along d:  x = -b_n / (W_nn - mu W_nt . d),  and the slip b_t + (W_tn - mu W_tt d) x goes along d

The last is one equation for the angle of d.  Where rounds that treat normal and tangents one after the other
go in a circle, as of an arm that pushes its tip ahead over a rough floor, these come to an end.
"""

from __future__ import annotations

import math

from hapticsim.kernels.cones.law import off_island
from hapticsim.kernels.cones.newton import keep_best, put_best
from hapticsim.kernels.cones.tangents import response_between
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.time_stepping.near_contacts import push_row, rate_of_row

ANGLES = 32  # directions in which a change of sign is looked for
HALVINGS = 40
ROUNDS = 20  # over the contacts of an island
SINGULAR = 1e-14  # of the product of the diagonal of W: a smaller determinant is rounding
LEAST = 1e-12  # of W_nn, that is left of it by friction: less is none


@kernel
def solve_exactly(plan, ws, b, met):
    """Rounds over island b, each contact with its exact answer; what was there stays if it was nearer to the
    law.  Returns how many rows were visited.

    met   [m/s] where all contacts are no farther from the law, no more rounds are made.
    """
    best, visits = off_island(ws, b), 0
    keep_best(ws, b)
    for _ in range(ROUNDS):
        for s in range(ws.near_start[b], ws.near_start[b + 1]):
            answer(plan, ws, ws.near_order[s])
            visits += 1
        now = off_island(ws, b)
        if now < best:
            best = now
            keep_best(ws, b)
        if now <= met:
            break
    if best > met or not off_island(ws, b) <= met:
        put_best(plan, ws, b)
    return visits


@kernel
def answer(plan, ws, i):
    """Replace the impulse of the near contact i by its exact answer, and change ws.us as that does."""
    if ws.near_mass[i] == 0.0:
        return
    j, at = ws.near_rub[i], ws.near_speeds[i]
    bn = rate_of_row(ws.near_J[i], at, ws.us) - ws.near_least[i]
    x, y, z = 0.0, 0.0, 0.0
    nn = ws.near_mobility[i]
    if j < 0 or ws.rub_mass[j] == 0.0:
        change = max(-bn * ws.near_mass[i], -ws.near_x[i])
        ws.near_x[i] += change
        push_row(ws.near_Y[i], at, change, ws.us)
        return
    J, P, Q = ws.near_J[i], ws.rub_J[2 * j], ws.rub_J[2 * j + 1]
    YP, YQ = ws.rub_Y[2 * j], ws.rub_Y[2 * j + 1]
    np_, nq = response_between(ws, i, J, YP), response_between(ws, i, J, YQ)
    pp, pq, qq = (
        response_between(ws, i, P, YP),
        response_between(ws, i, P, YQ),
        response_between(ws, i, Q, YQ),
    )
    x0, y0, z0 = ws.near_x[i], ws.rub_x[j, 0], ws.rub_x[j, 1]
    bp, bq = rate_of_row(P, at, ws.us), rate_of_row(Q, at, ws.us)
    bn -= nn * x0 + np_ * y0 + nq * z0  # without its own impulse
    bp -= np_ * x0 + pp * y0 + pq * z0
    bq -= nq * x0 + pq * y0 + qq * z0
    mu = ws.rub_most[j]
    if bn < 0.0:
        x, y, z = sticking(nn, np_, nq, pp, pq, qq, bn, bp, bq)
        if not (x > 0.0 and y * y + z * z <= mu * mu * x * x):
            x, y, z = sliding(nn, np_, nq, pp, pq, qq, bn, bp, bq, mu, x0, y0, z0)
    ws.near_x[i], ws.rub_x[j, 0], ws.rub_x[j, 1] = x, y, z
    push_row(ws.near_Y[i], at, x - x0, ws.us)
    push_row(YP, at, y - y0, ws.us)
    push_row(YQ, at, z - z0, ws.us)


@inlined
def sticking(nn, np_, nq, pp, pq, qq, bn, bp, bq):
    """-W^-1 b, three scalars; zeros where W is singular."""
    a, b, c = pp * qq - pq * pq, pq * nq - np_ * qq, np_ * pq - pp * nq
    det = nn * a + np_ * b + nq * c
    if not det > SINGULAR * nn * pp * qq:
        return 0.0, 0.0, 0.0
    e, f, g = nn * qq - nq * nq, np_ * nq - nn * pq, nn * pp - np_ * np_
    return (
        -(a * bn + b * bp + c * bq) / det,
        -(b * bn + e * bp + f * bq) / det,
        -(c * bn + f * bp + g * bq) / det,
    )


@inlined
def astray(angle, nn, np_, nq, pp, pq, qq, bn, bp, bq, mu):
    """Of a slide along the angle: its push, below 0 where there is none, how much of the slip is across, and
    how much along it."""
    c, s = math.cos(angle), math.sin(angle)
    left = nn - mu * (np_ * c + nq * s)
    if not left > LEAST * nn:
        return -1.0, 0.0, 0.0
    x = -bn / left
    p = bp + (np_ - mu * (pp * c + pq * s)) * x
    q = bq + (nq - mu * (pq * c + qq * s)) * x
    return x, c * q - s * p, c * p + s * q


@kernel
def sliding(nn, np_, nq, pp, pq, qq, bn, bp, bq, mu, x0, y0, z0):
    """The slide that fits, three scalars; what was there where none does."""
    step = 2.0 * math.pi / ANGLES
    push, across, _ = astray(0.0, nn, np_, nq, pp, pq, qq, bn, bp, bq, mu)
    found, best = -1.0, 0.0
    for k in range(1, ANGLES + 1):
        more, other, _ = astray(k * step, nn, np_, nq, pp, pq, qq, bn, bp, bq, mu)
        if push > 0.0 and more > 0.0 and (across > 0.0) != (other > 0.0):
            low, high, sign = (k - 1) * step, k * step, across > 0.0
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                x, value, _ = astray(middle, nn, np_, nq, pp, pq, qq, bn, bp, bq, mu)
                if (value > 0.0) == sign:
                    low = middle
                else:
                    high = middle
            x, value, along = astray(0.5 * (low + high), nn, np_, nq, pp, pq, qq, bn, bp, bq, mu)
            if along >= 0.0 and (found < 0.0 or x < found):  # of several the gentlest
                found, best = x, 0.5 * (low + high)
        push, across = more, other
    if found < 0.0:
        return x0, y0, z0
    return found, -mu * found * math.cos(best), -mu * found * math.sin(best)
