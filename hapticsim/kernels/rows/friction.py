"""Constraints that hold by friction: they stick up to a force, slip beyond it, and stick again.

A row with force lam along it sticks while |lam| <= mu_s N.  Beyond, it is not imposed; friction mu_k N acts
along it against the slip, until the rate of the row comes back to zero.  The normal force N is given, or it
is the force of another constraint: then friction and normal force need one another, and both are found
together by repeated substitution, which converges where friction does not jam the mechanism.
"""

from __future__ import annotations

import math

from hapticsim.codes import Mode
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import SLIPPING
from hapticsim.kernels.rows.row_table import FREE, HELD, rate_of
from hapticsim.kernels.units import evaluate_slips

FORWARD, BACKWARD = int(Mode.FORWARD), int(Mode.BACKWARD)
SUBSTITUTIONS = 12  # at most; each brings a factor of about mu times the coupling of the two rows
CLOSE = 1e-13  # relative change of a friction force at which it is taken as found


@kernel
def normal_force(plan, state, c, m, ws):
    """Force [N] that presses where constraint c rubs, from ws.lam of the m imposed rows."""
    by = plan.friction_normal[c]
    if by < 0:
        return plan.friction_load[c]
    first = plan.block_start[by]
    for i in range(m):
        if ws.rows[i] == first:
            return abs(ws.lam[i])
    return 0.0


@kernel
def slip_direction(state, c):
    """+1 or -1 for a constraint that slips."""
    return 1.0 if state.mode[c] == FORWARD else -1.0


@kernel
def apply_friction(plan, state, m, ws):
    """Add to ws.f what the friction forces changed by, given ws.lam; return True when one did change."""
    changed = False
    for c in range(plan.contacts, state.mode.size):
        if state.mode[c] == FORWARD or state.mode[c] == BACKWARD:
            force = -slip_direction(state, c) * plan.kinetic_friction[c] * normal_force(plan, state, c, m, ws)
            change = force - ws.slip_force[c]
            if abs(change) > CLOSE * abs(force):
                changed = True
                ws.slip_force[c] = force
                for r in range(ws.f.size):
                    ws.f[r] += ws.slip_A[c, r] * change
    return changed


def write_friction_guards(plan, state, q, u, t, m, scale, ws, guards):
    """Guards of the constraints: spare force of what sticks, slip rate of what slips, none of others.

    scale   [m/N] so that one tolerance serves forces and rates.
    """
    if ws.counts[SLIPPING] > 0:
        evaluate_slips(plan, state, q, u, t, ws)
    for c in range(plan.contacts, state.mode.size):
        guards[c] = math.inf
        if state.mode[c] == HELD:
            if plan.static_friction[c] < math.inf:
                guards[c] = scale * spare_force(plan, state, c, m, ws)
        elif state.mode[c] != FREE:
            guards[c] = slip_direction(state, c) * rate_of(ws.slip_A, c, u, ws.slip_b)


@kernel
def held_force(plan, state, c, m, ws):
    """Force of the row of a constraint that holds, from ws.lam."""
    row = plan.block_start[c]
    for i in range(m):
        if ws.rows[i] == row:
            return ws.lam[i]
    return 0.0


@kernel
def spare_force(plan, state, c, m, ws):
    """What friction could bear more before constraint c slips [N]."""
    return plan.static_friction[c] * normal_force(plan, state, c, m, ws) - abs(
        held_force(plan, state, c, m, ws)
    )
