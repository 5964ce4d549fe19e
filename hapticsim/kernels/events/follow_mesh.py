"""From one feature of a mesh to the next, while a sphere in contact moves over it.

The distance from the surface has one slope on both sides of the border between two regions, and another
curvature, so that the piece ends there (edges.py); here the contact goes over to the region that the sphere
has come into.  It is the one whose normal is nearest to that of the feature left: across a hollow the normal
would turn at once, and the sphere touches the other side before it gets there.
"""

from __future__ import annotations

from hapticsim.kernels.geometry.mesh_contact import past_region
from hapticsim.kernels.geometry.mesh_features import edge_number, ends_of, from_feature, region_margin
from hapticsim.kernels.geometry.mesh_search import MESH_FEATURE, centre_in_mesh, first_place, is_on_mesh
from hapticsim.kernels.machine_code.jit import kernel

CAME_IN = -1e-14  # [m] by which rounding may say that a point is beside every region
TURNED = 1e-8  # square of the angle by which the normal may turn at once


def follow_all(plan, state, X):
    """Give every place that has left the region of its feature the feature that it has come to."""
    for k in range(plan.contacts):
        if is_on_mesh(plan, k) and state.face[k] >= MESH_FEATURE and past_region(plan, state, k, X) > 0.0:
            follow(plan, state, k, X)


@kernel
def follow(plan, state, k, X):
    """The same of place k; it keeps its feature where none beside it is fit, or another place holds that."""
    faces = plan.mesh_normal.shape[0]
    feature = state.face[k] - MESH_FEATURE
    x, y, z = centre_in_mesh(plan, k, X)
    _, nx, ny, nz = from_feature(plan, feature, x, y, z)
    least, found = TURNED, -1
    if feature < faces:
        for i in range(3):
            v = plan.mesh_triangle[3 * feature + i]
            least, found = nearest_normal(plan, v, x, y, z, nx, ny, nz, least, found)
    elif feature < 4 * faces:
        a, b = ends_of(plan, feature - faces)
        least, found = nearest_normal(plan, a, x, y, z, nx, ny, nz, least, found)
        least, found = nearest_normal(plan, b, x, y, z, nx, ny, nz, least, found)
    else:
        least, found = nearest_normal(plan, feature - 4 * faces, x, y, z, nx, ny, nz, least, found)
    if found < 0:
        return
    first = first_place(plan, k)
    for other in range(first, first + plan.edge_places[first]):
        if other != k and state.face[other] == MESH_FEATURE + found:
            return
    state.face[k] = MESH_FEATURE + found


@kernel
def nearest_normal(plan, v, x, y, z, nx, ny, nz, least, found):
    """The feature around vertex v over which a point lies, with the normal nearest to n: the square of the
    difference, and its number; ``least`` and ``found`` where none is nearer."""
    faces = plan.mesh_normal.shape[0]
    least, found = try_feature(plan, 4 * faces + v, x, y, z, nx, ny, nz, least, found)
    for i in range(plan.mesh_ring_start[v], plan.mesh_ring_start[v + 1]):
        t = plan.mesh_ring[i] // 3
        least, found = try_feature(plan, t, x, y, z, nx, ny, nz, least, found)
        for j in range(3):
            edge = faces + edge_number(plan, 3 * t + j)
            least, found = try_feature(plan, edge, x, y, z, nx, ny, nz, least, found)
            corner = 4 * faces + plan.mesh_triangle[3 * t + j]
            least, found = try_feature(plan, corner, x, y, z, nx, ny, nz, least, found)
    return least, found


@kernel
def try_feature(plan, feature, x, y, z, nx, ny, nz, least, found):
    """The same for one feature."""
    distance, mx, my, mz = from_feature(plan, feature, x, y, z)
    turn = (mx - nx) ** 2 + (my - ny) ** 2 + (mz - nz) ** 2
    if distance > 0.0 and turn < least and region_margin(plan, feature, x, y, z) >= CAME_IN:
        return turn, feature
    return least, found
