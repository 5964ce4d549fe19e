"""Publishing to observers: never waits, drops instead."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import zmq

from hapticsim.errors import WireError
from hapticsim.wire.messages.topics import Published, frame
from hapticsim.wire.sockets.ports import PUBLISHED_BYTES, bind_publisher

if TYPE_CHECKING:
    from hapticsim.wire.sockets.curve_security import Curve


class Publisher:
    """Binds a PUB endpoint and offers messages on topics.

    A subscriber that stops reading loses messages once its queue is full, and sees the gap in the numbers;
    the publisher and the other subscribers do not notice.

    Parameters
    ----------
    endpoint : where to bind, e.g. ``default_endpoint("publish")``.
    road, context, curve : see `ports`.

    Public attributes: ``endpoint`` (the one really bound), ``sent`` and ``dropped`` (messages, by topic;
    dropped are those too long for a subscriber, or that the socket would not take at once).

    Raises
    ------
    WireError : the endpoint cannot be bound.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        road: str = "observe",
        context: zmq.Context | None = None,
        curve: Curve | None = None,
    ) -> None:
        self._bound = bind_publisher(endpoint, road=road, context=context, curve=curve)
        self.endpoint = self._bound.endpoint
        self.sent: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()

    def offer(self, topic: str, payload: dict[str, Any]) -> bool:
        """Publish a map of plain values (dict with text keys, list, str, int, float, bool, None).

        Returns False if it was dropped.

        Raises
        ------
        WireError : the payload holds another type, such as an array: a defect of the caller.
        """
        self._numbers[topic] += 1
        try:
            data = frame(Published(topic, self._numbers[topic], time.monotonic_ns(), payload))
        except (TypeError, ValueError, OverflowError) as error:
            raise WireError(f"topic {topic!r} cannot carry this ({error}): use plain values.") from error
        if len(data) <= PUBLISHED_BYTES:
            try:
                self._bound.socket.send(data, zmq.DONTWAIT)
            except zmq.Again:
                pass
            else:
                self.sent[topic] += 1
                return True
        self.dropped[topic] += 1
        return False

    @property
    def refused(self) -> Counter[str]:
        """How often a peer was disconnected or not let in, by reason."""
        return self._bound.refused

    def close(self) -> None:
        """Release the endpoint; messages under way get 50 ms to leave."""
        self._bound.close(linger_ms=50)

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
