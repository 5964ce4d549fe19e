"""The ways of islands that come deep in a time step: they go a part of them.

Rows are those of the start of the tick.  A part that turns far within it, as a light one that heavy ones
squeeze out, comes deep into another by them.  Its island then takes half of its way, or less, and the tick
tells that it was halted.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.foreign import displace_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.solve.speed_selection import HALTED, record
from hapticsim.kernels.time_stepping.balance import ALONE
from hapticsim.kernels.time_stepping.crowded_pairs import is_deeper
from hapticsim.kernels.time_stepping.near_contacts import find_gaps, is_deeper_than_solids, past_edge

DEEP = 5e-4  # [m] an island that comes deeper by its way goes a part of it
DEEPER = 1e-4  # [m] the same where it began as deep
SHORTENINGS = 8  # to a half, of the ways of an island


@kernel
def shorten_ways(plan, state, out, ws, n):
    """Halve the ways of islands that came deep by the n near contacts, at the frames in ws.

    One that stays deep has its whole way.  Speeds stay, and energy is balanced for the way that is taken.
    How long an island stood still at most is told.  ws.near_end becomes the gaps where the ways end.
    """
    for t in range(plan.tree_first.size):
        ws.way_part[t] = 1.0
    find_gaps(plan, state, ws, n)
    deep = mark_deep(plan, state, ws, n)
    for _ in range(SHORTENINGS):
        if not deep:
            break
        scale_ways(plan, ws, False)
        find_gaps(plan, state, ws, n)
        deep = mark_deep(plan, state, ws, n)
    if deep:
        scale_ways(plan, ws, True)
        find_gaps(plan, state, ws, n)
    least = 1.0
    for t in range(plan.tree_first.size):
        least = min(least, ws.way_part[t])
    if least < 1.0:
        record(out, HALTED, -1, (1.0 - least) * plan.tick_s, least * plan.tick_s)


@kernel
def scale_ways(plan, ws, whole):
    """Halve the ways of the islands in ws.deep, or make them whole again; and put these there."""
    for t in range(plan.tree_first.size):
        b = ws.island_of[t]
        if ws.moves[t] != ALONE and ws.deep[b] == 1:
            for r in range(plan.tree_first[t], plan.tree_end[t]):
                ws.ue[r] *= 1.0 / ws.way_part[b] if whole else 0.5
    for b in range(plan.tree_first.size):
        if ws.deep[b] == 1:
            ws.way_part[b] = 1.0 if whole else 0.5 * ws.way_part[b]
    displace_in_contact(plan, ws)
    place_frames(plan, ws, ws.q1, ws.us, ws.qs)


@kernel
def mark_deep(plan, state, ws, n):
    """Write to ws.deep which islands came deep, by ws.near_end or features that found no place; False where
    none did.

    What comes into a part that moves alone is left: only the way of one of both could be shorter.
    """
    found = False
    for t in range(plan.tree_first.size):
        ws.deep[t] = 0
    for i in range(n):
        k = ws.near[i]
        limit = min(-DEEP, ws.near_gap[i] - DEEPER)
        if ws.near_end[i] >= limit or is_alone(plan, ws, k) or past_edge(plan, state, k, ws.X):
            continue
        if not is_deeper_than_solids(plan, state, ws, k, ws.near_end[i]):
            found = mark(plan, ws, k)
    for i in range(ws.crowded_pairs[0]):
        k = ws.crowded[i]
        if not is_alone(plan, ws, k) and is_deeper(plan, state, ws, i):
            found = mark(plan, ws, k)
    return found


@kernel
def mark(plan, ws, k):
    """Write to ws.deep that the islands of candidate k are."""
    for side in range(2):
        t = plan.row_tree_a[k] if side == 0 else plan.row_tree_b[k]
        if t >= 0:
            ws.deep[ws.island_of[t]] = 1
    return True


@kernel
def is_alone(plan, ws, k):
    """Whether a tree that candidate k is about moves alone."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    return (a >= 0 and ws.moves[a] == ALONE) or (b >= 0 and ws.moves[b] == ALONE)


@kernel
def displace_in_contact(plan, ws):
    """Put trees in contact at ws.q1 by the displacement ws.ue from ws.q0."""
    displace_at(plan.displace)(ws.q0, ws.ue, ws.qe)
    for i in range(ws.q1.size):
        t = plan.tree_of_coordinate[i]
        if t >= 0 and ws.moves[t] != ALONE:
            ws.q1[i] = ws.qe[i]
