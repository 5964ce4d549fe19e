"""The parts of a link one by one: who is believed, in which order, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.kernels.command import AT, COMMAND, NAMES, apply_command
from hapticsim.kernels.pack import pack_state, place_of, state_size
from hapticsim.model.scene import LinkSettings
from hapticsim.realtime.exchange import adopt
from hapticsim.teleop.command_log import CommandLog
from hapticsim.teleop.easing import EASE_S, PoseEasing
from hapticsim.teleop.handover import HAND, MECHANISM, without_hand
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
from hapticsim.teleop.state_check import StateCheck
from tests.processes import CONFIGS, ROOT

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=400) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def commands(ticks: range, seed: int = 0) -> np.ndarray:
    """(n, COLUMNS) commands as a hand gives them."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((len(ticks), COLUMNS))
    rows[:, 0] = list(ticks)
    rows[:, 1:4] = rng.normal(0.0, 0.05, (len(ticks), 3))
    rows[:, 1 + AT["device_present"]] = 1.0
    rows[:, 1 + AT["coupler_stiffness_N_per_m"]] = 1733.0
    rows[:, 1 + AT["device_qw"]] = 1.0
    return rows


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


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=2000), st.integers(0, 4096), st.lists(st.integers(-3, 40), max_size=30))
def test_random_bytes_give_commands_in_range_or_none(data: bytes, count: int, vary: list[int]):
    found = read_commands(message(range(3), rows=data, count=count, vary=vary))
    if found is not None:
        assert np.all(np.abs(found.rows[:, 1:4]) <= 10.0)


TELEMETRY = write_telemetry(Telemetry(1, 2, 3, 4, np.zeros(8), [(5, 6)], 7))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(TELEMETRY)), ANYTHING)
def test_whatever_stands_in_a_field_of_telemetry_gives_telemetry_or_none(key: str, value: object):
    found = read_telemetry(TELEMETRY | {key: value})
    assert found is None or (0 <= found.tick < 2**53 and all(a >= 0 and b >= 0 for a, b in found.missing))


# --------------------------------------------------------------------------------------------------- states


@pytest.fixture(scope="module")
def wam():
    return hs.Simulation(hs.load(CONFIGS / "wam_table.yaml"))


@pytest.fixture(scope="module")
def four_bar():
    return hs.Simulation(hs.load(CONFIGS / "four_bar.yaml"))


def packed_of(sim: hs.Simulation) -> np.ndarray:
    row = np.zeros(state_size(sim.fork()))
    pack_state(sim.fork(), row)
    return row


def test_every_field_of_a_state_has_its_rule_and_its_owner(wam: hs.Simulation):
    fields = {name for name, _ in wam.fork().items()}
    assert set(StateCheck(wam.assembly).rules) == fields
    assert MECHANISM | HAND == fields and not MECHANISM & HAND


def test_a_correction_takes_the_mechanism_and_what_the_device_is_fixed_to(four_bar: hs.Simulation):
    source, target = four_bar.fork(), four_bar.fork()
    for _, array in source.items():
        array += 1
    adopt(source, target)
    taken = {name for name, array in target.items() if np.any(array == getattr(source, name))}
    there = {name for name, array in target.items() if array.size}  # no contacts here
    assert taken == there & ((MECHANISM - {"tick", "switched"}) | {"origin_W", "turn_offset"})


def test_a_new_operator_finds_the_mechanism_and_no_hand_on_it(wam: hs.Simulation):
    state = wam.fork()
    for _, array in state.items():
        array += 1
    row = np.zeros(state_size(state))
    pack_state(state, row)
    left, start = without_hand(wam.assembly, row), packed_of(wam)
    for name, array in state.items():
        place = place_of(state, name)
        kept = left[place : place + array.size]
        expected = row if name in MECHANISM else start
        assert np.array_equal(kept, expected[place : place + array.size]), name


@pytest.mark.parametrize("which", ["wam", "four_bar"])
def test_a_state_of_the_scene_passes_also_in_contact(which: str, request: pytest.FixtureRequest):
    sim = request.getfixturevalue(which)
    check = StateCheck(sim.assembly)
    start = sim.fork()
    for _ in range(200):
        sim.step()
        assert check.trouble(packed_of(sim)) == ""
    sim.restore(start)


@pytest.mark.parametrize(
    "field, value, named",
    [
        ("order", 1e12, "order"),
        ("order", -1.0, "order"),
        ("order", 0.5, "order"),
        ("rank", 33.0, "rank"),
        ("rank", np.inf, "rank"),
        ("active", 2.0, "active"),
        ("tick", -1.0, "tick"),
        ("safety", 9.0, "safety"),
        ("q", np.nan, "q"),
        ("u", 1e200, "u"),
        ("gain", 1.5, "gain"),
        ("turn_offset", 0.0, "turn_offset"),
        ("turn_offset", 1e300, "turn_offset"),  # whose square is infinite
    ],
)
def test_a_number_that_breaks_a_rule_is_named(wam: hs.Simulation, field: str, value: float, named: str):
    row = packed_of(wam)
    row[place_of(wam.fork(), field)] = value
    with np.errstate(all="raise"):
        assert StateCheck(wam.assembly).trouble(row) == f"its {named} is out of range"


def test_a_state_of_another_scene_is_refused(wam: hs.Simulation, four_bar: hs.Simulation):
    assert "numbers" in StateCheck(wam.assembly).trouble(packed_of(four_bar))


FUZZ = """
import sys
import numpy as np
import hapticsim as hs
from hapticsim.kernels.command import COMMAND
from hapticsim.kernels.pack import pack_state, state_size
from hapticsim.teleop.predictor import Predictor
from hapticsim.teleop.state_check import StateCheck

sim = hs.Simulation(hs.load(sys.argv[1]))
state = sim.fork()
start = np.zeros(state_size(state))
pack_state(state, start)
check, predictor = StateCheck(sim.assembly), Predictor(sim.assembly)
rng = np.random.default_rng(int(sys.argv[2]))
wild = [np.nan, np.inf, -1.0, 0.5, 1e12, -1e12, 1e300, 2.0, 3.0, 7.0, 31.0, 33.0, 2.0**53]
taken = refused = 0
for _ in range(int(sys.argv[3])):
    row = start.copy()
    for i in rng.integers(0, row.size, rng.integers(1, 6)):
        odd, other = wild[rng.integers(len(wild))], row[rng.integers(row.size)]
        row[i] = (odd, rng.normal(), rng.integers(0, 5), other)[rng.integers(4)]
    if rng.random() < 0.1:
        row = np.frombuffer(rng.bytes(8 * row.size)).copy()
    if check.trouble(row):
        refused += 1
        continue
    taken += 1
    predictor.predict(0, row, np.zeros((3, COMMAND)))
print(taken, refused)
"""


@pytest.mark.parametrize("scene", ["wam_table", "puck_and_wall", "four_bar"])
def test_a_state_that_is_believed_never_ends_the_process(scene: str):
    """Random states: each is refused, or three ticks are taken from it, in a process that must live."""
    program = [sys.executable, "-c", FUZZ, str(CONFIGS / f"{scene}.yaml"), "1", "3000"]
    done = subprocess.run(
        program, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    taken, refused = map(int, done.stdout.split())
    assert taken > 100 and refused > 500


# ------------------------------------------------------------------------------------------ commands in order


def test_whatever_the_order_every_command_is_given_once_in_order():
    rng = np.random.default_rng(3)
    for _ in range(50):
        playout = Playout(1000.0, 0.0, 4096)
        playout.open(9, 100, 0.0)
        rows, given = commands(range(100, 600)), []
        for _ in range(400):
            first = int(rng.integers(0, 500))
            playout.take(rows[first : first + int(rng.integers(1, 40))], 0.0)
            given += playout.give(100 + len(given))
        playout.take(rows, 0.0)
        given += playout.give(100 + len(given))
        assert [tick for tick, _ in given] == list(range(100, 600))
        assert np.array_equal([c for _, c in given], rows[:, 1:])


def test_the_first_command_waits_until_the_margin_is_there():
    playout = Playout(1000.0, 0.02, 4096)
    playout.open(9, 0, 0.0)
    playout.take(commands(range(69)), 0.0)
    assert playout.give(0) == []
    playout.take(commands(range(69, 70)), 0.0)
    assert len(playout.give(0)) == 70


def test_what_is_missing_is_told_in_ranges_and_sent_again_until_it_came():
    playout, log = Playout(1000.0, 0.0, 4096), CommandLog(5000, 3, 1000.0)
    playout.open(9, 0, 0.0)
    rows = np.zeros((1000, 60))
    rows[:, 1] = np.arange(1000)
    assert log.append(rows, np.zeros((1000, 3)), 0.0)
    log.batch(0, 0.0)
    playout.take(commands(range(0, 100)), 0.0)
    playout.take(commands(range(200, 300)), 0.0)
    playout.take(commands(range(350, 1000)), 0.0)
    assert playout.missing() == [(100, 199), (300, 349)]
    log.missed(playout.missing())
    again = log.batch(0, 1.0)
    assert set(range(100, 200)) | set(range(300, 350)) <= set(again[:, 0].astype(int))
    assert 150 < len(again) < 400
    assert not set(range(100, 200)) & set(log.batch(0, 1.05)[:, 0].astype(int))  # not at once again
    assert set(range(100, 200)) <= set(log.batch(0, 1.2)[:, 0].astype(int))


def test_a_hole_in_the_rows_ends_the_sequence():
    log = CommandLog(1000, 3, 1000.0)
    rows = np.zeros((10, 60))
    rows[:, 1] = np.arange(10)
    assert log.append(rows, np.zeros((10, 3)), 0.0)
    rows[:, 1] = np.arange(11, 21)
    assert not log.append(rows, np.zeros((10, 3)), 0.0)


def test_a_command_for_a_tick_far_ahead_is_not_kept():
    playout = Playout(1000.0, 0.0, 4096)
    playout.open(9, 0, 0.0)
    rows = commands(range(3))
    rows[:, 0] = [0, 1, 1e15]
    playout.take(rows, 0.0)
    assert playout.missing() == [] and playout.missing_from == 2


def test_the_pace_brings_the_margin_back_and_no_tick_is_twice_as_fast():
    playout = Playout(1000.0, 0.0, 4096)
    playout.open(9, 0, 0.0)
    playout.take(commands(range(4000)), 0.0)
    playout.give(0)
    assert playout.pace(0, 0.0) == 2.0  # 4 s have gathered
    for n in range(1, 6):
        pace = playout.pace(4000 - 50, 1.0 * n)
    assert pace == 1.0
    for n in range(6, 12):
        pace = playout.pace(4000, 1.0 * n)
    assert 0.98 <= pace < 1.0


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
    playout = Playout(1000.0, 0.1, 4096)
    assert not playout.wants_in(1, False, 0.0)  # in the middle of what it was not told the beginning of
    assert playout.wants_in(1, True, 0.0)
    playout.open(1, 0, 0.0)
    assert not playout.wants_in(1, True, 5.0)  # repeated
    assert not playout.wants_in(2, True, 0.5 * GIVE_UP_S)  # the first is alive
    assert playout.wants_in(2, True, 1.1 * GIVE_UP_S)
    playout.open(2, 50, 2.0)
    assert not playout.wants_in(1, True, 10.0) and not playout.is_known(1) and playout.is_known(2)


def test_names_of_a_command_are_columns_of_a_row():
    assert len(NAMES) == COMMAND == len(set(NAMES))


def test_every_input_of_a_tick_travels_or_has_a_reason_not_to(wam: hs.Simulation):
    """A field that a device fills and a command leaves out would be another one at the remote site."""
    inp = wam.assembly.new_input()
    for _, array in inp.items():
        array[...] = -7
    apply_command(np.arange(1.0, 1.0 + COMMAND), inp)
    stays = {name for name, array in inp.items() if array.size and np.all(array == -7)}
    assert stays <= {"torque", "force_W", "switch", "hint"}  # of the simulation alone, or of the remote site
    assert all(np.all(array != -7) for name, array in inp.items() if name not in stays)


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
