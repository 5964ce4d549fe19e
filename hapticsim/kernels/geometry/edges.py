"""Where the row of a contact on a box or a capsule ends, or bends: at edges of faces, and at ends.

A corner is let go at the edge of its face, and what touches a side alone at its end.  A sphere goes on, but
from a face to an edge, or from the side of a capsule to its end, its row changes curvature, and no step of an
integrator may reach across that: the piece ends there.  All are margins [m], positive as long as the row is
what it was when the piece began.
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_BOX, ON_CONE, ON_CYLINDER, ON_ELLIPSOID, ON_MESH, ON_PLANE, ON_RIM
from hapticsim.kernels.geometry.contact import centre_in_box, face_of, has_ends, is_corner_on_box, past_side
from hapticsim.kernels.geometry.corner import EDGE, beyond, past_edge
from hapticsim.kernels.geometry.cylinder import part_of_cone, within_part
from hapticsim.kernels.geometry.mesh.contact import past_region
from hapticsim.kernels.machine_code.jit import inlined

BEND = 1e-10  # [m] a piece ends this far past the bend, so that the next one starts beyond it
# The same on a mesh, of the radius r of the sphere, and at most [m]: x past it a step is off by x^2 / 2 r,
# 5e-15 m on 10 mm, and the velocity by an angle x / r, which takes half of its square, 5e-13, of the energy.
PAST, MOST_PAST = 1e-6, 1e-7


@inlined
def past_border(plan, k):
    """How far past the border of a feature of a mesh a piece is to end [m]; up to twice as far is good."""
    return min(PAST * plan.row_length[k], MOST_PAST)


@inlined
def overhang(plan, state, k, X):
    """How far a corner on a box is past the edge of the face that holds it [m], negative over the face."""
    x, y, z = centre_in_box(plan, k, X)
    half = plan.surface_half[k]
    return past_edge(face_of(plan, state, k, X), x, y, z, half[0], half[1], half[2])


@inlined
def is_lost(plan, state, k, X):
    """True when a corner in contact has slid past the edge of its face, or what touches a side past it.

    Of a sphere on a mesh: where ``follow_meshes`` found nothing that holds it from here on.
    """
    if has_ends(plan, k):
        return past_side(plan, state, k, X) > 0.5 * EDGE
    if plan.surface_kind[k] == ON_MESH:
        return past_region(plan, state, k, X) > 0.5 * BEND
    return is_corner_on_box(plan, k) and overhang(plan, state, k, X) > 0.5 * EDGE


@inlined
def feature(plan, k, X):
    """The part of a surface that candidate k is nearest to: one bit for every axis in which it is outside.

    Of a capsule the half extents are those of its segment: past an end it is outside in z.  Around a cylinder
    the first bit is that of the distance from the axis.  Of a cone it is the number of a part (cylinder.py).
    """
    kind = plan.surface_kind[k]
    if kind == ON_PLANE or kind == ON_MESH or ON_RIM <= kind <= ON_ELLIPSOID or has_ends(plan, k):
        return 0
    x, y, z = centre_in_box(plan, k, X)
    half = plan.surface_half[k]
    if plan.surface_kind[k] == ON_CYLINDER:
        return int(math.hypot(x, y) > half[0]) + 4 * int(beyond(z, half[2]) > 0.0)
    if plan.surface_kind[k] == ON_CONE:
        return part_of_cone(x, y, z, half[0], half[2])
    if plan.surface_kind[k] != ON_BOX:
        return 4 * int(beyond(z, half[2]) > 0.0)
    return (
        int(beyond(x, half[0]) > 0.0) + 2 * int(beyond(y, half[1]) > 0.0) + 4 * int(beyond(z, half[2]) > 0.0)
    )


@inlined
def within(part, bit, distance):
    """Distance [m] that is left on this side of a face's plane."""
    return distance if part & bit else -distance


@inlined
def margin(plan, state, k, part, X):
    """What is left until the row of candidate k, on this part of a box when the piece began, changes [m]."""
    if plan.surface_kind[k] == ON_PLANE or ON_RIM <= plan.surface_kind[k] <= ON_ELLIPSOID:
        return math.inf
    if has_ends(plan, k):
        return EDGE - past_side(plan, state, k, X)
    if plan.surface_kind[k] == ON_MESH:
        return BEND - past_region(plan, state, k, X)
    if is_corner_on_box(plan, k):
        return EDGE - overhang(plan, state, k, X)
    x, y, z = centre_in_box(plan, k, X)
    half = plan.surface_half[k]
    if plan.surface_kind[k] == ON_CYLINDER:
        left = within(part, 1, math.hypot(x, y) - half[0])
        return BEND + min(left, within(part, 4, beyond(z, half[2])))
    if plan.surface_kind[k] == ON_CONE:
        return BEND + within_part(part, x, y, z, half[0], half[2])
    if plan.surface_kind[k] != ON_BOX:
        return BEND + within(part, 4, beyond(z, half[2])) if half[2] > 0.0 else math.inf
    left = min(within(part, 1, beyond(x, half[0])), within(part, 2, beyond(y, half[1])))
    return BEND + min(left, within(part, 4, beyond(z, half[2])))
