"""Motors that must stop: the watchdog against a loop that hangs, a driver that fails, a write under way."""

from __future__ import annotations

import threading
import time

import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.motors import Motors
from hapticsim_devices.scripted import Scripted
from hapticsim_devices.watchdog import Watchdog

PUSH = (5.0, 0.0, 0.0)
TIMEOUT_S = 0.01
SOON_S = 0.2  # on a machine that others use; what it stands against is for ever


class Failing(Scripted):
    """Keeps what was written; its halt fails as often as it is told, and its write takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.force_N, self.fails, self.write_s = ZERO, 0, 0.0

    def write(self, force_N):
        time.sleep(self.write_s)
        self.force_N = force_N
        return force_N

    def halt(self) -> None:
        self.fails -= 1
        if self.fails >= 0:
            raise OSError("the cable is loose")
        self.force_N = ZERO


@pytest.fixture
def driver():
    return Failing()


@pytest.fixture
def motors(driver):
    return Motors(driver)


@pytest.fixture
def watchdog(motors):
    watchdog = Watchdog(motors, TIMEOUT_S)
    watchdog.start()
    yield watchdog
    watchdog.stop()


def is_zero_soon(driver) -> bool:
    give_up = time.monotonic() + SOON_S
    while driver.force_N != ZERO and time.monotonic() < give_up:
        time.sleep(0.001)
    return driver.force_N == ZERO


@pytest.mark.clock
def test_a_halt_that_fails_is_tried_again(driver, motors, watchdog):
    driver.fails = 3
    watchdog.alive()
    motors.apply(PUSH, ZERO, 0)
    assert is_zero_soon(driver) and not motors.on
    assert motors.halts == 4 and watchdog.fired == 1


@pytest.mark.parametrize(("left_s", "stays"), [(10.0, True), (0.0, False), (-0.001, False)])
def test_a_force_that_may_stay_for_less_than_the_time_out_is_halted_by_then(driver, motors, left_s, stays):
    watchdog = Watchdog(motors, 60.0)
    motors.apply(PUSH, ZERO, 0)
    watchdog.alive(left_s)
    assert watchdog.look() <= (left_s if stays else watchdog.timeout_s)
    assert motors.on is stays and (driver.force_N == PUSH) is stays
    watchdog.alive()
    motors.apply(PUSH, ZERO, motors.halts)
    assert 50.0 < watchdog.look() <= 60.0 and motors.on


@pytest.mark.clock
def test_a_write_under_way_when_it_looks_costs_the_watchdog_no_more_than_that(driver, motors, watchdog):
    driver.write_s = 3.0 * TIMEOUT_S
    watchdog.alive()
    writing = threading.Thread(target=motors.apply, args=(PUSH, ZERO, 0), daemon=True)
    writing.start()
    writing.join()
    returned_s = time.monotonic()
    assert is_zero_soon(driver)
    assert time.monotonic() - returned_s < 0.04  # it used to look away for 50 ms


def test_a_force_that_was_decided_before_a_halt_is_not_written_after_it(driver, motors):
    known = motors.halts
    motors.apply(PUSH, ZERO, known)
    assert motors.halt()
    motors.apply(PUSH, ZERO, known)
    assert driver.force_N == ZERO and motors.force_N == ZERO and not motors.on
    motors.apply(PUSH, ZERO, motors.halts)
    assert driver.force_N == PUSH
