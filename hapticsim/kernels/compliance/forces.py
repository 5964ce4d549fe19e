"""Forces of compliant contacts, and how the ground under them is deformed along the surface.

Along the surface the ground is a spring and a damper, in series with a clutch that slips at mu f (Azad and
Featherstone, Modeling the contact between a rolling sphere and a compliant ground plane, ACRA 2010).  With v
the velocity of the points that touch along the surface, and y what the spring bears by r K,

    sticks   T = -r K y - D v,  y_dot = d^(n-1) v,     while |T| <= mu f
    slips    T of this direction with |T| = mu f,      y goes to -T / (r K) within D / (r K d^(n-1))
    parted   T = 0,                                    y goes to 0 within the same

so that what sticks does so truly: at rest no force leaks away.  y is the deformation times d^(n-1).  They
keep the deformation as such, whose spring stiffens as it is pressed in, and gets energy from nowhere; here
what it bears stays while the contact goes in, and the deformation does while it comes out:

    comes out    y_dot = d^(n-1) v + (n-1) y d_dot / d

so that it only ever loses.
"""

from __future__ import annotations

import math

from hapticsim.codes import Event
from hapticsim.kernels.compliance.law import (
    ALONG,
    COEFFICIENT,
    EXPONENT,
    RECOVERS_IN,
    STIFFNESS,
    TOUCHING,
    damping_at,
    normal_force,
)
from hapticsim.kernels.geometry.contact import witness
from hapticsim.kernels.geometry.point import in_body, motion, rotate
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import BEGINS
from hapticsim.kernels.motion.deformation import (
    DEPTH,
    FADES,
    GOAL,
    LIMIT,
    NORMAL,
    PLACE,
    RATE,
    STUCK,
    TOUCHES,
    WEIGHT,
    WITHIN,
)
from hapticsim.kernels.solve.speed_selection import record

TOUCH, LEAVE = int(Event.TOUCH), int(Event.LEAVE)


@kernel
def place_of_touch(plan, state, k, ws):
    """Gap [m] of candidate k, normal and place [m] of its touch in the world, seven scalars."""
    phi, nx, ny, nz, x, y, z, _, _, _ = witness(plan, state, k, ws.X)
    r = plan.row_length[k]
    return phi, nx, ny, nz, x - r * nx, y - r * ny, z - r * nz


@inlined
def velocity_of_touch(plan, k, x, y, z, ws):
    """v_A - v_B [m/s] of the material points at (x, y, z), three scalars."""
    ax, ay, az, _, _, _ = motion(plan.row_a[k], x, y, z, ws)
    bx, by, bz, _, _, _ = motion(plan.row_b[k], x, y, z, ws)
    return ax - bx, ay - by, az - bz


@inlined
def recover(plan, k, ws):
    """The ground under contact k bears nothing along the surface, and goes back to where it was."""
    own = ws.yielding[k]
    for c in range(NORMAL):
        own[c] = 0.0
    own[FADES], own[WITHIN], own[STUCK] = math.inf, plan.compliance[k, RECOVERS_IN], 0.0


@kernel
def force_of_touch(plan, state, k, ws):
    """Force [N] of contact k along its normal, and its friction on A [N] in the world, four scalars.

    Writes ws.yielding.  Expects the frames in ws, and y in ws.deformation.  A piece ends where a gap closes:
    what did not touch as it began has no force at its last stage, and what touches has one at its first.
    """
    own = ws.yielding[k]
    recover(plan, k, ws)
    phi, nx, ny, nz, x, y, z = place_of_touch(plan, state, k, ws)
    own[NORMAL], own[NORMAL + 1], own[NORMAL + 2] = nx, ny, nz
    own[PLACE], own[PLACE + 1], own[PLACE + 2] = x, y, z
    if ws.counts[BEGINS] == 1:
        own[TOUCHES] = 1.0 if phi <= TOUCHING else 0.0
    if phi > (TOUCHING if own[TOUCHES] == 1.0 else -TOUCHING):
        return 0.0, 0.0, 0.0, 0.0
    depth = max(-phi, 0.0)
    own[DEPTH] = depth
    vx, vy, vz = velocity_of_touch(plan, k, x, y, z, ws)
    rate = nx * vx + ny * vy + nz * vz
    push = normal_force(plan, k, depth, -rate)
    of, softens = plan.compliance[k], plan.compliance[k, EXPONENT] - 1.0
    most, K, weight = of[COEFFICIENT] * push, of[ALONG] * of[STIFFNESS], depth**softens
    if of[COEFFICIENT] == 0.0 or not K * weight > 0.0:
        return push, 0.0, 0.0, 0.0
    D = of[ALONG] * damping_at(plan, k, depth)
    vx, vy, vz = vx - rate * nx, vy - rate * ny, vz - rate * nz
    borne = ws.deformation[k]
    bx, by, bz = rotate(plan.row_b[k], borne, ws.X)
    along = nx * bx + ny * by + nz * bz
    bx, by, bz = bx - along * nx, by - along * ny, bz - along * nz
    tx, ty, tz = -K * bx - D * vx, -K * by - D * vy, -K * bz - D * vz
    size = math.sqrt(tx * tx + ty * ty + tz * tz)
    own[RATE], own[RATE + 1], own[RATE + 2] = in_body(
        plan.row_b[k], weight * vx, weight * vy, weight * vz, ws.X
    )
    if softens * rate > 0.0:
        own[FADES] = depth / (softens * rate)
    if size <= most:
        own[WITHIN], own[LIMIT] = 0.0, math.inf
        own[STUCK], own[WEIGHT] = 1.0, weight
    else:
        tx, ty, tz = tx * most / size, ty * most / size, tz * most / size
        own[GOAL], own[GOAL + 1], own[GOAL + 2] = in_body(plan.row_b[k], -tx / K, -ty / K, -tz / K, ws.X)
        own[WITHIN], own[LIMIT] = D / (K * weight), most / K
    return push, tx, ty, tz


@inlined
def add_force(plan, frame, x, y, z, fx, fy, fz, ws):
    """Add to ws.f the generalized active force of a force at (x, y, z) on a body."""
    if frame < 0:
        return
    x, y, z = x - ws.X[frame, 9], y - ws.X[frame, 10], z - ws.X[frame, 11]
    mx, my, mz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
    for r in range(plan.frame_first[frame], plan.frame_end[frame]):
        V = ws.V[frame, r]
        ws.f[r] += mx * V[0] + my * V[1] + mz * V[2] + fx * V[3] + fy * V[4] + fz * V[5]


def add_yielding_forces(plan, state, ws):
    """Add the forces of all compliant contacts to ws.f; return their power [W]."""
    power = 0.0
    for k in range(ws.yielding.shape[0]):
        if plan.compliant[k] == 0 or ws.apart[k] > 0.0:
            recover(plan, k, ws)
            ws.yielding[k, TOUCHES] = 0.0
            continue
        push, fx, fy, fz = force_of_touch(plan, state, k, ws)
        if push == 0.0:
            continue
        own = ws.yielding[k]
        x, y, z = own[PLACE], own[PLACE + 1], own[PLACE + 2]
        fx, fy, fz = fx + push * own[NORMAL], fy + push * own[NORMAL + 1], fz + push * own[NORMAL + 2]
        add_force(plan, plan.row_a[k], x, y, z, fx, fy, fz, ws)
        add_force(plan, plan.row_b[k], x, y, z, -fx, -fy, -fz, ws)
        vx, vy, vz = velocity_of_touch(plan, k, x, y, z, ws)
        power += fx * vx + fy * vy + fz * vz
    return power


def report_yielding(plan, state, out, ws, told):
    """Write the forces of compliant contacts to out, at the frames in ws.

    told   1: record what touches or leaves since this was asked last.
    """
    for k in range(plan.contacts):
        if plan.compliant[k] == 0:
            continue
        push = tx = ty = tz = 0.0
        if ws.apart[k] == 0.0:
            push, tx, ty, tz = force_of_touch(plan, state, k, ws)
        out.force[k] = push
        if out.friction_W.shape[0] > 0:
            out.friction_W[k, 0], out.friction_W[k, 1], out.friction_W[k, 2] = tx, ty, tz
        touches = int(push > 0.0)
        if told == 1 and touches != state.yields[k]:
            state.yields[k] = touches
            record(out, TOUCH if touches == 1 else LEAVE, k, 0.0, 0.0)
