"""The voice: nothing that it says can hold up whoever speaks, nor can its thread."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time

import pytest
from hapticsim_devices.voice import LONGEST_QUEUE, Voice

PRIORITIES = """
import os, threading, io, time
from hapticsim_devices.pacing import ask_for_priority
from hapticsim_devices.motors import Motors
from hapticsim_devices.scripted import Scripted
from hapticsim_devices.voice import Voice
from hapticsim_devices.watchdog import Watchdog
why = ask_for_priority()
assert not why, why
voice, watchdog = Voice(io.StringIO(), str), Watchdog(Motors(Scripted()), 0.01)
voice.start(); watchdog.start()
time.sleep(0.05)
print(sorted({(os.sched_getscheduler(t.native_id), os.sched_getparam(t.native_id).sched_priority)
              for t in threading.enumerate()}))
"""


def full_pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    return reader, writer


def test_a_stream_that_blocks_costs_the_speaker_no_time_and_no_memory():
    reader, writer = full_pipe()
    with os.fdopen(writer, "w") as stream:
        voice = Voice(stream, str)
        voice.start()
        started = time.perf_counter()
        for n in range(100_000):
            voice.say(f"sentence {n}.")
        assert (time.perf_counter() - started) / 100_000 < 50e-6
        assert voice._sentences.qsize() <= LONGEST_QUEUE
        assert voice.unsaid >= 100_000 - LONGEST_QUEUE - 1
        said = b""
        while b"found nobody" not in said or b"sentence 0." not in said:  # somebody reads again
            said += os.read(reader, 65536).lstrip(b"x")
            voice.say("again.")
        voice.stop()
    os.close(reader)
    assert "sentence 0.\n" in said.decode() and "sentences found nobody to read them.\n" in said.decode()


def test_the_interpreter_ends_although_the_terminal_is_stopped():
    """A thread that hangs in a print of ``sys.stderr`` would keep its lock, and the end would wait for it."""
    code = (
        "import sys, time; from hapticsim_devices.voice import Voice\n"
        "voice = Voice(sys.stderr, str); voice.start()\n"
        "voice.say('y' * 200_000); time.sleep(0.2); voice.stop()\n"
    )
    reader, writer = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=writer)
    os.close(writer)
    assert process.wait(timeout=20.0) == 0
    os.close(reader)


def test_everything_is_said_in_order_where_somebody_listens():
    stream = io.StringIO()
    voice = Voice(stream, str)
    voice.start()
    for n in range(20):
        voice.say(f"{n}")
        time.sleep(0.001)
    voice.stop()
    assert stream.getvalue().split() == [str(n) for n in range(20)]


def test_the_threads_of_a_bridge_have_one_priority():
    done = subprocess.run([sys.executable, "-c", PRIORITIES], capture_output=True, text=True)
    if "is not permitted" in done.stderr or "no SCHED_FIFO" in done.stderr:
        pytest.skip("SCHED_FIFO is not permitted here")
    assert done.stdout == "[(1, 70)]\n", done.stderr


def test_a_busy_thread_of_a_driver_gives_the_interpreter_back_within_a_tenth_of_a_tick(tmp_path):
    code = (
        "import sys; from hapticsim_devices.__main__ import main\n"
        f"main(['scripted', '--wait', '0.01', '--endpoint', 'ipc://{tmp_path}/nobody.sock'])\n"
        "print(sys.getswitchinterval() <= 1.001e-4)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
