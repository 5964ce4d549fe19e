"""Recordings: bit for bit, whole or truncated, on full disks, and out to other programs."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.records import ChunkIndex
from mcap.writer import Writer
from typer.testing import CliRunner

import hapticsim as hs
from hapticsim.commands.command_line import app
from hapticsim.drivers.registry import options_for
from hapticsim.errors import HapticsimError
from hapticsim.process import interruption
from hapticsim.recording import writer as writer_module
from hapticsim.recording.export import export
from hapticsim.recording.packed_index import BLOCK, NUMBERS, PackedIndex
from hapticsim.recording.quantities import Quantity
from hapticsim.recording.reader import read_recording
from hapticsim.recording.writer import RecordingWriter
from hapticsim.simulate.virtual import simulate
from tests.places import WAM
from tests.recordings import COLUMNS, CONFIG, METADATA, record_ten_batches, refusal, rows_from


@pytest.fixture
def batch_by_batch(monkeypatch):
    """Write each batch at once instead of twice a second."""
    monkeypatch.setattr(writer_module, "_BATCH_s", 0.0)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A closed recording: (path, rows)."""
    path = tmp_path / "run.mcap"
    return path, record_ten_batches(path, monkeypatch)


def test_everything_comes_back_to_the_bit(recorded):
    path, rows = recorded
    recording = read_recording(path)
    assert recording.data.tobytes() == rows.tobytes()
    assert recording.columns == tuple(COLUMNS)
    assert (recording.config_text, recording.metadata) == (CONFIG, METADATA)
    assert recording.events == [{"time_s": 0.1 * i, "kind": "TOUCH", "value": 0.5} for i in range(3)]
    assert recording.complete and recording.note == ""
    assert np.array_equal(recording.column("force_N"), rows[:, 2])


def test_the_index_that_is_kept_packed_is_that_of_the_library(tmp_path, monkeypatch):
    """The same bytes: its chunks of rows, of events, and of both."""
    files = []
    for packs in (writer_module.pack_index, lambda writer, channels: False):
        monkeypatch.setattr(writer_module, "pack_index", packs)
        files.append(tmp_path / f"{len(files)}.mcap")
        monkeypatch.setattr(writer_module, "_BATCH_s", 0.0)
        with RecordingWriter(files[-1], COLUMNS, CONFIG, METADATA) as writer:
            index = writer._writer._Writer__chunk_indices
            assert isinstance(index, PackedIndex) is (len(files) == 1), "the library keeps it elsewhere"
            for k in range(30):
                monkeypatch.setattr(writer_module, "_BATCH_s", float(k % 3))
                writer.append(rows_from(0.1 * k))
                writer.append_event({"time_s": 0.1 * k, "kind": "TOUCH"})
            assert len(index) > 10
    assert files[0].read_bytes() == files[1].read_bytes()


def test_nan_infinity_and_odd_times_are_recorded_as_they_are(tmp_path, batch_by_batch):
    rows = np.array([[np.nan, np.inf, -0.0], [-1.0, np.nan, 5e-324], [1e300, 0.0, -np.inf]])
    with RecordingWriter(tmp_path / "a.mcap", COLUMNS) as writer:
        for row in rows:
            writer.append(row[None])
        writer.append_event({"time_s": float("nan"), "kind": "NOT_FINITE"})
    assert writer.failure == ""
    assert read_recording(tmp_path / "a.mcap").data.tobytes() == rows.tobytes()


def test_the_caller_may_reuse_its_array(tmp_path):
    rows = rows_from(0.0)
    kept = rows.copy()
    with RecordingWriter(tmp_path / "a.mcap", COLUMNS) as writer:
        writer.append(rows)
        rows[:] = 0.0
    assert np.array_equal(read_recording(tmp_path / "a.mcap").data, kept)


def test_small_batches_are_gathered_into_few_messages(tmp_path):
    with RecordingWriter(tmp_path / "a.mcap", COLUMNS) as writer:
        for i in range(200):
            writer.append(rows_from(0.001 * i, n=1))
    with (tmp_path / "a.mcap").open("rb") as file:
        assert make_reader(file).get_summary().statistics.message_count < 20
    assert len(read_recording(tmp_path / "a.mcap").data) == 200


def test_events_cost_no_entry_of_the_index_each(tmp_path):
    """The library keeps such an entry in memory until the file is closed: half a kilobyte for each."""
    started = time.monotonic()
    with RecordingWriter(tmp_path / "a.mcap", COLUMNS) as writer:
        for i in range(2000):
            writer.append_event({"time_s": 0.001 * i, "tick": i})
            writer.append(rows_from(0.001 * i, n=1))
    most = (time.monotonic() - started) / 0.5 + 2.0
    with (tmp_path / "a.mcap").open("rb") as file:
        assert len(make_reader(file).get_summary().chunk_indexes) <= most
    recording = read_recording(tmp_path / "a.mcap")
    assert recording.complete and len(recording.data) == 2000
    assert [event["tick"] for event in recording.events] == list(range(2000))


def test_the_mcap_library_alone_can_read_the_file(recorded):
    path, rows = recorded
    with path.open("rb") as file:
        messages = list(make_reader(file).iter_messages(topics=["rows"]))
    schema, channel, first = messages[0]
    assert json.loads(schema.data) == {"encoding": "float64-little-endian", "columns": COLUMNS}
    assert json.loads(channel.metadata["columns"]) == COLUMNS
    assert [message.log_time for _, _, message in messages] == [round(1e8 * i) for i in range(10)]
    assert np.array_equal(np.frombuffer(first.data, "<f8").reshape(-1, 3), rows[:100])


def test_a_large_array_goes_into_the_file_in_messages_of_a_bounded_size(tmp_path):
    path, rows = tmp_path / "large.mcap", rows_from(0.0, n=200_000)
    with RecordingWriter(path, COLUMNS) as writer:
        writer.append(rows)
    with path.open("rb") as file:
        sizes = [len(message.data) for _, _, message in make_reader(file).iter_messages()]
    assert len(sizes) == 5 and max(sizes) <= 1 << 20
    assert read_recording(path).data.tobytes() == rows.tobytes()


def test_a_killed_writer_leaves_all_but_the_last_half_second(tmp_path):
    path = tmp_path / "killed.mcap"
    code = f"""
import itertools, time, numpy as np
from hapticsim.recording.writer import RecordingWriter
writer = RecordingWriter({str(path)!r}, ["time_s"])
for i in itertools.count():
    writer.append(np.array([[0.01 * i]]))
    writer.append_event({{"time_s": 0.01 * i}})
    if i == 100:
        print("a second", flush=True)
    time.sleep(0.01)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "a second\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    recording = read_recording(path)
    assert not recording.complete
    assert recording.data[-1, 0] >= 0.3  # of 1.0; half a second, and a margin for a busy machine
    assert recording.events[-1]["time_s"] >= 0.3


def test_a_full_disk_stops_the_recording_and_not_the_simulation(tmp_path, batch_by_batch):
    path = tmp_path / "full.mcap"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = RecordingWriter(path, COLUMNS, CONFIG)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        for i in range(20):
            writer.append(rows_from(0.1 * i, seed=i))
        writer.append_event({"kind": "LEAVE"})
        writer.close()
        writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    at = writer.written_rows * 1e-3 + 0.099
    assert writer.failure == (
        f"{path}: recording stopped at {at:.3f} s (File too large): free some space and record again."
    )
    assert 0 < writer.written_rows < 2000 == writer.written_rows + writer.dropped_rows
    assert writer.dropped_events == 1
    assert len(read_recording(path).data) == writer.written_rows


def test_a_run_in_virtual_time_whose_recording_fails_ends_and_says_why(tmp_path, batch_by_batch):
    """A limit on the size of files stands in for the disk."""
    scene, path, told = hs.load(WAM), tmp_path / "full.mcap", []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Scripted(options_for("scripted", scene.device)) as hand:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        try:
            with pytest.raises(
                HapticsimError, match=r"full.mcap: recording stopped at .* s \(File too large\)"
            ):
                simulate(scene, hand, 8.0, path, lambda time_s, row: told.append(time_s))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    recorded = len(read_recording(path).data)
    assert 0 < recorded == 1000 * len(told) < 8000, "it ends with the first batch that is lost"


@pytest.mark.parametrize("torn", [3, 5])
def test_a_run_in_virtual_time_that_is_interrupted_in_a_write_leaves_a_whole_recording(
    tmp_path, batch_by_batch, monkeypatch, torn
):
    """The compiled loop is so quick that most of such a run is writing: ten of sixteen files were torn."""
    scene, path, writes, flush = hs.load(WAM), tmp_path / "a.mcap", [], Writer.flush

    def interrupted(writer):
        writes.append(writer)
        if len(writes) == torn:
            signal.raise_signal(signal.SIGINT)
        flush(writer)

    monkeypatch.setattr(Writer, "flush", interrupted)
    monkeypatch.setattr(interruption, "_ending_since_s", -interruption.ENDING_S)
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    try:
        with Scripted(options_for("scripted", scene.device)) as hand, pytest.raises(KeyboardInterrupt):
            simulate(scene, hand, 8.0, path)
    finally:
        signal.signal(signal.SIGINT, before)
    recording = read_recording(path)
    assert recording.complete and 0 < len(recording.data) < 8000
    np.testing.assert_array_equal(np.diff(recording.column("tick")), 1.0)


def test_what_fails_while_a_recording_is_closed_is_kept_and_the_file_is_let_go(tmp_path, monkeypatch):
    writer = RecordingWriter(tmp_path / "a.mcap", COLUMNS)
    writer.append(rows_from(0.0))
    monkeypatch.setattr(writer._writer, "finish", lambda: exec("raise MemoryError('no room')"))
    with pytest.raises(MemoryError):
        writer.close()
    assert writer.failure.endswith("(MemoryError: no room).") and writer._file.closed
    assert len(read_recording(writer.path).data) == writer.written_rows == 100


def test_rows_and_events_that_the_disk_did_not_take_are_counted(tmp_path):
    writer = RecordingWriter(tmp_path / "full.mcap", COLUMNS, CONFIG)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (writer.path.stat().st_size + 100, hard))
    try:
        for i in range(5):
            writer.append_event({"tick": i})
        writer.append(rows_from(0.0))
        writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.append_event({"tick": 5})
    assert (writer.written_rows, writer.dropped_rows, writer.dropped_events) == (0, 100, 6)
    recording = read_recording(writer.path)
    assert len(recording.data) == len(recording.events) == 0 and not recording.complete


def test_ctrl_c_in_the_middle_of_a_write_loses_that_batch_and_says_so(tmp_path, batch_by_batch, monkeypatch):
    writer = RecordingWriter(tmp_path / "a.mcap", COLUMNS)
    writer.append(rows_from(0.0))
    writer.append_event({"tick": 1})

    def interrupt():
        writer._writer._Writer__chunk_builder.end()  # as the library does before it packs a chunk
        raise KeyboardInterrupt

    monkeypatch.setattr(writer._writer, "flush", interrupt)
    with pytest.raises(KeyboardInterrupt):
        writer.append(rows_from(0.1))
    writer.close()
    assert (writer.written_rows, writer.dropped_rows, writer.dropped_events) == (100, 100, 0)
    assert writer.failure == f"{writer.path}: recording stopped at 0.199 s (interrupted)."
    recording = read_recording(writer.path)
    assert not recording.complete and len(recording.data) == 100 and len(recording.events) == 1


def test_a_disk_that_is_full_from_the_start_is_no_exception_either():
    writer = RecordingWriter("/dev/full", COLUMNS, overwrite=True)
    writer.append(rows_from(0.0))
    writer.close()
    assert "(No space left on device)" in writer.failure
    assert writer.dropped_rows == 100


def test_an_existing_file_is_kept_unless_overwriting_is_asked_for(recorded):
    path, _ = recorded
    assert refusal(RecordingWriter, path, COLUMNS) == (
        f"{path}: exists already and nothing is overwritten: give another name, or remove it."
    )
    RecordingWriter(path, COLUMNS, overwrite=True).close()
    assert len(read_recording(path).data) == 0


def test_what_cannot_be_recorded_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "absent" / "a.mcap"
    assert refusal(RecordingWriter, path, COLUMNS) == (
        f"{path}: cannot be written (No such file or directory): record to a file in a folder you can write."
    )
    assert refusal(RecordingWriter, "a.mcap", ["x", "x"]) == (
        "a.mcap: columns = ['x', 'x'] is not usable: name each column once."
    )
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, COLUMNS) as writer:
        assert refusal(writer.append, np.zeros((4, 2))) == (
            f"{path}: rows have shape (4, 2): give an array of shape (n, 3)."
        )


def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "a.mcap"
    assert refusal(read_recording, path) == (
        f"{path}: cannot be read (No such file or directory): give the path of a recording."
    )
    path.write_text("time_s,q\n0,1\n")
    assert refusal(read_recording, path) == (
        f"{path}: is not an MCAP recording: give a file that hapticsim recorded."
    )
    with path.open("wb") as file:
        foreign = Writer(file)
        foreign.start(profile="ros2")
        foreign.finish()
    assert refusal(read_recording, path) == (
        f"{path}: is an MCAP file of another program: give one that hapticsim recorded."
    )


def test_a_pipe_that_nobody_writes_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.mcap"
    os.mkfifo(pipe)
    assert refusal(read_recording, pipe) == f"{pipe}: is a device, a pipe or a socket: name a file."


def test_an_unknown_column_is_answered_with_the_nearest(recorded):
    path, _ = recorded
    assert refusal(read_recording(path).column, "force") == (
        f"{path}: columns have no 'force' (did you mean 'force_N'?): use one of 'force_N', 'q_rad', 'time_s'."
    )


def test_csv_gives_every_number_back_to_the_bit(recorded, tmp_path):
    path, rows = recorded
    export(read_recording(path), tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == COLUMNS
    assert np.array([[float(x) for x in line] for line in lines]).tobytes() == rows.tobytes()


def test_npz_holds_rows_names_configuration_and_events(recorded, tmp_path):
    path, rows = recorded
    export(read_recording(path), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["data"].tobytes() == rows.tobytes()
        assert arrays["columns"].tolist() == COLUMNS
        assert arrays["config"].item() == CONFIG
        assert json.loads(arrays["metadata"].item()) == METADATA
        assert len(json.loads(arrays["events"].item())) == 3


def test_a_table_by_names_sums_the_points_of_a_pair_and_is_listed(tmp_path):
    columns = ["time_s", "q0", "force_N[box-table.0]", "force_N[box-table.1]"]
    quantities = [
        Quantity("time_s", "s", "time", ("time_s",)),
        Quantity("q[Schulter π]", "rad", "angle", ("q0",)),
        Quantity("force_N[box-table]", "N", "normal force", tuple(columns[2:])),
    ]
    path, target = tmp_path / "a.mcap", tmp_path / "a.csv"
    with RecordingWriter(path, columns, quantities=quantities) as writer:
        writer.append(np.array([[0.0, 1.0, 2.0, 3.5], [0.1, np.nan, 0.0, 0.0]]))
    exported = CliRunner().invoke(app, ["export", str(path), str(target), "--named"])
    assert exported.output == f"2 rows, 3 columns -> {target}\n"
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines == ["time_s,q[Schulter π],force_N[box-table]", "0.0,1.0,5.5", "0.1,nan,0.0"]
    assert CliRunner().invoke(app, ["export", str(path)]).output.splitlines() == [
        "time_s              s               time",
        "q[Schulter π]       rad  q0         angle",
        "force_N[box-table]  N    2 columns  normal force",
    ]
    export(read_recording(path), tmp_path / "a.npz", named=True)
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["units"].tolist() == ["s", "rad", "N"] and arrays["data"].shape == (2, 3)
        assert arrays["words"].tolist() == ["time", "angle", "normal force"]


def test_an_unknown_export_format_is_refused_in_a_sentence(recorded, tmp_path):
    path, _ = recorded
    target = tmp_path / "a.xlsx"
    assert refusal(export, read_recording(path), target) == (
        f"{target}: cannot be a table: end its name in .csv or .npz."
    )


@given(seed=st.integers(0, 2**32), count=st.integers(0, 3 * BLOCK))
@settings(max_examples=20, deadline=None)
def test_the_packed_index_gives_back_every_entry(seed, count):
    rng, packed, entries = np.random.default_rng(seed), PackedIndex((3, 1, 7)), []
    largest = int(rng.choice([1000, 2**31, 2**62]))
    for _ in range(count):
        numbers = {name: int(rng.integers(largest)) for name in NUMBERS}
        start = numbers["chunk_start_offset"]
        offsets = {c: start + int(rng.integers(1, 2**30)) for c in (1, 3, 7) if rng.random() < 0.8}
        entries.append(ChunkIndex(compression="zstd", message_index_offsets=offsets, **numbers))
        packed.append(entries[-1])
    assert len(packed) == count
    assert list(packed) == entries
