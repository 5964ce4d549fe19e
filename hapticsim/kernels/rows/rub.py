"""Contacts that rub in exact ticks: which slide and which stick, their guards, and the friction they give.

A contact that sticks has two rows beside that of its normal, and sticks while |T| <= mu N.  One that slides
has the force mu N against its slip, and slides until that comes to rest.  One guard stands for both that and
for its normal force: the least of them (guards.py).
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_PLANE, Grip
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.rows.along_surface import (
    both_tangents,
    has_slip_rows,
    normal_and_centre,
    slip_velocity,
    speed_along,
)
from hapticsim.kernels.rows.row_table import HELD

NONE, SLIDES, STICKS = int(Grip.NONE), int(Grip.SLIDES), int(Grip.STICKS)
SLOW = 1e-9  # [m/s] slower than this a slip has no direction of its own
LINE = 1e-8  # [rad] a slip that turned no more goes straight on
BEYOND = 1e-9  # part of mu N, and [N], by which what sticks may leave its cone


@inlined
def rubs(plan, k):
    """Whether contact k has friction."""
    return plan.contact_friction[k] > 0.0


@kernel
def needs_a_step(plan, state, ws):
    """Whether a tick has to be a time step from its start: what rubs is held where no rows say how it slides,
    or there are not rows for all that may stick."""
    rows = 0
    for k in range(plan.contacts):
        if state.mode[k] == HELD:
            rows += 3 if rubs(plan, k) else 1
            if rubs(plan, k) and not has_slip_rows(plan, state, k):
                return True
    return rows > ws.rows.size


@kernel
def rests(plan, state, ws):
    """Whether a contact that slides is at rest, as where others of its body stick: it may stick, too."""
    for k in range(plan.contacts):
        if state.mode[k] == HELD and state.grip[k] == SLIDES and speed_along(plan, state, k, ws) <= SLOW:
            return True
    return False


@inlined
def carried_direction(plan, state, k, ws):
    """The direction that contact k slid along as the piece began, three scalars, carried on with its surface:
    that across the normal which it has now."""
    d = state.slide_W[k]
    if plan.surface_kind[k] == ON_PLANE:
        return d[0], d[1], d[2]
    nx, ny, nz, _, _, _ = normal_and_centre(plan, state, k, ws.X)
    along = nx * d[0] + ny * d[1] + nz * d[2]
    x, y, z = d[0] - along * nx, d[1] - along * ny, d[2] - along * nz
    size = math.sqrt(x * x + y * y + z * z)
    if not size > 0.0:
        return d[0], d[1], d[2]
    return x / size, y / size, z / size


@inlined
def slide_direction(plan, state, k, begins, ws):
    """Unit vector in the world, three scalars, that contact k slides along.

    Within a piece it is that of its slip unless this turned round: to go on past where the slip comes to rest
    lets that be found.  What goes straight on keeps its direction to the last bit: as a slip comes to rest,
    or begins, friction turns it so fast that rounding would grow.
    begins   1: the piece begins, and its direction is remembered.
    """
    x, y, z = slip_velocity(plan, state, k, ws)
    dx, dy, dz = carried_direction(plan, state, k, ws)
    size, along = math.sqrt(x * x + y * y + z * z), x * dx + y * dy + z * dz
    beside = math.sqrt((x - along * dx) ** 2 + (y - along * dy) ** 2 + (z - along * dz) ** 2)
    if size > SLOW and beside > LINE * along and (begins == 1 or along > 0.0):
        dx, dy, dz = x / size, y / size, z / size
    if begins == 1:
        state.slide_W[k, 0], state.slide_W[k, 1], state.slide_W[k, 2] = dx, dy, dz
    return dx, dy, dz


@kernel
def tangent_force(plan, state, ws, i):
    """Force [N] on A of the contact whose two sticking rows begin at i, in the world, three scalars."""
    nx, ny, nz, _, _, _ = normal_and_centre(plan, state, ws.rows[i], ws.X)
    tx, ty, tz, sx, sy, sz = both_tangents(nx, ny, nz)
    a, b = ws.lam[i], ws.lam[i + 1]
    return a * tx + b * sx, a * ty + b * sy, a * tz + b * sz


@inlined
def most_friction(plan, k, push):
    """mu N [N] of contact k, which slides."""
    return plan.contact_friction[k] * max(push, 0.0)


@inlined
def most_static(plan, k, push):
    """The same of one that sticks."""
    return plan.contact_static[k] * max(push, 0.0)


@inlined
def is_beyond_cone(plan, ws, k, i, held):
    """Whether contact k, whose normal is row i and whose sticking rows begin at ``held``, takes more friction
    than it has, by ws.lam."""
    most = most_static(plan, k, ws.lam[i])
    return math.hypot(ws.lam[held], ws.lam[held + 1]) > (1.0 + BEYOND) * most + BEYOND


@kernel
def leaves_cone(plan, state, ws, m):
    """Whether one of the m rows sticks with more than friction bears, by ws.lam."""
    held = 0
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if state.grip[k] == STICKS and rubs(plan, k):
            if is_beyond_cone(plan, ws, k, i, held):
                return True
            held += 2
    return False


def write_rub_guards(plan, state, q, u, t, m, scale, ws, guards):
    """Write the guards of contacts that rub: what they have left until they slide, or until they part or slip
    no longer; at the frames and row forces in ws.

    scale   [m/N] so that one tolerance serves forces and rates.
    What sticks slides before it parts.  A guard that is now one thing and now another has a bend, where false
    position is slow: one scale serves both.
    """
    held = 0
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if not rubs(plan, k):
            continue
        if state.grip[k] == STICKS:
            spare = plan.contact_static[k] * ws.lam[i] - math.hypot(ws.lam[held], ws.lam[held + 1])
            guards[k] = scale * spare
            held += 2
        else:
            x, y, z = slip_velocity(plan, state, k, ws)
            dx, dy, dz = carried_direction(plan, state, k, ws)
            guards[k] = min(scale * ws.lam[i], x * dx + y * dy + z * dz)


@kernel
def report_rub(plan, state, out, ws, m):
    """Write the friction of the m imposed rows to out, in world axes."""
    for k in range(plan.contacts):
        for c in range(3):
            out.friction_W[k, c] = 0.0
    held = 0
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if not rubs(plan, k):
            continue
        x, y, z = 0.0, 0.0, 0.0
        if state.grip[k] == STICKS:
            x, y, z = tangent_force(plan, state, ws, held)
            held += 2
        else:
            most, d = most_friction(plan, k, ws.lam[i]), ws.slide_now_W[k]
            x, y, z = -most * d[0], -most * d[1], -most * d[2]
        out.friction_W[k, 0], out.friction_W[k, 1], out.friction_W[k, 2] = x, y, z
