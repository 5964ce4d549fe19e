"""What the servers at the two ends of a link have in common: the scene's link, keys, a road of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hapticsim.describe.topics import Describer
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.model.settings import LinkSettings
from hapticsim.server.server import Server
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.sockets.curve_security import Curve
from hapticsim.wire.sockets.endpoints import default_endpoint


class SiteServer(Server):
    """Server at one end of a link, which publishes one topic to the other end.

    Parameters as ``Server``, and:

    role : "operator" or "remote".
    topic : what is published to the other end, "commands" or "telemetry".
    endpoint : where it is bound; None: a private one.

    Raises
    ------
    ConfigError : the scene has no link.
    """

    def __init__(
        self, scene: Scene, *, role: str, topic: str, endpoint: str | None, keys: Path | None, **options: Any
    ) -> None:
        if scene.link is None:
            site = "an operator side" if role == "operator" else "a remote site"
            problem = f"is missing: {site} needs link.delay_up_s and link.delay_down_s."
            raise ConfigError(scene.path, "link", problem)
        super().__init__(scene, role=role, keys=keys, **options)
        self.link: LinkSettings = scene.link
        self.curve = Curve(keys) if keys else None
        self.topic = topic
        try:
            self._to_other = Publisher(endpoint or default_endpoint(topic), road="link", curve=self.curve)
        except BaseException:
            self.stop()
            raise
        self.words = Describer(self.assembly, role)  # of the link's thread

    @property
    def link_endpoint(self) -> str:
        """Where the other end fetches what is published to it."""
        return self._to_other.endpoint

    def send(self, payload: dict[str, Any]) -> None:
        """Publish to the other end."""
        self._to_other.offer(self.topic, payload)

    def close_link(self) -> None:
        """Release the endpoint, if it was bound."""
        if hasattr(self, "_to_other"):
            self._to_other.close()
