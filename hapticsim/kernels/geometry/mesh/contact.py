"""Gap of a sphere to a triangle mesh, and the constraint row that holds it on a face, an edge or a vertex.

With c the centre in the axes of the mesh the gap is the distance of the feature minus the radius; normal and
row are those of ``contact``, with the curvature around an edge or a vertex.
"""

from __future__ import annotations

from hapticsim.kernels.geometry.mesh.features import curvature_term, from_feature, region_margin
from hapticsim.kernels.geometry.mesh.nearby import NOWHERE
from hapticsim.kernels.geometry.mesh.search import (
    BEYOND,
    MESH_FEATURE,
    NO_FEATURE,
    centre_in_mesh,
    is_waiting,
)
from hapticsim.kernels.geometry.point import add_point_row, place, surface_pose
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.units import nearby, next_feature


@inlined
def feature_of(plan, state, k, X):
    """The feature that place k holds, or is about to touch; NO_FEATURE where it waits or none is near."""
    if state.face[k] >= MESH_FEATURE:
        return state.face[k] - MESH_FEATURE
    return NO_FEATURE if is_waiting(plan, state, k) else next_feature(plan, state, k, X, BEYOND)


@kernel
def mesh_witness(plan, state, k, X):
    """Gap [m], normal out of the mesh (world), centre of the sphere (world), and the feature."""
    return witness_of(plan, state, k, feature_of(plan, state, k, X), X)


@kernel
def nearby_witness(plan, state, k, ws):
    """The same at the frames in ws, quicker."""
    feature = state.face[k] - MESH_FEATURE
    if feature < 0:
        feature = nearby(plan, state, ws, k)[0]
    return witness_of(plan, state, k, feature, ws.X)


@kernel
def witness_of(plan, state, k, feature, X):
    """The same of a feature that is known."""
    cx, cy, cz = place(plan.row_a[k], plan.row_point_a[k], X)
    if feature == NO_FEATURE:
        gap = NOWHERE if is_waiting(plan, state, k) else BEYOND
        return gap, 0.0, 0.0, 1.0, cx, cy, cz, feature
    x, y, z = centre_in_mesh(plan, k, X)
    distance, nx, ny, nz = from_feature(plan, feature, x, y, z)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, X)
    return (
        distance - plan.row_length[k],
        r0 * nx + r1 * ny + r2 * nz,
        r3 * nx + r4 * ny + r5 * nz,
        r6 * nx + r7 * ny + r8 * nz,
        cx,
        cy,
        cz,
        feature,
    )


@kernel
def past_region(plan, state, k, X):
    """How far the sphere of a place that holds is past the region of its feature [m], below 0 within."""
    if state.face[k] < MESH_FEATURE:
        return -1.0
    x, y, z = centre_in_mesh(plan, k, X)
    return -region_margin(plan, state.face[k] - MESH_FEATURE, x, y, z)


@kernel
def mesh_row(plan, state, k, i, ws):
    """Write row i of ws.A and ws.s for the feature of place k; return its gap [m]."""
    phi, nx, ny, nz, cx, cy, cz, feature = nearby_witness(plan, state, k, ws)
    tx, ty, tz = add_point_row(plan, plan.row_a[k], plan.row_b[k], cx, cy, cz, nx, ny, nz, ws.A, ws.s, i, ws)
    ws.b[i] = 0.0
    if feature == NO_FEATURE:
        return phi
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = surface_pose(plan, k, ws.X)
    vx, vy, vz = r0 * tx + r3 * ty + r6 * tz, r1 * tx + r4 * ty + r7 * tz, r2 * tx + r5 * ty + r8 * tz
    mx, my, mz = r0 * nx + r3 * ny + r6 * nz, r1 * nx + r4 * ny + r7 * nz, r2 * nx + r5 * ny + r8 * nz
    ws.s[i] += curvature_term(plan, feature, phi + plan.row_length[k], mx, my, mz, vx, vy, vz)
    return phi
