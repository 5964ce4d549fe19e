"""Virtual time: every shipped scene runs, twice the same to the bit, and its recording replays to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.drivers.registry import options_for
from hapticsim.errors import ConfigError
from hapticsim.kernels.memory.pack import pack_state, state_size
from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.recording.reader import Recording, read_recording
from hapticsim.simulate.virtual import replay, simulate
from hapticsim.teleop.look_ahead import LookAhead
from tests.places import CONFIGS

SECONDS = 6.0
ALL = sorted(CONFIGS.glob("*.yaml"))


def visit(config: Path, record: Path | None = None) -> tuple[hs.Simulation, np.ndarray]:
    scene = hs.load(config)
    simulation = hs.Simulation(scene)
    with Scripted(options_for("scripted", scene.device)) as hand:
        return simulation, simulate(scene, hand, SECONDS, record, simulation=simulation)


@pytest.mark.parametrize("config", ALL, ids=lambda p: p.stem)
def test_every_scene_runs_under_a_scripted_hand_and_replays_to_the_bit(config: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.mcap"
    simulation, rows = visit(config, record)
    assert len(rows) == round(SECONDS * simulation.scene.rate_Hz)
    assert np.all(np.isfinite(np.delete(rows, PLACE["device_age_s"], axis=1)))
    assert rows[-1, PLACE["safety"]] == Safety.ARMED
    assert np.ptp(rows[:, WIDTH:], axis=0).max() > 1e-3  # the hand moved something
    recording = read_recording(record)
    assert recording.complete
    np.testing.assert_array_equal(recording.data, rows)
    assert replay(recording, hs.Simulation(hs.load(config))) == 0.0


def test_two_runs_of_a_scene_are_byte_identical() -> None:
    first, a = visit(CONFIGS / "wam_table.yaml")
    second, b = visit(CONFIGS / "wam_table.yaml")
    assert a.tobytes() == b.tobytes()
    for (name, x), (_, y) in zip(first.fork().items(), second.fork().items(), strict=True):
        assert x.tobytes() == y.tobytes(), name


def test_a_replay_with_one_input_changed_is_noticed(tmp_path: Path) -> None:
    record = tmp_path / "run.mcap"
    visit(CONFIGS / "wam_table.yaml", record)
    recording = read_recording(record)
    recording.data[3000, PLACE["device_z_m"]] += 1e-9
    assert replay(recording, hs.Simulation(hs.load(CONFIGS / "wam_table.yaml"))) > 0.0


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), 1e12])
def test_a_run_whose_rows_no_memory_holds_is_refused_and_makes_no_file(
    tmp_path: Path, seconds: float
) -> None:
    scene = hs.load(CONFIGS / "wam_table.yaml")
    with Scripted() as hand, pytest.raises(ConfigError, match=r"seconds = .* give 0 to \d+\.$"):
        simulate(scene, hand, seconds, tmp_path / "run.mcap")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fails_in", ["read", "write_torque"])
def test_the_recording_of_a_run_that_a_driver_ends_holds_every_tick_before(tmp_path, monkeypatch, fails_in):
    scene, times, path = hs.load(CONFIGS / "wam_table.yaml"), [], tmp_path / "run.mcap"
    works = getattr(Scripted, fails_in)

    def fails(hand, given):
        times.append(given)
        if len(times) == 1235:
            raise KeyboardInterrupt
        return works(hand, given)

    monkeypatch.setattr(Scripted, fails_in, fails)
    with Scripted(options_for("scripted", scene.device)) as hand, pytest.raises(KeyboardInterrupt):
        simulate(scene, hand, SECONDS, path, tick_by_tick=True)
    recording = read_recording(path)
    assert recording.complete and len(recording.data) == (1234 if fails_in == "read" else 1235)
    assert replay(recording, hs.Simulation(scene)) == 0.0


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("q1", np.nan, "nan"),
        ("device_x_m", np.nan, "nan"),
        ("device_flags", 1e30, "1e+30"),
        ("u0", -np.inf, "-inf"),
    ],
)
def test_a_number_that_no_run_records_is_refused_and_never_equal(tmp_path: Path, column, value, said) -> None:
    simulation = hs.Simulation(hs.load(CONFIGS / "wam_table.yaml"))
    rows = np.zeros((20, len(simulation.columns)))
    for k, row in enumerate(rows):
        simulation.step()
        simulation.read_row(row)
        row[PLACE["tick"]] = k
    rows[7, simulation.columns.index(column)] = value
    recording = Recording(tmp_path / "e.mcap", tuple(simulation.columns), rows, "", {}, [], True, "")
    with pytest.raises(ConfigError) as refused:
        replay(recording, hs.Simulation(simulation.scene))
    assert str(refused.value) == (
        f"{tmp_path / 'e.mcap'}: tick 7 has {column} = {said}, which no run records: "
        "the file was edited or damaged; give the original."
    )


def test_the_fingertip_meets_the_table_and_the_force_stays_at_the_clamp() -> None:
    simulation, rows = visit(CONFIGS / "wam_table.yaml")
    force = np.linalg.norm(rows[:, PLACE["hand_force_x_N"] : PLACE["hand_force_x_N"] + 3], axis=1)
    limit = rows[-1, PLACE["force_limit_N"]]
    gap = rows[:, simulation.columns.index("gap_m[fingertip-table]")]
    assert limit == 12.0
    assert np.all(force <= limit * (1.0 + 1e-12))
    assert np.count_nonzero(force > 0.999 * limit) > 300
    assert gap.min() > -1e-9
    slew = np.abs(np.diff(force)).max() / simulation.scene.tick_s
    assert slew <= simulation.scene.safety.slew_limit_N_per_s * (1.0 + 1e-9)


def test_looking_ahead_is_right_while_the_hand_rests_and_says_how_wrong_it_was_when_it_moved() -> None:
    simulation, rows = visit(CONFIGS / "wam_table.yaml")
    ghost = LookAhead(simulation.assembly, 0.1)
    again = hs.Simulation(simulation.scene)
    packed = np.zeros(state_size(again.fork().state))
    errors = np.zeros(len(rows))
    for k, row in enumerate(rows):
        again.take_inputs(row)
        again.step()
        if k % 10 == 0:
            pack_state(again._state, packed)
            ghost.predict(packed, k + 1, row)
        ghost.measure(rows[k : k + 1])
        errors[k] = ghost.error_m
    # the script rests until 1 s, then moves sideways at up to 0.08 m/s
    assert errors[300:1000].max() < 1e-5
    assert 1e-4 < errors[1200:3000].max() < 0.02
