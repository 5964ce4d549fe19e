"""The remote site behind an emulated link: the real-time loop takes commands that are seconds old, by their
tick.

Command k of the operator is executed at tick k, and tick k waits for command k.  What that means for delay,
jitter and loss is ``teleop/remote_site.py``; here are its threads and sockets.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.model.scene import Scene
from hapticsim.server.site_server import SiteServer
from hapticsim.teleop.remote_site import RemoteSite
from hapticsim.wire.sockets.endpoints import default_endpoint
from hapticsim.wire.subscriber import Subscriber

STEP_S = 0.001  # of the link thread
SHOW_S = 0.05  # between two pictures of a mechanism that stands still before its first command


class Remote(SiteServer):
    """Server whose commands come through a link instead of from a device.

    Parameters as ``Server``; ``telemetry_endpoint`` (bound here) and ``commands_endpoint`` (where the
    operator's side publishes) default to private ones.  With ``keys``, the operator's own.key stands in
    peers/link and in peers/server.

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
        keys: Path | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            scene,
            role="remote",
            topic="telemetry",
            endpoint=telemetry_endpoint,
            scheduled=True,
            publish_endpoint=publish_endpoint or default_endpoint("remote"),
            keys=keys,
            **options,
        )
        self._commands_endpoint = commands_endpoint or default_endpoint("commands")
        self.site = RemoteSite(self.assembly, self.link, self.loop, self.say)
        self._shown_at_s = 0.0

    @property
    def telemetry_endpoint(self) -> str:
        """Where the operator's side fetches telemetry."""
        return self.link_endpoint

    def start(self) -> None:
        super().start()
        self.add_thread("link", self._serve_link)

    def stop(self) -> None:
        super().stop()
        self.close_link()

    def _serve_link(self) -> None:
        """Link thread: commands in, telemetry out."""
        with Subscriber(self._commands_endpoint, topics=("commands",), curve=self.curve) as commands:
            while not self._stop.is_set():
                message = commands.receive(STEP_S)
                now_s = time.monotonic()
                while message is not None:
                    self.site.receive(message.payload, now_s)
                    message = commands.receive()
                for payload in self.site.step(now_s):
                    self.send(payload)
                self._show(now_s)

    def _show(self, now_s: float) -> None:
        """Observers see the mechanism where it starts, too: without a tick there is no row of it."""
        if self.loop.taken() or now_s - self._shown_at_s < SHOW_S:
            return
        self._shown_at_s = now_s
        n = self.assembly.equations
        row = np.zeros(len(self.loop.columns))
        row[WIDTH : WIDTH + n.nq + n.nu] = self.loop.read_state()[: n.nq + n.nu]
        row[PLACE["device_qw"]] = row[PLACE["turn_offset_qw"]] = 1.0
        self.outlet.extra = ("state", self.words.state(row))

    def live_line(self) -> str:
        """The server's line, with how the commands come."""
        playout, now_s = self.site.playout, time.monotonic()
        if not playout.session:
            return "remote site: no operator yet"
        silence_s = playout.silence_s(now_s)
        return (
            f"{super().live_line()}  |  remote site: {playout.missing_from - self.site.present} wait, "
            f"{self.loop.waited()} waited for"
            + (f", operator silent for {silence_s:.1f} s" if silence_s > 0.5 else "")
        )
