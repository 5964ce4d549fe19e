"""The smoothed target: bounded speed, no overshoot, and it arrives."""

from __future__ import annotations

import itertools
import math

import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.target import FOLLOW_S, SmoothTarget, within
from hypothesis import given
from hypothesis import strategies as st

H = 1e-3


def follow(goal_at, seconds: float, speed: float = 0.5, h: float = H):
    target = SmoothTarget(speed)
    return [target.at(k * h, goal_at(k * h)) for k in range(round(seconds / h))], target


def test_a_far_goal_is_reached_at_the_speed_of_the_hand_and_not_passed():
    path, _ = follow(lambda t: (0.1, 0.0, -0.1), 1.0)
    steps = [math.dist(a, b) / H for a, b in itertools.pairwise(path)]
    assert max(steps) <= 0.5 * (1.0 + 1e-9)
    assert max(steps) > 0.49
    assert max(p[0] for p in path) <= 0.1
    assert path[-1] == pytest.approx((0.1, 0.0, -0.1), abs=1e-5)


def test_the_velocity_is_continuous_when_the_pointer_jumps():
    path, _ = follow(lambda t: (0.05 if t < 0.2 else -0.05, 0.0, 0.0), 0.6)
    speeds = [(b[0] - a[0]) / H for a, b in itertools.pairwise(path)]
    jump = max(abs(b - a) for a, b in itertools.pairwise(speeds))
    assert jump <= 1.0 * 4.0 * H / FOLLOW_S * 1.01  # from -v to v takes a quarter of the following time


def test_sixty_steps_a_second_become_a_steady_motion():
    path, _ = follow(lambda t: (0.2 * math.floor(t * 60.0) / 60.0, 0.0, 0.0), 1.0)
    speeds = [(b[0] - a[0]) / H for a, b in itertools.pairwise(path)][500:]
    assert min(speeds) > 0.16 and max(speeds) < 0.24


def test_the_first_look_does_not_move_the_hand():
    assert SmoothTarget(0.5).at(100.0, (1.0, 1.0, 1.0)) == ZERO


@given(
    st.lists(st.tuples(st.floats(0.0, 0.5), st.tuples(*[st.floats(-0.2, 0.2)] * 3)), min_size=1, max_size=40)
)
def test_no_rhythm_of_looks_makes_the_target_faster_than_the_hand_or_throws_it_out(looks):
    target, t = SmoothTarget(0.5), 0.0
    before = target.at(t, ZERO)
    for elapsed, goal in looks:
        t += elapsed
        now = target.at(t, goal)
        assert math.dist(now, before) <= 0.5 * elapsed * (1.0 + 1e-9) + 1e-15
        assert all(abs(c) <= 0.21 for c in now)
        before = now


def test_within_keeps_the_direction():
    assert within((3.0, 0.0, 4.0), 1.0) == pytest.approx((0.6, 0.0, 0.8))
    assert within((0.1, 0.2, 0.3), 1.0) == (0.1, 0.2, 0.3)
