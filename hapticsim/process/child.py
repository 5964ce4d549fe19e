"""A process of a run: started, looked after, ended, and never left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

REFUSED = 2  # exit status of a process that refused in one sentence
ORDERLY = (0, REFUSED, 130, -signal.SIGINT, -signal.SIGTERM)  # statuses of a process that knew why it ended
RESTART_AFTER_S = 1.0
# -P: modules are those installed, even in a working folder that holds a folder named like one of them, as the
# parent of a checkout does, or the folder of the private sockets.
PYTHON = (sys.executable, "-P")
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None) if sys.platform.startswith("linux") else None


def _begin() -> None:
    """Have the kernel send SIGTERM when the parent dies, however it dies; start at ordinary priority.

    A terminal that is closed tells the parent alone, which ends its processes in order.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if hasattr(os, "sched_setscheduler"):  # who needs more than the ordinary asks for it
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class Child:
    """A process of the run: started, restarted when it dies for no stated reason, ended."""

    def __init__(self, name: str, arguments: list[str], say: Callable[[str], None], restart: bool) -> None:
        self.name, self.restart, self._arguments, self._say = name, restart, arguments, say
        self._process = self._spawn()
        self._died_at = 0.0
        self.failed = False  # died, and was not to be started again

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*PYTHON, *self._arguments], stdin=subprocess.DEVNULL, preexec_fn=_begin)

    def look_after(self) -> bool:
        """False when the process ended and is not to come back."""
        status = self._process.poll()
        if status is None:
            return True
        if status in ORDERLY:
            return False
        if not self.restart:
            self.failed = True
            self._say(f"{self.name} died (status {status}): the run ends.")
            return False
        now = time.monotonic()
        if not self._died_at:
            self._died_at = now
            self._say(f"{self.name} died (status {status}); starting it again.")
        elif now - self._died_at > RESTART_AFTER_S:
            self._died_at = 0.0
            self._process = self._spawn()
        return True

    @property
    def status(self) -> int | None:
        return self._process.poll()

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(3.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
