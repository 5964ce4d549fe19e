"""A piece of a tick: one step of the classical Runge-Kutta method, or substeps where something is stiff, then
back onto the constraints."""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.foreign import displace_at, normalise_at
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, MAY_RESPOND, SLIPPING
from hapticsim.kernels.motion.deformation import begin_deformation, deform_to_stage, end_step, keep_stage
from hapticsim.kernels.motion.energy import FIRST, PIECE, POWER, TURNED
from hapticsim.kernels.motion.frames import place_frames, place_frames_and_keep_terms
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA
from hapticsim.kernels.motion.substeps import extrapolate
from hapticsim.kernels.solve.row_forces import change_speeds
from hapticsim.kernels.units import stage

LOST = 1e-3  # [m] or [rad] a constraint that is off by more at the start of a tick cannot be met


@kernel
def classical_step(plan, state, inp, ws, q, u, first, power, t, h, m, q_end, u_end):
    """One step of the classical method from (q, u) at t to (q_end, u_end) at t + h, m rows.

    first   place of the first stage in ws.dq and ws.du, with its power [W].
    Adds to the work of the piece and its turnover.
    """
    nq, nu = q.size, u.size
    work, turned = power, abs(power)
    before = first
    for k in range(1, 4):
        a = h if k == 3 else 0.5 * h
        for i in range(nq):
            ws.qs[i] = q[i] + a * ws.dq[before, i]
        for i in range(nu):
            ws.us[i] = u[i] + a * ws.du[before, i]
        if plan.quaternions == 1:
            normalise_at(plan.normalise)(ws.qs)
        if plan.yielding_forces != 0:
            deform_to_stage(ws, before, k, a, h)
        stage(plan, state, inp, ws, ws.qs, ws.us, t + a, ws.dq[k], ws.du[k], m)
        if plan.yielding_forces != 0:
            keep_stage(ws, k)
        share = ws.work[POWER] if k == 3 else 2.0 * ws.work[POWER]
        work += share
        turned += abs(share)
        before = k
    sixth = h / 6.0
    for i in range(nq):
        q_end[i] = q[i] + sixth * (ws.dq[first, i] + 2.0 * (ws.dq[1, i] + ws.dq[2, i]) + ws.dq[3, i])
    for i in range(nu):
        u_end[i] = u[i] + sixth * (ws.du[first, i] + 2.0 * (ws.du[1, i] + ws.du[2, i]) + ws.du[3, i])
    if plan.quaternions == 1:
        normalise_at(plan.normalise)(q_end)
    if plan.yielding_forces != 0:
        end_step(ws, h)
    ws.work[PIECE] += sixth * work
    ws.work[TURNED] += sixth * turned


@kernel
def runge_kutta(plan, state, inp, ws, t, h, m):
    """From (ws.q0, ws.u0) with first stage ws.dq[0], ws.du[0] at t to (ws.q1, ws.u1) at t + h, m rows.

    In ws.divisions equal steps: one, unless the piece would gain energy with fewer.
    """
    ws.counts[MAY_RESPOND] = 1  # only the first stage is asked for more than accelerations
    ws.work[PIECE] = ws.work[TURNED] = 0.0
    n = ws.divisions[0]
    step = h / n
    begin_deformation(ws)
    classical_step(plan, state, inp, ws, ws.q0, ws.u0, 0, ws.work[FIRST], t, step, m, ws.q1, ws.u1)
    for k in range(1, n):
        at = t + k * step
        for i in range(ws.qe.size):
            ws.qe[i] = ws.q1[i]
        for i in range(ws.ue.size):
            ws.ue[i] = ws.u1[i]
        stage(plan, state, inp, ws, ws.qe, ws.ue, at, ws.dq[4], ws.du[4], m)
        if plan.yielding_forces != 0:
            keep_stage(ws, 4)
        classical_step(plan, state, inp, ws, ws.qe, ws.ue, 4, ws.work[POWER], at, step, m, ws.q1, ws.u1)
    ws.counts[MAY_RESPOND] = 0


@kernel
def largest_gap(ws, m):
    """Largest |gap| of the m imposed rows [m]."""
    largest = 0.0
    for i in range(m):
        largest = max(largest, abs(ws.phi[i]))
    return largest


@inlined
def rate_of_row(plan, ws, i):
    """A u - b of the imposed row i at ws.u0 [m/s]: ``rate_of``, in the speeds that it may have."""
    total, row, k = -ws.b[i], ws.A[i], ws.rows[i]
    for r in range(plan.row_first[k], plan.row_end[k]):
        total += row[r] * ws.u0[r]
    return total


@kernel
def largest_rate(plan, ws, m):
    """Largest |A u - b| of the m imposed rows at ws.u0 [m/s]."""
    largest = 0.0
    for i in range(m):
        largest = max(largest, abs(rate_of_row(plan, ws, i)))
    return largest


@kernel
def project(plan, state, ws, m):
    """Put (ws.q0, ws.u0) onto the m rows evaluated there, by the least changes in kinetic energy.

    One Newton step in q (what is removed is the error of one Runge-Kutta step, so one is enough) and one in
    u: energy changes by the square of what is removed, which counts where rows are nearly dependent and
    answer rounding with much.  A constraint that is off by more than LOST stays where it is, to be let go: a
    motion that went on while a tick was refused would push a shape through a surface.
    Expects ws.phi and what embedded_acceleration left, as stage leaves them.
    """
    if m == 1:
        project_one(plan, state, ws)
        return
    if largest_gap(ws, m) > 0.0 and largest_gap(ws, ws.counts[HELD_ROWS]) <= LOST:
        for i in range(m):
            ws.t[i] = -ws.phi[i]
        change_speeds(plan, state, ws, m, ws.t, ws.us)
        displace_at(plan.displace)(ws.q0, ws.us, ws.qs)
        for i in range(ws.q0.size):
            ws.q0[i] = ws.qs[i]
    for i in range(m):
        ws.t[i] = -rate_of_row(plan, ws, i)
    change_speeds(plan, state, ws, m, ws.t, ws.us)
    for i in range(ws.u0.size):
        ws.u0[i] += ws.us[i]


@kernel
def project_one(plan, state, ws):
    """``project`` onto a single row, the commonest case: one solve for what a unit of it asks for."""
    gap, rate, held = ws.phi[0], rate_of_row(plan, ws, 0), ws.counts[HELD_ROWS] == 1
    ws.t[0] = 1.0
    change_speeds(plan, state, ws, 1, ws.t, ws.us)
    if gap != 0.0 and not (held and abs(gap) > LOST):
        for r in range(ws.us.size):
            ws.u1[r] = -gap * ws.us[r]  # free until the piece is integrated
        displace_at(plan.displace)(ws.q0, ws.u1, ws.qs)
        for i in range(ws.q0.size):
            ws.q0[i] = ws.qs[i]
    for r in range(ws.u0.size):
        ws.u0[r] -= rate * ws.us[r]


@kernel
def advance(plan, state, inp, ws, t, h, m):
    """One piece of length h, with the frames at its end in ws when gaps are to be read there."""
    if ws.method[0] == RUNGE_KUTTA:
        runge_kutta(plan, state, inp, ws, t, h, m)
    else:
        extrapolate(plan, state, inp, ws, t, h, m)
    if m - ws.counts[HELD_ROWS] < plan.contacts or ws.counts[SLIPPING] > 0 or plan.curved == 1:
        if m > 0 and t + h == plan.tick_s:
            place_frames_and_keep_terms(plan, ws, ws.q1, ws.u1, ws.qs)
        else:
            place_frames(plan, ws, ws.q1, ws.u1, ws.qs)


@kernel
def is_finite(a):
    for i in range(a.size):
        if not math.isfinite(a[i]):
            return False
    return True
