"""Starts servers at once: a process that has loaded all of them needs, and forks.

It reads a JSON object per line and answers each with a word:

start    arguments of ``hapticsim``, with ``out`` and ``err`` (paths; err may be "a pipe"), ``longest_file``
         [bytes] and ``hang_s`` (a write to a recording in HANGS takes so long); the answer is a process id
wait     for a process id; its status, or "no" after ``within_s``
block    fill the pipe that nobody reads
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

HANGS = 40  # writes to a recording, a second or two of it


def preload(scene: Path) -> None:
    """Load what a server of this scene runs."""
    import hapticsim as hs
    import hapticsim.operator
    import hapticsim.remote
    import hapticsim.server
    import hapticsim.supervisor
    from hapticsim.published import Describer
    from hapticsim.realtime.loop import RealTimeLoop
    from hapticsim.start import assemble_start
    from hapticsim.teleop.look_ahead import LookAhead

    assembly = assemble_start(hs.load(scene))
    RealTimeLoop(assembly)
    Describer(assembly)
    LookAhead(assembly, assembly.scene.look_ahead_s)


def fill(writer: int) -> None:
    """Fill a pipe that nobody reads, to the last byte."""
    os.set_blocking(writer, False)
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * size)
    os.set_blocking(writer, True)


def be(arguments: list[str], out: str, err: int | str, longest_file: int, hang_s: float) -> None:
    """Become ``hapticsim``; err is a descriptor or a path."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(err if isinstance(err, int) else os.open(err, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
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
                def __init__(self) -> None:
                    self._writes = 0

                def write(self, data: bytes) -> int:
                    self._writes += 1
                    if self._writes % HANGS == 0:
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
    _reader, writer = os.pipe()
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            print(wait(asked["wait"], asked["within_s"]), flush=True)
            continue
        if "block" in asked:
            fill(writer)
            print("blocked", flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            status = 99
            err = writer if asked["err"] == "a pipe" else asked["err"]
            try:
                be(asked["start"], asked["out"], err, asked["longest_file"], asked["hang_s"])
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            finally:
                os._exit(status)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
