"""Which edges of two boxes, or of a box and the side of a capsule, may meet within a tick.

A pair of shapes has a few candidates for them, its places; edges are put into them when a tick begins, the
nearest ones first, and stay while the contact holds.

Two convex shapes first meet along an axis that separates them: the normal of a face, or a direction n across
an edge of each (Gottschalk, Lin and Manocha 1996).  Of all edges parallel to a and to b only those farthest
out along n can then meet: one of each shape, or both sides of a face that n is nearly normal to.  Edges that
are farther inside one another than the shapes are have not met there: something else touched before.
"""

from __future__ import annotations

import math

from hapticsim.kernels.events.inside import GAP_DEEP, GAP_HELD
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, EDGES, SIDE, edges_gap, nearest_on_edges
from hapticsim.kernels.geometry.corner import LEVEL
from hapticsim.kernels.geometry.point import shape_pose, surface_pose
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.rows.row_table import HELD

ACROSS = 1e-6  # sin^2 of the angle between two edges from which they may meet
LEAN = 0.1  # cosine of the angle to n up to which both sides of a shape may have its farthest edge, and
# TURNS times the angle by which the shapes turn in a tick
TURNS = 2.0
REACH = 2e-3  # [m] looked at beyond twice what the speeds at the start of the tick allow
STEEPEST = 4.0  # depth of a line per length past the end of its edge, up to which the edge may come to meet
UPRIGHT = 0.99  # cosine of the angle to the normal of a face above which n counts as this normal
SURELY_OUT = 1e30


@inlined
def span(half, x, y, z):
    """Half the extent of a box along the direction (x, y, z) of its axes [m]."""
    return half[0] * abs(x) + half[1] * abs(y) + half[2] * abs(z)


@inlined
def size_of(half):
    return math.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])


@inlined
def turning(frame, ws):
    """Angular speed of a body [rad/s]."""
    if frame < 0:
        return 0.0
    w = ws.vel[frame]
    return math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@kernel
def fastest(frame, ox, oy, oz, size, ws):
    """Upper bound of the speed [m/s] of a shape around the point o of the world."""
    if frame < 0:
        return 0.0
    v = ws.vel[frame]
    x, y, z = ox - ws.X[frame, 9], oy - ws.X[frame, 10], oz - ws.X[frame, 11]
    away = math.sqrt(x * x + y * y + z * z) + size
    return math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) + turning(frame, ws) * away


@inlined
def is_kept(plan, state, ws, k, deepest):
    """True where a place keeps its edges: those that are held, and within a tick those decided about."""
    if state.mode[k] == HELD or deepest > 0.0:
        return state.mode[k] == HELD
    return ws.overlooked[k] == 1 or edges_gap(plan, state, k, ws.X) <= LEVEL


@kernel
def put_edges_in_places(plan, state, ws, m, deepest):
    """Give the free places of every pair the edges that are nearest at the frames and speeds in ws, m rows
    being imposed.

    deepest   [m] down to which edges that cross already are held where they are; 0 within a tick.
    """
    if m == ws.rows.size:  # no room for another row
        return
    k = 0
    while k < plan.contacts:
        if plan.edge_places[k] > 0:
            put_edges_of_pair(plan, state, ws, k, deepest)
            k += plan.edge_places[k]
        else:
            k += 1


@kernel
def put_edges_of_pair(plan, state, ws, first, deepest):
    """The same for the pair whose places begin at candidate ``first``; ws.guard1 and guard2 are scratch."""
    end = first + plan.edge_places[first]
    for k in range(first, end):
        if not is_kept(plan, state, ws, k, deepest):
            state.face[k], state.depth[k], ws.guard1[k] = 0, 0.0, math.inf
    a, b = plan.row_a[first], plan.row_b[first]
    half_a, half_b, radius = plan.edge_half[first], plan.surface_half[first], plan.row_length[first]
    a0, a1, a2, a3, a4, a5, a6, a7, a8, x, y, z = shape_pose(a, plan.edge_pose[first], ws.X)
    b0, b1, b2, b3, b4, b5, b6, b7, b8, ox, oy, oz = surface_pose(plan, first, ws.X)
    size_a, size_b = size_of(half_a) + radius, size_of(half_b)
    speed = fastest(a, x, y, z, size_a, ws) + fastest(b, ox, oy, oz, size_b, ws)
    reach = REACH + 2.0 * plan.tick_s * speed
    x, y, z = x - ox, y - oy, z - oz
    if x * x + y * y + z * z > (size_a + size_b + reach) ** 2:
        return
    # A in the axes of B: its axes are the columns of c, its middle is d
    dx, dy, dz = b0 * x + b3 * y + b6 * z, b1 * x + b4 * y + b7 * z, b2 * x + b5 * y + b8 * z
    C = ws.edge_frame
    C[0, 0], C[1, 0], C[2, 0] = (
        b0 * a0 + b3 * a3 + b6 * a6,
        b1 * a0 + b4 * a3 + b7 * a6,
        b2 * a0 + b5 * a3 + b8 * a6,
    )
    C[0, 1], C[1, 1], C[2, 1] = (
        b0 * a1 + b3 * a4 + b6 * a7,
        b1 * a1 + b4 * a4 + b7 * a7,
        b2 * a1 + b5 * a4 + b8 * a7,
    )
    C[0, 2], C[1, 2], C[2, 2] = (
        b0 * a2 + b3 * a5 + b6 * a8,
        b1 * a2 + b4 * a5 + b7 * a8,
        b2 * a2 + b5 * a5 + b8 * a8,
    )
    apart = max(
        abs(dx) - half_b[0] - span(half_a, C[0, 0], C[0, 1], C[0, 2]),
        abs(dy) - half_b[1] - span(half_a, C[1, 0], C[1, 1], C[1, 2]),
        abs(dz) - half_b[2] - span(half_a, C[2, 0], C[2, 1], C[2, 2]),
    )
    for i in range(3):
        along = abs(dx * C[0, i] + dy * C[1, i] + dz * C[2, i])
        apart = max(apart, along - half_a[i] - span(half_b, C[0, i], C[1, i], C[2, i]))
    apart -= radius
    if apart > reach:
        return
    fx, fy, fz = 0.0, 0.0, 0.0
    if abs(apart) <= LEVEL:
        fx, fy, fz = face_between(half_a, half_b, dx, dy, dz, radius, ws)
    lean = LEAN + TURNS * plan.tick_s * (turning(a, ws) + turning(b, ws))
    for i in range(3):
        if radius > 0.0 and i < 2:
            continue
        for j in range(3):
            apart = max(
                apart,
                look_along(plan, state, first, end, i, j, dx, dy, dz, fx, fy, fz, lean, reach, deepest, ws),
            )
            if apart > reach:
                break
    for k in range(first, end):
        if not is_kept(plan, state, ws, k, deepest) and state.face[k] != 0:
            phi = ws.guard1[k]
            if apart > reach or apart < -GAP_DEEP or phi < min(apart, 0.0) - LEVEL:
                state.face[k] = 0
            elif phi < -GAP_HELD:
                state.depth[k] = phi


@inlined
def face_between(half_a, half_b, dx, dy, dz, radius, ws):
    """Normal of the face, in the axes of B, along which both shapes are less than LEVEL apart, or inside one
    another; 0, 0, 0 for none.  A capsule has no faces.
    """
    C = ws.edge_frame
    if abs(abs(dx) - half_b[0] - span(half_a, C[0, 0], C[0, 1], C[0, 2]) - radius) <= LEVEL:
        return 1.0, 0.0, 0.0
    if abs(abs(dy) - half_b[1] - span(half_a, C[1, 0], C[1, 1], C[1, 2]) - radius) <= LEVEL:
        return 0.0, 1.0, 0.0
    if abs(abs(dz) - half_b[2] - span(half_a, C[2, 0], C[2, 1], C[2, 2]) - radius) <= LEVEL:
        return 0.0, 0.0, 1.0
    if radius == 0.0:
        for i in range(3):
            x, y, z = C[0, i], C[1, i], C[2, i]
            if abs(abs(dx * x + dy * y + dz * z) - half_a[i] - span(half_b, x, y, z)) <= LEVEL:
                return x, y, z
    return 0.0, 0.0, 0.0


@kernel
def look_along(plan, state, first, end, i, j, dx, dy, dz, fx, fy, fz, lean, reach, deepest, ws):
    """Look at the edges of A along its axis i and of B along its axis j; return how far apart [m] both shapes
    are along n, across both edges, or less than anything where these are parallel.

    Where the shapes touch along the normal f of a face, an edge that ends at this face is beside the other
    shape, and rounding alone would say that they cross.
    """
    C, half_a, half_b = ws.edge_frame, plan.edge_half[first], plan.surface_half[first]
    x, y, z = C[0, i], C[1, i], C[2, i]
    square = 1.0 - C[j, i] * C[j, i]
    if square < ACROSS:
        return -SURELY_OUT
    # n = (axis i of A) x (axis j of B), towards A
    if j == 0:
        nx, ny, nz = 0.0, z, -y
    elif j == 1:
        nx, ny, nz = -z, 0.0, x
    else:
        nx, ny, nz = y, -x, 0.0
    scale = math.copysign(1.0 / math.sqrt(square), nx * dx + ny * dy + nz * dz)
    nx, ny, nz = scale * nx, scale * ny, scale * nz
    na0 = nx * C[0, 0] + ny * C[1, 0] + nz * C[2, 0]
    na1 = nx * C[0, 1] + ny * C[1, 1] + nz * C[2, 1]
    na2 = nx * C[0, 2] + ny * C[1, 2] + nz * C[2, 2]
    apart = nx * dx + ny * dy + nz * dz - span(half_a, na0, na1, na2) - span(half_b, nx, ny, nz)
    apart -= plan.row_length[first]
    is_face = fx != 0.0 or fy != 0.0 or fz != 0.0
    if apart > reach:
        return apart
    askew = is_face and abs(nx * fx + ny * fy + nz * fz) < UPRIGHT
    reach_along = reach / math.sqrt(square)
    if i == 0:
        a1, a2 = -na1, -na2
    elif i == 1:
        a1, a2 = -na2, -na0
    else:
        a1, a2 = -na0, -na1
    if j == 0:
        b1, b2 = ny, nz
    elif j == 1:
        b1, b2 = nz, nx
    else:
        b1, b2 = nx, ny
    round_ = plan.row_length[first] > 0.0
    for pa in range(4):
        if round_:
            if pa > 0:
                break
        elif is_inner(pa, a1, a2, lean):
            continue
        for pb in range(4):
            if not is_inner(pb, b1, b2, lean):
                edge_a = SIDE if round_ else 4 * i + pa
                offer(
                    plan,
                    state,
                    first,
                    end,
                    EDGES * edge_a + 4 * j + pb,
                    askew,
                    reach,
                    reach_along,
                    deepest,
                    ws,
                )
    return apart


@inlined
def is_inner(signs, x, y, lean):
    """True for an edge on a side of its shape that looks away from n, whose components are x and y there."""
    return (
        (x > lean and signs & 1 == 0)
        or (x < -lean and signs & 1 == 1)
        or ((y > lean and signs & 2 == 0) or (y < -lean and signs & 2 == 2))
    )


@kernel
def offer(plan, state, first, end, pair, askew, reach, reach_along, deepest, ws):
    """Put a pair of edges into the free place of least use, if it is nearer than what is there."""
    worst, least_use = -1, -1.0
    for k in range(first, end):
        if is_kept(plan, state, ws, k, deepest):
            if state.face[k] == EDGE_PAIR + pair:
                return
        else:
            use = SURELY_OUT if state.face[k] == 0 else ws.guard2[k]
            if use > least_use:
                worst, least_use = k, use
    if worst < 0:
        return
    before, state.face[worst] = state.face[worst], EDGE_PAIR + pair
    near = nearest_on_edges(plan, state, worst, ws.X)
    phi, past = near[6] - plan.row_length[worst], near[16]
    far = max(phi, 0.0) + max(past, 0.0)
    most = deepest if past <= 0.0 else STEEPEST * past  # beyond an end it is the line that is inside
    beside = askew and abs(past) < LEVEL
    if phi > reach or past > reach_along or phi < -most or far >= least_use or beside:
        state.face[worst] = before
    else:
        ws.guard1[worst], ws.guard2[worst] = phi if past <= 0.0 else max(phi, 0.0), far
