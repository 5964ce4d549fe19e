"""Torque laws of the joints: sampled once per tick and held, or acting in each stage where that is too late.

A spring held for a tick pushes as if its damping were k h / 2 less, and a damper held too long throws back.
Where a scene's laws bear neither (assemble/stiff_parts.py), their springs and dampers act in each stage,
as joint damping does.  What else a law has stays held.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.foreign import force_at
from hapticsim.kernels.machine_code.jit import kernel


@kernel
def sample_torques(plan, state, inp, ws):
    """Write ws.tau = c + g gravity(q) + kp (q_ref - q) - kd u + outside torque, within effort limits.

    Laws in the stages leave their kp and kd to ws.spring and ws.damper; one that is beyond its limit is held
    there, and ws.limited says what it asks for.
    """
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
        limit = plan.torque_limit[r]
        ws.spring[r] = ws.damper[r] = ws.limited[r] = 0.0
        if plan.law_in_stages == 1 and i >= 0:
            if abs(tau) <= limit:
                ws.spring[r], ws.damper[r] = plan.torque_kp[r], plan.torque_kd[r]
                spring = ws.spring[r] * (plan.torque_reference[r] - state.q[i])
                ws.tau[r] = tau - (spring - ws.damper[r] * state.u[r]) + inp.torque[r]
                continue
            ws.limited[r] = tau
        tau = min(max(tau, -limit), limit)
        ws.tau[r] = tau + inp.torque[r]
