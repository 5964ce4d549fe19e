"""The integrator of the papers: Cash and Karp's 5(4) pair with the step control of Numerical Recipes.

Cash & Karp, ACM Trans. Math. Software 16 (1990) 201; Press et al., Numerical Recipes in C, 2nd ed. (1992),
section 16.2.  Ascher, Pai & Cloutier (1997) and Cloutier (1995) count its evaluations, so what is counted and
when a step is rejected are kept: one evaluation at the start of every step, five for every attempt.  All
arithmetic, the time and every constant have the precision of the state.
"""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.offline.compiled_parts import all_finite, integrate, right_hand_side, store
from hapticsim.offline.ending import Ending
from hapticsim.offline.motion import Motion
from hapticsim.offline.record import ACCEPTED, EVALUATIONS, MAX_STEPS, REJECTED, STORED, Record

# Rows: c; what stages 2 to 6 add to y in units of h; the fifth-order solution; its difference to the fourth.
TABLEAU = (
    (0.0, 1 / 5, 3 / 10, 3 / 5, 1.0, 7 / 8),
    (1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0),
    (3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0),
    (3 / 10, -9 / 10, 6 / 5, 0.0, 0.0, 0.0),
    (-11 / 54, 5 / 2, -70 / 27, 35 / 27, 0.0, 0.0),
    (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096, 0.0),
    (37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771),
    (
        37 / 378 - 2825 / 27648,
        0.0,
        250 / 621 - 18575 / 48384,
        125 / 594 - 13525 / 55296,
        -277 / 14336,
        512 / 1771 - 1 / 4,
    ),
)
STAGES, FIFTH_ORDER, DIFFERENCE = 6, 6, 7

SAFETY = 0.9
GROW, SHRINK = -0.2, -0.25  # exponents of the error
MOST_GROWTH, MOST_SHRINKING = 5.0, 0.1
NEGLIGIBLE = 1.89e-4  # (5 / SAFETY)^(1 / GROW): below it the step grows by MOST_GROWTH
TINY = 1e-30  # keeps the scale of an error above 0

DONE, STEP_UNDERFLOW, NOT_FINITE, TOO_MANY_STEPS, _ = (int(ending) for ending in Ending)


def cash_karp(
    motion: Motion,
    y0: np.ndarray,
    seconds: float,
    accuracy: float,
    step_s: float,
    store_every_s: float,
    max_steps: int,
) -> Record:
    """Integrate from y0 (nq + nu,) at time 0 for some seconds.

    accuracy : allowed error of a step in every component, relative to |y| + |h dy/dt|.
    step_s : first step [s].
    store_every_s : accepted steps are stored at least this far apart [s]; no step is bent to it.
    """
    settings = (seconds, step_s, accuracy, store_every_s)
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
    """Take steps until the end (``odeint``); return how it ended."""
    real = y.dtype.type
    end, h, accuracy, apart = settings
    n, nu = y.size, damping.size
    k, tau = np.zeros((STAGES, n), y.dtype), np.zeros(nu, y.dtype)
    y_new, scale = np.zeros(n, y.dtype), np.zeros(n, y.dtype)
    t, stored_at = real(0.0), real(0.0)
    ending = TOO_MANY_STEPS
    for _ in range(counts[MAX_STEPS]):
        before = counts[EVALUATIONS]
        right_hand_side(forward_dynamics, rates, torque, constant, damping, t, y, tau, k[0], counts)
        if not all_finite(k[0]):
            ending = NOT_FINITE
            break
        for i in range(n):
            scale[i] = abs(y[i]) + abs(k[0, i] * h) + real(TINY)
        if (counts[STORED] == 0 or t - stored_at > apart) and counts[STORED] + 1 < times.size:
            store(t, y, k[0], before, times, states, state_rates, evaluations, counts)
            stored_at = t
        if t + h > end:
            h = end - t
        while True:  # until an attempt is good (rkqs)
            _attempt(
                forward_dynamics, rates, torque, constant, damping, tableau, t, h, y, tau, k, y_new, counts
            )
            error = _error(tableau, h, k, scale) / accuracy
            if error <= real(1.0):
                break
            counts[REJECTED] += 1
            shrunk, least = real(SAFETY) * h * error ** real(SHRINK), real(MOST_SHRINKING) * h
            h = shrunk if shrunk > least else least  # the least also when the error is NaN
            if t + h == t:
                break
        if t + h == t:
            ending = STEP_UNDERFLOW
            break
        if not all_finite(y_new):
            ending = NOT_FINITE
            break
        t += h
        for i in range(n):
            y[i] = y_new[i]
        normalise(y[: n - nu])
        counts[ACCEPTED] += 1
        if t >= end:
            ending = DONE
            break
        if error > real(NEGLIGIBLE):
            h = real(SAFETY) * h * error ** real(GROW)
        else:
            h = real(MOST_GROWTH) * h
    before = counts[EVALUATIONS]
    right_hand_side(forward_dynamics, rates, torque, constant, damping, t, y, tau, k[0], counts)
    counts[EVALUATIONS] = before  # only for the record
    store(t, y, k[0], before, times, states, state_rates, evaluations, counts)
    return ending


@kernel
def _attempt(forward_dynamics, rates, torque, constant, damping, tableau, t, h, y, tau, k, y_new, counts):
    """Write y_new = y(t + h) of fifth order and k[1:], from k[0] (``rkck``)."""
    n = y.size
    for stage in range(1, STAGES):
        for i in range(n):
            slope = tableau[stage, 0] * k[0, i]
            for j in range(1, stage):
                slope += tableau[stage, j] * k[j, i]
            y_new[i] = y[i] + h * slope
        at = t + tableau[0, stage] * h
        right_hand_side(forward_dynamics, rates, torque, constant, damping, at, y_new, tau, k[stage], counts)
    for i in range(n):
        slope = tableau[FIFTH_ORDER, 0] * k[0, i]
        for j in range(1, STAGES):
            slope += tableau[FIFTH_ORDER, j] * k[j, i]
        y_new[i] = y[i] + h * slope


@kernel
def _error(tableau, h, k, scale):
    """Return the largest |error| / scale of the attempt, infinity when it is NaN."""
    largest = scale[0] - scale[0]
    for i in range(scale.size):
        slope = tableau[DIFFERENCE, 0] * k[0, i]
        for j in range(1, STAGES):
            slope += tableau[DIFFERENCE, j] * k[j, i]
        error = abs(h * slope / scale[i])
        if not error <= largest:  # also when it is NaN
            largest = error
    return largest
