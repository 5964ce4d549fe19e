"""Drivers that misbehave at random: one sentence with driver and call, and zero is the last that was written.

In the bridge, with a link that says what the test wants and a clock that does not wait, and in virtual time.
"""

from __future__ import annotations

import io
import math
import random
import time
from contextlib import nullcontext, suppress
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hapticsim_devices import bridge as bridge_module
from hapticsim_devices.base import ENGAGE, READY, ZERO, DeviceInfo, DeviceSample, Driver, Finished
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.limits import device_limits

from hapticsim.codes import Safety
from hapticsim.drivers.calls import built, info_of, opened
from hapticsim.errors import DeviceError, HapticsimError
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.simulate.virtual import _tick_by_tick
from hapticsim.wire.messages.device import Force
from tests.devices.test_random_bridge import WildLink
from tests.seeds import seeds

TICKS, PERIOD_S, A_BATCH = 60, 1e-3, 25
RANGE = "-10 to 10"
ZEROED, TAKEN = "zero is applied meanwhile", "what was asked for is taken"
CALLS = ("__init__", "info", "open", "read", "write", "write_torque", "notice", "halt", "close")


class Mute(Exception):
    """Its own words raise."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Deep(BaseException):
    """No Exception."""


class Evil:
    """Whatever one asks of it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise OSError(f"no {name}")

    def _no(self, *_: object) -> Any:
        raise OSError("no")

    __repr__ = __len__ = __iter__ = __float__ = __index__ = __eq__ = __bool__ = __getitem__ = _no  # type: ignore
    __hash__ = None  # type: ignore[assignment]


ERRORS = (
    lambda: ValueError("out of range"),
    lambda: OSError(5, "I/O error"),
    lambda: KeyError("channel"),
    lambda: AssertionError(),
    lambda: RuntimeError("two\nlines \x1b[31m\tand \x00 a colour"),
    lambda: RuntimeError("x" * 5000),
    lambda: ZeroDivisionError("division by zero"),
    lambda: StopIteration(3),
    lambda: RecursionError("maximum recursion depth exceeded"),
    lambda: MemoryError(),
    lambda: SystemExit(3),
    lambda: GeneratorExit(),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    lambda: SyntaxError("invalid syntax"),
    lambda: ExceptionGroup("several", [ValueError("a"), OSError("b")]),
    lambda: Deep("deep"),
    lambda: Mute(),
    lambda: DeviceError(""),
    lambda: DeviceError("bad: unplugged: plug it in."),
)
ODD = (
    lambda: None, lambda: math.nan, lambda: "abc", lambda: b"123", lambda: 10**400, lambda: (),
    lambda: (1.0, 2.0), lambda: (math.nan, 0.0, 0.0), lambda: (0.0, math.inf, 0.0), lambda: (1e300, 0.0, 0.0),
    lambda: [0, 0, 0, 0], lambda: ("1", "2", "3"), lambda: (None,) * 3, lambda: np.zeros((3, 3)),
    lambda: np.array([np.nan] * 3), lambda: {}, lambda: {1, 2, 3}, lambda: (Evil(),) * 3, lambda: Evil(),
    lambda: -1, lambda: 2**80, lambda: 1.5, lambda: (1j, 0, 0), lambda: object(), lambda: (x for x in "abc"),
    lambda: Decimal("NaN"), lambda: DeviceSample,
)  # fmt: skip
FINE = (lambda: [0.0, 0.0, 0.0], lambda: np.zeros(3), lambda: (0, 0, 0), lambda: np.zeros(3, np.float32))
FIELDS = ("position_m", "velocity_m_per_s", "quaternion_wxyz", "angular_velocity_rad_per_s", "buttons",
          "force_N", "flags", "target_m", "time_s")  # fmt: skip


class Bad(Driver):
    """Keeps the contract but for one kind of call, from one time on, once or always."""

    name = "bad"
    plan: Any = None

    def __init__(self, options=None) -> None:
        self.calls = dict.fromkeys(CALLS, 0)
        self.asked = {"write": ZERO, "write_torque": ZERO}
        self.is_open = False
        self._does("__init__")

    def _does(self, call: str, value: Any = None) -> Any:
        self.calls[call] += 1
        what, first, once, act = self.plan
        count = self.calls[call]
        return act(value) if what == call and (count == first or (count > first and not once)) else value

    @property
    def info(self) -> DeviceInfo:
        return self._does("info", DeviceInfo("bad", "bad", device_limits("sigma_7"), 6, 6, 1000.0, False))

    def open(self) -> None:
        self.is_open = True
        self._does("open")

    def read(self, now_s: float) -> DeviceSample:
        buttons = ENGAGE if self.calls["read"] % 10 > 5 else 0
        return self._does("read", DeviceSample(now_s, (1e-3, 0.0, 0.0), buttons=buttons, flags=READY))

    def write(self, force_N):
        self.asked["write"] = force_N
        return self._does("write", force_N)

    def write_torque(self, torque_Nm):
        self.asked["write_torque"] = torque_Nm
        return self._does("write_torque", torque_Nm)

    def notice(self, mode: int, fault: int) -> None:
        self._does("notice")

    def halt(self) -> None:
        self._does("halt")
        super().halt()

    def close(self) -> None:
        self.is_open = False
        self._does("close")


def bad_class(rng: random.Random) -> tuple[type[Bad], str, str]:
    """A driver, the call that goes wrong, and how: raises, answers, field, fine or slow."""
    call = rng.choice([*CALLS, "read", "read", "write"])
    kinds = {"read": ["raises", "answers", "field", "fine", "slow"], "info": ["raises", "answers"]}
    answers = ["raises", "answers", "fine"] if call.startswith("write") else ["raises"]
    kind = rng.choice(kinds.get(call, answers))
    make = rng.choice(ERRORS if kind == "raises" else FINE if kind == "fine" else ODD)
    field = rng.choice(FIELDS if kind == "field" else FIELDS[:1])

    def act(value: Any) -> Any:
        if kind == "raises":
            raise make()
        if kind == "slow":
            time.sleep(0.011)
            return value
        if call == "read" and kind in ("field", "fine"):
            setattr(value, field, make())
            return value
        return make()

    first = rng.choice([1, 2, 3, 17, 30, TICKS])
    plan = (call, first, kind == "slow" or rng.random() < 0.4, act)
    return type("Bad", (Bad,), {"plan": plan}), call, kind


class Link(WildLink):
    """A server that arms when it is asked, and pushes."""

    endpoint = "ipc://bad"

    def try_connect(self):
        return self.welcome

    def newest_force(self) -> Force:
        self.age_s = self.answer_s = 1e-3
        mode = Safety.ARMED if self.arms else Safety.DISARMED
        return Force((1.0, 0.0, 0.0), (0.0, 0.0, 0.05), int(mode), 0)

    def bye(self, reason: str) -> None: ...


class Clock:
    """Stands for `Pacer`: does not wait."""

    ticks = missed = 0
    worst_late_s = 0.0

    def __init__(self, period_s: float) -> None:
        self.period_s, self.now_s = period_s, time.monotonic()

    def set_period(self, period_s: float) -> None:
        self.period_s = period_s

    def wait(self) -> float:
        self.ticks += 1
        self.now_s += self.period_s
        return self.now_s


def check_sentence(said: str, call: str, kind: str) -> None:
    """One line, and it names driver and call."""
    assert said.strip() and "\n" not in said and said.isprintable(), said
    assert "Traceback" not in said and len(said) < 600, said
    if kind == "raises" and not said.startswith("bad: unplugged"):
        assert said.startswith(f"driver 'bad' failed in {call}"), said
    assert said.startswith(("driver 'bad'", "bad: unplugged")), said


def run_in_bridge(rng: random.Random) -> str:
    """Let a driver loose in a bridge; returns what was said, empty: nothing."""
    driver_type, call, kind = bad_class(rng)
    stream, made, error = io.StringIO(), [], ""
    try:
        driver = built(driver_type, {})
        made.append(driver)
        info = info_of(driver)
        bridge = Bridge(driver, Link(), stream=stream, info=info)  # type: ignore[arg-type]
        bridge.run(TICKS * PERIOD_S)
    except HapticsimError as refusal:
        error = str(refusal)
    said = [line for line in stream.getvalue().splitlines() if "driver 'bad'" in line]
    for sentence in [error] * bool(error) + said:
        check_sentence(sentence.split("\r")[-1].replace("\x1b[K", ""), call, kind)
    if kind == "fine" or kind == "slow":
        assert not error and not said, (error, said)
    if made:
        assert made[0].asked["write"] == made[0].asked["write_torque"] == ZERO, (call, kind)
        assert not made[0].is_open
    return error or "".join(said)


def fake_simulation() -> Any:
    """A tick that pushes once it was armed."""
    scene = SimpleNamespace(
        tick_s=PERIOD_S, rate_Hz=1000.0, constraints=(), switch_on_button={}, link=None,
        device_endpoint=None, coupler=SimpleNamespace(),
    )  # fmt: skip
    state = {"armed": False}

    def read_row(row: np.ndarray) -> int:
        if state["armed"]:
            row[PLACE["hand_force_x_N"]] = row[PLACE["hand_torque_x_Nm"]] = 1.0
        return int(Safety.ARMED if state["armed"] else Safety.DISARMED)

    def set_device(position: np.ndarray, velocity: np.ndarray, **rest: Any) -> None:
        numbers = np.concatenate([position, velocity, rest["quaternion"], rest["angular_velocity"]])
        assert numbers.shape == (13,) and np.all(np.isfinite(numbers))
        int(rest["flags"])

    return SimpleNamespace(
        scene=scene, held={}, events=[], read_row=read_row, set_device=set_device,
        arm=lambda: state.update(armed=True), disarm=lambda: None, step=lambda: None,
    )  # fmt: skip


def run_in_virtual_time(rng: random.Random) -> str:
    """The same beside a simulation; rows before the failure are handed on."""
    driver_type, call, kind = bad_class(rng)
    rows, handed, made, error = np.zeros((TICKS, max(PLACE.values()) + 1)), [], [], ""
    try:
        driver = built(driver_type, {})
        made.append(driver)
        info_of(driver)
        with opened(driver):
            _tick_by_tick(fake_simulation(), driver, rows, handed.append, lambda *event: None)
    except HapticsimError as refusal:
        error = str(refusal)
        check_sentence(error, call, kind)
        if made and made[0].calls["open"] and call in ("read", "write", "write_torque") and handed:
            assert handed[-1] in (driver.calls["read"] - 1, driver.calls["read"])
    if kind in ("fine", "slow"):
        assert not error, error
    elif kind in ("answers", "field") and call != "info":
        reached = made[0].calls[call] >= driver_type.plan[1]
        assert not reached or error or kind == "field", (call, kind)
    if made:
        assert made[0].asked["write"] == made[0].asked["write_torque"] == ZERO, (call, kind)
        assert not made[0].is_open
    return error


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(bridge_module, "Pacer", Clock)
    monkeypatch.setattr(bridge_module, "quiet_memory", nullcontext)  # which collects garbage first
    monkeypatch.setattr("hapticsim.simulate.virtual.delay_in_ticks", lambda scene: 1)


@pytest.mark.parametrize("seed", seeds(6, 200))
def test_a_driver_that_misbehaves_in_the_bridge_is_a_sentence_and_zero(seed):
    said = [run_in_bridge(random.Random(f"{seed} {n}")) for n in range(A_BATCH)]
    assert any(said), "nothing was tested"


@pytest.mark.parametrize("seed", seeds(8, 400))
def test_a_driver_that_misbehaves_in_virtual_time_is_a_sentence_and_zero(seed):
    said = [run_in_virtual_time(random.Random(f"{seed} {n}")) for n in range(A_BATCH)]
    assert any(said), "nothing was tested"


def plan(call: str, act: Any, first: int = 30) -> type[Bad]:
    return type("Bad", (Bad,), {"plan": (call, first, False, act)})


def raising(error: BaseException) -> Any:
    def act(value: Any) -> Any:
        raise error

    return act


def test_the_sentence_has_driver_call_error_and_line():
    with pytest.raises(DeviceError) as refused:
        Bridge(driver := plan("read", raising(ValueError("bad")))(), Link(), stream=io.StringIO()).run(1.0)  # type: ignore[arg-type]
    said = str(refused.value)
    assert said.startswith("driver 'bad' failed in read(): ValueError: bad (test_random_drivers.py line ")
    assert said.endswith("): check the device, or try the driver with 'hapticsim device bad --check'.")
    assert driver.asked == {"write": ZERO, "write_torque": ZERO}


def test_a_measurement_and_a_write_that_are_not_usable_are_told_once_and_the_run_goes_on():
    def nan(sample: DeviceSample) -> DeviceSample:
        sample.position_m = (math.nan, 0.0, 0.0)
        return sample

    cases = (
        (
            nan,
            "read() returned position_m = (nan, 0.0, 0.0): give three numbers in m, from -10 to 10",
            ZEROED,
        ),
        (lambda sample: None, "read() returned None: return a DeviceSample", ZEROED),
        (lambda force: None, "write() returned None: return the three numbers really sent", TAKEN),
    )
    for act, problem, then in cases:
        call, said = problem.split("(")[0], f"driver 'bad': {problem}; {then}."
        stream, driver = io.StringIO(), plan(call, act)()
        Bridge(driver, Link(), stream=stream).run(TICKS * PERIOD_S)  # type: ignore[arg-type]
        assert stream.getvalue().count(said) == 1 and stream.getvalue().count("returned") == 1
        with pytest.raises(DeviceError) as refused, opened(plan(call, act)()) as again:
            _tick_by_tick(fake_simulation(), again, np.zeros((TICKS, 200)), lambda k: None, lambda *e: None)
        assert str(refused.value).startswith(said.split(";")[0]) and again.asked["write"] == ZERO


def test_ctrl_c_in_a_driver_is_ctrl_c_and_the_users_end_is_no_failure():
    for call in ("read", "write", "close"):
        driver = plan(call, raising(KeyboardInterrupt()), first=1)()
        with pytest.raises(KeyboardInterrupt):
            Bridge(driver, Link(), stream=io.StringIO()).run(TICKS * PERIOD_S)  # type: ignore[arg-type]
        assert driver.asked == {"write": ZERO, "write_torque": ZERO} and not driver.is_open
    driver = plan("read", raising(Finished("closed by the user.")))()
    with suppress(Finished):
        Bridge(driver, Link(), stream=io.StringIO()).run(TICKS * PERIOD_S)  # type: ignore[arg-type]
    assert driver.asked["write"] == ZERO


def test_a_driver_that_changes_its_mind_is_held_to_its_first_word():
    weak = DeviceInfo("bad", "bad", device_limits("omni"), 3, 3, 1000.0, False)
    driver = plan("info", lambda info: weak, first=2)()
    bridge = Bridge(driver, Link(), stream=io.StringIO())  # type: ignore[arg-type]
    bridge.run(TICKS * PERIOD_S)
    assert driver.calls["info"] == 1 and bridge._guard.device_limit_N == device_limits("sigma_7").max_force_N
