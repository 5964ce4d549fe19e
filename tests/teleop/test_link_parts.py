"""The parts of a link one by one: who is believed, in which order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hapticsim.kernels.memory.command import AT
from hapticsim.model.settings import LinkSettings
from hapticsim.teleop.easing import EASE_S, PoseEasing
from hapticsim.teleop.hearing import Hearing
from hapticsim.teleop.messages import (
    COLUMNS,
    Commands,
    Telemetry,
    read_commands,
    read_telemetry,
    write_commands,
    write_telemetry,
)
from hapticsim.teleop.playout import GIVE_UP_S, Playout
from tests.command_rows import commands

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=400) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def message(ticks: range, **changes: object) -> dict:
    return write_commands(Commands(5, False, 0, commands(ticks))) | changes


# ------------------------------------------------------------------------------------------------- messages


def test_commands_come_back_to_the_bit_and_what_is_the_same_goes_once():
    rows = commands(range(100, 150))
    payload = write_commands(Commands(7, True, 100, rows))
    back = read_commands(payload)
    assert back is not None and (back.session, back.opens, back.first) == (7, True, 100)
    assert back.rows.tobytes() == rows.tobytes()
    assert len(payload["rows"]) == 50 * 4 * 8  # tick and position; all else is the same
    empty = read_commands(write_commands(Commands(7, True, -1, np.zeros((0, COLUMNS)))))
    assert empty is not None and empty.rows.shape == (0, COLUMNS)


@pytest.mark.parametrize("count", (0, 2))
@pytest.mark.parametrize("key", write_commands(Commands(7, True, -1, np.zeros((0, COLUMNS)))))
def test_a_message_without_one_of_its_keys_is_none(key: str, count: int):
    """What is taken as a message is kept by its keys: without one of them it ended the remote site."""
    payload = write_commands(Commands(7, True, -1, np.zeros((count, COLUMNS))))
    del payload[key]
    assert read_commands(payload) is None


@pytest.mark.parametrize(
    "column, value",
    [
        ("device_x_m", np.nan),
        ("device_x_m", 11.0),
        ("device_vx_m_per_s", -200.0),
        ("arm_requests", 1.5),
        ("arm_requests", 1e18),
        ("arm_requests", -1.0),
        ("device_present", 2.0),
        ("force_limit_N", 2000.0),
        ("coupler_stiffness_N_per_m", -1.0),
        ("device_qw", 3.0),
        ("link_late_s", -0.1),
        ("link_late_s", np.nan),
        ("device_age_s", np.nan),
    ],
)
def test_a_command_out_of_range_is_refused_with_its_whole_message(column: str, value: float):
    rows = commands(range(10))
    rows[4, 1 + AT[column]] = value
    assert read_commands(write_commands(Commands(7, False, 0, rows))) is None


def test_ticks_that_are_none_or_out_of_order_are_refused():
    for ticks in ([0, 1, 1], [2, 1, 0], [-1, 0, 1], [0.5, 1, 2], [0, 1, 1e17], [0, 1, np.inf]):
        rows = commands(range(3))
        rows[:, 0] = ticks
        assert read_commands(write_commands(Commands(7, False, 0, rows))) is None, ticks


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(message(range(3)))), ANYTHING)
def test_whatever_stands_in_a_field_of_commands_gives_commands_or_none(key: str, value: object):
    found = read_commands(message(range(3), **{key: value}))
    assert found is None or (found.rows.shape[1] == COLUMNS and np.all(np.isfinite(found.rows[:, 1:7])))


def test_random_rows_give_commands_in_range_or_none():
    """Any columns, any numbers in them: one in seven is beyond what is allowed, or not finite."""
    rng, taken, refused = np.random.default_rng(3), 0, 0
    for _ in range(2000):
        rows = commands(range(rng.integers(1, 20)))
        vary = np.flatnonzero(rng.random(COLUMNS) < 0.1)
        values = rng.uniform(-12.0, 12.0, (len(rows), vary.size)) * rng.choice([0.0, 0.1, 1.0])
        if vary.size and rng.random() < 0.3:
            values[rng.integers(len(rows)), rng.integers(vary.size)] = rng.choice([np.nan, np.inf, -1e9])
        rows[:, vary] = values
        found = read_commands(write_commands(Commands(5, False, 0, rows)))
        if found is None:
            refused += 1
            continue
        taken += 1
        assert found.rows.tobytes() == rows.tobytes() and np.all(np.diff(rows[:, 0]) > 0.0)
        assert np.all(np.abs(rows[:, 1:4]) <= 10.0) and not np.any(np.isnan(rows))
    assert taken > 100 and refused > 100


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=2000), st.integers(0, 4096), st.lists(st.integers(-3, 40), max_size=30))
def test_random_bytes_give_commands_or_none(data: bytes, count: int, vary: list[int]):
    found = read_commands(message(range(3), rows=data, count=count, vary=vary))
    assert found is None or len(found.rows) == count


TELEMETRY = write_telemetry(Telemetry(1, 2, 3, 4, np.zeros(8), [(5, 6)], 7))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(TELEMETRY)), ANYTHING)
def test_whatever_stands_in_a_field_of_telemetry_gives_telemetry_or_none(key: str, value: object):
    found = read_telemetry(TELEMETRY | {key: value})
    assert found is None or (0 <= found.tick < 2**53 and all(a >= 0 and b >= 0 for a, b in found.missing))


# ---------------------------------------------------------------------------------------------- who is heard


def heard(site: int, number: int, session: int, tick: int) -> Telemetry:
    return Telemetry(site, number, session, tick, np.zeros(1), [], 0)


def test_telemetry_is_ordered_by_site_and_number_and_believed_by_session():
    hearing = Hearing(LinkSettings(0.1, 0.1))
    own = hearing.session
    assert hearing.take(heard(1, 5, 77, 0)) == "other"  # another operator is served
    assert hearing.take(heard(1, 7, own, 0)) == "opened"
    assert hearing.take(heard(1, 6, 77, 0)) == "old"  # late, not a new operator
    assert hearing.take(heard(1, 8, own, 3)) == "news" and hearing.tick == 3
    assert hearing.take(heard(2, 0, 0, 0)) == "lost"  # the remote site began anew
    assert hearing.take(heard(1, 9, own, 4)) == "old"  # what the former one still said
    hearing.begin_again(500)
    assert hearing.session != own and hearing.first == 500
    assert hearing.take(heard(2, 1, own, 0)) == "other"
    assert hearing.take(heard(2, 2, hearing.session, 500)) == "opened"


def test_sessions_are_taken_by_id_and_never_come_back():
    playout = Playout(1000.0, 0.1, 4096, 4096)
    assert not playout.wants_in(1, False, 0.0)  # in the middle of what it was not told the beginning of
    assert playout.wants_in(1, True, 0.0)
    playout.open(1, 0, 0.0)
    assert not playout.wants_in(1, True, 5.0)  # repeated
    assert not playout.wants_in(2, True, 0.5 * GIVE_UP_S)  # the first is alive
    assert playout.wants_in(2, True, 1.1 * GIVE_UP_S)
    playout.open(2, 50, 2.0)
    assert not playout.wants_in(1, True, 10.0) and not playout.is_known(1) and playout.is_known(2)


# ------------------------------------------------------------------------------------------------- pictures


def poses(rng: np.random.Generator, bodies: int) -> np.ndarray:
    table = rng.normal(0.0, 0.1, (bodies, 7))
    table[:, 3:] /= np.linalg.norm(table[:, 3:], axis=1, keepdims=True)
    return table


def apart(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] between poses (n, 7)."""
    cosine = np.abs(np.sum(a[:, 3:] * b[:, 3:], axis=1))
    return float(np.abs(a[:, :3] - b[:, :3]).max()), float(2 * np.arccos(np.minimum(cosine, 1.0)).max())


def test_a_picture_never_jumps_and_ends_where_the_mechanism_is():
    rng = np.random.default_rng(2)
    easing, now_s, true = PoseEasing(5), 0.0, poses(rng, 5)
    shown = np.array(easing.shown(true.ravel().tolist(), now_s)).reshape(5, 7)
    assert np.array_equal(shown, true)
    far, turned = 0.0, 0.0
    for n in range(1000):
        now_s += 0.001
        if n in (100, 150, 600):
            other = poses(rng, 5)
            easing.correct(true.ravel().tolist(), other.ravel().tolist(), now_s)
            true = other
        next_shown = np.array(easing.shown(true.ravel().tolist(), now_s)).reshape(5, 7)
        distance, angle = apart(shown, next_shown)
        far, turned = max(far, distance), max(turned, angle)
        shown = next_shown
    assert far < 2.0 * 1.0 * 0.001 / EASE_S and turned < 1.01 * np.pi * 0.001 / EASE_S + 1e-4
    assert apart(shown, true) == (0.0, pytest.approx(0.0, abs=1e-7))
