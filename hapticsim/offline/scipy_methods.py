"""SciPy's integrators behind the interface of ours, in float64.

An explicit pair of high order (DOP853), three for stiff equations (Radau, BDF, and LSODA, which switches).
The tolerance is relative, and absolute as far as a hundredth of it.  Evaluations for finite-difference
Jacobians are counted like all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.errors import HapticsimError
from hapticsim.offline.ending import Ending
from hapticsim.offline.motion import Motion
from hapticsim.offline.record import Record

METHODS = ("DOP853", "Radau", "BDF", "LSODA")


def scipy_method(
    name: str,
    motion: Motion,
    y0: np.ndarray,
    seconds: float,
    accuracy: float,
    step_s: float,
    store_every_s: float,
    max_steps: int,
) -> Record:
    """Integrate from y0 (nq + nu,) at time 0 by one of METHODS; see ``cash_karp`` for the arguments.

    Raises
    ------
    HapticsimError : SciPy is not installed.
    """
    try:
        from scipy import integrate
    except ImportError:
        raise HapticsimError(
            f"Integrator {name!r} needs SciPy: pip install 'hapticsim[studies]', or use 'cash_karp' or 'rk4'."
        ) from None

    evaluations = 0

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        evaluations += 1
        return motion.derivative(t, y)

    solver: Any = getattr(integrate, name)(
        derivative, 0.0, y0, seconds, rtol=accuracy, atol=0.01 * accuracy, first_step=min(step_s, seconds)
    )
    samples = [(0.0, y0.copy(), 0)]
    accepted, ending = 0, Ending.TOO_MANY_STEPS
    while accepted < max_steps:
        solver.step()
        if solver.status == "failed":
            ending = Ending.STEP_UNDERFLOW
            break
        if not np.all(np.isfinite(solver.y)):
            ending = Ending.NOT_FINITE
            break
        accepted += 1
        motion.normalise(solver.y[: motion.nq])
        if solver.t - samples[-1][0] > store_every_s:
            samples.append((float(solver.t), solver.y.copy(), evaluations))
        if solver.status == "finished":
            ending = Ending.DONE
            break
    if samples[-1][0] < solver.t and np.all(np.isfinite(solver.y)):
        samples.append((float(solver.t), solver.y.copy(), evaluations))
    time, y, counted = zip(*samples, strict=True)
    return Record(
        time=np.array(time),
        y=np.array(y),
        rate=np.array([motion.derivative(t, state) for t, state in zip(time, y, strict=True)]),
        evaluations=np.array(counted),
        accepted=accepted,
        rejected=-1,
        ending=ending,
    )
