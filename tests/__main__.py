"""All tests, in two groups at once: those against the clock, and beside them all others with what is left.

    python -m tests

The others give way at once to whatever else wants a processor, so they take no time from the first group,
which mostly waits.  They are shown when the first group has ended.  Ends with the status of the first group
that failed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from typing import IO

PYTEST = [sys.executable, "-m", "pytest"]
OTHERS = ["-m", "not clock", "-n", "auto", "--maxprocesses", "8", "--dist", "loadfile"]
LOOK_EVERY_S = 0.2
INTERRUPTED = 130


def give_way(pid: int) -> None:
    """Let a process, and those that it starts from now on, run only when nobody else wants to."""
    if hasattr(os, "SCHED_IDLE"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))


def follow(process: subprocess.Popen[bytes], output: IO[bytes]) -> int:
    """Show what a process has written and writes, until it ends; returns its status."""
    while True:
        ended = process.poll() is not None
        sys.stdout.buffer.write(output.read())
        sys.stdout.buffer.flush()
        if ended:
            return process.returncode
        time.sleep(LOOK_EVERY_S)


def main() -> int:
    with tempfile.NamedTemporaryFile() as written, open(written.name, "rb") as output:
        others = subprocess.Popen([*PYTEST, *OTHERS], stdout=written, stderr=subprocess.STDOUT)
        give_way(others.pid)
        print("tests against the clock, one at a time, and all others beside them:", flush=True)
        clock = subprocess.Popen([*PYTEST, "-m", "clock"])
        try:
            status = clock.wait()
            print("all others:", flush=True)
            return follow(others, output) or status
        except KeyboardInterrupt:  # both have heard it too
            clock.wait()
            others.wait()
            return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
