"""The certificate of a tick: how far it was from the laws of contact, as numbers that anybody can check.

A tick that keeps every law has zeros, up to rounding in exact ticks and up to what the solver left in time
steps.  Of contacts that sleep nothing is said: they were certified before they fell asleep.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS
from hapticsim.kernels.motion.energy import BEFORE, DONE, END
from hapticsim.kernels.rows.along_surface import slip_velocity
from hapticsim.kernels.rows.row_table import rate_of
from hapticsim.kernels.rows.rub import STICKS, most_friction, most_static, rubs

# Output.certificate: how deep [m] what pushes is as the tick begins; by how much [N] forces leave their
# cones, a pull counts; how far [m/s] rates along normals are from what the contacts allow; how far [m/s]
# friction is from against the slip; energy gained beyond the work put in [J], below 0 where impacts, friction
# and damping took some; not there where no balance is kept
DEPTH, CONE, NORMAL, FRICTION, GAIN = range(5)


@kernel
def certify_nothing(out):
    """Of a tick without contacts, or whose outcome was not kept."""
    for i in range(out.certificate.size):
        out.certificate[i] = 0.0


@kernel
def certify_rows(plan, state, out, ws, m):
    """Depth, pull, rate and friction of the contacts among the m rows imposed as an exact tick begins.

    Expects the sample of the tick in out, and the rows at it in ws.
    """
    certify_nothing(out)
    of = out.certificate
    for i in range(ws.counts[HELD_ROWS], m):
        k, rate = ws.rows[i], 0.0
        for r in range(ws.row_low[i], ws.row_high[i]):
            rate += ws.A[i, r] * out.u[r]
        of[DEPTH] = max(of[DEPTH], -out.gap[k])
        of[CONE] = max(of[CONE], -out.force[k])
        of[NORMAL] = max(of[NORMAL], abs(rate))
    if plan.sticking_rows != 0:
        certify_rub(plan, state, out, ws, m)


@kernel
def certify_rub(plan, state, out, ws, m):
    """How far the friction of the contacts among the m rows is beyond its cone, and from against the slip."""
    of, held = out.certificate, 0
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if not rubs(plan, k):
            continue
        f, off = out.friction_W[k], 0.0
        size = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        sticks = state.grip[k] == STICKS
        most = most_static(plan, k, out.force[k]) if sticks else most_friction(plan, k, out.force[k])
        of[CONE] = max(of[CONE], size - most)
        if sticks:
            off = math.hypot(rate_of(ws.A, held, out.u, ws.b), rate_of(ws.A, held + 1, out.u, ws.b))
            held += 2
        elif size > 0.0:
            x, y, z = slip_velocity(plan, state, k, ws)
            off = math.sqrt(x * x + y * y + z * z) + (x * f[0] + y * f[1] + z * f[2]) / size
        of[FRICTION] = max(of[FRICTION], off)


@kernel
def certify_step(plan, out, ws, n):
    """The same of the n contacts near in a time step, whose impulses are found."""
    certify_nothing(out)
    of = out.certificate
    if n > 0:
        of[NORMAL], of[FRICTION] = ws.cone_residual[0], ws.cone_residual[1]
    for i in range(n):
        push, j, beyond = ws.near_x[i], ws.near_rub[i], 0.0
        if push > 0.0:
            of[DEPTH] = max(of[DEPTH], -ws.near_gap[i])
        if j >= 0:
            beyond = math.hypot(ws.rub_x[j, 0], ws.rub_x[j, 1]) - ws.rub_most[j] * push
        of[CONE] = max(of[CONE], max(-push, beyond) / plan.tick_s)


@kernel
def certify_gain(out, ws):
    """What the tick gained, after ``motion.energy.divide_piece``, where a balance is kept."""
    if out.certificate.size > GAIN:
        out.certificate[GAIN] = ws.work[END] - ws.work[BEFORE] - ws.work[DONE]
