"""What holds at an instant: the sample a tick reports, and the same on request without taking a step."""

from __future__ import annotations

from hapticsim.kernels.contact import witness
from hapticsim.kernels.foreign import kinematics_at
from hapticsim.kernels.guards import row_forces
from hapticsim.kernels.jit import kernel
from hapticsim.kernels.stage import contact_stage, free_stage, list_rows
from hapticsim.kernels.torque import sample_torques


@kernel
def copy(source, target):
    for i in range(source.size):
        target[i] = source[i]


@kernel
def report_witnesses(plan, out, ws):
    """Gap, normal and nearest point of every candidate at the frames in ws."""
    for k in range(out.gap.size):
        phi, nx, ny, nz, cx, cy, cz, _, _, _ = witness(plan, k, ws.X)
        radius = plan.sphere_radius[k]
        out.gap[k] = phi
        out.normal_W[k, 0], out.normal_W[k, 1], out.normal_W[k, 2] = nx, ny, nz
        out.point_W[k, 0] = cx - radius * nx
        out.point_W[k, 1] = cy - radius * ny
        out.point_W[k, 2] = cz - radius * nz


@kernel
def report(plan, state, out, ws, m):
    """The sample at (ws.q0, ws.u0): state, contact forces, gaps and witnesses."""
    copy(ws.q0, out.q)
    copy(ws.u0, out.u)
    report_witnesses(plan, out, ws)
    for k in range(state.active.size):
        out.contact_force[k] = 0.0
    out.residual[0] = 0.0
    for i in range(m):
        out.contact_force[ws.rows[i]] = ws.lam[i]
        out.residual[0] = max(out.residual[0], abs(ws.phi[i]))


def observe(plan, state, inp, out, ws):
    """Write to out what holds at the present state and input, without taking a step or changing the state.

    Assumes a tick was taken before; contacts that the next tick will resolve are reported as they stand.
    """
    copy(state.q, ws.q0)
    copy(state.u, ws.u0)
    sample_torques(plan, state, inp, ws)
    m = list_rows(state, ws)
    if m == 0:
        free_stage(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0])
    else:
        contact_stage(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0], m)
        row_forces(plan, state, ws, m, ws.du[0])
    report(plan, state, out, ws, m)


def locate(plan, state, inp, out, ws):
    """Write gaps, normals and points of all candidates at state.q to out; nothing else is read or written."""
    kinematics_at(plan.kinematics)(state.q, state.u, ws.qs, ws.X, ws.V, ws.vel, ws.acc)
    report_witnesses(plan, out, ws)
