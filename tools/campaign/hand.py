"""A bridge in a process of its own whose every write to the motors is kept where others can see it.

    python hand.py ENDPOINT LOG

The hand sways to and fro and clicks seven times a second, which asks for nothing where there is force.
SIGUSR1 makes the driver's next read hang for HANGS_S.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import numpy as np
from hapticsim_devices.base import DeviceSample, Vector
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.pacing import ask_for_priority
from hapticsim_devices.scripted import Scripted

from hapticsim.wire.device.link import DeviceLink

HANGS_S = 0.04
ROWS = 1 << 17  # two minutes at 1 kHz
LOG_BYTES = 8 * 4 * (ROWS + 1)
HAND = {
    "waypoints": [{"time_s": 0.3 * i, "position_m": [0.02 * (-1) ** i, 0.0, 0.0]} for i in range(5)],
    "presses": [{"time_s": 0.1 + 0.15 * i, "button": "engage", "hold_s": 0.05} for i in range(7)],
    "repeat": True,
}


class MotorLog:
    """Rows (t [ns], force (3,) [N]) in a file that two processes map; the first row holds their number."""

    def __init__(self, path: Path, new: bool = False) -> None:
        self._rows = np.memmap(path, np.float64, "w+" if new else "r+", shape=(ROWS + 1, 4))

    def add(self, force_N: Vector) -> None:
        n = int(self._rows[0, 0])
        self._rows[1 + n % ROWS] = (1e-9 * time.monotonic_ns(), *force_N)
        self._rows[0, 0] = n + 1

    @property
    def written(self) -> int:
        return int(self._rows[0, 0])

    def since(self, number: int) -> np.ndarray:
        """Rows (n, 4) from this number on."""
        places = 1 + np.arange(max(number, self.written - ROWS), self.written) % ROWS
        return np.array(self._rows[places])


class Logged(Scripted):
    """The scripted hand with a log."""

    log: MotorLog
    hangs = False

    def read(self, now_s: float) -> DeviceSample:
        if self.hangs:
            self.hangs = False
            time.sleep(HANGS_S)
        return super().read(now_s)

    def write(self, force_N: Vector) -> Vector:
        self.log.add(force_N)
        return super().write(force_N)


def main() -> None:
    driver = Logged(HAND)
    driver.log = MotorLog(Path(sys.argv[2]), new=True)
    ask_for_priority()
    bridge = Bridge(driver, DeviceLink(sys.argv[1], driver.info.hello()), wait_s=None)
    signal.signal(signal.SIGTERM, lambda *_: bridge.stop.set())
    signal.signal(signal.SIGUSR1, lambda *_: setattr(driver, "hangs", True))
    bridge.run()


if __name__ == "__main__":
    main()
