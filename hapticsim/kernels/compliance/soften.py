"""Compliant contacts in a linearly implicit substep: what their springs and dampers add to its equations."""

from __future__ import annotations

from hapticsim.kernels.compliance.forces import force_of_touch
from hapticsim.kernels.compliance.law import ALONG, STIFFNESS, damping_at, stiffness_at
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.motion.deformation import DEPTH, NORMAL, PLACE, STUCK, WEIGHT
from hapticsim.kernels.rows.along_surface import both_tangents

BOTH = 2.0  # each of two bodies has its share twice: no less than the whole, which would join their trees


@inlined
def write_partial_velocities(plan, frame, x, y, z, nx, ny, nz, row, ws):
    """Write to row n . (partial velocity at (x, y, z)) of a body, for the speeds of its tree."""
    x, y, z = x - ws.X[frame, 9], y - ws.X[frame, 10], z - ws.X[frame, 11]
    mx, my, mz = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
    for r in range(plan.frame_first[frame], plan.frame_end[frame]):
        V = ws.V[frame, r]
        row[r] = mx * V[0] + my * V[1] + mz * V[2] + nx * V[3] + ny * V[4] + nz * V[5]


@kernel
def soften_along(plan, k, nx, ny, nz, stiffness, damping, h, u, ws):
    """M += (h D + h^2 K) J' J and f -= h K J' J u, with J the partial velocities of contact k along a
    direction, for each of its bodies."""
    a, b = plan.row_a[k], plan.row_b[k]
    x, y, z = ws.yielding[k, PLACE], ws.yielding[k, PLACE + 1], ws.yielding[k, PLACE + 2]
    same = a >= 0 and b >= 0 and plan.frame_first[a] == plan.frame_first[b]
    weight = BOTH if a >= 0 and b >= 0 and not same else 1.0
    share = weight * (h * damping + h * h * stiffness)
    for frame in (a, b):
        if frame < 0:
            continue
        row = ws.H[0]
        first, end = plan.frame_first[frame], plan.frame_end[frame]
        write_partial_velocities(plan, frame, x, y, z, nx, ny, nz, row, ws)
        if same:
            if frame == b:
                continue
            other = ws.H[1]
            write_partial_velocities(plan, b, x, y, z, nx, ny, nz, other, ws)
            for r in range(first, end):
                row[r] -= other[r]
        rate = 0.0
        for r in range(first, end):
            rate += row[r] * u[r]
        for r in range(first, end):
            ws.f[r] -= weight * h * stiffness * rate * row[r]
            for s in range(first, end):
                ws.M[r, s] += share * row[r] * row[s]


def soften_yielding(plan, state, ws, u, h):
    """Add the springs and dampers of all compliant contacts to ws.M and ws.f, for a substep of h seconds."""
    for k in range(plan.contacts):
        if plan.compliant[k] == 0 or ws.apart[k] > 0.0:
            continue
        push, _, _, _ = force_of_touch(plan, state, k, ws)
        if push == 0.0:
            continue
        own, of = ws.yielding[k], plan.compliance[k]
        nx, ny, nz = own[NORMAL], own[NORMAL + 1], own[NORMAL + 2]
        depth = own[DEPTH]
        D = damping_at(plan, k, depth)
        soften_along(plan, k, nx, ny, nz, stiffness_at(plan, k, depth), D, h, u, ws)
        if own[STUCK] == 1.0:
            K = of[ALONG] * of[STIFFNESS] * own[WEIGHT]
            tx, ty, tz, sx, sy, sz = both_tangents(nx, ny, nz)
            soften_along(plan, k, tx, ty, tz, K, of[ALONG] * D, h, u, ws)
            soften_along(plan, k, sx, sy, sz, K, of[ALONG] * D, h, u, ws)
