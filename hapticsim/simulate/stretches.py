"""Virtual time by stretches: a scripted hand, its emulated device and the tick in one compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.codes import MAX_EVENTS
from hapticsim.haptics.delay import delay_in_ticks
from hapticsim.kernels.entry import lockstep_kernel
from hapticsim.kernels.haptics.held_device import HeldDevice
from hapticsim.kernels.haptics.lockstep import Stretch
from hapticsim.simulate.simulation import Simulation
from hapticsim.wire.messages.device import FREE_BUTTONS

EVENTS = 3 * MAX_EVENTS  # that a tick may report
ROOM = 100 * EVENTS  # for events of a stretch: where it is full the stretch ends


class Stretches:
    """Runs a simulation from its start with a driver that can say in numbers what it will do.

    numbers : ``Driver.in_numbers`` of all ticks: the device, and the script of its hand.
    """

    def __init__(self, simulation: Simulation, numbers: tuple[dict[str, Any], Any, Any, Any]) -> None:
        device, self._targets, self._angles, self._buttons = numbers
        scene, self._simulation = simulation.scene, simulation
        self.device = HeldDevice(**device)
        names = [c.name for c in scene.constraints]
        wired = scene.switch_on_button.items()
        self._shared = {
            "button": np.array([FREE_BUTTONS[b] for _, b in wired], np.int64),
            "switched": np.array([names.index(name) for name, _ in wired], np.int64),
            "down": np.array([0, -1, 0], np.int64),
            "under_way": np.zeros((delay_in_ticks(scene), 6)),
            "next": np.zeros(1, np.int64),
            "events": np.zeros((ROOM, 5)),
            "counts": np.zeros(1, np.int64),
        }
        self._kernel = lockstep_kernel()

    def advance(self, rows: np.ndarray, first: int) -> tuple[int, np.ndarray]:
        """Take the ticks of rows (n, columns), the first of which is tick ``first``, as far as events go.

        Returns the number of ticks taken and their events (m, 5): tick, kind, contact, value, time [s].
        """
        ticks = slice(first, first + len(rows))
        stretch = Stretch(
            targets=self._targets[ticks],
            angles=self._angles[ticks],
            buttons=self._buttons[ticks],
            rows=rows,
            **self._shared,
        )
        taken = self._simulation.run_with(self._kernel, self.device, stretch)
        return taken, stretch.events[: int(stretch.counts[0])]
