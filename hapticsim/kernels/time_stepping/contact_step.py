"""A tick as one step: free motion first, then the impulses of contacts over the whole tick.

    u' = u_free + M^-1 J' x,   x >= 0,   J u' >= -gap / h where a contact is open, 0 where it touches

Free bodies move as in the exact regime, by the method of Runge and Kutta.  Bodies in contact move with the
mean of their speeds before and after the step, as under a constant force; where a contact strikes in this
tick all bodies of its island move with the speeds after it, which are those that keep the gaps.  What is
thrown back gets J u' >= -e J u, with J u its rate where it closes, after it was moved onto the surface.  What
is then inside is moved out as far as energy allows, and contacts give none (balance.py).

Rows are those of the start of the tick.  A part that turns far within it, as a light one that heavy ones
squeeze out, comes deep into another by them: its island then takes a part of its way, and the tick tells that
it was halted.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.events.inside import GAP_DEEP
from hapticsim.kernels.events.observe import copy, report
from hapticsim.kernels.events.resolve_contacts import RATE_BOUNCE
from hapticsim.kernels.machine_code.foreign import displace_at, kinematics_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import PIECES, REHEARSAL
from hapticsim.kernels.motion.energy import FIRST, POWER, begin_balance, divide_piece
from hapticsim.kernels.motion.integrate import advance
from hapticsim.kernels.rows.row_table import FREE, HELD, list_constraints
from hapticsim.kernels.solve.islands import join_trees
from hapticsim.kernels.solve.speed_selection import HALTED, record
from hapticsim.kernels.tick.report import report_sample
from hapticsim.kernels.time_stepping.balance import (
    ALONE,
    STRUCK,
    TOUCHING,
    correct_work,
    free_gain,
    gain_at,
    kinetic_in_contact,
    take_gain,
    write_handle_force,
)
from hapticsim.kernels.time_stepping.effective_mass import factor_trees, is_damped, soften_mass
from hapticsim.kernels.time_stepping.gauss_seidel import solve_pushes
from hapticsim.kernels.time_stepping.near_contacts import (
    find_idle_pairs,
    gather_near,
    let_go,
    meets,
    past_edge,
    push_along,
    put_what_closes_first,
    rate_along,
    reach_of,
)
from hapticsim.kernels.time_stepping.near_islands import island_of_near
from hapticsim.kernels.units import (
    find_far_pairs,
    follow_meshes,
    gap,
    put_edges_in_places,
    stage,
    terms,
    wake_touched,
)

TOUCH, LEAVE = int(Event.TOUCH), int(Event.LEAVE)
INSIDE = 1e-9  # [m] what is deeper at the end of a step is moved out
KEPT = 1e-6  # [m] a contact that does not push stays one while it is no farther open
RATE_STRIKE = 1e-4  # [m/s] what closes faster strikes; slower, both ways of moving are 0.1 um apart
MET = 1e-7  # [m/s] by which rates may be off
PAYS = 0.5  # of the kinetic energy in contact, at most, for moving out
DEEP = 5e-4  # [m] an island that comes deeper by its way goes a part of it
DEEPER = 1e-4  # [m] the same where it began as deep
SHORTENINGS = 8  # to a half, of the ways of an island
WAYS = 4  # out of what is inside, one after the other
FREE_WAY = 1.0  # [m] that what nothing holds may move
HALVINGS = 4  # of a way out that energy does not allow


def take_time_step(plan, state, inp, out, ws):
    """Advance (ws.q0, ws.u0) by a tick, and write its sample; impulses go to state.impulse.

    Expects what ``tick.requests.take_requests`` leaves, and that no constraint holds.
    """
    list_constraints(plan, state, ws)
    terms(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0])
    if is_damped(plan, state, ws):
        soften_mass(plan, state, inp, ws)
    definite = factor_trees(plan, ws)
    stage(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0], 0)
    ws.work[FIRST] = ws.work[POWER]
    write_handle_force(plan, state, inp, ws, 0.0, ws.handle_force)
    copy(ws.q0, ws.put_q)
    begin_balance(plan, state, ws, False)
    follow_meshes(plan, state, ws.X)
    find_far_pairs(plan, ws, 1)
    find_idle_pairs(plan, state, ws)
    ws.reach[0] = reach_of(plan, state, ws)
    put_edges_in_places(plan, state, ws, out, 0, GAP_DEEP)
    if ws.sampled[0] == 0:
        report_sample(plan, state, inp, out, ws, 0)
    else:
        report(plan, state, out, ws, 0)
    if wake_touched(plan, state, ws, ws.reach[0]) > 0:
        stage(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0], 0)
    near = gather_near(plan, state, out, ws)
    move_freely(plan, state, inp, ws)
    n = put_what_closes_first(plan, state, ws, near)
    if out.counts[REHEARSAL] == 1:  # the code and what it reads are warm
        return
    if not definite:
        ws.u1[0] = math.nan  # the tick is refused
    find_impulses(plan, state, ws, n)
    note_contacts(plan, state, out, ws, n)
    if mark_islands(plan, ws, n) > 0:
        move_in_contact(plan, ws)
        if is_damped(plan, state, ws):
            terms(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0])  # M again
        ws.free_gain[0] = free_gain(plan, ws)
        kinematics_at(plan.kinematics)(ws.q1, ws.us, ws.qs, ws.X, ws.V, ws.vel, ws.acc)
        shorten_ways(plan, state, out, ws, near)
        correct_work(plan, state, inp, ws)
        copy(ws.us, ws.u1)
        move_out(plan, state, ws, near)
        take_gain(plan, ws)
    copy(ws.q1, ws.q0)
    copy(ws.u1, ws.u0)
    out.counts[PIECES] = 1


@kernel
def move_freely(plan, state, inp, ws):
    """(ws.q1, ws.u1) = where (ws.q0, ws.u0) would be without contacts, in as many divisions as it needs."""
    while True:
        advance(plan, state, inp, ws, 0.0, plan.tick_s, 0)
        if not divide_piece(plan, state, ws, 0.0):
            break


@kernel
def find_impulses(plan, state, ws, n):
    """Impulses ws.near_x of the n near contacts; ws.us becomes the speeds after them, and ws.carried those
    before what closes is thrown back."""
    copy(ws.u1, ws.us)
    bounces = False
    for i in range(n):
        k = ws.near[i]
        ws.near_least[i] = -max(ws.near_gap[i], 0.0) / plan.tick_s
        ws.near_x[i] = state.impulse[k] if state.mode[k] == HELD else 0.0
        if ws.near_x[i] > 0.0:
            push_along(ws, i, ws.near_x[i], ws.us)
        bounces = bounces or bounce_rate(plan, ws, i) > 0.0
    if n == 0:
        return
    solve_pushes(plan, ws, n, ws.near_least, MET, ws.near_x, ws.us)
    copy(ws.us, ws.carried)
    if bounces:
        for i in range(n):
            if ws.near_x[i] > 0.0:
                ws.near_least[i] = max(ws.near_least[i], bounce_rate(plan, ws, i))
        solve_pushes(plan, ws, n, ws.near_least, MET, ws.near_x, ws.us)


@kernel
def bounce_rate(plan, ws, i):
    """Rate [m/s] with which the near contact i parts after it closes in this tick; 0 where it does not part.

    It closes with its rate after the part of the tick that its gap takes.
    """
    e, open_by = plan.restitution[ws.near[i]], max(ws.near_gap[i], 0.0)
    if e == 0.0:
        return 0.0
    before, after = rate_along(ws, i, ws.u0), rate_along(ws, i, ws.u1)
    if before >= -RATE_BOUNCE or open_by + plan.tick_s * min(before, after) > 0.0:
        return 0.0
    part = min(1.0, open_by / (-before * plan.tick_s))
    return -e * (before + part * (after - before))


@kernel
def note_contacts(plan, state, out, ws, n):
    """Which contacts hold from now on, with what impulses; tell those that begin and end."""
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        if ws.idle[begin] == 0:
            for k in range(begin, end):
                ws.wanted[k] = 0
    for i in range(n):
        k = ws.near[i]
        state.impulse[k] = ws.near_x[i]
        kept = state.mode[k] == HELD and ws.near_gap[i] <= KEPT
        if ws.near_x[i] > 0.0 or kept:
            ws.wanted[k] = 1
            if state.mode[k] == FREE:
                state.face[k] = ws.near_face[i]
                record(out, TOUCH, k, 0.0, 0.0)
            state.mode[k] = HELD
        out.force[k] = ws.near_x[i] / plan.tick_s
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        if ws.idle[begin] == 1:  # none was held
            continue
        for k in range(begin, end):
            if state.mode[k] == HELD and ws.wanted[k] == 0:
                let_go(plan, state, k)
                record(out, LEAVE, k, 0.0, 0.0)


@kernel
def mark_islands(plan, ws, n):
    """Write to ws.moves how each tree moves: alone, touching others, or in an island where one is struck.

    Returns how many contacts push.
    """
    pushes = 0
    for i in range(n):
        if ws.near_x[i] > 0.0:
            ws.near_pushing[pushes] = ws.near[i]
            pushes += 1
    join_trees(plan, ws.island_of, ws.near_pushing, pushes)
    for t in range(plan.tree_first.size):
        ws.moves[t] = ALONE
        ws.struck[t] = 0
    for i in range(n):
        if ws.near_x[i] <= 0.0:
            continue
        k = ws.near[i]
        strikes = rate_along(ws, i, ws.u0) < -RATE_STRIKE or ws.near_least[i] > 0.0
        for side in range(2):
            t = plan.row_tree_a[k] if side == 0 else plan.row_tree_b[k]
            if t >= 0:
                ws.moves[t] = TOUCHING
                if strikes:
                    ws.struck[ws.island_of[t]] = 1
    for t in range(plan.tree_first.size):
        if ws.moves[t] == TOUCHING and ws.struck[ws.island_of[t]] == 1:
            ws.moves[t] = STRUCK
    return pushes


@kernel
def move_in_contact(plan, ws):
    """Move trees in contact from ws.q0 with the speeds ws.us after the impulses; the others stay at ws.q1.

    ws.ue becomes the displacement of the former, and ws.free_q where all would be without contacts.
    """
    for t in range(plan.tree_first.size):
        for r in range(plan.tree_first[t], plan.tree_end[t]):
            speed = 0.0
            if ws.moves[t] == STRUCK:
                speed = ws.carried[r]
            elif ws.moves[t] == TOUCHING:
                speed = 0.5 * (ws.u0[r] + ws.us[r])
            ws.ue[r] = plan.tick_s * speed
    copy(ws.q1, ws.free_q)
    displace_in_contact(plan, ws)


@kernel
def displace_in_contact(plan, ws):
    """Put trees in contact at ws.q1 by the displacement ws.ue from ws.q0."""
    displace_at(plan.displace)(ws.q0, ws.ue, ws.qe)
    for i in range(ws.q1.size):
        t = plan.tree_of_coordinate[i]
        if t >= 0 and ws.moves[t] != ALONE:
            ws.q1[i] = ws.qe[i]


@kernel
def shorten_ways(plan, state, out, ws, n):
    """Halve the ways of islands that came deep by the n near contacts, at the frames in ws.

    One that stays deep has its whole way.  Speeds stay, and energy is balanced for the way that is taken.
    How long an island stood still at most is told.
    """
    for t in range(plan.tree_first.size):
        ws.way_part[t] = 1.0
    for _ in range(SHORTENINGS):
        if not mark_deep(plan, state, ws, n):
            break
        scale_ways(plan, ws, False)
    if mark_deep(plan, state, ws, n):
        scale_ways(plan, ws, True)
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
    kinematics_at(plan.kinematics)(ws.q1, ws.us, ws.qs, ws.X, ws.V, ws.vel, ws.acc)


@kernel
def mark_deep(plan, state, ws, n):
    """Write to ws.deep which islands came deep, at the frames in ws; False where none did.

    What comes into a part that moves alone is left: only the way of one of both could be shorter.
    """
    found = False
    for t in range(plan.tree_first.size):
        ws.deep[t] = 0
    for i in range(n):
        k = ws.near[i]
        limit = min(-DEEP, ws.near_gap[i] - DEEPER)
        if gap(plan, state, k, ws.X) >= limit or is_alone(plan, ws, k) or past_edge(plan, state, k, ws.X):
            continue
        for side in range(2):
            t = plan.row_tree_a[k] if side == 0 else plan.row_tree_b[k]
            if t >= 0:
                ws.deep[ws.island_of[t]] = 1
                found = True
    return found


@kernel
def is_alone(plan, ws, k):
    """Whether a tree that candidate k is about moves alone."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    return (a >= 0 and ws.moves[a] == ALONE) or (b >= 0 and ws.moves[b] == ALONE)


@kernel
def move_out(plan, state, ws, n):
    """Move what is inside at (ws.q1, ws.u1) out, by the least displacement in the metric of M, or part of the
    way where that takes more energy than the tick has lost and the speeds can pay.

    Expects the frames there in ws.  Rows are those of the start, so that one way out may not be enough; an
    island that a way leads deeper, as where parts turned far, goes back and stays.
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
            return
        for i in range(n):
            if ws.deep[island_of_near(plan, ws, i)] == 1:
                ws.near_least[i] = -FREE_WAY
        copy(ws.depth, ws.depth_before)
        for r in range(ws.ue.size):
            ws.ue[r] = 0.0
        solve_pushes(plan, ws, n, ws.near_least, MET * plan.tick_s, ws.near_x, ws.ue)
        copy(ws.q1, ws.qe)
        if not go_as_energy_allows(plan, ws, most):
            return
        kinematics_at(plan.kinematics)(ws.q1, ws.u1, ws.qs, ws.X, ws.V, ws.vel, ws.acc)


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
    """Write to ws.near_least how far [m] each near contact has to move along its row, at the frames in ws,
    and to ws.depth how deep each island is.

    Returns the largest depth of what is held, but for islands in ws.deep.
    """
    deepest = 0.0
    for i in range(n):
        open_by = gap(plan, state, ws.near[i], ws.X)
        ws.near_least[i], ws.near_x[i] = -open_by, 0.0
        deepest = max(deepest, -open_by)
    for t in range(plan.tree_first.size):
        ws.depth[t] = 0.0
    if deepest <= INSIDE:
        return deepest
    deepest = 0.0
    for i in range(n):
        depth, b = ws.near_least[i], island_of_near(plan, ws, i)
        if depth <= 0.0:
            continue
        held = meets(plan, state, ws.near[i], ws.X)
        if held or not past_edge(plan, state, ws.near[i], ws.X):  # also what is deeper than anything is held
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
