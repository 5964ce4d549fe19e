"""The contacts that a time step has to look at, each row beside its bodies alone.

A row is about two trees at most: near_J and near_Y hold its numbers for the first from column 0 on, and for
the second from the middle on, so that the cost of a row does not grow with the scene.
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_HULLS, ON_PLANE, Event, Fault
from hapticsim.kernels.events.edge_places import depth_along_faces, turning
from hapticsim.kernels.events.inside import (
    GAP_DEEP,
    forget_feature,
    has_no_gap,
    is_gap_height,
    is_place_near,
    sort_one,
    takes_edges,
    where_of_free,
)
from hapticsim.kernels.geometry.contact import centre_in_box, face_of, is_corner_on_box
from hapticsim.kernels.geometry.corner import EDGE, LEVEL, height_over
from hapticsim.kernels.geometry.corner import past_edge as past_edge_of
from hapticsim.kernels.geometry.corner_edges import face_against_edges
from hapticsim.kernels.geometry.edges import is_lost
from hapticsim.kernels.geometry.mesh.search import MESH_FEATURE, NO_FEATURE, first_place, is_on_mesh
from hapticsim.kernels.haptics.safety import take_force_away
from hapticsim.kernels.linalg.linear import ldl_solve_between, ldl_solve_six
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.rows.row_table import FREE, HELD
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import (
    gap,
    gap_of_free,
    nearby,
    put_features_in_places,
    where,
    write_contact_row,
    write_tangents,
)

LEAVE = int(Event.LEAVE)
ROWS_FULL, NO_ROOM = int(Event.ROWS_FULL), int(Fault.ROWS_FULL)
REACH = 1e-3  # [m] looked at beyond what the speeds at the start of the tick allow
FAR, BESIDE, NEAR = 0, 1, 2
FREE_BODY = 6  # speeds of a body that is joined to none
JUMPED = 1e-5  # [m] features of two solids that are deeper may have come over a border
SOFT = 1e-14  # of the largest J M^-1 J': a row that nothing can move along


@inlined
def tree_span(plan, t):
    """Between which speeds tree t is; the world has none."""
    return (plan.tree_first[t], plan.tree_end[t]) if t >= 0 else (0, 0)


@inlined
def second_tree(plan, k):
    """The tree of body B of row k, -1 where it is that of body A."""
    return plan.row_tree_b[k] if plan.row_tree_b[k] != plan.row_tree_a[k] else -1


@kernel
def find_idle_pairs(plan, state, ws):
    """Write to ws.idle of which pairs no candidate holds, sleeps or is about a place: nothing is to be done
    about these while they are far."""
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        busy = 0
        for k in range(begin, end):
            busy |= (state.mode[k] ^ FREE) | state.face[k]
        ws.idle[begin] = int(busy == 0)


@kernel
def gather_near(plan, state, out, ws):
    """List the contacts that may close within the tick, with their rows, mobilities and gaps.

    Expects the frames at the start of the tick and the gaps in out, and the factor of M in ws.L.  What is
    past the edge of what held it is let go before.  Returns their number; those beyond the room that there
    is are left out, told, and take the force away.
    """
    n, left_out, first = 0, 0, -1
    ws.rubbing[0] = 0
    for p in range(plan.pair_a.size):
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        if ws.apart[begin] > ws.reach[0] or state.mode[begin] < FREE:  # far, or asleep
            continue
        for k in range(begin, end):
            nearness, face = look_at(plan, state, out, k, ws)
            if nearness == FAR:
                continue
            if n == ws.near.size:
                left_out += 1
                first = k if first < 0 else first
                continue
            ws.near[n] = k
            ws.near_sure[n] = int(nearness == NEAR)
            ws.near_face[n] = face
            write_near(plan, state, ws, n)
            ws.near_rub[n] = -1
            if plan.contact_friction[k] > 0.0:
                write_tangents(plan, state, ws, n)
            n += 1
    if left_out > 0:
        record(out, ROWS_FULL, first, left_out, 0.0)
        take_force_away(state, NO_ROOM)
    return n


@kernel
def look_at(plan, state, out, k, ws):
    """Let candidate k go where it is past the edge of what held it, sort it where it is inside; return how
    near it is, and the face that holds it or would.

    A place keeps the features that it lets go: they may meet again within the tick.
    """
    if state.mode[k] == HELD and is_lost(plan, state, k, ws.X):
        features = state.face[k]
        let_go(plan, state, k)
        if takes_edges(plan, k):
            state.face[k] = features
        record(out, LEAVE, k, 0.0, 0.0)
    if state.mode[k] == FREE and not takes_edges(plan, k):
        if state.face[k] != 0 or out.gap[k] < 0.0:
            sort_one(plan, state, ws, out, k, False, 0.0)
    if state.mode[k] == FREE and is_on_mesh(plan, k):
        return look_at_place(plan, state, k, ws)
    if is_corner_on_box(plan, k):
        turn_to_face(plan, state, out, k, ws)
    nearness, face = how_near(plan, state, out, k, ws.reach[0], ws)
    state.depth[k] = 0.0
    return nearness, face


@kernel
def look_at_place(plan, state, k, ws):
    """The same of a free place on a mesh: where a feature is near it is about this one for the step.

    So those after it look for others, and all that may touch within the step have their rows.
    """
    state.face[k] = 0
    feature, phi = nearby(plan, state, ws, k)
    near = feature != NO_FEATURE and is_place_near(plan, state, k, phi, -1.0, ws.reach[0])
    state.depth[k] = 0.0
    if near:
        state.face[k] = MESH_FEATURE + feature
    return (NEAR if near else FAR), state.face[k]


@kernel
def forget_places(plan, state, ws, n):
    """Places on a mesh among the n near contacts that do not hold are about no feature between ticks."""
    for i in range(n):
        if state.mode[ws.near[i]] == FREE and is_on_mesh(plan, ws.near[i]):
            state.face[ws.near[i]] = 0


@kernel
def turn_to_face(plan, state, out, k, ws):
    """Let a corner go from a face that the edges in it lead into, for one that they lead away from."""
    if has_no_gap(plan, state, k) or (state.mode[k] != HELD and out.gap[k] > ws.reach[0]):
        return
    face = face_of(plan, state, k, ws.X)
    if face == 0:
        return
    x, y, z = centre_in_box(plan, k, ws.X)
    better = face_against_edges(plan, k, face, x, y, z, ws.X)
    if better == face:
        return
    if state.mode[k] == HELD:
        let_go(plan, state, k)
        record(out, LEAVE, k, 0.0, 0.0)
    state.face[k] = better


@kernel
def how_near(plan, state, out, k, reach, ws):
    """Whether candidate k may close in this tick: NEAR; BESIDE what would hold it; or FAR.  And its face.

    Expects its gap in out.
    """
    if has_no_gap(plan, state, k):
        return FAR, 0
    if state.mode[k] != HELD and out.gap[k] > reach:
        return FAR, 0
    if plan.surface_kind[k] == ON_PLANE:  # it has one face, without an edge
        height = out.gap[k] if state.mode[k] == HELD else out.gap[k] - state.depth[k]
        return (NEAR if height >= -GAP_DEEP else FAR), 0
    if state.mode[k] == HELD:
        face, height, past = where(plan, state, k, ws.X)
        return (NEAR if is_over(plan, k, height, past) else FAR), face
    face, height, past = where_of_free(plan, state, ws, k)
    if gap_over(plan, state, ws, k, height) <= reach + LEVEL and is_place_near(
        plan, state, k, height, past, reach
    ):
        return NEAR, face
    return (BESIDE if 0.0 <= height <= reach else FAR), face


@inlined
def gap_over(plan, state, ws, k, height):
    """The gap of a free candidate [m] that is so high over what can hold it, and not past an end of it."""
    if is_gap_height(plan, k):
        return height - state.depth[k]
    return gap_of_free(plan, state, ws, k)


@kernel
def put_what_closes_first(plan, state, ws, n):
    """Order the n near contacts: last those beside what would hold them that do not come into it, at the
    frames in ws, without a contact.  Returns the number of the others.

    A corner that flies over the edge of a face and into it within a tick is stopped by this face.
    """
    first = 0
    for i in range(n):
        k = ws.near[i]
        if ws.near_sure[i] == 1 or comes_in(plan, state, k, ws.near_face[i], ws):
            if first < i:
                exchange(ws, first, i)
            first += 1
    return first


@kernel
def comes_in(plan, state, k, face, ws):
    """Whether the free candidate k is inside, under the face that would hold it as the tick began, if any.

    A corner that came in over the edge of this face may be nearer to another one by now.
    """
    if face > 0 and is_corner_on_box(plan, k):
        x, y, z = centre_in_box(plan, k, ws.X)
        half = plan.surface_half[k]
        height = height_over(face, x, y, z, half[0], half[1], half[2])
        past = past_edge_of(face, x, y, z, half[0], half[1], half[2])
        return height < 0.0 and is_over(plan, k, height, past)
    now, height, past = where_of_free(plan, state, ws, k)
    if not is_over(plan, k, height, past) or gap_over(plan, state, ws, k, height) >= 0.0:
        return False
    if is_deeper_than_solids(plan, state, ws, k, height - state.depth[k]):
        return False
    return face == 0 or now == face  # the row is of the former


@kernel
def is_deeper_than_solids(plan, state, ws, k, phi):
    """Whether candidate k, with the gap phi [m], is about features of two solids that are farther inside one
    another than the solids are, at the frames in ws: these have not met there."""
    if not takes_edges(plan, k) or phi >= -JUMPED:
        return False
    first = first_place(plan, k)
    if plan.surface_kind[k] == ON_HULLS:
        return put_features_in_places(plan, state, ws, first, phi + LEVEL) == 0.0
    return depth_along_faces(plan, first, ws) < -phi - LEVEL


@kernel
def exchange(ws, i, j):
    """Exchange two near contacts."""
    ws.near[i], ws.near[j] = ws.near[j], ws.near[i]
    ws.near_face[i], ws.near_face[j] = ws.near_face[j], ws.near_face[i]
    ws.near_sure[i], ws.near_sure[j] = ws.near_sure[j], ws.near_sure[i]
    ws.near_rub[i], ws.near_rub[j] = ws.near_rub[j], ws.near_rub[i]
    ws.near_gap[i], ws.near_gap[j] = ws.near_gap[j], ws.near_gap[i]
    ws.near_bend[i], ws.near_bend[j] = ws.near_bend[j], ws.near_bend[i]
    ws.near_mobility[i], ws.near_mobility[j] = ws.near_mobility[j], ws.near_mobility[i]
    for r in range(4):
        ws.near_speeds[i, r], ws.near_speeds[j, r] = ws.near_speeds[j, r], ws.near_speeds[i, r]
    for r in range(ws.near_J.shape[1]):
        ws.near_J[i, r], ws.near_J[j, r] = ws.near_J[j, r], ws.near_J[i, r]
        ws.near_Y[i, r], ws.near_Y[j, r] = ws.near_Y[j, r], ws.near_Y[i, r]


@kernel
def find_gaps(plan, state, ws, n):
    """Write the gaps of the n near contacts at the frames in ws to ws.near_end."""
    for i in range(n):
        ws.near_end[i] = gap(plan, state, ws.near[i], ws.X)


@kernel
def meets(plan, state, k, X):
    """Whether candidate k is beside what holds it, and no deeper than anything is held."""
    _, height, past = where(plan, state, k, X)
    return is_over(plan, k, height, past)


@kernel
def past_edge(plan, state, k, X):
    """Whether candidate k is past the edge of what would hold it."""
    _, _, past = where(plan, state, k, X)
    return past > (0.0 if takes_edges(plan, k) else EDGE)


@inlined
def is_over(plan, k, height, past):
    """The same of one that is so high over what holds it, and so far past its edge [m]."""
    return past <= (0.0 if takes_edges(plan, k) else EDGE) and height >= -GAP_DEEP


@kernel
def reach_of(plan, state, ws):
    """How near a candidate has to be to close within the tick [m]: what is at rest may be struck, by the
    fastest body that is near to any other."""
    fastest = 0.0
    for f in range(plan.frame_size.size):
        ws.frame_near[f] = 0
    for p in range(plan.pair_a.size):
        k = plan.pair_first[p]
        if ws.apart[k] == 0.0 and state.mode[k] >= FREE:
            if plan.row_a[k] >= 0:
                ws.frame_near[plan.row_a[k]] = 1
            if plan.row_b[k] >= 0:
                ws.frame_near[plan.row_b[k]] = 1
    for f in range(plan.frame_size.size):
        if ws.frame_near[f] == 0:
            continue
        v = ws.vel[f]
        speed = math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) + turning(f, ws) * plan.frame_size[f]
        fastest = max(fastest, speed)
    return REACH + 2.0 * plan.tick_s * fastest


@kernel
def let_go(plan, state, k):
    """Contact k holds no longer."""
    state.mode[k], state.impulse[k] = FREE, 0.0
    if state.friction_impulse_W.size > 0:
        clear_friction(state, k)
    forget_feature(plan, state, k)
    if takes_edges(plan, k) or not is_on_mesh(plan, k):
        state.face[k] = 0


@inlined
def clear_friction(state, k):
    """Contact k rubs no longer."""
    for c in range(3):
        state.friction_impulse_W[k, c] = 0.0


@kernel
def write_near(plan, state, ws, i):
    """Write row, gap, bend, response and mobility of the near contact i."""
    k = ws.near[i]
    ws.near_gap[i] = write_contact_row(plan, state, k, 0, ws)
    ws.near_bend[i] = ws.s[0]
    ws.near_mobility[i] = write_response(plan, ws, i, ws.near_J[i], ws.near_Y[i])


@kernel
def write_response(plan, ws, i, row_J, row_Y):
    """Write row 0 of ws.A, which is about the near contact i, and M^-1 times it to row_J and row_Y (nj,), as
    in ws.near_J; return their product."""
    k, row, half, mobility = ws.near[i], ws.A[0], ws.near_J.shape[1] // 2, 0.0
    for side in range(2):
        begin, end = tree_span(plan, plan.row_tree_a[k] if side == 0 else second_tree(plan, k))
        ws.near_speeds[i, 2 * side], ws.near_speeds[i, 2 * side + 1] = begin, end - begin
        J, Y = from_row(row_J, side * half), from_row(row_Y, side * half)
        for r in range(begin, end):
            J[r - begin] = row[r]
        if end - begin == FREE_BODY:
            ldl_solve_six(ws.L, begin, J, Y)
        else:
            for r in range(begin, end):
                ws.y[r] = row[r]
            ldl_solve_between(ws.L, begin, end, ws.y)
            for r in range(begin, end):
                Y[r - begin] = ws.y[r]
        mobility += product(J, Y, end - begin)
    return mobility


@inlined
def product(J, u, n):
    """J u of the n speeds of a tree; in three sums, which do not wait for one another, of a free body."""
    if n == FREE_BODY:
        return (J[0] * u[0] + J[1] * u[1]) + (J[2] * u[2] + J[3] * u[3]) + (J[4] * u[4] + J[5] * u[5])
    total = 0.0
    for r in range(n):
        total += J[r] * u[r]
    return total


@inlined
def add_to(u, Y, impulse, n):
    """u += Y impulse of the n speeds of a tree."""
    if n == FREE_BODY:
        u[0] += impulse * Y[0]
        u[1] += impulse * Y[1]
        u[2] += impulse * Y[2]
        u[3] += impulse * Y[3]
        u[4] += impulse * Y[4]
        u[5] += impulse * Y[5]
    else:
        for r in range(n):
            u[r] += impulse * Y[r]


@inlined
def rate_of_row(J, at, u):
    """J u of a row (nj,) whose speeds are ``at`` as in ws.near_speeds."""
    total = product(J, from_row(u, at[0]), at[1])
    if at[3] > 0:
        total += product(from_row(J, J.size // 2), from_row(u, at[2]), at[3])
    return total


@inlined
def push_row(Y, at, impulse, u):
    """u += Y impulse of the same row."""
    add_to(from_row(u, at[0]), Y, impulse, at[1])
    if at[3] > 0:
        add_to(from_row(u, at[2]), from_row(Y, Y.size // 2), impulse, at[3])


@kernel
def rate_along(ws, i, u):
    """J u of the near contact i [m/s]."""
    return rate_of_row(ws.near_J[i], ws.near_speeds[i], u)


@kernel
def slip_along(ws, i, u):
    """Slip [m/s] of the near contact i, which rubs, along its surface."""
    j, at = ws.near_rub[i], ws.near_speeds[i]
    return math.hypot(rate_of_row(ws.rub_J[2 * j], at, u), rate_of_row(ws.rub_J[2 * j + 1], at, u))


@kernel
def push_along(ws, i, impulse, u):
    """Add to u what an impulse [N s] at the near contact i changes."""
    push_row(ws.near_Y[i], ws.near_speeds[i], impulse, u)


@kernel
def push_back(ws, i, j, u):
    """Add to u what the friction of the near contact i, which rubs in place j, changes."""
    push_row(ws.rub_Y[2 * j], ws.near_speeds[i], ws.rub_x[j, 0], u)
    push_row(ws.rub_Y[2 * j + 1], ws.near_speeds[i], ws.rub_x[j, 1], u)
