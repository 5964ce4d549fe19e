"""One evaluation of the equations of motion: free by the articulated-body method, in contact embedded."""

from __future__ import annotations

from hapticsim.kernels.contact import contact_row
from hapticsim.kernels.coupling import add_handle_force
from hapticsim.kernels.embedding import combine_rows, embedded_acceleration
from hapticsim.kernels.foreign import forward_dynamics_at, kane_at, kinematics_at
from hapticsim.kernels.jit import kernel


@kernel
def generalized_forces(plan, state, inp, ws, u, t):
    """ws.f = torque laws - joint damping + forces at the handle, t seconds into the tick."""
    for r in range(u.size):
        ws.f[r] = ws.tau[r] - plan.damping[r] * u[r]
    if plan.handle_frame >= 0:
        add_handle_force(plan, state, inp, ws, t)


@kernel
def free_stage(plan, state, inp, ws, q, u, t, qdot, udot):
    """qdot and udot without any row imposed; frames in ws are at (q, u)."""
    kinematics_at(plan.kinematics)(q, u, qdot, ws.X, ws.V, ws.vel, ws.acc)
    generalized_forces(plan, state, inp, ws, u, t)
    forward_dynamics_at(plan.forward_dynamics)(q, u, ws.f, udot)


@kernel
def list_rows(state, ws):
    """ws.rows = the contacts imposed; return their number."""
    m = 0
    for k in range(state.active.size):
        if state.active[k] == 1:
            ws.rows[m] = k
            m += 1
    return m


@kernel
def terms(plan, state, inp, ws, q, u, t, qdot):
    """M, h, frames and generalized forces at (q, u); ws.f becomes Q - h."""
    kane_at(plan.kane)(q, u, qdot, ws.M, ws.h, ws.X, ws.V, ws.vel, ws.acc)
    generalized_forces(plan, state, inp, ws, u, t)
    for r in range(u.size):
        ws.f[r] -= ws.h[r]


@kernel
def contact_stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
    """qdot and udot with the m rows of ws.rows imposed; ws.phi holds their gaps.  Returns |det A_D|."""
    terms(plan, state, inp, ws, q, u, t, qdot)
    for i in range(m):
        ws.phi[i] = contact_row(plan, ws.rows[i], i, ws)
    r = state.rank[0]
    if r == m:
        return embedded_acceleration(ws.A, ws.s, r, state.order, ws.M, ws.f, ws, udot)
    combine_rows(state.combine, m, r, ws.A, ws.s, ws.B, ws.t)
    return embedded_acceleration(ws.B, ws.t, r, state.order, ws.M, ws.f, ws, udot)
