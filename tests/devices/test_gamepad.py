"""The gamepad driver, moved by a virtual joystick inside the SDL library that pygame brought."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hapticsim_devices.base import DISENGAGE, ENGAGE, FIRST, SECOND, ZERO
from hapticsim_devices.gamepad import DEAD_ZONE, Gamepad, beyond_dead_zone

from hapticsim.errors import ConfigError, DeviceError

pygame = pytest.importorskip("pygame")

AXES, BUTTONS, GAMECONTROLLER = 6, 10, 1


def sdl_library() -> ctypes.CDLL | None:
    """The very library pygame uses: loaded twice, it would be another one."""
    spec = find_spec("pygame")
    if spec is None or spec.origin is None:
        return None
    beside = Path(spec.origin).parent.parent / "pygame_ce.libs"
    for path in sorted(beside.glob("libSDL2-2*.so*")):
        return ctypes.CDLL(str(path))
    return None


class VirtualJoystick:
    """A joystick without hardware.  Axes in [-1, 1]."""

    def __init__(self, sdl: ctypes.CDLL) -> None:
        self._sdl = sdl
        self.index = sdl.SDL_JoystickAttachVirtual(GAMECONTROLLER, AXES, BUTTONS, 0)
        if self.index < 0:
            pytest.skip("this SDL cannot make a virtual joystick")
        sdl.SDL_JoystickOpen.restype = ctypes.c_void_p
        self._joystick = ctypes.c_void_p(sdl.SDL_JoystickOpen(self.index))

    def axis(self, index: int, value: float) -> None:
        self._sdl.SDL_JoystickSetVirtualAxis(self._joystick, index, ctypes.c_int16(round(32767 * value)))

    def button(self, index: int, down: bool) -> None:
        self._sdl.SDL_JoystickSetVirtualButton(self._joystick, index, ctypes.c_uint8(down))

    def detach(self) -> None:
        self._sdl.SDL_JoystickClose(self._joystick)
        self._sdl.SDL_JoystickDetachVirtual(self.index)


@pytest.fixture
def stick(monkeypatch) -> Iterator[VirtualJoystick]:
    sdl = sdl_library()
    if sdl is None:
        pytest.skip("pygame's own SDL library was not found beside it")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.joystick.init()
    virtual = VirtualJoystick(sdl)
    yield virtual
    virtual.detach()
    pygame.quit()


def read_for(device: Gamepad, seconds: float, start_s: float = 0.0):
    """Read at 1 kHz; returns the last sample."""
    for k in range(round(seconds * 1000)):
        sample = device.read(start_s + k * 1e-3)
        device.write(ZERO)
    return sample


def test_the_left_stick_moves_the_target_right_and_up_at_the_speed_of_the_hand(stick):
    with Gamepad({"hand_speed_m_per_s": 0.1, "joystick": stick.index}) as device:
        read_for(device, 0.05)
        stick.axis(0, 1.0)
        sample = read_for(device, 0.5, 0.05)
        assert 0.03 < sample.target_m[0] <= 0.05 and sample.target_m[2] == 0.0
        stick.axis(0, 0.0)
        stick.axis(1, -1.0)
        sample = read_for(device, 0.5, 0.55)
        assert 0.03 < sample.target_m[2] <= 0.05
        stick.axis(1, 0.0)
        resting = read_for(device, 0.5, 1.05).target_m
        assert read_for(device, 0.5, 1.55).target_m == pytest.approx(resting, abs=1e-4)


def test_in_position_mode_the_stick_gives_the_place(stick):
    with Gamepad({"mode": "position", "reach": 1.0, "joystick": stick.index}) as device:
        stick.axis(0, -1.0)
        assert read_for(device, 1.0).target_m[0] == pytest.approx(-0.075, abs=1e-3)
        stick.axis(0, 0.0)
        assert read_for(device, 1.0, 1.0).target_m[0] == pytest.approx(0.0, abs=1e-3)


def test_triggers_count_from_their_rest_and_shoulders_do_the_same(stick):
    with Gamepad({"mode": "position", "reach": 1.0, "joystick": stick.index}) as device:
        assert read_for(device, 0.5).target_m == ZERO  # never touched: no half-pressed trigger
        stick.axis(5, 1.0)
        assert read_for(device, 1.0, 0.5).target_m[1] == pytest.approx(0.075, abs=1e-3)
        stick.axis(5, -1.0)
        stick.button(4, True)
        assert read_for(device, 1.0, 1.5).target_m[1] == pytest.approx(-0.075, abs=1e-3)


def test_the_buttons_engage_and_disengage(stick):
    with Gamepad({"joystick": stick.index}) as device:
        stick.button(0, True)
        assert read_for(device, 0.02).buttons == ENGAGE
        stick.button(0, False)
        stick.button(1, True)
        assert read_for(device, 0.02, 0.02).buttons == DISENGAGE


def test_two_buttons_are_left_to_the_scene(stick):
    with Gamepad({"joystick": stick.index}) as device:
        stick.button(2, True)
        assert read_for(device, 0.02).buttons == FIRST
        stick.button(3, True)
        assert read_for(device, 0.02, 0.02).buttons == FIRST | SECOND


def turned(device: Gamepad, seconds: float, start_s: float) -> float:
    """[rad] The angle after so long."""
    read_for(device, seconds, start_s)
    return device.wrist.true_angle_rad


def test_the_other_stick_turns_the_handle_and_not_beyond_the_reach_of_a_wrist(stick):
    with Gamepad({"joystick": stick.index, "turning": True, "hand_speed_rad_per_s": 1.0}) as device:
        read_for(device, 0.05)
        stick.axis(3, 1.0)
        assert -0.55 < turned(device, 0.5, 0.05) < -0.3  # to the right, seen from above
        stick.axis(3, 0.0)
        resting = turned(device, 0.5, 0.55)
        assert turned(device, 0.5, 1.05) == pytest.approx(resting, abs=2e-3)
        stick.axis(3, -1.0)
        assert turned(device, 4.0, 1.55) == pytest.approx(2.0, abs=0.01)


def test_in_position_mode_the_other_stick_gives_the_angle(stick):
    with Gamepad({"joystick": stick.index, "turning": True, "mode": "position"}) as device:
        stick.axis(3, -1.0)
        assert turned(device, 2.0, 0.0) == pytest.approx(2.0, abs=0.01)
        stick.axis(3, 0.0)
        assert turned(device, 2.0, 2.0) == pytest.approx(0.0, abs=0.01)


def test_rumble_follows_the_force_and_is_short_enough_to_die_with_the_driver(stick):
    with Gamepad({"joystick": stick.index}) as device:
        calls = []
        device._joystick = Listening(device._joystick, calls)
        for k in range(200):
            device.read(k * 1e-3)
            device.write((0.0, 0.0, 6.0))
        low, _, last_ms = calls[-1]
        assert low == pytest.approx(0.5)
        assert last_ms <= 100 and len(calls) == pytest.approx(4, abs=1)
        calls.clear()
        for k in range(200, 500):
            device.read(k * 1e-3)
            device.write(ZERO)
        assert len(calls) <= 1  # the fall of the force, then nothing


class Listening:
    """A joystick that remembers its rumbles."""

    def __init__(self, joystick, calls: list) -> None:
        self._joystick, self._calls = joystick, calls

    def rumble(self, low: float, high: float, duration_ms: int) -> bool:
        self._calls.append((low, high, duration_ms))
        return True

    def __getattr__(self, name: str):
        return getattr(self._joystick, name)


def test_unplugging_is_one_sentence(stick):
    with Gamepad({"joystick": stick.index}) as device:
        read_for(device, 0.02)
        stick._sdl.SDL_JoystickDetachVirtual(stick.index)
        with pytest.raises(DeviceError) as gone:
            read_for(device, 0.05, 0.02)
    assert str(gone.value) == "gamepad: it was unplugged: plug it in and start again."


def test_no_gamepad_is_one_sentence(monkeypatch):
    monkeypatch.setattr(
        "hapticsim_devices.gamepad._joysticks", lambda: type("None", (), {"get_count": lambda: 0})
    )
    with pytest.raises(DeviceError) as refusal:
        Gamepad().open()
    assert str(refusal.value) == (
        "gamepad: no gamepad is connected: plug one in, or use the driver 'mouse' or 'scripted'."
    )


def test_an_unknown_mode_is_refused():
    with pytest.raises(ConfigError, match="mode = 'rat' is not known"):
        Gamepad({"mode": "rat"})


def test_the_dead_zone_is_left_without_a_step():
    assert beyond_dead_zone(DEAD_ZONE) == 0.0
    assert beyond_dead_zone(-DEAD_ZONE - 1e-6) == pytest.approx(0.0, abs=2e-6)
    assert (beyond_dead_zone(1.0), beyond_dead_zone(-1.0)) == (1.0, -1.0)
