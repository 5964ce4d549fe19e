"""What the compiled integrators share: the right-hand side, storing, and their signature.

The integrators keep to one precision by making every constant with ``y.dtype.type``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float64, int64

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.offline.compiling import compile_for
from hapticsim.offline.motion import PRECISIONS, Motion, function_types, torque_at
from hapticsim.offline.record import EVALUATIONS, STORED, Log, Record


def integrate(
    kernel: Any,
    motion: Motion,
    y0: np.ndarray,
    settings: tuple[float, ...],
    tableau: Any,
    seconds: float,
    store_every_s: float,
    max_steps: int,
) -> Record:
    """Compile an integrator for the precision of the motion, run it from y0 and return what it stored.

    kernel : plain function (forward_dynamics, rates, normalise, torque, constant, damping, settings, tableau,
        y, time, states, state_rates, evaluations, counts) -> ending.
    """
    log = Log(y0.size, motion.dtype, seconds, store_every_s, max_steps)
    run = compile_for(motion.precision, kernel, signature_in(motion.precision))
    ending = run(
        motion.forward_dynamics,
        motion.rates,
        motion.normalise,
        motion.torque_address,
        motion.constant,
        motion.damping,
        np.array(settings, motion.dtype),
        np.array(tableau, motion.dtype),
        y0.astype(motion.dtype),
        *log.arrays,
    )
    if motion.trouble:
        raise motion.trouble[0]
    return log.record(ending)


def signature_in(precision: str) -> Any:
    """Return the numba signature of an integrator."""
    F = PRECISIONS[precision]
    v, m, i = F[::1], F[:, ::1], int64[::1]
    return int64(*function_types(precision), int64, v, v, v, m, v, v, m, m, i, i)


@kernel
def right_hand_side(forward_dynamics, rates, torque, constant, damping, t, y, tau, dy, counts):
    """Write dy (nq + nu,) at y = q, u and time t [s], and count it; tau (nu,) is scratch.

    torque : address of a function that adds to tau, or 0.
    Assumes C-contiguous arrays of one precision.
    """
    nu = tau.size
    nq = y.size - nu
    q, u = y[:nq], y[nq:]
    for r in range(nu):
        tau[r] = constant[r]
    if torque != 0:
        torque_at(torque)(float64(t), q.ctypes.data, u.ctypes.data, tau.ctypes.data)
    for r in range(nu):
        tau[r] -= damping[r] * u[r]
    rates(q, u, dy[:nq])
    forward_dynamics(q, u, tau, dy[nq:])
    counts[EVALUATIONS] += 1


@kernel
def store(t, y, dy, evaluations, times, states, state_rates, stored_evaluations, counts):
    """Append a sample; dy is at y, evaluations what it took to get to y."""
    k = counts[STORED]
    times[k] = t
    stored_evaluations[k] = evaluations
    for i in range(y.size):
        states[k, i] = y[i]
        state_rates[k, i] = dy[i]
    counts[STORED] = k + 1


@kernel
def all_finite(y):
    """Say whether no entry is infinite or NaN."""
    for i in range(y.size):
        if not math.isfinite(y[i]):
            return False
    return True


@kernel
def largest(y):
    """The largest |entry|."""
    most = abs(y[0])
    for i in range(1, y.size):
        most = max(most, abs(y[i]))
    return most
