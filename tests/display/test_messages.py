"""Payloads become arrays or one sentence; words say what is and what to do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hapticsim.codes import Fault, Safety
from hapticsim.display.messages.scene import (
    PredictedMessage,
    SceneMessage,
    StateMessage,
    Unreadable,
    rotations,
)
from hapticsim.display.messages.stats import StatsMessage
from hapticsim.display.pace import Pace
from hapticsim.display.panel.gauges import ForceHistory, log_place, microseconds
from hapticsim.display.panel.words import safety_words, silence_words
from hapticsim.display.scene.shadow import Level, shadow_on
from hapticsim.wire.messages.fault_words import fault_words
from tests import display_fake


def test_payloads_of_a_plausible_server_are_read():
    scene = SceneMessage.read(display_fake.scene())
    state = StateMessage.read(display_fake.state(0.0))
    predicted = PredictedMessage.read(display_fake.predicted(0.0))
    assert scene.shapes[0].color == display_fake.TABLE_COLOR
    assert scene.force_limit_N == display_fake.FORCE_LIMIT_N
    assert state.mode is Safety.ARMED
    assert state.contacts[0].a == "tip" and state.contacts[0].force_N == 5.4
    assert predicted.confirmed is not None and len(predicted.poses.p_WB) == 4


@pytest.mark.parametrize("key", ["name", "bodies", "shapes", "mapping", "rate_Hz"])
def test_a_scene_without_a_key_says_which(key: str):
    payload = display_fake.scene()
    del payload[key]
    with pytest.raises(Unreadable, match=f"scene: key '{key}' is missing"):
        SceneMessage.read(payload)


def ruined(**changes: Any) -> dict[str, Any]:
    return display_fake.state(0.0, **changes)


@pytest.mark.parametrize(
    "payload",
    [
        ruined(bodies=[0.0] * 28),  # quaternions of length zero
        ruined(bodies=[1.0] * 27),  # not a multiple of seven
        ruined(bodies=[math.nan] * 28),
        ruined(mode=17),
        ruined(contacts=[{"a": "tip"}]),
        ruined(contacts=5),
        ruined(device={"position": [0.0, 0.0]}),
        ruined(energy_J=[1.0]),
        ruined(tick=None),
        [1, 2, 3],
        None,
        "text",
    ],
)
def test_a_ruined_state_is_refused_in_words(payload: Any):
    with pytest.raises(Unreadable, match="state: "):
        StateMessage.read(payload)


def test_optional_parts_of_a_state_may_be_absent():
    payload = display_fake.state(0.0)
    for key in ("contacts", "device", "coupler", "energy_J"):
        payload[key] = None
    state = StateMessage.read(payload)
    assert not state.device_connected and state.handle_W is None and state.contacts == ()


def test_rotations_turn_vectors_like_the_quaternion_product():
    rng = np.random.default_rng(5)
    for w, *v in rng.normal(size=(20, 4)):
        norm = math.sqrt(w * w + float(np.dot(v, v)))
        w, v = w / norm, np.array(v) / norm
        r = rng.normal(size=3)
        turned = r + 2.0 * np.cross(v, np.cross(v, r) + w * r)  # q r q* written with the vector part
        assert rotations(np.array([[w, *v]]))[0] @ r == pytest.approx(turned)


def test_every_fault_has_words():
    single = [fault_words(fault, advice=False) for fault in Fault]
    assert len(single) == len(set(single)) and fault_words(Fault.NONE) not in single
    assert fault_words(Fault.NONE) == "no fault"
    assert fault_words(Fault.DEVICE_SPEED | Fault.STRETCH) == (
        "the device moved faster than allowed, "
        "the coupler is stretched too far: move the device to the handle"
    )


def test_the_window_says_what_happened_in_the_words_of_the_terminal_and_has_its_own_advice():
    advice = safety_words(Safety.FAULT, Fault.STRETCH, connected=True, steers=False)[1]
    assert advice == "No force: the coupler is stretched too far. Engage at the device."


def test_advice_fits_the_state_and_who_steers():
    head, advice, _ = safety_words(Safety.DISARMED, Fault.NONE, connected=True, steers=True)
    assert (head, advice) == ("DISENGAGED", "No force. Click or press Space to engage.")
    assert "device" in safety_words(Safety.DISARMED, Fault.NONE, connected=True, steers=False)[1]
    assert "Bring the cross to the ring" in safety_words(Safety.FAULT, Fault.STRETCH, True, True)[1]
    assert safety_words(Safety.ARMED, Fault.NONE, connected=False, steers=True)[0] == "NO DEVICE"
    heads = {safety_words(mode, Fault.NONE, True, True)[0] for mode in Safety}
    assert len(heads) == len(Safety)


def test_silence_is_told_from_never_having_heard():
    assert silence_words(0.5, "ipc://x") is None
    assert "Waiting for a server at ipc://x" in str(silence_words(None, "ipc://x"))
    assert "silent for 7 s" in str(silence_words(7.2, "ipc://x"))


def test_history_keeps_its_span_and_starts_again_with_the_server():
    history = ForceHistory(span_s=2.0)
    for k in range(50):
        history.add(0.1 * k, 1.0)
    assert history.samples[0][0] == pytest.approx(2.9)
    history.add(0.0, 3.0)
    assert list(history.samples) == [(0.0, 3.0)]


def test_durations_stand_on_a_logarithmic_scale():
    assert [log_place(v) for v in (0.1, 1.0, 100.0, 10_000.0)] == pytest.approx([0.0, 0.2, 0.6, 1.0])
    assert log_place(0.0) == log_place(-5.0) == log_place(math.nan) == 0.0
    assert log_place(1e9) == 1.0
    assert [microseconds(v) for v in (0.25, 84.0, 999.6, 2718.0)] == ["0.25 µs", "84 µs", "1 ms", "2.72 ms"]


LEVEL = Level(np.array([0.0, 0.0, 0.1]), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), 0.5, 0.5)


def test_shadow_of_a_ball_is_a_disc_under_it():
    found = shadow_on(LEVEL, np.array([0.2, 0.1, 0.4]), np.array([0.2, 0.1, 0.4]), 0.05)
    assert found is not None
    outline, strength = found
    assert np.linalg.norm(outline - [0.2, 0.1, 0.1], axis=1) == pytest.approx(0.05)
    assert 0.0 < strength < 1.0


def test_shadow_stays_on_the_face_and_is_strongest_in_touch():
    edge, touching = np.array([0.49, 0.0, 0.3]), np.array([0.0, 0.0, 0.15])
    outline, _ = shadow_on(LEVEL, edge, edge, 0.05) or pytest.fail("casts a shadow")
    assert outline[:, 0].max() == pytest.approx(0.5)
    assert (shadow_on(LEVEL, touching, touching, 0.05) or pytest.fail("casts a shadow"))[1] == 1.0


def test_what_is_beside_or_below_a_face_casts_no_shadow_on_it():
    for centre in (np.array([0.7, 0.0, 0.3]), np.array([0.0, 0.0, 0.0])):
        assert shadow_on(LEVEL, centre, centre, 0.05) is None


def test_figures_that_are_no_numbers_are_left_out():
    stats = StatsMessage.read(
        {"missed": "many", "lateness_us": {"p50": None, "p99": 3, "max": math.inf}, "dropped": 5}
    )
    assert stats.missed is None and stats.lateness_us == {"p99": 3.0} and stats.dropped == {}


def test_one_slow_frame_changes_nothing_and_a_slow_machine_loses_smoothness():
    pace = Pace()
    pace.drawn(0.0, 0.08)
    assert pace.detail == 2 and pace.next_s == pytest.approx(0.12)
    for k in range(60):
        pace.drawn(float(k), k + 0.03)
    assert pace.detail == 1
    for k in range(60):
        pace.drawn(float(k), k + 0.01)
    assert pace.detail == 1  # what detail 1 costs where detail 2 costs 20 ms: no swinging back
    for k in range(100):
        pace.drawn(float(k), k + 0.002)
    assert pace.detail == 2 and pace.next_s == pytest.approx(99.0 + 1.0 / 60.0)
