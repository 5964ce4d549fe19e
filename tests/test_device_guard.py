"""The force guard: no clock, no socket, every rule alone."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.base import ZERO
from devices.guard import ForceGuard
from hapticsim.codes import Safety

PERIOD = 1e-3
FRESH = 0.001


def session(device_limit_N: float = 12.0, **terms: float) -> ForceGuard:
    """A guard in a session whose server has been seen disarmed."""
    guard = ForceGuard(device_limit_N)
    given = {"force_limit_N": 8.0, "slew_limit_N_per_s": 1e6, "timeout_s": 0.01} | terms
    guard.begin(period_s=PERIOD, **given)
    assert guard.apply((1.0, 0.0, 0.0), Safety.DISARMED, FRESH, PERIOD) == ZERO
    return guard


@pytest.mark.parametrize("mode", [Safety.DISARMED, Safety.FAULT, -1, 99])
def test_only_an_armed_server_gets_force_through(mode):
    assert session().apply((1.0, 0.0, 0.0), mode, FRESH, PERIOD) == ZERO


@pytest.mark.parametrize("mode", [Safety.ARMING, Safety.ARMED])
def test_arming_and_armed_let_the_force_through_unchanged(mode):
    assert session().apply((1.0, -2.0, 0.5), mode, FRESH, PERIOD) == (1.0, -2.0, 0.5)


def test_a_new_session_is_held_until_the_server_was_disarmed():
    guard = ForceGuard(12.0)
    guard.begin(8.0, 1e6, 0.01, PERIOD)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == ZERO and guard.held
    guard.apply(ZERO, Safety.FAULT, FRESH, PERIOD)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == (1.0, 0.0, 0.0)


def test_an_unknown_mode_does_not_lift_the_hold():
    guard = ForceGuard(12.0)
    guard.begin(8.0, 1e6, 0.01, PERIOD)
    guard.apply(ZERO, 99, FRESH, PERIOD)
    assert guard.held


@pytest.mark.parametrize(("age_s", "through"), [(0.0059, True), (0.0061, False), (math.inf, False)])
def test_force_is_cut_four_ticks_before_the_time_out(age_s, through):
    assert (session().apply((1.0, 0.0, 0.0), Safety.ARMED, age_s, PERIOD) != ZERO) is through


def test_one_silence_counts_once_and_is_over_only_after_a_disarm():
    guard = session()
    for age in (0.02, 0.03, 0.04):
        guard.apply((1.0, 0.0, 0.0), Safety.ARMED, age, PERIOD)
    assert (guard.silences, guard.silent, guard.held) == (1, True, True)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == ZERO
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e308])
def test_what_is_not_finite_is_zero_and_counted(bad):
    guard = session()
    assert guard.apply((bad, bad, 0.0), Safety.ARMED, FRESH, PERIOD) == ZERO
    assert guard.not_finite == 1


def test_the_smaller_limit_holds_along_the_direction_of_the_force():
    assert session(force_limit_N=5.0).apply((30.0, 40.0, 0.0), Safety.ARMED, FRESH, PERIOD) == pytest.approx(
        (3.0, 4.0, 0.0)
    )
    assert session(device_limit_N=1.0).apply((0.0, 0.0, -9.0), Safety.ARMED, FRESH, PERIOD) == (
        0.0,
        0.0,
        -1.0,
    )


def test_the_change_per_second_is_bounded_both_ways_but_not_for_safety():
    guard = session(slew_limit_N_per_s=2000.0)
    ramp = [guard.apply((0.0, 0.0, 7.0), Safety.ARMED, FRESH, PERIOD)[2] for _ in range(5)]
    assert ramp == pytest.approx([2.0, 4.0, 6.0, 7.0, 7.0])
    assert guard.apply((0.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)[2] == pytest.approx(5.0)
    assert guard.apply((0.0, 0.0, 7.0), Safety.FAULT, FRESH, PERIOD) == ZERO


ANY = st.floats(allow_nan=True, allow_infinity=True)
COMMANDS = st.lists(
    st.tuples(
        st.tuples(ANY, ANY, ANY),
        st.sampled_from([-1, *map(int, Safety)]),
        st.floats(0.0, 0.1),
        st.floats(0.0, 0.01),
    ),
    max_size=30,
)


@given(COMMANDS)
def test_whatever_comes_the_motors_get_finite_bounded_and_slow_forces(commands):
    guard = session(slew_limit_N_per_s=2000.0)
    forces = [ZERO]
    for force, mode, age_s, elapsed_s in commands:
        forces.append(guard.apply(force, mode, age_s, elapsed_s))
        assert math.hypot(*forces[-1]) <= 8.0 * (1.0 + 1e-12)
    for (before, after), (_, _, _, elapsed_s) in zip(itertools.pairwise(forces), commands, strict=True):
        assert after == ZERO or math.dist(before, after) <= 2000.0 * elapsed_s * (1.0 + 1e-9) + 1e-12
