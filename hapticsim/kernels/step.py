"""The tick: the one entry, the same for real and for virtual time.

Everything is bounded: stages of a step, trial steps of a crossing, events of a tick.  Nothing is allocated
and nothing is raised; trouble is flags and counters.
"""

from __future__ import annotations

from hapticsim.codes import EVERY_TICK
from hapticsim.kernels.rows.row_table import leave_yielding, put_modes_back
from hapticsim.kernels.tick.advance import advance
from hapticsim.kernels.tick.begin import begin_tick
from hapticsim.kernels.tick.certificate import certify_rows
from hapticsim.kernels.tick.commit import commit_or_reject
from hapticsim.kernels.tick.report import report_sample
from hapticsim.kernels.tick.requests import take_requests
from hapticsim.kernels.time_stepping.crowded_tick import is_step, step_from_start, step_instead
from hapticsim.kernels.units import count_rest, put_to_sleep, sleep_through, take_time_step


def step(plan, state, inp, out, ws):
    """Advance the state by one tick of plan.tick_s seconds.

    plan, state, inp, out, ws   the blocks of kernels/memory/arrays.py; state and out are written.

    Assumes q with unit quaternions and finite plan.  An outcome that is not finite, or out of all bounds, or
    has more energy than was put in, is refused: the state at the start of the tick stays, at rest, and the
    force output enters its fault state.
    """
    if sleep_through(plan, state, inp, out, ws):
        return
    safety, was_refused = take_requests(plan, state, inp, out, ws)
    leave_yielding(plan, state)
    put_to_sleep(plan, state, inp, ws)
    if plan.steps == EVERY_TICK:
        take_time_step(plan, state, inp, out, ws)
    elif is_step(plan, state, ws):
        step_from_start(plan, state, inp, out, ws)
    else:
        rows = begin_tick(plan, state, inp, out, ws)
        report_sample(plan, state, inp, out, ws, rows)
        certify_rows(plan, state, out, ws, rows)
        if not advance(plan, state, inp, out, ws, rows):
            step_instead(plan, state, inp, out, ws)
    commit_or_reject(plan, state, out, ws, safety, was_refused)
    if plan.yielding_forces != 0:
        put_modes_back(plan, state)
    count_rest(plan, state, out, ws)
