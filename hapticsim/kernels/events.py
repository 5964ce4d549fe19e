"""What is done when a guard fires: impulses, deletion, and a new choice of independent speeds."""

from __future__ import annotations

from hapticsim.codes import Event
from hapticsim.kernels.contact import contact_row, gap
from hapticsim.kernels.edges import is_lost
from hapticsim.kernels.embedding import combine_rows, embedded_acceleration, factor_dependent, scaled_volume
from hapticsim.kernels.jit import inlined, kernel
from hapticsim.kernels.linear import ldl_factor, ldl_solve
from hapticsim.kernels.selection import select_speeds
from hapticsim.kernels.stage import list_rows, terms
from hapticsim.kernels.unilateral import delassus, nonnegative_minimum

TOUCH, LEAVE, SELECT, OVERFLOW = (int(e) for e in (Event.TOUCH, Event.LEAVE, Event.SELECT, Event.OVERFLOW))

GAP_TOUCH = 1e-10  # [m] closer than this counts as touching when contacts are resolved
PUSH_ZERO = 1e-10  # [m] rows whose force guards are below this leave with the one that fired
GAP_CAPTURE = 1e-5  # [m] the same when contacts chatter: a box rocking to rest was 4e-6 off at 16 events
GAP_DEEP = 5e-3  # [m] what was deeper when a piece began came in where nothing is seen, and is let through
RATE_CAPTURE = 0.1  # [m/s] what parts faster is let go
RATE_REST = 1e-9  # [m/s] slower than this counts as resting
FORCE_ZERO = 1e-9  # [N] a pull weaker than this is rounding


@kernel
def record(out, kind, contact, value, t):
    """Append an event; when the list is full it is only counted, but OVERFLOW always has the last place."""
    n = out.counts[0]
    last = out.events.shape[0] - 1
    if n <= last or kind == OVERFLOW:
        n = min(n, last)
        out.events[n, 0] = kind
        out.events[n, 1] = contact
        out.events[n, 2] = value
        out.events[n, 3] = t
    out.counts[0] += 1


@kernel
def approach_rate(ws, i):
    """A u of row i [m/s]."""
    total = 0.0
    for r in range(ws.u0.size):
        total += ws.A[i, r] * ws.u0[r]
    return total


@kernel
def kinetic_energy(ws, u):
    """Half u' M u [J]."""
    total = 0.0
    for r in range(u.size):
        for k in range(u.size):
            total += 0.5 * u[r] * ws.M[r, k] * u[k]
    return total


@kernel
def choose_speeds(plan, state, ws, out, m, t):
    """Choose independent speeds for the m rows in ws.A; a changed choice is recorded."""
    if m == 0:
        state.rank[0] = 0
        return
    before = state.rank[0]
    rank, condition, changed = select_speeds(
        ws.A, m, ws.M, before, state.order, state.combine, ws.R, ws.U, ws.sigma, ws.norms, ws.perm
    )
    state.rank[0] = rank
    if rank == m:
        det = factor_dependent(ws.A, rank, state.order, ws.LU, ws.pivots)
    else:
        for i in range(rank):
            for j in range(ws.u0.size):
                total = 0.0
                for k in range(m):
                    total += state.combine[k, i] * ws.A[k, j]
                ws.B[i, j] = total
        det = factor_dependent(ws.B, rank, state.order, ws.LU, ws.pivots)
    state.volume[0] = scaled_volume(det, rank, state.order, ws.M)
    if changed:
        out.counts[2] += 1
        record(out, SELECT, -1, condition, t)


@inlined
def is_near(plan, k, X, reach):
    """True when the gap of candidate k is at most reach [m], and not too deep to be a contact."""
    return -GAP_DEEP <= gap(plan, k, X) <= reach


@kernel
def touching(plan, state, inp, ws, t):
    """True when a free candidate at (ws.q0, ws.u0) touches and does not move away."""
    if state.active.size == 0:
        return False
    for k in range(state.active.size):
        if state.active[k] == 0 and is_near(plan, k, ws.X, GAP_TOUCH):
            contact_row(plan, k, 0, ws)
            if approach_rate(ws, 0) <= RATE_REST:
                return True
    return False


@kernel
def resolve(plan, state, inp, ws, out, t, leaving):
    """Decide at (ws.q0, ws.u0) which touching contacts are imposed; plastic impulse first, then forces.

    leaving  a force just crossed zero: rows at or near it, by ws.guard1, are deleted whatever rounding says.
    Changes ws.u0, state.active and the choice of speeds; records TOUCH, LEAVE and SELECT.
    """
    nu, nk = ws.u0.size, state.active.size
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    m = 0
    for k in range(nk):
        if m == ws.rows.size:
            break
        if state.active[k] == 1 and (is_lost(plan, k, ws.X) or (leaving and ws.guard1[k] <= PUSH_ZERO)):
            continue
        if state.active[k] == 1 or is_near(plan, k, ws.X, GAP_TOUCH):
            contact_row(plan, k, m, ws)
            ws.rows[m] = k
            m += 1
    lost = 0.0
    if m > 0:
        ldl_factor(ws.M, nu, ws.L)
        delassus(ws.A, m, nu, ws.L, ws.Y, ws.Wr)
        hit = False
        for i in range(m):
            ws.c[i] = approach_rate(ws, i)
            if ws.c[i] < -RATE_REST * 1e-3:
                hit = True
        if hit:
            nonnegative_minimum(ws.Wr, ws.c, m, RATE_REST * 1e-4, ws.x, ws.z, ws.grad, ws.passive, ws.P)
            for r in range(nu):
                change = 0.0
                for i in range(m):
                    change += ws.Y[i, r] * ws.x[i]
                ws.us[r] = change
                ws.u0[r] += change
            lost = kinetic_energy(ws, ws.us)
            terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
            for i in range(m):
                contact_row(plan, ws.rows[i], i, ws)
        # contacts that now move apart are free; the others share the forces
        n = 0
        for i in range(m):
            if approach_rate(ws, i) <= RATE_REST:
                ws.rows[n] = ws.rows[i]
                n += 1
        if n < m:
            m = n
            for i in range(m):
                contact_row(plan, ws.rows[i], i, ws)
            delassus(ws.A, m, nu, ws.L, ws.Y, ws.Wr)
        for r in range(nu):
            ws.us[r] = ws.f[r]
        ldl_solve(ws.L, nu, ws.us)
        scale = 1.0
        for i in range(m):
            total = ws.s[i]
            for r in range(nu):
                total += ws.A[i, r] * ws.us[r]
            ws.c[i] = total
            scale = max(scale, abs(total))
        nonnegative_minimum(ws.Wr, ws.c, m, 1e-10 * scale, ws.x, ws.z, ws.grad, ws.passive, ws.P)
        n = 0
        for i in range(m):
            if ws.grad[i] <= 1e-9 * scale:
                ws.rows[n] = ws.rows[i]
                n += 1
        m = n
    i = 0
    for k in range(nk):
        imposed = i < m and ws.rows[i] == k
        if imposed:
            i += 1
        if imposed and state.active[k] == 0:
            record(out, TOUCH, k, lost, t)
            lost = 0.0
        if not imposed and state.active[k] == 1:
            record(out, LEAVE, k, 0.0, t)
        state.active[k] = 1 if imposed else 0
    for i in range(m):
        contact_row(plan, ws.rows[i], i, ws)
    choose_speeds(plan, state, ws, out, m, t)
    return list_rows(state, ws)


@kernel
def capture(plan, state, inp, ws, out, t):
    """End a chatter: every contact nearly closed at (ws.q0, ws.u0) is taken as resting, and then resolved.

    The speeds go to the nearest ones (in kinetic energy) at which none of these contacts opens or closes, so
    that energy is only lost; projection closes what gap is left.
    """
    nu = ws.u0.size
    terms(plan, state, inp, ws, ws.q0, ws.u0, t, ws.dq[0])
    m = 0
    for k in range(state.active.size):
        if m == ws.rows.size:
            break
        near = state.active[k] == 1 or is_near(plan, k, ws.X, GAP_CAPTURE)
        if near and not is_lost(plan, k, ws.X):
            contact_row(plan, k, m, ws)
            rate = approach_rate(ws, m)
            if rate <= RATE_CAPTURE:
                ws.s[m] = rate  # A du = -A u
                ws.rows[m] = k
                m += 1
    if m > 0:
        choose_speeds(plan, state, ws, out, m, t)
        rank = state.rank[0]
        combine_rows(state.combine, m, rank, ws.A, ws.s, ws.B, ws.t)
        for r in range(nu):
            ws.f[r] = 0.0
        if embedded_acceleration(ws.B, ws.t, rank, state.order, ws.M, ws.f, ws, ws.us) > 0.0:
            for r in range(nu):
                ws.u0[r] += ws.us[r]
            lost = kinetic_energy(ws, ws.us)
            for i in range(m):
                k = ws.rows[i]
                if state.active[k] == 0:
                    state.active[k] = 1
                    record(out, TOUCH, k, lost, t)
                    lost = 0.0
    return resolve(plan, state, inp, ws, out, t, False)


@kernel
def feasible_forces(plan, state, ws, m):
    """Whether the m imposed rows can hold by pushing only; ws.lam becomes the forces that come nearest.

    Asked when the least-norm forces of redundant rows show a pull: another distribution may push everywhere.
    ws.grad is left with the acceleration [m/s^2] at which each row would part under ws.lam.
    """
    nu = ws.u0.size
    if not ldl_factor(ws.M, nu, ws.L):
        return False
    delassus(ws.A, m, nu, ws.L, ws.Y, ws.Wr)
    for r in range(nu):
        ws.us[r] = ws.f[r]
    ldl_solve(ws.L, nu, ws.us)
    scale = 1.0
    for i in range(m):
        total = ws.s[i]
        for r in range(nu):
            total += ws.A[i, r] * ws.us[r]
        ws.c[i] = total
        scale = max(scale, abs(total))
    nonnegative_minimum(ws.Wr, ws.c, m, 1e-10 * scale, ws.x, ws.z, ws.grad, ws.passive, ws.P)
    holds = True
    for i in range(m):
        ws.lam[i] = ws.x[i]
        if ws.grad[i] > 1e-9 * scale:
            holds = False
    return holds
