"""Which feature of a mesh a sphere is about to touch: a walk down a tree of boxes around its triangles.

A pair of a sphere and a mesh has a few candidates, its places.  A place that holds keeps its feature in
State.face, as MESH_FEATURE + its number.  The first place that is free looks for the next feature: where
nothing is held the nearest one, else the nearest whose distance is a local minimum, and that touches in
another direction than what is held.  The places after it have no gap.

The tree is complete: node i has the children 2 i and 2 i + 1, the root is 1, and the triangles of a leaf
stand side by side.  So the way back is kept in the bits of one number: bit l says that the other child l
levels up was not looked into yet.

A box that lies askew is as thick as it is wide, and a sphere that touches comes near to many of them.  What
small boxes hold also lies in a slab across a normal, which is next to nothing thick where the surface is
smooth: by height and way to the side together few leaves are looked into.
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_MESH
from hapticsim.kernels.geometry.mesh.features import from_feature, nearest_of_triangle, region_margin
from hapticsim.kernels.geometry.point import place, surface_pose
from hapticsim.kernels.machine_code.jit import inlined, kernel

MESH_FEATURE = 16  # State.face of the feature 0
BEYOND = 2e-5  # [m] farther than this from the sphere nothing is looked for beside what is held, in the
# exact regime
SAME = 1e-16  # square of the angle between two normals below which they are one contact
MOST_LEAVES = 4096  # looked into at most; a sphere that fits into its mould is as near to all triangles
NO_FEATURE = -1
SLACK = 1e-9  # [m] by which a bound of a distance is taken to be less: of rounding it has 1e-13 at 1000 m


@inlined
def is_on_mesh(plan, k):
    """True when block k is a place of a sphere on a mesh."""
    return k < plan.contacts and plan.surface_kind[k] == ON_MESH


@inlined
def has_mesh(plan):
    """True in a scene with a mesh that may be touched."""
    return plan.mesh_normal.shape[0] > 0


@inlined
def first_place(plan, k):
    """The first place of the pair of candidate k."""
    while plan.edge_places[k] == 0:
        k -= 1
    return k


@kernel
def is_waiting(plan, state, k):
    """True for a place behind another one that holds nothing."""
    first = first_place(plan, k)
    for other in range(first, k):
        if state.face[other] < MESH_FEATURE:
            return True
    return False


@inlined
def is_first_alone(plan, state, k, first):
    """True where no other place of the pair holds a feature."""
    for other in range(first, first + plan.edge_places[first]):
        if other != k and state.face[other] >= MESH_FEATURE:
            return False
    return True


@inlined
def centre_in_mesh(plan, k, X):
    """Centre of the sphere of candidate k in the axes of its mesh, three scalars."""
    cx, cy, cz = place(plan.row_a[k], plan.row_point_a[k], X)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, ox, oy, oz = surface_pose(plan, k, X)
    x, y, z = cx - ox, cy - oy, cz - oz
    return r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z


@inlined
def square_from_box(box, x, y, z):
    """Square of the distance of a point from a box [m^2], 0 inside."""
    dx = max(max(box[0] - x, x - box[3]), 0.0)
    dy = max(max(box[1] - y, y - box[4]), 0.0)
    dz = max(max(box[2] - z, z - box[5]), 0.0)
    return dx * dx + dy * dy + dz * dz


@kernel
def is_surely_beyond(box, n, x, y, z, least):
    """True where all in a box is farther from a point than the square ``least`` [m^2].

    n   the normal along which the last two numbers of the box are heights.
    """
    dx, dy, dz = x - 0.5 * (box[0] + box[3]), y - 0.5 * (box[1] + box[4]), z - 0.5 * (box[2] + box[5])
    ex, ey, ez = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    height = n[0] * x + n[1] * y + n[2] * z
    up = max(max(box[6] - height, height - box[7]) - SLACK, 0.0)
    lean = n[0] * dx + n[1] * dy + n[2] * dz
    side = math.sqrt(max(dx * dx + dy * dy + dz * dz - lean * lean, 0.0))
    aside = max(side - 0.5 * math.sqrt(ex * ex + ey * ey + ez * ez) - SLACK, 0.0)
    return up * up + aside * aside > least


@kernel
def is_another_contact(plan, state, k, first, feature, x, y, z):
    """True where a feature faces the point, at a local minimum of its distance, and no place holds it, or one
    with the same normal."""
    for other in range(first, first + plan.edge_places[first]):
        if other != k and state.face[other] == MESH_FEATURE + feature:
            return False
    distance, nx, ny, nz = from_feature(plan, feature, x, y, z)
    if distance <= 0.0 or region_margin(plan, feature, x, y, z) < 0.0:
        return False
    for other in range(first, first + plan.edge_places[first]):
        if other != k and state.face[other] >= MESH_FEATURE:
            held = state.face[other] - MESH_FEATURE
            _, mx, my, mz = from_feature(plan, held, x, y, z)
            if (nx - mx) ** 2 + (ny - my) ** 2 + (nz - mz) ** 2 < SAME:
                return False
    return True


@kernel
def next_leaf(plan, k, x, y, z, least, node, pending, leaves_in):
    """The next leaf on the way down the tree that may hold something no farther than the square ``least``.

    node, pending, leaves_in   the leaf before, the way back from there, and how many leaves a node so deep
    has: 0, 0 and 0 at first.
    Returns the same of the next leaf; node 0 where there is none.
    """
    root, leaves = plan.mesh_root[k], plan.mesh_leaves[k]
    start, count = plan.mesh_first[k], plan.mesh_count[k]
    goes_back = node > 0
    square = 0.0
    if not goes_back:
        node, leaves_in = 1, leaves
        square = square_from_box(plan.mesh_box[root + 1], x, y, z)
    while True:
        if goes_back:
            if pending == 0:
                return 0, 0, 0
            while pending & 1 == 0:
                node, leaves_in, pending = node // 2, 2 * leaves_in, pending // 2
            node ^= 1
            pending ^= 1
            square = square_from_box(plan.mesh_box[root + node], x, y, z)
        goes_back = True
        if square <= least:
            box = plan.mesh_box[root + node]
            if box[6] < math.inf:
                first_in, end_in = triangles_in(node, leaves_in, leaves, count)
                middle = start + first_in + (end_in - first_in) // 2
                if is_surely_beyond(box, plan.mesh_normal[middle], x, y, z, least):
                    continue
            if node >= leaves:
                return node, pending, leaves_in
            node, leaves_in, pending = 2 * node, leaves_in // 2, 2 * pending + 1
            square = square_from_box(plan.mesh_box[root + node], x, y, z)
            other = square_from_box(plan.mesh_box[root + node + 1], x, y, z)
            if other < square:
                node, square = node + 1, other
            goes_back = False


@inlined
def triangles_in(node, leaves_in, leaves, count):
    """The first place of what a node of the tree holds, and the place after it."""
    return (node * leaves_in - leaves) * count // leaves, ((node + 1) * leaves_in - leaves) * count // leaves


def find_feature(plan, state, k, X, beyond):
    """The feature that place k, which holds none, is about to touch, or NO_FEATURE.

    beyond   [m] from the sphere, farther than which nothing is looked for beside what is held.
    Of two that are equally near the one of the smaller number.
    """
    x, y, z = centre_in_mesh(plan, k, X)
    first = first_place(plan, k)
    alone = is_first_alone(plan, state, k, first)
    found = NO_FEATURE
    least = math.inf if alone else (plan.row_length[k] + beyond) ** 2
    leaves, start, count = plan.mesh_leaves[k], plan.mesh_first[k], plan.mesh_count[k]
    node, pending, leaves_in = 0, 0, 0
    for _ in range(MOST_LEAVES):
        node, pending, leaves_in = next_leaf(plan, k, x, y, z, least, node, pending, leaves_in)
        if node == 0:
            break
        first_in, end_in = triangles_in(node, leaves_in, leaves, count)
        for i in range(start + first_in, start + end_in):
            feature, nearest = nearest_of_triangle(plan, i, x, y, z, least)
            is_nearer = nearest < least or (nearest == least and feature < found)
            if is_nearer and (alone or is_another_contact(plan, state, k, first, feature, x, y, z)):
                found, least = feature, nearest
    return found
