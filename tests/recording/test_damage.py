"""Recordings that were cut, damaged or made up: what is whole of them, or one sentence."""

from __future__ import annotations

import resource
import struct
import time

import numpy as np
import pytest
from mcap.writer import CompressionType, Writer
from zstandard import ZstdCompressor

from hapticsim.errors import ConfigError
from hapticsim.recording.reader import read_recording
from tests.recordings import record_ten_batches, refusal


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A closed recording: (path, rows)."""
    path = tmp_path / "run.mcap"
    return path, record_ten_batches(path, monkeypatch)


def test_a_recording_cut_anywhere_gives_whole_batches_or_one_sentence(recorded, tmp_path):
    path, rows = recorded
    whole, cut = path.read_bytes(), tmp_path / "cut.mcap"
    lengths = set()
    for size in range(0, len(whole), 257):
        cut.write_bytes(whole[:size])
        try:
            recording = read_recording(cut)
        except ConfigError as error:
            assert size < 1000 and "\n" not in str(error)
            continue
        assert not recording.complete
        assert len(recording.data) % 100 == 0
        assert recording.data.tobytes() == rows[: len(recording.data)].tobytes()
        n = len(recording.data)
        assert len(recording.events) == min(3, n // 100), "a batch and its event are there together, or not"
        until = f", until {rows[n - 1, 0]:.3f} s," if n else ""
        assert (
            recording.note
            == f"{cut}: was not closed or is damaged: the {n} rows before that{until} are used."
        )
        lengths.add(n)
    assert lengths == set(range(0, 1001, 100))


def test_damaged_bytes_never_give_anything_but_a_recording_or_a_sentence(recorded, tmp_path):
    path, rows = recorded
    whole, damaged = path.read_bytes(), tmp_path / "damaged.mcap"
    random = np.random.default_rng(3)
    for _ in range(400):
        data = bytearray(whole)
        for at in random.integers(0, len(data), size=2):
            data[at] = random.integers(256)
        damaged.write_bytes(data)
        try:
            recording = read_recording(damaged)
        except ConfigError:
            continue
        assert recording.data.tobytes() == rows[: len(recording.data)].tobytes()


def odd_recording(path, event=b"{}", columns='["time_s"]', compression=CompressionType.ZSTD):
    """A recording of three rows and an event by the mcap library, with what ours never writes."""
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=1, compression=compression)
        writer.start(profile="hapticsim")
        schema = writer.register_schema("any", "json", b"{}")
        rows = writer.register_channel("rows", "float64-little-endian", schema)
        events = writer.register_channel("events", "json", schema)
        writer.add_metadata("rows", {"encoding": "float64-little-endian", "columns": columns})
        writer.add_message(rows, 0, np.zeros(3).tobytes(), 0, 1)
        writer.add_message(events, 0, event, 0, 2)
        writer.finish()


def with_chunk(path, packed, compression, says):
    """End a file, which had been closed, with a chunk instead."""
    chunk = struct.pack("<QQQI", 0, 0, says, 0) + struct.pack("<I", len(compression)) + compression
    chunk += struct.pack("<Q", len(packed)) + packed
    data = path.read_bytes()
    at = 8
    while data[at] != 15:  # the end of the data
        at += 9 + int.from_bytes(data[at + 1 : at + 9], "little")
    path.write_bytes(data[:at] + struct.pack("<BQ", 6, len(chunk)) + chunk)


@pytest.mark.parametrize("event", [b"[" * 200_000, b"3", b"{"])
def test_an_event_that_is_none_ends_the_recording_before_it(tmp_path, event):
    path = tmp_path / "odd.mcap"
    odd_recording(path, event)
    recording = read_recording(path)
    assert not recording.complete and len(recording.data) == 3 and recording.events == []


def test_columns_nested_without_end_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "odd.mcap"
    odd_recording(path, columns="[" * 200_000)
    assert refusal(read_recording, path).startswith(f"{path}: ends before its columns are named")


def test_a_few_bytes_that_unpack_to_gigabytes_are_not_unpacked(tmp_path):
    path, gigabyte = tmp_path / "bomb.mcap", 1 << 30
    packer = ZstdCompressor().compressobj(size=gigabyte)
    packed = b"".join(packer.compress(bytes(1 << 24)) for _ in range(64)) + packer.flush()
    odd_recording(path)
    with_chunk(path, packed, b"zstd", 1024)
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    recording = read_recording(path)
    assert not recording.complete and len(recording.data) == 3
    assert time.process_time() - start < 1.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


@pytest.mark.parametrize("compression", [b"lz4", b"", b"gzip"])
def test_a_chunk_of_anything_else_ends_the_recording_before_it(tmp_path, compression):
    path = tmp_path / "odd.mcap"
    odd_recording(path)
    with_chunk(path, bytes(1 << 22), compression, 1 << 22)
    start = time.process_time()
    recording = read_recording(path)
    assert not recording.complete and len(recording.data) == 3
    assert time.process_time() - start < 1.0


def test_a_batch_lost_in_the_middle_is_noticed(recorded, tmp_path):
    path, rows = recorded
    data, at, chunks = bytearray(path.read_bytes()), 8, []
    while at < len(data) - 8:  # records: opcode, length, content; 6 is a chunk
        if data[at] == 6:
            chunks.append(at)
        at += 9 + int.from_bytes(data[at + 1 : at + 9], "little")
    data[chunks[4]] = 0x80  # a record of somebody else, which readers skip
    (tmp_path / "damaged.mcap").write_bytes(data)
    recording = read_recording(tmp_path / "damaged.mcap")
    assert not recording.complete
    assert 0 < len(recording.data) < len(rows)
    assert recording.data.tobytes() == rows[: len(recording.data)].tobytes()
