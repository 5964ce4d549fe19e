"""The kit for authors of drivers: a good driver passes, and each defect fails exactly the check it is for."""

from __future__ import annotations

import itertools
import math
import re
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from hapticsim_devices.base import ENGAGE, READY, UPRIGHT, ZERO, DeviceInfo, DeviceSample, Driver, Vector
from hapticsim_devices.conformance import CHECKS, FAILED, OK, UNSEEN, examine, examine_all, failure
from hapticsim_devices.conformance.person import check_frames
from hapticsim_devices.conformance.with_server import Supervised
from hapticsim_devices.limits import device_limits
from hapticsim_devices.scripted import Scripted

from hapticsim.errors import DeviceError
from hapticsim.wire.device.link import DeviceLink

pytestmark = pytest.mark.clock


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Checks of half the length, with less patience: sixty drivers are examined here."""
    monkeypatch.setattr("hapticsim_devices.conformance.bench.READS", 300)
    monkeypatch.setattr("hapticsim_devices.conformance.with_server.PATIENCE_S", 2.5)
    monkeypatch.setattr("hapticsim_devices.conformance.person.PUSH_S", 0.2)


class Hardware:
    """What stays when a driver is closed: a handle that somebody moves to and fro, and motors."""

    force: Vector = ZERO


class Good(Driver):
    """Keeps the contract."""

    name = "good"
    emulated = True  # its time may be virtual, which makes these tests short

    def __init__(self, options=None) -> None:
        Hardware.force = ZERO
        self.reads = self.writes = 0

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo(self.name, "omega_3", device_limits("omega_3"), 3, 3, 1000.0, self.emulated)

    def open(self) -> None: ...

    def read(self, now_s: float) -> DeviceSample:
        self.reads += 1
        phase = 2.0 * math.pi * now_s
        return DeviceSample(
            now_s,
            (0.01 * math.sin(phase), 0.0, 0.0),
            (0.01 * 2.0 * math.pi * math.cos(phase), 0.0, 0.0),
            force_N=Hardware.force,
        )

    def write(self, force_N: Vector) -> Vector:
        self.writes += 1
        Hardware.force = force_N
        return force_N

    def close(self) -> None:
        Hardware.force = ZERO


class SaysNothingUsable(Good):
    @property
    def info(self) -> DeviceInfo:
        return replace(super().info, dof_in=0)


class ClosesOnlyOnce(Good):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise DeviceError("it is closed already: close it once.")
        self.closed = True
        super().close()


class MeasuresNaN(Good):
    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        return sample if self.reads % 50 else replace(sample, velocity_m_per_s=(math.nan, 0.0, 0.0))


class MeasuresNoQuaternion(Good):
    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        return sample if self.reads % 50 else replace(sample, quaternion_wxyz=(0.0, 0.0, 0.0, 0.0))


class IsNeverReady(Good):
    def read(self, now_s: float) -> DeviceSample:
        return replace(super().read(now_s), flags=0)


class GivesMillimetresPerSecond(Good):
    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        return replace(sample, velocity_m_per_s=tuple(1e3 * v for v in sample.velocity_m_per_s))


class GivesNoVelocity(Good):
    def read(self, now_s: float) -> DeviceSample:
        return replace(super().read(now_s), velocity_m_per_s=ZERO)


class LosesCounts(Good):
    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        return replace(sample, position_m=(sample.position_m[0], 0.1 * (self.reads // 250 % 2), 0.0))


class HasAClockOfItsOwn(Good):
    def read(self, now_s: float) -> DeviceSample:
        return replace(super().read(now_s), time_s=now_s - 1000.0)


class WaitsForEveryFrame(Good):
    emulated = False

    def read(self, now_s: float) -> DeviceSample:
        time.sleep(0.0015)
        return super().read(now_s)


class HangsInReadNowAndThen(Good):
    emulated = False

    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        time.sleep(0.0 if self.reads % 40 else 0.015)
        return sample


class HangsInWriteNowAndThen(Good):
    def write(self, force_N: Vector) -> Vector:
        super().write(force_N)
        time.sleep(0.0 if self.writes % 40 else 0.008)
        return force_N


class ReturnsNoForce(Good):
    def write(self, force_N: Vector) -> Vector:
        super().write(force_N)
        return None  # type: ignore[return-value]


class ReturnsMillinewtons(Good):
    def write(self, force_N: Vector) -> Vector:
        return tuple(1e3 * f for f in super().write(force_N))  # type: ignore[return-value]


class SmoothsTheForce(Good):
    def write(self, force_N: Vector) -> Vector:
        smooth = tuple(0.9 * a + 0.1 * b for a, b in zip(Hardware.force, force_N, strict=True))
        return super().write(smooth)  # type: ignore[arg-type]


class SendsZeroLate(Good):
    def __init__(self, options=None) -> None:
        super().__init__(options)
        self.queue = [ZERO] * 30

    def write(self, force_N: Vector) -> Vector:
        self.queue.append(force_N)
        super().write(self.queue.pop(0))
        return force_N


class CannotBeHalted(Good):
    def halt(self) -> None:
        raise RuntimeError("wrong thread")


class HaltsNothing(Good):
    def halt(self) -> None: ...


class ClosesWithForce(Good):
    def __init__(self, options=None) -> None:
        self.reads = self.writes = 0

    def close(self) -> None: ...


class FailsWhenTold(Good):
    def notice(self, mode: int, fault: int) -> None:
        raise KeyError(mode)


class FailsToPress(Good):
    """Its button hangs: nobody can engage."""

    def read(self, now_s: float) -> DeviceSample:
        return replace(super().read(now_s), buttons=2)


class RaisesInWrite(Good):
    def write(self, force_N: Vector) -> Vector:
        raise ValueError("USB")


DEFECTS = {
    SaysNothingUsable: "info",
    ClosesOnlyOnce: "open",
    MeasuresNaN: "measurement",
    MeasuresNoQuaternion: "measurement",
    IsNeverReady: "ready",
    GivesMillimetresPerSecond: "units",
    GivesNoVelocity: "units",
    LosesCounts: "motion",
    HasAClockOfItsOwn: "time",
    WaitsForEveryFrame: "rate",
    HangsInReadNowAndThen: "read",
    HangsInWriteNowAndThen: "write",
    ReturnsNoForce: "force",
    ReturnsMillinewtons: "force",
    SendsZeroLate: "zero",
    SmoothsTheForce: "zero",
    CannotBeHalted: "halt",
    HaltsNothing: "halt",
    ClosesWithForce: "close",
    FailsWhenTold: "bridge",
    FailsToPress: "bridge",
}


SLOW = (FailsToPress, WaitsForEveryFrame, IsNeverReady, HangsInReadNowAndThen)  # seconds each


class Real(Good):
    """Against the clock, as a device of hardware is."""

    emulated = False


@pytest.mark.parametrize("check", CHECKS)
def test_a_driver_that_keeps_the_contract_passes(check):
    assert failure(check, Real) is None


@pytest.mark.parametrize("check", CHECKS)
def test_the_emulated_devices_keep_it(check):
    assert failure(check, Scripted, {"turning": True}) is None


@pytest.mark.parametrize(
    "defect",
    [pytest.param(d, marks=pytest.mark.long if d in SLOW else (), id=d.__name__) for d in DEFECTS],
)
def test_a_defect_fails_its_check_and_no_other(defect):
    failed = [f for f in examine_all(defect) if f.outcome == FAILED]
    assert [f.check for f in failed] == [DEFECTS[defect]], [f.line for f in failed]
    assert ":" in failed[0].words and failed[0].words.endswith(".")


def test_a_bridge_that_holds_its_force_for_too_long_is_found(monkeypatch):
    age_s = DeviceLink.force_age_s
    monkeypatch.setattr(DeviceLink, "force_age_s", lambda link: age_s(link) - 0.02)
    found = examine("bridge", Real)
    assert found.outcome == FAILED
    assert re.fullmatch(
        r"force was gone \d\d\.\d ms after the server fell silent, 10 are allowed: see the check 'rate', let "
        r"'halt' act while 'read' waits, or close other programs\.",
        found.words,
    )


def test_the_time_of_a_write_that_hangs_is_counted_apart_from_the_bridges():
    class Slow(Good):
        def write(self, force_N: Vector) -> Vector:
            time.sleep(0.02)
            return super().write(force_N)

    driver, began_s = Supervised(Slow()), time.monotonic()
    driver.write(ZERO)
    ended_s = time.monotonic()
    assert 0.02 <= driver.in_writes_s(began_s, ended_s) <= ended_s - began_s
    assert driver.in_writes_s(began_s, began_s + 0.001) <= 0.001
    assert driver.in_writes_s(ended_s, math.inf) == 0.0


def test_what_nobody_can_see_is_said_and_is_no_failure():
    class Still(Good):
        def read(self, now_s: float) -> DeviceSample:
            return DeviceSample(now_s, ZERO, ZERO, UPRIGHT, flags=READY)

    found = {f.check: f.outcome for f in examine_all(Still)}
    assert {c for c, outcome in found.items() if outcome == UNSEEN} == {"engage", "units", "zero", "halt"}
    assert FAILED not in found.values()


@pytest.mark.parametrize(
    ("pressed", "line"),
    [
        (
            lambda _: ENGAGE,
            "FAILED  engage       ENGAGE is down in every measurement: force comes at a press, ",
        ),
        (lambda _: 0, "UNSEEN  engage       ENGAGE was never down, without which no force comes: press it "),
        (lambda reads: ENGAGE * (reads % 500 > 400), "OK      engage       ENGAGE was pressed"),
    ],
)
def test_a_driver_that_never_asks_for_force_is_told_so(pressed, line):
    class Pressed(Good):
        def read(self, now_s: float) -> DeviceSample:
            return replace(super().read(now_s), buttons=pressed(self.reads))

    assert examine("engage", Pressed).line.startswith(line)


def test_an_exception_of_a_driver_is_a_finding_in_a_sentence():
    words = failure("write", RaisesInWrite)
    assert re.fullmatch(
        r"the driver raised ValueError: USB \(test_conformance.py line \d+\): raise nothing but DeviceError, "
        r"in one sentence with a remedy, when the device is gone\.",
        words,
    )


def test_a_device_that_is_not_there_is_a_finding_with_its_own_sentence():
    class Away(Good):
        def open(self) -> None:
            raise DeviceError("omega_3: no device on USB: plug it in.")

    assert examine("measurement", Away).line == "FAILED  measurement  omega_3: no device on USB: plug it in."


class Moved(Good):
    """A handle at whose other end a person answers questions; ``axes`` is what the driver makes of them."""

    axes = (0, 1, 2)
    at = 0

    def read(self, now_s: float) -> DeviceSample:
        places = [ZERO, (0.08, 0.0, 0.0), ZERO, (0.0, 0.07, 0.01), ZERO, (0.0, 0.0, 0.09)]
        here = places[min(Moved.at - 1, 5)]
        return DeviceSample(now_s, tuple(here[i] for i in self.axes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("axes", "felt", "outcome"),
    [
        ((0, 1, 2), ("right", "away", "up"), OK),
        ((1, 0, 2), ("right", "away", "up"), FAILED),
        ((0, 2, 1), ("right", "away", "up"), FAILED),
        ((0, 1, 2), ("left", "away", "up"), FAILED),
        ((0, 1, 2), ("right", "away", "down"), FAILED),
    ],
)
def test_a_person_says_which_way_the_handle_went_and_pushed(axes, felt, outcome):
    asked = itertools.count(1)
    answers = iter(felt)

    def ask(question: str) -> str:
        Moved.at = next(asked)
        return f" {next(answers).title()} " if question.startswith("Which way") else ""

    class Turned(Moved):
        pass

    Turned.axes = axes
    found, words = check_frames(Turned, ask)
    assert found == outcome, words
    assert Hardware.force == ZERO


@pytest.mark.long
def test_the_command_prints_a_line_for_each_check_and_has_status_1_if_one_fails(tmp_path):
    command = [sys.executable, "-m", "hapticsim_devices", "scripted", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines[: len(CHECKS)]] == list(CHECKS)
    assert done.returncode == (1 if any(line.startswith("FAILED") for line in lines) else 0)
    assert done.returncode == 0, done.stdout
    hasty = ["--option", "delay_samples=40"]  # 40 ms until a zero is felt
    done = subprocess.run([*command, *hasty], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED")] == ["zero"]
