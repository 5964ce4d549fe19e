"""How the ground under compliant contacts is deformed, over the stages and steps of a piece.

Each contact says at a stage what its y does (compliance/forces.py).  A clutch that slips takes y to a goal.
Where it does so within less than a step, y goes on as if it stuck, and what is beyond its limit is lost as
the step ends.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.point import driven_acceleration, in_body
from hapticsim.kernels.machine_code.jit import inlined, kernel

# Workspace.yielding: rate of y by the slip, in axes of B; the time in which y fades as the contact comes out
# [s]; where it goes as the clutch slips, in axes of B, within what time [s], and what it may be then at most
RATE, FADES, GOAL, WITHIN, LIMIT = 0, 3, 4, 7, 8
# normal, and place [m], of the touch in the world; 1: it sticks; depth [m], and d^(n-1); 1: it touched as the
# piece began
NORMAL, PLACE, STUCK, DEPTH, WEIGHT, TOUCHES = 9, 12, 15, 16, 17, 18
LEAST = 1e-18  # a deformation below is none


@kernel
def take_deformation(state, ws):
    """The tick begins with the ground as the last one left it."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            ws.deformation0[k, c] = state.deformation[k, c]


@kernel
def give_deformation(state, ws):
    """The ground stays as the tick leaves it."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            state.deformation[k, c] = ws.deformation0[k, c]


@kernel
def begin_deformation(ws):
    """A piece, or an attempt at it, begins where the last one that counted ended."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            y = ws.deformation0[k, c]
            ws.deformation[k, c] = ws.deformation_from[k, c] = ws.deformation1[k, c] = y


@kernel
def keep_stage(ws, slot):
    """Keep what the stage last evaluated says of the ground in a slot of ws.stages_yielding."""
    kept = ws.stages_yielding[slot]
    for k in range(kept.shape[0]):
        for c in range(LIMIT + 1):
            kept[k, c] = ws.yielding[k, c]


@inlined
def rate_of(said, c, y, step):
    """Rate of component c of y, by what a stage said, in a step of ``step`` s."""
    if said[WITHIN] >= step:
        return (said[GOAL + c] - y) / said[WITHIN]
    return said[RATE + c] - y / max(said[FADES], step)


@inlined
def lose_beyond(said, y, step):
    """Take from y, at the end of a step, what the clutch does not bear by what the last stage said."""
    if said[WITHIN] < step:
        size = math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
        if size > said[LIMIT]:
            for c in range(3):
                y[c] *= said[LIMIT] / size


@kernel
def deform_to_stage(ws, slot, number, a, step):
    """The ground at the stage ``number`` of a step, ``a`` seconds from its start, by the stage before, in
    ``slot``."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            rate = rate_of(ws.stages_yielding[slot, k], c, ws.deformation[k, c], step)
            ws.deformation_rates[number - 1, k, c] = rate
            ws.deformation[k, c] = ws.deformation_from[k, c] + a * rate


@kernel
def end_step(ws, step):
    """The ground at the end of a step of the classical method, where the next one begins."""
    r = ws.deformation_rates
    for k in range(ws.deformation.shape[0]):
        y, said = ws.deformation[k], ws.stages_yielding[3, k]
        for c in range(3):
            rates = r[0, k, c] + 2.0 * (r[1, k, c] + r[2, k, c]) + rate_of(said, c, y[c], step)
            y[c] = ws.deformation_from[k, c] + step / 6.0 * rates
        lose_beyond(said, y, step)
        for c in range(3):
            ws.deformation_from[k, c] = ws.deformation1[k, c] = y[c]


@kernel
def deform_by_substep(plan, ws, udot, step):
    """The ground after an implicit substep: what sticks goes with the speeds at its end."""
    for k in range(ws.deformation.shape[0]):
        own = ws.yielding[k]
        x = y = z = 0.0
        if own[STUCK] == 1.0:
            px, py, pz = own[PLACE], own[PLACE + 1], own[PLACE + 2]
            ax, ay, az = driven_acceleration(plan, plan.row_a[k], px, py, pz, udot, ws)
            bx, by, bz = driven_acceleration(plan, plan.row_b[k], px, py, pz, udot, ws)
            x, y, z = step * (ax - bx), step * (ay - by), step * (az - bz)
            along = own[NORMAL] * x + own[NORMAL + 1] * y + own[NORMAL + 2] * z
            x, y, z = x - along * own[NORMAL], y - along * own[NORMAL + 1], z - along * own[NORMAL + 2]
            x, y, z = in_body(plan.row_b[k], x, y, z, ws.X)
        d, change = ws.deformation[k], (own[WEIGHT] * x, own[WEIGHT] * y, own[WEIGHT] * z)
        for c in range(3):
            d[c] += step * (rate_of(own, c, d[c], step) + change[c])
        lose_beyond(own, d, step)


@kernel
def let_touch(ws):
    """What is where its surface is touches, as where a piece begins."""
    for k in range(ws.yielding.shape[0]):
        ws.yielding[k, TOUCHES] = 1.0


@kernel
def back_to_start(ws):
    """Other substeps begin where the piece does."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            ws.deformation[k, c] = ws.deformation0[k, c]


@kernel
def add_outcome(ws, weight):
    """The ground after several substeps, with its weight in the extrapolation."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            ws.deformation1[k, c] += weight * (ws.deformation[k, c] - ws.deformation0[k, c])


@kernel
def end_substeps(ws):
    """The ground at the end of the piece."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            ws.deformation[k, c] = ws.deformation1[k, c]


@kernel
def accept_deformation(ws):
    """The piece just tried counts."""
    for k in range(ws.deformation.shape[0]):
        for c in range(3):
            y = ws.deformation1[k, c]
            ws.deformation0[k, c] = y if abs(y) > LEAST else 0.0
