"""Who wants force, and who gives it: the hand's buttons ask, the server's word is remembered.

Pressing ENGAGE asks the server to arm, only if it last said DISARMED or FAULT; pressing DISENGAGE asks it to
disarm.  A server that is still armed after it had been silent never noticed: it is asked to disarm, because
force must not come back by itself.
"""

from __future__ import annotations

import math

from devices.base import DISENGAGE, ENGAGE, Driver
from devices.guard import FORCEFUL, STILL
from hapticsim.codes import Fault, Safety
from hapticsim.wire.device_link import DeviceLink

DISARM_AGAIN_S = 0.1  # how often a server that is still armed after a silence is asked to disarm


class Engagement:
    """The talk about force between a hand and a server.

    Parameters
    ----------
    driver : told when the server's mode or fault changes.
    link : carries what is asked for.
    """

    def __init__(self, driver: Driver, link: DeviceLink) -> None:
        self._driver, self._link = driver, link
        self._mode, self._fault = -1, 0  # last heard from the server; -1: nothing in this session
        self._buttons = 0
        self._asked_to_disarm_s = -math.inf

    def hear(self, mode: int, fault: int) -> None:
        """What the server says: codes.Safety and bits of codes.Fault."""
        if mode != self._mode or fault != self._fault:
            self._mode, self._fault = mode, fault
            self._driver.notice(mode, fault)

    def forget(self) -> None:
        """The session is another one, or over."""
        self.hear(-1, 0)

    def press(self, buttons: int) -> None:
        """The buttons of this tick; only one that went down asks for anything."""
        rising = buttons & ~self._buttons
        self._buttons = buttons
        if rising & DISENGAGE:
            self._link.disarm()
        elif rising & ENGAGE and self._mode in STILL:
            self._link.arm()

    def refuse_force(self, now_s: float) -> None:
        """Called while the guard lets nothing through: ask a server that is armed all the same to disarm."""
        if self._mode in FORCEFUL and now_s - self._asked_to_disarm_s > DISARM_AGAIN_S:
            self._asked_to_disarm_s = now_s
            self._link.disarm()

    @property
    def words(self) -> str:
        """The mode and the fault, for the status line."""
        mode = Safety(self._mode).name if self._mode >= 0 else "no server"
        return f"{mode} ({Fault(self._fault).name})" if self._fault else mode
