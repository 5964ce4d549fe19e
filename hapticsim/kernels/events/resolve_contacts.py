"""What is done when a guard fires: impulses, deletion, and a new choice of independent speeds."""

from __future__ import annotations

from hapticsim.codes import ON_PLANE, Event
from hapticsim.kernels.events.guards import is_far
from hapticsim.kernels.events.inside import (
    GAP_CAPTURE,
    LEFT_OUT,
    forget_feature,
    hold_at,
    is_near,
    look_inside,
    takes_edges,
    where_of_free,
    work_to_close,
)
from hapticsim.kernels.geometry.contact import height_over_plane
from hapticsim.kernels.geometry.corner import LEVEL
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.linalg.linear import ldl_factor
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, SLIPPING
from hapticsim.kernels.motion.energy import SPARE
from hapticsim.kernels.rows.row_table import (
    FREE,
    HELD,
    evaluate_rows,
    list_constraints,
    list_rows,
    rate_of,
)
from hapticsim.kernels.solve.mobility import (
    contact_mobility,
    meet_rates,
    orthonormal_constraints,
)
from hapticsim.kernels.solve.pushing_forces import free_accelerations
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.solve.unilateral import nonnegative_minimum
from hapticsim.kernels.units import (
    choose_speeds,
    evaluate_slips,
    follow_meshes,
    gap,
    gap_of_free,
    let_bounded_go,
    let_go_driver,
    settle_bounded,
    terms,
    wake_touched,
    write_contact_row,
)

TOUCH, LEAVE, IMPULSE = int(Event.TOUCH), int(Event.LEAVE), int(Event.IMPULSE)
ROWS_FULL = int(Event.ROWS_FULL)

GAP_TOUCH = 1e-10  # [m] closer than this counts as touching when contacts are resolved
PUSH_ZERO = 1e-10  # [m] rows whose force guards are below this leave with the one that fired
RATE_REST = 1e-9  # [m/s] slower than this counts as resting
ENERGY_SEEN = 1e-15  # [J] less than this is rounding


@kernel
def energy_lost(ws, change):
    """Kinetic energy [J] that a change of speeds took, which led to ws.u0: -change' M (u0 - change / 2)."""
    total = 0.0
    for r in range(change.size):
        if change[r] == 0.0:  # of a body that was not struck
            continue
        for k in range(change.size):
            total -= change[r] * ws.M[r, k] * (ws.u0[k] - 0.5 * change[k])
    return total


@kernel
def touching(plan, state, ws, out, m):
    """True when a free candidate at (ws.q0, ws.u0) touches and does not move away, m rows being imposed.

    Called once at the start of a tick: all free candidates are looked at (inside.py).  In ws.guard1 stand the
    gaps of edges, from when they got their places.
    """
    found = written = False
    for k in range(plan.contacts):
        if state.mode[k] == FREE:
            if takes_edges(plan, k) and state.face[k] != LEFT_OUT and not ws.guard1[k] <= LEVEL:
                continue
            if is_far(state, ws, k) and state.depth[k] == 0.0:
                continue
            if state.face[k] == 0 and state.depth[k] == 0.0 and open_by(plan, state, ws, k) > LEVEL:
                continue  # the commonest case
            look_inside(plan, state, ws, out, m, k)
            if not found and is_near(plan, state, ws, k, GAP_TOUCH):
                write_contact_row(plan, state, k, 0, ws)
                written = True
                found = rate_of(ws.A, 0, ws.u0, ws.b) <= RATE_REST
    if written and not found and m > 0:  # row 0 was scratch
        evaluate_rows(plan, state, ws.q0, ws.u0, 0.0, m, ws)
    return found


@inlined
def open_by(plan, state, ws, k):
    """Gap [m] of a free candidate that was not held deeper; on a plane without a call."""
    if plan.surface_kind[k] == ON_PLANE:
        return height_over_plane(plan, k, ws.X)
    return gap_of_free(plan, state, ws, k)


@kernel
def is_leaving(plan, state, ws, k, leaving):
    """True when the imposed contact k is to go: past its edge, with a force that just crossed zero, or lifted
    off its surface by a constraint that was switched on."""
    pulled = leaving == 1 and ws.guard1[k] <= PUSH_ZERO
    return pulled or is_lost(plan, state, k, ws.X) or gap(plan, state, k, ws.X) > GAP_CAPTURE


@kernel
def gather_rows(plan, state, ws, out, t, leaving):
    """The rows that are decided about: constraints that hold, contacts that touch; return their number.

    Contacts that are imposed come before new ones where there are not rows enough.  What closes and is left
    out is let through, and told.
    """
    follow_meshes(plan, state, ws)
    wake_touched(plan, state, ws, GAP_CAPTURE)
    m = list_constraints(plan, state, ws)
    room = ws.rows.size - m
    for k in range(plan.contacts):
        if state.mode[k] == HELD and not is_leaving(plan, state, ws, k, leaving):
            room -= 1
    left_out, first = 0, -1
    for k in range(plan.contacts):
        if state.mode[k] == HELD:
            if is_leaving(plan, state, ws, k, leaving) or m == ws.rows.size:
                continue
        elif state.mode[k] < FREE or is_far(state, ws, k) or not is_near(plan, state, ws, k, GAP_TOUCH):
            continue
        elif room > 0:
            room -= 1
        else:
            write_contact_row(plan, state, k, 0, ws)  # as scratch: the rows are evaluated below
            if rate_of(ws.A, 0, ws.u0, ws.b) <= RATE_REST:
                state.face[k] = LEFT_OUT
                left_out += 1
                first = k if first < 0 else first
            continue
        ws.rows[m] = k
        m += 1
    if left_out > 0:
        ws.left_out[0] = 1
        record(out, ROWS_FULL, first, left_out, t)
    evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
    return m


@kernel
def strike(plan, state, inp, ws, out, t, first, m):
    """Impulses at (ws.q0, ws.u0): constraints get their rates, approaching contacts stop or are thrown back.

    first   rows before it are of constraints.
    Changes ws.u0 and everything that depends on it.  Returns the kinetic energy lost [J] by the constraints
    and by the contacts, the number of independent constraints, and by how much the others contradict them.
    """
    nu = ws.u0.size
    by_constraints = by_contacts = 0.0
    ldl_factor(ws.M, nu, ws.L)
    n, clash = orthonormal_constraints(plan, first, nu, ws)
    if n > 0:
        meet_rates(n, ws.u0, ws.us, ws)
        by_constraints = energy_lost(ws, ws.us)
    contact_mobility(plan, first, m, n, nu, ws)
    hit = False
    for i in range(first, m):
        rate = rate_of(ws.A, i, ws.u0, ws.b)
        if rate < -RATE_REST * 1e-3:
            hit = True
        if rate < -plan.plastic_below[ws.rows[i]]:
            rate *= 1.0 + plan.restitution[ws.rows[i]]
        ws.c[i - first] = rate
    if hit:
        n_contacts, met = m - first, RATE_REST * 1e-4
        nonnegative_minimum(ws.Wr, ws.c, n_contacts, met, ws.x, ws.z, ws.grad, ws.passive, ws.part_rows, ws.P)
        for r in range(nu):
            change = 0.0
            for i in range(m - first):
                change += ws.Y[i, r] * ws.x[i]
            ws.us[r] = change
            ws.u0[r] += change
        by_contacts = energy_lost(ws, ws.us)
    if hit or n > 0:
        terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
        evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
        n, clash = orthonormal_constraints(plan, first, nu, ws)
    return by_constraints, by_contacts, n, clash


@kernel
def nothing_acts(plan, state, inp, ws):
    """True where no torque, coupler or outside force acts: these would do work that no piece of the tick has.

    A hand that bears a puck leaves its contacts next to no force, and lifting it by a depth costs its weight.
    """
    if plan.law_in_stages == 1 or (plan.handle_frame >= 0 and state.gain[0] > 0.0):
        return False
    if inp.force_W[0] != 0.0 or inp.force_W[1] != 0.0 or inp.force_W[2] != 0.0:
        return False
    for r in range(ws.tau.size):
        if ws.tau[r] != 0.0:
            return False
    return True


def resolve_contacts(plan, state, inp, ws, out, t, leaving):
    """Decide at (ws.q0, ws.u0) which touching contacts are imposed; impulses first, then forces.

    leaving  1: a force just crossed zero; rows at or near it, by ws.guard1, are deleted whatever rounding
             says.
    Changes ws.u0, state.mode and the choice of speeds; records what happened.  ws.clash becomes the rate
    by which redundant constraints contradict one another [m/s].  Returns the number of rows.
    """
    lost = clash = most = 0.0
    closes, first, m, n = False, 0, 0, 0
    constraints = state.mode.size - plan.contacts
    for attempt in range(constraints + 1):
        terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
        m = gather_rows(plan, state, ws, out, t, leaving)
        shaken = plan.bounded == 1 and let_bounded_go(plan, state, inp, ws, out, t, m) == 1
        if shaken:
            m = gather_rows(plan, state, ws, out, t, leaving)
        first = ws.counts[HELD_ROWS]
        if m == 0 and not shaken:
            break
        by_constraints, by_contacts, n, clash = strike(plan, state, inp, ws, out, t, first, m)
        if shaken:
            settle_bounded(plan, state, inp, ws, out, t)
            m = gather_rows(plan, state, ws, out, t, leaving)
            first = ws.counts[HELD_ROWS]
            _, _, n, clash = strike(plan, state, inp, ws, out, t, first, m)
        lost += by_contacts
        if by_constraints > ENERGY_SEEN:
            record(out, IMPULSE, -1, by_constraints, t)
        if first == 0 or attempt == constraints or not let_go_driver(plan, state, inp, ws, out, t, m):
            break
    struck = ws.rows[first] if m > first else -1
    if m > 0:
        # contacts that now move apart are free; the others share the forces
        kept = first
        for i in range(first, m):
            if rate_of(ws.A, i, ws.u0, ws.b) <= RATE_REST:
                ws.rows[kept] = ws.rows[i]
                kept += 1
            elif ws.x[i - first] > most:  # of what parts again, what was struck hardest
                most = ws.x[i - first]
                struck = ws.rows[i]
        if kept < m:
            m = kept
            evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
            contact_mobility(plan, first, m, n, ws.u0.size, ws)
        if m > first:
            evaluate_friction(plan, state, ws, t)
            scale = free_accelerations(first, m, n, ws)
            nonnegative_minimum(
                ws.Wr, ws.c, m - first, 1e-10 * scale, ws.x, ws.z, ws.grad, ws.passive, ws.part_rows, ws.P
            )
            kept, work = first, 0.0
            for i in range(first, m):
                if ws.grad[i - first] <= 1e-9 * scale:
                    work += work_to_close(plan, state, ws, ws.rows[i], ws.x[i - first])
                    ws.rows[kept] = ws.rows[i]
                    kept += 1
            m = kept
            closes = lost > work and nothing_acts(plan, state, inp, ws)
    spare, ws.work[SPARE] = lost, 0.0
    i = first
    for k in range(plan.contacts):
        imposed = i < m and ws.rows[i] == k
        if imposed:
            i += 1
        if imposed and state.mode[k] == FREE:
            face, height, _ = where_of_free(plan, state, ws, k)
            hold_at(state, k, face, height)
            record(out, TOUCH, k, lost, t)
            lost = 0.0
        if imposed and closes and state.depth[k] != 0.0:
            state.depth[k] = 0.0
            ws.work[SPARE] = spare
        if state.mode[k] < FREE:  # it sleeps
            continue
        if not imposed and state.mode[k] == HELD:
            record(out, LEAVE, k, 0.0, t)
        state.mode[k] = HELD if imposed else FREE
    for k in range(plan.contacts):  # after all are held: a place looks beside what those before it hold
        if state.mode[k] == FREE:
            forget_feature(plan, state, k)
            state.depth[k] = min(state.depth[k], 0.0)
    if lost > ENERGY_SEEN:  # by a contact that parts again at once
        record(out, IMPULSE, struck, lost, t)
    evaluate_rows(plan, state, ws.q0, ws.u0, t, m, ws)
    choose_speeds(plan, state, ws, out, m, t)
    ws.clash[0] = clash
    return list_rows(plan, state, ws)


@kernel
def evaluate_friction(plan, state, ws, t):
    """Add to ws.f the friction of what slips, as far as its load is known without the present forces."""
    if ws.counts[SLIPPING] > 0:
        evaluate_slips(plan, state, ws.q0, ws.u0, t, ws)
        for c in range(plan.contacts, state.mode.size):
            if state.mode[c] > HELD:
                for r in range(ws.f.size):
                    ws.f[r] += ws.slip_A[c, r] * ws.slip_force[c]
