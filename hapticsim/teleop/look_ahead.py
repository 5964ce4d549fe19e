"""A ghost without a link: where the mechanism will be shortly if the hand stays where it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.memory.command import command_of
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.teleop.predictor import Prediction, Predictor


class LookAhead:
    """Predict by holding the newest command, and measure later how far off that was.

    Parameters
    ----------
    assembly : what runs.
    ahead_s : how far to look [s].
    """

    def __init__(
        self, assembly: Assembly, ahead_s: float, progress: Callable[[str], Any] | None = None
    ) -> None:
        self.assembly = assembly
        self.ticks = max(1, round(ahead_s * assembly.scene.rate_Hz))
        self.error_m = 0.0
        self._predictor = Predictor(assembly, progress)
        self._said: deque[tuple[int, np.ndarray]] = deque(maxlen=256)  # tick, handle predicted for it

    def predict(self, packed: np.ndarray, tick: int, row: np.ndarray) -> Prediction:
        """Predict from the packed state at the start of ``tick`` with the command of the newest row."""
        command = command_of(row).copy()
        command[3:6] = 0.0  # the hand stays
        command[6] = 0.0  # and its device is heard
        command[-2:] = self.assembly.scene.tick_s, 0.0  # at every tick
        prediction = self._predictor.hold(tick, packed, command, self.ticks)
        if len(prediction.path):
            self._said.append((prediction.tick, self.assembly.handle_position(prediction.q)))
        return prediction

    def measure(self, rows: np.ndarray) -> None:
        """Compare what was predicted for the ticks of these rows (n, columns) with what came."""
        first, last = int(rows[0, 1]), int(rows[-1, 1])
        handle = PLACE["handle_x_m"]
        while self._said and self._said[0][0] <= last:
            tick, predicted = self._said.popleft()
            if tick >= first:
                came = rows[tick - first, handle : handle + 3]
                self.error_m = float(np.linalg.norm(came - predicted))
