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

from hapticsim.codes import ON_EDGES, Event
from hapticsim.kernels.events.inside import (
    GAP_CAPTURE,
    GAP_DEEP,
    GAP_HELD,
    LEFT_OUT,
    PASSED,
    THROUGH,
    is_overlooked,
    takes_edges,
)
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, EDGES, INSET, SIDE, edges_gap
from hapticsim.kernels.geometry.corner import LEVEL
from hapticsim.kernels.geometry.point import cross_dot, shape_pose, surface_pose
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.rows.row_table import FREE, HELD
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import put_features_in_places

ROWS_FULL = int(Event.ROWS_FULL)
ACROSS = 1e-6  # sin^2 of the angle between two edges from which they may meet
LEAN = 0.1  # cosine of the angle to n up to which both sides of a shape may have its farthest edge, and
# TURNS times the angle by which the shapes turn in a tick; of edges that cross already, that by which n does
TURNS = 2.0
REACH = 2e-3  # [m] looked at beyond twice what the speeds at the start of the tick allow
STEEPEST = 4.0  # depth of a line per length past the end of its edge, up to which the edge may come to meet
UPRIGHT = 0.99  # cosine of the angle to the normal of a face above which n counts as this normal
STEEP = 0.2  # the same cosine, above which an edge that ends past the border of this face crosses the border
LEFT_NEAR = 1e-5  # [m] features that found no place, and are no farther, are beside others that did
SHORTEST = 1.0 / 16.0  # of a tick: no piece is shorter for what found no place
SURELY_OUT = 1e30
MIDDLE, FACE, BOUNDS = (
    3,
    4,
    5,
)  # rows of ws.pair_view, all in the axes of B: its first are the axes of A, then
# the middle of A, the normal of a face between both or 0, and LEAN, REACH and the depth of this look
LEANS, REACHES, DEEPEST = 0, 1, 2  # of the last row


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
    """Upper bound of the speed [m/s] of a shape of this size around the point o of the world."""
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
    return is_overlooked(plan, ws, k) or edges_gap(plan, state, k, ws.X) <= LEVEL


def put_edges(plan, state, ws, out, m, deepest):
    """Give the free places of every pair the edges that are nearest at the frames and speeds in ws, m rows
    being imposed.

    deepest   [m] down to which edges that cross already are held where they are; 0 within a tick.
    Where no row is left they are looked at as a tick begins alone: edges that cross are left out.
    ws.foreseen becomes how long [s] the next piece may be for what found no place, and in a time step
    ws.crowded the pairs where something found none.
    """
    ws.foreseen[0], ws.crowded_pairs[0] = math.inf, 0
    if ws.reach[0] == 0.0:
        put_edges_between(plan, state, ws, out, m, deepest, 0, plan.contacts)
        return
    for p in range(plan.pair_a.size):  # in a time step
        begin, end = plan.pair_first[p], plan.pair_first[p + 1]
        if ws.idle[begin] == 0 or ws.apart[begin] <= ws.reach[0]:
            put_edges_between(plan, state, ws, out, m, deepest, begin, end)


@kernel
def put_edges_between(plan, state, ws, out, m, deepest, begin, end):
    """The same of whole pairs, whose candidates are those from begin to end; of one in a time step."""
    full, steps = m == ws.rows.size, ws.reach[0] > 0.0
    k = begin
    while k < end:
        if takes_edges(plan, k) and plan.edge_places[k] > 0:
            if state.mode[k] < FREE:  # the pair sleeps
                pass
            elif ws.apart[begin if steps else k] > ws.reach[0] and are_empty(plan, state, k):
                for i in range(k, k + plan.edge_places[k]):
                    state.depth[i], ws.guard1[i] = 0.0, math.inf
            elif not full:
                ws.left_over[0] = math.inf
                fill_places(plan, state, ws, out, k, deepest)
                foresee_left_over(plan, ws, k)
            elif deepest > 0.0:
                leave_out_edges(plan, state, ws, out, k, deepest)
            else:
                for i in range(k, k + plan.edge_places[k]):
                    ws.guard1[i] = math.inf
            k += plan.edge_places[k]
        else:
            k += 1


@kernel
def foresee_left_over(plan, ws, first):
    """End the next piece before features of the pair just looked at that found no place can meet, so that
    they get one; a time step notes the pair, whose places begin at ``first``."""
    if ws.reach[0] > 0.0:
        if ws.left_over[0] < math.inf:
            i = ws.crowded_pairs[0]
            ws.crowded[i], ws.crowded_depth[i] = first, ws.deep_by[0]
            ws.crowded_pairs[0] = i + 1
    elif ws.left_over[0] < math.inf:
        way = ws.pair_view[BOUNDS, REACHES] - REACH  # twice that of the pair in a tick
        if ws.left_over[0] < way:
            ws.foreseen[0] = min(ws.foreseen[0], max(ws.left_over[0] / way, SHORTEST) * plan.tick_s)


@inlined
def note_left_over(state, ws, worst, soon):
    """Note in ws.left_over after what way [m] those features may meet that find no place: what is offered, or
    what gives its place ``worst`` to that."""
    left = soon if worst < 0 else (math.inf if state.face[worst] == 0 else ws.soon[worst])
    if left > LEFT_NEAR:
        ws.left_over[0] = min(ws.left_over[0], left)


@kernel
def are_empty(plan, state, first):
    """True where no place of the pair that begins at ``first`` is about anything."""
    for k in range(first, first + plan.edge_places[first]):
        if state.face[k] != 0:
            return False
    return True


@kernel
def fill_places(plan, state, ws, out, first, deepest):
    """Fill the places of the pair that begins at ``first``; solids deep in one another pass, and that
    is told as it begins."""
    if plan.surface_kind[first] == ON_EDGES:
        ws.deep_by[0] = 0.0  # of boxes and capsules nobody asks
        put_edges_of_pair(plan, state, ws, first, deepest)
        return
    passes, free = False, -1
    for k in range(first, first + plan.edge_places[first]):
        passes = passes or state.face[k] == THROUGH
    deep = put_features_in_places(plan, state, ws, first, deepest)
    if deep == 0.0 or deepest == 0.0:
        return
    for k in range(first, first + plan.edge_places[first]):
        free = k if free < 0 and state.mode[k] != HELD else free
    if free >= 0:
        state.face[free] = THROUGH
        if not passes:
            record(out, PASSED, free, deep, 0.0)


@kernel
def leave_out_edges(plan, state, ws, out, first, deepest):
    """Leave out the edges that cross of the pair whose places begin at ``first``; told as it begins."""
    was_left_out, crosses = False, False
    end = first + plan.edge_places[first]
    for k in range(first, end):
        was_left_out = was_left_out or state.face[k] == LEFT_OUT
    fill_places(plan, state, ws, out, first, deepest)
    for k in range(first, end):
        if state.mode[k] != HELD and state.face[k] != THROUGH:
            is_in = state.face[k] != 0 and ws.guard1[k] < -GAP_CAPTURE
            crosses = crosses or is_in
            state.face[k], state.depth[k], ws.guard1[k] = (LEFT_OUT if is_in else 0), 0.0, math.inf
    if crosses and not was_left_out:
        record(out, ROWS_FULL, first, 1.0, 0.0)


@kernel
def put_edges_of_pair(plan, state, ws, first, deepest):
    """The same for the pair whose places begin at candidate ``first``.

    ws.guard1 is left with the gaps of edges that cross in their free places, inf of others; ws.guard2 is
    scratch.
    """
    end = first + plan.edge_places[first]
    for k in range(first, end):
        if not is_kept(plan, state, ws, k, deepest):
            state.face[k], state.depth[k], ws.guard1[k] = 0, 0.0, math.inf
    if not view_pair(plan, first, deepest, ws):
        return
    reach = ws.pair_view[BOUNDS, REACHES]
    apart = apart_along_faces(plan, first, ws)
    for i in range(3):
        for j in range(3):
            if apart <= reach and (plan.row_length[first] == 0.0 or i == 2):
                apart = max(apart, look_along(plan, state, first, i, j, ws))
    for k in range(first, end):
        if not is_kept(plan, state, ws, k, deepest) and state.face[k] != 0:
            phi = ws.guard1[k]
            if apart > reach or apart < -GAP_DEEP or phi < min(apart, 0.0) - LEVEL:
                state.face[k], ws.guard1[k] = 0, math.inf
            elif phi < -GAP_HELD:
                state.depth[k] = phi


@kernel
def view_pair(plan, first, deepest, ws):
    """Write ws.pair_view for a pair; False where it is too far apart to touch within the tick."""
    a, b = plan.row_a[first], plan.row_b[first]
    a0, a1, a2, a3, a4, a5, a6, a7, a8, x, y, z = shape_pose(a, plan.edge_pose[first], ws.X)
    b0, b1, b2, b3, b4, b5, b6, b7, b8, ox, oy, oz = surface_pose(plan, first, ws.X)
    size_a = size_of(plan.edge_half[first]) + plan.row_length[first]
    size_b = size_of(plan.surface_half[first])
    speed = fastest(a, x, y, z, size_a, ws) + fastest(b, ox, oy, oz, size_b, ws)
    reach = max(REACH + 2.0 * plan.tick_s * speed, ws.reach[0])
    x, y, z = x - ox, y - oy, z - oz
    if x * x + y * y + z * z > (size_a + size_b + reach) ** 2:
        return False
    view = ws.pair_view
    view[0, 0], view[0, 1], view[0, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, a0, a3, a6)
    view[1, 0], view[1, 1], view[1, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, a1, a4, a7)
    view[2, 0], view[2, 1], view[2, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, a2, a5, a8)
    view[MIDDLE, 0], view[MIDDLE, 1], view[MIDDLE, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, x, y, z)
    view[BOUNDS, LEANS] = TURNS * plan.tick_s * (turning(a, ws) + turning(b, ws))
    view[BOUNDS, REACHES], view[BOUNDS, DEEPEST] = reach, deepest
    return True


@inlined
def in_axes(r0, r1, r2, r3, r4, r5, r6, r7, r8, x, y, z):
    """A vector of the world in the axes of a shape with this rotation."""
    return r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z


@kernel
def apart_along_faces(plan, first, ws):
    """How far apart [m] both shapes are along the normals of their faces, and the row FACE of ws.pair_view.

    That is the normal along which they are less than LEVEL apart, or inside one another; 0, 0, 0 for none.
    """
    view, half_a, half_b = ws.pair_view, plan.edge_half[first], plan.surface_half[first]
    radius = plan.row_length[first]
    apart = -math.inf
    view[FACE, 0] = view[FACE, 1] = view[FACE, 2] = 0.0
    for i in range(3):
        gap = abs(view[MIDDLE, i]) - half_b[i] - span(half_a, view[0, i], view[1, i], view[2, i]) - radius
        if abs(gap) <= LEVEL:
            view[FACE, 0] = view[FACE, 1] = view[FACE, 2] = 0.0
            view[FACE, i] = 1.0
        apart = max(apart, gap)
    for i in range(3):
        x, y, z = view[i, 0], view[i, 1], view[i, 2]
        along = abs(view[MIDDLE, 0] * x + view[MIDDLE, 1] * y + view[MIDDLE, 2] * z)
        gap = along - half_a[i] - span(half_b, x, y, z) - radius
        if radius == 0.0 and abs(gap) <= LEVEL:  # a capsule has no faces
            view[FACE, 0], view[FACE, 1], view[FACE, 2] = x, y, z
        apart = max(apart, gap)
    return apart


@kernel
def depth_along_faces(plan, first, ws):
    """How deep [m] two boxes, or a box and a capsule, are in one another at most at the frames in ws, by the
    normals of their faces."""
    return max(-apart_along_faces(plan, first, ws), 0.0) if view_pair(plan, first, 0.0, ws) else 0.0


@kernel
def look_along(plan, state, first, i, j, ws):
    """Look at the edges of A along its axis i and of B along its axis j; return how far apart [m] both shapes
    are along n, across both edges, or less than anything where these are parallel.

    Where the shapes touch along the normal of a face, an edge that ends at this face is beside the other
    shape, and rounding alone would say that they cross, unless its end is past the border and n is steep.
    """
    view, half_a, half_b = ws.pair_view, plan.edge_half[first], plan.surface_half[first]
    x, y, z = view[i, 0], view[i, 1], view[i, 2]
    square = 1.0 - view[i, j] * view[i, j]
    if square < ACROSS:
        return -SURELY_OUT
    nx, ny, nz = cross_axis(x, y, z, j)
    dx, dy, dz = view[MIDDLE, 0], view[MIDDLE, 1], view[MIDDLE, 2]
    scale = math.copysign(1.0 / math.sqrt(square), nx * dx + ny * dy + nz * dz)
    nx, ny, nz = scale * nx, scale * ny, scale * nz
    p, q = (i + 1) % 3, (i + 2) % 3
    along_p = nx * view[p, 0] + ny * view[p, 1] + nz * view[p, 2]
    along_q = nx * view[q, 0] + ny * view[q, 1] + nz * view[q, 2]
    apart = nx * dx + ny * dy + nz * dz - half_a[p] * abs(along_p) - half_a[q] * abs(along_q)
    apart -= span(half_b, nx, ny, nz) + plan.row_length[first]
    if apart > ws.pair_view[BOUNDS, REACHES]:
        return apart
    fx, fy, fz = view[FACE, 0], view[FACE, 1], view[FACE, 2]
    upright = abs(nx * fx + ny * fy + nz * fz)
    askew = (fx != 0.0 or fy != 0.0 or fz != 0.0) and upright < UPRIGHT
    is_round = plan.row_length[first] > 0.0
    if j == 0:
        along_1, along_2 = ny, nz
    elif j == 1:
        along_1, along_2 = nz, nx
    else:
        along_1, along_2 = nx, ny
    reach = view[BOUNDS, REACHES]
    lean, lean_over = leans_of(view, math.sqrt(square), ws.reach[0] > 0.0)
    size_a, size_b = size_of(half_a) + plan.row_length[first] + reach, size_of(half_b) + reach
    mx = dx * view[0, 0] + dy * view[0, 1] + dz * view[0, 2]  # from B to A, in the axes of A
    my = dx * view[1, 0] + dy * view[1, 1] + dz * view[1, 2]
    mz = dx * view[2, 0] + dy * view[2, 1] + dz * view[2, 2]
    for edge_a in range(1 if is_round else 4):
        if not is_round and (
            is_inner(edge_a, -along_p, -along_q, lean_over)
            or is_edge_far(half_a, i, edge_a, -mx, -my, -mz, size_b)
        ):
            continue
        for edge_b in range(4):
            if is_inner(edge_b, along_1, along_2, lean_over) or is_edge_far(
                half_b, j, edge_b, dx, dy, dz, size_a
            ):
                continue
            inner = is_inner(edge_b, along_1, along_2, lean)
            inner = inner or (not is_round and is_inner(edge_a, -along_p, -along_q, lean))
            steep = upright > STEEP
            try_edges(plan, state, first, i, j, edge_a, edge_b, nx, ny, nz, square, askew, steep, inner, ws)
    return apart


@inlined
def leans_of(view, size, stepping):
    """LEAN for edges that are past their ends, and for those that cross over one another.

    ``size`` is the sine of their angle: the direction across them turns the faster the less they are askew.
    In a time step it may turn away again before they meet, and no piece ends there: such edges say nothing.
    """
    lean = LEAN + view[BOUNDS, LEANS]
    return lean, (lean if stepping else LEAN + view[BOUNDS, LEANS] / size)


@inlined
def cross_axis(x, y, z, j):
    """(x, y, z) x (axis j)."""
    if j == 0:
        return 0.0, z, -y
    return (-z, 0.0, x) if j == 1 else (y, -x, 0.0)


@inlined
def is_inner(signs, x, y, lean):
    """True for an edge on a side of its shape that looks away from n, whose components are x and y there."""
    return (
        (x > lean and signs & 1 == 0)
        or (x < -lean and signs & 1 == 1)
        or ((y > lean and signs & 2 == 0) or (y < -lean and signs & 2 == 2))
    )


@inlined
def is_edge_far(half, j, edge, x, y, z, size):
    """Whether an edge along axis j of a box is farther [m] than this from a place in its axes."""
    if j == 1:
        x, y, z = y, z, x
    elif j == 2:
        x, y, z = z, x, y
    x = max(abs(x) - half[j], 0.0)
    y -= half[(j + 1) % 3] if edge & 1 else -half[(j + 1) % 3]
    z -= half[(j + 2) % 3] if edge & 2 else -half[(j + 2) % 3]
    return x * x + y * y + z * z > size * size


@kernel
def try_edges(plan, state, first, i, j, edge_a, edge_b, nx, ny, nz, square, askew, steep, inner, ws):
    """Put a pair of edges into the free place of least use, if it can meet and is nearer than what is there.

    inner   whether one is on an inner side of its shape: they may meet if they cross over one another now.
    All is as in ``box_edges.nearest_on_edges``, in the axes of B.
    """
    view, half_a, half_b = ws.pair_view, plan.edge_half[first], plan.surface_half[first]
    p, q = (i + 1) % 3, (i + 2) % 3
    at_p = half_a[p] if edge_a & 1 else -half_a[p]
    at_q = half_a[q] if edge_a & 2 else -half_a[q]
    x = view[MIDDLE, 0] + at_p * view[p, 0] + at_q * view[q, 0]
    y = view[MIDDLE, 1] + at_p * view[p, 1] + at_q * view[q, 1]
    z = view[MIDDLE, 2] + at_p * view[p, 2] + at_q * view[q, 2]
    at_1 = half_b[(j + 1) % 3] if edge_b & 1 else -half_b[(j + 1) % 3]
    at_2 = half_b[(j + 2) % 3] if edge_b & 2 else -half_b[(j + 2) % 3]
    if j == 0:
        y, z = y - at_1, z - at_2
    elif j == 1:
        z, x = z - at_1, x - at_2
    else:
        x, y = x - at_1, y - at_2
    phi = nx * x + ny * y + nz * z - plan.row_length[first]
    reach = view[BOUNDS, REACHES]
    if phi > reach:
        return
    ax, ay, az = view[i, 0], view[i, 1], view[i, 2]
    wx, wy, wz = cross_axis(ax, ay, az, j)
    bx, by, bz = cross_axis(x, y, z, j)
    s = -(bx * wx + by * wy + bz * wz) / square
    t = -cross_dot(x, y, z, ax, ay, az, wx, wy, wz) / square
    past = max(abs(s) - half_a[i], abs(t) - half_b[j]) + INSET
    most = view[BOUNDS, DEEPEST] if past <= 0.0 else STEEPEST * past  # beyond an end the line is inside
    way = past * math.sqrt(square)  # the less the edges are askew the faster runs the place where they cross
    if way > reach or phi < -most or (inner and (past > 0.0 or phi < 0.0)):
        return
    if askew and abs(past) < LEVEL:
        if not steep:
            return
        if abs(t) - half_b[j] > abs(s) - half_a[i]:  # an end of the edge of B beside that of A
            end = math.copysign(half_b[j], t)
            x, y, z = (end if j == 0 else 0.0) - x, (end if j == 1 else 0.0) - y, (end if j == 2 else 0.0) - z
            out = past_edge_of_a(view, p, q, at_p, at_q, x, y, z)
        else:
            end = math.copysign(half_a[i], s)
            out = past_edge_of_b(view, j, at_1, at_2, x + end * ax, y + end * ay, z + end * az)
        if out <= INSET:
            return
    edge_a = SIDE if plan.row_length[first] > 0.0 else 4 * i + edge_a
    offer(plan, state, first, EDGES * edge_a + 4 * j + edge_b, phi, past, way, ws)


@inlined
def past_edge_of_a(view, p, q, at_p, at_q, x, y, z):
    """How far a place, seen from a point of an edge of A, is past this edge [m], out of the face by which
    both touch; less than anything where A has no such face there."""
    along_p = view[p, 0] * view[FACE, 0] + view[p, 1] * view[FACE, 1] + view[p, 2] * view[FACE, 2]
    along_q = view[q, 0] * view[FACE, 0] + view[q, 1] * view[FACE, 1] + view[q, 2] * view[FACE, 2]
    if max(abs(along_p), abs(along_q)) < UPRIGHT:
        return -math.inf
    c, at = (q, at_q) if abs(along_p) > abs(along_q) else (p, at_p)
    return math.copysign(1.0, at) * (view[c, 0] * x + view[c, 1] * y + view[c, 2] * z)


@inlined
def past_edge_of_b(view, j, at_1, at_2, x, y, z):
    """The same of an edge of B, which is along its axis j."""
    c, d = (j + 1) % 3, (j + 2) % 3
    if max(abs(view[FACE, c]), abs(view[FACE, d])) < UPRIGHT:
        return -math.inf
    if abs(view[FACE, c]) > abs(view[FACE, d]):
        c, at_1 = d, at_2
    along = x if c == 0 else (y if c == 1 else z)
    return math.copysign(1.0, at_1) * along


@kernel
def offer(plan, state, first, pair, phi, past, way, ws):
    """Put a pair of edges with this gap, so far past an end, into the free place of least use.

    way   [m] that the shapes move until the edges are no more past the end.
    """
    far, soon = max(phi, 0.0) + max(past, 0.0), max(phi, 0.0) + max(way, 0.0)
    worst, least_use = -1, far
    for k in range(first, first + plan.edge_places[first]):
        if is_kept(plan, state, ws, k, ws.pair_view[BOUNDS, DEEPEST]):
            if state.face[k] == EDGE_PAIR + pair:
                return
        else:
            use = SURELY_OUT if state.face[k] == 0 else ws.guard2[k]
            if use > least_use:
                worst, least_use = k, use
    note_left_over(state, ws, worst, soon)
    if worst >= 0:
        ws.soon[worst] = soon
        state.face[worst] = EDGE_PAIR + pair
        ws.guard1[worst], ws.guard2[worst] = phi if past <= 0.0 else math.inf, far
