"""What takes the force away on the device's side alone: a stop, a button, a driver that fails."""

from __future__ import annotations

import itertools
import math
import os
import time
from pathlib import Path

import pytest
from hapticsim_devices.base import DISENGAGE, ENGAGE, FIRST, READY, STOPPED, ZERO, DeviceSample, Vector

from hapticsim.codes import Safety
from hapticsim.errors import DeviceError
from hapticsim.wire.messages.device import Arm, Bye, DeviceFlag, Disarm, Hello, State, Welcome
from tests.devices.test_bridge import (
    PUSH,
    SHARED_MACHINE_S,
    TIMEOUT_S,
    FakeServer,
    RecordingDriver,
    armed,
    eventually,
    running,
)

RIDES = Welcome(1000.0, TIMEOUT_S, 8.0, 1e6, resume_within_s=0.4)


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/device.sock"


def states(server: FakeServer) -> list[State]:
    return [m for m in list(server.seen) if isinstance(m, State)]


def stays_zero(run, seconds: float = 0.1) -> bool:
    since = len(run.driver.writes)
    time.sleep(seconds)
    return all(force == ZERO for _, force in run.driver.writes[since:])


@pytest.mark.parametrize("flags", [READY | STOPPED, STOPPED, 0])
def test_an_emergency_stop_takes_the_force_in_the_bridge_whatever_the_server_says(endpoint, flags):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server) as run:
        armed(run)
        server.obedient = False  # armed for ever, and pushing
        run.driver.flags = flags
        eventually(lambda: run.newest == ZERO)
        assert stays_zero(run) and server.count(Disarm) >= 1
        run.driver.press(ENGAGE)
        assert server.count(Arm) == 1, "armed although stopped"
        run.driver.flags = READY
        assert stays_zero(run)
        run.driver.press(ENGAGE)  # the server was not seen disarmed
        assert stays_zero(run) and server.count(Arm) == 1
        server.obedient = True
        eventually(lambda: server.mode == Safety.DISARMED)
        server.mode = Safety.ARMED  # by itself
        assert stays_zero(run, 0.05)
        eventually(lambda: server.mode == Safety.DISARMED and run.driver.modes[-1] == Safety.DISARMED)
        armed(run)
        assert "force is zero until you engage again.\n" in run.stream.getvalue()


def test_a_device_that_is_stopped_from_the_start_is_never_armed(endpoint):
    server = FakeServer(endpoint)
    driver = RecordingDriver()
    driver.flags = READY | STOPPED
    with running(endpoint, server, driver=driver) as run:
        eventually(lambda: run.driver.modes[-1:] == [Safety.DISARMED])
        run.driver.press(ENGAGE)
        assert server.count(Arm) == 0 and stays_zero(run)


def test_disengage_needs_no_server(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server) as run:
        armed(run)
        server.obedient = False
        run.driver.press(DISENGAGE)
        assert stays_zero(run) and server.count(Disarm) >= 1


def test_a_hold_to_run_button_that_is_let_go_takes_the_force_and_disarms(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server, hold_to_run=FIRST) as run:
        eventually(lambda: run.driver.modes[-1:] == [Safety.DISARMED])
        run.driver.press(ENGAGE)
        assert server.count(Arm) == 0
        run.driver.buttons = FIRST
        time.sleep(0.02)
        run.driver.buttons = FIRST | ENGAGE
        eventually(lambda: run.newest == PUSH)
        server.obedient = False
        run.driver.buttons = 0
        eventually(lambda: run.newest == ZERO)
        assert server.count(Disarm) >= 1 and stays_zero(run)
        run.driver.buttons = FIRST  # pressed again, and nobody engaged
        assert stays_zero(run)


def test_engage_itself_can_be_the_button_to_hold(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server, hold_to_run=ENGAGE) as run:
        eventually(lambda: run.driver.modes[-1:] == [Safety.DISARMED])
        run.driver.buttons = ENGAGE
        eventually(lambda: run.newest == PUSH)
        run.driver.buttons = 0
        eventually(lambda: run.newest == ZERO and server.mode == Safety.DISARMED)
        run.driver.buttons = ENGAGE
        eventually(lambda: run.newest == PUSH)


def test_a_position_that_jumps_while_the_velocity_says_zero_is_a_stop_and_flagged(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server) as run:
        armed(run)
        server.obedient = False
        run.driver.position = (0.21, 0.0, 0.0)
        eventually(lambda: run.newest == ZERO)
        assert stays_zero(run)
        assert [s.position_m[0] for s in states(server) if not s.flags & READY] == [0.21]
        assert run.end().jumps == 1
    assert "omega_3: its position jumped by 200 mm; force is zero until you engage" in run.stream.getvalue()


# ---------------------------------------------------------------------------------------- drivers that fail


class Turning(RecordingDriver):
    """Also writes torques; each output can be made to raise, and read to hang."""

    def __init__(self, fails: str = "") -> None:
        super().__init__()
        self.fails, self.broken, self.hang_s = fails, False, 0.0
        self.torques: list[Vector] = []

    def read(self, now_s: float) -> DeviceSample:
        hang_s, self.hang_s = self.hang_s, 0.0
        time.sleep(hang_s)
        return super().read(now_s)

    def write(self, force_N: Vector) -> Vector:
        if self.broken and self.fails == "write":
            raise RuntimeError("USB error 5")
        return super().write(force_N)

    def write_torque(self, torque_Nm: Vector) -> Vector:
        if self.broken and self.fails == "write_torque":
            raise RuntimeError("USB error 5")
        self.torques.append(torque_Nm)
        return torque_Nm


@pytest.mark.parametrize("fails", ["write", "write_torque"])
def test_one_output_that_raises_does_not_leave_the_other_on(endpoint, fails):
    server = FakeServer(endpoint)
    with running(endpoint, server, driver=Turning(fails)) as run:
        armed(run)
        run.driver.broken = True
        run.join()
    assert str(run.error).startswith(
        f"driver 'recording' failed in {fails}(): RuntimeError: USB error 5 (test_bridge_stops.py"
    )
    other = run.driver.torques if fails == "write" else [force for _, force in run.driver.writes]
    assert other[-1] == ZERO and run.driver.closed == 1


def test_a_read_that_raises_anything_is_one_sentence_and_zero(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        run.driver.fail = ZeroDivisionError("float division by zero")
        run.join()
        eventually(lambda: server.count(Bye) == 1)
    assert isinstance(run.error, DeviceError) and "failed in read(): ZeroDivisionError" in str(run.error)
    assert run.newest == ZERO and run.driver.closed == 1


def test_a_read_that_does_not_return_leaves_no_force_on_the_motors(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server, driver=Turning()) as run:
        armed(run)
        hung_s = time.monotonic()
        run.driver.hang_s = 0.12
        eventually(lambda: run.newest == ZERO, 0.25)
        cut = next(t for t, force in run.driver.writes if t > hung_s and force == ZERO)
        assert cut - hung_s < TIMEOUT_S + 0.001 + SHARED_MACHINE_S
        eventually(lambda: run.newest != ZERO, 1.0)  # within the time that both ends ride through
        assert run.end().hangs >= 1
    assert "omega_3: its driver's read did not return in time; zero was applied." in run.stream.getvalue()


@pytest.mark.parametrize(
    "nonsense", [(50.0, 0.0, 0.0), (0.0, 0.0), None, ("a", 0.0, 0.0), (math.inf, 0.0, 0.0)]
)
def test_a_measurement_that_the_wire_would_refuse_gives_no_force_and_says_so_once(endpoint, nonsense):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server) as run:
        armed(run)
        run.driver.position = nonsense
        eventually(lambda: run.newest == ZERO)
        time.sleep(0.05)
        run.driver.position = (0.01, 0.0, 0.0)
        eventually(lambda: run.newest != ZERO)
        assert run.end().bad_samples > 10
    assert run.stream.getvalue().count("read() returned ") == 1


# --------------------------------------------------------------------------------- silences, short and long


def test_a_short_silence_is_ridden_through_without_a_click_and_told(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server) as run:
        armed(run)
        before = run.bridge._guard.interruptions
        server.silent = True
        eventually(lambda: run.newest == ZERO)
        since = len(run.driver.writes)
        time.sleep(0.05)
        server.silent = False
        eventually(lambda: run.newest == PUSH)
        assert server.count(Arm) == 1
        assert "force interrupted" in run.bridge._status()
        report = run.end()
    assert report.interruptions > before
    assert 0.05 < report.longest_interruption_s < 0.4
    assert "force interrupted" in report.text() and "ms at most" in report.text()
    forces = [force[2] for _, force in run.driver.writes[since:]]
    assert max(b - a for a, b in itertools.pairwise(forces)) <= 8.0 * 0.02 + 1e-9  # of the limit, per 2 ms


def test_a_silence_longer_than_agreed_needs_a_click(endpoint):
    terms = Welcome(1000.0, TIMEOUT_S, 8.0, 1e6, resume_within_s=0.05)
    server = FakeServer(endpoint, terms=terms)
    with running(endpoint, server) as run:
        armed(run)
        server.obedient = False
        server.silent = True
        time.sleep(0.12)
        server.silent = False
        assert stays_zero(run, 0.2) and server.count(Disarm) >= 1


def test_a_server_cannot_ask_for_a_slow_bridge_with_a_long_memory(endpoint):
    server = FakeServer(endpoint, terms=Welcome(1.0, 10.0, 8.0, 1e7))
    with running(endpoint, server) as run:
        armed(run)
        assert run.bridge._pacer.period_s <= 0.002
        server.silent = True
        eventually(lambda: run.newest == ZERO, 1.0)
        cut = next(t for t, force in run.driver.writes if t > server.last_force_s and force == ZERO)
        assert cut - server.last_force_s <= 0.020 + SHARED_MACHINE_S


def test_a_refusal_after_a_lost_session_does_not_end_the_run(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint) as run:
        armed(run)
        server.end()
        eventually(lambda: run.newest == ZERO)
        busy = FakeServer(endpoint, refuse="'omega' is connected already: end it first.")
        eventually(lambda: busy.count(Hello) >= 4)
        busy.end()
        again = FakeServer(endpoint)
        eventually(lambda: again.count(State) > 20, 5.0)
        armed(run)
        run.end()
        again.end()
    assert run.error is None
    assert run.stream.getvalue().count("'omega' is connected already") == 1


def test_a_refusal_at_the_start_is_asked_again_for_a_second(endpoint):
    server = FakeServer(endpoint, refuse="'omega' is connected already: end it first.")
    with running(endpoint, server) as run:
        eventually(lambda: server.count(Hello) >= 2)
        server.refuse = ""
        armed(run)
    assert run.error is None


def test_a_computer_that_was_suspended_starts_a_new_session_without_force(endpoint, monkeypatch):
    server = FakeServer(endpoint, terms=RIDES)
    away_s = [3.0]
    monkeypatch.setattr("hapticsim_devices.pacing.suspended_s", lambda: away_s[0])
    with running(endpoint, server) as run:
        armed(run)
        away_s[0] = 3603.0
        eventually(lambda: server.count(Hello) == 2)
        (bye,) = [m for m in list(server.seen) if isinstance(m, Bye)]
        assert bye.reason == "its computer was suspended for 3600 s."
        assert stays_zero(run)
        armed(run)
        assert run.end().suspended == 1


# ------------------------------------------------------------------------------------------ a hung terminal


def test_a_terminal_that_nobody_reads_stops_nothing(endpoint):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    server = FakeServer(endpoint, terms=RIDES)
    with os.fdopen(writer, "w") as stream:
        try:
            with running(endpoint, server, stream=stream) as run:
                armed(run)
                for _ in range(1000):
                    run.bridge._voice.say("a sentence that nobody reads.")
                assert run.bridge._voice.unsaid > 900
                ticks = run.bridge.report.ticks
                eventually(lambda: run.bridge.report.ticks > ticks + 100)
                run.driver.press(DISENGAGE)
                assert run.newest == ZERO
                ended_s = time.monotonic()
                run.end()
                assert time.monotonic() - ended_s < 2.5
        finally:
            os.set_blocking(reader, False)
            while os.read(reader, 65536).strip(b"x"):
                pass
            os.close(reader)
    assert run.driver.closed == 1


def test_flags_of_a_silenced_device_reach_the_server(endpoint):
    server = FakeServer(endpoint, terms=RIDES)
    with running(endpoint, server) as run:
        armed(run)
        server.silent = True
        eventually(lambda: run.newest == ZERO)
        eventually(lambda: states(server)[-1].flags & DeviceFlag.WATCHDOG)
        server.silent = False
        eventually(lambda: not states(server)[-1].flags & DeviceFlag.WATCHDOG)
