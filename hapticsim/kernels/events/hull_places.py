"""Which features of two convex solids may meet within a tick: vertices on faces, and edges that cross.

A pair of solids has a few candidates, its places; features are put into them when a tick begins and after
every event, the nearest ones first, and stay while the contact holds.  What a place is about is told in
geometry/hull_contact.py.

Two convex solids are apart where one axis separates them: the normal of a face, or a direction across an edge
of each (Gottschalk, Lin and Manocha 1996).  A vertex can meet a face only if its solid, seen from there, lies
on the outer side of the face; two edges only if n points out of both faces of B and into both of A.  Features
that are farther inside one another than the solids are have not met there.  A face is looked at if it is
nearer than the reach of the tick; one vertex that is deep below it says for all that it does not separate.
"""

from __future__ import annotations

import math

from hapticsim.kernels.events.edge_places import (
    ACROSS,
    BOUNDS,
    DEEPEST,
    FACE,
    LEANS,
    MIDDLE,
    REACH,
    REACHES,
    STEEP,
    STEEPEST,
    SURELY_OUT,
    TURNS,
    UPRIGHT,
    fastest,
    in_axes,
    leans_of,
    note_left_over,
    turning,
)
from hapticsim.kernels.events.inside import GAP_DEEP, GAP_HELD, THROUGH, is_overlooked
from hapticsim.kernels.geometry import hull_contact as pairs
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, INSET
from hapticsim.kernels.geometry.corner import EDGE, LEVEL
from hapticsim.kernels.geometry.hull_contact import hulls_gap, past_border
from hapticsim.kernels.geometry.point import cross_dot, shape_pose, surface_pose
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HULL
from hapticsim.kernels.rows.row_table import HELD

OF_B, OF_A = 0, 1  # whose faces
LEAN_VERTEX = 1e-3  # sine of the angle by which a vertex may have an edge below the face it comes to
STRICT = 1e-6  # the same of two edges, where the direction across them is said to separate
IN_FACE = 1e-6  # sine of the angle by which a direction in a face may be said to leave it
NEARER = 1e-7  # [m] by which features have to be nearer to take the place of others


@inlined
def is_kept(plan, state, ws, k, deepest):
    """True where a place keeps its features: those that are held, and within a tick those decided about."""
    if state.mode[k] == HELD or deepest > 0.0:
        return state.mode[k] == HELD
    return is_overlooked(plan, ws, k) or state.face[k] == THROUGH or hulls_gap(plan, state, k, ws.X) <= LEVEL


def put_features(plan, state, ws, first, deepest):
    """Give the free places of the pair that begins at candidate ``first`` the features that are nearest at
    the frames and speeds in ws.

    deepest   [m] down to which features that meet already are held where they are; 0 within a tick, and below
              0 where nothing is put, and how deep the solids are is all that is asked, if deeper than that; a
              capsule may be less deep.
    ws.guard1 is left with the gaps of features that meet, in their free places, inf of others, and ws.deep_by
    with how deep [m] the solids are in one another; ws.guard2 is scratch.  Returns the same where nothing
    holds that, else 0.
    """
    end = first + plan.edge_places[first]
    is_round = plan.row_length[first] > 0.0  # a capsule, which may be apart where no axis of these says so
    ws.deep_by[0] = 0.0
    for k in range(first, end):
        if deepest >= 0.0 and not is_kept(plan, state, ws, k, deepest):
            state.face[k], state.depth[k], ws.guard1[k] = 0, 0.0, math.inf
    if not view_hulls(plan, first, deepest, ws):
        return 0.0
    reach = ws.pair_view[BOUNDS, REACHES]
    enough = min(reach, deepest) if deepest < 0.0 else reach
    apart, side, face = look_along_faces(plan, first, OF_B, -math.inf, OF_B, 0, enough, ws)
    if apart > enough:
        return 0.0
    apart, side, face = look_along_faces(plan, first, OF_A, apart, side, face, enough, ws)
    if apart > enough:
        return 0.0
    near_a, near_b = list_near_edges(plan, first, apart, side, face, ws)
    if apart < 0.0:
        apart = cross_edges(plan, state, first, near_a, near_b, apart, False, ws)
    if deepest < 0.0:
        return 0.0 if apart > enough else -apart
    ws.deep_by[0] = 0.0 if is_round else max(-apart, 0.0)
    if apart < -GAP_DEEP:
        return ws.deep_by[0]
    if apart > reach:
        return 0.0
    if not is_round:
        meet_faces(plan, state, first, OF_B, min(apart, 0.0), ws)
        meet_faces(plan, state, first, OF_A, min(apart, 0.0), ws)
    near_a, near_b = drop_far_edges(plan, first, near_a, near_b, ws)
    cross_edges(plan, state, first, near_a, near_b, min(apart, 0.0), True, ws)
    for k in range(first, end):
        if not is_kept(plan, state, ws, k, deepest) and ws.guard1[k] < -GAP_HELD:
            state.depth[k] = ws.guard1[k]
    return 0.0


@kernel
def view_hulls(plan, first, deepest, ws):
    """Write ws.pair_view for a pair; False where it is too far apart to touch within the tick."""
    a, b = plan.row_a[first], plan.row_b[first]
    a0, a1, a2, a3, a4, a5, a6, a7, a8, x, y, z = shape_pose(a, plan.edge_pose[first], ws.X)
    b0, b1, b2, b3, b4, b5, b6, b7, b8, ox, oy, oz = surface_pose(plan, first, ws.X)
    view = ws.pair_view
    view[0, 0], view[0, 1], view[0, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, a0, a3, a6)
    view[1, 0], view[1, 1], view[1, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, a1, a4, a7)
    view[2, 0], view[2, 1], view[2, 2] = in_axes(b0, b1, b2, b3, b4, b5, b6, b7, b8, a2, a5, a8)
    view[MIDDLE, 0], view[MIDDLE, 1], view[MIDDLE, 2] = in_axes(
        b0, b1, b2, b3, b4, b5, b6, b7, b8, x - ox, y - oy, z - oz
    )
    ball_a, ball_b = plan.hull_ball[plan.hull_a[first]], plan.hull_ball[plan.hull_b[first]]
    cx, cy, cz = from_a(view, ball_a[0], ball_a[1], ball_a[2])
    cx, cy, cz = cx + view[MIDDLE, 0], cy + view[MIDDLE, 1], cz + view[MIDDLE, 2]
    radius = ball_a[3] + plan.row_length[first]
    size_a = math.sqrt(ball_a[0] ** 2 + ball_a[1] ** 2 + ball_a[2] ** 2) + radius
    size_b = math.sqrt(ball_b[0] ** 2 + ball_b[1] ** 2 + ball_b[2] ** 2) + ball_b[3]
    speed = fastest(a, x, y, z, size_a, ws) + fastest(b, ox, oy, oz, size_b, ws)
    reach = max(REACH + 2.0 * plan.tick_s * speed, ws.reach[0])
    cx, cy, cz = cx - ball_b[0], cy - ball_b[1], cz - ball_b[2]
    if cx * cx + cy * cy + cz * cz > (radius + ball_b[3] + reach) ** 2:
        return False
    view[FACE, 0] = view[FACE, 1] = view[FACE, 2] = 0.0
    turns = turning(a, ws) + turning(b, ws)
    if ws.reach[0] > 0.0:  # what is struck within a time step may turn so fast
        turns += speed / min(radius, ball_b[3])
    view[BOUNDS, LEANS] = TURNS * plan.tick_s * turns
    view[BOUNDS, REACHES], view[BOUNDS, DEEPEST] = reach, deepest
    return True


@inlined
def from_a(view, x, y, z):
    """A direction in the axes of A in those of B."""
    return (
        view[0, 0] * x + view[1, 0] * y + view[2, 0] * z,
        view[0, 1] * x + view[1, 1] * y + view[2, 1] * z,
        view[0, 2] * x + view[1, 2] * y + view[2, 2] * z,
    )


@inlined
def from_b(view, x, y, z):
    """A direction in the axes of B in those of A."""
    return (
        view[0, 0] * x + view[0, 1] * y + view[0, 2] * z,
        view[1, 0] * x + view[1, 1] * y + view[1, 2] * z,
        view[2, 0] * x + view[2, 1] * y + view[2, 2] * z,
    )


@inlined
def hulls_of(plan, first, side):
    """The hull with the faces, and the other one, of a pair."""
    if side == OF_B:
        return plan.hull_b[first], plan.hull_a[first]
    return plan.hull_a[first], plan.hull_b[first]


@inlined
def seen_by_other(plan, face, side, view):
    """The plane of a face in the axes of the other hull: its normal, and the product with a point of it."""
    n = plan.hull_face[face]
    if side == OF_B:
        x, y, z = from_b(view, n[0], n[1], n[2])
        return x, y, z, n[3] - n[0] * view[MIDDLE, 0] - n[1] * view[MIDDLE, 1] - n[2] * view[MIDDLE, 2]
    x, y, z = from_a(view, n[0], n[1], n[2])
    return x, y, z, n[3] + x * view[MIDDLE, 0] + y * view[MIDDLE, 1] + z * view[MIDDLE, 2]


@kernel
def nearest_vertex(plan, hull, x, y, z):
    """The vertex of a hull that is least far along a direction in its axes, and how far [m]."""
    least, at = math.inf, 0
    for v in range(plan.hull_corners[hull], plan.hull_corners[hull + 1]):
        p = plan.hull_vertex[v]
        along = x * p[0] + y * p[1] + z * p[2]
        if along < least:
            least, at = along, v
    return least, at


@kernel
def first_guess(plan, hull, other, side, view):
    """A vertex of the other hull that is near to a hull: the one farthest towards the middle of its ball."""
    p, q = plan.hull_ball[hull], plan.hull_ball[other]
    mx, my, mz = view[MIDDLE, 0], view[MIDDLE, 1], view[MIDDLE, 2]
    if side == OF_B:
        x, y, z = from_b(view, p[0] - mx, p[1] - my, p[2] - mz)
    else:
        x, y, z = from_a(view, p[0], p[1], p[2])
        x, y, z = x + mx, y + my, z + mz
    return nearest_vertex(plan, other, q[0] - x, q[1] - y, q[2] - z)[1]


@kernel
def look_along_faces(plan, first, side, apart, best_side, best, enough, ws):
    """How far apart [m] a pair is along the normals of the faces of one hull, to ws.hull_apart, and in all.

    Of a face that is deep below one vertex of the other, that is said, which is no less.  Returns the
    largest, with the side and the face it is of; the arguments, where none is larger; and the first that is
    more than ``enough`` [m].
    """
    view, reach = ws.pair_view, ws.pair_view[BOUNDS, REACHES]
    hull, other = hulls_of(plan, first, side)
    radius = plan.row_length[first]
    deep = first_guess(plan, hull, other, side, view)
    start = plan.hull_faces[hull]
    for face in range(start, plan.hull_faces[hull + 1]):
        x, y, z, level = seen_by_other(plan, face, side, view)
        p = plan.hull_vertex[deep]
        level += radius
        gap = x * p[0] + y * p[1] + z * p[2] - level
        if gap >= -reach or gap >= apart - LEVEL:
            gap, at = nearest_vertex(plan, other, x, y, z)
            gap -= level
            if gap > apart:
                apart, best_side, best, deep = gap, side, face, at
            if abs(gap) <= LEVEL:
                touch_along(plan, face, side, view)
        ws.hull_apart[side * HULL + face - start] = gap
        if apart > enough:
            break
    return apart, best_side, best


@inlined
def touch_along(plan, face, side, view):
    """Note the normal of a face along which both are less than LEVEL apart, in the axes of B."""
    n = plan.hull_face[face]
    if side == OF_B:
        view[FACE, 0], view[FACE, 1], view[FACE, 2] = n[0], n[1], n[2]
    else:
        view[FACE, 0], view[FACE, 1], view[FACE, 2] = from_a(view, n[0], n[1], n[2])


@kernel
def meet_faces(plan, state, first, side, least, ws):
    """Offer the vertices that may meet faces of one hull.

    least   [m] how far apart the pair is, at most 0.
    """
    view, reach = ws.pair_view, ws.pair_view[BOUNDS, REACHES]
    hull, other = hulls_of(plan, first, side)
    start, corners = plan.hull_faces[hull], plan.hull_corners[other]
    kind = pairs.VERTEX_OF_A if side == OF_B else pairs.VERTEX_OF_B
    for face in range(start, plan.hull_faces[hull + 1]):
        if ws.hull_apart[side * HULL + face - start] < min(-reach, least - LEVEL):
            continue
        x, y, z, level = seen_by_other(plan, face, side, view)
        for v in range(corners, plan.hull_corners[other + 1]):
            p = plan.hull_vertex[v]
            height = x * p[0] + y * p[1] + z * p[2] - level
            if height > reach or not opens_upwards(plan, v, x, y, z, view[BOUNDS, LEANS] + LEAN_VERTEX):
                continue
            past = past_face(plan, face, side, p, view) - EDGE
            if past <= reach and is_not_below(height, past, least, view):
                offer(
                    plan,
                    state,
                    first,
                    pairs.feature_number(kind, v - corners, face - start),
                    height,
                    past,
                    past,
                    ws,
                )


@inlined
def is_not_below(phi, past, least, view):
    """True where features may meet with this gap, so far past an end, of a pair ``least`` apart [m]."""
    if past > 0.0:
        return phi >= -STEEPEST * past
    return phi >= max(least - LEVEL, -max(view[BOUNDS, DEEPEST], GAP_HELD))


@kernel
def opens_upwards(plan, vertex, x, y, z, lean):
    """True where all edges of a vertex rise along a direction, or fall by no more than ``lean`` (a sine)."""
    p = plan.hull_vertex[vertex]
    for i in range(plan.hull_neighbour_start[vertex], plan.hull_neighbour_start[vertex + 1]):
        q = plan.hull_vertex[plan.hull_neighbour[i]]
        ex, ey, ez = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        rise = x * ex + y * ey + z * ez
        if rise < 0.0 and rise * rise > lean * lean * (ex * ex + ey * ey + ez * ez):
            return False
    return True


@kernel
def past_face(plan, face, side, p, view):
    """How far a point of the other hull, in its axes, is past the border of a face [m]."""
    if side == OF_B:
        x, y, z = from_a(view, p[0], p[1], p[2])
        return past_border(plan, face, x + view[MIDDLE, 0], y + view[MIDDLE, 1], z + view[MIDDLE, 2])
    x, y, z = from_b(view, p[0] - view[MIDDLE, 0], p[1] - view[MIDDLE, 1], p[2] - view[MIDDLE, 2])
    return past_border(plan, face, x, y, z)


@kernel
def list_near_edges(plan, first, apart, side, face, ws):
    """List the edges of both hulls that are within reach of the other along the normal of a face, along which
    they are ``apart`` [m]; return how many of A and of B."""
    view, reach = ws.pair_view, ws.pair_view[BOUNDS, REACHES]
    n = plan.hull_face[face]
    if side == OF_B:
        nx, ny, nz = n[0], n[1], n[2]
        of_a = n[3] + apart
    else:
        nx, ny, nz = from_a(view, -n[0], -n[1], -n[2])
        of_a = -n[3] + nx * view[MIDDLE, 0] + ny * view[MIDDLE, 1] + nz * view[MIDDLE, 2]
    of_b = of_a - apart  # A begins, and B ends, there along n
    radius = plan.row_length[first]
    a, b, near_a, near_b = plan.hull_a[first], plan.hull_b[first], 0, 0
    for edge in range(plan.hull_edges[b], plan.hull_edges[b + 1]):
        e = plan.hull_edge[edge]
        high = nx * e[0] + ny * e[1] + nz * e[2] + e[6] * abs(nx * e[3] + ny * e[4] + nz * e[5])
        if high >= of_a - reach:
            ws.hull_near[HULL + near_b] = edge
            near_b += 1
    of_b -= nx * view[MIDDLE, 0] + ny * view[MIDDLE, 1] + nz * view[MIDDLE, 2]
    nx, ny, nz = from_b(view, nx, ny, nz)
    for edge in range(plan.hull_edges[a], plan.hull_edges[a + 1]):
        e = plan.hull_edge[edge]
        low = nx * e[0] + ny * e[1] + nz * e[2] - e[6] * abs(nx * e[3] + ny * e[4] + nz * e[5])
        if low <= of_b + reach + radius:
            ws.hull_near[near_a] = edge
            near_a += 1
    return near_a, near_b


@kernel
def drop_far_edges(plan, first, near_a, near_b, ws):
    """Leave out of the edges listed those that are not within reach of the ball that holds the other hull;
    return how many are left.

    Along such an edge the hulls may be apart, but not meet.
    """
    view, reach = ws.pair_view, ws.pair_view[BOUNDS, REACHES] + plan.row_length[first]
    ball_a, ball_b = plan.hull_ball[plan.hull_a[first]], plan.hull_ball[plan.hull_b[first]]
    mx, my, mz = view[MIDDLE, 0], view[MIDDLE, 1], view[MIDDLE, 2]
    x, y, z = from_b(view, ball_b[0] - mx, ball_b[1] - my, ball_b[2] - mz)
    left_a = left_b = 0
    for i in range(near_a):
        edge = ws.hull_near[i]
        if not is_edge_far(plan.hull_edge[edge], x, y, z, ball_b[3] + reach):
            ws.hull_near[left_a] = edge
            left_a += 1
    x, y, z = from_a(view, ball_a[0], ball_a[1], ball_a[2])
    for i in range(HULL, HULL + near_b):
        edge = ws.hull_near[i]
        if not is_edge_far(plan.hull_edge[edge], x + mx, y + my, z + mz, ball_a[3] + reach):
            ws.hull_near[HULL + left_b] = edge
            left_b += 1
    return left_a, left_b


@inlined
def is_edge_far(e, x, y, z, size):
    """Whether an edge, as in plan.hull_edge, is farther [m] than this from a place in its axes."""
    x, y, z = x - e[0], y - e[1], z - e[2]
    along = max(-e[6], min(e[6], x * e[3] + y * e[4] + z * e[5]))
    x, y, z = x - along * e[3], y - along * e[4], z - along * e[5]
    return x * x + y * y + z * z > size * size


@kernel
def cross_edges(plan, state, first, near_a, near_b, apart, offers, ws):
    """Look at the edges listed, each of A across each of B.

    Without ``offers`` return how far apart [m] the pair is along directions across two edges, or ``apart`` if
    that is more; with them, offer the edges that may meet of a pair that is so far apart.
    """
    view, reach = ws.pair_view, ws.pair_view[BOUNDS, REACHES]
    radius = plan.row_length[first]
    for i in range(near_a):
        e = plan.hull_edge[ws.hull_near[i]]
        px, py, pz = from_a(view, e[0], e[1], e[2])
        px, py, pz = px + view[MIDDLE, 0], py + view[MIDDLE, 1], pz + view[MIDDLE, 2]
        ax, ay, az = from_a(view, e[3], e[4], e[5])
        fx, fy, fz = from_a(view, e[7], e[8], e[9])
        gx, gy, gz = from_a(view, e[10], e[11], e[12])
        for j in range(HULL, HULL + near_b):
            d = plan.hull_edge[ws.hull_near[j]]
            x, y, z = px - d[0], py - d[1], pz - d[2]
            if offers and x * x + y * y + z * z > (e[6] + d[6] + radius + 2.0 * reach) ** 2:
                continue
            bx, by, bz = d[3], d[4], d[5]
            nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            square = nx * nx + ny * ny + nz * nz
            if square < ACROSS:
                continue
            size = math.sqrt(square)
            lean, lean_over = leans_of(view, size, ws.reach[0] > 0.0) if offers else (STRICT, STRICT)
            out = (
                nx * (fx + gx - d[7] - d[10]) + ny * (fy + gy - d[8] - d[11]) + nz * (fz + gz - d[9] - d[12])
            )
            sign = math.copysign(1.0, out)
            nx, ny, nz = sign * nx, sign * ny, sign * nz
            least = min(nx * fx + ny * fy + nz * fz, nx * gx + ny * gy + nz * gz)
            most = max(nx * d[7] + ny * d[8] + nz * d[9], nx * d[10] + ny * d[11] + nz * d[12])
            if least < -lean_over * size or most > lean_over * size:  # nearly all
                continue
            inner = least < -lean * size or most > lean * size
            nx, ny, nz, size = nx / size, ny / size, nz / size, sign * size
            phi = nx * x + ny * y + nz * z - radius
            if not offers:
                apart = max(apart, phi)
            elif phi <= reach:
                wx, wy, wz = size * nx, size * ny, size * nz
                s = -cross_dot(x, y, z, bx, by, bz, wx, wy, wz) / square
                t = -cross_dot(x, y, z, ax, ay, az, wx, wy, wz) / square
                past = max(abs(s) - e[13], abs(t) - d[13]) + INSET
                askew = abs(past) < LEVEL and leans(view, nx, ny, nz)
                if askew and is_steep(view, nx, ny, nz):
                    if abs(t) - d[13] > abs(s) - e[13]:  # an end of the edge of B beside that of A
                        t = math.copysign(d[6], t)
                        x, y, z = t * bx - x, t * by - y, t * bz - z
                        askew = past_line(view, x, y, z, fx, fy, fz, gx, gy, gz) <= INSET
                    else:
                        s = math.copysign(e[6], s)
                        x, y, z = s * ax + x, s * ay + y, s * az + z
                        askew = past_line(view, x, y, z, d[7], d[8], d[9], d[10], d[11], d[12]) <= INSET
                way = past * abs(size)  # the less they are askew the faster runs the place where they cross
                if inner and (past > 0.0 or phi < 0.0):
                    continue
                if way <= reach and not askew and is_not_below(phi, past, apart, view):
                    of_a = ws.hull_near[i] - plan.hull_edges[plan.hull_a[first]]
                    of_b = ws.hull_near[j] - plan.hull_edges[plan.hull_b[first]]
                    offer(
                        plan, state, first, pairs.feature_number(pairs.ACROSS, of_a, of_b), phi, past, way, ws
                    )
    return apart


@inlined
def leans(view, nx, ny, nz):
    """True where the pair touches along the normal of a face, and n is another: an edge that ends at this
    face is beside the other hull, and rounding alone would say that they cross, unless its end is past the
    border and n is steep."""
    fx, fy, fz = view[FACE, 0], view[FACE, 1], view[FACE, 2]
    touches = fx != 0.0 or fy != 0.0 or fz != 0.0
    return touches and abs(nx * fx + ny * fy + nz * fz) < UPRIGHT


@inlined
def is_steep(view, nx, ny, nz):
    """True where n is far from a direction along the face by which the pair touches."""
    return abs(nx * view[FACE, 0] + ny * view[FACE, 1] + nz * view[FACE, 2]) > STEEP


@inlined
def past_line(view, x, y, z, fx, fy, fz, gx, gy, gz):
    """How far a place, seen from a point of an edge, is past this edge [m], out of the face of its hull by
    which the pair touches; less than anything where the edge has no such face.

    f, g   directions from the edge into its faces.
    """
    along_f = abs(fx * view[FACE, 0] + fy * view[FACE, 1] + fz * view[FACE, 2])
    along_g = abs(gx * view[FACE, 0] + gy * view[FACE, 1] + gz * view[FACE, 2])
    if min(along_f, along_g) > IN_FACE:
        return -math.inf
    return -(fx * x + fy * y + fz * z) if along_f < along_g else -(gx * x + gy * y + gz * z)


@kernel
def offer(plan, state, first, number, phi, past, way, ws):
    """Put features with this gap, so far past an end, into a free place, or that of the farthest ones.

    way   [m] that the solids move until the features are no more past the end.
    """
    far, soon = max(phi, 0.0) + max(past, 0.0), max(phi, 0.0) + max(way, 0.0)
    worst, least_use = -1, far + NEARER
    for k in range(first, first + plan.edge_places[first]):
        if is_kept(plan, state, ws, k, ws.pair_view[BOUNDS, DEEPEST]):
            if state.face[k] == EDGE_PAIR + number:
                return
        else:
            use = SURELY_OUT if state.face[k] == 0 else ws.guard2[k]
            if use > least_use:
                worst, least_use = k, use
    note_left_over(state, ws, worst, soon)
    if worst >= 0:
        ws.soon[worst] = soon
        state.face[worst] = EDGE_PAIR + number
        ws.guard1[worst], ws.guard2[worst] = phi if past <= 0.0 else math.inf, far
