"""How finely a tick is integrated where surfaces yield: a piece ends where a gap closes, and has as many
steps as the stiffness of what touches asks for."""

from __future__ import annotations

import math

from hapticsim.codes import ON_PLANE
from hapticsim.kernels.compliance.forces import place_of_touch, velocity_of_touch
from hapticsim.kernels.compliance.law import ALONG, MOBILITY, damping_at, depth_of_impact, stiffness_at
from hapticsim.kernels.geometry.point import driven_acceleration, motion
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.energy import LEFT
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA

SHORTEST = 1e-3  # of a tick: no piece to a touch is shorter
NEARLY, SOON = 0.9, 0.02  # of the way to a touch on a round surface, as its gap bends; not so near [ticks]
SWAYS, DECAYS = 0.1, 0.5  # [rad] of the fastest oscillation, and of the fastest decay, that a step goes
MOST_STEPS = 64  # of a piece
IMPLICIT, SHORTEST_IMPLICIT = 0.2, 1.0 / 32.0  # the same of an implicit piece; the shortest, in ticks


@kernel
def time_to_touch(plan, k, phi, nx, ny, nz, x, y, z, ws):
    """When [s] the gap phi [m] of candidate k closes, by the rate and acceleration of the first stage; inf:
    never."""
    a, b, r = plan.row_a[k], plan.row_b[k], plan.row_length[k]
    x, y, z = x + r * nx, y + r * ny, z + r * nz  # of a sphere the centre: it may spin
    ux, uy, uz, cx, cy, cz = motion(a, x, y, z, ws)
    vx, vy, vz, dx, dy, dz = motion(b, x, y, z, ws)
    ex, ey, ez = driven_acceleration(plan, a, x, y, z, ws.du[0], ws)
    gx, gy, gz = driven_acceleration(plan, b, x, y, z, ws.du[0], ws)
    rate = nx * (ux - vx) + ny * (uy - vy) + nz * (uz - vz)
    bend = nx * (cx - dx + ex - gx) + ny * (cy - dy + ey - gy) + nz * (cz - dz + ez - gz)
    inside = rate * rate - 2.0 * bend * phi
    if inside < 0.0 or (rate >= 0.0 and bend >= 0.0):
        return math.inf
    return 2.0 * phi / (math.sqrt(inside) - rate)


def yielding_piece(plan, state, ws, seconds, watching):
    """How long the next piece may be [s], at most ``seconds``, where surfaces yield; and its steps.

    watching   1: a piece may end where a gap closes; 0: what may touch in ``seconds`` is taken as touching.
    Expects the frames, velocities and accelerations at the start of the piece.
    """
    longest, square, decay = seconds, 0.0, 0.0
    for k in range(plan.contacts):
        if plan.compliant[k] == 0 or ws.apart[k] > 0.0:
            continue
        phi, nx, ny, nz, x, y, z = place_of_touch(plan, state, k, ws)
        if phi > 0.0:
            soon = time_to_touch(plan, k, phi, nx, ny, nz, x, y, z, ws)
            if soon >= seconds:
                continue
            if watching == 1 and soon > SHORTEST * plan.tick_s:
                turns = plan.surface_kind[k] != ON_PLANE and soon > SOON * plan.tick_s
                longest = min(longest, NEARLY * soon if turns else soon)
                continue
        vx, vy, vz = velocity_of_touch(plan, k, x, y, z, ws)
        closing = max(-(nx * vx + ny * vy + nz * vz), 0.0)
        depth = max(-phi, 0.0) + min(closing * seconds, depth_of_impact(plan, k, closing))
        mobility = plan.compliance[k, MOBILITY]
        more = max(plan.compliance[k, ALONG], 1.0)  # or less, along the surface
        square += more * stiffness_at(plan, k, depth) * mobility
        decay += more * damping_at(plan, k, depth) * mobility
    fastest = math.sqrt(square)
    if ws.method[0] == RUNGE_KUTTA:
        while (
            ws.divisions[0] < MOST_STEPS and longest * max(fastest / SWAYS, decay / DECAYS) > ws.divisions[0]
        ):
            ws.divisions[0] *= 2
            ws.work[LEFT] = math.inf
    elif fastest * longest > IMPLICIT and watching == 1:
        longest = min(longest, max(IMPLICIT / fastest, SHORTEST_IMPLICIT * plan.tick_s))
    return longest
