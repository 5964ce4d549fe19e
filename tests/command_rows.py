"""Commands of an operator, as they cross a link."""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.memory.command import AT
from hapticsim.teleop.messages import COLUMNS


def commands(ticks: range, seed: int = 0) -> np.ndarray:
    """(n, COLUMNS) commands as a hand gives them."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((len(ticks), COLUMNS))
    rows[:, 0] = list(ticks)
    rows[:, 1:4] = rng.normal(0.0, 0.05, (len(ticks), 3))
    rows[:, 1 + AT["device_present"]] = 1.0
    rows[:, 1 + AT["coupler_stiffness_N_per_m"]] = 1733.0
    rows[:, 1 + AT["device_qw"]] = 1.0
    return rows
