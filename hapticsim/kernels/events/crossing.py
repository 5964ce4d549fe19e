"""A piece of a tick up to the first event: trial steps towards the guard that fires first."""

from __future__ import annotations

import math

from hapticsim.kernels.events.dense import dense_crossing
from hapticsim.kernels.events.guards import (
    HIT,
    crossing_time,
    first_fired,
    has_fired,
    has_jump,
    is_gap,
    is_just_past,
    read_guards,
    row_forces,
)
from hapticsim.kernels.events.inside import overlook
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.geometry.mesh.search import has_mesh
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import TRIALS
from hapticsim.kernels.motion.integrate import advance
from hapticsim.kernels.units import find_far_pairs, first_border, stage

MOST_TRIALS = 14  # trial steps per crossing
PATIENCE = 4  # trials after which every other one halves what is left for a gap: it may jump
OVERLOOKED = -2  # what advance_to_event returns instead of a guard: nothing was done, there are fewer guards


@kernel
def advance_to_event(plan, state, inp, out, ws, t, remaining, m, watching):
    """Integrate from (ws.q0, ws.u0), with first stage and guards ws.guard0 there, to the first event or the
    end.

    A gap is located on the cubic through both ends; what else fires by false position.  Returns the time
    advanced and the guard that fired, or -1.

    The gap of a corner jumps where it comes into a box over an edge that nothing sees.  False position never
    gets there, and where another gap closes in the same tick the crossing found would be neither's.  So such
    a corner is overlooked until the next tick, and the piece is to be tried again from its start: OVERLOOKED.
    """
    lo, hi, step, slope = 0.0, remaining, remaining, 0.0
    culprit, before = -1, -1  # the guard that is looked for, and the one that fired last
    border, at = -1, 0.0  # that of a feature of a mesh, and when it is passed
    is_near = False  # the step is where the cubic, or the rate of the gap there, says that it closes
    for trial in range(MOST_TRIALS + 1):
        out.counts[TRIALS] += 1
        advance(plan, state, inp, ws, t, step, m)
        if m > 0:
            row_forces(plan, state, ws, m, ws.du[3])
        find_far_pairs(plan, ws, 0)
        read_guards(plan, state, ws.q1, ws.u1, t + step, ws, m, ws.guard1)
        if not watching:
            return step, -1
        worst, fired = first_fired(plan, state, ws.guard0, ws.guard1)
        about = fired if fired >= 0 else culprit
        if trial > 0 and m > 0 and about >= 0 and not is_gap(plan, state, about):
            # the last Runge-Kutta stage is good enough to see that a force crosses zero, not to place it
            stage(plan, state, inp, ws, ws.q1, ws.u1, t + step, ws.dq[3], ws.du[3], m)
            row_forces(plan, state, ws, m, ws.du[3])
            read_guards(plan, state, ws.q1, ws.u1, t + step, ws, m, ws.guard1)
            worst, fired = first_fired(plan, state, ws.guard0, ws.guard1)
        if fired < 0:
            if step == remaining:
                return step, -1
            if is_near and ws.guard1[culprit] < HIT:
                return step, culprit
            worst = math.inf
            for g in range(ws.guard1.size):
                fires = has_fired(plan, state, g, ws.guard0, ws.guard2) and not has_jump(plan, state, g, m)
                if (
                    fires
                    and ws.guard1[g] < worst
                    and not (is_gap(plan, state, g) and ws.guard1[g] >= ws.guard0[g])
                ):
                    worst = ws.guard1[g]
                    culprit = g
            if worst < HIT:
                return step, culprit
            lo = step
            copy(ws.guard1, ws.guard0)
        else:
            if trial == MOST_TRIALS and worst < -HIT and overlook(plan, state, ws, fired):
                return 0.0, OVERLOOKED
            if worst >= -HIT or trial == MOST_TRIALS:
                return step, fired
            if has_mesh(plan) and is_just_past(plan, state, ws.guard0, ws.guard1, fired):
                return step, fired
            copy(ws.guard1, ws.guard2)
            copy(ws.qs, ws.rate1)
            border, at = -1, hi
            if trial == 0 and has_mesh(plan):
                border, at, rate = first_border(plan, state, ws, step)
            if border >= 0:  # beyond it the row, and so every gap, is that of a place where nothing is held
                fired, slope = border, rate
            hi, culprit = step, fired
        guess = crossing_time(plan, state, ws.guard0, ws.guard2, lo, hi, m)
        if (trial == 0 or fired != before) and fired >= 0 and is_gap(plan, state, culprit):
            at, slope = dense_crossing(plan, state, ws, step)
            is_near = lo < at < hi
            guess = at if is_near else guess
        elif fired >= 0 and border >= 0:
            is_near = lo < at < hi
            guess = at if is_near else guess
        else:
            at = step - worst / slope if slope < 0.0 and is_gap(plan, state, culprit) else hi
            is_near = lo < at < hi and trial % 4 < 3
            guess = at if is_near else guess
        before = fired if fired >= 0 else before
        middle = 0.5 * (lo + hi)
        halve = trial % 4 == 3 or (trial > PATIENCE and trial % 2 == 0 and is_gap(plan, state, culprit))
        step = middle if (halve and not is_near) or not (lo <= guess < hi) else guess
        if trial == MOST_TRIALS - 1:
            step = hi  # where a guard is known to have fired
    return step, culprit
