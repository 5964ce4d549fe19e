"""The way out of what is inside at the end of a time step, as far as energy allows."""

from __future__ import annotations

import math

from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.machine_code.foreign import displace_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.solve.islands import join_trees
from hapticsim.kernels.time_stepping.balance import gain_at, kinetic_in_contact
from hapticsim.kernels.time_stepping.gauss_seidel import MET, solve_pushes
from hapticsim.kernels.time_stepping.near_contacts import find_gaps, is_deeper_than_solids, meets, past_edge
from hapticsim.kernels.time_stepping.near_islands import island_of_near

INSIDE = 1e-9  # [m] what is deeper at the end of a step is moved out
PAYS = 0.5  # of the kinetic energy in contact, at most, for moving out
WAYS = 4  # out of what is inside, one after the other
FREE_WAY = 1.0  # [m] that what nothing holds may move
HALVINGS = 4  # of a way out that energy does not allow


@kernel
def move_out(plan, state, ws, n):
    """Move what is inside at (ws.q1, ws.u1) out, by the least displacement in the metric of M, or part of the
    way where that takes more energy than the tick has lost and the speeds can pay.

    Expects the frames there in ws, and the gaps in ws.near_end.  Rows are those of the start, so that one way
    out may not be enough; an island that a way leads deeper, as where parts turned far, goes back and stays.
    Features that are farther inside one another than their solids are have not met, and move nothing.
    Returns whether it tried.
    """
    most = PAYS * kinetic_in_contact(plan, ws)
    join_trees(plan, ws.island_of, ws.near, n)
    for t in range(plan.tree_first.size):
        ws.deep[t], ws.depth_before[t] = 0, math.inf
    for way in range(WAYS + 1):
        deepest = find_ways_out(plan, state, ws, n)
        if way > 0:
            go_back_from_deeper(plan, ws)
        if deepest <= INSIDE or way == WAYS:
            return way > 0
        for i in range(n):
            if ws.deep[island_of_near(plan, ws, i)] == 1:
                ws.near_least[i] = -FREE_WAY
        copy(ws.depth, ws.depth_before)
        for r in range(ws.ue.size):
            ws.ue[r] = 0.0
        solve_pushes(plan, ws, n, ws.near_least, MET * plan.tick_s, ws.near_x, ws.ue)
        copy(ws.q1, ws.qe)
        if not go_as_energy_allows(plan, ws, most):
            return way > 0
        place_frames(plan, ws, ws.q1, ws.u1, ws.qs)
        find_gaps(plan, state, ws, n)


@kernel
def go_back_from_deeper(plan, ws):
    """Put islands that the last way, from ws.qe, led deeper back, and mark them in ws.deep."""
    for b in range(plan.tree_first.size):
        if ws.depth[b] > ws.depth_before[b] + INSIDE:
            ws.deep[b] = 1
    for i in range(ws.q1.size):
        t = plan.tree_of_coordinate[i]
        if t >= 0 and ws.deep[ws.island_of[t]] == 1:
            ws.q1[i] = ws.qe[i]


@kernel
def find_ways_out(plan, state, ws, n):
    """Write to ws.near_least how far [m] each near contact has to move along its row, by ws.near_end, and to
    ws.depth how deep each island is.

    Returns the largest depth of what is held, but for islands in ws.deep.
    """
    deepest = 0.0
    for i in range(n):
        ws.near_least[i], ws.near_x[i] = -ws.near_end[i], 0.0
        deepest = max(deepest, -ws.near_end[i])
    for t in range(plan.tree_first.size):
        ws.depth[t] = 0.0
    if deepest <= INSIDE:
        return deepest
    deepest = 0.0
    for i in range(n):
        depth, b = ws.near_least[i], island_of_near(plan, ws, i)
        if depth <= 0.0:
            continue
        k = ws.near[i]
        apart = is_deeper_than_solids(plan, state, ws, k, -depth)
        held = not apart and meets(plan, state, k, ws.X)
        if held or not (apart or past_edge(plan, state, k, ws.X)):  # or it is too deep to be held
            ws.depth[b] = max(ws.depth[b], depth)
        if not held:
            ws.near_least[i] = -FREE_WAY
        elif ws.deep[b] == 0:
            deepest = max(deepest, depth)
    return deepest


@kernel
def go_as_energy_allows(plan, ws, most):
    """Displace ws.qe by ws.ue, to ws.q1, or by a part of it, so that no more than ``most`` [J] is gained;
    False where it stays."""
    for _ in range(HALVINGS):
        displace_at(plan.displace)(ws.qe, ws.ue, ws.q1)
        if plan.energy == 0 or gain_at(plan, ws, ws.q1, ws.u1) <= most:
            return True
        for r in range(ws.ue.size):
            ws.ue[r] *= 0.5
    copy(ws.qe, ws.q1)
    return False
