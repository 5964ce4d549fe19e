"""Impulses at the instant at which something strikes and rubs: every contact that touches within its cone.

    v = u + M^-1 (J' x + T' y),   x >= 0,   J v >= 0,   x J v = 0,   Coulomb's law for y at the speeds v

is an impact without restitution (Moreau 1988), and loses energy.  Then what struck fast is thrown back with
J v >= -e J u, Newton's law.  Beside friction that law may give energy (Kane 1984): of the way from v to the
speeds thrown back so much is gone as takes none.  What is on that way is in the cones and parts, as both its
ends.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.events.guards import is_far
from hapticsim.kernels.events.inside import forget_feature, hold_at, is_near, where_of_free
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.events.resolve_contacts import (
    ENERGY_SEEN,
    GAP_TOUCH,
    RATE_REST,
    TOUCH,
    energy_lost,
)
from hapticsim.kernels.linalg.linear import ldl_factor
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.rows.along_surface import has_slip_rows
from hapticsim.kernels.rows.row_table import FREE, HELD
from hapticsim.kernels.rows.rub import NONE, SLIDES, STICKS, rubs
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.time_stepping.near_contacts import rate_along, slip_along, write_near
from hapticsim.kernels.units import solve_cones, terms, write_tangents

LEAVE, IMPULSE = int(Event.LEAVE), int(Event.IMPULSE)
MET = 1e-11  # [m/s] to which the laws are met where that comes to an end
ALLOWED = 1e-9  # [m/s] what is farther from them is no answer
AT_REST = 1e-8  # [m/s] a slip after impulses that is no faster sticks


@kernel
def strike_in_cones(plan, state, inp, ws, out, t):
    """Impulses at (ws.q0, ws.u0) of all contacts that touch, after which each holds or has parted.

    Expects the terms there.  Changes ws.u0, and the terms with it; records what happened.  False where there
    is no room for all that touch, or no answer near enough to the law is found; then nothing has changed.
    """
    n = gather_touching(plan, state, ws)
    if n < 0 or not ldl_factor(ws.M, ws.u0.size, ws.L):
        return False
    for i in range(n):
        write_impulse_rows(plan, state, ws, i)
    copy(ws.u0, ws.free_u)
    copy(ws.u0, ws.us)
    solve_cones(plan, ws, n, MET)
    copy(ws.us, ws.carried)
    thrown = False
    for i in range(n):
        k, rate = ws.near[i], rate_along(ws, i, ws.u0)
        if ws.near_x[i] > 0.0 and plan.restitution[k] > 0.0 and rate < -plan.plastic_below[k]:
            ws.near_least[i] = -plan.restitution[k] * rate
            thrown = True
    off = max(ws.cone_residual[0], ws.cone_residual[1])
    if thrown:
        solve_cones(plan, ws, n, MET)
        off = max(off, max(ws.cone_residual[0], ws.cone_residual[1]))
        take_back_gain(ws)
    if not off <= ALLOWED:
        return False
    for r in range(ws.us.size):
        change = ws.us[r] - ws.u0[r]
        ws.u0[r], ws.us[r] = ws.us[r], change
    decide(plan, state, ws, out, n, energy_lost(ws, ws.us), t)
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    return True


@kernel
def gather_touching(plan, state, ws):
    """List what holds and what touches in ws.near; return how many, -1 where there is no room for all."""
    n = 0
    for k in range(plan.contacts):
        if state.mode[k] == FREE:
            if is_far(state, ws, k) or not is_near(plan, state, ws, k, GAP_TOUCH):
                continue
        elif state.mode[k] != HELD:
            continue
        if n == ws.near.size:
            return -1
        ws.near[n] = k
        n += 1
    return n


@kernel
def write_impulse_rows(plan, state, ws, i):
    """Write rows, responses and mobility of the near contact i, which has no impulse yet."""
    k = ws.near[i]
    if i == 0:
        ws.rubbing[0] = 0
    ws.near_face[i] = state.face[k]
    if state.mode[k] == FREE:
        ws.near_face[i], _, _ = where_of_free(plan, state, ws, k)
    write_near(plan, state, ws, i)
    ws.near_rub[i], ws.near_least[i], ws.near_x[i] = -1, 0.0, 0.0
    if rubs(plan, k):
        write_tangents(plan, state, ws, i)
        ws.rub_most[ws.near_rub[i]] = plan.contact_friction[k]
        ws.rub_x[ws.near_rub[i], 0] = ws.rub_x[ws.near_rub[i], 1] = 0.0


@kernel
def take_back_gain(ws):
    """Put ws.us on the way there from ws.carried as far as that takes no energy, beside ws.u0."""
    slope = square = lost = 0.0
    for r in range(ws.us.size):
        for c in range(ws.us.size):
            mass, way = ws.M[r, c], ws.us[c] - ws.carried[c]
            slope += mass * ws.carried[r] * way
            square += mass * (ws.us[r] - ws.carried[r]) * way
            lost += 0.5 * mass * (ws.u0[r] - ws.carried[r]) * (ws.u0[c] + ws.carried[c])
    if slope + 0.5 * square > lost:
        part = 2.0 * lost / (slope + math.sqrt(max(slope * slope + 2.0 * square * lost, 0.0)))
        for r in range(ws.us.size):
            ws.us[r] = ws.carried[r] + part * (ws.us[r] - ws.carried[r])


@kernel
def decide(plan, state, ws, out, n, lost, t):
    """Let each of the n near contacts hold or part by its rate after the impulses, which took the energy
    ``lost`` [J]; tell."""
    struck, hardest = -1, 0.0
    for i in range(n):
        k = ws.near[i]
        if rate_along(ws, i, ws.u0) > RATE_REST:
            if state.mode[k] == HELD:
                state.mode[k], state.grip[k] = FREE, NONE
                record(out, LEAVE, k, 0.0, t)
            forget_feature(plan, state, k)
            state.depth[k] = min(state.depth[k], 0.0)
            if ws.near_x[i] > hardest:
                hardest, struck = ws.near_x[i], k
            continue
        if state.mode[k] == FREE:
            face, height, _ = where_of_free(plan, state, ws, k)
            hold_at(state, k, face, height)
            state.mode[k] = HELD
            record(out, TOUCH, k, lost, t)
            lost = 0.0
        if rubs(plan, k) and has_slip_rows(plan, state, k):
            state.grip[k] = STICKS if slip_along(ws, i, ws.u0) <= AT_REST else SLIDES
    if lost > ENERGY_SEEN:  # by what parts again at once, or by what held before
        record(out, IMPULSE, struck, lost, t)
