"""What holds at an instant: the sample a tick reports, and the same on request without taking a step."""

from __future__ import annotations

from hapticsim.codes import CONTACT_ROW, EVERY_TICK, ON_EDGES
from hapticsim.kernels.events.edge_places import depth_along_faces
from hapticsim.kernels.events.guards import row_forces
from hapticsim.kernels.events.inside import takes_edges
from hapticsim.kernels.geometry.box_edges import NOWHERE
from hapticsim.kernels.geometry.contact import is_between_features, witness, witness_beside
from hapticsim.kernels.geometry.corner import LEVEL
from hapticsim.kernels.geometry.mesh.contact import nearby_witness
from hapticsim.kernels.geometry.mesh.search import is_on_mesh
from hapticsim.kernels.geometry.point import surface_pose
from hapticsim.kernels.haptics.torque import sample_torques
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import SLIPPING
from hapticsim.kernels.motion.deformation import begin_deformation, let_touch, take_deformation
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.rows.row_table import (
    ASLEEP_HELD,
    FREE,
    HELD,
    evaluate_rows,
    leave_yielding,
    list_constraints,
    list_rows,
    put_modes_back,
)
from hapticsim.kernels.rows.rub import report_rub
from hapticsim.kernels.solve.speed_selection import AFTER_STEP
from hapticsim.kernels.units import report_yielding, sleep_on, stage

FEW = 2048  # candidates, all of which are looked at in every exact tick


@kernel
def copy(source, target):
    for i in range(source.size):
        target[i] = source[i]


@kernel
def report_witnesses(plan, state, out, ws):
    """Gap, normal and nearest point of every candidate at the frames in ws; of thousands, or where every tick
    is a time step, of pairs that are far how far they are alone."""
    few = plan.steps != EVERY_TICK and plan.contacts <= FEW
    if few or plan.pair_a.size == 0:
        report_between(plan, state, out, ws, 0, plan.contacts)
        return
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        apart = ws.apart[begin]
        if apart == 0.0:
            report_between(plan, state, out, ws, begin, end)
        else:
            for k in range(begin, end):
                out.gap[k] = apart


@kernel
def report_between(plan, state, out, ws, begin, end):
    """The same of the candidates from begin to end."""
    pose = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    shared = end - begin > 1
    for k in range(begin, end):
        if shared and (k == begin or plan.same_surface[k] == 0):
            pose = surface_pose(plan, k, ws.X)
        if ws.sleepers[0] > 0 and state.mode[k] < FREE and is_known(plan, out, ws, k):
            continue
        if takes_edges(plan, k) and state.face[k] == 0:
            out.gap[k] = NOWHERE
            continue
        if is_on_mesh(plan, k):
            phi, nx, ny, nz, cx, cy, cz, _ = nearby_witness(plan, state, k, ws)
        elif not shared or is_between_features(plan, k):
            phi, nx, ny, nz, cx, cy, cz, _, _, _ = witness(plan, state, k, ws.X)
        else:
            phi, nx, ny, nz, cx, cy, cz, _, _, _ = witness_beside(plan, state, k, pose, ws.X)
        if phi < -LEVEL and have_not_met(plan, state, ws, k, phi):
            out.gap[k] = NOWHERE
            continue
        radius = plan.row_length[k]
        out.gap[k] = phi
        out.normal_W[k, 0], out.normal_W[k, 1], out.normal_W[k, 2] = nx, ny, nz
        out.point_W[k, 0] = cx - radius * nx
        out.point_W[k, 1] = cy - radius * ny
        out.point_W[k, 2] = cz - radius * nz


@kernel
def have_not_met(plan, state, ws, k, phi):
    """Whether a free place is about edges that are farther inside one another, by the gap phi [m], than the
    shapes are: the place where they cross came over an end within the tick, and nothing touches there."""
    if plan.surface_kind[k] != ON_EDGES or state.mode[k] != FREE:
        return False
    return depth_along_faces(plan, k, ws) < -phi - LEVEL


@kernel
def find_known(plan, out, ws):
    """Write to ws.known which trees are where they were when they were reported last."""
    for t in range(ws.known.size):
        ws.known[t] = 1
    for i in range(out.q.size):
        if out.q[i] != ws.q0[i] and plan.tree_of_coordinate[i] >= 0:
            ws.known[plan.tree_of_coordinate[i]] = 0


@kernel
def is_known(plan, out, ws, k):
    """Whether the witness of a candidate that sleeps is what was reported last."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    n = out.normal_W[k]
    there = (a < 0 or ws.known[a] == 1) and (b < 0 or ws.known[b] == 1)
    return there and (n[0] != 0.0 or n[1] != 0.0 or n[2] != 0.0)


@kernel
def report(plan, state, out, ws, m):
    """The sample at (ws.q0, ws.u0): state, contact forces, gaps and witnesses."""
    if ws.sleepers[0] > 0:
        find_known(plan, out, ws)
    copy(ws.q0, out.q)
    copy(ws.u0, out.u)
    report_witnesses(plan, state, out, ws)
    out.residual[0] = 0.0
    for row in range(out.force.size):
        out.force[row] = 0.0
    for row in range(plan.block_start[plan.contacts], out.gap.size):  # of a contact it is that of its witness
        out.gap[row] = 0.0
    if ws.sleepers[0] > 0:
        for k in range(plan.contacts):
            if state.mode[k] == ASLEEP_HELD:
                out.force[k] = state.impulse[k] / plan.tick_s
    if plan.sticking_rows != 0 and not was_step(plan, state):
        report_rub(plan, state, out, ws, m)
    else:
        report_friction(plan, state, out)
    for i in range(m):
        row = ws.rows[i]  # of a contact that sticks the row of its normal comes last
        out.force[row] = ws.lam[i]
        if plan.row_kind[row] != CONTACT_ROW:
            out.gap[row] = ws.phi[i]
        out.residual[0] = max(out.residual[0], abs(ws.phi[i]))
    if ws.counts[SLIPPING] > 0:
        for c in range(plan.contacts, state.mode.size):
            if state.mode[c] > HELD:
                out.force[plan.block_start[c]] = ws.slip_force[c]


@kernel
def report_friction(plan, state, out):
    """The friction of the last time step: of a contact that is free it is 0."""
    for k in range(state.friction_impulse_W.shape[0]):
        for c in range(3):
            out.friction_W[k, c] = state.friction_impulse_W[k, c] / plan.tick_s


@kernel
def was_step(plan, state):
    """Whether the last tick was a time step."""
    return plan.steps == EVERY_TICK or state.volume[0] == AFTER_STEP


def observe(plan, state, inp, out, ws):
    """Write to out what holds at the present state and input, without taking a step or changing the state.

    Assumes a tick was taken before; contacts that the next tick will resolve are reported as they stand.
    """
    copy(state.q, ws.q0)
    copy(state.u, ws.u0)
    sample_torques(plan, state, inp, ws)
    ws.substep[0] = 0.0
    ws.quiets[0] = 0
    for k in range(ws.apart.size):
        ws.apart[k] = 0.0
    ws.sleepers[0] = 0
    sleep_on(plan, state, inp, ws)
    take_deformation(state, ws)
    begin_deformation(ws)
    leave_yielding(plan, state)
    let_touch(ws)
    stepped = was_step(plan, state)
    m = list_constraints(plan, state, ws) if stepped else list_rows(plan, state, ws)
    stage(plan, state, inp, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0], m)
    if m > 0:
        row_forces(plan, state, ws, m, ws.du[0])
    report(plan, state, out, ws, m)
    report_yielding(plan, state, out, ws, 0)
    put_modes_back(plan, state)
    if stepped:
        for k in range(state.impulse.size):  # as in the last step
            out.force[k] = state.impulse[k] / plan.tick_s if state.mode[k] == HELD else 0.0
        report_friction(plan, state, out)


def locate(plan, state, inp, out, ws):
    """Write what is where at state.q to out: witnesses of all candidates, gaps of the constraints that hold.

    ws.A is left with the rows of the latter, as many as ws.counts[HELD_ROWS] says.
    """
    ws.quiets[0] = 0
    for k in range(ws.apart.size):
        ws.apart[k] = 0.0
    place_frames(plan, ws, state.q, state.u, ws.qs)
    report_witnesses(plan, state, out, ws)
    m = list_constraints(plan, state, ws)
    evaluate_rows(plan, state, state.q, state.u, 0.0, m, ws)
    for row in range(plan.block_start[plan.contacts], out.gap.size):
        out.gap[row] = 0.0
    for i in range(m):
        out.gap[ws.rows[i]] = ws.phi[i]
