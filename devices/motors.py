"""A driver in careful hands: what fails on one of its outputs never leaves the other on.

A driver that raises, or whose ``write`` does not return what it sent, is named in one sentence, not in a
traceback.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from hapticsim.drivers.calls import called
from hapticsim.errors import brief
from hapticsim.wire.messages.measurement import as_force

from .base import ZERO, DeviceSample, Driver, Vector


class Motors:
    """Opens, reads, writes and closes a driver.

    Parameters
    ----------
    driver : not open yet.

    Public attributes: ``force_N``, the force that the driver says it applied; ``on``, whether anything but
    zero was written last; ``reading``, whether a read is under way; ``halts``, how often ``halt`` went to the
    motors; ``odd``, what a write first returned instead of what it sent, for a sentence.  ``halt`` may be
    called from another thread, everything else from one.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._writing = threading.Lock()
        self.force_N: Vector = ZERO
        self.on = self.reading = False
        self.halts = 0
        self.odd = ""

    def open(self) -> None:
        """Open the driver.

        Raises
        ------
        DeviceError : it cannot be opened.
        """
        called(self._driver, "open")

    def close(self) -> None:
        """Close the driver.

        Raises
        ------
        DeviceError : it did not let go.
        """
        called(self._driver, "close")

    def notice(self, mode: int, fault: int) -> None:
        """Tell the driver what the server says.

        Raises
        ------
        DeviceError : it raised.
        """
        called(self._driver, "notice", mode, fault)

    def read(self, now_s: float) -> DeviceSample:
        """Read the driver.

        Raises
        ------
        DeviceError : it went away, or its read raised.
        """
        self.reading = True
        try:
            sample: DeviceSample = called(self._driver, "read", now_s)
            return sample
        finally:
            self.reading = False

    def apply(self, force_N: Vector, torque_Nm: Vector, halts: int) -> None:
        """Write both; zero where there was another halt than the ``halts`` known when they were decided.

        Raises
        ------
        DeviceError : one of them failed; the other was given zero.
        """
        with self._writing:
            if self.halts != halts:  # a force of before, that would come back at once and whole
                force_N = torque_Nm = ZERO
            self.on = force_N != ZERO or torque_Nm != ZERO
            try:
                self.force_N = self._sent("write", force_N)
            except BaseException:
                self._silence("write_torque")
                raise
            try:
                self._sent("write_torque", torque_Nm)
            except BaseException:
                self._silence("write")
                raise

    def zero(self) -> None:
        """Write zero to both, each whatever becomes of the other.

        Raises
        ------
        DeviceError : one of them failed, and may be on.
        """
        with self._writing:
            self.force_N, self.on = ZERO, False
            try:
                called(self._driver, "write", ZERO)
            except BaseException:
                self._silence("write_torque")
                raise
            called(self._driver, "write_torque", ZERO)

    def halt(self) -> bool:
        """Zero both while ``read`` hangs; False where that failed, or a write is under way."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            self.halts += 1
            self._driver.halt()
            self.force_N, self.on = ZERO, False
        except BaseException:  # the motors may be on: whoever asked will ask again
            return False
        finally:
            self._writing.release()
        return True

    def _sent(self, method: str, commanded: Vector) -> Vector:
        """What the driver says it sent, or the command where it says nothing usable."""
        returned: Any = called(self._driver, method, commanded)
        if returned is commanded:
            return commanded
        if (sent := as_force(returned)) is not None:
            return sent
        if not self.odd:
            self.odd = f"{method}() returned {brief(returned)}: return the three numbers really sent"
        return commanded

    def _silence(self, method: str) -> None:
        """Zero one output; whatever failed first is what is told."""
        with suppress(BaseException):
            getattr(self._driver, method)(ZERO)
