"""The row of a tick, as recorder and publisher get it."""

from __future__ import annotations

import numpy as np

from hapticsim.simulate.simulation import Simulation


def row_of(sim: Simulation) -> np.ndarray:
    """(columns,) of the last tick."""
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    return row
