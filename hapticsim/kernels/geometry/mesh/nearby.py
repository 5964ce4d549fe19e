"""The triangles of a mesh near a sphere: found once, looked through while the sphere moves a little.

A tick that passes a few triangles asks some twenty times what a sphere touches next, each time a hair's
breadth from the last.  So all triangles within some reach of its centre are listed, copied side by side: the
tables of a large mesh are mostly not in the cache.  As long as what is found is nearer than that reach, less
how far the centre has moved, nothing outside the list can be nearer.  What is found is that of
``mesh.search.find_feature``, whichever list it was: a tick taken again from another workspace has the same
bits.  Where more triangles are near than a list holds, the tree is searched.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.mesh.features import (
    feature_of_part,
    from_feature,
    nearest_of_triangle,
    nearest_part,
)
from hapticsim.kernels.geometry.mesh.search import (
    BEYOND,
    MESH_FEATURE,
    NO_FEATURE,
    SLACK,
    centre_in_mesh,
    first_place,
    is_another_contact,
    is_first_alone,
    is_waiting,
    next_leaf,
    triangles_in,
)
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import AROUND
from hapticsim.kernels.units import next_feature

NOWHERE = 1e3  # [m] gap of a place that waits
FARTHEST, NEAREST = (
    0.1,
    1e-3,
)  # of the radius of the sphere, by which a list reaches farther than is looked for
SOON = 0.1  # of the radius: where nothing is held, and nothing nearer than this, there is no list


def look_nearby(plan, state, ws, k):
    """The feature that place k holds, or is about to touch at the frames in ws, and the gap to it [m]:
    ``mesh.contact.mesh_witness``."""
    x, y, z = centre_in_mesh(plan, k, ws.X)
    feature = state.face[k] - MESH_FEATURE
    if feature < 0:
        if is_waiting(plan, state, k):
            return NO_FEATURE, NOWHERE
        feature = nearby_feature(plan, state, ws, k, x, y, z)
    if feature == NO_FEATURE:
        return feature, BEYOND
    return feature, from_feature(plan, feature, x, y, z)[0] - plan.row_length[k]


@inlined
def beyond(ws):
    """How far from the sphere features are looked for beside what is held [m]: in a time step all that may
    touch in it."""
    return max(BEYOND, ws.reach[0])


@kernel
def nearby_feature(plan, state, ws, k, x, y, z):
    """``mesh.search.find_feature`` of place k, whose centre is at (x, y, z) in its mesh."""
    first = first_place(plan, k)
    alone = is_first_alone(plan, state, k, first)
    if not alone:
        return look_for_feature(plan, state, ws, k, first, False, x, y, z)
    asked = ws.asked[first]
    if asked[3] < 0.0 and asked[0] == x and asked[1] == y and asked[2] == z:
        return -1 - int(asked[3])  # the nearest of all depends on nothing else
    found = look_for_feature(plan, state, ws, k, first, True, x, y, z)
    asked[0], asked[1], asked[2], asked[3] = x, y, z, -1.0 - found
    return found


@kernel
def look_for_feature(plan, state, ws, k, first, alone, x, y, z):
    """The same, by the list of the pair that begins at ``first``, or the tree."""
    found, distance = look_through(plan, state, ws, k, first, alone, x, y, z)
    if distance < math.inf:
        return found
    about = ws.around_place[first]
    moved = math.sqrt((x - about[0]) ** 2 + (y - about[1]) ** 2 + (z - about[2]) ** 2)
    if about[3] < 0.0 and moved <= -about[3]:  # there were too many a moment ago
        return next_feature(plan, state, k, ws.X, beyond(ws))
    within = plan.row_length[k] + beyond(ws)
    if alone:
        found = next_feature(plan, state, k, ws.X, beyond(ws))
        if found == NO_FEATURE:  # of a place that is no number, in a trial step that is refused
            return found
        within = abs(from_feature(plan, found, x, y, z)[0])
        if within > (1.0 + SOON) * plan.row_length[k]:
            return found
    make_list(plan, ws, k, first, x, y, z, within)
    if alone:
        return found
    found, distance = look_through(plan, state, ws, k, first, alone, x, y, z)
    return found if distance < math.inf else next_feature(plan, state, k, ws.X, beyond(ws))


@kernel
def look_through(plan, state, ws, k, first, alone, x, y, z):
    """What ``mesh.search.find_feature`` finds, and a distance [m] up to which there is nothing else; infinity
    where the list does not say.
    """
    about, listed, apart = ws.around_place[first], ws.around[first], ws.around_apart[first]
    moved = math.sqrt((x - about[0]) ** 2 + (y - about[1]) ** 2 + (z - about[2]) ** 2) + SLACK
    distance = math.inf if alone else plan.row_length[k] + beyond(ws)
    if not moved < about[3] or (not alone and distance + moved > about[3]):
        return NO_FEATURE, math.inf
    found, least = NO_FEATURE, distance * distance
    for i in range(ws.around_count[first]):
        if apart[i] - moved > distance:
            continue
        s = ws.around_shape[first, i]
        part, nearest = nearest_part(
            s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], x, y, z, least
        )
        if nearest > least:
            continue
        feature = feature_of_part(plan, listed[i], part)
        is_nearer = nearest < least or feature < found
        if is_nearer and (alone or is_another_contact(plan, state, k, first, feature, x, y, z)):
            found, least = feature, nearest
            distance = math.sqrt(least)
    return found, (distance if distance + moved <= about[3] else math.inf)


@kernel
def make_list(plan, ws, k, first, x, y, z, within):
    """List the triangles no farther than ``within`` [m] and some more from the centre of place k.

    How much more: as a list holds, by how many triangles the one before had.
    """
    size = plan.row_length[k]
    more = min(max(ws.around_more[first], NEAREST * size), FARTHEST * size)
    reach = within + more
    about, listed, apart = ws.around_place[first], ws.around[first], ws.around_apart[first]
    about[0], about[1], about[2], about[3] = x, y, z, reach
    leaves, start, count = plan.mesh_leaves[k], plan.mesh_first[k], plan.mesh_count[k]
    least, n = (reach + SLACK) ** 2, 0
    node, pending, leaves_in = next_leaf(plan, k, x, y, z, least, 0, 0, 0)
    while node > 0 and n <= AROUND:
        first_in, end_in = triangles_in(node, leaves_in, leaves, count)
        for i in range(start + first_in, start + end_in):
            _, square = nearest_of_triangle(plan, i, x, y, z, least)
            if square <= least and n <= AROUND:
                if n < AROUND:
                    listed[n], apart[n] = i, math.sqrt(square)
                    copy_triangle(plan, i, ws.around_shape[first, n])
                n += 1
        node, pending, leaves_in = next_leaf(plan, k, x, y, z, least, node, pending, leaves_in)
    ws.around_count[first] = n
    ws.around_more[first] = more
    if n > AROUND:
        ws.around_count[first], about[3] = 0, -more
        ws.around_more[first] = 0.25 * more
    elif 3 * n < AROUND:
        ws.around_more[first] = 2.0 * more


@inlined
def copy_triangle(plan, t, shape):
    """Write the corners and the normal of a triangle, twelve numbers."""
    for i in range(3):
        corner = plan.mesh_vertex[plan.mesh_triangle[3 * t + i]]
        shape[3 * i], shape[3 * i + 1], shape[3 * i + 2] = corner[0], corner[1], corner[2]
        shape[9 + i] = plan.mesh_normal[t, i]
