"""The force guard: no clock, no socket, every rule alone."""

from __future__ import annotations

import itertools
import math

import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.guard import ForceGuard
from hapticsim_devices.limits import Heating
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("timeout_s", "period_s", "age_s", "left_s"),
    [
        (0.01, 1e-3, 0.0, 0.009),  # a millisecond for the thread that takes it away
        (0.01, 1e-3, 0.0059, 0.0031),
        (0.01, 1e-4, 0.0, 0.0098),  # not before the loop itself would
        (0.001, 1e-3, 0.0, 0.0025),
        (5.0, 1e-3, 0.0, 0.019),  # this side's own bound
        (0.01, 1e-3, math.inf, -math.inf),
    ],
)
def test_a_force_may_stay_for_its_time_out_and_no_longer_when_the_loop_hangs(
    timeout_s, period_s, age_s, left_s
):
    guard = ForceGuard(12.0)
    guard.begin(8.0, 1e6, timeout_s, period_s)
    assert guard.left_s(age_s) == pytest.approx(left_s, abs=1e-12)


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


# ----------------------------------------------------------------------------- what this side decides alone


def armed(**terms: float) -> ForceGuard:
    """A guard that lets 1 N through."""
    guard = session(**terms)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == (1.0, 0.0, 0.0)
    return guard


def test_a_stop_means_zero_until_it_is_over_and_the_server_was_disarmed_and_the_hand_engaged():
    guard = armed(resume_within_s=0.1)
    push = ((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)
    still = (ZERO, Safety.FAULT, FRESH, PERIOD)
    assert guard.apply(*push, stop=True) == ZERO
    assert guard.apply(*push) == ZERO  # released, and the server is armed all the same
    guard.apply(*still, stop=True)
    assert not guard.engage()  # the server was seen still, and the stop lasts
    assert guard.apply(*push) == ZERO
    guard.apply(*still)
    assert guard.apply(*push) == ZERO  # released, the server was still: nobody engaged
    guard.apply(*still)
    assert guard.engage()
    assert guard.apply(*push) == (1.0, 0.0, 0.0)


def test_engaging_before_the_server_was_seen_disarmed_is_void():
    guard = armed()
    guard.apply(ZERO, Safety.ARMED, FRESH, PERIOD, stop=True)
    assert not guard.engage()
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == ZERO


@pytest.mark.parametrize("asked_s", [0.01, 0.02, 0.5, 10.0])
def test_no_server_can_have_its_commands_obeyed_for_longer_than_20_ms(asked_s):
    guard = armed(timeout_s=asked_s)
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, 0.02, PERIOD) == ZERO


def test_a_command_that_knows_of_no_measurement_of_the_last_two_time_outs_is_too_old():
    for answered_s, through in ((0.019, True), (0.021, False)):
        force = armed().apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD, answered_s=answered_s)
        assert (force != ZERO) is through


def test_no_server_can_have_the_force_change_faster_than_the_device_is_given():
    guard = ForceGuard(12.0, max_slew_N_per_s=3000.0)
    guard.begin(12.0, 1e7, 0.01, PERIOD)
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    ramp = [guard.apply((9.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)[0] for _ in range(4)]
    assert ramp == pytest.approx([3.0, 6.0, 9.0, 9.0])


def test_a_late_tick_changes_the_force_by_no_more_than_a_tick_of_500_Hz():
    guard = session(slew_limit_N_per_s=1000.0)
    assert guard.apply((7.0, 0.0, 0.0), Safety.ARMED, FRESH, 0.009)[0] == pytest.approx(2.0)


def test_an_unusable_measurement_takes_the_force_and_the_memory_of_it():
    guard = session(slew_limit_N_per_s=200.0)
    for _ in range(50):
        guard.apply((3.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)
    assert guard.apply((3.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD, usable=False) == ZERO
    assert 0.0 < guard.apply((3.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)[0] <= 0.2
    assert guard.interruptions == 1


@pytest.mark.parametrize("standstill", [{"elapsed_s": 0.012}, {"elapsed_s": PERIOD, "halted": True}])
def test_a_standstill_of_this_side_is_ridden_through_only_where_that_is_agreed(standstill):
    push = ((1.0, 0.0, 0.0), Safety.ARMED, FRESH)
    guard = armed(resume_within_s=0.1)
    assert guard.apply(*push, **standstill) == ZERO and not guard.held
    assert guard.apply(*push, PERIOD) != ZERO
    guard = armed(resume_within_s=0.0)
    assert guard.apply(*push, **standstill) == ZERO and guard.held
    assert guard.apply(*push, PERIOD) == ZERO
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    assert guard.apply(*push, PERIOD) != ZERO


@pytest.mark.parametrize(("resume_within_s", "comes_back"), [(0.1, True), (0.0, False)])
def test_a_server_that_was_interrupted_gets_force_through_only_where_that_is_agreed(
    resume_within_s, comes_back
):
    guard = armed(resume_within_s=resume_within_s)
    assert guard.apply(ZERO, Safety.INTERRUPTED, FRESH, PERIOD) == ZERO
    assert (guard.apply((1.0, 0.0, 0.0), Safety.ARMING, FRESH, PERIOD) != ZERO) is comes_back


def test_a_device_that_only_turns_the_hand_gets_its_torque():
    guard = ForceGuard(0.0, 0.2)
    guard.begin(8.0, 2000.0, 0.01, PERIOD)
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    for _ in range(10):
        assert guard.apply((1.0, 2.0, 3.0), Safety.ARMED, FRESH, PERIOD, (0.0, 0.0, 1.0)) == ZERO
    assert guard.torque_Nm == pytest.approx((0.0, 0.0, 0.2))


@pytest.mark.parametrize(("said_Nm", "limit_Nm"), [(0.0, 0.2), (0.05, 0.05), (5.0, 0.2)])
def test_the_smaller_torque_limit_holds_and_zero_means_that_the_server_says_none(said_Nm, limit_Nm):
    guard = ForceGuard(12.0, 0.2)
    guard.begin(8.0, 2000.0, 0.01, PERIOD, torque_limit_Nm=said_Nm)
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    for _ in range(20):
        guard.apply(ZERO, Safety.ARMED, FRESH, PERIOD, (3.0, 0.0, -4.0))
    assert math.hypot(*guard.torque_Nm) == pytest.approx(limit_Nm)


# --------------------------------------------------------------------------------- a silence ridden through


def be_silent(guard: ForceGuard, seconds: float) -> None:
    for n in range(round(seconds / PERIOD)):
        assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, 0.007 + n * PERIOD, PERIOD) == ZERO


def test_force_comes_back_by_itself_under_a_rising_ceiling_once_the_server_said_it_was_interrupted():
    guard = armed(resume_within_s=0.1)
    be_silent(guard, 0.03)
    push = ((7.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)
    assert guard.apply(*push) == ZERO and guard.watchdog  # it did not notice
    assert guard.apply(ZERO, Safety.INTERRUPTED, FRESH, PERIOD) == ZERO and not guard.watchdog
    back = [guard.apply(*push)[0] for _ in range(120)]
    assert back[0] == pytest.approx(8.0 * PERIOD / 0.1)  # of the limit, 8 N
    assert max(b - a for a, b in itertools.pairwise(back)) <= 8.0 * PERIOD / 0.1 + 1e-9
    assert back[-1] == 7.0
    assert (guard.interruptions, guard.silences, guard.held) == (1, 1, False)
    assert guard.longest_s == pytest.approx(0.033)


def test_a_server_that_never_says_it_was_interrupted_is_held_in_the_end():
    guard = armed(resume_within_s=0.1)
    be_silent(guard, 0.03)
    for _ in range(100):
        assert guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == ZERO
    assert guard.held
    assert guard.apply(ZERO, Safety.INTERRUPTED, FRESH, PERIOD) == ZERO and guard.held


@pytest.mark.parametrize(("silent_s", "held"), [(0.09, False), (0.1, True), (0.3, True)])
def test_a_silence_longer_than_agreed_needs_an_engage(silent_s, held):
    guard = armed(resume_within_s=0.1)
    be_silent(guard, silent_s)
    assert guard.held is held
    guard.apply(ZERO, Safety.INTERRUPTED, FRESH, PERIOD)
    assert (guard.apply((1.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD) == ZERO) is held
    assert guard.interruptions == (0 if held else 1)


def test_no_server_can_have_force_come_back_after_more_than_half_a_second():
    guard = armed(resume_within_s=1.0)
    be_silent(guard, 0.6)
    assert guard.held


def test_an_interruption_on_the_servers_side_counts_too_and_arming_anew_does_not():
    guard = armed(resume_within_s=0.1)
    for _ in range(20):
        assert guard.apply((1.0, 0.0, 0.0), Safety.INTERRUPTED, FRESH, PERIOD) == ZERO
    assert guard.apply((1.0, 0.0, 0.0), Safety.ARMING, FRESH, PERIOD) != ZERO
    assert (guard.interruptions, guard.silences) == (1, 0)
    assert guard.longest_s == pytest.approx(0.021)
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    guard.apply((1.0, 0.0, 0.0), Safety.ARMING, FRESH, PERIOD)
    assert guard.interruptions == 1


# ---------------------------------------------------------------------------------------------- warm motors


def test_warm_motors_get_the_continuous_force_in_the_long_run_without_a_step_and_cool_again():
    guard = ForceGuard(3.3, heating=Heating(0.88, time_constant_s=2.0))
    guard.begin(12.0, 2000.0, 0.01, PERIOD)
    guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
    forces = [guard.apply((9.0, 0.0, 0.0), Safety.ARMED, FRESH, PERIOD)[0] for _ in range(20_000)]
    assert forces[50] == pytest.approx(3.3)
    assert forces[-1] == pytest.approx(0.88, rel=1e-2) and guard.saturated
    assert max(a - b for a, b in itertools.pairwise(forces)) < 0.1
    assert guard.heat.warmth <= 1.0
    heat_N2s = sum(f * f for f in forces) * PERIOD  # 20 s at 0.88 N, and what a cold motor takes besides
    assert heat_N2s == pytest.approx(0.88**2 * (20.0 + 2.0), rel=0.02)
    for _ in range(10_000):
        guard.apply(ZERO, Safety.ARMED, FRESH, PERIOD)
    assert not guard.heat.shrunk and guard.heat.limit_N == 3.3


def test_motors_of_which_nothing_is_known_or_that_stand_their_largest_force_are_not_limited():
    for heating in (None, Heating(12.0)):
        guard = ForceGuard(12.0, heating=heating)
        guard.begin(12.0, 5000.0, 0.01, PERIOD)
        guard.apply(ZERO, Safety.DISARMED, FRESH, PERIOD)
        for _ in range(1000):
            force = guard.apply((20.0, 0.0, 0.0), Safety.ARMED, FRESH, 0.005)
        assert force[0] == pytest.approx(12.0) and guard.saturated
