"""One loop between a driver and a server, the same for every driver.

Each tick, on absolute deadlines at the rate the server asked for: read the device, send what was measured,
take the newest force, let the guard decide, write it.  Whatever goes wrong, the motors get zero: a silent
server, a command that is not finite, a device that reports nonsense, an exception, a signal.

The hand engages (engagement.py); all buttons travel with the measurement.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import TextIO

from devices.base import ZERO, DeviceSample, Driver, Finished
from devices.engagement import Engagement
from devices.guard import ForceGuard
from devices.pacing import Pacer, quiet_memory
from devices.report import BridgeReport
from devices.voice import Voice
from hapticsim.errors import WireError
from hapticsim.wire.device_link import DeviceLink
from hapticsim.wire.messages import DeviceFlag, Force, Welcome

FIRST_LOOK_S = 0.02  # between two looks for a server before the first session
ANSWER_ALLOWANCE = 5.0  # time-outs that may pass between a measurement and a command that knows of it
WATCHDOG, REFUSED = int(DeviceFlag.WATCHDOG), int(DeviceFlag.REFUSED)


class Bridge:
    """Runs a driver against a server.

    Parameters
    ----------
    driver : not open yet; the bridge opens and closes it.
    link : the device's end of the wire, closed by the bridge at the end of ``run``.
    stop : set it, from any thread or a signal handler, to end the run.
    wait_s : how long to look for a server at the start; None: until stopped.
    once : end with the first session instead of looking for another.
    stream : where sentences and the status line go.
    """

    def __init__(
        self,
        driver: Driver,
        link: DeviceLink,
        *,
        stop: threading.Event | None = None,
        wait_s: float | None = 10.0,
        once: bool = False,
        stream: TextIO = sys.stderr,
    ) -> None:
        self.driver, self.link = driver, link
        self.stop = stop or threading.Event()
        self.wait_s, self.once = wait_s, once
        self.report = BridgeReport()
        limits = driver.info.limits
        self._guard = ForceGuard(
            limits.max_force_N, limits.turning.max_torque_Nm if limits.turning is not None else 0.0
        )
        self._engagement = Engagement(driver, link)
        self._voice = Voice(stream, self._status)
        self._sample: DeviceSample | None = None
        self._force = ZERO
        self._welcome: Welcome | None = None  # terms of the session the guard knows
        self._pacer = Pacer(1.0 / driver.info.rate_Hz)

    def run(self, duration_s: float | None = None) -> BridgeReport:
        """Open the driver, find the server, tick until stopped; returns the report.

        Raises
        ------
        DeviceError : the driver cannot be opened or the device went away.
        WireError : no server, or it refused the device.
        """
        self._voice.start()
        try:
            self.driver.open()
            with quiet_memory():  # before the first hello: a collection of garbage may outlast a session
                welcome = self._find_server()
                if welcome is not None:
                    self._loop(welcome, duration_s)
        except Finished as end:
            self._voice.say(str(end))
        finally:
            self._leave()
        return self.report

    # ------------------------------------------------------------------------------------------------ session

    def _find_server(self) -> Welcome | None:
        give_up = math.inf if self.wait_s is None else time.monotonic() + self.wait_s
        while not self.stop.is_set():
            welcome = self.link.try_connect()
            if welcome is not None:
                return welcome
            if time.monotonic() > give_up:
                raise WireError(
                    f"{self.link.endpoint}: no server answered within {self.wait_s:g} s: "
                    "start one with 'hapticsim run'."
                )
            self.stop.wait(FIRST_LOOK_S)
        return None

    def _change_session(self, welcome: Welcome | None) -> None:
        """Follow the link into a session, or out of one (None)."""
        self._welcome = welcome
        self._engagement.forget()
        if welcome is None:
            self._voice.say(f"{self.link.endpoint}: {self.link.ended} Force is zero; looking for a server.")
            return
        self.report.sessions += 1
        self._pacer.set_period(1.0 / welcome.rate_Hz)
        self._guard.begin(
            welcome.force_limit_N, welcome.slew_limit_N_per_s, welcome.timeout_s, self._pacer.period_s
        )
        limit = min(welcome.force_limit_N, self.driver.info.limits.max_force_N)
        self._voice.say(
            f"{self.driver.info.model}: in session with {self.link.endpoint} at {welcome.rate_Hz:g} Hz, "
            f"up to {limit:g} N."
        )

    # --------------------------------------------------------------------------------------------------- loop

    def _loop(self, welcome: Welcome, duration_s: float | None) -> None:
        self._pacer = pacer = Pacer(1.0 / welcome.rate_Hz)
        self._change_session(welcome)
        last_s = time.monotonic()
        end_s = math.inf if duration_s is None else last_s + duration_s
        while last_s < end_s and not self.stop.is_set():
            now_s = pacer.wait()
            self._tick(now_s, max(now_s - last_s, 0.0))  # the first deadline may be older than last_s
            last_s = now_s
            self.report.ticks, self.report.missed = pacer.ticks, pacer.missed
            self.report.worst_late_s = pacer.worst_late_s
            if self._welcome is None:
                if self.once:
                    return
                self._look_again()

    def _tick(self, now_s: float, elapsed_s: float) -> None:
        sample = self.driver.read(now_s)
        self._sample = sample
        if _is_finite(sample):
            self._send(sample)
        else:
            self.report.bad_samples += 1
        command = self.link.newest_force()
        if self.link.welcome is not self._welcome:
            self._change_session(self.link.welcome)  # before anything of the new session is applied
        refused_before, was_silent = self._guard.not_finite, self._guard.silent
        if command is None:
            force = self._guard.apply(None, -1, math.inf, elapsed_s)
        else:
            self._engagement.hear(command.mode, command.fault)
            force = self._guard.apply(
                command.force_N, command.mode, self._age_s(command), elapsed_s, command.torque_Nm
            )
        usable = _is_finite(sample)
        self._force = self.driver.write(force if usable else ZERO)
        self.driver.write_torque(self._guard.torque_Nm if usable else ZERO)
        # Only now, with the motors served, is there time for words.
        if self._guard.silent and not was_silent:
            self._voice.say(f"{self.link.endpoint}: silent; force is zero until the server is armed again.")
        if self._guard.not_finite > refused_before == 0:
            self._voice.say(f"{self.link.endpoint}: sent a force that is not finite; zero was applied.")
        if self._guard.held:
            self._engagement.refuse_force(now_s)
        self._engagement.press(sample.buttons)

    def _send(self, sample: DeviceSample) -> None:
        flags = sample.flags
        if self._guard.held and self._guard.silences:
            flags |= WATCHDOG
        if self._guard.not_finite > self.report.not_finite:
            self.report.not_finite = self._guard.not_finite
            flags |= REFUSED
        self.link.send_state(
            sample.position_m,
            sample.velocity_m_per_s,
            quaternion=sample.quaternion_wxyz,
            angular_velocity_rad_per_s=sample.angular_velocity_rad_per_s,
            buttons=sample.buttons,
            force_N=sample.force_N,
            flags=flags,
            target_m=sample.target_m,
        )

    def _age_s(self, command: Force) -> float:
        """Time since it arrived, or a fifth of the time since the measurement it answers if that is more.

        The second catches what the first cannot: commands that lay in a queue while this process stood still,
        and a server that talks but no longer hears us.
        """
        answered_s = (time.monotonic_ns() - command.echo_ns) * 1e-9
        return max(self.link.force_age_s(), answered_s / ANSWER_ALLOWANCE)

    def _look_again(self) -> None:
        try:
            self.link.try_connect()
        except WireError as refusal:
            self._voice.say(str(refusal))

    # ------------------------------------------------------------------------------------------ end and words

    def _leave(self) -> None:
        """Zero, goodbye, close: each step is tried whatever the one before did."""
        report, guard, trip = self.report, self._guard, self.link.round_trip
        report.largest_force_N = guard.largest_N
        report.silences, report.not_finite = guard.silences, guard.not_finite
        report.round_trip_p50_us, report.round_trip_p99_us = trip.percentile_us(50), trip.percentile_us(99)
        report.dropped = {str(reason): count for reason, count in self.link.dropped.items()}
        try:
            if self._sample is not None:
                self.driver.write_torque(ZERO)
                self.driver.write(ZERO)
        finally:
            try:
                self.driver.close()
            finally:
                self.link.close()
                self._voice.stop()

    def _status(self) -> str:
        sample = self._sample
        if sample is None:
            return f"looking for a server at {self.link.endpoint}"
        x, y, z = (1e3 * c for c in sample.position_m)
        return (
            f"{self._engagement.words}  handle {x:+6.1f} {y:+6.1f} {z:+6.1f} mm  "
            f"force {math.hypot(*self._force):5.2f} N  "
            f"round trip {self.link.round_trip.percentile_us(50):.0f} us  missed {self.report.missed}"
        )


def _is_finite(sample: DeviceSample) -> bool:
    # The sum is finite only if every term is, and one sum is cheaper than thirteen tests.
    return math.isfinite(
        sum(sample.position_m)
        + sum(sample.velocity_m_per_s)
        + sum(sample.quaternion_wxyz)
        + sum(sample.angular_velocity_rad_per_s)
    )
