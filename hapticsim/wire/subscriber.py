"""Observing a server from any process::

with Subscriber(topics=("state",)) as server:
    state = server.latest("state", timeout_s=2.0)
    print(state["q"], server.age_s("state"))
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

import zmq

from hapticsim.arguments import names, number, shown, unusable
from hapticsim.errors import WireError
from hapticsim.wire.messages.topics import Published, unframe
from hapticsim.wire.sockets.endpoints import (
    LONGEST_WAIT_S,
    check_connection,
    default_endpoint,
    is_same_machine,
)
from hapticsim.wire.sockets.ports import connect_subscriber

if TYPE_CHECKING:
    from hapticsim.wire.sockets.curve_security import Curve

_KEPT = 1024  # messages kept for `receive`; the oldest go first
_PER_CALL = 4096  # frames taken per call, so that a fast publisher cannot hold the caller


def _any(topics: object) -> bool:
    return not isinstance(topics, Sized) or len(topics) > 0


class Subscriber:
    """Receives what a publisher offers on some topics.  Use it from one thread.

    Parameters
    ----------
    endpoint : what the publisher bound (``ipc://...`` or ``tcp://...``); the default ``publish`` endpoint if
        None.
    topics : names of `topics.TOPICS` ("state", "scene", ...), or of others the publisher offers.
    context : ZeroMQ context to use, the process-wide one if None.
    curve : a ``hapticsim.wire.sockets.curve_security.Curve``, which a tcp endpoint needs.

    Public attributes: ``received`` and ``missing`` (messages by topic; missing are gaps in the numbers:
    dropped for slowness, or published while the connection was down) and ``malformed`` (frames that were no
    message).

    Raises
    ------
    WireError : the endpoint cannot be used.
    ConfigError : an argument of the wrong kind.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        topics: Sequence[str] = ("state",),
        *,
        context: zmq.Context | None = None,
        curve: Curve | None = None,
    ) -> None:
        self.endpoint = default_endpoint("publish") if endpoint is None else endpoint
        check_connection("Subscriber", self.endpoint, context, curve)
        if isinstance(topics, str) or not _any(topics):
            raise WireError(
                f"topics = {shown(topics)} is not usable: give a list of names, such as ('state',)."
            )
        self.topics = names("Subscriber", "topics", topics, "names of topics")
        for i, topic in enumerate(self.topics):
            if not (topic.isascii() and topic.isprintable() and topic):
                raise unusable("Subscriber", f"topics[{i}]", topic, "a name of printable ASCII characters")
        self.received: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        self.malformed = 0
        prefixes = tuple(topic.encode("ascii") + b"\0" for topic in self.topics)
        self._socket = connect_subscriber(self.endpoint, prefixes, context=context, curve=curve)
        self._newest: dict[str, Published] = {}
        self._waiting: deque[Published] = deque(maxlen=_KEPT)
        # two machines do not share a clock: the fastest message so far defines what counts as age zero there
        self._same_clock = is_same_machine(self.endpoint)
        self._offset_ns: float = 0 if self._same_clock else math.inf

    def receive(self, timeout_s: float = 0.0) -> Published | None:
        """Return the next message in order, waiting up to ``timeout_s`` [s] for it; None if there is none.

        A message has ``topic``, ``payload``, ``number`` and ``stamp_ns`` (`topics.Published`).

        Raises
        ------
        ConfigError : ``timeout_s`` is no number of 0 or more.
        WireError : the subscriber is closed.
        """
        number("receive", "timeout_s", timeout_s, 0.0, LONGEST_WAIT_S)
        self._drain()
        if not self._waiting and timeout_s > 0.0 and self._socket.poll(max(1, math.ceil(1000.0 * timeout_s))):
            self._drain()
        return self._waiting.popleft() if self._waiting else None

    def latest(self, topic: str, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Return the newest payload of a topic, however old (`age_s`); older waiting ones of it are dropped.

        Without ``timeout_s`` it does not wait, and returns None if none ever came.  With it, it waits that
        long for the first one.

        Raises
        ------
        WireError : the topic is not subscribed to, ``timeout_s`` passed without a message, or the subscriber
            is closed.
        ConfigError : ``timeout_s`` is no number of 0 or more.
        """
        self._check_topic(topic)
        if timeout_s is not None:
            number("latest", "timeout_s", timeout_s, 0.0, LONGEST_WAIT_S)
        self._drain()
        give_up = time.monotonic() + (timeout_s or 0.0)
        while topic not in self._newest and (left := give_up - time.monotonic()) > 0.0:
            self._socket.poll(max(1, math.ceil(1000.0 * left)))
            self._drain()
        if topic in self._newest:
            self._waiting = deque((m for m in self._waiting if m.topic != topic), maxlen=_KEPT)
            return self._newest[topic].payload
        if timeout_s is None:
            return None
        raise WireError(
            f"{self.endpoint}: no {topic!r} arrived in {timeout_s:g} s: start one with 'hapticsim run'."
        )

    def age_s(self, topic: str) -> float:
        """Return how long ago the newest message of a topic was published [s]; infinite if none ever came.

        From another machine the age is counted from the fastest message seen, and so too low by its travel
        time.

        Raises
        ------
        WireError : the topic is not subscribed to.
        """
        self._check_topic(topic)
        newest = self._newest.get(topic)
        if newest is None:
            return math.inf
        return max(0.0, (time.monotonic_ns() - newest.stamp_ns - self._offset_ns) * 1e-9)

    def close(self) -> None:
        """Close the socket; a second time does nothing."""
        self._socket.close()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _check_topic(self, topic: object) -> None:
        if not isinstance(topic, str) or topic not in self.topics:
            raise WireError(f"topic {shown(topic)} is not subscribed to: name it in topics={self.topics!r}.")

    def _drain(self) -> None:
        if self._socket.closed:
            raise WireError(f"{self.endpoint}: this Subscriber is closed: make another one.")
        for _ in range(_PER_CALL):
            try:
                data = self._socket.recv(zmq.DONTWAIT)
            except zmq.Again:
                return
            message = unframe(data)
            if message is None or message.topic not in self.topics:
                self.malformed += 1
                continue
            before = self._newest.get(message.topic)
            if before is not None and message.number > before.number:
                self.missing[message.topic] += message.number - before.number - 1
            self.received[message.topic] += 1
            self._newest[message.topic] = message  # a smaller number is a publisher that started again
            self._waiting.append(message)
            if not self._same_clock:
                self._offset_ns = min(self._offset_ns, time.monotonic_ns() - message.stamp_ns)
