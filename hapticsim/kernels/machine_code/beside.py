"""Kernels compiled in processes of their own, as many as there are processors, and found on disk afterwards.

Such a process compiles lean (lean.py).  Whatever goes wrong over there, this process compiles the kernel
itself.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Sequence

PROGRAM = "import sys; from hapticsim.kernels.machine_code.build import build; build(sys.argv[1:])"


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Beside:
    """One process that compiles, from its start.

    Parameters
    ----------
    paths : of kernels (called.py), in the order in which they are compiled.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self._done: set[str] = set()
        self._reading = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        nowhere, command = subprocess.DEVNULL, [sys.executable, "-P", "-c", PROGRAM, *paths]
        try:
            self._process = subprocess.Popen(
                command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere, text=True
            )
        except OSError:  # no more processes are allowed
            return
        atexit.register(self.end)

    def wait(self, path: str) -> None:
        """Until this kernel is compiled, or never will be here."""
        with self._reading:
            while path not in self._done and self._process is not None and self._process.stdout is not None:
                line = self._process.stdout.readline()
                if not line:
                    break
                self._done.add(line.strip())

    def end(self) -> None:
        """What nobody waited for ends with this process."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.terminate()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
