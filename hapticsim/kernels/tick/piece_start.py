"""First stage of a piece of motion: gaps of the rows that hold are closed, or contacts held as they are."""

from __future__ import annotations

import math

from hapticsim.kernels.events.guards import is_far, row_forces
from hapticsim.kernels.events.inside import GAP_CAPTURE, GAP_DEEP, GAP_HELD, has_no_gap
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.geometry.edges import feature
from hapticsim.kernels.linalg.selection import KEEP_CHOICE
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.motion.deformation import begin_deformation, keep_stage
from hapticsim.kernels.motion.energy import FIRST, LARGE, POWER, SPARE, TOLERANCE, part_used, total_energy
from hapticsim.kernels.motion.integrate import largest_gap, largest_rate, project
from hapticsim.kernels.rows.row_table import FREE
from hapticsim.kernels.solve.island_solves import volume_of
from hapticsim.kernels.units import choose_speeds, gap_of_free, stage

GAP_REDUNDANT = 1e-9  # [m] by which rows that counted as redundant may be off before a new look
RATE_REDUNDANT = 1e-7  # [m/s] the same for their rates: an integration step leaves 1e-9 in moderate motion
GAP_PUT = 1e-6  # [m] a contact that an event put onto its surface from further away turned its row with it
USED_UP = 0.5  # part of the energy that ticks may gain (energy.py), of which closing gaps takes no more
GROWN = 8.0  # a volume that grew so much means that a better choice may have come up
LOOKING, RESOLVED = 0, 1  # whether a piece may still ask for an impulse, or was resolved by one


def evaluate_piece_start(plan, state, inp, out, ws, t, m, resolved):
    """First stage of a piece at (ws.q0, ws.u0), put onto the m imposed rows, and the row forces there.

    The choice of speeds is watched here, and so are rows that were redundant and are no longer.  Those need
    an impulse: unless the piece is RESOLVED already, this returns without it.  Projection moves by the order
    of rounding, so the stage is kept.

    Returns True when a contact pulls, or when rows need an impulse.
    """
    begin_deformation(ws)
    det = stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    keep_first(plan, ws)
    if m == 0:
        return False
    rank, now = state.rank[0], volume_of(plan, det, state.rank[0], state.order, ws.M)
    worse = not now > KEEP_CHOICE * state.volume[0] or now > GROWN * state.volume[0]
    off = rank < m and (largest_gap(ws, m) > GAP_REDUNDANT or largest_rate(plan, ws, m) > RATE_REDUNDANT)
    if worse or off:
        choose_speeds(plan, state, ws, out, m, t)
        if resolved == LOOKING and 0 < rank < state.rank[0]:
            return True
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
        keep_first(plan, ws)
    if ws.work[SPARE] > 0.0 or largest_of(ws.phi, ws.counts[HELD_ROWS], m) > GAP_PUT:
        close_or_hold(plan, state, inp, out, ws, t, m)
    pulls = row_forces(plan, state, ws, m, ws.du[0])
    first = ws.counts[HELD_ROWS]
    if work_of_gaps(ws, m) > allowed_gain(plan) and largest_of(ws.phi, first, m) <= GAP_REDUNDANT:
        close_or_hold(plan, state, inp, out, ws, t, m)
        pulls = row_forces(plan, state, ws, m, ws.du[0])
    for i in range(first, m):
        ws.part[i] = feature(plan, ws.rows[i], ws.X)
    project_without_gain(plan, state, ws, m)
    ws.work[SPARE] = 0.0
    return pulls


@inlined
def keep_first(plan, ws):
    """Keep what the first stage of a piece says besides accelerations."""
    ws.work[FIRST] = ws.work[POWER]
    if plan.yielding_forces != 0:
        keep_stage(ws, 0)


@kernel
def allowed_gain(plan):
    """Energy [J] that a projection may add, inf where there is no balance of it."""
    return LARGE * TOLERANCE * plan.energy_scale if plan.energy != 0 else math.inf


@kernel
def work_of_gaps(ws, m):
    """Work [J] that closing the gaps of contacts takes or gives, by the forces ws.lam of the m rows.

    Where rows are nearly dependent, closing a gap of a tenth of a nanometre moves bodies by micrometres.
    """
    work = 0.0
    for i in range(ws.counts[HELD_ROWS], m):
        work += abs(ws.lam[i] * ws.phi[i])
    return work


@kernel
def close_or_hold(plan, state, inp, out, ws, t, m):
    """Close the gaps of contacts at (ws.q0, ws.u0), or hold them as they are: where closing adds energy,
    pushes in what is free, or leaves a gap because rows contradict one another.

    Energy that an impact has just taken may be spent on closing.  The stage is evaluated anew, and ws.phi of
    what is held is 0.  A contact that something moved far off its surface is not held there.
    """
    copy(ws.q0, ws.qe)
    copy(ws.u0, ws.ue)
    read_free_gaps(plan, state, ws, ws.guard1)
    most = allowed_gain(plan) + ws.work[SPARE]
    before = total_energy(plan, ws, ws.q0, ws.u0) if plan.energy != 0 else 0.0
    project(plan, state, ws, m)
    gain = total_energy(plan, ws, ws.q0, ws.u0) - before if plan.energy != 0 else 0.0
    evaluate_anew(plan, state, inp, out, ws, t, m)
    contradicts = largest_of(ws.phi, ws.counts[HELD_ROWS], m) > GAP_PUT
    if gain > most or contradicts or pushes_free_in(plan, state, ws):
        copy(ws.q0, ws.q1)  # free until the piece is integrated
        copy(ws.u0, ws.u1)
        copy(ws.qe, ws.q0)
        copy(ws.ue, ws.u0)
        evaluate_anew(plan, state, inp, out, ws, t, m)
        if may_hold(state, ws, m):
            hold_contacts(state, ws, m)
        else:
            copy(ws.q1, ws.q0)
            copy(ws.u1, ws.u0)
            evaluate_anew(plan, state, inp, out, ws, t, m)


@kernel
def read_free_gaps(plan, state, ws, gaps):
    """Write the gaps [m] of the free candidates at the frames in ws; inf of those that have none."""
    for k in range(plan.contacts):
        gaps[k] = math.inf
        if state.mode[k] == FREE and not is_far(state, ws, k):
            if not has_no_gap(plan, state, k) and ws.overlooked[k] == 0:
                gaps[k] = gap_of_free(plan, state, ws, k)


@kernel
def pushes_free_in(plan, state, ws):
    """Whether a free candidate is inside at the frames in ws, and deeper than ws.guard1 says."""
    read_free_gaps(plan, state, ws, ws.guard2)
    for k in range(plan.contacts):
        if ws.guard2[k] < -GAP_HELD and ws.guard2[k] < ws.guard1[k] - GAP_HELD:
            return True
    return False


@kernel
def project_without_gain(plan, state, ws, m):
    """Put (ws.q0, ws.u0) onto the m rows; contacts are held as they are where closing their gaps adds so much
    energy that the tick may be refused for it.

    The speeds stay as they are while a gap is closed.  Of a light part that spins at 100 rad/s the kinetic
    energy changes with the place, by more than the work of ws.lam on the gap.
    """
    may_gain = plan.energy != 0 and largest_of(ws.phi, ws.counts[HELD_ROWS], m) > GAP_REDUNDANT
    before = 0.0
    if may_gain:
        copy(ws.q0, ws.qe)
        copy(ws.u0, ws.ue)
        before = total_energy(plan, ws, ws.q0, ws.u0)
    project(plan, state, ws, m)
    if may_gain:
        part = part_used(plan, ws, total_energy(plan, ws, ws.q0, ws.u0) - before, 0.0)
        if part > LARGE and state.energy[1] + part > USED_UP and may_hold(state, ws, m):
            copy(ws.qe, ws.q0)
            copy(ws.ue, ws.u0)
            hold_contacts(state, ws, m)
            project(plan, state, ws, m)


@kernel
def hold_contacts(state, ws, m):
    """Hold the contacts among the m rows where they are: from now on that is no gap."""
    for i in range(ws.counts[HELD_ROWS], m):
        state.depth[ws.rows[i]] += ws.phi[i]
        ws.phi[i] = 0.0


@kernel
def may_hold(state, ws, m):
    """Whether all contacts are near enough to their surfaces to be held by ws.phi off where they were."""
    for i in range(ws.counts[HELD_ROWS], m):
        depth = state.depth[ws.rows[i]] + ws.phi[i]
        if not -GAP_DEEP <= depth <= GAP_CAPTURE:
            return False
    return True


@kernel
def evaluate_anew(plan, state, inp, out, ws, t, m):
    """The first stage where gaps were closed: rows that were nearly dependent may now be so to rounding."""
    det = stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    if not volume_of(plan, det, state.rank[0], state.order, ws.M) > KEEP_CHOICE * state.volume[0]:
        choose_speeds(plan, state, ws, out, m, t)
        stage(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0], ws.du[0], m)
    keep_first(plan, ws)


@kernel
def largest_of(a, first, end):
    """Largest of |a[first]| .. |a[end - 1]|, 0 where there is none."""
    largest = 0.0
    for i in range(first, end):
        largest = max(largest, abs(a[i]))
    return largest
