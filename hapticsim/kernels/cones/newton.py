"""Impulses of an island in Coulomb's cones by Newton's method, where rounds over it come to no end.

With the slip s = mu |T v| of every contact given, Coulomb's law is that of a convex problem (De Saxce and
Feng 1998; Acary, Cadoux, Lemarechal and Malick 2011): of all speeds with

    (J v - r + s, T v)  in the cone dual to  |y| <= mu x

those nearest to u in the metric of M.  By its augmented Lagrangian (Rockafellar 1976) the impulses are

    g = P(g0 - k (J v - r + s, T v)),   M (v - u) = sum (J, T)' g

with P onto the cone, g0 the impulses before and k a stiffness.  That is the minimum of a convex cost with a
continuous slope, which Newton's method with a line search finds from anywhere.  Impulses g0 and slips s
follow from one minimum to the next.  Unlike a matrix of all pairs of impulses, the one of the speeds is
regular where contacts share their forces.
"""

from __future__ import annotations

import math

from hapticsim.kernels.cones.law import off_island
from hapticsim.kernels.linalg.linear import ldl_factor, ldl_solve
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.time_stepping.near_contacts import push_along, push_back, rate_of_row

STIFF = 1e3  # of the mass along a contact, for k: an impulse is off by that part of its change
OUTER, INNER, STEPS = 24, 12, 30  # minima, Newton steps to each, and steps in all, at most
HALVINGS = 12  # of a Newton step
ENOUGH = 1e-4  # of the decrease that the slope says
STILL = 1e-24  # of the cost: a step that decreases no more is the last


@kernel
def improve_island(plan, ws, b, met):
    """Replace the impulses of island b, and the speeds ws.us after them, by ones nearer to the law.

    met   [m/s] where all contacts are no farther from it, nothing nearer is looked for.
    Expects the speeds without impulses in ws.free_u.
    """
    n = number_speeds(plan, ws, b)
    if n > ws.cone_H.shape[0]:
        return
    write_masses(plan, ws, b)
    best, spent = off_island(ws, b), 0
    keep_best(ws, b)
    for _ in range(OUTER):
        set_centres(plan, ws, b)
        for _ in range(INNER):
            spent += 1
            if not take_step(plan, ws, b, n):
                break
        take_impulses(plan, ws, b)
        off = off_island(ws, b)
        if off < best:
            best = off
            keep_best(ws, b)
        if best <= met or spent >= STEPS or not off < math.inf:
            break
    put_best(plan, ws, b)


@kernel
def number_speeds(plan, ws, b):
    """Number the speeds of island b, tree after tree; return how many they are."""
    n = 0
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        t = ws.tree_order[s]
        ws.cone_place[t] = n
        n += plan.tree_end[t] - plan.tree_first[t]
    return n


@kernel
def write_masses(plan, ws, b):
    """Write ws.cone_M: the effective mass matrix, whose factors are in ws.L, of island b."""
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        t = ws.tree_order[s]
        first, many, at = plan.tree_first[t], plan.tree_end[t] - plan.tree_first[t], ws.cone_place[t]
        for r in range(many):
            for c in range(r + 1):
                total = 0.0
                for k in range(c + 1):
                    of_row = 1.0 if k == r else ws.L[first + r, first + k]
                    of_column = 1.0 if k == c else ws.L[first + c, first + k]
                    total += of_row * of_column / ws.L[first + k, first + k]
                ws.cone_M[at + r, at + c] = ws.cone_M[at + c, at + r] = total


@kernel
def set_centres(plan, ws, b):
    """Take impulses and slips of island b for those that the next minimum starts from."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        j = ws.near_rub[i]
        write_rates(ws, i, ws.us, ws.cone_rate[i])
        rate = ws.cone_rate[i]
        for c in range(3):
            ws.cone_rate_step[i, c] = 0.0  # no step yet: no part of what stood there
        ws.cone_centre[i, 0] = ws.near_x[i]
        ws.cone_centre[i, 1] = ws.rub_x[j, 0] if j >= 0 else 0.0
        ws.cone_centre[i, 2] = ws.rub_x[j, 1] if j >= 0 else 0.0
        mu = friction_of(ws, i)
        ws.cone_glide[i] = mu * math.hypot(rate[1], rate[2]) if j >= 0 else 0.0
        mass = ws.near_mass[i]
        if j >= 0 and ws.rub_mass[j] > 0.0:
            mass = min(mass, ws.rub_mass[j]) if mass > 0.0 else 0.0
        ws.cone_stiff[i] = STIFF * mass


@inlined
def write_rates(ws, i, u, rates):
    """Rates of the near contact i along its normal and its tangents at the speeds u, to ``rates`` (3,)."""
    j, at = ws.near_rub[i], ws.near_speeds[i]
    rates[0] = rate_of_row(ws.near_J[i], at, u)
    rates[1] = rate_of_row(ws.rub_J[2 * j], at, u) if j >= 0 else 0.0
    rates[2] = rate_of_row(ws.rub_J[2 * j + 1], at, u) if j >= 0 else 0.0


@inlined
def before_cone(ws, i, part):
    """The vector, three scalars, whose nearest in its cone is the impulse of the near contact i, after this
    part of a step."""
    k, g, rate, step = ws.cone_stiff[i], ws.cone_centre[i], ws.cone_rate[i], ws.cone_rate_step[i]
    over = rate[0] + part * step[0] - ws.near_least[i] + ws.cone_glide[i]
    return g[0] - k * over, g[1] - k * (rate[1] + part * step[1]), g[2] - k * (rate[2] + part * step[2])


@inlined
def nearest_in_cone(a, b, c, mu):
    """The vector of the cone |(y, z)| <= mu x nearest to (a, b, c), and which part of it: 0 its tip, 1 its
    inside, 2 its border."""
    size = math.sqrt(b * b + c * c)
    if a >= 0.0 and size <= mu * a:  # with mu = 0 and no b and c the second says nothing
        return a, b, c, 1
    if mu * size <= -a:
        return 0.0, 0.0, 0.0, 0
    x = (a + mu * size) / (1.0 + mu * mu)
    return x, mu * x * b / size, mu * x * c / size, 2


@inlined
def friction_of(ws, i):
    """mu of the near contact i; of one without friction 0, whose cone is a ray."""
    return ws.rub_most[ws.near_rub[i]] if ws.near_rub[i] >= 0 else 0.0


@kernel
def take_impulses(plan, ws, b):
    """Impulses of island b at the minimum, and the speeds ws.us after them."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        j, stiff = ws.near_rub[i], ws.cone_stiff[i]
        p, q, r = before_cone(ws, i, 0.0)
        x, y, z, _ = nearest_in_cone(p, q, r, friction_of(ws, i))
        ws.near_x[i] = x if stiff > 0.0 else ws.cone_centre[i, 0]
        if j >= 0 and stiff > 0.0:
            ws.rub_x[j, 0], ws.rub_x[j, 1] = y, z
    add_impulses(plan, ws, b)


@kernel
def add_impulses(plan, ws, b):
    """Write the speeds of island b after its impulses to ws.us."""
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        for r in range(plan.tree_first[ws.tree_order[s]], plan.tree_end[ws.tree_order[s]]):
            ws.us[r] = ws.free_u[r]
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        if ws.near_x[i] > 0.0:
            push_along(ws, i, ws.near_x[i], ws.us)
            if ws.near_rub[i] >= 0:
                push_back(ws, i, ws.near_rub[i], ws.us)


@kernel
def keep_best(ws, b):
    """Remember the impulses of island b."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        j = ws.near_rub[i]
        ws.cone_best[i, 0] = ws.near_x[i]
        if j >= 0:
            ws.cone_best[i, 1], ws.cone_best[i, 2] = ws.rub_x[j, 0], ws.rub_x[j, 1]


@kernel
def put_best(plan, ws, b):
    """Put the impulses of island b back that were remembered last."""
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        j = ws.near_rub[i]
        ws.near_x[i] = ws.cone_best[i, 0]
        if j >= 0:
            ws.rub_x[j, 0], ws.rub_x[j, 1] = ws.cone_best[i, 1], ws.cone_best[i, 2]
    add_impulses(plan, ws, b)


@kernel
def take_step(plan, ws, b, n):
    """One Newton step of the n speeds ws.us of island b, as far as the cost falls; False where that is no
    more."""
    H, step = ws.cone_H, ws.cone_step
    begin_cost(plan, ws, b, n)
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        add_contact(plan, ws, ws.near_order[s])
    slope = 0.0
    for r in range(n):
        ws.round_u[r] = step[r]  # minus the gradient
    if not ldl_factor(H, n, ws.cone_P):
        return False
    ldl_solve(ws.cone_P, n, step)
    for r in range(n):
        slope -= ws.round_u[r] * step[r]
    spread_step(plan, ws, b)
    linear, square = change_of_masses(plan, ws, b)
    before = cost_of_contacts(plan, ws, b, 0.0)
    if not -slope > STILL * (before + abs(linear)):
        return False
    part = 1.0
    for _ in range(HALVINGS):
        change = cost_of_contacts(plan, ws, b, part) - before + part * linear + 0.5 * part * part * square
        if change <= ENOUGH * part * slope:
            break
        part *= 0.5
    move(plan, ws, b, part)
    return True


@kernel
def begin_cost(plan, ws, b, n):
    """ws.cone_H = M, and ws.cone_step = -M (v - u), of the n speeds of island b."""
    for r in range(n):
        for c in range(n):
            ws.cone_H[r, c] = 0.0
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        t = ws.tree_order[s]
        first, many, at = plan.tree_first[t], plan.tree_end[t] - plan.tree_first[t], ws.cone_place[t]
        for r in range(many):
            total = 0.0
            for c in range(many):
                mass = ws.cone_M[at + r, at + c]
                ws.cone_H[at + r, at + c] = mass
                total -= mass * (ws.us[first + c] - ws.free_u[first + c])
            ws.cone_step[at + r] = total


@kernel
def add_contact(plan, ws, i):
    """Add what the near contact i has of the second derivative to ws.cone_H, and of minus the gradient to
    ws.cone_step."""
    k, mu = ws.cone_stiff[i], friction_of(ws, i)
    if k == 0.0:
        return
    a, b, c = before_cone(ws, i, 0.0)
    x, y, z, part = nearest_in_cone(a, b, c, mu)
    if part == 0:
        return
    d00, d01, d02, d11, d12, d22 = 1.0, 0.0, 0.0, 1.0, 0.0, 1.0
    if part == 2:
        size = math.sqrt(b * b + c * c)
        p, q, scale = b / size, c / size, 1.0 / (1.0 + mu * mu)
        across = mu * x / size
        d00, d01, d02 = scale, scale * mu * p, scale * mu * q
        d11 = scale * mu * mu * p * p + across * q * q
        d12 = (scale * mu * mu - across) * p * q
        d22 = scale * mu * mu * q * q + across * p * p
    j = ws.near_rub[i]
    if j < 0:
        add_rows(plan, ws, i, ws.near_J[i], ws.near_J[i], k, x)
        return
    J, T1, T2 = ws.near_J[i], ws.rub_J[2 * j], ws.rub_J[2 * j + 1]
    add_rows(plan, ws, i, J, J, k * d00, x)
    add_rows(plan, ws, i, T1, T1, k * d11, y)
    add_rows(plan, ws, i, T2, T2, k * d22, z)
    add_both(plan, ws, i, J, T1, k * d01)
    add_both(plan, ws, i, J, T2, k * d02)
    add_both(plan, ws, i, T1, T2, k * d12)


@inlined
def add_both(plan, ws, i, J, T, factor):
    """Add factor (J' T + T' J) of two rows of the near contact i."""
    if factor != 0.0:
        add_rows(plan, ws, i, J, T, factor, 0.0)
        add_rows(plan, ws, i, T, J, factor, 0.0)


@kernel
def add_rows(plan, ws, i, J, T, factor, impulse):
    """Add factor J' T to ws.cone_H, and J' impulse to ws.cone_step, of rows of the near contact i."""
    at, half = ws.near_speeds[i], J.size // 2
    for side in range(2):
        many = at[2 * side + 1]
        if many == 0:
            continue
        of_J, first = from_row(J, side * half), ws.cone_place[plan.tree_of_speed[at[2 * side]]]
        for r in range(many):
            ws.cone_step[first + r] += impulse * of_J[r]
        for other in range(2):
            width = at[2 * other + 1]
            if width == 0:
                continue
            of_T, begin = from_row(T, other * half), ws.cone_place[plan.tree_of_speed[at[2 * other]]]
            for r in range(many):
                scaled = factor * of_J[r]
                for c in range(width):
                    ws.cone_H[first + r, begin + c] += scaled * of_T[c]


@kernel
def spread_step(plan, ws, b):
    """Put the step to the speeds that it is of, in ws.way_u, and what it changes of rates to
    ws.cone_rate_step."""
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        t = ws.tree_order[s]
        for r in range(plan.tree_first[t], plan.tree_end[t]):
            ws.way_u[r] = ws.cone_step[ws.cone_place[t] + r - plan.tree_first[t]]
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        write_rates(ws, i, ws.way_u, ws.cone_rate_step[i])


@kernel
def change_of_masses(plan, ws, b):
    """Slope and second derivative along the step of (v - u)' M (v - u) / 2."""
    linear = square = 0.0
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        t = ws.tree_order[s]
        first, many, at = plan.tree_first[t], plan.tree_end[t] - plan.tree_first[t], ws.cone_place[t]
        for r in range(many):
            for c in range(many):
                along = ws.cone_M[at + r, at + c] * ws.way_u[first + r]
                linear += along * (ws.us[first + c] - ws.free_u[first + c])
                square += along * ws.way_u[first + c]
    return linear, square


@kernel
def cost_of_contacts(plan, ws, b, part):
    """Sum of g^2 / 2 k of the contacts of island b after this part of the step [J]."""
    cost = 0.0
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        if ws.cone_stiff[i] > 0.0:
            p, q, r = before_cone(ws, i, part)
            x, y, z, _ = nearest_in_cone(p, q, r, friction_of(ws, i))
            cost += (x * x + y * y + z * z) / (2.0 * ws.cone_stiff[i])
    return cost


@kernel
def move(plan, ws, b, part):
    """Take this part of the step."""
    for s in range(ws.tree_start[b], ws.tree_start[b + 1]):
        t = ws.tree_order[s]
        for r in range(plan.tree_first[t], plan.tree_end[t]):
            ws.us[r] += part * ws.way_u[r]
    for s in range(ws.near_start[b], ws.near_start[b + 1]):
        i = ws.near_order[s]
        for c in range(3):
            ws.cone_rate[i, c] += part * ws.cone_rate_step[i, c]
