"""A kernel compiled in a second process, while this one compiles the others.

It is found on disk afterwards (cache.py).  Whatever goes wrong over there, this process compiles it itself.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Beside:
    """At most one such process.

    Parameters
    ----------
    call : function of kernels/entry.py, without arguments, that compiles the kernel.
    """

    def __init__(self, call: str) -> None:
        self._call = call
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start, unless there is only one processor."""
        if self._process is not None or processors() < 2:
            return
        program = f"from hapticsim.kernels import entry; entry.{self._call}()"
        nowhere = subprocess.DEVNULL
        command = [sys.executable, "-P", "-c", program]
        try:
            self._process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        except OSError:  # no more processes are allowed
            return
        atexit.register(self.end)

    def wait(self) -> None:
        """Until it is done, if it was started."""
        if self._process is not None:
            self._process.wait()

    def end(self) -> None:
        """What nobody waited for ends with this process."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
