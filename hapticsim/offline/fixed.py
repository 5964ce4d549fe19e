"""The classical fourth-order Runge-Kutta method with a fixed step."""

from __future__ import annotations

import numpy as np

from hapticsim.offline.compiled_parts import all_finite, integrate, largest, right_hand_side, store
from hapticsim.offline.ending import Ending
from hapticsim.offline.motion import Motion
from hapticsim.offline.record import ACCEPTED, EVALUATIONS, MAX_STEPS, STORED, Record

# Rows: how far along the previous slope stages 1 to 4 look, in units of h; their weights.
TABLEAU = ((0.0, 1 / 2, 1 / 2, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6))

DONE, STEP_UNDERFLOW, NOT_FINITE, TOO_MANY_STEPS, DIVERGED = (int(ending) for ending in Ending)
FARTHEST = 1e9  # [m], [rad] or per second: what goes further has diverged, long before it is infinite


def runge_kutta_4(
    motion: Motion, y0: np.ndarray, seconds: float, step_s: float, store_every_s: float, max_steps: int
) -> Record:
    """Integrate from y0 (nq + nu,) at time 0 in equal steps, the nearest to step_s that fit [s]."""
    steps = max(1, round(seconds / step_s))
    settings = (seconds, seconds / steps, steps, store_every_s)
    return integrate(_advance, motion, y0, settings, TABLEAU, seconds, store_every_s, max_steps)


def _advance(
    forward_dynamics,
    rates,
    normalise,
    torque,
    constant,
    damping,
    settings,
    tableau,
    y,
    times,
    states,
    state_rates,
    evaluations,
    counts,
):
    """Take the steps; return how it ended."""
    real = y.dtype.type
    end, h, apart = settings[0], settings[1], settings[3]
    steps = int(settings[2])
    n, nu = y.size, damping.size
    k, tau = np.zeros((4, n), y.dtype), np.zeros(nu, y.dtype)
    y_stage = np.zeros(n, y.dtype)
    t, stored_at = real(0.0), real(0.0)
    ending = DONE
    for step in range(steps):
        if step == counts[MAX_STEPS]:
            ending = TOO_MANY_STEPS
            break
        before = counts[EVALUATIONS]
        for stage in range(4):
            ahead = tableau[0, stage] * h
            for i in range(n):
                y_stage[i] = y[i] + ahead * k[stage - 1, i] if stage > 0 else y[i]
            right_hand_side(
                forward_dynamics, rates, torque, constant, damping, t + ahead, y_stage, tau, k[stage], counts
            )
        if (counts[STORED] == 0 or t - stored_at > apart) and counts[STORED] + 1 < times.size:
            store(t, y, k[0], before, times, states, state_rates, evaluations, counts)
            stored_at = t
        for i in range(n):
            slope = tableau[1, 0] * k[0, i]
            for stage in range(1, 4):
                slope += tableau[1, stage] * k[stage, i]
            y_stage[i] = y[i] + h * slope
        if not all_finite(y_stage):
            ending = NOT_FINITE
            break
        if largest(y_stage) > FARTHEST:
            ending = DIVERGED
            break
        for i in range(n):
            y[i] = y_stage[i]
        normalise(y[: n - nu])
        counts[ACCEPTED] += 1
        t = real(step + 1) / real(steps) * end
    before = counts[EVALUATIONS]
    right_hand_side(forward_dynamics, rates, torque, constant, damping, t, y, tau, k[0], counts)
    counts[EVALUATIONS] = before  # only for the record
    store(t, y, k[0], before, times, states, state_rates, evaluations, counts)
    return ending
