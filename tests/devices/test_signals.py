"""A device program that is asked to end many times at once ends, and once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
BURST = """
import sys
from hapticsim_devices.stop_flag import StopFlag
import signal, os
stop, came = StopFlag(), 0
def end(*_):
    global came
    came += 1
    stop.set()
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, end)
print("ready", flush=True)
while came < 3000:
    stop.set()  # as a thread of its own may do when a signal comes
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
assert stop.is_set()
"""


def bombard(process: subprocess.Popen[str], seconds: float) -> None:
    """Send all three signals by turns, until the process ended."""
    give_up, n = time.monotonic() + seconds, 0
    while process.poll() is None and time.monotonic() < give_up:
        os.kill(process.pid, SIGNALS[n % 3])
        n += 1
        time.sleep(2e-5)


def test_a_flag_is_set_from_handlers_that_interrupt_one_another():
    with subprocess.Popen([sys.executable, "-c", BURST], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            bombard(process, 20.0)
            assert process.wait(10.0) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("seed", range(3))
def test_a_device_program_that_is_asked_to_end_thousands_of_times_ends(tmp_path, seed):
    command = [
        sys.executable,
        "-m",
        "hapticsim_devices",
        "scripted",
        "--endpoint",
        f"ipc://{tmp_path}/device.sock",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(1.0 + 0.1 * seed)  # it looks for a server
        bombard(process, 20.0)
        process.wait(10.0)
        assert process.stderr is not None and "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()


HANGS = """
import ctypes, sys
from hapticsim_devices import __main__ as program
from hapticsim_devices.scripted import Scripted
class Hanging(Scripted):
    def open(self):
        mutex = ctypes.create_string_buffer(64)
        ctypes.CDLL(None).pthread_mutex_lock(mutex)
        print("opens", flush=True)
        ctypes.CDLL(None).pthread_mutex_lock(mutex)  # of itself: no signal ends it
program.driver_class, program.LEAVE_S = lambda name: Hanging, 0.5
sys.exit(program.main(["scripted", "--endpoint", sys.argv[1]]))
"""


def test_a_device_program_whose_driver_does_not_come_back_ends_when_it_is_asked_to(tmp_path):
    command = [sys.executable, "-c", HANGS, f"ipc://{tmp_path}/device.sock"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "opens\n"
        process.terminate()
        _, said = process.communicate(timeout=10.0)
        assert process.returncode == 1
        assert said == "the driver did not come back: its program ends without closing the device.\n"
    finally:
        process.kill()
        process.wait()
