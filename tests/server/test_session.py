"""Between port and loop: what the loop is told of a device, and what leaves while the loop stands still."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import DeviceFlag, Fault, Safety
from hapticsim.server.device_session import DeviceSession
from hapticsim.wire.device.port import News
from hapticsim.wire.messages.device import Hello, State
from tests.processes import CONFIGS

HELLO = Hello("bench", "scripted", "omega_3", 12.0, 5000.0, 30.0, 0.075, 0.2, 1e-5, 1000.0, 3, 3, True)
READY, STOPPED, WATCHDOG = DeviceFlag.READY, DeviceFlag.STOPPED, DeviceFlag.WATCHDOG
ZERO = (0.0, 0.0, 0.0)
STALL_S = 0.009


class Clock:
    """The time of day of a test: it passes when the test says so, whatever the host does meanwhile."""

    def __init__(self) -> None:
        self.now_ns = 10**12

    def monotonic_ns(self) -> int:
        return self.now_ns

    def monotonic(self) -> float:
        return 1e-9 * self.now_ns

    def passes(self, duration_s: float) -> None:
        self.now_ns += round(1e9 * duration_s)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What session, loop and test read in place of the host's clock."""
    clock = Clock()
    monkeypatch.setattr("hapticsim.server.device_session.time", clock)
    monkeypatch.setattr(FakeLoop, "clock", clock, raising=False)
    return clock


class FakeLoop:
    """Keeps what it was told; its force is what the test says."""

    clock: Clock

    def __init__(self) -> None:
        self.assembly = SimpleNamespace(plan=SimpleNamespace(stall_s=STALL_S))
        self.told: list[SimpleNamespace] = []
        self.force, self.mode, self.age_s, self.answers_s = 0.0, Safety.DISARMED, 0.0, 0.0
        self.torque = np.zeros(3)

    def write_device(self, *sample: Any) -> None:
        names = (
            "position",
            "velocity",
            "stamp_ns",
            "present",
            "arms",
            "disarms",
            "sender_s",
            "q",
            "w",
            "flags",
        )
        self.told.append(SimpleNamespace(**dict(zip(names, sample, strict=True))))

    def write_gains(self, *gains: Any) -> None:
        pass

    def read_force(self) -> tuple[np.ndarray, Safety, Fault, int, float, float]:
        now = self.clock.monotonic()
        return np.array([self.force, 0, 0]), self.mode, Fault.NONE, 0, now - self.age_s, self.answers_s


class FakePort:
    def __init__(self) -> None:
        self.sent: list[tuple[float, Safety, Fault]] = []

    def send_force(self, force: Any, mode: int, fault: int, torque: Any = ZERO) -> None:
        self.sent.append((force[0], Safety(mode), Fault(fault)))


class Bench:
    """A session between the two fakes, a message at a time."""

    def __init__(self, resume_within_s: float = 0.1) -> None:
        scene = hs.load(CONFIGS / "puck_and_wall.yaml")
        safety = dataclasses.replace(scene.safety, resume_within_s=resume_within_s)
        self.loop, self.port, self.said = FakeLoop(), FakePort(), list[str]()
        self.session = DeviceSession(
            dataclasses.replace(scene, safety=safety),
            self.loop,
            self.port,
            self.said.append,  # type: ignore[arg-type]
        )
        self.stamp_ns = 0

    def take(self, news: News) -> Any:
        """What the loop was told of it."""
        if self.session._take(news):
            self.session._tell()
        return self.loop.told[-1]

    def state(self, flags: int = READY, **news: Any) -> Any:
        """A state comes, and is answered."""
        self.stamp_ns += 1_000_000
        state = State(ZERO, (1.0, 0.0, 0.0, 0.0), ZERO, ZERO, 0, ZERO, int(flags), None)
        state.stamp_ns = self.stamp_ns
        told = self.take(News(state=state, **news))
        self.session._answer()
        return told

    def armed(self) -> Bench:
        self.take(News(joined=HELLO))
        self.state()
        self.loop.mode, self.loop.force = Safety.ARMED, 10.4
        self.state()
        assert self.port.sent[-1] == (10.4, Safety.ARMED, Fault.NONE)
        return self


def test_while_the_loop_stands_still_nothing_leaves_and_the_loop_is_told_until_it_knows():
    bench = Bench().armed()
    bench.loop.age_s = 0.012
    bench.state()
    assert bench.port.sent[-1] == (0.0, Safety.INTERRUPTED, Fault.STALLED)
    bench.loop.age_s = 0.0005  # it ticks again, and its gap was just too short to be noticed
    for _ in range(3):
        assert bench.state().flags & WATCHDOG
        assert bench.port.sent[-1][:2] == (0.0, Safety.INTERRUPTED), "not 10.4 N in one message"
    bench.loop.mode, bench.loop.force = Safety.INTERRUPTED, 0.0
    bench.state()
    bench.loop.mode, bench.loop.force = Safety.ARMING, 0.1
    assert not bench.state().flags & WATCHDOG
    assert bench.port.sent[-1] == (0.1, Safety.ARMING, Fault.NONE)


def test_when_a_run_ends_the_force_goes_and_a_click_brings_nothing_back():
    bench = Bench().armed()
    before = bench.state()
    bench.session.close()
    ended = bench.state()
    assert (ended.arms, ended.disarms) == (before.arms, before.disarms + 1)
    clicked = bench.state(arm=True)
    assert (clicked.arms, clicked.disarms) == (ended.arms, ended.disarms)
    assert bench.take(News(joined=HELLO, arm=True)).arms == before.arms


def test_a_force_is_withheld_early_enough_to_be_zero_within_the_time_out():
    bench = Bench().armed()
    bench.loop.age_s = 0.0065
    bench.state()
    assert bench.port.sent[-1] == (10.4, Safety.ARMED, Fault.NONE)
    bench.loop.age_s = 0.0075  # the next state is a millisecond away, and its answer a part of one
    bench.state()
    assert bench.port.sent[-1] == (0.0, Safety.INTERRUPTED, Fault.STALLED)


@pytest.mark.parametrize(("resume_within_s", "age_s"), [(0.0, 0.012), (0.1, 0.11)])
def test_a_longer_stall_is_a_fault_and_what_was_said_is_kept(resume_within_s, age_s):
    bench = Bench(resume_within_s).armed()
    disarms = bench.state().disarms
    bench.loop.age_s = age_s
    bench.state()
    assert bench.port.sent[-1] == (0.0, Safety.FAULT, Fault.STALLED)
    assert bench.state().disarms > disarms, "whatever the loop thinks of its gap, it must be asked again"


def test_a_loop_without_force_that_stands_still_keeps_its_mode():
    bench = Bench()
    bench.take(News(joined=HELLO))
    bench.loop.age_s = 5.0
    bench.state()
    assert bench.port.sent[-1] == (0.0, Safety.DISARMED, Fault.NONE)


def test_a_force_that_still_fades_does_not_leave_after_a_stall():
    bench = Bench().armed()
    bench.loop.mode, bench.loop.age_s = Safety.DISARMED, 0.02
    bench.state()
    bench.loop.age_s, bench.loop.force = 0.0, 8.0
    bench.state()
    assert bench.port.sent[-1][0] == 0.0
    bench.loop.force = 0.0
    bench.state()
    bench.loop.mode, bench.loop.force = Safety.ARMING, 0.2
    bench.state()
    assert bench.port.sent[-1][0] == 0.2


def test_a_new_session_gets_nothing_of_the_force_of_the_one_before():
    bench = Bench().armed()
    bench.take(News(joined=HELLO))
    bench.state()
    assert bench.port.sent[-1][0] == 0.0
    bench.loop.mode = Safety.DISARMED  # fading
    bench.state()
    assert bench.port.sent[-1] == (0.0, Safety.DISARMED, Fault.NONE)


def test_a_stop_is_told_until_a_tick_took_it_however_short_it_was():
    bench = Bench().armed()
    told = bench.state(stopped=True)  # of one state before the newest, in the same poll
    assert told.flags & STOPPED
    stopped_s = told.sender_s
    bench.loop.answers_s = stopped_s - 0.001
    assert bench.state().flags & STOPPED and bench.state().flags & STOPPED
    bench.loop.answers_s = stopped_s
    bench.state()
    assert not bench.state().flags & STOPPED


def test_a_device_that_never_says_ready_is_told_why_it_gets_no_force():
    bench = Bench()
    bench.take(News(joined=HELLO))
    assert bench.state(flags=0, stopped=True, arm=True).flags & READY == 0
    assert bench.said[-1] == (
        "no force: the device reports an emergency stop, or does not report that it is ready "
        "(flag 1 of its states); engage again when it does."
    )


def test_a_device_that_left_and_came_back_in_one_poll_is_there():
    bench = Bench().armed()
    told = bench.take(News(left="the device left: bye.", joined=HELLO))
    assert told.present and "the device left: bye." in bench.said
    assert not bench.take(News(left="the device left: bye.")).present


def test_a_state_is_as_old_as_its_stamp_says_not_as_its_arrival(clock):
    bench = Bench().armed()
    for _ in range(50):
        clock.passes(0.001)
        told = bench.state()
    late = State(ZERO, (1.0, 0.0, 0.0, 0.0), ZERO, ZERO, 0, ZERO, int(READY), None)
    late.stamp_ns = bench.stamp_ns + 1_000_000
    clock.passes(0.05)
    told = bench.take(News(state=late))
    age_s = 1e-9 * (clock.now_ns - told.stamp_ns)
    assert age_s == pytest.approx(0.049, abs=1e-4)
