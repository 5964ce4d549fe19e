"""One loop between a driver and a server, the same for every driver.

Each tick, on absolute deadlines at the rate the server asked for: read the device, send what was measured,
take the newest force, let the guard decide, write it.  Whatever goes wrong, the motors get zero: a silent
server, a command that is not finite, a device that reports nonsense, an emergency stop, an exception, a
signal, a read that hangs, a computer that was suspended.

The hand engages and stops (engagement.py); all buttons travel with the measurement.
"""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

from hapticsim.drivers.calls import info_of, name_of
from hapticsim.errors import WireError
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.messages.device import DeviceFlag, Welcome

from .base import READY, SATURATED, ZERO, DeviceInfo, DeviceSample, Driver, Finished
from .bridge_words import BridgeWords
from .engagement import Engagement
from .guard import ForceGuard
from .motors import Motors
from .pacing import Pacer, SleepDetector, quiet_memory
from .plausible import Plausibility, Verdict
from .report import BridgeReport
from .stop_flag import StopFlag
from .voice import Voice
from .watchdog import Watchdog

FIRST_LOOK_S = 0.02  # between two looks for a server before the first session
REFUSAL_PATIENCE_S = 1.0  # a server believes in a device that died for half of it
SLOWEST_HZ, FASTEST_HZ = 500.0, 10_000.0  # of a bridge, whatever rate a server asks for
HANG_S = 0.009  # of a driver's read, or of the loop; within ten milliseconds force must be gone
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
    hold_to_run : buttons of which one must stay down for force; None: what the driver says.
    info : what the driver said of itself, to the server as well; None: it is asked.

    Raises
    ------
    DeviceError : the driver cannot say what it is.
    """

    def __init__(
        self,
        driver: Driver,
        link: DeviceLink,
        *,
        stop: StopFlag | None = None,
        wait_s: float | None = 10.0,
        once: bool = False,
        stream: TextIO = sys.stderr,
        hold_to_run: int | None = None,
        info: DeviceInfo | None = None,
    ) -> None:
        self.driver, self.link = driver, link
        self.stop = stop or StopFlag()
        self.wait_s, self.once = wait_s, once
        self.report = BridgeReport()
        info = info or info_of(driver)  # once: a driver that changes its mind is held to its first word
        limits = info.limits
        self._guard = ForceGuard(
            limits.max_force_N,
            limits.turning.max_torque_Nm if limits.turning is not None else 0.0,
            max_slew_N_per_s=limits.max_slew_N_per_s,
            heating=limits.heating,
        )
        if hold_to_run is None:
            hold_to_run = info.hold_to_run
        self._motors = Motors(driver)
        self._engagement = Engagement(self._motors, link, self._guard, hold_to_run)
        self._plausible = Plausibility()
        self._watchdog = Watchdog(self._motors, HANG_S)
        self._words = BridgeWords(
            link, self._guard, self._engagement, self._plausible, self._motors, info, name_of(driver)
        )
        self._voice = Voice(stream, self._status)
        self._sample: DeviceSample | None = None
        self._welcome: Welcome | None = None  # terms of the session the guard knows
        self._pacer = Pacer(1.0 / info.rate_Hz)
        self._sleep = SleepDetector()
        self._refusal = ""  # of a server, said once
        self._halts = 0  # of the motors, known to the loop

    def run(self, duration_s: float | None = None) -> BridgeReport:
        """Open the driver, find the server, tick until stopped; returns the report.

        Raises
        ------
        DeviceError : the driver cannot be opened, failed, or the device went away.
        WireError : no server, or it refused the device.
        """
        self._voice.start()
        try:
            self._motors.open()
            with quiet_memory():  # before the first hello: a collection of garbage may outlast a session
                welcome = self._find_server()
                if welcome is not None:
                    self._loop(welcome, duration_s)
        except Finished as end:
            self._voice.say(str(end))
        except BaseException:
            self._leave()  # what went wrong in the end is not what went wrong
            raise
        failure = self._leave()
        if failure is not None:
            raise failure
        return self.report

    # ------------------------------------------------------------------------------------------------ session

    def _find_server(self) -> Welcome | None:
        started_s = time.monotonic()
        refused_s = math.inf
        while not self.stop.is_set():
            try:
                welcome = self.link.try_connect()
            except WireError:
                refused_s = min(refused_s, time.monotonic())
                if time.monotonic() - refused_s > REFUSAL_PATIENCE_S:
                    raise
                welcome = None
            if welcome is not None:
                return welcome
            if self.wait_s is not None and time.monotonic() - started_s > self.wait_s:
                raise WireError(
                    f"{self.link.endpoint}: no server answered within {self.wait_s:g} s: "
                    "start one with 'hapticsim run'."
                )
            time.sleep(FIRST_LOOK_S)
        return None

    def _change_session(self, welcome: Welcome | None) -> None:
        """Follow the link into a session, or out of one (None)."""
        self._welcome = welcome
        self._engagement.forget()
        self._voice.say(self._words.session(welcome))
        if welcome is None:
            return
        self._refusal = ""
        self.report.sessions += 1
        self._pacer.set_period(1.0 / min(max(welcome.rate_Hz, SLOWEST_HZ), FASTEST_HZ))
        self._guard.begin(
            welcome.force_limit_N,
            welcome.slew_limit_N_per_s,
            welcome.timeout_s,
            self._pacer.period_s,
            welcome.torque_limit_Nm,
            welcome.resume_within_s,
        )

    def _look_again(self) -> None:
        try:
            self.link.try_connect()
        except WireError as refusal:
            if str(refusal) != self._refusal:
                self._refusal = str(refusal)
                self._voice.say(f"{refusal} Looking again.")

    # --------------------------------------------------------------------------------------------------- loop

    def _loop(self, welcome: Welcome, duration_s: float | None) -> None:
        self._change_session(welcome)
        self._pacer = pacer = Pacer(self._pacer.period_s)
        self._watchdog.start()
        self._sleep = SleepDetector()
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
        slept_s = self._sleep.slept_s()
        if slept_s > 0.0:
            self._wake_up(slept_s)
        began_s = time.monotonic()
        sample = self._motors.read(now_s)
        read_s = time.monotonic() - began_s  # the hand moves while a read hangs
        verdict = self._plausible.judge(sample, elapsed_s + read_s, self._pacer.period_s)
        if verdict is Verdict.UNUSABLE:
            stopped_by = ""
        else:
            self._sample = sample
            stopped_by = self._engagement.stops(sample)
            self._send(sample, verdict)
        command = self.link.newest_force()
        if self.link.welcome is not self._welcome:
            self._change_session(self.link.welcome)  # before anything of the new session is applied
        if command is not None:
            self._engagement.hear(command.mode, command.fault)
        halts, self._halts = self._halts, self._motors.halts
        force = self._guard.apply(
            command.force_N if command else None,
            command.mode if command else -1,
            self.link.force_age_s(),
            elapsed_s,
            command.torque_Nm if command else ZERO,
            answered_s=self.link.answered_s(),
            usable=verdict is Verdict.GOOD,
            halted=self._halts != halts,
            stop=bool(stopped_by) or verdict is Verdict.JUMP,
        )
        self._motors.apply(force, self._guard.torque_Nm, self._halts)
        self._watchdog.alive(self._guard.left_s(self.link.force_age_s()))
        # Only now, with the motors served, is there time for words.
        if verdict is not Verdict.UNUSABLE:
            self._engagement.press(sample.buttons, now_s)
        if self._guard.held or self._guard.stopped:
            self._engagement.refuse_force(now_s)
        for sentence in self._words.news(verdict, stopped_by, self._watchdog.hangs):
            self._voice.say(sentence)

    def _send(self, sample: DeviceSample, verdict: Verdict) -> None:
        flags = sample.flags
        if verdict is Verdict.JUMP:
            flags &= ~READY  # whoever knows no jumps knows what this means
        if self._guard.watchdog:
            flags |= WATCHDOG
        if self._guard.saturated:
            flags |= SATURATED
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

    def _wake_up(self, slept_s: float) -> None:
        """The computer was suspended: nothing of before counts, on either side."""
        self._motors.zero()
        self.report.suspended += 1
        self.link.bye(f"its computer was suspended for {slept_s:.0f} s.")

    # ---------------------------------------------------------------------------------------------------- end

    def _leave(self) -> BaseException | None:
        """Zero, goodbye, close: each step is tried whatever the one before did; returns what failed first."""
        self.report.fill(self._guard, self._plausible, self._watchdog, self.link)
        if self.report.ticks:
            self._voice.say(self.report.text())
        failures: list[BaseException] = []
        steps = (
            self._motors.zero,
            self._motors.close,
            self.link.close,
            self._watchdog.stop,
            self._voice.stop,
        )
        for step in steps if self._sample is not None else steps[1:]:
            try:
                step()
            except BaseException as error:
                failures.append(error)
        return failures[0] if failures else None

    def _status(self) -> str:
        return self._words.status(self._sample, self._motors.force_N, self.report.missed)
