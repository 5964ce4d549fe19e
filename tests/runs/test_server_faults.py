"""A server that is killed or stopped under a device: the bridge takes the force away, and finds the next one.

Times are those at which the driver was told a force: its own log, on the monotonic clock.
"""

from __future__ import annotations

import signal
import time

import pytest
from hapticsim_devices.base import ENGAGE, ZERO, Vector

from hapticsim.codes import Safety
from tests.devices.test_bridge import SHARED_MACHINE_S, TIMEOUT_S, Running
from tests.processes import START_S, Place, Program, eventually
from tests.seeds import with_long

DEEP_M = 0.07  # below the start; the table is 50 mm below it
SPEED_M_per_s = 0.1


@pytest.fixture
def endpoint(place: Place) -> str:
    return f"ipc://{place.folder}/hapticsim/device.sock"


def serving(place: Place) -> Program:
    """A server without a device."""
    server = place.start("serve", place.scene())
    server.hears("publish endpoint", START_S)
    server.hears("t ")
    return server


def push(run: Running) -> None:
    """Engage in the middle, then go down into the table; again from the start where this process was held up
    for so long that the server took the force away.
    """
    eventually(lambda: run.driver.modes[-1:] in ([Safety.DISARMED], [Safety.FAULT]))
    for _ in range(10):
        if pushed_once(run):
            return
    raise AssertionError(f"never got to push; modes were {run.driver.modes}")


def pushed_once(run: Running) -> bool:
    driver, depth = run.driver, 0.0
    driver.position = ZERO
    time.sleep(0.3)  # the arm follows only while there is force; without, the start is where it is
    driver.press(ENGAGE)
    until = time.monotonic() + 2.0
    while driver.modes[-1] != Safety.ARMED and time.monotonic() < until:
        time.sleep(0.01)
    while driver.modes[-1] == Safety.ARMED and depth < DEEP_M:
        depth += 0.01 * SPEED_M_per_s
        driver.position = (0.0, 0.0, -depth)
        time.sleep(0.01)
    time.sleep(0.1)
    return driver.modes[-1] == Safety.ARMED and size(run.newest) > 8.0


def size(force: Vector) -> float:
    return sum(c * c for c in force) ** 0.5


@pytest.mark.parametrize("how", with_long([signal.SIGSTOP], [signal.SIGKILL]))
def test_a_lost_server_means_zero_at_the_time_out_and_force_only_after_engaging_with_the_next(
    place, endpoint, how
):
    server = serving(place)
    run = Running(endpoint)
    try:
        push(run)
        struck = time.monotonic()
        server.send(how)
        eventually(lambda: run.newest == ZERO, 2.0)
        late = [t - struck for t, force in run.driver.writes if force != ZERO and t > struck]
        assert max(late, default=0.0) <= TIMEOUT_S + SHARED_MACHINE_S
        eventually(lambda: "Force is zero; looking for a server." in run.stream.getvalue())
        server.kill()
        since = len(run.driver.writes)
        serving(place)
        eventually(lambda: run.stream.getvalue().count("in session") >= 2)
        time.sleep(0.3)
        assert all(force == ZERO for _, force in run.driver.writes[since:])
        push(run)
    finally:
        report = run.end()
    assert report.sessions >= 2 and report.silences >= 1


def test_a_server_that_was_only_stopped_gives_no_force_when_it_wakes(place, endpoint):
    server = serving(place)
    run = Running(endpoint)
    try:
        push(run)
        server.send(signal.SIGSTOP)
        eventually(lambda: run.newest == ZERO, 2.0)
        since = len(run.driver.writes)
        time.sleep(0.3)  # longer than an interruption that ends by itself
        server.send(signal.SIGCONT)
        eventually(lambda: run.driver.modes[-1] in (Safety.DISARMED, Safety.FAULT))
        time.sleep(0.5)
        assert all(force == ZERO for _, force in run.driver.writes[since:])
    finally:
        run.end()
    assert server.stop() == 0


def test_the_device_program_says_that_the_server_is_gone_and_that_it_found_the_next(place):
    server = serving(place)
    device = place.start("device", "scripted")
    device.hears("in session")
    server.kill()
    device.hears("Force is zero; looking for a server.")
    serving(place)
    device.hears("in session", times=2)
    assert device.stop() == 0
