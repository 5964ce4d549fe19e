"""Torque laws of the joints, sampled once per tick and held."""

from __future__ import annotations

from hapticsim.kernels.foreign import force_at
from hapticsim.kernels.jit import kernel


@kernel
def sample_torques(plan, state, inp, ws):
    """Write ws.tau = c + g gravity(q) + kp (q_ref - q) - kd u + outside torque, within effort limits."""
    nu = state.u.size
    carried = False
    for r in range(nu):
        if plan.torque_gravity[r] != 0.0:
            carried = True
    if carried:
        force_at(plan.gravity_force)(state.q, ws.gravity)
    for r in range(nu):
        tau = plan.torque_constant[r] - plan.torque_kd[r] * state.u[r]
        if plan.torque_gravity[r] != 0.0:
            tau += plan.torque_gravity[r] * ws.gravity[r]
        i = plan.q_of_u[r]
        if i >= 0:
            tau += plan.torque_kp[r] * (plan.torque_reference[r] - state.q[i])
        tau = min(max(tau, -plan.torque_limit[r]), plan.torque_limit[r])
        ws.tau[r] = tau + inp.torque[r]
