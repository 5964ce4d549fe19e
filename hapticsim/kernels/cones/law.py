"""Coulomb's law of one contact, and how far its impulses are from it."""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.time_stepping.gauss_seidel import off_push
from hapticsim.kernels.time_stepping.near_contacts import rate_of_row


@inlined
def in_disk(to_1, to_2, most):
    """The vector, or its direction with the length ``most`` where it is longer."""
    size = math.sqrt(to_1 * to_1 + to_2 * to_2)
    if size > most:
        share = most / size
        return share * to_1, share * to_2
    return to_1, to_2


@inlined
def larger(a, b):
    """The larger one; what is no number is seen."""
    return a if a > b or a != a else b


@inlined
def against_slip(ws, i, j, push, v):
    """The friction, two scalars, that a step against the slip at the speeds v leads to, within mu times the
    push [N s]; of the near contact i, which rubs in place j."""
    at, mass = ws.near_speeds[i], ws.rub_mass[j]
    to_1 = ws.rub_x[j, 0] - mass * rate_of_row(ws.rub_J[2 * j], at, v)
    to_2 = ws.rub_x[j, 1] - mass * rate_of_row(ws.rub_J[2 * j + 1], at, v)
    return in_disk(to_1, to_2, ws.rub_most[j] * push)


@kernel
def off_law(ws, i):
    """How far the near contact i is from its law at the speeds ws.us, along normal and tangents [m/s].

    That is what a step towards the law would change of each impulse, by its mass.
    """
    off, rub = off_push(ws, i), 0.0
    j = ws.near_rub[i]
    if j >= 0 and ws.rub_mass[j] > 0.0:
        to_1, to_2 = against_slip(ws, i, j, ws.near_x[i], ws.us)
        rub = math.hypot(to_1 - ws.rub_x[j, 0], to_2 - ws.rub_x[j, 1]) / ws.rub_mass[j]
    return off, rub


@kernel
def off_island(ws, b):
    """The largest of both in island b [m/s]."""
    worst = 0.0
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        off, rub = off_law(ws, ws.near_order[s])
        worst = larger(worst, larger(off, rub))
    return worst


@kernel
def certify(ws, n):
    """Write to ws.cone_residual the largest of each of the n near contacts."""
    ws.cone_residual[0] = ws.cone_residual[1] = 0.0
    for i in range(n):
        off, rub = off_law(ws, i)
        ws.cone_residual[0] = larger(ws.cone_residual[0], off)
        ws.cone_residual[1] = larger(ws.cone_residual[1], rub)
