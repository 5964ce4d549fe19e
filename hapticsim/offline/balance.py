"""How far the energy of an off-line run is off from what its torques and its damping account for.

An explicit method with a fixed step does not notice that the step is too long: it ends with numbers as good
as any.  The energy does: E(t) = E(0) + the integral of (tau - damping u) . u.
"""

from __future__ import annotations

import numpy as np

QUADRATURE = 1e-2  # of the work turned over, that samples this far apart may miss


def unexplained_energy(time: np.ndarray, energy: np.ndarray, power: np.ndarray) -> float:
    """Return the largest |E - E(0) - work| beyond what the quadrature of the work may miss [J].

    time (ns,) [s], energy (ns,) [J], power (ns, nu) of each joint's force [W].
    """
    if len(time) < 2:
        return 0.0
    step = np.diff(time)
    with np.errstate(over="ignore", invalid="ignore"):
        total, turned = power.sum(axis=1), np.abs(power).sum(axis=1)
        work = np.concatenate([[0.0], np.cumsum(0.5 * step * (total[1:] + total[:-1]))])
        allowed = QUADRATURE * np.concatenate([[0.0], np.cumsum(0.5 * step * (turned[1:] + turned[:-1]))])
        off = np.abs(energy - energy[0] - work) - allowed
    return float(max(np.max(np.where(np.isfinite(off), off, np.inf)), 0.0))
