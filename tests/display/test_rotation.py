"""The window shows how device and handle are turned, and the torque: in the right place, sense and size."""

from __future__ import annotations

import math

import numpy as np
import pygame
import pytest

from hapticsim.display.messages.scene import SceneMessage, StateMessage, Unreadable
from hapticsim.display.palette import PANEL, SKY, TEXT, VERMILION
from hapticsim.display.panel.notices import _HELP_SIZE
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.rotation import ARC_AT_LIMIT, ARC_PX, DEVICE_PX, draw_axes, torque_arc
from hapticsim.display.window import Window
from hapticsim.wire.publisher import Publisher
from tests import display_fake
from tests.display.test_window import TOUCHING_S, count, endpoint, no_screen, server, show, window

__all__ = ["endpoint", "no_screen", "server", "window"]  # fixtures

ABOVE = OrbitCamera(400, 400, distance=1.0, elevation=math.radians(88.0))  # x right, y up in the picture
UP = np.array([0.0, 0.0, 1.0])


def test_the_handle_is_turned_against_the_device_by_the_stretch_whatever_its_body():
    state = StateMessage.read(display_fake.turning_state(TOUCHING_S, 0.9, 0.4, -0.1))
    R_WD = SceneMessage.read(display_fake.turning_scene()).R_WD
    device, grip = state.turned.device_W(R_WD), state.turned.grip_W(R_WD)
    assert math.atan2(device[1, 0], device[0, 0]) == pytest.approx(0.9)
    assert math.atan2(grip[1, 0], grip[0, 0]) == pytest.approx(0.4)
    assert grip[2] == pytest.approx(UP)


def test_a_server_that_says_nothing_of_rotation_has_none():
    turned = StateMessage.read(display_fake.state(0.0)).turned
    assert np.array_equal(turned.R_DH, np.eye(3)) and not turned.hand_torque_D.any()
    assert turned.grip_W(np.eye(3)) is None
    assert not SceneMessage.read(display_fake.scene()).turns


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("device", "quaternion", [0.0] * 4),
        ("device", "torque_Nm", [0.0, math.nan, 0.0]),
        ("coupler", "anchor_quaternion_W", [1.0, 0.0, 0.0]),
        ("coupler", "handle_quaternion_W", "upright"),
    ],
)
def test_a_ruined_rotation_is_refused_in_words(part, key, value):
    payload = display_fake.turning_state(0.0, 0.0, 0.0, 0.0)
    payload[part][key] = value
    with pytest.raises(Unreadable, match="state: "):
        StateMessage.read(payload)


@pytest.mark.parametrize("share", [-1.0, -0.4, 0.2, 0.9, 5.0])
def test_the_arc_is_as_long_as_the_torque_and_turns_by_the_right_hand_rule(share):
    arc = torque_arc(ABOVE, np.zeros(3), share * UP, np.eye(3))
    x, y = (arc - 200.0).T * [[1.0], [-1.0]]
    angle = np.unwrap(np.arctan2(y, x))
    expected = math.copysign(min(abs(share), 1.0), share) * ARC_AT_LIMIT
    assert angle[-1] - angle[0] == pytest.approx(expected, abs=0.03)
    assert np.hypot(x, y) == pytest.approx(ARC_PX, rel=0.05)  # nearly from above
    assert angle[0] == pytest.approx(0.0, abs=0.01)  # from the device's x axis on


def test_no_arc_without_torque_nor_behind_the_eye():
    assert torque_arc(ABOVE, np.zeros(3), np.zeros(3), np.eye(3)) is None
    assert torque_arc(ABOVE, 3.0 * UP, UP, np.eye(3)) is None


def test_the_arms_are_equally_long_on_the_screen_from_any_distance():
    for distance in (0.3, 30.0):
        camera = OrbitCamera(400, 400, distance=distance, elevation=math.radians(88.0))
        canvas = pygame.Surface((400, 400))
        draw_axes(canvas, camera, np.zeros(3), np.eye(3), DEVICE_PX, SKY, 1)
        pixels = pygame.surfarray.array3d(canvas).astype(int)
        dot = round(200 + DEVICE_PX[1])
        assert count(pixels[dot - 2 : dot + 3, 198:203], SKY) == 25  # the end of x
        tip = round(200 - DEVICE_PX[1])
        assert count(pixels[198:203, tip - 2 : tip + 9], SKY) >= 12  # of y, which has no dot
        assert count(pixels[198:203, : tip - 2], SKY) == 0


def test_device_handle_and_torque_are_drawn_where_the_coupler_turns(window: Window, server: Publisher):
    topics = {
        "scene": display_fake.turning_scene(),
        "state": display_fake.turning_state(TOUCHING_S, 0.9, 0.4, -0.13),
    }
    turned = show(window, server, topics)[:810]
    plain = show(window, server, topics | {"scene": display_fake.scene()})[:810]
    changed = np.abs(turned - plain).max(axis=2) > 25
    state = window.feed.state
    (device, handle), _ = window.camera.project(np.stack([state.anchor_W, state.handle_W]))
    near = np.zeros(changed.shape, bool)
    for x, y in (device, handle):
        near[int(x) - 55 : int(x) + 56, int(y) - 55 : int(y) + 56] = True
    assert changed[near].sum() > 200 and not changed[~near].any()
    for color in (SKY, TEXT, VERMILION):
        assert count(turned, color, 12) > count(plain, color, 12) + 10


def test_the_panel_has_a_torque_meter_that_warns_near_the_limit(window: Window, server: Publisher):
    def panel(torque_Nm: float) -> np.ndarray:
        state = display_fake.turning_state(TOUCHING_S, 0.0, 0.0, torque_Nm)
        return show(window, server, {"scene": display_fake.turning_scene("z"), "state": state})[810:]

    part, full = panel(0.1), panel(0.199)
    bar = np.flatnonzero((part != full).any(axis=(0, 2)))
    strip = slice(bar.min(), bar.max() + 1)
    assert 500 < count(part[:, strip], SKY) < 1500 and count(part[:, strip], VERMILION) == 0
    assert count(full[:, strip], VERMILION) > 1500 and count(full[:, strip], SKY) == 0
    plain = show(window, server, {"scene": display_fake.scene()})[810:]
    assert count(plain, PANEL) != count(full, PANEL)


def test_the_help_explains_the_signs_of_rotation_only_where_they_are_shown(window: Window, server: Publisher):
    window.controls.help_shown = True
    top = 14 + _HELP_SIZE[1] + 20
    for payload, signs in ((display_fake.scene(), 7), (display_fake.turning_scene(), 9)):
        pixels = show(window, server, {"scene": payload})
        legend = pygame.surfarray.array3d(window.panel.legend(window.feed.scene).picture)
        width, height, _ = legend.shape
        assert np.array_equal(pixels[28 : 28 + width, top : top + height], legend)
        assert height == 20 * signs and len(np.unique(legend[:40, -40:].reshape(-1, 3), axis=0)) > 10
