"""The energy of a time step: the work along the way that bodies in contact take, and no gain beyond it."""

from __future__ import annotations

import math

from hapticsim.kernels.haptics.coupling import add_handle_force
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.energy import (
    BEFORE,
    DONE,
    DONE_TURNED,
    END,
    TOLERANCE,
    held_by_laws,
    total_energy,
)
from hapticsim.kernels.motion.stiffness import STIFF_SPRINGS
from hapticsim.kernels.time_stepping.near_contacts import tree_span

ALONE, TOUCHING, STRUCK = 0, 1, 2  # ws.moves of each tree
TURNS = 4  # in which a gain is taken
LEFT_OVER = 1e-5  # of the gain that ticks may have (energy.py), which a tick may leave


@kernel
def write_handle_force(plan, state, inp, ws, t, force):
    """Write the generalized force of coupler and outside force at the handle, at the frames in ws, t seconds
    into the tick."""
    for r in range(ws.f.size):
        ws.f[r] = 0.0
    if plan.handle_frame >= 0:
        add_handle_force(plan, state, inp, ws, t)
    for r in range(ws.f.size):
        force[r] = ws.f[r]


@kernel
def correct_work(plan, state, inp, ws):
    """Make the work of the tick that along the displacement ws.ue of the trees in contact.

    Expects ws.work[DONE] along the free way to (ws.free_q, ws.free_end_u), ws.handle_force at the start, and
    the frames where the trees have come to, (ws.q1, ws.u1), in ws.  Joint torques are constant over the tick;
    the force at the handle is taken as the mean of both ends.
    """
    half, torques = 0.5 * plan.tick_s, 0.0
    handle = -1
    if plan.handle_frame >= 0 and plan.frame_end[plan.handle_frame] > 0:
        handle = plan.tree_of_speed[plan.frame_first[plan.handle_frame]]
    if handle >= 0 and ws.moves[handle] != ALONE:
        write_handle_force(plan, state, inp, ws, plan.tick_s, ws.y)
        work = held_by_laws(plan, ws, ws.q0) - held_by_laws(plan, ws, ws.q1)
        for r in range(ws.tau.size):
            if ws.moves[plan.tree_of_speed[r]] == ALONE:
                work += ws.tau[r] * half * (ws.u0[r] + ws.free_end_u[r])
            else:
                work += (ws.tau[r] + 0.5 * (ws.handle_force[r] + ws.y[r])) * ws.ue[r]
        ws.work[DONE] = work
        return
    for r in range(ws.tau.size):
        if ws.moves[plan.tree_of_speed[r]] != ALONE:
            torques += ws.tau[r] * (ws.ue[r] - half * (ws.u0[r] + ws.free_end_u[r]))
    ws.work[DONE] += torques + held_by_laws(plan, ws, ws.free_q) - held_by_laws(plan, ws, ws.q1)


@kernel
def free_gain(plan, ws):
    """What the tick gained without contacts [J], as ``divide_piece`` left it: contacts need not pay it."""
    return max(0.0, ws.work[END] - ws.work[BEFORE] - ws.work[DONE]) if plan.energy != 0 else 0.0


@kernel
def gain_at(plan, ws, q, u):
    """Energy [J] that the tick gained at (q, u), beyond the work put in.

    The work along a straight way misses nothing that is linear in place and time.  A hundredth of what was
    turned over, which other ticks may miss, would be gained at every bounce under a force.
    """
    ws.work[END] = total_energy(plan, ws, q, u)
    missed = ws.work[DONE_TURNED] if ws.method[0] == STIFF_SPRINGS else 0.0
    return ws.work[END] - ws.work[BEFORE] - ws.work[DONE] - missed - ws.free_gain[0]


@kernel
def kinetic_in_contact(plan, ws):
    """Kinetic energy [J] of the trees in contact, at the speeds ws.u1."""
    kinetic = 0.0
    for t in range(plan.tree_first.size):
        if ws.moves[t] != ALONE:
            begin, end = tree_span(plan, t)
            for r in range(begin, end):
                for c in range(begin, end):
                    kinetic += 0.5 * ws.u1[r] * ws.M[r, c] * ws.u1[c]
    return kinetic


@kernel
def take_gain(plan, ws):
    """Take what the tick gained from the kinetic energy of the trees in contact; notes the energy at its end.

    All their speeds shrink by one factor, so that what does not close does not close after it.  Where they
    have not so much they stay where they were, at rest.
    """
    if plan.energy == 0:
        return
    least = LEFT_OVER * TOLERANCE * plan.energy_scale
    for _ in range(TURNS):  # the mass matrix is that of the start
        gain = gain_at(plan, ws, ws.q1, ws.u1)
        if gain <= least:
            return
        kinetic = kinetic_in_contact(plan, ws)
        if kinetic <= gain:
            break
        shrink_in_contact(plan, ws, math.sqrt(1.0 - gain / kinetic))
    if gain_at(plan, ws, ws.q1, ws.u1) > least:
        shrink_in_contact(plan, ws, 0.0)
        for i in range(ws.q1.size):
            t = plan.tree_of_coordinate[i]
            if t >= 0 and ws.moves[t] != ALONE:
                ws.q1[i] = ws.q0[i]
        ws.work[DONE] = max(ws.work[DONE], 0.0)  # of a way that was not taken
        gain_at(plan, ws, ws.q1, ws.u1)


@kernel
def shrink_in_contact(plan, ws, share):
    """Multiply the speeds ws.u1 of the trees in contact."""
    for t in range(plan.tree_first.size):
        if ws.moves[t] != ALONE:
            for r in range(plan.tree_first[t], plan.tree_end[t]):
                ws.u1[r] *= share
