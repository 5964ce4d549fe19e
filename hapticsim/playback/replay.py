"""Playing a recording again: through the same tick, compared to the bit, and if wanted in the window."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.describe.recorded_scene import OFFLINE, has_its_robot, scene_of
from hapticsim.describe.topics import Describer
from hapticsim.errors import ConfigError
from hapticsim.process.child import PYTHON
from hapticsim.recording.reader import read_recording
from hapticsim.simulate.simulation import Simulation
from hapticsim.simulate.virtual import replay

PUBLISH_EVERY_S = 0.005
LINE_EVERY_S = 0.25


def play(file: Path, window: bool, progress: Callable[[str], Any], trust: bool = False) -> float:
    """Replay a recording and print what was found; return the difference that ``virtual.replay`` does.

    trust : run a Python program in it (`recorded_scene`).

    Raises
    ------
    ConfigError : not a recording, made by another set of columns, or its first ticks are missing.
    """
    recording = read_recording(file)
    if recording.note:
        print(f"note: {recording.note}", file=sys.stderr)
    if recording.metadata.get("kind") == OFFLINE:
        raise ConfigError(
            file,
            "",
            "is of the mechanism alone (simulate --integrator), which has no ticks to replay: "
            f"see it with 'hapticsim view {file}', or simulate it again.",
        )
    scene = scene_of(recording, trust)
    if not has_its_robot(recording, scene):
        print("note: the robot file was edited since this was recorded: states may differ.", file=sys.stderr)
    simulation = Simulation(scene, progress)
    data = recording.data
    earlier = simulation.columns[: len(recording.columns)]  # later versions have more at the end
    if list(recording.columns) != earlier or "dependent" not in earlier:
        raise ConfigError(file, "", "was recorded by another version of this scene: its columns do not fit.")
    if len(data) == 0:
        print(f"{file}: no ticks.")
        return 0.0
    if data[0, 1] != 0 or np.any(np.diff(data[:, 1]) != 1):
        raise ConfigError(file, "", "has gaps: ticks are missing, so its inputs cannot be fed again.")
    show = _Show(simulation, window)
    try:
        worst = replay(recording, simulation, show.tell)
    finally:
        show.close()
    verdict = (
        "every state and force the same to the bit"
        if worst == 0.0
        else f"states or forces differ by up to {worst:.3g}"
    )
    print(f"{len(data)} ticks, {data[-1, 0]:.3f} s replayed: {verdict}")
    return worst


class _Show:
    """Progress on the terminal; with a window, pace and publishing too."""

    def __init__(self, simulation: Simulation, window: bool) -> None:
        self._publisher = self._window = None
        self._describer = Describer(simulation.assembly, "recording")
        self._next_line = self._next_publish = 0.0
        if window:
            from hapticsim.wire.publisher import Publisher
            from hapticsim.wire.sockets.endpoints import default_endpoint

            self._publisher = Publisher(default_endpoint("replay"))
            view = [*PYTHON, "-m", "hapticsim", "view", "--endpoint", self._publisher.endpoint]
            self._window = subprocess.Popen(view)
            time.sleep(1.0)
        self._start = time.monotonic()

    def tell(self, done: int, row: np.ndarray) -> None:
        t = float(row[0])
        if self._publisher and t >= self._next_publish:
            ahead = self._start + t - time.monotonic()
            if ahead > 0.0:
                time.sleep(ahead)
            if self._next_publish % 1.0 < PUBLISH_EVERY_S:
                self._publisher.offer("scene", self._describer.scene(0.0, 0.1))
            self._publisher.offer("state", self._describer.state(row, None, True))
            self._next_publish = t + PUBLISH_EVERY_S
        if sys.stderr.isatty() and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_EVERY_S
            sys.stderr.write(f"\r\033[K{t:.2f} s")
            sys.stderr.flush()

    def close(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
        if self._publisher:
            self._publisher.close()
        if self._window and self._window.poll() is None:
            self._window.terminate()
            self._window.wait()
