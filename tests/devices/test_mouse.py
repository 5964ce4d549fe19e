"""The mouse driver: following another window's pointer, and its own pad."""

from __future__ import annotations

import math
import os
import signal
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from hapticsim_devices.base import DISENGAGE, ENGAGE, FIRST, SECOND, ZERO, Finished
from hapticsim_devices.mouse import SILENT_AFTER_S, Mouse, goal_and_buttons
from hapticsim_devices.pad_shared import CLOSED, OPEN, PadTerms, Shared

from hapticsim.codes import Safety
from hapticsim.errors import DeviceError
from hapticsim.wire.messages.device import Button
from hapticsim.wire.publisher import Publisher

pygame = pytest.importorskip("pygame")


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/pointer.sock"


def published(publisher: Publisher, mouse: Mouse, payload: dict, until, start_s: float = 0.0) -> float:
    """Publish and read until a sample satisfies ``until``; returns the time of the driver."""
    now_s, give_up = start_s, time.monotonic() + 5.0
    while True:
        publisher.offer("pointer", payload)
        now_s += 1e-3
        if until(mouse.read(now_s)):
            return now_s
        mouse.write(ZERO)
        assert time.monotonic() < give_up, "it never happened"


def test_the_hand_follows_the_pointer_of_another_window(endpoint):
    with Publisher(endpoint) as window, Mouse({"pointer": endpoint}) as mouse:
        goal = [0.02, -0.01, 0.03]
        t = published(
            window, mouse, {"target": goal, "buttons": 0}, lambda s: math.dist(s.target_m, goal) < 1e-4
        )
        sample = mouse.read(t + 0.5)
        assert sample.position_m == pytest.approx(tuple(goal), abs=0.003)


def test_the_buttons_of_the_window_reach_the_sample_and_silence_releases_them(endpoint):
    with Publisher(endpoint) as window, Mouse({"pointer": endpoint}) as mouse:
        pressed = {"target": [0.01, 0.0, 0.0], "buttons": ENGAGE}
        t = published(window, mouse, pressed, lambda s: s.buttons == ENGAGE)
        time.sleep(SILENT_AFTER_S + 0.05)
        sample = mouse.read(t + 1e-3)
        assert sample.buttons == 0
        for k in range(1000):
            held = mouse.read(t + 2e-3 + k * 1e-3)
        assert held.target_m == pytest.approx((0.01, 0.0, 0.0), abs=1e-5)


def test_the_target_stays_within_reach(endpoint):
    with Publisher(endpoint) as window, Mouse({"pointer": endpoint, "reach": 1.2}) as mouse:
        far = {"target": [5.0, 0.0, 0.0], "buttons": 0}
        published(window, mouse, far, lambda s: s.target_m[0] > 1.19 * 0.075)
        for k in range(100):
            assert mouse.read(100.0 + 0.01 * k).target_m[0] <= 1.2 * 0.075 + 1e-12


@pytest.mark.parametrize(
    "payload",
    [{}, {"target": None}, {"target": [0, 0]}, {"target": [0, 0, math.nan]}, {"target": [0, 0, "1"]},
     {"target": [0, 0, 0], "buttons": "x"}, {"target": [1e9, 0, 0]}],
)  # fmt: skip
def test_a_message_that_is_no_pointer_is_nothing(payload):
    assert goal_and_buttons(payload) is None


def test_only_buttons_that_have_a_name_pass():
    named = ENGAGE | DISENGAGE | FIRST | SECOND | Button.THIRD | Button.FOURTH
    assert goal_and_buttons({"target": [0, 0, 0], "buttons": 0xFF}) == (ZERO, named)
    assert goal_and_buttons({"target": [0, 0, 0], "buttons": FIRST}) == (ZERO, FIRST)


def test_no_display_is_one_sentence(monkeypatch):
    for key in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(DeviceError) as refusal:
        Mouse().open()
    assert str(refusal.value) == (
        "mouse: there is no display: start it from a desktop, or take --device scripted."
    )


# ------------------------------------------------------------------------------------- its own window


@pytest.fixture
def pad(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    from hapticsim_devices.pad import SIZE, Pad

    pygame.display.init()
    pygame.font.init()
    shared = Shared()
    shared.mode = -1
    pad = Pad(shared, PadTerms("omega_3", 0.075, 0.1125, 12.0), pygame.display.set_mode((SIZE + 34, SIZE)))
    yield pad, shared, SIZE
    pygame.quit()


def event(kind: int, **values) -> pygame.event.Event:
    return pygame.event.Event(kind, **values)


def test_the_pad_maps_right_to_x_up_to_z_and_the_wheel_to_y(pad):
    pad, shared, size = pad
    assert pad.take_events([event(pygame.MOUSEMOTION, pos=(size, 0), rel=(1, 1))])
    assert list(shared.goal_m) == pytest.approx([0.1125, 0.0, 0.1125])
    pad.take_events([event(pygame.MOUSEWHEEL, y=1)])
    assert shared.goal_m[1] > 0.0
    pad.take_events([event(pygame.MOUSEWHEEL, y=-1000)])
    assert shared.goal_m[1] == -0.1125


def test_the_pads_buttons_engage_and_disengage_and_are_released_with_the_focus(pad):
    pad, shared, _ = pad
    pad.take_events([event(pygame.MOUSEBUTTONDOWN, button=1)])
    assert shared.buttons == ENGAGE
    pad.take_events([event(pygame.MOUSEBUTTONDOWN, button=3), event(pygame.MOUSEBUTTONUP, button=1)])
    assert shared.buttons == DISENGAGE
    pad.take_events([event(pygame.WINDOWFOCUSLOST)])
    assert shared.buttons == 0
    assert not pad.take_events([event(pygame.QUIT)])


def test_keys_of_the_pad_are_the_free_buttons(pad):
    pad, shared, _ = pad
    pad.take_events([event(pygame.KEYDOWN, key=pygame.K_b), event(pygame.KEYDOWN, key=pygame.K_n)])
    assert shared.buttons == FIRST | SECOND
    pad.take_events([event(pygame.KEYUP, key=pygame.K_b)])
    assert shared.buttons == SECOND


def test_the_pad_draws_the_handle_where_it_is_and_its_force(pad):
    from hapticsim_devices.pad import HANDLE, PUSH

    pad, shared, size = pad
    shared.handle_m[:] = (0.05, 0.0, -0.03)
    shared.target_m[:] = (math.nan,) * 3
    shared.force_N[:] = (0.0, 0.0, 12.0)
    shared.mode, shared.fault = int(Safety.FAULT), 2
    pad.draw()
    screen = pygame.display.get_surface()
    x, y = round(size / 2 + 0.05 * size / 0.225), round(size / 2 + 0.03 * size / 0.225)
    assert screen.get_at((x, y))[:3] == HANDLE
    assert screen.get_at((x, y - 60))[:3] == PUSH


def test_the_pad_runs_in_a_process_of_its_own_and_its_end_ends_the_run(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    mouse = Mouse()
    mouse.open()
    try:
        window = mouse._source
        assert window._process.pid != os.getpid() and window._shared.state == OPEN
        window._shared.goal_m[:] = (0.03, 0.0, 0.0)
        window._shared.buttons = ENGAGE
        for k in range(1000):
            sample = mouse.read(k * 1e-3)
        assert sample.position_m[0] == pytest.approx(0.03, abs=0.003) and sample.buttons == ENGAGE
        assert list(window._shared.handle_m) == list(sample.position_m)
        window._shared.state = CLOSED
        with pytest.raises(Finished):
            mouse.read(2.0)
    finally:
        mouse.close()
    assert not window._process.is_alive()


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_pad_that_stands_still_or_died_holds_no_button_down(monkeypatch, how):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    mouse = Mouse()
    mouse.open()
    process = mouse._source._process
    try:
        mouse._source._shared.buttons = ENGAGE
        assert mouse.read(0.0).buttons == ENGAGE
        os.kill(process.pid, how)
        give_up = time.monotonic() + 5.0
        with pytest.raises(Finished) if how == signal.SIGKILL else nullcontext():
            while mouse.read(1.0).buttons == ENGAGE:
                assert time.monotonic() < give_up
                time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGCONT) if process.is_alive() else None
        mouse.close()
