"""How long a piece may be before a small fast part could pass through something thin between two looks, and
a step before the point on which a coin wobbles runs too far round its rim, or over an ellipsoid.

A gap is looked at where a piece ends.  It closes no sooner than after gap / speed; conservative advancement
[Mirtich 1996] goes so far, and looks again.
"""

from __future__ import annotations

import math

from hapticsim.codes import ON_BOX, ON_CAPSULE, ON_CYLINDER, ON_MESH, ON_RIM, ON_SUPPORT
from hapticsim.kernels.events.edge_places import fastest
from hapticsim.kernels.geometry.contact import sphere_centre
from hapticsim.kernels.geometry.ellipsoid import rates_of_support
from hapticsim.kernels.geometry.rim import rates_of_rim
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.motion.energy import LEFT
from hapticsim.kernels.rows.row_table import FREE

HALF = 0.5
STEP = 0.1  # [rad] round a rim that a step of the integrator goes, as long as
MOST_STEPS = 64  # of a piece are enough for that
ROLL = 0.025  # of h that a step goes over an ellipsoid; with 0.1 one of 10 : 1 lost 1e-5 in half a swing
SHORTEST = 1e-3  # of a tick: no piece on a rim is shorter


@inlined
def may_pass(plan, k):
    """True for a sphere against a surface that has another side."""
    kind = plan.surface_kind[k]
    solid = kind == ON_BOX or kind == ON_CAPSULE or kind == ON_MESH or kind >= ON_CYLINDER
    return plan.row_length[k] > 0.0 and solid


@inlined
def is_slow(plan, k, ws, seconds):
    """True where sphere k surely moves by less than its radius, beside a surface that stands still.

    By sums of components, which are no less than lengths: the commonest case, without a square root.
    """
    if plan.row_a[k] < 0 or plan.row_b[k] >= 0:
        return False
    v, p = ws.vel[plan.row_a[k]], plan.row_point_a[k]
    turning = abs(v[0]) + abs(v[1]) + abs(v[2])
    away = abs(p[0]) + abs(p[1]) + abs(p[2])
    return (abs(v[3]) + abs(v[4]) + abs(v[5]) + turning * away) * seconds <= plan.row_length[k]


@kernel
def longest_piece(plan, state, ws, remaining):
    """How long the next piece may be [s], at most ``remaining``.

    Within it no sphere near enough to touch moves farther than its radius, beyond what its gap allows.
    Expects the frames and velocities at the start of the piece in ws, and its gaps in ws.guard0.
    """
    longest = remaining
    for k in range(plan.contacts):
        if (
            state.mode[k] == FREE
            and ws.apart[k] == 0.0
            and may_pass(plan, k)
            and not is_slow(plan, k, ws, remaining)
        ):
            x, y, z = sphere_centre(plan, k, ws.X)
            speed = fastest(plan.row_a[k], x, y, z, 0.0, ws) + fastest(plan.row_b[k], x, y, z, 0.0, ws)
            radius, way = plan.row_length[k], speed * remaining
            if way > radius and ws.guard0[k] < way:
                longest = min(longest, max(ws.guard0[k], radius) / speed)
    return longest


@inlined
def shorten_steps(way, most, ws):
    """More steps for the next piece, until each goes ``most`` of its way, or until they are MOST_STEPS."""
    while way > most * ws.divisions[0] and ws.divisions[0] < MOST_STEPS:
        ws.divisions[0] *= 4
        ws.work[LEFT] = math.inf


@kernel
def piece_on_rims(plan, ws, m, seconds):
    """How long the next piece may be [s], at most ``seconds``, where rims and ellipsoids are held; and its
    steps.

    The less a coin is tilted the faster the point that touches runs round the rim, and where it comes down
    nearly flat that goes half round at once.  So a piece ends where the tilt may be HALF of what it is, and
    its steps are short by the way round.  So are those of an ellipsoid, by how fast its support point runs.
    Of the balance of energy only a gain makes steps shorter, and one that is too long here loses.  Expects
    the frames and velocities at the start of the piece, and its m rows.
    """
    longest = seconds
    if plan.curved == 0:
        return longest
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if plan.surface_kind[k] == ON_SUPPORT:
            flat, tilt, around = rates_of_support(plan, k, ws)
            least = max(flat, tilt - around * longest)
            shorten_steps(around * longest, ROLL * least, ws)
        if plan.surface_kind[k] != ON_RIM:
            continue
        tilt, rises, around = rates_of_rim(plan, k, ws)
        least, moves = tilt, around
        if rises < 0.0:
            least, moves = HALF * tilt, math.sqrt(around * around + rises * rises)
        if moves * longest > HALF * tilt:
            longest = max(HALF * tilt / moves, SHORTEST * plan.tick_s)
        shorten_steps(around * longest, STEP * least, ws)
    return min(longest, seconds)
