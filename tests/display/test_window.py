"""The window, without a screen: it draws what is published, says when nothing is, publishes the pointer."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pygame
import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.mouse import Mouse

from hapticsim.codes import Fault, Safety
from hapticsim.display import feed as feed_module
from hapticsim.display import window as window_module
from hapticsim.display.palette import GREEN, ORANGE, PANEL, SKY, VERMILION, YELLOW
from hapticsim.display.panel.words import HELP, SILENCE_S
from hapticsim.display.scene.draw import SceneDrawing
from hapticsim.display.scene.faces import lit
from hapticsim.display.window import Window
from hapticsim.errors import ConfigError
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.subscriber import Subscriber
from tests import display_fake

TOUCHING_S = 4.2  # a time at which the fake arm touches its table


@pytest.fixture
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/publish"


@pytest.fixture
def server(endpoint: str) -> Iterator[Publisher]:
    with Publisher(endpoint) as publisher:
        yield publisher


@pytest.fixture
def window(no_screen: None, endpoint: str, server: Publisher) -> Iterator[Window]:
    opened = Window(endpoint, f"{endpoint}-pointer")
    yield opened
    opened.close()


def show(window: Window, server: Publisher, topics: dict[str, dict], seconds: float = 3.0) -> np.ndarray:
    """Publish payloads until the window has them all, draw, and return its pixels (width, height, 3).

    On a busy host a state can be so old when it is drawn that the window says the server is silent: again.
    """
    until = time.monotonic() + seconds
    while True:
        before = dict(window.feed._subscriber.received)
        while time.monotonic() < until:
            for topic, payload in topics.items():
                server.offer(topic, payload)
            time.sleep(0.01)
            window.feed.poll()
            if all(window.feed._subscriber.received[topic] > before.get(topic, 0) for topic in topics):
                break
        window.take_scene()
        window.draw()
        age = window.feed.state_age_s
        if age is None or age < SILENCE_S or time.monotonic() > until:
            return pygame.surfarray.array3d(window.screen).astype(int)


def count(pixels: np.ndarray, color: tuple[int, int, int], within: int = 6) -> int:
    return int((np.abs(pixels - np.array(color)).max(axis=2) <= within).sum())


def usual(mode: Safety = Safety.ARMED, fault: Fault = Fault.NONE) -> dict[str, dict]:
    return {
        "scene": display_fake.scene(),
        "state": display_fake.state(TOUCHING_S, mode, fault),
        "stats": display_fake.stats(),
    }


def test_the_picture_shows_table_contact_coupler_and_panel(window: Window, server: Publisher):
    pixels = show(window, server, usual())
    view, panel = pixels[:810], pixels[810:]
    table = lit(
        np.array([display_fake.TABLE_COLOR], dtype=float),
        np.array([[0.0, 0.0, 1.0]]),
        display_fake.TABLE_CENTRE[None],
        window.camera.eye_W,
    )[0]
    assert count(view, tuple(table)) > 20_000  # the table top, in the light that falls on it
    assert count(view, YELLOW) > 40  # the arrow of the contact force
    assert count(view, ORANGE) > 20  # the cross of the hand's target
    assert count(panel, PANEL) > 50_000
    assert count(panel, GREEN) > 200  # ENGAGED
    assert count(panel, SKY) > 500  # force bar, history, percentiles


def test_a_device_that_moved_in_the_world_resets_neither_the_view_nor_what_is_pointed_at(
    window: Window, server: Publisher
):
    topics = usual()
    show(window, server, topics)
    window.controls.take(
        pygame.event.Event(pygame.MOUSEMOTION, pos=(440, 300), rel=(1, 1), buttons=(0, 0, 0)), 1.0
    )
    window.camera.orbit(0.3, 0.1)
    pointer = window.controls.pointer
    azimuth, before = window.camera.azimuth, pointer.target_D.copy()
    assert np.linalg.norm(before) > 0.01
    for moved_m in (1e-15, 0.01):
        topics["scene"]["mapping"]["origin"][0] += moved_m
        show(window, server, topics)
        assert window.camera.azimuth == azimuth and window.controls.pointer is pointer
        assert pointer.origin_W[0] == topics["scene"]["mapping"]["origin"][0]
        (at,), _ = window.camera.project(pointer.to_world(pointer.target_D)[None])
        assert at == pytest.approx([440.0, 300.0])
    topics["scene"]["name"] = "another"
    show(window, server, topics)
    assert window.controls.pointer is not pointer and window.camera.azimuth == 0.0


def test_the_contact_arrow_stands_on_the_contact_point(window: Window, server: Publisher):
    view = show(window, server, usual())[:810]
    state = window.feed.state
    assert state is not None
    (foot,), _ = window.camera.project(state.contacts[0].point_W[None])
    x, y = foot.round().astype(int)
    assert count(view[x - 3 : x + 4, y - 3 : y + 4], YELLOW, within=40) > 5


def test_a_fault_is_shown_in_its_colour(window: Window, server: Publisher):
    panel = show(window, server, usual(Safety.FAULT, Fault.STRETCH))[810:]
    assert count(panel, VERMILION) > 200
    assert count(panel, GREEN) == 0


def test_the_ghost_stands_where_the_prediction_is(window: Window, server: Publisher):
    without = show(window, server, usual())[:810]
    ghost = show(window, server, usual() | {"predicted": display_fake.predicted(TOUCHING_S, delay_s=2.5)})[
        :810
    ]
    changed = np.abs(ghost - without).max(axis=2) > 25
    predicted = window.feed.predicted
    assert predicted is not None
    (tip,), _ = window.camera.project(predicted.poses.p_WB[3][None])
    x, y = tip.round().astype(int)
    assert changed[x - 5 : x + 6, y - 5 : y + 6].mean() > 0.9
    assert changed.mean() < 0.25  # and the rest of the picture stays as it was


def test_the_window_waits_in_words_and_says_when_the_server_falls_silent(
    window: Window, server: Publisher, monkeypatch: pytest.MonkeyPatch
):
    window.draw()
    waiting = pygame.surfarray.array3d(window.screen).astype(int)[:810]
    assert count(waiting[:, :120], ORANGE) > 100  # the banner's edge
    assert count(show(window, server, usual())[:810, :120], ORANGE) == 0
    now = time.monotonic()
    monkeypatch.setattr(feed_module.time, "monotonic", lambda: now + 5.0)
    window.draw()
    silent = pygame.surfarray.array3d(window.screen).astype(int)
    assert count(silent[:810, :120], ORANGE) > 100
    assert count(silent[810:], GREEN) == 0  # an old ENGAGED is not shown as the present state


def test_an_unreadable_payload_is_reported_and_the_last_good_one_kept(window: Window, server: Publisher):
    show(window, server, usual())
    show(window, server, {"state": {"tick": 1}, "stats": {"missed": "many", "lateness_us": {"p50": None}}})
    assert "state: key 'time_s' is missing" in window.feed.trouble
    assert window.feed.state is not None and window.feed.state.time_s == TOUCHING_S


def test_pointer_and_click_are_published_in_the_device_frame(
    window: Window, server: Publisher, endpoint: str
):
    show(window, server, usual())
    with Subscriber(f"{endpoint}-pointer", topics=("pointer",)) as driver:
        pygame.event.clear()
        scene = window.feed.scene
        assert scene is not None
        wanted_W = scene.origin_W + scene.motion_scale * np.array([0.02, 0.0, -0.01])
        (at,), _ = window.camera.project(wanted_W[None])
        now_s = time.monotonic()
        place = (round(at[0]), round(at[1]))
        window.controls.take(
            pygame.event.Event(pygame.MOUSEMOTION, pos=place, rel=(1, 1), buttons=(0, 0, 0)), now_s
        )
        window.controls.take(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=place, button=1), now_s)
        window.run(frames=window.frames_drawn + 12)
        message = driver.latest("pointer", timeout_s=2.0)
        assert message is not None
        assert message["target"] == pytest.approx([0.02, 0.0, -0.01], abs=5e-4)  # a pixel is 0.4 mm here
        first = driver.received["pointer"]
        assert first >= 12  # more often than frames are drawn
        assert message["buttons"] in (0, 1)
        assert message["sequence"] >= first


def test_a_turn_asked_for_in_the_window_turns_the_hand_of_the_mouse(
    window: Window, server: Publisher, endpoint: str
):
    show(window, server, usual() | {"scene": display_fake.turning_scene()})
    options = {"pointer": f"{endpoint}-pointer", "turning": True}
    with Mouse(options) as mouse:
        pygame.event.clear()
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_COMMA, unicode=","))
        window.run(frames=window.frames_drawn + 20)
        pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.K_COMMA))
        window.run(frames=window.frames_drawn + 12)
        wanted = window.controls.pointer.turn
        assert wanted > 0.1
        for k in range(3000):
            sample = mouse.read(1e-3 * k)
            mouse.write(ZERO)
        w, x, y, z = sample.quaternion_wxyz
        assert 2.0 * math.atan2(z, w) == pytest.approx(wanted, abs=0.02) and x == y == 0.0


def test_the_help_names_the_keys_that_turn_the_hand():
    assert any("," in key and "." in key and "turn the hand" in does for key, does in HELP)


def test_a_key_for_a_name_that_no_request_can_carry_ends_in_a_sentence(window: Window, server: Publisher):
    """Another server may publish such a name; ours refuses it in the scene file."""
    name = 65 * "n"
    entry = {"name": name, "hold": "free", "force": [], "gap": []}
    show(window, server, usual() | {"state": display_fake.state(TOUCHING_S, constraints=[entry])})
    said = window.switch_keys.press(1, window.feed.scene, window.feed.state)
    assert said.startswith("constraint 'nnnn") and said.endswith(
        "...: is not usable: a name has 1 to 64 printable characters."
    )


def test_a_restarted_server_with_another_scene_is_taken_over(window: Window, server: Publisher):
    show(window, server, usual())
    old = window.drawing
    show(window, server, {"scene": display_fake.scene()})
    assert window.drawing is old  # the same scene repeated costs nothing
    show(window, server, {"scene": display_fake.scene(name="other", shapes=[])})
    assert isinstance(window.drawing, SceneDrawing) and window.drawing is not old


def test_the_picture_follows_the_size_of_the_window(window: Window, server: Publisher):
    show(window, server, usual())
    pygame.display.set_mode((900, 500), pygame.RESIZABLE)
    window.controls.take(pygame.event.Event(pygame.VIDEORESIZE, size=(900, 500), w=900, h=500), 0.0)
    window.draw()
    pixels = pygame.surfarray.array3d(window.screen).astype(int)
    assert pixels.shape[:2] == (900, 500)
    assert count(pixels[900 - 290 :], PANEL) > 30_000
    assert (window.camera.width_px, window.camera.height_px) == (900 - 290, 500)


@pytest.mark.clock
def test_any_view_can_be_drawn_and_none_takes_long(window: Window, server: Publisher):
    show(window, server, usual() | {"predicted": display_fake.predicted(TOUCHING_S)})
    rng = np.random.default_rng(6)
    for _ in range(60):  # from inside the table, from below, from inside an arm, from far away
        window.camera.azimuth, window.camera.elevation = rng.uniform(-3.0, 3.0), rng.uniform(-1.5, 1.5)
        window.camera.distance = 10.0 ** rng.uniform(-1.0, 1.5)
        window.camera.target_W = rng.uniform(-0.3, 1.0, 3)
        begun = time.perf_counter()
        window.draw()
        assert time.perf_counter() - begun < 1.0  # filling what was not cut to the picture takes longer


def test_main_draws_a_number_of_frames_and_saves_a_png(
    no_screen: None, endpoint: str, server: Publisher, tmp_path: Path
):
    picture = tmp_path / "window.png"
    window_module.main(endpoint, frames=3, screenshot=picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert pygame.image.load(picture).get_size() == window_module.SIZE


def test_a_picture_that_cannot_be_saved_is_refused_in_one_sentence(
    no_screen: None, endpoint: str, tmp_path: Path, window: Window
):
    with pytest.raises(ConfigError, match=r"x.png: is in a folder that does not exist: make it first\.$"):
        window_module.main(endpoint, frames=2, screenshot=tmp_path / "none" / "x.png")
    with pytest.raises(ConfigError, match="is a folder: name the file in it that a picture goes to"):
        window_module.main(endpoint, frames=2, screenshot=tmp_path)
    gone = tmp_path / "gone" / "x.png"  # after the check
    with pytest.raises(ConfigError, match=r"x.png: cannot be saved .*: save the picture to a file"):
        window.run(frames=1, screenshot=gone)


def test_a_machine_without_a_display_is_told_in_one_sentence(endpoint: str):
    program = (
        "from hapticsim.errors import DeviceError\n"
        "from hapticsim.display.window import main\n"
        "try:\n"
        f"    main({endpoint!r}, frames=1)\n"
        "except DeviceError as refusal:\n"
        "    print(refusal)\n"
    )
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"}
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout.strip() == (
        "no display: set DISPLAY or WAYLAND_DISPLAY, or give --screenshot FILE.png to draw without one."
    )
