"""The remote site behind an emulated link: the real-time loop takes commands that are seconds old, by their
tick.

Command k of the operator is executed at the remote's tick k + D.  D is fixed when the first command arrives,
with a playout margin for jitter, so that exactly one command is executed per tick; a tick without its command
keeps the last one and is counted as starved.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.kernels.pack import place_of
from hapticsim.model.scene import Scene
from hapticsim.realtime.exchange import DEVICE, TURN
from hapticsim.server import Server
from hapticsim.teleop.link import DelayLine
from hapticsim.teleop.predictor import COMMAND, LINEAR
from hapticsim.wire.endpoints import default_endpoint
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.subscriber import Subscriber

MARGIN_S = 0.05  # playout margin beyond the link's own jitter
TELEMETRY_HZ = 100.0
MAX_ROWS_PER_BATCH = 4096


class Remote(Server):
    """Server whose commands come through a link instead of from a device.

    Parameters as ``Server``; ``telemetry_endpoint`` and ``commands_endpoint`` default to private ones.

    Raises
    ------
    ConfigError : the scene has no link.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        telemetry_endpoint: str | None = None,
        commands_endpoint: str | None = None,
        publish_endpoint: str | None = None,
        **options: Any,
    ) -> None:
        if scene.link is None:
            raise ConfigError(
                scene.path, "link", "is missing: a remote site needs link.delay_up_s and link.delay_down_s."
            )
        super().__init__(
            scene,
            role="remote",
            scheduled=True,
            publish_endpoint=publish_endpoint or default_endpoint("remote"),
            **options,
        )
        self._commands_endpoint = commands_endpoint or default_endpoint("commands")
        try:
            self._telemetry = Publisher(telemetry_endpoint or default_endpoint("telemetry"))
        except Exception:
            self.stop()
            raise
        link = scene.link
        self._up: DelayLine[np.ndarray] = DelayLine(link.delay_up_s, link.jitter_s, link.loss, link.seed)
        self._down: DelayLine[dict[str, Any]] = DelayLine(
            link.delay_down_s, link.jitter_s, link.loss, link.seed + 1
        )
        self._tick_place = place_of(self.loop.state, "tick")
        self._margin = math.ceil((MARGIN_S + link.jitter_s) * scene.rate_Hz)
        self._offset: int | None = None  # D
        self._newest = -1  # operator tick of the newest command scheduled

    def start(self) -> None:
        super().start()
        self.add_thread("link", self._serve_link)

    def stop(self) -> None:
        super().stop()
        if hasattr(self, "_telemetry"):
            self._telemetry.close()

    def _serve_link(self) -> None:
        """Link thread: commands in through one delay line, telemetry out through the other."""
        period = 1.0 / TELEMETRY_HZ
        next_telemetry = time.monotonic()
        with Subscriber(self._commands_endpoint, topics=("commands",)) as commands:
            while not self._stop.is_set():
                message = commands.receive(0.001)
                now = time.monotonic()
                if message is not None:
                    rows = _rows_of(message.payload)
                    if rows is not None:
                        self._up.put(now, rows)
                for rows in self._up.due(now):
                    self._schedule(rows)
                if now >= next_telemetry:
                    next_telemetry = max(next_telemetry + period, now)
                    self._down.put(now, self._telemetry_now())
                for payload in self._down.due(now):
                    self._telemetry.offer("telemetry", payload)

    def _schedule(self, rows: np.ndarray) -> None:
        """Put commands where the loop finds them at their tick."""
        present = int(self.loop.read_state()[self._tick_place])
        if self._offset is None or int(rows[-1, 0]) < self._newest - len(
            rows
        ):  # first contact, or a new operator
            self._offset = present + self._margin - int(rows[0, 0])
            self._newest = int(rows[0, 0]) - 1
        values = np.zeros(DEVICE)
        for row in rows:
            tick = int(row[0])
            if tick <= self._newest:
                continue
            values[:LINEAR] = row[1 : 1 + LINEAR]
            values[TURN:] = row[1 + LINEAR :]
            self.loop.schedule(tick + self._offset, values)
            self._newest = tick

    def _telemetry_now(self) -> dict[str, Any]:
        packed = self.loop.read_state()
        tick = int(packed[self._tick_place])
        return {
            "tick": tick,
            "operator_tick": tick - self._offset if self._offset is not None else -1,
            "state": packed.tobytes(),
        }

    def live_line(self) -> str:
        """The server's line, with what the link lost."""
        starved = self.loop.statistics()["starved"]
        return f"{super().live_line()}  |  remote site, {starved} ticks without command"


def _rows_of(payload: dict[str, Any]) -> np.ndarray | None:
    """Commands (n, 1 + COMMAND) in a payload, or None when it holds something else."""
    data, columns = payload.get("rows"), payload.get("columns")
    if not isinstance(data, bytes) or columns != 1 + COMMAND or len(data) % (8 * columns):
        return None
    rows = np.frombuffer(data, float).reshape(-1, columns)
    if not 0 < len(rows) <= MAX_ROWS_PER_BATCH or not np.all(np.isfinite(np.delete(rows, 7, axis=1))):
        return None
    return rows
