"""The window and a real pointer, on a screen nobody sees: what the mouse does is what the hand feels."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Safety
from tests.processes import CONFIGS, START_S
from tests.runs.test_visit import CLAMP_N, publish_endpoint
from tools.window_picture import PointerHand, Screen, missing_programs

pytestmark = pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")

STILL_S, RESTING_N = 0.6, 0.06  # a step of the encoder is 0.017 N
HAND_N_per_m = 300.0
COUPLER_N_per_m = 795.4  # softer where forces come late (hapticsim/haptics/late.py)
TABLE_m = -0.05  # of the table under the fingertip's start, in the device frame


@pytest.fixture
def screen():
    with Screen() as screen:
        yield screen


@pytest.fixture
def run(place, screen):
    place.environment["DISPLAY"] = screen.display
    program = place.start("run", CONFIGS / "wam_table.yaml", "--device", "mouse", "--no-record")
    program.hears("in session", START_S)
    return program


@pytest.fixture
def hand(run, place, screen):
    with hs.Subscriber(publish_endpoint(place)) as server:
        yield PointerHand(screen, server)


def test_the_pointer_pushes_on_the_table_up_to_the_clamp_and_lifting_takes_the_force_away(run, hand):
    hand.lead(0.0, 0.01)
    assert hand.force_N() == 0.0 and hand.state()["mode"] == Safety.DISARMED  # moving alone gives no force
    hand.engage()

    hand.lead(0.0, TABLE_m - 0.015)
    hand.wait_for(lambda: bool(hand.state()["contacts"]))
    touching = [steady_force(hand)]  # what the hand wants, what it gets, and the spring between
    for deeper_m in (0.025, 0.035):
        hand.lead(0.0, TABLE_m - deeper_m)
        touching.append(steady_force(hand))
    goal_m, force_N, coupler_N_per_m = np.array(touching).T
    assert np.all(np.diff(force_N) > 0.0) and 1.0 < force_N[0] and force_N[-1] < CLAMP_N
    is_late = "later than expected" in run.said
    assert is_late or coupler_N_per_m == pytest.approx([COUPLER_N_per_m] * 3, rel=0.02)
    assert np.all(coupler_N_per_m < 1.02 * COUPLER_N_per_m)
    stretched_m = force_N / HAND_N_per_m + force_N / coupler_N_per_m
    assert np.diff(stretched_m) == pytest.approx(-np.diff(goal_m), rel=0.1)

    hand.lead(0.0, TABLE_m - 0.062)
    deep_m = TABLE_m - steady_force(hand)[0]
    expected_N = min(CLAMP_N, deep_m / (1.0 / HAND_N_per_m + 1.0 / coupler_N_per_m[-1]))
    is_late = "later than expected" in run.said
    assert is_late or expected_N == CLAMP_N
    at_the_clamp = [hand.force_N() for _ in range(200) if hand.state()]
    assert min(at_the_clamp) > 0.97 * expected_N and max(at_the_clamp) <= CLAMP_N * (1.0 + 1e-12)
    (contact,) = hand.state()["contacts"]
    assert (contact["a"], contact["b"]) == ("fingertip", "table")
    assert contact["force_N"] == pytest.approx(expected_N, rel=0.05) and contact["gap_m"] > -1e-9

    hand.lead(0.0, 0.0)
    hand.wait_for(lambda: not hand.state()["contacts"] and hand.force_N() < 0.1)
    assert hand.state()["mode"] == Safety.ARMED
    assert run.stop() == 0


def steady_force(hand: PointerHand) -> tuple[float, float, float]:
    """Height of the goal [m], upward force on the hand [N] and stiffness of the coupler [N/m].

    They are those of the moment at which the force kept still for STILL_S.
    """
    kept: list[tuple[float, float, float]] = []  # time, goal and force of the looks since it last changed
    seen: list[dict[str, list[float]]] = []  # the coupler at each of them

    def is_steady() -> bool:
        state = hand.state()
        time_s, goal, force = state["time_s"], state["device"]["target"][2], state["device"]["force_N"][2]
        if force < 0.5 or any(abs(force - before) > RESTING_N for _, _, before in kept):
            kept.clear()
        kept.append((time_s, goal, force))
        seen.append(state["coupler"])
        return force > 0.5 and time_s - kept[0][0] > STILL_S

    hand.wait_for(is_steady)
    pulled_N, anchor_m, handle_m = (seen[-1][key][2] for key in ("force_W", "anchor_W", "handle_W"))
    return *kept[-1][1:], pulled_N / (anchor_m - handle_m)


@pytest.mark.long
def test_the_right_button_takes_the_force_away_and_a_click_gives_it_back(run, hand):
    hand.engage()
    hand.lead(0.0, TABLE_m - 0.03)
    assert steady_force(hand)[1] > 3.0
    hand.disengage()
    hand.wait_for(lambda: hand.state()["mode"] == Safety.DISARMED and hand.force_N() == 0.0)
    hand.engage()
    assert run.stop() == 0


@pytest.mark.long
def test_the_pictures_key_saves_what_is_seen(run, hand, screen, place):
    hand.engage()
    screen.xdotool("key", "s")
    hand.wait_for(lambda: any(place.folder.glob("hapticsim-*.png")))
    assert run.stop() == 0


def test_closing_the_window_ends_the_run_with_its_report(run, hand, screen):
    hand.lead(0.01, 0.0)
    screen.xdotool("key", "q")
    assert run.wait() == 0
    assert "ticks at 1000 Hz" in run.printed


@pytest.mark.long
def test_a_window_that_died_ends_the_run_with_status_1(run, hand):
    hand.lead(0.01, 0.0)
    os.kill(run.child("view"), signal.SIGKILL)
    assert run.wait() == 1
    assert "window died (status -9): the run ends." in run.said
