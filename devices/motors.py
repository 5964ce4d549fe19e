"""A driver in careful hands: what fails on one of its outputs never leaves the other on.

A driver that raises anything but an error of its own says so in one sentence, not in a traceback.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TypeVar

from hapticsim.errors import DeviceError, HapticsimError

from .base import ZERO, DeviceSample, Driver, Vector

Result = TypeVar("Result")


class Motors:
    """Opens, reads, writes and closes a driver.

    Parameters
    ----------
    driver : not open yet.

    Public attributes: ``force_N``, the force that the driver says it applied; ``on``, whether anything but
    zero was written last; ``reading``, whether a read is under way; ``halts``, how often ``halt`` went to the
    motors.  ``halt`` may be called from another thread, everything else from one.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._writing = threading.Lock()
        self.force_N: Vector = ZERO
        self.on = self.reading = False
        self.halts = 0

    def open(self) -> None:
        """Open the driver.

        Raises
        ------
        DeviceError : it cannot be opened.
        """
        self._careful("open", self._driver.open)

    def close(self) -> None:
        """Close the driver.

        Raises
        ------
        DeviceError : it did not let go.
        """
        self._careful("close", self._driver.close)

    def notice(self, mode: int, fault: int) -> None:
        """Tell the driver what the server says.

        Raises
        ------
        DeviceError : it raised.
        """
        self._careful("notice", lambda: self._driver.notice(mode, fault))

    def read(self, now_s: float) -> DeviceSample:
        """Read the driver.

        Raises
        ------
        DeviceError : it went away, or its read raised.
        """
        self.reading = True
        try:
            return self._careful("read", lambda: self._driver.read(now_s))
        finally:
            self.reading = False

    def apply(self, force_N: Vector, torque_Nm: Vector, halts: int) -> None:
        """Write both; zero where there was another halt than the ``halts`` known when they were decided.

        Raises
        ------
        DeviceError : one of them failed; the other was given zero.
        """
        write, turn = self._driver.write, self._driver.write_torque
        with self._writing:
            if self.halts != halts:  # a force of before, that would come back at once and whole
                force_N = torque_Nm = ZERO
            self.on = force_N != ZERO or torque_Nm != ZERO
            try:
                self.force_N = _sent(self._careful("write", lambda: write(force_N)), force_N)
            except BaseException:
                self._silently(lambda: turn(ZERO))
                raise
            try:
                self._careful("write_torque", lambda: turn(torque_Nm))
            except BaseException:
                self._silently(lambda: write(ZERO))
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
                self._careful("write", lambda: self._driver.write(ZERO))
            finally:
                self._careful("write_torque", lambda: self._driver.write_torque(ZERO))

    def halt(self) -> bool:
        """Zero both while ``read`` hangs; False where that failed, or a write is under way."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            self.halts += 1
            self._driver.halt()
            self.force_N, self.on = ZERO, False
        except Exception:  # the motors may be on: whoever asked will ask again
            return False
        finally:
            self._writing.release()
        return True

    def _careful(self, what: str, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except HapticsimError:
            raise
        except Exception as error:
            name = self._driver.info.name
            raise DeviceError(
                f"driver {name!r}: its {what} failed ({type(error).__name__}: {error}): "
                f"check the device, or try the driver with 'hapticsim device {name} --check'."
            ) from error

    @staticmethod
    def _silently(call: Callable[[], object]) -> None:
        try:
            call()
        except Exception:  # whatever failed first is what is told
            pass


def _sent(returned: Vector, commanded: Vector) -> Vector:
    """What the driver says it sent, or the command where it says nothing usable."""
    try:
        if len(returned) == 3 and math.isfinite(sum(returned)):
            return returned
    except TypeError:
        pass
    return commanded
