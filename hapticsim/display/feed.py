"""The newest message of every topic, read as arrays, with its age."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import Any

from hapticsim.display.messages.scene import PredictedMessage, SceneMessage, StateMessage, Unreadable
from hapticsim.display.messages.stats import StatsMessage
from hapticsim.wire.sockets.curve_security import Curve
from hapticsim.wire.subscriber import Subscriber

TOPICS = ("scene", "state", "events", "stats", "predicted")
_MOST_PER_POLL = 500  # a burst must not hold up a frame
_EVENTS_KEPT = 6
_PREDICTION_OLD_S = 1.0
_OF_THE_DEVICE = ("mapping", "limits")  # keys of a scene that change when a device joins or is armed


class Feed:
    """Subscribes to a server, or to the operator's side of a link, and keeps what is newest.

    Raises WireError when an endpoint cannot be used.  Use it as a context manager.
    """

    def __init__(self, publish_endpoint: str, keys: Path | None = None) -> None:
        self.endpoint = publish_endpoint
        self._subscriber = Subscriber(publish_endpoint, topics=TOPICS, curve=Curve(keys) if keys else None)
        self.scene: SceneMessage | None = None
        self.stats: StatsMessage | None = None
        self.events: deque[str] = deque(maxlen=_EVENTS_KEPT)
        self.trouble = ""  # the last payload that could not be read, in words
        self.scene_changed = self.mapping_changed = False  # since the reader last set them back
        self._state: StateMessage | None = None
        self._predicted: PredictedMessage | None = None
        self._state_at_s = self._predicted_at_s = 0.0
        self._raw_scene: dict[str, Any] | None = None

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket."""
        self._subscriber.close()

    @property
    def state(self) -> StateMessage | None:
        """The newest state, however old."""
        return self._state

    @property
    def state_age_s(self) -> float | None:
        """[s] since the newest state arrived; None when none ever did."""
        return None if self._state is None else time.monotonic() - self._state_at_s

    @property
    def predicted(self) -> PredictedMessage | None:
        """The newest prediction, or None once predictions have stopped."""
        fresh = time.monotonic() - self._predicted_at_s < _PREDICTION_OLD_S
        return self._predicted if fresh else None

    def poll(self) -> None:
        """Take what has arrived, without waiting."""
        newest: dict[str, dict[str, Any]] = {}
        for _ in range(_MOST_PER_POLL):
            message = self._subscriber.receive()
            if message is None:
                break
            if message.topic == "events":
                self._take_event(message.payload)
            else:
                newest[message.topic] = message.payload  # what is older in the queue is not worth reading
        for topic, payload in newest.items():
            try:
                self._take(topic, payload)
            except Unreadable as problem:
                self.trouble = f"This window cannot read what the server sends: {problem}."

    def _take(self, topic: str, payload: dict[str, Any]) -> None:
        now_s = time.monotonic()
        if topic == "predicted":
            self._predicted, self._predicted_at_s = PredictedMessage.read(payload), now_s
        elif topic == "scene":
            if payload != self._raw_scene:  # it is repeated every second for those who come late
                self.scene, before, self._raw_scene = SceneMessage.read(payload), self._raw_scene, payload
                if before is None or _without_device(payload) != _without_device(before):
                    self.scene_changed = True
                else:
                    self.mapping_changed = True
        elif topic == "state":
            self._state, self._state_at_s = StateMessage.read(payload), now_s
        elif topic == "stats":
            self.stats = StatsMessage.read(payload)

    def _take_event(self, payload: dict[str, Any]) -> None:
        if payload.get("text"):
            self.events.append(str(payload["text"]))


def _without_device(scene: dict[str, Any]) -> dict[str, Any]:
    """What a scene says of itself: all but how the device is mapped and what it may do."""
    return {key: value for key, value in scene.items() if key not in _OF_THE_DEVICE}
