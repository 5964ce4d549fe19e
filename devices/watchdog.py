"""Zero from another thread when a driver's ``read`` does not come back.

The bridge's loop says after each tick that it is alive, and how long the force may stay if it says no more.
When that is over and the motors are on, this thread zeroes them (``Driver.halt``).  It sleeps until the
earliest time at which that could be, so it wakes about once per time-out.  It cannot help where the library
holds Python's interpreter while it waits, nor where ``write`` hangs: a device's own watchdog must.
"""

from __future__ import annotations

import math
import threading
import time

from .motors import Motors

AGAIN_S = 0.001  # until the next try, where a write was under way or the driver failed


class Watchdog:
    """Watches one loop.

    Parameters
    ----------
    motors : of the device.

    timeout_s : silence of the loop after which the motors are zeroed.

    Public attributes: ``fired`` (how often that happened), ``hangs`` (how often in the driver's ``read``;
    else the loop itself had no processor).
    """

    def __init__(self, motors: Motors, timeout_s: float) -> None:
        self.timeout_s, self.fired, self.hangs = timeout_s, 0, 0
        self._motors = motors
        self._until_s = time.monotonic() + timeout_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch; the thread has the priority of its caller."""
        self._thread.start()

    def alive(self, left_s: float = math.inf) -> None:
        """The loop ticks; the force may stay for the time-out, or for ``left_s`` where that is less."""
        self._until_s = time.monotonic() + min(self.timeout_s, left_s)

    def stop(self) -> None:
        """End, at once."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=1.0)

    def look(self) -> float:
        """Zero the motors if the force has stayed for too long; returns when to look again [s]."""
        if not self._motors.on:
            return self.timeout_s
        left_s = self._until_s - time.monotonic()
        if left_s > 0.0:
            return left_s
        reading = self._motors.reading
        if self._motors.halt():
            self.fired += 1
            self.hangs += reading
        return AGAIN_S if self._motors.on else self.timeout_s

    def _watch(self) -> None:
        wait_s = 0.0
        while not self._over.wait(wait_s):
            wait_s = self.look()
