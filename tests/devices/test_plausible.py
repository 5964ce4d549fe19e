"""Which measurements can be true: any motion a hand can make passes, whatever nobody can do does not."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hapticsim_devices.base import READY, DeviceSample
from hapticsim_devices.plausible import MAX_SPEED_M_PER_S, Plausibility, Verdict

from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import State
from hapticsim.wire.messages.fields import Refused

PERIOD = 1e-3


def test_no_motion_below_the_largest_speed_is_a_jump_however_unevenly_it_is_read():
    rng = random.Random(4)
    judge, t, x = Plausibility(), 0.0, [0.0, 0.0, 0.0]
    for _ in range(5000):
        elapsed = rng.choice([1e-3, 1e-3, 1e-3, 2e-3, 3e-2])
        t += elapsed
        direction = [rng.gauss(0.0, 1.0) for _ in range(3)]
        way = rng.uniform(0.0, MAX_SPEED_M_PER_S) * elapsed / math.hypot(*direction)
        x = [max(-0.2, min(0.2, a + way * d)) for a, d in zip(x, direction, strict=True)]
        assert judge.judge(DeviceSample(t, tuple(x)), elapsed, PERIOD) is Verdict.GOOD
    assert (judge.jumps, judge.unusable) == (0, 0)


@pytest.mark.parametrize("step_m", [0.011, 0.05, 3.0])
def test_a_step_that_no_hand_makes_is_a_jump_once_at_any_reported_velocity(step_m):
    for velocity in ((0.0, 0.0, 0.0), (5.0, 0.0, 0.0)):
        judge = Plausibility()
        verdicts = [
            judge.judge(DeviceSample(0.0, (x, 0.0, 0.0), velocity), PERIOD, PERIOD)
            for x in (0.0, 0.001, 0.001 + step_m, 0.001 + step_m)
        ]
        assert verdicts == [Verdict.GOOD, Verdict.GOOD, Verdict.JUMP, Verdict.GOOD]
        assert judge.step_m == pytest.approx(step_m)


def test_the_time_of_measurements_that_were_not_usable_counts():
    judge, good = Plausibility(), (0.0, 0.0, 0.0)
    assert judge.judge(DeviceSample(0.0, good), PERIOD, PERIOD) is Verdict.GOOD
    for _ in range(20):
        assert judge.judge(DeviceSample(0.0, (math.nan, 0.0, 0.0)), PERIOD, PERIOD) is Verdict.UNUSABLE
    assert judge.judge(DeviceSample(0.0, (0.1, 0.0, 0.0)), PERIOD, PERIOD) is Verdict.GOOD
    assert judge.unusable == 20


@pytest.mark.parametrize(
    "odd", [{"buttons": 1.0}, {"flags": 1.0}, {"flags": None}, {"quaternion_wxyz": (10**400, 0, 0, 0)}]
)
def test_what_the_wire_would_not_take_is_unusable_and_no_traceback(odd):
    sample = replace(DeviceSample(0.0, (0.0, 0.0, 0.0)), **odd)
    assert Plausibility().judge(sample, PERIOD, PERIOD) is Verdict.UNUSABLE


def test_what_is_usable_is_what_the_wire_takes():
    rng = random.Random(8)
    numbers = [
        0.0,
        -0.01,
        1.0,
        0.9999,
        9.99,
        10.01,
        99.0,
        101.0,
        999.0,
        1001.0,
        math.nan,
        math.inf,
        -math.inf,
    ]
    usable = 0
    for _ in range(3000):
        vector = lambda: tuple(rng.choice(numbers[: rng.choice([3, 5, 12])]) for _ in range(3))  # noqa: E731
        turn = rng.choice(
            [(1.0, 0.0, 0.0, 0.0), (0.0, 0.6, 0.0, 0.8), (0.0, 0.0, 0.0, 0.0), (1.1, 0.0, 0.0, 0.0)]
        )
        sample = DeviceSample(
            0.0, vector(), vector(), turn, vector(), rng.choice([0, 3, -1, 2**32]), vector(), READY,
            rng.choice([None, vector()]),
        )  # fmt: skip
        state = State(
            sample.position_m, sample.quaternion_wxyz, sample.velocity_m_per_s,
            sample.angular_velocity_rad_per_s, sample.buttons, sample.force_N, sample.flags, sample.target_m,
        )  # fmt: skip
        try:
            decode(encode(state))
            taken = True
        except (Refused, OverflowError):
            taken = False
        assert (Plausibility().judge(sample, PERIOD, PERIOD) is Verdict.GOOD) is taken
        usable += taken
    assert 50 < usable < 2950
