"""A recording that nobody waits for: a disk that hangs or is full is told, and what was written is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from hapticsim.recording.background import BackgroundRecorder
from hapticsim.recording.reader import read_recording
from hapticsim.recording.writer import RecordingWriter

COLUMNS = ["time_s", "tick", "a", "b"]


def rows(first, n):
    """Rows that say themselves which they are."""
    tick = np.arange(first, first + n, dtype=float)
    return np.column_stack([tick * 1e-3, tick, np.sin(tick), np.cos(tick)])


def assert_whole(recording, at_least=0):
    np.testing.assert_array_equal(recording.data, rows(0, len(recording.data)))
    assert len(recording.data) >= at_least


class HangingFile:
    """A file whose disk stops after so many writes, until it is let go."""

    def __init__(self, file, writes):
        self._file, self._left, self.go_on = file, writes, threading.Event()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        self._left -= 1
        if self._left < 0:
            self.go_on.wait()
        return self._file.write(data)


def hanging(tmp_path, writes, most_bytes=1 << 20):
    writer = RecordingWriter(tmp_path / "r.mcap", COLUMNS)
    file = HangingFile(writer._file, writes)
    writer._writer._Writer__stream = writer._file = file
    return BackgroundRecorder(writer, most_bytes), file


@pytest.mark.parametrize("what", ["add_message", "finish"])
def test_a_writer_that_fails_in_any_way_is_told_and_stops_only_the_recording(tmp_path, monkeypatch, what):
    def fail(*_, **__):
        raise MemoryError("no room")

    recorder = BackgroundRecorder(writer := RecordingWriter(tmp_path / "r.mcap", COLUMNS))
    recorder.append(rows(0, 10))
    monkeypatch.setattr(writer._writer, what, fail)
    recorder.append_event({"time_s": 0.0})
    if what == "add_message":
        give_up = time.monotonic() + 5.0
        while not recorder.failure and time.monotonic() < give_up:
            time.sleep(0.001)
    recorder.append(rows(10, 10))
    recorder.close()
    assert recorder.failure.startswith(f"{tmp_path / 'r.mcap'}: recording stopped ")
    assert "(MemoryError: no room)" in recorder.failure
    assert writer.written_rows == (0 if what == "add_message" else 20)


def test_a_write_that_fails_otherwise_than_by_the_disk_is_told_with_its_reason(tmp_path, monkeypatch):
    def fail():
        raise MemoryError("no room")

    recorder = BackgroundRecorder(writer := RecordingWriter(tmp_path / "r.mcap", COLUMNS))
    monkeypatch.setattr(writer._writer, "flush", fail)
    recorder.append(rows(0, 10))
    recorder.close()
    assert "(MemoryError: no room)" in recorder.failure and writer.dropped_rows == 10


def test_all_that_is_handed_over_is_in_the_file(tmp_path):
    rng, recorder = random.Random(5), BackgroundRecorder(RecordingWriter(tmp_path / "r.mcap", COLUMNS))
    done = 0
    for _ in range(300):
        n = rng.randrange(200)
        batch = rows(done, n)
        recorder.append(batch)
        batch[:] = np.nan  # it may be reused
        if rng.random() < 0.3:
            recorder.append_event({"time_s": done * 1e-3, "tick": done})
        done += n
    recorder.close()
    found = read_recording(tmp_path / "r.mcap")
    assert found.complete and len(found.data) == done and recorder.written_rows == done
    assert_whole(found)
    recorder.close()  # twice is safe


@pytest.mark.parametrize("seed", range(6))
def test_a_disk_that_hangs_holds_nobody_and_what_was_written_is_whole(tmp_path, seed):
    rng = random.Random(seed)
    recorder, file = hanging(tmp_path, rng.randrange(2, 60))
    written, longest = 0, 0.0
    while not recorder.failure:
        batch = rows(written, rng.randrange(1, 3000))
        start = time.thread_time()
        recorder.append(batch)
        longest = max(longest, time.thread_time() - start)
        written += len(batch)
        assert written < 10_000_000
    assert longest < 0.1
    assert "recording stopped after" in recorder.failure and "the disk took nothing for" in recorder.failure
    recorder.append(rows(written, 10))
    assert recorder.dropped_rows >= 10
    recorder.close(within_s=0.1)
    before = read_recording(tmp_path / "r.mcap")
    assert_whole(before)
    file.go_on.set()
    recorder._thread.join(10.0)
    after = read_recording(tmp_path / "r.mcap")
    assert after.complete
    assert_whole(after, len(before.data))
    assert recorder.written_rows == len(after.data)


def test_a_disk_that_hangs_for_a_moment_costs_nothing(tmp_path):
    recorder, file = hanging(tmp_path, 1, most_bytes=1 << 26)
    for n in range(100):
        recorder.append(rows(1000 * n, 1000))
    give_up = time.monotonic() + 10.0
    while recorder.waits_s < 0.1 and time.monotonic() < give_up:
        time.sleep(0.01)
    assert recorder.waits_s > 0.0
    file.go_on.set()
    recorder.close()
    found = read_recording(tmp_path / "r.mcap")
    assert found.complete and not recorder.failure
    assert_whole(found, 100_000)


def test_a_full_disk_is_told_and_what_was_written_is_whole(tmp_path):
    recorder = BackgroundRecorder(RecordingWriter("/dev/full", COLUMNS, overwrite=True))
    give_up = time.monotonic() + 10.0
    while not recorder.failure and time.monotonic() < give_up:
        recorder.append(rows(0, 1000))
        time.sleep(0.01)
    recorder.close()
    assert "No space left on device" in recorder.failure


RECORDING = """
import sys, time
import numpy as np
from hapticsim.commands import command_line as command
from hapticsim.recording.background import BackgroundRecorder
from hapticsim.recording.writer import RecordingWriter
from hapticsim.commands.supervisor import watch

class Side:
    trouble, recorder, is_ready = "", None, True
    def release(self): pass
    def start(self):
        writer = RecordingWriter(sys.argv[1], ["time_s", "tick", "a", "b"])
        self.recorder, self.tick = BackgroundRecorder(writer), 0
        print("started", flush=True)
    def adopt_threads(self):
        tick = np.arange(self.tick, self.tick + 50.0)
        self.recorder.append(np.column_stack([tick * 1e-3, tick, np.sin(tick), np.cos(tick)]))
        self.tick += 50
    def stop(self):
        for _ in range(20):  # an end takes its time
            time.sleep(0.005)
        self.recorder.close()
    def live_line(self): return "line"
    def report(self): return "report"

command.app = lambda **_: print(end="" if watch(Side(), None) else "trouble")
command.run()
"""
ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("seed", range(8))
def test_repeated_signals_at_any_moment_leave_a_closed_recording(tmp_path, seed):
    rng, path = random.Random(seed), tmp_path / "r.mcap"
    run = subprocess.Popen([sys.executable, "-c", RECORDING, path], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "started\n"
    time.sleep(rng.uniform(0.0, 0.3))
    for _ in range(rng.randrange(1, 8)):
        run.send_signal(rng.choice(ENDS))
        time.sleep(rng.choice([0.0, 0.001, 0.02, rng.uniform(0.0, 0.15)]))
        if run.poll() is not None:
            break
    assert run.wait(30.0) in (0, 130)
    assert run.stdout.read() == "report\n"
    run.stdout.close()
    found = read_recording(path)
    assert found.complete, found.note
    assert_whole(found)


def test_a_program_that_ends_by_an_error_closes_its_recordings(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from hapticsim.recording.background import BackgroundRecorder\n"
        "from hapticsim.recording.writer import RecordingWriter\n"
        "r = BackgroundRecorder(RecordingWriter(sys.argv[1], ['time_s', 'tick']))\n"
        "r.append(np.zeros((10, 2)))\n"
        "1 / 0"
    )
    path = tmp_path / "r.mcap"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    found = read_recording(path)
    assert found.complete and len(found.data) == 10


def test_a_hangup_that_is_ignored_stays_ignored():
    code = (
        "import signal; from hapticsim.commands import command_line as c\n"
        "c.app = lambda **_: print(signal.getsignal(signal.SIGHUP)); c.run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        env=dict(os.environ),
    )
    assert done.stdout.strip() == "1", done.stderr  # SIG_IGN
