"""Showing a recording as it is, without simulating it again, in the window."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hapticsim.assemble.assembly import assemble
from hapticsim.describe.recorded_scene import scene_of
from hapticsim.describe.topics import Describer
from hapticsim.errors import ConfigError
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.process.child import Child
from hapticsim.recording.reader import read_recording

if TYPE_CHECKING:
    from hapticsim.display.messages.scene import StateMessage

WINDOW_Hz = 60.0
SCENE_EVERY_s = 0.1  # to the window, which knows nothing when it opens
PAUSE_s = 0.7  # between the end and the next beginning in the window
MOST = 1e15  # that a row holds, in its units: what a scene may hold, too
NEVER_s = 1e9  # age of a device that was not there


class Animation:
    """The rows of a recording as messages of the topics ``scene`` and ``state``.

    quiet : do not print the note on a recording that is damaged.
    at_s : a time [s] that the recording must have, None: none.

    Raises
    ------
    ConfigError : not a recording, empty, without the coordinates of its scene, or without that time.
    """

    def __init__(
        self,
        file: Path,
        progress: Callable[[str], Any],
        trust: bool = False,
        quiet: bool = False,
        at_s: float | None = None,
    ) -> None:
        self.recording = read_recording(file)
        if self.recording.note and not quiet:
            print(f"note: {self.recording.note}", file=sys.stderr)
        if len(self.recording.data) == 0:
            raise ConfigError(file, "", "holds nothing that could be shown: it ended before its first row.")
        self.time = self.recording.column("time_s")
        if not (np.all(np.isfinite(self.time)) and np.all(np.diff(self.time) >= 0.0)):
            raise ConfigError(file, "time_s", "does not rise from row to row: record it again.")
        begin, end = float(self.time[0]), float(self.time[-1])
        if at_s is not None and not begin <= at_s <= end:
            raise ConfigError(
                "--at", "", f"{at_s:g} s is not in {file}, which lasts from {begin:g} to {end:g} s."
            )
        scene = scene_of(self.recording, trust)
        self._describer = Describer(assemble(scene, progress), "recording")
        known = {name: n for n, name in enumerate(self.recording.columns)}
        columns = self._describer.assembly.columns
        # by name: other versions have other columns, and off-line runs only some of them
        self._to = [i for i, name in enumerate(columns) if name in known]
        self._from = [known[columns[i]] for i in self._to]
        self._width = len(columns)
        self._certified = set(self._describer.assembly.certificate) <= set(known)
        missing = [f"q{i}" for i in range(scene.model.nq) if f"q{i}" not in self.recording.columns]
        if missing:
            raise ConfigError(
                file, "", f"has no column {missing[0]!r}: it was recorded by another version of its scene."
            )

    @property
    def scene(self) -> dict[str, Any]:
        """Payload of topic ``scene``."""
        return self._describer.scene(0.0, 0.1)

    def state(self, time_s: float) -> dict[str, Any]:
        """Payload of topic ``state`` for the last row at or before a time."""
        k = self._row_at(time_s)
        row = np.zeros(self._width)
        row[self._to] = self.recording.data[k, self._from]
        if row[PLACE["device_age_s"]] == np.inf:  # never heard
            row[PLACE["device_age_s"]] = NEVER_s
        if not np.all(np.abs(row) < MOST):
            raise self._foreign(k, f"a number is not below {MOST:g}")
        with_hand = "tick" in self.recording.columns
        try:
            state = self._describer.state(row, None, with_hand)
        except (ValueError, OverflowError) as error:  # a code or a number of ticks that is none
            raise self._foreign(k, error) from None
        if not self._certified:  # of an earlier version, or off-line: 0 would say that all laws were kept
            state["certificate"] = dict.fromkeys(state["certificate"])
        if not with_hand:
            state["coupler"] = {}  # nothing to draw between it and the body
        return state

    def picture(self, time_s: float) -> StateMessage:
        """The same as the window reads it."""
        from hapticsim.display.messages.scene import StateMessage, Unreadable

        try:
            return StateMessage.read(self.state(time_s))
        except Unreadable as error:
            raise self._foreign(self._row_at(time_s), error) from None

    def _row_at(self, time_s: float) -> int:
        return max(0, int(np.searchsorted(self.time, time_s, side="right")) - 1)

    def _foreign(self, k: int, error: Exception | str) -> ConfigError:
        why = f"row {k} holds what no run records ({error}): record it again."
        return ConfigError(self.recording.path, "", why)


def show(
    file: Path,
    speed: float,
    progress: Callable[[str], Any],
    frames: int | None = None,
    screenshot: Path | None = None,
    trust: bool = False,
) -> int | None:
    """Play a recording in the window, again and again, until it is closed or has drawn ``frames``.

    screenshot : as for ``hapticsim.display.window.main``.
    returns the exit status of the window, None when it was not the window that ended.
    """
    from hapticsim.wire.publisher import Publisher
    from hapticsim.wire.sockets.endpoints import default_endpoint

    arguments = ["-m", "hapticsim", "view"]
    arguments += [] if frames is None else ["--frames", str(frames)]
    arguments += [] if screenshot is None else ["--screenshot", str(screenshot)]
    if screenshot is not None:
        from hapticsim.display.screen import check_can_save

        check_can_save(screenshot)
    animation = Animation(file, progress, trust)
    begin, end = animation.time[0], animation.time[-1]
    with Publisher(default_endpoint("replay")) as publisher:
        window = Child("window", [*arguments, "--endpoint", publisher.endpoint], print, False)
        try:
            start = next_scene = time.monotonic()
            while window.look_after():
                now = time.monotonic()
                if now >= next_scene:
                    publisher.offer("scene", animation.scene)
                    next_scene = now + SCENE_EVERY_s
                at = begin + (now - start) * speed
                publisher.offer("state", animation.state(min(at, end)))
                if at > end + PAUSE_s * speed:
                    start = time.monotonic()
                time.sleep(1.0 / WINDOW_Hz)
            return window.status
        except KeyboardInterrupt:
            return None
        finally:
            window.end()
