"""The bridge when the other side misbehaves: zero force, one sentence, and no force by itself afterwards."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
from hapticsim_devices.base import ZERO, Finished

from hapticsim.codes import Safety
from hapticsim.errors import DeviceError
from hapticsim.wire.messages.device import Bye, DeviceFlag, Disarm, Hello, State
from tests.devices.test_bridge import SHARED_MACHINE_S, TIMEOUT_S, FakeServer, armed, eventually, running


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/device.sock"


def test_a_silent_server_means_zero_at_the_time_out_and_one_sentence(endpoint):
    server = FakeServer(endpoint)
    delays = []
    with running(endpoint, server) as run:
        for _ in range(5):
            armed(run)
            silences = run.bridge._guard.silences
            server.silent = True
            eventually(lambda: run.newest == ZERO, 1.0)
            cut = next(t for t, force in run.driver.writes if t > server.last_force_s and force == ZERO)
            delays.append(cut - server.last_force_s)
            too_late_s = server.last_force_s + TIMEOUT_S + SHARED_MACHINE_S
            assert not [force for t, force in run.driver.writes if t > too_late_s and force != ZERO]
            assert run.bridge._guard.silences == silences + 1
            server.silent = False
            eventually(lambda: run.driver.modes[-1] == Safety.DISARMED)
    assert sorted(delays)[2] <= TIMEOUT_S
    sentences = run.stream.getvalue().count("silent; force is zero until the server is armed again.\n")
    assert 5 <= run.bridge.report.silences == sentences


def test_force_does_not_come_back_by_itself_after_a_silence(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        server.obedient = False  # stays ARMED whatever the bridge asks
        server.silent = True
        eventually(lambda: run.newest == ZERO)
        since = len(run.driver.writes)
        server.silent = False
        eventually(lambda: server.count(Disarm) >= 2)
        assert all(force == ZERO for _, force in run.driver.writes[since:])
        flags = [m.flags for m in list(server.seen) if isinstance(m, State)][-1]
        assert flags & DeviceFlag.WATCHDOG
        server.obedient = True
        eventually(lambda: server.mode == Safety.DISARMED)
        armed(run)


def test_a_force_that_is_not_finite_never_reaches_the_motors(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        server.force = (math.nan, math.inf, 0.0)
        eventually(lambda: run.newest == ZERO)
    assert all(math.isfinite(sum(force)) for _, force in run.driver.writes)
    assert run.bridge.report.dropped["value"] > 0


def test_forces_of_another_session_are_silence(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        server.session_error = 7
        eventually(lambda: run.newest == ZERO)
    assert run.bridge.report.dropped["session"] > 0


def test_a_server_that_talks_without_hearing_is_stale(endpoint):
    server = FakeServer(endpoint)
    real_send = server._send
    with running(endpoint, server) as run:
        armed(run)
        old = time.monotonic_ns()
        server._send = lambda socket, peer, message, session, echo: real_send(
            socket, peer, message, session, old
        )
        eventually(lambda: run.newest == ZERO, 1.0)
        assert time.monotonic_ns() - old < 0.5e9


def test_a_server_that_comes_back_gets_a_new_hello_and_must_be_armed_again(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint) as run:
        armed(run)
        server.end()
        eventually(lambda: run.newest == ZERO)
        again = FakeServer(endpoint)
        with_force = len(run.driver.writes)
        eventually(lambda: again.count(Hello) >= 1 and again.count(State) > 50)
        assert all(force == ZERO for _, force in run.driver.writes[with_force:])
        armed(run)
        run.end()
        again.end()
    assert run.bridge.report.sessions == 2


def test_a_measurement_that_is_not_finite_is_not_sent_and_gives_no_force(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        run.driver.position = (math.nan, 0.0, 0.0)
        eventually(lambda: run.newest == ZERO)
    assert run.bridge.report.bad_samples > 0
    assert all(math.isfinite(sum(m.position_m)) for m in server.seen if isinstance(m, State))


def test_a_device_that_goes_away_ends_the_run_with_its_sentence_and_a_goodbye(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        run.driver.fail = DeviceError("omega_3: the cable came off: plug it in.")
        run.join()
        eventually(lambda: server.count(Bye) == 1)
    assert str(run.error) == "omega_3: the cable came off: plug it in."
    assert run.newest == ZERO and run.driver.closed == 1


def test_a_driver_the_user_closed_ends_the_run_without_an_error(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        run.driver.fail = Finished("the pad window was closed.")
        run.join()
    assert run.error is None
    assert "the pad window was closed.\n" in run.stream.getvalue()


def test_a_refusal_by_the_server_is_the_error(endpoint):
    server = FakeServer(endpoint, refuse="'omega' is connected already: end it first.")
    with running(endpoint, server) as run:
        run.join()
    assert str(run.error) == f"{endpoint}: 'omega' is connected already: end it first."
    assert run.driver.closed == 1


def test_no_server_is_one_sentence(endpoint):
    with running(endpoint, wait_s=0.1) as run:
        run.join()
    assert str(run.error) == (f"{endpoint}: no server answered within 0.1 s: start one with 'hapticsim run'.")


def test_once_means_one_session(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, once=True) as run:
        armed(run)
        server.end()
        report = run.join()
    assert run.error is None
    assert report.sessions == 1 and run.newest == ZERO


def test_a_slow_collection_of_garbage_costs_no_session(endpoint, monkeypatch):
    monkeypatch.setattr("gc.collect", lambda: time.sleep(0.3))  # longer than the silence that ends a session
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        report = run.end()
    assert report.sessions == 1 and server.count(Hello) == 1
