"""Starts servers at once: a process that has loaded all of them needs, and forks.

It reads a JSON object per line and answers each with a word:

start    arguments of ``hapticsim``, with ``runtime`` (its runtime folder), ``out`` and ``err`` (paths; err
         may be "a pipe"), ``longest_file`` [bytes], ``hang_s`` (a write to a recording in HANGS takes so
         long), ``dies`` (a thread that ends when SIGUSR1 comes) and ``died`` (the file it writes the time to
         then); the answer is a process id
hold     endpoint and log of a hand (hand.py); the answer is a process id
wait     for a process id; its status, or "no" after ``within_s``
block    fill the pipe that nobody reads

Its children are sessions of their own, and it does not hear Ctrl-C: who asks it says when they end.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

HANGS = 40  # writes to a recording, a second or two of it


def preload(scene: Path) -> None:
    """Load what a server of this scene runs."""
    import campaign.hand  # noqa: F401
    import hapticsim as hs
    import hapticsim.commands.supervisor
    import hapticsim.server.operator
    import hapticsim.server.remote
    import hapticsim.server.server
    from hapticsim.assemble.initial_check import assemble_start
    from hapticsim.describe.topics import Describer
    from hapticsim.realtime.loop import RealTimeLoop
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


def detach(out: str, err: int | str) -> None:
    """Become a session of its own that writes there; err is a descriptor or a path."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(err if isinstance(err, int) else os.open(err, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)


def be(asked: dict[str, Any], err: int | str) -> None:
    """Become ``hapticsim``."""
    detach(asked["out"], err)
    os.environ["XDG_RUNTIME_DIR"] = asked["runtime"]
    if asked["longest_file"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["longest_file"], asked["longest_file"]))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if asked["hang_s"]:
        hang_disk(asked["hang_s"])
    if asked["dies"]:
        let_die(asked["dies"], Path(asked["died"]))
    from hapticsim.__main__ import main

    sys.argv = ["hapticsim", *asked["start"]]
    main()


def be_hand(endpoint: str, log: str) -> None:
    """Become a hand."""
    detach(os.devnull, os.devnull)
    from campaign import hand

    sys.argv = ["hand", endpoint, log]
    hand.main()


def hang_disk(hang_s: float) -> None:
    """Have one write to a recording in HANGS take so long."""
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


def let_die(name: str, died: Path) -> None:
    """Have a thread of the server end by itself, with a defect, when SIGUSR1 comes."""
    from hapticsim.server.device_session import DeviceSession
    from hapticsim.server.outlet import Outlet

    asked: list[bool] = []
    signal.signal(signal.SIGUSR1, lambda *_: asked.append(True))
    owner: Any = {"outlet": Outlet, "wire": DeviceSession}[name]
    real = owner._take

    def dying(self: Any, what: Any) -> Any:
        if asked:
            died.write_text(str(time.monotonic()))
            raise RuntimeError("a defect on purpose")
        return real(self, what)

    owner._take = dying


def wait(pid: int, within_s: float) -> str:
    """The status of a process that ends within a time, or "no"."""
    give_up = time.monotonic() + within_s
    while time.monotonic() < give_up:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return "gone"  # its status was asked for before
        if ended:
            return str(os.waitstatus_to_exitcode(status))
        time.sleep(0.002)
    return "no"


def child(body: Callable[[], None]) -> int:
    """Fork one that does something and ends; returns its process id."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            body()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            os._exit(status)
    return pid


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload(Path(sys.argv[1]))
    print("ready", flush=True)
    writer = -1
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            print(wait(asked["wait"], asked["within_s"]), flush=True)
        elif "block" in asked:
            fill(writer)
            print("blocked", flush=True)
        elif "hold" in asked:
            print(child(partial(be_hand, *asked["hold"])), flush=True)
        else:
            if asked["err"] == "a pipe":
                _, writer = os.pipe()
            err = writer if asked["err"] == "a pipe" else asked["err"]
            print(child(partial(be, asked, err)), flush=True)


if __name__ == "__main__":
    main()
