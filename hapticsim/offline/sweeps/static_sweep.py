"""Forward dynamics along a line of configurations, by several algorithms, without integrating anything.

The test program of Cloutier (1995), section 5.1.2: one coordinate goes through its range, everything else is
held, and the smoothness of the accelerations says what rounding did to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hapticsim.equations.base import Equations


@dataclass(frozen=True, eq=False)
class Sweep:
    """What was found at na values of one coordinate."""

    values: np.ndarray  # (na,) [rad] or [m]
    condition: np.ndarray  # (na,) 2-norm condition number of M
    udot: dict[str, np.ndarray]  # by algorithm: (na, nu) [rad/s^2, m/s^2]

    def difference(self, one: str, other: str) -> np.ndarray:
        """(na, nu) relative difference of two algorithms, |one - other| / |one|."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.abs((self.udot[one] - self.udot[other]) / self.udot[one])

    def raggedness(self, algorithm: str, speed: int) -> float:
        """Standard deviation [rad/s^2, m/s^2] of the noise on an acceleration, by its third differences.

        Third differences of white noise are sqrt(20) times as large; those of a smooth curve vanish with the
        third power of the spacing.
        """
        third = np.diff(self.udot[algorithm][:, speed].astype(float), 3)
        return float(np.sqrt(np.mean(third**2) / 20.0))


def sweep(
    equations: Equations,
    coordinate: int,
    values: np.ndarray,
    algorithms: Sequence[str],
    precision: str = "float64",
) -> Sweep:
    """Return the accelerations at rest, without torques, with one entry of q going through ``values``.

    All other coordinates are zero (quaternions the identity).
    """
    still = np.zeros(equations.nu)
    q = equations.model.start()[0]
    condition, udot = [], {name: np.empty((len(values), equations.nu)) for name in algorithms}
    compiled = {name: equations.algorithm(name, precision) for name in algorithms}
    for k, value in enumerate(values):
        q[coordinate] = value
        condition.append(np.linalg.cond(equations.mass_matrix(q)))
        for name, algorithm in compiled.items():
            udot[name][k] = algorithm(q, still, still)
    return Sweep(np.array(values, float), np.array(condition), udot)
