"""A piece of a stiff tick: linearly implicit Euler steps, extrapolated.

n equal substeps of the linearly implicit Euler method, with the forces of stiffness.py at their end, for n =
1, 2, 3, 4; the polynomial in the length of a substep through the four outcomes, at length zero, has order
four whatever else the equations hold, since the matrix of a substep may be any (Deuflhard 1985; Hairer and
Wanner, Solving Ordinary Differential Equations II, IV.9).  Decays of any rate come to rest.  The same with
n = 1, 2 has order two; an undamped spring of any stiffness keeps still with it, which with more it does not
(growth 1.005 per tick at 1.2 rad per tick).
"""

from __future__ import annotations

from hapticsim.kernels.haptics.coupling import coupler_energy
from hapticsim.kernels.machine_code.foreign import displace_at, normalise_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import SLIPPING
from hapticsim.kernels.motion.deformation import (
    add_outcome,
    back_to_start,
    begin_deformation,
    deform_by_substep,
    end_substeps,
)
from hapticsim.kernels.motion.energy import PIECE, POWER, TURNED
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.motion.stiffness import STIFF_SPRINGS
from hapticsim.kernels.units import stage


@kernel
def weight_of(n, most):
    """Weight of the outcome of n substeps in the extrapolation from 1 .. most."""
    weight = 1.0
    for k in range(1, most + 1):
        if k != n:
            weight *= n / (n - k)
    return weight


@kernel
def extrapolate(plan, state, inp, ws, t, h, m):
    """From (ws.q0, ws.u0) at t to (ws.q1, ws.u1) at t + h, m rows; the row forces there are evaluated too."""
    nq, nu = ws.q0.size, ws.u0.size
    most = 2 if ws.method[0] == STIFF_SPRINGS else 4
    for i in range(nq):
        ws.q1[i] = ws.q0[i]
    for r in range(nu):
        ws.u1[r] = ws.u0[r]
    ws.work[PIECE] = ws.work[TURNED] = 0.0
    begin_deformation(ws)
    if ws.method[1] == 1:
        place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
        ws.work[PIECE] = coupler_energy(plan, state, inp, ws, t)
    for n in range(1, most + 1):
        step, weight = h / n, weight_of(n, most)
        back_to_start(ws)
        for i in range(nq):
            ws.qe[i] = ws.q0[i]
        for r in range(nu):
            ws.ue[r] = ws.u0[r]
        for k in range(n):
            ws.substep[0] = step
            stage(plan, state, inp, ws, ws.qe, ws.ue, t + k * step, ws.dq[1], ws.du[1], m)
            ws.substep[0] = 0.0
            if plan.yielding_forces != 0:
                deform_by_substep(plan, ws, ws.du[1], step)
            ws.work[PIECE] += weight * step * ws.work[POWER]
            ws.work[TURNED] += abs(weight) * step * abs(ws.work[POWER])
            for r in range(nu):
                ws.du[2, r] = step * step * ws.du[1, r]
                ws.ue[r] += step * ws.du[1, r]
            displace_at(plan.displace)(ws.qe, ws.du[2], ws.qs)
            for i in range(nq):
                ws.qe[i] = ws.qs[i] + step * ws.dq[1, i]
            if plan.quaternions == 1:
                normalise_at(plan.normalise)(ws.qe)
        add_outcome(ws, weight)
        for i in range(nq):
            ws.q1[i] += weight * (ws.qe[i] - ws.q0[i])
        for r in range(nu):
            ws.u1[r] += weight * (ws.ue[r] - ws.u0[r])
    if plan.quaternions == 1:
        normalise_at(plan.normalise)(ws.q1)
    if ws.method[1] == 1:
        place_frames(plan, ws, ws.q1, ws.u1, ws.qs)
        ws.work[PIECE] -= coupler_energy(plan, state, inp, ws, t + h)
    end_substeps(ws)
    if m > 0 or ws.counts[SLIPPING] > 0:
        stage(plan, state, inp, ws, ws.q1, ws.u1, t + h, ws.dq[3], ws.du[3], m)
