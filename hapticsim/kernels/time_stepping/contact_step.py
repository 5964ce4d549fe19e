"""A tick as one step: free motion first, then the impulses of contacts over the whole tick.

    u' = u_free + M^-1 J' x,   x >= 0,   J u' >= -gap / h - h dJ/dt u, with a gap of 0 where it touches

Free bodies move as in the exact regime, by the method of Runge and Kutta.  Bodies in contact move with the
mean of their speeds before and after the step, as under a constant force; where a contact strikes in this
tick all bodies of its island move with the speeds after it, which are those that keep the gaps.  What is
thrown back gets J u' >= -e J u, with J u its rate where it closes, after it was moved onto the surface.  An
island that comes deep takes a part of its way (shorten_ways.py).  What is then inside is moved out as far as
energy allows (move_out.py), and contacts give none (balance.py).
"""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.events.inside import GAP_DEEP
from hapticsim.kernels.events.observe import copy, report
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import PIECES, REHEARSAL
from hapticsim.kernels.motion.energy import FIRST, POWER, begin_balance, divide_piece
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.motion.integrate import advance
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA
from hapticsim.kernels.rows.row_table import FREE, HELD, list_constraints
from hapticsim.kernels.solve.islands import join_trees
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.tick.certificate import certify_step
from hapticsim.kernels.tick.report import report_sample
from hapticsim.kernels.time_stepping.balance import (
    ALONE,
    STRUCK,
    TOUCHING,
    correct_work,
    free_gain,
    take_gain,
    write_handle_force,
)
from hapticsim.kernels.time_stepping.crowded_pairs import put_what_comes_in
from hapticsim.kernels.time_stepping.effective_mass import factor_effective_mass
from hapticsim.kernels.time_stepping.gauss_seidel import MET, certify_pushes, solve_pushes
from hapticsim.kernels.time_stepping.move_out import move_out
from hapticsim.kernels.time_stepping.near_contacts import (
    find_idle_pairs,
    forget_places,
    gather_near,
    let_go,
    push_along,
    push_back,
    put_what_closes_first,
    rate_along,
    reach_of,
)
from hapticsim.kernels.time_stepping.shorten_ways import displace_in_contact, shorten_ways
from hapticsim.kernels.time_stepping.turned_axes import put_in_end_axes, put_in_start_axes
from hapticsim.kernels.time_stepping.turning_rows import closes_fast, find_turning
from hapticsim.kernels.units import (
    find_far_pairs,
    follow_meshes,
    put_edges_in_places,
    solve_cones,
    stage,
    terms,
    wake_touched,
)

TOUCH, LEAVE = int(Event.TOUCH), int(Event.LEAVE)
OTHER_FEATURES = 2  # times that solids with more features near than places get others in a tick
KEPT = 1e-6  # [m] a contact that does not push stays one while it is no farther open


def take_time_step(plan, state, inp, out, ws):
    """Advance (ws.q0, ws.u0) by a tick, and write its sample; impulses go to state.impulse.

    Expects what ``tick.requests.take_requests`` leaves, and that no constraint holds.
    """
    list_constraints(plan, state, ws)
    terms(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0])
    definite = factor_effective_mass(plan, state, inp, ws)
    stage(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0], 0)
    ws.work[FIRST] = ws.work[POWER]
    write_handle_force(plan, state, inp, ws, 0.0, ws.handle_force)
    copy(ws.q0, ws.put_q)
    begin_balance(plan, state, ws, False)
    find_idle_pairs(plan, state, ws)
    follow_meshes(plan, state, ws)
    find_far_pairs(plan, ws, 1)
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
    copy(ws.q1, ws.free_q)
    copy(ws.u1, ws.free_end_u)
    n = put_what_closes_first(plan, state, ws, near)
    if out.counts[REHEARSAL] == 1:  # the code and what it reads are warm
        forget_places(plan, state, ws, near)
        return
    if not definite:
        ws.free_end_u[0] = math.nan  # the tick is refused
    pushes = move_by_impulses(plan, state, ws, n)
    for _ in range(OTHER_FEATURES):
        if not put_what_comes_in(plan, state, out, ws):
            break
        near = gather_near(plan, state, out, ws)
        place_frames(plan, ws, ws.free_q, ws.free_end_u, ws.qs)
        n = put_what_closes_first(plan, state, ws, near)
        pushes = move_by_impulses(plan, state, ws, n)
    note_contacts(plan, state, out, ws, n)
    certify_step(plan, out, ws, n)
    if pushes > 0:
        if ws.method[0] != RUNGE_KUTTA:  # stages were evaluated for another M
            terms(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0])
        ws.free_gain[0] = free_gain(plan, ws)
        place_frames(plan, ws, ws.q1, ws.us, ws.qs)
        shorten_ways(plan, state, out, ws, near)
        put_in_end_axes(plan, ws)
        if plan.handle_frame >= 0:
            place_frames(plan, ws, ws.q1, ws.u1, ws.qs)
        correct_work(plan, state, inp, ws)
        if move_out(plan, state, ws, near):
            put_in_end_axes(plan, ws)
        take_gain(plan, ws)
    forget_places(plan, state, ws, near)
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
def move_by_impulses(plan, state, ws, n):
    """Find the impulses of the n near contacts, and go from where the free motion ends, (ws.free_q,
    ws.free_end_u), the frames in ws, to (ws.q1, ws.u1), what is in contact at the speeds before impulses.

    Returns how many push.  The frames become those at ws.q1 where a pair is crowded.
    """
    copy(ws.free_q, ws.q1)
    copy(ws.free_end_u, ws.u1)
    find_impulses(plan, state, ws, n)
    pushes = mark_islands(plan, ws, n)
    if pushes > 0:
        move_in_contact(plan, ws)
        if ws.crowded_pairs[0] > 0:
            place_frames(plan, ws, ws.q1, ws.us, ws.qs)
    return pushes


@kernel
def find_impulses(plan, state, ws, n):
    """Impulses ws.near_x of the n near contacts; ws.us becomes the speeds after them, and ws.carried those
    before what closes is thrown back."""
    copy(ws.free_end_u, ws.free_u)
    put_in_start_axes(plan, ws, ws.free_q, ws.free_u)
    copy(ws.free_u, ws.us)
    find_turning(plan, state, ws, n)
    bounces = False
    for i in range(n):
        k = ws.near[i]
        ws.near_x[i] = state.impulse[k] if state.mode[k] == HELD else 0.0
        if ws.near_x[i] > 0.0:
            push_along(ws, i, ws.near_x[i], ws.us)
        if ws.near_rub[i] >= 0:
            push_back(ws, i, ws.near_rub[i], ws.us)
        bounces = bounces or bounce_rate(plan, ws, i) > 0.0
    if n == 0:
        return
    solve_contacts(plan, ws, n)
    copy(ws.us, ws.carried)
    if bounces:
        for i in range(n):
            parts = bounce_rate(plan, ws, i) if ws.near_x[i] > 0.0 else 0.0
            if parts > 0.0:
                ws.near_least[i] = max(ws.near_least[i], parts)
        solve_contacts(plan, ws, n)


@inlined
def solve_contacts(plan, ws, n):
    """Impulses of the n near contacts, and the speeds ws.us after them."""
    if ws.rubbing[0] > 0:
        solve_cones(plan, ws, n, MET)
    else:
        solve_pushes(plan, ws, n, ws.near_least, MET, ws.near_x, ws.us)
        certify_pushes(ws, n)


@kernel
def bounce_rate(plan, ws, i):
    """Rate [m/s] with which the near contact i parts after it closes in this tick; 0 where it does not part.

    It closes with its rate after the part of the tick that its gap takes.
    """
    e, open_by = plan.restitution[ws.near[i]], max(ws.near_gap[i], 0.0)
    if e == 0.0:
        return 0.0
    before, after = rate_along(ws, i, ws.u0), rate_along(ws, i, ws.free_u)
    if before >= -plan.plastic_below[ws.near[i]] or open_by + plan.tick_s * min(before, after) > 0.0:
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
        if ws.near_rub[i] >= 0:
            note_friction(plan, state, out, ws, k, ws.near_rub[i])
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        if ws.idle[begin] == 1:  # none was held
            continue
        for k in range(begin, end):
            if state.mode[k] == HELD and ws.wanted[k] == 0:
                let_go(plan, state, k)
                record(out, LEAVE, k, 0.0, 0.0)


@kernel
def note_friction(plan, state, out, ws, k, j):
    """Write the friction of contact k, which rubs in place j, in world axes."""
    t = ws.rub_directions[j]
    for c in range(3):
        impulse = ws.rub_x[j, 0] * t[c] + ws.rub_x[j, 1] * t[3 + c]
        state.friction_impulse_W[k, c] = impulse
        out.friction_W[k, c] = impulse / plan.tick_s


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
        strikes = closes_fast(ws, i) or bounce_rate(plan, ws, i) > 0.0
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

    ws.ue becomes the displacement of the former.
    """
    for t in range(plan.tree_first.size):
        for r in range(plan.tree_first[t], plan.tree_end[t]):
            speed = 0.0
            if ws.moves[t] == STRUCK:
                speed = ws.carried[r]
            elif ws.moves[t] == TOUCHING:
                speed = 0.5 * (ws.u0[r] + ws.us[r])
            ws.ue[r] = plan.tick_s * speed
    displace_in_contact(plan, ws)
