"""The pointer: the target lies under it, inside the workspace, and a click is one request."""

from __future__ import annotations

import math

import numpy as np
import pygame
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hapticsim.display.input.controls import Controls
from hapticsim.display.input.pointer import (
    DISENGAGE,
    ENGAGE,
    FIRST,
    PULSE_S,
    SECOND,
    TURN_REACH,
    Buttons,
    PointerTarget,
)
from hapticsim.display.scene.camera import OrbitCamera

ORIGIN = np.array([0.5, 0.1, 0.2])
RADIUS = 0.08
TURNED = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # device X along world Y


def view(azimuth: float = 0.0, elevation: float = 0.25) -> OrbitCamera:
    return OrbitCamera(810, 720, ORIGIN, distance=1.5, azimuth=azimuth, elevation=elevation)


def on_screen(pointer: PointerTarget, camera: OrbitCamera) -> np.ndarray:
    (at,), _ = camera.project(pointer.to_world(pointer.target_D)[None])
    return at


def test_target_moves_right_and_up_with_the_pointer():
    pointer, camera = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS), view()
    pointer.follow(505.0, 300.0, camera)
    assert pointer.target_D[0] > 0.0 and pointer.target_D[2] > 0.0
    assert pointer.target_D[1] == 0.0


@given(
    azimuth=st.floats(-3.0, 3.0),
    elevation=st.floats(-1.2, 1.4),
    x=st.floats(-0.04, 0.04),
    y=st.floats(-0.04, 0.04),
    z=st.floats(-0.04, 0.04),
    scale=st.sampled_from([1.0, 3.0]),
    turned=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_pixel_to_target_undoes_target_to_pixel_from_any_side(azimuth, elevation, x, y, z, scale, turned):
    camera = view(azimuth, elevation)
    pointer = PointerTarget(ORIGIN, TURNED if turned else np.eye(3), scale, RADIUS)
    wanted = np.array([x, y, z])
    (at,), depth = camera.project(pointer.to_world(wanted)[None])
    assume(depth[0] > 0.5)
    axis = pointer.depth_axis(camera)
    pointer.target_D = np.where(np.arange(3) == axis, wanted, 0.0)
    pointer.follow(*at, camera)
    assert pointer.target_D == pytest.approx(wanted, abs=1e-9)


@given(x=st.floats(-5000.0, 5000.0), y=st.floats(-5000.0, 5000.0), push=st.floats(-1.0, 1.0))
@settings(max_examples=100, deadline=None)
def test_target_never_leaves_the_workspace(x: float, y: float, push: float):
    pointer, camera = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS), view()
    pointer.push(push, camera)
    pointer.follow(x, y, camera)
    assert np.linalg.norm(pointer.target_D) <= RADIUS * (1 + 1e-12)


def test_push_goes_away_from_the_viewer_on_either_side():
    for azimuth, sign in ((0.0, 1.0), (math.pi, -1.0)):
        pointer, camera = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS), view(azimuth)
        pointer.push(0.03, camera)
        assert pointer.target_D == pytest.approx([0.0, sign * 0.01, 0.0])


def test_after_a_change_of_view_the_hand_goes_on_from_where_it_is():
    pointer, camera = PointerTarget(ORIGIN, np.eye(3), 1.0, RADIUS), view()
    pointer.follow(420.0, 340.0, camera)
    before = pointer.target_D.copy()
    camera.orbit(0.4, 0.1)
    pointer.keep_offset(420.0, 340.0, camera)
    pointer.follow(420.0, 340.0, camera)
    assert pointer.target_D == pytest.approx(before, abs=1e-12)


def test_a_click_is_a_pulse_and_the_newest_wins():
    buttons = Buttons()
    assert buttons.mask(1.0) == 0
    buttons.click(ENGAGE, 1.0)
    assert buttons.mask(1.0 + 0.9 * PULSE_S) == ENGAGE
    assert buttons.mask(1.0 + 1.1 * PULSE_S) == 0
    buttons.click(ENGAGE, 2.0)
    buttons.click(DISENGAGE, 2.01)
    assert buttons.mask(2.02) == DISENGAGE


def press(key: int, text: str = "") -> pygame.event.Event:
    return pygame.event.Event(pygame.KEYDOWN, key=key, unicode=text)


def test_escape_lets_go_first_and_closes_second():
    controls = Controls(view())
    controls.take(press(pygame.K_ESCAPE), 10.0)
    assert controls.buttons.mask(10.0) == DISENGAGE and not controls.closing
    controls.take(press(pygame.K_ESCAPE), 11.0)
    assert controls.closing


def test_two_escapes_far_apart_do_not_close():
    controls = Controls(view())
    controls.take(press(pygame.K_ESCAPE), 10.0)
    controls.take(press(pygame.K_ESCAPE), 60.0)
    assert not controls.closing


def test_b_and_n_are_buttons_of_the_device_and_a_key_held_down_is_one_press():
    controls = Controls(view())
    for now_s, repeated in ((1.0, 1.0), (1.3, 1.0), (1.34, 1.0)):
        controls.take(press(pygame.K_b, "b"), now_s)
        assert controls.buttons.mask(now_s) == (FIRST if now_s < repeated + PULSE_S else 0)
    controls.take(pygame.event.Event(pygame.KEYUP, key=pygame.K_b), 2.0)
    controls.take(press(pygame.K_b, "b"), 2.1)
    assert controls.buttons.mask(2.1) == FIRST
    controls.take(press(pygame.K_n, "n"), 2.2)
    assert controls.buttons.mask(2.2) == SECOND and controls.switches_wanted == []


def test_a_click_on_the_panel_does_not_engage():
    controls = Controls(view())
    click = {"button": pygame.BUTTON_LEFT}
    controls.take(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(900, 300), **click), 1.0)
    assert controls.buttons.mask(1.0) == 0
    controls.take(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(300, 300), **click), 1.0)
    assert controls.buttons.mask(1.0) == ENGAGE


def test_moving_puts_the_target_under_the_pointer_and_the_wheel_keeps_it_there():
    controls = Controls(view())
    pointer = controls.pointer = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS)
    controls.take(pygame.event.Event(pygame.MOUSEMOTION, pos=(440, 330), rel=(1, 1), buttons=(0, 0, 0)), 1.0)
    assert on_screen(pointer, controls.camera) == pytest.approx([440.0, 330.0])
    controls.take(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=3), 1.1)
    assert pointer.target_D[1] == pytest.approx(0.012)
    assert on_screen(pointer, controls.camera) == pytest.approx([440.0, 330.0])
    controls.take(press(pygame.K_r), 1.2)
    assert pointer.target_D[1] == 0.0


def test_where_arming_moves_the_device_the_target_stays_under_the_pointer():
    controls = Controls(view())
    pointer = controls.pointer = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS)
    moved = (ORIGIN + np.array([0.02, 0.01, -0.03]), TURNED, 2.0, 0.9 * RADIUS)
    controls.map_again(*moved)
    assert np.all(pointer.target_D == 0.0)  # nothing was pointed at so far
    controls.map_again(ORIGIN, np.eye(3), 3.0, RADIUS)
    controls.take(pygame.event.Event(pygame.MOUSEMOTION, pos=(440, 330), rel=(1, 1), buttons=(0, 0, 0)), 1.0)
    before = pointer.target_D.copy()
    controls.map_again(*moved)
    assert on_screen(pointer, controls.camera) == pytest.approx([440.0, 330.0])
    assert np.linalg.norm(pointer.target_D - before) > 0.005 and pointer.reach == moved[3]


def test_shift_moves_the_target_in_depth_even_when_released_in_the_same_batch():
    controls = Controls(view())
    pointer = controls.pointer = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS)
    moves = [
        pygame.event.Event(pygame.MOUSEMOTION, pos=(440, 330), rel=(1, 1), buttons=(0, 0, 0)),
        press(pygame.K_LSHIFT),
        pygame.event.Event(pygame.MOUSEMOTION, pos=(440, 310), rel=(0, -20), buttons=(0, 0, 0)),
        pygame.event.Event(pygame.KEYUP, key=pygame.K_LSHIFT),
    ]
    for event in moves[:1]:
        controls.take(event, 1.0)
    before = pointer.target_D.copy()
    for event in moves[1:]:
        controls.take(event, 1.0)
    assert pointer.target_D[[0, 2]] == pytest.approx(before[[0, 2]])
    assert pointer.target_D[1] > 0.003  # up on the screen is away from the viewer
    after = pointer.target_D.copy()
    controls.take(pygame.event.Event(pygame.MOUSEMOTION, pos=(440, 310), rel=(0, 0), buttons=(0, 0, 0)), 1.1)
    assert pointer.target_D == pytest.approx(after)  # and following goes on without a jump


def test_a_window_that_only_looks_takes_the_same_input_without_a_target():
    controls = Controls(view())
    controls.take(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=3), 1.0)
    controls.take(press(pygame.K_r), 1.0)
    controls.take(press(pygame.K_LEFT), 1.0)
    assert controls.camera.azimuth != 0.0 and not controls.closing
    controls.take(press(pygame.K_COMMA, ","), 1.0)
    controls.rotate_hand(1.1)


def test_comma_and_period_turn_the_hand_while_they_are_held():
    controls = Controls(view())
    pointer = controls.pointer = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS)

    def hold(key: int, start_s: float, seconds: float) -> None:
        controls.rotate_hand(start_s)
        controls.take(press(key), start_s)
        for k in range(1, round(seconds / 0.01) + 1):
            controls.rotate_hand(start_s + 0.01 * k)
        controls.take(pygame.event.Event(pygame.KEYUP, key=key), start_s + seconds)

    hold(pygame.K_COMMA, 1.0, 0.4)
    assert pointer.turn == pytest.approx(0.6)  # 1.5 rad/s, to the left seen from above
    controls.rotate_hand(1.45)
    assert pointer.turn == pytest.approx(0.6)
    hold(pygame.K_PERIOD, 2.0, 0.6)
    assert pointer.turn == pytest.approx(-0.3)
    hold(pygame.K_PERIOD, 3.0, 5.0)
    assert pointer.turn == -TURN_REACH
    assert np.all(pointer.target_D == 0.0) and not controls.closing


def test_the_hand_stops_turning_with_the_focus_and_does_not_catch_up_with_a_long_frame():
    controls = Controls(view())
    pointer = controls.pointer = PointerTarget(ORIGIN, np.eye(3), 3.0, RADIUS)
    controls.rotate_hand(1.0)
    controls.take(press(pygame.K_COMMA), 1.0)
    controls.rotate_hand(2.0)
    assert 0.0 < pointer.turn <= 0.15 + 1e-12
    before = pointer.turn
    controls.take(pygame.event.Event(pygame.WINDOWFOCUSLOST), 2.0)
    controls.rotate_hand(2.05)
    assert pointer.turn == before
