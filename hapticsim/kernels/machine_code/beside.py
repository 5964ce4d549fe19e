"""Kernels compiled in processes of their own, as many as there are processors, and found on disk afterwards.

Such a process compiles lean (lean.py).  Whatever goes wrong over there, this process compiles the kernel
itself.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Sequence

from hapticsim.files.cache_folder import ENVIRONMENT
from hapticsim.kernels.machine_code.cache import kernel_folder

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1])\n"
    "from hapticsim.kernels.machine_code.build import build; build(*sys.argv[2:])"
)
SILENT_s = 600.0  # a kernel takes half a minute, or minutes where others want the processor
END_s = 3.0


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Beside:
    """One process that compiles, from its start.

    It imports this hapticsim and no other, and keeps what it compiles where this process looks for it.

    Parameters
    ----------
    paths : of kernels (called.py), in the order in which they are compiled.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self._done: set[str] = set()
        self._rest = b""  # of a line
        self._reading = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        folder, nowhere = kernel_folder(), subprocess.DEVNULL
        command = [
            sys.executable,
            "-P",
            "-c",
            PROGRAM,
            json.dumps([path for path in sys.path if isinstance(path, str)]),
            folder.name,
            *paths,
        ]
        environment = os.environ | {ENVIRONMENT: str(folder.parent)}
        try:
            self._process = subprocess.Popen(
                command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere, env=environment
            )
        except OSError:  # no more processes are allowed
            return
        atexit.register(self.end)

    def is_running(self) -> bool:
        """Whether it may still compile something."""
        return self._process is not None and self._process.poll() is None

    def wait(self, path: str) -> None:
        """Until this kernel is compiled, or the process ended; one that is silent for SILENT_s is ended."""
        with self._reading:
            said = self._process.stdout if self._process is not None else None
            while path not in self._done and said is not None and not said.closed:
                with selectors.DefaultSelector() as selector:
                    selector.register(said, selectors.EVENT_READ)
                    data = os.read(said.fileno(), 4096) if selector.select(SILENT_s) else b""
                if not data:
                    self.end()
                *lines, self._rest = (self._rest + data).split(b"\n")
                self._done.update(line.decode() for line in lines)

    def end(self) -> None:
        """What nobody waited for ends with this process."""
        atexit.unregister(self.end)
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(END_s)
        except subprocess.TimeoutExpired:  # it is stopped
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
