"""Starting a whole run, looking after its processes, and ending it cleanly with a report."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from hapticsim.drivers.classes import driver_class, from_anywhere
from hapticsim.drivers.registry import build_driver, options_for, require_driver
from hapticsim.errors import ConfigError
from hapticsim.haptics.joining import check_gains, limits_of
from hapticsim.model.scene import Scene
from hapticsim.process.child import REFUSED, Child
from hapticsim.process.interruption import begin_ending
from hapticsim.process.thread_deaths import ThreadDeaths
from hapticsim.process.voice import OUT, is_terminal, voice
from hapticsim.recording.writer import check_can_record
from hapticsim.wire.sockets.endpoints import default_endpoint

FAILED = 1  # exit status of a run that a process of it ended by dying
LINE_EVERY_S = 0.1
PLAIN_LINE_EVERY_S = 1.0  # when the output is no terminal
AUTO_SECONDS = 15.5  # an automatic scripted visit and its end


class Watched(Protocol):
    """A composition root that can be started, described and stopped."""

    @property
    def trouble(self) -> str: ...
    @property
    def is_ready(self) -> bool: ...
    def release(self) -> None: ...
    def start(self) -> None: ...
    def adopt_threads(self) -> None: ...
    def stop(self) -> None: ...
    def live_line(self) -> str: ...
    def report(self) -> str: ...


def has_display() -> bool:
    """Whether a window can be opened."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or sys.platform == "darwin"


def say_line(line: str) -> None:
    """One line for the user, above the live line; never waits for the terminal."""
    voice.say(line)


def _columns() -> int:
    """How much of a line fits: one that wraps could not be overwritten by the next."""
    return shutil.get_terminal_size().columns - 1


def watch(
    side: Watched, seconds: float | None, children: list[Child] | None = None, quiet: bool = False
) -> bool:
    """Run until the time is over, a child ends the run, or Ctrl-C; then stop everything and print the report.

    The time counts from when the side is ready: its parts wait for one another, however long one takes to
    start.  At the end the force goes first, then the processes in the order of ``children``.
    The live line is printed ten times a second on a terminal, once a second elsewhere; quiet prints neither
    line nor report.  Returns False where a part of the program ended by itself, which is a defect.
    """
    with ThreadDeaths() as deaths:
        return _watch(side, seconds, children or [], quiet, deaths)


def _watch(
    side: Watched, seconds: float | None, children: list[Child], quiet: bool, deaths: ThreadDeaths
) -> bool:
    """The body of `watch`, while deaths of threads are heard of."""
    terminal, trouble = is_terminal(), ""
    every = LINE_EVERY_S if terminal else PLAIN_LINE_EVERY_S
    try:
        side.start()
        start = next_line = time.monotonic()
        while seconds is None or time.monotonic() - start < seconds:
            if not side.is_ready:
                start = time.monotonic()
            if not quiet and time.monotonic() >= next_line:
                next_line += every
                line = side.live_line()
                voice.show(line[: _columns()] if terminal else line)
            side.adopt_threads()
            trouble = side.trouble or deaths.first
            if trouble or not all([child.look_after() for child in children]):
                break
            time.sleep(0.05)
    except KeyboardInterrupt:
        pass
    finally:
        begin_ending()
        side.release()
        for child in children:
            child.end()
        side.stop()
        trouble = trouble or side.trouble or deaths.first  # also of a thread that failed as it ended
        if trouble:
            say_line(f"{trouble}: the run ends.")
        if not quiet:
            voice.clear()
            voice.say(side.report(), OUT)
        voice.finish()
    return not trouble


def choose_driver(scene: Scene, device: str | None) -> tuple[str, dict[str, Any], bool]:
    """Name and options of the driver of a run, and whether it was chosen because there is no display."""
    wanted, automatic = device or scene.device.driver, False
    if device == "auto":
        wanted = "mouse" if has_display() else "scripted"
        automatic = wanted == "scripted"
    return wanted, options_for(wanted, scene.device), automatic


def recording_path(scene: Scene) -> Path:
    """recordings/NAME-DATE.mcap in the current folder."""
    name = "".join(c if c.isalnum() else "-" for c in scene.name).strip("-").lower()
    folder = Path("recordings")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ConfigError(folder, "", f"cannot be made ({error.strerror}): give --record FILE.") from error
    return folder / f"{name}-{datetime.now():%Y%m%d-%H%M%S}.mcap"


def run_all(
    scene: Scene,
    config: Path,
    settings: Sequence[str],
    device: str | None,
    seconds: float | None,
    record: Path | None,
    recording: bool,
    window: bool | None,
    realtime: bool,
    probe: bool,
    progress: Callable[[str], Any],
) -> None:
    """Server, or the operator's side of a link, in this process; device, window and remote in their own."""
    import json

    from hapticsim.server.server import Server

    name, options, automatic = choose_driver(scene, device)
    show = has_display() if window is None else window
    if show and not has_display():
        raise ConfigError("--window", "", "needs a display: set DISPLAY, or leave it away.")
    pointer = default_endpoint("pointer") if show else None
    if name == "mouse" and pointer:
        options["pointer"] = pointer
        driver = driver_class(name)
    else:
        driver = require_driver(name)
    _, info = build_driver(driver, options)  # which checks its options and touches nothing
    if info.emulated:
        check_gains(limits_of(info.hello()), scene)
    limit = seconds if seconds is not None else scene.duration_s
    if limit is None and automatic:
        limit = AUTO_SECONDS
    path = record or (recording_path(scene) if recording else None)
    of_remote = path.with_stem(f"{path.stem}-remote") if path and scene.link else None
    for file in (path, of_remote):
        if file:
            check_can_record(file)
    side: Server
    if scene.link is None:
        side = Server(scene, record=path, realtime=realtime, probe=probe, say=say_line, progress=progress)
    else:
        from hapticsim.server.operator import Operator

        side = Operator(scene, record=path, realtime=realtime, probe=probe, say=say_line, progress=progress)
    children: list[Child] = []
    arguments = ["-m", "hapticsim_devices", from_anywhere(name), "--endpoint", side.device_endpoint]
    arguments += ["--options", json.dumps(options)]
    arguments += ["--wait", "inf"]  # for this side, which ends the run if it is not to be had
    if scene.device.hold_to_run is not None:
        arguments += ["--hold-to-run", scene.device.hold_to_run]
    if realtime:
        arguments.append("--realtime")
    try:
        children.append(Child(f"device {name!r}", arguments, say_line, restart=True))
        if show:
            view = ["-m", "hapticsim", "view", "--endpoint", side.publisher.endpoint]
            view += ["--control", side.control.endpoint if side.control else default_endpoint("control")]
            if pointer and name == "mouse":
                view += ["--pointer", pointer]
            children.append(Child("window", view, say_line, restart=False))
        if scene.link is not None:
            remote = ["-m", "hapticsim", "serve", str(config), "--quiet"]
            remote += [f"--set={word}" for word in settings]
            if of_remote:
                remote += ["--record", str(of_remote)]
            children.append(Child("remote site", remote, say_line, restart=False))
    except BaseException:
        for child in children:
            child.end()
        side.stop()
        raise
    is_whole = watch(side, limit, children)
    if path is not None:
        voice.say(f"play it again: hapticsim replay {path}", OUT)
        voice.finish()
    if any(child.status == REFUSED for child in children):
        raise SystemExit(REFUSED)
    if not is_whole or any(child.failed for child in children):
        raise SystemExit(FAILED)
