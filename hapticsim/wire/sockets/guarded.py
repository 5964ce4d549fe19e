"""ZeroMQ's own sockets on tcp, for peers with keys: bounded too, whatever one of them sends.

ZeroMQ keeps every subscription until its connection ends.  So a connection that brings more bytes than an
observer has to say is ended, and the key of a peer that subscribes to many topics that do not exist is
banned.  Bytes that do not become messages are watched (`byte_watch`).  Who is taken off the list of a road
(`allow_list`) is not heard any more, and gets nothing.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import zmq

from hapticsim.errors import WireError
from hapticsim.wire.sockets.allow_list import AllowList
from hapticsim.wire.sockets.byte_watch import ByteWatch

MESSAGE_BYTES = 160  # what a frame may take on the way beyond its body
TAKEN_AT_ONCE = 2000  # subscriptions, before a message is sent
MOST_WRONG = 64  # subscriptions with a key to topics that do not exist, in all; 256 of them cost up to 25 MiB
REVOKED_S = 0.5  # between two looks at the list

Bind = Callable[[str], tuple["zmq.Socket[bytes]", ByteWatch]]


class GuardedRouter:
    """A ROUTER that hears those who are on the list now.

    Parameters
    ----------
    bind : makes the socket, bound at an endpoint and with keys, and the watch over it.
    allowed : who may be heard.
    """

    def __init__(self, bind: Bind, endpoint: str, allowed: AllowList) -> None:
        self.closed = False
        self._allowed = allowed
        self._socket, self._watch = bind(endpoint)
        self._watch.each_look = allowed.keys  # in its thread: to read a hundred keys takes 10 ms
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self.refused: Counter[str] = self._watch.refused

    def poll(self, timeout_ms: int = 0, flags: int = zmq.POLLIN) -> int:
        """Wait for something to take."""
        return self._socket.poll(timeout_ms, flags)

    def recv_multipart(self, flags: int = zmq.DONTWAIT) -> list[bytes]:
        """Return the name of a peer and its message.

        Raises
        ------
        zmq.Again : there is none, or it is of one who was taken off the list and is disconnected now.
        """
        frames = self._socket.recv_multipart(flags, copy=False)
        last = frames[-1]
        descriptor = int(last.get(zmq.SRCFD))
        self._watch.finished(descriptor, sum(len(f) + MESSAGE_BYTES for f in frames[1:]))
        if not self._allowed.was_admitted(str(last.get("User-Id")).encode()):
            self._watch.disconnect(descriptor)
            self.refused["its key was taken off the list"] += 1
            raise zmq.Again
        return [frame.bytes for frame in frames]

    def send_multipart(self, parts: list[bytes], flags: int = zmq.DONTWAIT) -> None:
        """Send the parts after the first one to the peer which that names.

        Raises
        ------
        zmq.ZMQError : it is gone (EHOSTUNREACH), or does not read (EAGAIN).
        """
        self._socket.send_multipart(parts, flags)

    def close(self, linger: int = 0) -> None:
        """Close the socket; what waits gets ``linger`` [ms] to leave."""
        if not self.closed:
            self.closed = True
            self._watch.stop()
            self._socket.close(linger=linger)


class GuardedPublisher:
    """An XPUB that lets in subscriptions to known topics, and nothing else.

    Parameters
    ----------
    bind : makes the socket, bound at an endpoint and with keys, and the watch over it; called again when
        somebody is taken off the list, because that is how ZeroMQ disconnects one.
    allowed : who may subscribe.
    prefixes : what may be subscribed to.
    """

    def __init__(self, bind: Bind, endpoint: str, allowed: AllowList, prefixes: frozenset[bytes]) -> None:
        self.closed = False
        self._bind, self._allowed, self._prefixes = bind, allowed, prefixes
        self._keys, self._looked_s = allowed.keys(), time.monotonic()
        self._socket, self._watch = bind(endpoint)
        self._wrong: Counter[bytes] = Counter()  # subscriptions, by key
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self.refused: Counter[str] = self._watch.refused

    def send(self, data: bytes, flags: int = zmq.DONTWAIT) -> None:
        """Send to all who want it and keep up.

        Raises
        ------
        zmq.Again : nobody can take it.
        """
        if not self._socket.closed:
            self._take_subscriptions()
        if time.monotonic() - self._looked_s > REVOKED_S:
            self._look_at_list()
        if self._socket.closed:
            raise zmq.Again
        self._socket.send(data, flags)

    def _take_subscriptions(self) -> None:
        for _ in range(TAKEN_AT_ONCE):
            try:
                frame = self._socket.recv(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            asked = frame.bytes
            if asked[1:] not in self._prefixes:
                self._count_wrong(frame)
            elif asked[:1] == b"\1":
                self._socket.setsockopt(zmq.SUBSCRIBE, asked[1:])
            elif asked[:1] == b"\0":
                self._socket.setsockopt(zmq.UNSUBSCRIBE, asked[1:])
            if self._looked_s < 0.0:  # somebody was banned: what it still asks for goes with the socket
                break

    def _count_wrong(self, frame: zmq.Frame) -> None:
        """Ban who makes ZeroMQ keep what nobody needs; the socket is opened anew, without what it kept."""
        self.refused["it subscribed to a topic that does not exist"] += 1
        try:
            key = str(frame.get("User-Id")).encode()
        except zmq.ZMQError:  # ZeroMQ's own word, for a connection that ended
            return
        self._wrong[key] += 1
        if self._wrong[key] == MOST_WRONG:
            self.refused[f"it subscribed to {MOST_WRONG} topics that do not exist: its key is banned"] += 1
            self._allowed.ban(key)
            self._looked_s = -math.inf  # look at the list now

    def close(self, linger: int = 0) -> None:
        """Close the socket; what waits gets ``linger`` [ms] to leave."""
        if not self.closed:
            self.closed = True
            self._release(linger)

    def _release(self, linger: int) -> None:
        if not self._socket.closed:
            self._watch.stop()
            self._socket.close(linger=linger)

    def _look_at_list(self) -> None:
        """Disconnect all when a key was taken off: those who may will come back by themselves."""
        self._looked_s = time.monotonic()
        before, self._keys = self._keys, self._allowed.keys()
        if before - self._keys:
            self._release(0)
        if self._socket.closed:
            with suppress(WireError):  # ZeroMQ has not let go of the port yet: at the next look
                self._socket, self._watch = self._bind(self.endpoint)
                self._watch.refused = self.refused
