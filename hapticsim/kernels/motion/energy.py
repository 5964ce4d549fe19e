"""The balance of energy of a tick: what it gained beyond the work put in, and whether that is refused.

The work of torque laws, coupler, outside forces and prescribed rates is integrated with the weights of the
stages, so that the balance is as accurate as the step.  Joint damping, friction and impacts only take: they
are left out, and what they take makes room within their own tick alone.  Springs of laws in the stages, and
of a coupler in substeps, give exactly what they hold less.

    gain = E(q1, u1) - E(q0, u0) - W

Gains are counted in parts of what is allowed, TOLERANCE of the scene's energy scale, and forgotten over
MEMORY seconds.  A piece that would use up too large a part is integrated again in 4, 16 and 64 steps;
when 1 is reached all the same the tick is refused.  A mechanism by Kane's method has its own forces in its
bias, whose work is not known: no balance is kept there.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.foreign import energy_at
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA, STIFF_SPRINGS

TOLERANCE = 1e-6  # of the energy scale and the kinetic energy
SHARE = (
    1e-2  # of the work turned over in a tick, that its quadrature may miss; all of it for stiff springs, and
)
# in implicit ticks where surfaces yield
MEMORY = 10.0  # [s]
LARGE, SMALL = 0.02, 1e-5  # parts that ask for shorter steps, the second when
PLENTY = 0.02  # so much is used up
DIVISIONS = 64  # at most
HELPS = 0.5  # of a gap that is left in four times as many steps: less, or it is no error of the step
MOVED = 100.0  # of the energy scale: what a constraint may lift or set going as it is switched on
MOST_Q, MOST_U = 1e9, 1e6  # [m] or [rad], and per second: a run that is further out has gone astray
MOST_ROTATION = 1.5  # [rad] that a joint with a quaternion may turn in a tick: its rate is integrated to 1e-3

# state.energy[2]: whether the energy after the tick before is known, or that tick was refused
REFUSED, UNKNOWN, KNOWN = -1.0, 0.0, 1.0

# ws.work: power at the stage last evaluated and at the first of a piece [W]; work and turnover of the piece
# last tried, and of the tick [J]; energy at the start of the tick and of the piece, and at its end [J]; what
# the gaps were worth that the piece left when it was last tried, and what an impact took that may be spent on
# closing gaps [J]
POWER, FIRST, PIECE, TURNED, DONE, DONE_TURNED, BEFORE, START, END, LEFT, SPARE = range(11)


@kernel
def total_energy(plan, ws, q, u):
    """Kinetic and potential energy [J]; both also go to ws.energies."""
    energy_at(plan.energy)(q, u, ws.energies)
    return ws.energies[0] + ws.energies[1]


@kernel
def begin_balance(plan, state, ws, disturbed):
    """Note the energy at the start; disturbed: constraints were switched since the last tick.

    After a refused tick it is that of the state, not where its gaps are closed: closing them is a gain, too.
    """
    ws.work[DONE] = ws.work[DONE_TURNED] = 0.0
    ws.moved[0] = 0
    ws.divisions[0] = 1
    if plan.energy == 0:
        return
    known = state.energy[0]
    if state.energy[2] == REFUSED and not disturbed:
        known = total_energy(plan, ws, state.q, state.u)
    elif disturbed or state.energy[2] != KNOWN:
        known = total_energy(plan, ws, ws.q0, ws.u0)
    ws.work[BEFORE] = ws.work[START] = known


@kernel
def begin_piece(plan, ws):
    """Note the energy at the start of a piece after an event, which may have taken some."""
    if plan.energy != 0:
        ws.work[START] = total_energy(plan, ws, ws.q0, ws.u0)


@kernel
def part_used(plan, ws, gain, turned):
    """A gain [J] beyond what quadrature may miss of the work turned over [J], in parts of what is allowed."""
    yields = plan.yielding_forces != 0 and ws.method[0] != RUNGE_KUTTA
    share = 1.0 if ws.method[0] == STIFF_SPRINGS or yields else SHARE
    return (gain - share * turned) / (TOLERANCE * (plan.energy_scale + ws.energies[0]))


@kernel
def held_by_laws(plan, ws, q):
    """What the springs of the torque laws in the stages hold [J]."""
    energy = 0.0
    if plan.law_in_stages == 1:
        for r in range(ws.spring.size):
            if ws.spring[r] != 0.0:
                stretch = plan.torque_reference[r] - q[plan.q_of_u[r]]
                energy += 0.5 * ws.spring[r] * stretch * stretch
    return energy


@kernel
def divide_piece(plan, state, ws, to_close):
    """Whether the piece just tried is to be integrated again in shorter steps, which ws.divisions then says.

    to_close: what it may gain when the gaps that it leaves are closed [J]; it counts as long as shorter steps
    make it smaller, which they do not where rows are redundant.

    If it is not, its work is added to that of the tick.  Notes the energy at its end, (ws.q1, ws.u1).
    """
    gain = part = 0.0
    if ws.divisions[0] > 1 and to_close > HELPS * ws.work[LEFT]:
        to_close = 0.0
    else:
        ws.work[LEFT] = to_close
    if plan.energy != 0:
        ws.work[PIECE] += held_by_laws(plan, ws, ws.q0) - held_by_laws(plan, ws, ws.q1)
        ws.work[END] = total_energy(plan, ws, ws.q1, ws.u1)
        gain = ws.work[END] - ws.work[START] - ws.work[PIECE]
        part = part_used(plan, ws, gain + to_close, ws.work[TURNED])
    good = part <= (SMALL if state.energy[1] > PLENTY else LARGE)
    if good or ws.method[0] != RUNGE_KUTTA or ws.divisions[0] >= DIVISIONS:
        ws.work[DONE] += ws.work[PIECE]
        ws.work[DONE_TURNED] += ws.work[TURNED]
        ws.divisions[0] = 1
        return False
    ws.divisions[0] *= 4
    return True


@inlined
def remembered(plan, state):
    """Part of the allowed gain that the ticks before used, as far as it counts in this one."""
    return state.energy[1] * (1.0 - min(plan.tick_s / MEMORY, 1.0))


@kernel
def gained(plan, state, ws):
    """Energy that the tick gained beyond the work put in [J], where it is refused; 0 where it is not.

    Expects the energy at its end as ``divide_piece`` leaves it; writes state.energy, unless the gain is not
    finite, which is then returned.
    """
    if plan.energy == 0:
        return 0.0
    gain = ws.work[END] - ws.work[BEFORE] - ws.work[DONE]
    if not math.isfinite(gain):
        return gain
    part = part_used(plan, ws, gain, ws.work[DONE_TURNED])
    if ws.moved[0] == 1 and gain < MOVED * plan.energy_scale:
        part = 0.0
    state.energy[0] = ws.work[END]
    state.energy[2] = KNOWN
    state.energy[1] = max(0.0, remembered(plan, state) + part)
    if part <= 0.0 or state.energy[1] <= 1.0:
        return 0.0
    return gain


@kernel
def farthest(plan, ws):
    """Largest of |q| / MOST_Q, |u| / MOST_U and angle in the tick / MOST_ROTATION; above 1: astray."""
    place = speed = turning = 0.0
    for i in range(ws.q0.size):
        place = max(place, abs(ws.q0[i]))
    for r in range(ws.u0.size):
        speed = max(speed, abs(ws.u0[r]))
        if plan.angular[r] == 1:
            turning = max(turning, abs(ws.u0[r]))
    return max(place / MOST_Q, speed / MOST_U, turning * plan.tick_s / MOST_ROTATION)
