"""A bridge in virtual time, between a server and a driver that both do whatever they like.

Whatever they do, every force written is finite, within the limits, not faster than allowed, and not there
when something forbids it; and when the driver fails, the last thing that reaches each output is zero.
"""

from __future__ import annotations

import io
import math
import random
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hapticsim_devices.base import (
    DISENGAGE,
    ENGAGE,
    FIRST,
    READY,
    STOPPED,
    ZERO,
    DeviceInfo,
    DeviceSample,
    Driver,
    Vector,
)
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.limits import Heating, device_limits
from hapticsim_devices.plausible import is_usable

from hapticsim.codes import Safety
from hapticsim.errors import DeviceError
from hapticsim.wire.device.round_trip import RoundTrip
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import Force, State, Welcome
from tests.seeds import seeds

LIMIT_N, SLEW = 9.0, 3000.0
TERMS = Welcome(1000.0, 0.01, LIMIT_N, SLEW, torque_limit_Nm=0.1, resume_within_s=0.1)
PERIOD_S = 1e-3


class WildLink:
    """Stands for `DeviceLink`: says what the test tells it to, remembers what was asked."""

    endpoint, ended = "ipc://wild", "the server left: it is wild."

    def __init__(self) -> None:
        self.welcome: Welcome | None = TERMS
        self.force: Force | None = None
        self.age_s, self.answer_s = math.inf, math.inf
        self.arms = self.disarms = 0
        self.sent: State | None = None
        self.round_trip, self.dropped = RoundTrip(), Counter()

    def newest_force(self) -> Force | None:
        return self.force

    def force_age_s(self) -> float:
        return self.age_s

    def answered_s(self) -> float:
        return self.answer_s

    def arm(self) -> None:
        self.arms += 1

    def disarm(self) -> None:
        self.disarms += 1

    def send_state(self, position, velocity, *, quaternion, angular_velocity_rad_per_s, **rest) -> None:
        self.sent = State(position, quaternion, velocity, angular_velocity_rad_per_s, **rest)
        decode(encode(self.sent))

    def close(self) -> None: ...


class WildDriver(Driver):
    """Measures what the test tells it to, and fails when told."""

    name = "wild"

    def __init__(self, options=None) -> None:
        self.sample = DeviceSample(0.0, ZERO)
        self.fails: tuple[str, Exception] | None = None
        self.force = self.torque = ZERO
        self.closed, self.hangs_s = False, 0.0

    @property
    def info(self) -> DeviceInfo:
        limits = replace(device_limits("sigma_7"), heating=Heating(3.0, time_constant_s=0.2))
        return DeviceInfo("wild", "sigma_7", limits, 6, 6, 1000.0, False)

    def _maybe_fail(self, what: str) -> None:
        if self.fails is not None and self.fails[0] == what:
            failure, self.fails = self.fails[1], None  # the next call works: the cable is in again
            raise failure

    def open(self) -> None: ...

    def read(self, now_s: float) -> DeviceSample:
        self._maybe_fail("read")
        time.sleep(self.hangs_s)
        return self.sample

    def write(self, force_N: Vector) -> Vector:
        self._maybe_fail("write")
        self.force = force_N
        return force_N

    def write_torque(self, torque_Nm: Vector) -> Vector:
        self._maybe_fail("write_torque")
        self.torque = torque_Nm
        return torque_Nm

    def notice(self, mode: int, fault: int) -> None:
        self._maybe_fail("notice")

    def close(self) -> None:
        self.closed = True


def bridge_of(driver: WildDriver, link: Any, hold_to_run: int = 0) -> Bridge:
    """A bridge in a session."""
    bridge = Bridge(driver, link, stream=io.StringIO(), hold_to_run=hold_to_run)
    bridge._change_session(link.welcome)
    return bridge


def wild_number(rng: random.Random) -> float:
    return rng.choice([0.0, 1.0, -7.0, 1e3, -1e300, math.nan, math.inf, rng.gauss(0.0, 5.0)])


@pytest.mark.parametrize("seed", seeds(15, 60))
def test_whatever_server_and_driver_do_the_hand_is_safe(seed):
    rng = random.Random(seed)
    driver, link = WildDriver(), WildLink()
    bridge = bridge_of(driver, link, hold_to_run=FIRST if seed % 3 == 0 else 0)
    place, now_s, before, torque_before = ZERO, 100.0, ZERO, ZERO
    may_push = True  # the hand engaged since the last stop
    pushed = 0
    mode, quiet_until, buttons, flags = int(Safety.DISARMED), 0.0, FIRST, READY
    for _ in range(2500):
        elapsed_s = rng.choice([PERIOD_S] * 30 + [2e-3, 5e-3, 0.03, 1.0])
        now_s += elapsed_s
        # a server that mostly does what it is asked, and sometimes what it likes
        if link.arms and mode in (0, 3):
            mode = int(Safety.ARMED)
        elif link.disarms:
            mode = int(Safety.DISARMED)
        link.arms = link.disarms = 0
        if rng.random() < 0.02:
            mode = rng.choice([-1, 99, *map(int, Safety)])
        if rng.random() < 0.01:
            quiet_until = now_s + rng.choice([0.005, 0.02, 0.08, 0.3])
        link.age_s = elapsed_s if now_s < quiet_until else rng.choice([0.0, 1e-3, 2e-3])
        link.age_s = max(link.age_s, now_s - quiet_until + 0.3 if now_s < quiet_until else 0.0)
        link.answer_s = rng.choice([1e-3] * 60 + [0.015, 0.05])
        wild = rng.random() < 0.03
        wanted = tuple(wild_number(rng) if wild else rng.gauss(0.0, 6.0) for _ in range(3))
        torque = tuple(wild_number(rng) if wild else rng.gauss(0.0, 0.1) for _ in range(3))
        if rng.random() < 0.003:
            link.welcome = None if link.welcome else TERMS
        link.force = Force(wanted, torque, mode, 0) if link.welcome is not None else None
        # a hand, and a device that sometimes measures nonsense
        step = [rng.gauss(0.0, 2e-4) for _ in range(3)]
        jumps = rng.random() < 0.003
        place = tuple(
            max(-0.1, min(0.1, p + s)) + (0.0 if not jumps else rng.choice([-3.0, 7.0]) * i)
            for i, (p, s) in enumerate(zip(place, step, strict=True))
        )
        place = tuple(max(-0.1, min(0.1, p)) if not jumps else p for p in place)
        if rng.random() < 0.1:
            buttons = rng.choice([FIRST] * 8 + [FIRST | ENGAGE] * 8 + [DISENGAGE, 0, ENGAGE])
        if rng.random() < 0.02:
            flags = rng.choice([READY] * 8 + [0, READY | STOPPED])
        driver.sample = DeviceSample(now_s, place, buttons=buttons, flags=flags)  # type: ignore[arg-type]
        if rng.random() < 0.01:
            driver.sample.velocity_m_per_s = rng.choice([(math.nan, 0.0, 0.0), None, (1e9, 0.0, 0.0), (0.0,)])
        jumped_before = bridge._plausible.jumps
        bridge._tick(now_s, elapsed_s)
        force, turned = driver.force, driver.torque
        size, turn = math.hypot(*force), math.hypot(*turned)
        assert size <= LIMIT_N * (1.0 + 1e-12) and turn <= 0.1 * (1.0 + 1e-12)
        most = SLEW * min(elapsed_s, 2e-3) * (1.0 + 1e-9) + 1e-12
        assert force == ZERO or math.dist(force, before) <= most
        assert turned == ZERO or math.dist(turned, torque_before) <= most * 0.2 / 12.0 + 1e-9
        usable = is_usable(driver.sample)
        stops = usable and (
            not flags & READY
            or flags & STOPPED
            or buttons & DISENGAGE
            or (seed % 3 == 0 and not buttons & FIRST)
            or bridge._plausible.jumps > jumped_before
        )
        if stops:
            may_push = False
        if size or turn:
            pushed += 1
            assert usable and not stops and may_push and link.welcome is not None
            assert mode in (1, 2) and link.age_s <= 0.01 and link.answer_s <= 0.02 and elapsed_s <= 0.01
            assert all(map(math.isfinite, wanted + torque))
        if link.arms:
            assert not stops
            may_push = True
        before, torque_before = force, turned
    assert pushed > 0, "nothing was tested"


@pytest.mark.parametrize(("moved_m", "jumps"), [(0.012, 0), (0.6, 1)])
def test_a_hand_that_moves_while_a_read_hangs_has_not_jumped(moved_m, jumps):
    driver, link = WildDriver(), WildLink()
    bridge = bridge_of(driver, link)
    for k in range(10):
        driver.sample = DeviceSample(0.0, (2e-4 * k, 0.0, 0.0))
        bridge._tick(5.0 + PERIOD_S * k, PERIOD_S)
    driver.hangs_s = 0.06
    driver.sample = DeviceSample(0.0, (2e-4 * 9 + moved_m, 0.0, 0.0))
    bridge._tick(5.01, PERIOD_S)
    assert bridge._plausible.jumps == jumps


def test_a_silent_server_and_then_a_read_that_hangs_have_one_time_out_together():
    driver, link = WildDriver(), WildLink()
    bridge = bridge_of(driver, link)
    link.answer_s = link.age_s = 1e-3
    for k, mode in enumerate([Safety.DISARMED] * 2 + [Safety.ARMED] * 3):
        link.force = Force((1.0, 0.0, 0.0), ZERO, int(mode), 0)
        bridge._tick(5.0 + PERIOD_S * k, PERIOD_S)
        bridge._engagement.press(ENGAGE * (k == 1), 5.0 + PERIOD_S * k)
    link.age_s = 5.5e-3
    bridge._tick(5.005, PERIOD_S)
    assert bridge._motors.on
    assert bridge._watchdog.look() <= 3.5e-3 or not bridge._motors.on  # 9 ms from the tick on were 14.5


@pytest.mark.parametrize("what", ["read", "write", "write_torque", "notice"])
@pytest.mark.parametrize(
    "error", [DeviceError("gone: plug it in."), ValueError("bad"), OSError(5, "I/O error")]
)
def test_whatever_fails_in_a_driver_the_last_word_to_both_outputs_is_zero(what, error):
    driver, link = WildDriver(), WildLink()
    bridge = bridge_of(driver, link)
    link.age_s = link.answer_s = 1e-3
    now_s = 5.0
    for mode, buttons in [(0, 0), (0, ENGAGE), *[(2, 0)] * 50]:
        now_s += PERIOD_S
        link.force = Force((1.0, 0.0, 0.0), (0.0, 0.0, 0.05), mode, 0)
        driver.sample = DeviceSample(now_s, ZERO, buttons=buttons)
        bridge._tick(now_s, PERIOD_S)
    assert driver.force != ZERO and driver.torque != ZERO
    driver.fails = (what, error)
    link.force = Force((1.0, 0.0, 0.0), (0.0, 0.0, 0.05), 1, 0)
    with pytest.raises(DeviceError):
        bridge._tick(now_s + PERIOD_S, PERIOD_S)
    bridge._leave()
    assert driver.force == ZERO and driver.torque == ZERO and driver.closed
