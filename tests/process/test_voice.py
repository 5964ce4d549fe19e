"""Nobody waits for a terminal that is stopped, and nothing is lost without a word."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest

from hapticsim.process import voice as voices
from hapticsim.process.voice import FAREWELL_S, MOST_LINES, Voice


@pytest.fixture
def pipe():
    """A pipe that is full: whoever writes to it waits."""
    out, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    os.write(into, b"." * 4096)
    yield out, into
    for end in (out, into):
        os.close(end)


def drained(out, until, within_s=10.0):
    """Read until a text has come."""
    text, give_up = "", time.monotonic() + within_s
    while until not in text and time.monotonic() < give_up:
        text += os.read(out, 65536).decode()
    return text


def hang(spoken, into):
    """Hand over a first line and wait until it hangs in the pipe."""
    spoken.say("line 0", into)
    while spoken._lines:
        time.sleep(0.001)


def test_a_stopped_terminal_holds_nobody_and_what_did_not_fit_is_counted(pipe):
    out, into = pipe
    spoken = Voice()
    longest = 0.0
    hang(spoken, into)
    for n in range(1, 20_000):
        start = time.thread_time()
        spoken.say(f"line {n}", into)
        longest = max(longest, time.thread_time() - start)
    assert spoken.lost == 20_000 - MOST_LINES - 1  # one is under way
    start = time.monotonic()
    assert not spoken.finish()
    assert time.monotonic() - start < FAREWELL_S + 1.0
    text = drained(out, f"line {MOST_LINES}\n")
    assert [line for line in text.strip(".").splitlines() if line.startswith("line")] == [
        f"line {n}" for n in range(MOST_LINES + 1)
    ]
    assert longest < 0.05  # of its own time


def test_what_was_lost_is_told_once_there_is_room(pipe, monkeypatch):
    out, into = pipe
    monkeypatch.setattr(voices, "ERR", into)
    spoken = Voice()
    hang(spoken, into)
    for n in range(1, MOST_LINES + 43):
        spoken.say(f"line {n}", into)
    assert spoken.lost == 42
    assert "(42 lines were not shown: nobody took them.)" in drained(out, "took them.)\n")


def test_lines_of_many_threads_come_whole_and_in_their_order():
    out, into = os.pipe()
    spoken = Voice()

    def talk(name):
        for n in range(20):
            spoken.say(f"{name} {n} " + name * 50, into)

    threads = [threading.Thread(target=talk, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spoken.finish(5.0)
    os.close(into)
    with os.fdopen(out) as file:
        lines = file.read().splitlines()
    assert len(lines) == 80
    for name in "abcd":
        mine = [line for line in lines if line.startswith(name)]
        assert mine == [f"{name} {n} " + name * 50 for n in range(20)]


def test_a_pipe_without_a_reader_ends_nothing():
    out, into = os.pipe()
    os.close(out)
    spoken = Voice()
    for n in range(3):
        spoken.say(f"line {n}", into)
    assert spoken.finish(5.0)
    os.close(into)


WATCHED = """
import sys, time
from hapticsim.commands.supervisor import say_line, watch

class Side:
    trouble, is_ready = "", True
    def release(self): pass
    def start(self): self.looks = 0
    def adopt_threads(self): self.looks += 1
    def stop(self): open(sys.argv[1], "w").write(str(self.looks))
    def live_line(self):
        say_line("x" * 5000)
        return "y" * 5000
    def report(self): return "z" * 5000

watch(Side(), 3.0)
"""


def test_a_run_is_looked_after_and_ends_in_time_while_nobody_reads_what_it_says(tmp_path):
    """Its pipes take 4 KiB, and it says 10 KB a second."""
    ends = [os.pipe(), os.pipe()]
    for _, into in ends:
        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    start = time.monotonic()
    run = subprocess.Popen(
        [sys.executable, "-c", WATCHED, tmp_path / "looks"], stdout=ends[0][1], stderr=ends[1][1]
    )
    try:
        assert run.wait(60.0) == 0
    finally:
        run.kill()
        for end in sum(ends, ()):
            os.close(end)
    assert int((tmp_path / "looks").read_text()) > 20  # 60 on a quiet machine
    assert time.monotonic() - start > 3.0
