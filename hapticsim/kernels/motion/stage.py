"""One evaluation of the equations of motion: free by the articulated-body method, or with rows embedded."""

from __future__ import annotations

from hapticsim.kernels.haptics.coupling import add_handle_force
from hapticsim.kernels.machine_code.foreign import (
    forward_dynamics_at,
    response_factor_at,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import MAY_RESPOND, RESPONDED, SLIPPING
from hapticsim.kernels.motion.energy import POWER
from hapticsim.kernels.motion.frames import find_terms, place_frames
from hapticsim.kernels.motion.stiffness import make_implicit
from hapticsim.kernels.rows.friction import SUBSTITUTIONS, apply_friction
from hapticsim.kernels.rows.row_table import evaluate_rows
from hapticsim.kernels.solve.embedding import combine_rows, embedded_acceleration
from hapticsim.kernels.solve.response import response_acceleration
from hapticsim.kernels.solve.row_forces import write_row_forces
from hapticsim.kernels.units import (
    add_yielding_forces,
    evaluate_slips,
    solve_islands,
    solve_redundant,
    solve_slipping,
)


@inlined
def generalized_forces(plan, state, inp, ws, q, u, t):
    """ws.f = torque laws - joint damping + forces at the handle and of what yields, t seconds into the tick,
    and their power.

    The power leaves out what only takes, joint damping and dampers of laws in the stages, and the springs of
    these, whose work is what they hold less (energy.py).
    """
    power = 0.0
    for r in range(u.size):
        ws.f[r] = ws.tau[r] - plan.damping[r] * u[r]
        power += ws.tau[r] * u[r]
    if plan.law_in_stages == 1:
        for r in range(u.size):
            if ws.spring[r] != 0.0 or ws.damper[r] != 0.0:
                spring = ws.spring[r] * (plan.torque_reference[r] - q[plan.q_of_u[r]])
                ws.f[r] += spring - ws.damper[r] * u[r]
    if plan.handle_frame >= 0:
        power += add_handle_force(plan, state, inp, ws, t)
    if plan.yielding_forces != 0:
        power += add_yielding_forces(plan, state, ws)
    ws.work[POWER] = power


def free_stage(plan, state, inp, ws, q, u, t, qdot, udot):
    """qdot and udot without any row imposed; frames in ws are at (q, u)."""
    place_frames(plan, ws, q, u, qdot)
    generalized_forces(plan, state, inp, ws, q, u, t)
    forward_dynamics_at(plan.forward_dynamics)(q, u, ws.f, udot)


@inlined
def write_terms(plan, state, inp, ws, q, u, t, qdot):
    """M, h, frames and generalized forces at (q, u); ws.f becomes Q - h.

    In a substep both become those of the linearly implicit step (stiffness.py).
    """
    find_terms(plan, ws, q, u, qdot)
    generalized_forces(plan, state, inp, ws, q, u, t)
    for r in range(u.size):
        ws.f[r] -= ws.h[r]
    if ws.substep[0] > 0.0:
        make_implicit(plan, state, inp, ws, u, t, ws.substep[0])


def evaluate_terms(plan, state, inp, ws, q, u, t, qdot):
    """``write_terms``, compiled once for those who are not in a hurry."""
    write_terms(plan, state, inp, ws, q, u, t, qdot)


@kernel
def add_power_of_rows(plan, state, ws, udot, m):
    """Add to the power at the stage that of the rows, lambda . b: only what prescribes a rate does work.

    Not u . A' lambda, which would count what the step is off its contacts as work put in.
    """
    write_row_forces(plan, state, ws, m, udot)
    for i in range(m):
        ws.work[POWER] += ws.lam[i] * ws.b[i]


@inlined
def solve_embedded(plan, state, ws, m, udot):
    """udot under ws.f with the m rows in ws.A embedded.  Returns |det A_D|."""
    if plan.solve_islands != 0:
        return solve_islands(plan, state, ws, m, udot)
    if state.rank[0] == m:
        return embedded_acceleration(ws.A, ws.s, m, state.order, ws.M, ws.f, ws, udot)
    return solve_redundant(plan, state, ws, m, udot)


def embed_redundant(state, ws, m, udot):
    """The same where some of the m rows depend on others: with as many combinations of them as are needed."""
    r = state.rank[0]
    combine_rows(state.combine, m, r, ws.A, ws.s, ws.B, ws.t)
    return embedded_acceleration(ws.B, ws.t, r, state.order, ws.M, ws.f, ws, udot)


def embed_slipping(plan, state, ws, q, u, t, udot, m):
    """The same with the friction of what slips: under given loads first; what another row presses follows."""
    evaluate_slips(plan, state, q, u, t, ws)
    for c in range(ws.slip_force.size):
        ws.slip_force[c] = 0.0
    for i in range(m):
        ws.lam[i] = 0.0
    apply_friction(plan, state, m, ws)
    det = 0.0
    for trial in range(SUBSTITUTIONS + 1):
        det = solve_embedded(plan, state, ws, m, udot)
        if trial == SUBSTITUTIONS:
            break
        write_row_forces(plan, state, ws, m, udot)
        if not apply_friction(plan, state, m, ws):
            break
    return det


@kernel
def response_stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
    """The same in O(n), by impulse responses of the rows; ws.lam their forces.  False when they depend."""
    place_frames(plan, ws, q, u, qdot)
    generalized_forces(plan, state, inp, ws, q, u, t)
    evaluate_rows(plan, state, q, u, t, m, ws)
    forward_dynamics_at(plan.forward_dynamics)(q, u, ws.f, udot)
    response_factor_at(plan.response_factor)(q, ws.F)
    if not response_acceleration(
        plan.response, ws.F, ws.A, ws.s, m, udot, ws.Q, ws.QY, ws.Wr, ws.c, udot, ws.lam
    ):
        return False
    for i in range(m):
        ws.work[POWER] += ws.lam[i] * ws.b[i]
    return True


@inlined
def embedded_stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
    """qdot and udot with the m rows of ws.rows imposed, ws.phi their gaps, and the friction of what slips.

    Returns |det A_D|.
    """
    write_terms(plan, state, inp, ws, q, u, t, qdot)
    evaluate_rows(plan, state, q, u, t, m, ws)
    if ws.counts[SLIPPING] == 0:
        det = solve_embedded(plan, state, ws, m, udot)
    else:
        det = solve_slipping(plan, state, ws, q, u, t, udot, m)
    if plan.driven == 1:
        add_power_of_rows(plan, state, ws, udot, m)
    return det


def evaluate_stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
    """qdot and udot at (q, u), t seconds into the tick, with m rows, what slips, or in a substep.

    Returns |det A_D|.  Where ws.counts[MAY_RESPOND] is 1 and the tree is large, the O(n) route is taken: then
    ws.counts[RESPONDED] becomes 1, ws.lam holds the forces of the rows, and M, h, ws.LU and the determinant
    are not made.  In a substep (ws.substep) the equations are those of stiffness.py, with or without rows.
    """
    ws.counts[RESPONDED] = 0
    quick = ws.counts[MAY_RESPOND] == 1 and plan.response != 0 and 2 * m <= plan.largest_tree
    if quick and state.rank[0] == m and ws.counts[SLIPPING] == 0:
        if response_stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
            ws.counts[RESPONDED] = 1
            return 1.0
    return embedded_stage(plan, state, inp, ws, q, u, t, qdot, udot, m)
