"""Guards of a piece and the time at which the first one fires.

Every block has one guard, of its own number.  That of a one-sided block is the gap [m] of the candidate while
it is free, and a thousandth of the force [N] while it is held, so that one tolerance serves both; that of a
block that rubs is what keeps it from slipping, or from sticking (friction.py).  After those of the blocks
comes one for each contact: what is left until its row changes at the edge of a face [m] (edges.py).

Redundant rows share their force as they like, so their guard asks whether any pushing distribution is left:
once there is none, it is minus a thousandth of the acceleration [m/s^2] with which the row would part.

A guard fires when it is negative at the end of the piece (and, for a gap, more so than at the start: a
contact that was just left by rounding is not a new one).  Only the sign at the end counts, so a touch is
never missed by a sign change that rounding swallowed.
"""

from __future__ import annotations

import math

from hapticsim.codes import CROWDED_TICKS
from hapticsim.kernels.events.inside import has_no_gap, takes_edges
from hapticsim.kernels.geometry.contact import has_ends
from hapticsim.kernels.geometry.edges import BEND, margin, past_border
from hapticsim.kernels.geometry.mesh.search import is_on_mesh
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, RESPONDED
from hapticsim.kernels.quiet import is_quiet
from hapticsim.kernels.rows.row_table import FREE, HELD
from hapticsim.kernels.rows.rub import leaves_cone
from hapticsim.kernels.solve.row_forces import write_row_forces
from hapticsim.kernels.units import feasible_forces, gap, gap_of_free, read_friction_guards

FIRE = 1e-12  # beyond this a guard has fired
HIT = 5e-11  # this near to zero the crossing is found
FORCE_SCALE = 1e-3  # [m/N], and [s^2] for accelerations
FRICTION_SCALE = 0.1  # [m/N] with a thousandth a bound reached at 0.3 N/s was found 2e-7 s late


@kernel
def row_forces(plan, state, ws, m, udot):
    """ws.lam of the m rows at the stage last evaluated, and ws.push of its contacts; redundant ones push if
    they can.

    Returns True when a contact pulls.
    """
    if ws.counts[RESPONDED] == 0:
        write_row_forces(plan, state, ws, m, udot)
    first = ws.counts[HELD_ROWS]
    pulls = False
    for i in range(first, m):
        ws.push[i] = FORCE_SCALE * ws.lam[i]
        if ws.push[i] < -FIRE:
            pulls = True
    if plan.sticking_rows != 0:
        return pulls or leaves_cone(plan, state, ws, m)
    if not pulls or state.rank[0] == m:
        return pulls
    pulls = not feasible_forces(plan, ws, m)
    for i in range(first, m):
        parts = ws.grad[i - first]
        ws.push[i] = FORCE_SCALE * (-parts if pulls and parts > 0.0 else ws.lam[i])
    return pulls


@inlined
def is_far(state, ws, k):
    """True where candidate k is about nothing, and its shapes too far apart to touch (broad_phase.py)."""
    return ws.apart[k] > 0.0 and state.face[k] == 0


@inlined
def is_full(plan, ws, m):
    """Whether there is no room for another row; where a tick may become a time step it is for that."""
    return m == ws.rows.size and plan.steps != CROWDED_TICKS


@kernel
def read_guards(plan, state, q, u, t, ws, m, guards):
    """Write the guards at the frames and row forces in ws, those of (q, u), t seconds into the tick.

    Nothing that is let through, or overlooked, has one; of pairs that are far it is less than the gap.  After
    a full piece the forces are those of the last Runge-Kutta stage, which stands there up to third order:
    good enough to say that one crosses zero; where it does is found with exact ones.
    """
    full = is_full(plan, ws, m)
    for k in range(plan.contacts):
        if state.mode[k] == FREE:
            if is_far(state, ws, k):
                guards[k] = ws.apart[k]
                continue
            if is_quiet(plan, ws, k):
                guards[k] = ws.guard0[k]
                continue
            ignored = full or has_no_gap(plan, state, k) or ws.overlooked[k] == 1
            guards[k] = math.inf if ignored else gap_of_free(plan, state, ws, k)
        elif state.mode[k] < FREE:  # it sleeps
            guards[k] = math.inf
    read_row_guards(plan, state, q, u, t, ws, m, guards)


@kernel
def read_reported_guards(plan, state, out, ws, m, guards):
    """``read_guards`` at the start of a tick: what was reported of free candidates is not evaluated again."""
    full = is_full(plan, ws, m)
    for k in range(plan.contacts):
        if state.mode[k] == FREE:
            if is_far(state, ws, k):
                guards[k] = ws.apart[k]
            elif full or has_no_gap(plan, state, k):
                guards[k] = math.inf
            else:
                known = takes_edges(plan, k) or not has_ends(plan, k)
                guards[k] = out.gap[k] - state.depth[k] if known else gap(plan, state, k, ws.X)
        elif state.mode[k] < FREE:
            guards[k] = math.inf
    read_row_guards(plan, state, ws.q0, ws.u0, 0.0, ws, m, guards)


@kernel
def read_row_guards(plan, state, q, u, t, ws, m, guards):
    """The guards of imposed rows and of friction, as ``read_guards``."""
    edges = state.mode.size
    for k in range(plan.contacts):
        guards[edges + k] = math.inf
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        guards[k] = ws.push[i]
        guards[edges + k] = margin(plan, state, k, ws.part[i], ws.X)
    read_friction_guards(plan, state, q, u, t, m, FRICTION_SCALE, ws, guards)


@inlined
def is_of_block(state, g):
    """True when guard g is the one that its block has by its law; the others are of edges."""
    return g < state.mode.size


@inlined
def block_of_guard(state, g):
    """The block that guard g is about."""
    return g if g < state.mode.size else g - state.mode.size


@inlined
def is_gap(plan, state, g):
    """True when guard g is the gap of a free candidate."""
    return g < plan.contacts and state.mode[g] == FREE


@inlined
def is_border(plan, state, g):
    """True when guard g is what is left to the border of a feature of a mesh."""
    return g >= state.mode.size and is_on_mesh(plan, g - state.mode.size)


@inlined
def has_jump(plan, state, g, m):
    """True for the force guard of one of m redundant rows: it falls from a force to minus an acceleration."""
    if plan.sticking_rows != 0:
        return False
    return g < plan.contacts and state.mode[g] == HELD and state.rank[0] < m


@inlined
def has_fired(plan, state, g, start, end):
    """True when guard g is negative at the end of a piece; a gap, if it became so.

    The force of a contact past the border of its part of a surface is that of the next part: it jumps there,
    and the border is what is looked for.
    """
    if not end[g] < -FIRE:
        return False
    if g < plan.contacts and state.mode[g] == HELD and end[state.mode.size + g] < BEND - FIRE:
        return False
    return not is_gap(plan, state, g) or end[g] < start[g]


@kernel
def first_fired(plan, state, start, end):
    """The most negative fired guard and its index, or 0 and -1."""
    worst, which = 0.0, -1
    for g in range(end.size):
        if end[g] < worst and has_fired(plan, state, g, start, end):
            worst, which = end[g], g
    return worst, which


@kernel
def is_just_past(plan, state, start, end, fired):
    """True where guard ``fired``, the worst, is a border on a mesh, passed by next to nothing, and what else
    fired is found."""
    if not is_border(plan, state, fired):
        return False
    if end[fired] < -2.0 * past_border(plan, block_of_guard(state, fired)):
        return False
    for g in range(end.size):
        if end[g] < -HIT and not is_border(plan, state, g) and has_fired(plan, state, g, start, end):
            return False
    return True


@kernel
def crossing_time(plan, state, start, end, lo, hi, m):
    """Earliest zero of the fired guards between lo and hi [s].

    By false position; by halving where a guard jumps, and for what starts at zero, parts and comes back.
    """
    earliest = hi
    for g in range(end.size):
        if has_fired(plan, state, g, start, end):
            a, b = start[g], end[g]
            at_zero = a <= HIT and (is_gap(plan, state, g) or plan.contacts <= g < state.mode.size)
            if has_jump(plan, state, g, m) or at_zero:
                t = 0.5 * (lo + hi)
            else:
                t = lo + (hi - lo) * (a / (a - b)) if a > 0.0 else lo
            earliest = min(earliest, t)
    return earliest
