"""The operator's side of a delayed link: feels the predicted mechanism now, corrected by every telemetry.

A ``Server`` of its own runs the predicted mechanism with the device at no delay.  Every command it takes is
sent to the remote site, which takes the same command at the same tick.  What is sent, heard and corrected is
``teleop/operator_site.py``; here are its threads and sockets.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.model.scene import Scene
from hapticsim.server.site_server import SiteServer
from hapticsim.teleop.easing import PoseEasing
from hapticsim.teleop.operator_site import OperatorSite
from hapticsim.wire.sockets.endpoints import default_endpoint
from hapticsim.wire.subscriber import Subscriber

KNOCK_S = 0.02  # between two requests for the remote site's state, before the loop runs


class Operator(SiteServer):
    """Server of the predicted mechanism, with the link to the remote.

    Parameters as ``Server``; ``telemetry_endpoint`` (where the remote site publishes) and
    ``commands_endpoint`` (bound here) default to private ones.  With ``keys``, the remote site's own.key
    stands in peers/link and in peers/server.

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
        keys: Path | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            scene, role="operator", topic="commands", endpoint=commands_endpoint, keys=keys, **options
        )
        self._telemetry_endpoint = telemetry_endpoint or default_endpoint("telemetry")
        self.site = OperatorSite(
            self.assembly, self.link, self.loop, self._disarm, self._ease, self.say, options.get("progress")
        )
        self._easing = PoseEasing(len(self.assembly.equations.model.bodies))
        self.outlet.dress = self._dress
        self.outlet.on_rows = self._send
        self._starting, self._begun = threading.Lock(), False
        self._asked_at_s = time.monotonic()

    @property
    def commands_endpoint(self) -> str:
        """Where the remote site fetches commands."""
        return self.link_endpoint

    # -- life ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Ask for the remote site's state; with it the loop starts, and serves the device."""
        self._asked_at_s = time.monotonic()
        self.add_thread("telemetry", self._listen)

    @property
    def is_ready(self) -> bool:
        """Whether the remote site was heard and the loop was started."""
        return self._begun

    def stop(self) -> None:
        self._stop.set()
        if hasattr(self, "_starting"):
            with self._starting:  # a start that is under way is waited for
                pass
        super().stop()
        if not (self.outlives("outlet") or self.outlives("telemetry")):
            self.close_link()

    def _disarm(self) -> None:
        if self.session:
            self.session.disarm()

    def _ease(self, before: np.ndarray, after: np.ndarray) -> None:
        """Telemetry thread: the mechanism was corrected; its picture goes over to where it is."""
        self._easing.correct(self.words.bodies(before), self.words.bodies(after), time.monotonic())

    def _dress(self, payload: dict[str, Any]) -> None:
        """Either thread: poses as they are to be shown."""
        payload["bodies"] = self._easing.shown(payload["bodies"], time.monotonic())

    # -- threads ---------------------------------------------------------------------------------------------

    def _send(self, rows: np.ndarray) -> None:
        """Outlet thread: send what was commanded."""
        self.send(self.site.send(rows, time.monotonic()))

    def _listen(self) -> None:
        """Telemetry thread: begin with the remote site's state; then predict, measure, correct, publish."""
        topics = ("telemetry",)
        with Subscriber(self._telemetry_endpoint, topics=topics, curve=self.curve) as telemetry:
            while not self._stop.is_set() and not self.site.ready:
                self.send(self.site.knock())
                self._hear(telemetry, KNOCK_S)
            with self._starting:
                if not self._stop.is_set():
                    super().start()
                    self._begun = True
            while not self._stop.is_set():
                self._hear(telemetry, 0.05)

    def _hear(self, telemetry: Subscriber, wait_s: float) -> None:
        message = telemetry.receive(wait_s)
        while (newer := telemetry.receive()) is not None:
            message = newer
        if message is None:
            return
        prediction = self.site.hear(message.payload, time.monotonic())
        if prediction is not None:
            site = self.site
            payload = self.words.predicted(prediction, site.confirmed, site.age_s, site.error_m, site.error_q)
            self._dress(payload)
            self.outlet.extra = ("predicted", payload)

    def statistics(self) -> dict[str, Any]:
        """The server's, with what is known of the link."""
        return super().statistics() | {"link": self.site.statistics(time.monotonic())}

    # -- words -----------------------------------------------------------------------------------------------

    def live_line(self) -> str:
        """The server's line, with what the prediction is worth."""
        site = self.site
        if not self.is_ready:
            waited_s = time.monotonic() - self._asked_at_s
            return site.refused or f"waiting for the remote site, {waited_s:.0f} s ..."
        return (
            f"{super().live_line()}  |  remote site {site.link_age_s(time.monotonic()):.2f} s old of "
            f"{site.hearing.allowed_s:.2f} s, error {site.error_m * 1e3:.4f} mm"
        )

    def report(self) -> str:
        """The server's report, with what the prediction was worth."""
        site = self.site
        return (
            f"{super().report()}\nprediction {site.age_s:.3f} s ahead of telemetry; error at the handle last "
            f"{site.error_m:.3g} m, worst {site.worst_m:.3g} m; {site.corrections} corrections, largest step "
            f"{site.worst_step_m:.3g} m; last re-run {site.replay_s * 1e3:.1f} ms; link begun anew "
            f"{site.losses} times"
        )
