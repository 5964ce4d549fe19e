"""Sensors in the window: read, put into words with their units, listed in the panel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hapticsim.display.messages.scene import SceneMessage, StateMessage, Unreadable
from hapticsim.display.messages.sensors import sensor_words
from hapticsim.display.panel.sensor_list import sensor_lines
from hapticsim.display.window import Window
from hapticsim.wire.publisher import Publisher
from tests import display_fake
from tests.display.test_window import TOUCHING_S, show

VIEW = 810  # [px] columns of the scene, before the panel


@pytest.mark.parametrize(
    ("name", "value", "label", "shown"),
    [
        ("slip_m_per_s", 0.12345, "slip", "0.123 m/s"),
        ("tip_height_m", -0.24, "tip height", "-0.240 m"),
        ("lean_rad", 1.0, "lean", "1.000 rad"),
        ("spin_rad_per_s2", 12.0, "spin", "12.000 rad/s^2"),
        ("brake_Nm", 3.0, "brake", "3.000 N m"),
        ("drag_Ns_per_m", 3.0, "drag", "3.000 N s/m"),
        ("inertia_kg_m2", 0.5, "inertia", "0.500 kg m^2"),
        ("stiff_N_per_m_rad", 0.5, "stiff", "0.500 N/(m rad)"),
        ("power_W", 1.5e6, "power", "1.50e+06 W"),
        ("slip_m_per_s", -3.2e-5, "slip", "-3.20e-05 m/s"),
        ("slip_m_per_s", -3.2e-17, "slip", "0.000 m/s"),
        ("ratio", 2.0, "ratio", "2.000"),
        ("turns_per_s", 2.0, "turns per s", "2.000"),
        ("m", 2.0, "m", "2.000"),
        ("angle_deg", 2.0, "angle deg", "2.000"),
        ("slip_m_per_s", None, "slip", "no value"),
    ],
)
def test_a_sensor_in_words(name, value, label, shown):
    assert sensor_words(name, value) == (label, shown)


def test_sensors_are_listed_in_the_order_of_the_scene():
    state = StateMessage.read(display_fake.state(0.0, sensors={"b_m": 1.0, "a_N": None, "new_s": 2}))
    scene = SceneMessage.read(display_fake.scene(sensors=["a_N", "gone_J", "b_m"]))
    assert sensor_lines(scene, state) == [("a", "no value"), ("b", "1.000 m"), ("new", "2.000 s")]
    assert sensor_lines(None, state) == [("b", "1.000 m"), ("a", "no value"), ("new", "2.000 s")]
    without = StateMessage.read(display_fake.state(0.0))
    assert sensor_lines(SceneMessage.read(display_fake.scene()), without) == []


@pytest.mark.parametrize("sensors", [[1.0], {"a_m": [1.0, 2.0]}, {"a_m": float("nan")}, {"a_m": "far"}])
def test_sensors_that_cannot_be_read_are_said(sensors):
    with pytest.raises(Unreadable, match=r"^state: "):
        StateMessage.read(display_fake.state(0.0, sensors=sensors))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Publisher]:
    with Publisher(f"ipc://{tmp_path}/publish") as publisher:
        yield publisher


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Publisher) -> Iterator[Window]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    opened = Window(f"ipc://{tmp_path}/publish")
    yield opened
    opened.close()


def test_the_panel_has_a_line_for_each_of_six_and_counts_the_others(window, server, monkeypatch):
    written: list[str] = []
    write = window.type.write

    def noted(surface, text, *arguments, **options):
        written.append(text)
        return write(surface, text, *arguments, **options)

    monkeypatch.setattr(window.type, "write", noted)

    def panel(sensors: dict[str, float]) -> np.ndarray:
        written.clear()
        scene = display_fake.scene(sensors=list(sensors))
        state = display_fake.state(TOUCHING_S, sensors=sensors)
        return show(window, server, {"scene": scene, "state": state})[VIEW:]

    none = panel({})
    assert "sensors" not in written and window.feed.trouble == ""
    some = panel({"slip_m_per_s": 0.25, "lean_rad": -1.0})
    at = written.index("sensors")
    assert written[at : at + 5] == ["sensors", "    slip", "0.250 m/s", "    lean", "-1.000 rad"]
    assert not np.array_equal(none, some)
    panel({f"x{i}_m": float(i) for i in range(8)})
    assert "    x5" in written and "    x6" not in written and "    and 2 more" in written
