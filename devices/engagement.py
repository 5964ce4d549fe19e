"""Who wants force, and who gives it: the hand's buttons ask, the server's word is remembered.

Pressing ENGAGE asks the server to arm, only if it last said DISARMED or FAULT and the guard agrees.  The hand
and the device stop the force here, without asking anybody: DISENGAGE, a hold-to-run button that is let go, an
emergency stop, a device that is not ready.  The server is asked to disarm as well.

A server that is still armed, or means to arm by itself, while nothing may be let through never noticed: it is
asked to disarm, because force must not come back by itself.
"""

from __future__ import annotations

import math

from hapticsim.codes import Fault, Safety
from hapticsim.wire.device.link import DeviceLink

from .base import DISENGAGE, ENGAGE, READY, STOPPED, DeviceSample
from .guard import FORCEFUL, STILL, ForceGuard
from .motors import Motors

DISARM_AGAIN_S = 0.1  # how often a server that is armed although nothing is let through is asked to disarm
WILLING = (*FORCEFUL, Safety.INTERRUPTED)  # what leads to force without another word from here


class Engagement:
    """The talk about force between a hand and a server.

    Parameters
    ----------
    motors : their driver is told when the server's mode or fault changes.
    link : carries what is asked for.
    guard : knows what may be let through.
    hold_to_run : buttons of which one must stay down for force; 0: none.
    """

    def __init__(self, motors: Motors, link: DeviceLink, guard: ForceGuard, hold_to_run: int = 0) -> None:
        self._motors, self._link, self._guard, self._hold_to_run = motors, link, guard, hold_to_run
        self._mode, self._fault = -1, 0  # last heard from the server; -1: nothing in this session
        self._buttons = 0
        self._asked_to_disarm_s = -math.inf

    def hear(self, mode: int, fault: int) -> None:
        """What the server says: codes.Safety and bits of codes.Fault."""
        if mode != self._mode or fault != self._fault:
            self._mode, self._fault = mode, fault
            self._motors.notice(mode, fault)

    def forget(self) -> None:
        """The session is another one, or over."""
        self.hear(-1, 0)

    def stops(self, sample: DeviceSample) -> str:
        """Why the hand or the device wants no force now; empty if nothing stops it."""
        if sample.flags & STOPPED:
            return "the emergency stop is pressed"
        if not sample.flags & READY:
            return "the device is not ready"
        if sample.buttons & DISENGAGE:
            return "disengaged"
        if self._hold_to_run and not sample.buttons & self._hold_to_run:
            return "the hold-to-run button is up"
        return ""

    def press(self, buttons: int, now_s: float) -> None:
        """The buttons of this tick, after the guard decided; only what changed asks for anything."""
        rising, falling = buttons & ~self._buttons, self._buttons & ~buttons
        self._buttons = buttons
        let_go = falling & self._hold_to_run and not buttons & self._hold_to_run
        if rising & DISENGAGE or let_go:
            self._disarm(now_s)
        elif rising & ENGAGE and self._mode in STILL and self._guard.engage():
            self._link.arm()

    def refuse_force(self, now_s: float) -> None:
        """Called while the guard lets nothing through: ask a server that is armed all the same to disarm."""
        if self._mode in WILLING and now_s - self._asked_to_disarm_s > DISARM_AGAIN_S:
            self._disarm(now_s)

    def _disarm(self, now_s: float) -> None:
        self._asked_to_disarm_s = now_s
        self._link.disarm()

    @property
    def words(self) -> str:
        """The mode and the fault, for the status line."""
        mode = Safety(self._mode).name if self._mode >= 0 else "no server"
        return f"{mode} ({Fault(self._fault).name})" if self._fault else mode
