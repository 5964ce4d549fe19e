"""Starts servers at once: a process that has loaded all of them needs, and forks.

It reads a JSON object per line: ``start`` (arguments of ``hapticsim``) with ``out`` and ``err`` (paths; err
may be "full pipe"), ``longest_file`` [bytes] and ``hang_s`` (each write of a recording takes so long), and
answers with a process id; or ``wait`` (a process id), and answers with its status, "no" after ``within_s``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any


def preload(scene: Path) -> None:
    """Load what a server of this scene runs."""
    import hapticsim as hs
    import hapticsim.operator
    import hapticsim.remote
    import hapticsim.server
    import hapticsim.supervisor
    from hapticsim.realtime import loop
    from hapticsim.simulation import Simulation

    Simulation(hs.load(scene)).step()
    loop.compile_cached(loop._loop, loop.LOOP)


def full_pipe() -> int:
    """The writing end of a pipe that is full and that nobody reads."""
    reader, writer = os.pipe()
    os.set_inheritable(reader, True)
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    return writer


def be(arguments: list[str], out: str, err: str, longest_file: int, hang_s: float) -> None:
    """Become ``hapticsim``."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(full_pipe() if err == "full pipe" else os.open(err, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    if longest_file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if hang_s:
        from hapticsim.recording import writer

        create = writer._create

        def slow(path: Path, overwrite: bool) -> Any:
            file = create(path, overwrite)
            write = file.write

            class Hung:
                def write(self, data: bytes) -> int:
                    time.sleep(hang_s)
                    return int(write(data))

                def __getattr__(self, name: str) -> Any:
                    return getattr(file, name)

            return Hung()

        writer._create = slow
    from hapticsim.__main__ import main

    sys.argv = ["hapticsim", *arguments]
    main()


def wait(pid: int, within_s: float) -> str:
    """The status of a process that ends within a time, or "no"."""
    give_up = time.monotonic() + within_s
    while time.monotonic() < give_up:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return str(os.waitstatus_to_exitcode(status))
        time.sleep(0.002)
    return "no"


def main() -> None:
    preload(Path(sys.argv[1]))
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            print(wait(asked["wait"], asked["within_s"]), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            try:
                be(asked["start"], asked["out"], asked["err"], asked["longest_file"], asked["hang_s"])
            finally:
                os._exit(99)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
