"""The wire thread: newest device sample into the loop, force out to the device, and nothing else."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from hapticsim.assemble.button_switches import ButtonSwitches
from hapticsim.codes import DeviceFlag, Fault, Safety
from hapticsim.haptics.coupler import Gains
from hapticsim.haptics.delay import FASTEST_AWAITED_HZ, device_rate_Hz
from hapticsim.haptics.joining import limits_of, scene_gains
from hapticsim.haptics.late import PERCENT, TOLD_FROM_S, LateForces
from hapticsim.model.scene import Scene
from hapticsim.realtime.clock import request_priority
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.wire.device.peer_clock import PeerClock
from hapticsim.wire.device.port import DevicePort, News, is_drivable
from hapticsim.wire.messages.device import Hello

PRIORITY = 70  # below the loop, above everything else
POLL_S = 0.002
# An answer waits for the tick that takes its sample, if that is due within DUE_SHARE of the device's period
# (half of it where both are in step), until WAIT_SHARE of it: Python serves one message in about 0.15 ms, and
# must be back for the next.  To a faster loop it answers at once.
DUE_SHARE, WAIT_SHARE = 0.6, 0.85
# A force is withheld so many periods of the device before the loop would call its own stall one: the next
# state is a period away, and its answer takes a part of one to reach the hand.  Without this, zero came 11 ms
# after a loop was stopped (tools/fault_campaign.py, "loop stands still 200 ms").
WITHHELD_PERIODS, LEAST_SHARE = 2.0, 0.75  # the second: of a time-out of a few periods
MOST_PRESSES = 64  # that wait for somebody to take them; more are old
FORCEFUL = (Safety.ARMING, Safety.ARMED)
STAYS_OFF = (Safety.DISARMED, Safety.FAULT)  # until an arm request
ZERO = (0.0, 0.0, 0.0)


class DeviceSession:
    """Serve whatever device is connected to a port.

    Public attributes: ``gains`` of the coupler for the present device (None before the first), ``target``
    (where the hand wants to be, if the device knows), ``force_limit_N``, ``torque_limit_Nm`` (0 where it does
    not turn the hand), ``workspace_radius_m``, and ``presses``: numbers of the constraints whose button was
    pressed, oldest first, for whoever switches.
    """

    def __init__(self, scene: Scene, loop: RealTimeLoop, port: DevicePort, say: Callable[[str], Any]) -> None:
        self.gains: Gains | None = None
        self._late: LateForces | None = None
        self._late_told_s = 0.0  # the lateness that was said last
        self.target: tuple[float, float, float] | None = None
        self.force_limit_N = self.torque_limit_Nm = self.workspace_radius_m = 0.0
        self._scene, self._loop, self._port, self._say = scene, loop, port, say
        self.presses: deque[int] = deque(maxlen=MOST_PRESSES)
        self._buttons = ButtonSwitches(scene)
        self._disarm_wanted, self._closed = threading.Event(), False
        self._arms = self._disarms = 0
        self._position = self._velocity = (0.0, 0.0, 0.0)
        self._quaternion, self._angular_velocity = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        self._stamp_ns, self._sender_s, self._present = 0, 0.0, False
        self._flags = 0
        self._clock = PeerClock()  # of the device
        self._stopped_at_s = -math.inf  # stamp of the newest sample of a device that must not be driven
        self._held = True  # no force leaves before the loop was seen without any
        stall_s = loop.assembly.plan.stall_s
        self._withheld_from_s = max(stall_s - WITHHELD_PERIODS / device_rate_Hz(scene), LEAST_SHARE * stall_s)
        period_s = 1.0 / device_rate_Hz(scene) if scene.rate_Hz <= FASTEST_AWAITED_HZ else 0.0
        self._due_s, self._longest_wait_s = DUE_SHARE * period_s, WAIT_SHARE * period_s

    def disarm(self) -> None:
        """Take the force away; the device has to ask for it again.  From any thread."""
        self._disarm_wanted.set()

    def close(self) -> None:
        """Take the force away because the run ends: whoever engages from now on is not heard."""
        self._closed = True
        self._disarm_wanted.set()

    def run(self, stop: threading.Event, realtime: bool) -> None:
        """Serve until stopped."""
        if realtime:
            request_priority(PRIORITY)
        while not stop.is_set():
            news = self._port.poll(POLL_S)
            if self._take(news):
                self._tell()
            if news.state is not None:
                self._loop.await_force(self._sender_s, self._due_s, self._longest_wait_s)
                self._answer()
                self._soften()

    def _take(self, news: News) -> bool:
        """Apply what came; True when the loop has to be told."""
        if news.left:
            self._disarms += 1
            self._present = False
            self._say(news.left)
        if news.joined is not None:
            self._meet(news.joined)
            self._buttons.forget()
            self._disarms += 1  # whatever was armed before, a new session starts without force
            self._stamp_ns, self._present = 0, True
            self._clock, self._stopped_at_s, self._held = PeerClock(), -math.inf, True
        if news.state is not None:
            self._position, self._velocity = news.state.position_m, news.state.velocity_m_per_s
            self._quaternion = news.state.quaternion
            self._angular_velocity = news.state.angular_velocity_rad_per_s
            self._stamp_ns = self._clock.sent_ns(news.state.stamp_ns, time.monotonic_ns())
            self._sender_s = news.state.stamp_ns * 1e-9
            self._flags = news.state.flags
            if news.stopped:
                self._stopped_at_s = self._sender_s
            if self._stopped_at_s > -math.inf:  # however short the stop was, the loop will have seen it
                self._flags |= DeviceFlag.STOPPED
            self.target = news.state.target_m
            self.presses.extend(self._buttons.pressed(news.state.buttons))
        engages = news.arm and not self._closed
        asked = news.disarm or self._disarm_wanted.is_set()
        if asked:
            self._disarm_wanted.clear()
            self._disarms += 1
        if engages:
            self._arms += 1
            if not is_drivable(self._flags):
                self._say(
                    "no force: the device reports an emergency stop, or does not report that it is ready "
                    "(flag 1 of its states); engage again when it does."
                )
        return bool(news.joined or news.state or asked or engages or news.left)

    def _tell(self) -> None:
        """Give the loop what is known of the device."""
        self._loop.write_device(
            self._position,
            self._velocity,
            self._stamp_ns,
            self._present,
            self._arms,
            self._disarms,
            self._sender_s,
            self._quaternion,
            self._angular_velocity,
            self._flags | (DeviceFlag.WATCHDOG if self._held else 0),
        )

    def _answer(self) -> None:
        """Send the newest force, or none while the loop stands still and until it has noticed.

        The loop decides what a stall means, by its own gap; here its force is only withheld, and its flag
        WATCHDOG says so, until the loop itself gives none.
        """
        force, mode, fault, _, at_s, answered_s = self._loop.read_force()
        silent_s = time.monotonic() - at_s
        if answered_s >= self._stopped_at_s:
            self._stopped_at_s = -math.inf
        gives = mode in FORCEFUL or bool(np.any(force))
        self._held = silent_s > self._withheld_from_s or (self._held and gives)
        if not self._held:
            self._port.send_force(force.tolist(), int(mode), int(fault), self._loop.torque.tolist())
            return
        if mode in FORCEFUL:
            mode, fault = Safety.INTERRUPTED, Fault.STALLED
            if silent_s > self._scene.safety.resume_within_s:
                mode = Safety.FAULT
                self._disarms += 1  # as the loop will find; a word that was given is kept
        self._port.send_force(ZERO, int(mode), int(fault))

    def _soften(self) -> None:
        """Make the coupler softer where forces come later than its gains allow for.

        Disarmed, or after a fault, it may become stiffer again; a run that ends keeps what was felt, for its
        report.
        """
        now_s = time.monotonic()
        if self._late is None or self._closed or not self._late.is_due(now_s):
            return
        _, mode, *_ = self._loop.read_force()
        is_off = mode in STAYS_OFF
        round_trip_s = 1e-6 * self._port.round_trip.percentile_us(PERCENT, self._late.newest)
        gains = self._late.look(round_trip_s, now_s, is_off)
        if gains is not None:
            self._take_gains(gains)
        if is_off:
            self._late_told_s = 0.0
        elif self._late.allows_s > 2.0 * self._late_told_s + TOLD_FROM_S:
            self._late_told_s = self._late.allows_s
            self._say(
                f"forces reach the device {1e3 * self._late_told_s:.1f} ms later than expected: "
                "the coupler is softer for it, until the hand disengages and engages again."
            )

    def _take_gains(self, gains: Gains) -> None:
        """Give the loop the coupler's gains."""
        self._loop.write_gains(
            np.array(gains.translation.as_input),
            gains.rotation.as_input if gains.rotation else (0.0, 0.0, 0.0),
        )
        self.gains = gains

    def _meet(self, hello: Hello) -> None:
        """A device joined: choose the coupler's gains for it, with the delay of the wire."""
        scene, limits = self._scene, limits_of(hello)
        gains = scene_gains(limits, scene)
        self._take_gains(gains)
        self._late, self._late_told_s = LateForces(gains, 1.0 / device_rate_Hz(scene), scene.tick_s), 0.0
        self.force_limit_N, self.workspace_radius_m = gains.translation.limit, limits.workspace_radius_m
        self.torque_limit_Nm = gains.rotation.limit if gains.rotation else 0.0
        self._say(f"device {hello.model} ({hello.driver}): {gains.sentence()}")
        for refusal in gains.refusals:
            self._say(f"{scene.path}: {refusal}")
