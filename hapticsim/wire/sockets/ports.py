"""Sockets with the options that a 1 kHz exchange needs.

Why these: LINGER 0, or leaving hangs on what nobody will read.  IMMEDIATE 1 on the side that connects, or
commands pile up while there is no server and are delivered, stale, when one appears.  High-water marks keep
the *oldest* messages, so they only bound memory; the newest is found by draining and comparing numbers.  No
CONFLATE: it would drop arm and disarm with the rest.  No ZMTP heartbeat: it is ten times slower than the 10
ms in which silence must become zero force, so silence is measured on the messages themselves.

Every function takes the ``context`` to use (the process-wide one if None) and ``curve``, the keys that a tcp
endpoint needs; who binds names the ``road`` whose list of peers holds (`curve_security.ROADS`).  A
socket belongs to one thread.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import zmq

from hapticsim.errors import WireError
from hapticsim.wire.messages.device import MAX_BYTES
from hapticsim.wire.messages.topics import LINK_TOPICS, TOPICS
from hapticsim.wire.sockets.byte_watch import OBSERVER_BYTES, OBSERVER_BYTES_PER_S, ByteWatch
from hapticsim.wire.sockets.claim import check_folder, claim_path
from hapticsim.wire.sockets.endpoints import check_endpoint, host_of, ipc_path
from hapticsim.wire.sockets.guarded import GuardedPublisher, GuardedRouter
from hapticsim.wire.sockets.local_publisher import LocalPublisher
from hapticsim.wire.sockets.local_router import LocalRouter

if TYPE_CHECKING:  # its authenticator costs the import of asyncio, which a device without keys need not pay
    from hapticsim.wire.sockets.curve_security import Curve

DEVICE_QUEUE = 8  # messages per peer and direction
CONTROL_QUEUE = 64  # requests are answered one by one: here the oldest count, too
PUBLISH_QUEUE = 256
PUBLISHED_BYTES = 1 << 20
_KERNEL_BUFFER_BYTES = 16384  # behind a stalled reader wait some 60 stale states instead of a thousand

OBSERVER_FRAME_BYTES = 640  # handshakes are the longest frames of an observer
OBSERVER_FRAMES = 8  # that wait
KNOWN_PREFIXES = frozenset({b"", *(topic.encode() + b"\0" for topic in (*TOPICS, *LINK_TOPICS))})

_bound_here: set[str] = set()  # endpoints of this process


Bound = TypeVar("Bound")


class BoundSocket(Generic[Bound]):
    """A bound socket, the endpoint it really has, and the claim on it.

    ``endpoint`` is what others connect to, with the port the system chose where ``tcp://...:*`` was asked
    for.  ``refused`` counts who was disconnected, by reason.
    """

    def __init__(self, socket: Any, endpoint: str, claim: int | None) -> None:
        self.socket: Bound = socket
        self.endpoint, self._claim = endpoint, claim
        self.refused: Counter[str] = socket.refused

    def close(self, linger_ms: int = 0) -> None:
        """Close the socket, giving waiting messages ``linger_ms`` to leave, and release the endpoint."""
        socket: Any = self.socket
        if socket.closed:
            return
        socket.close(linger=linger_ms)
        _bound_here.discard(self.endpoint)
        if self._claim is not None:
            os.close(self._claim)


def bind_router(
    endpoint: str,
    *,
    road: str = "device",
    context: zmq.Context | None = None,
    curve: Curve | None = None,
    queue: int = DEVICE_QUEUE,
) -> BoundSocket[LocalRouter | GuardedRouter]:
    """Bind the server's end of the device or control road.

    queue : messages kept per peer and direction.

    Raises
    ------
    WireError : the endpoint cannot be used, is taken, or would be open to others.
    """
    path = ipc_path(endpoint)
    if path is not None:
        return _bind_path(endpoint, path, lambda at: LocalRouter(at, MAX_BYTES, queue, _KERNEL_BUFFER_BYTES))
    keys = _keys_for(endpoint, curve)

    def bind(at: str) -> tuple[zmq.Socket[bytes], ByteWatch]:
        socket = _open(zmq.ROUTER, context, queue, MAX_BYTES)
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)  # sending to one that is gone fails instead of vanishing
        _small_kernel_buffers(socket)
        return _bind(socket, at, keys, road)

    return _bound(GuardedRouter(bind, endpoint, keys.allow_list(road)))


def connect_dealer(
    endpoint: str,
    *,
    context: zmq.Context | None = None,
    curve: Curve | None = None,
    queue: int = DEVICE_QUEUE,
    longest_bytes: int = MAX_BYTES,
) -> zmq.Socket[bytes]:
    """Connect the other end of such a road; returns at once, whether or not there is a server.

    queue : messages kept per direction.
    longest_bytes : of a message that is received.

    Raises
    ------
    WireError : the endpoint cannot be used, or is open to others.
    """
    socket = _open(zmq.DEALER, context, queue, longest_bytes)
    socket.setsockopt(zmq.IMMEDIATE, 1)
    _small_kernel_buffers(socket)
    return _connect(socket, endpoint, curve)


def bind_publisher(
    endpoint: str,
    *,
    road: str = "observe",
    context: zmq.Context | None = None,
    curve: Curve | None = None,
) -> BoundSocket[LocalPublisher | GuardedPublisher]:
    """Bind a PUB socket; it never blocks: a subscriber that does not keep up loses messages, no other does.

    Raises
    ------
    WireError : as `bind_router`.
    """
    path = ipc_path(endpoint)
    if path is not None:
        return _bind_path(endpoint, path, lambda at: LocalPublisher(at, PUBLISH_QUEUE))
    keys = _keys_for(endpoint, curve)

    def bind(at: str) -> tuple[zmq.Socket[bytes], ByteWatch]:
        socket = _open(zmq.XPUB, context, PUBLISH_QUEUE, OBSERVER_FRAME_BYTES)
        socket.setsockopt(zmq.RCVHWM, OBSERVER_FRAMES)
        socket.setsockopt(zmq.XPUB_MANUAL, 1)  # a subscription counts when we say so
        return _bind(socket, at, keys, road)

    return _bound(GuardedPublisher(bind, endpoint, keys.allow_list(road), KNOWN_PREFIXES))


def connect_subscriber(
    endpoint: str,
    prefixes: tuple[bytes, ...],
    *,
    context: zmq.Context | None = None,
    curve: Curve | None = None,
) -> zmq.Socket[bytes]:
    """Connect a SUB socket to a publisher; it gets the messages that begin with one of ``prefixes``.

    Raises
    ------
    WireError : as `connect_dealer`.
    """
    socket = _open(zmq.SUB, context, PUBLISH_QUEUE, PUBLISHED_BYTES)
    for prefix in prefixes:
        socket.setsockopt(zmq.SUBSCRIBE, prefix)
    return _connect(socket, endpoint, curve)


def _open(kind: int, context: zmq.Context | None, queue: int, longest_bytes: int) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = (context or zmq.Context.instance()).socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.SNDHWM, queue)
    socket.setsockopt(zmq.RCVHWM, queue)
    socket.setsockopt(zmq.MAXMSGSIZE, longest_bytes)  # received; a longer frame disconnects its sender
    socket.setsockopt(zmq.HANDSHAKE_IVL, 1000)
    socket.setsockopt(zmq.RECONNECT_IVL, 50)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 1000)
    return socket


def _small_kernel_buffers(socket: zmq.Socket[bytes]) -> None:
    socket.setsockopt(zmq.SNDBUF, _KERNEL_BUFFER_BYTES)
    socket.setsockopt(zmq.RCVBUF, _KERNEL_BUFFER_BYTES)


def _bind_path(endpoint: str, path: Path, listen: Callable[[str], Any]) -> BoundSocket[Any]:
    """Listen at a path: closed to other users by its folder and its mode, so that it needs no keys."""
    check_endpoint(endpoint)
    claim = claim_path(endpoint, path)
    try:
        socket = listen(str(path))
    except OSError as error:
        os.close(claim)
        raise WireError(
            f"{endpoint}: cannot be bound ({error.strerror}): choose another endpoint."
        ) from error
    _bound_here.add(endpoint)
    return BoundSocket(socket, endpoint, claim)


def _keys_for(endpoint: str, curve: Curve | None) -> Curve:
    """Refuse a tcp endpoint that cannot be used; return the keys that it needs."""
    check_endpoint(endpoint, has_keys=curve is not None)
    assert curve is not None  # what has none is refused
    return curve


def _bind(
    socket: zmq.Socket[bytes], endpoint: str, curve: Curve, road: str
) -> tuple[zmq.Socket[bytes], ByteWatch]:
    watch = None
    try:
        curve.guard(socket, road)
        socket.setsockopt(zmq.IPV6, ":" in host_of(endpoint))
        limits = (OBSERVER_BYTES, OBSERVER_BYTES_PER_S) if socket.type == zmq.XPUB else ()
        watch = ByteWatch(socket, Counter(), *limits)
        socket.bind(endpoint)
    except (WireError, zmq.ZMQError) as error:
        if watch is not None:
            watch.stop()
        socket.close()
        if isinstance(error, WireError):
            raise
        if error.errno == errno.EADDRINUSE and endpoint in _bound_here:
            why = "is wanted twice by this program: give each road an endpoint of its own."
        elif error.errno == errno.EADDRINUSE:
            why = "is in use by another process: end it, or choose another port."
        else:
            why = f"cannot be bound ({error.strerror}): choose another endpoint."
        raise WireError(f"{endpoint}: {why}") from error
    return socket, watch


def _bound(socket: Any) -> BoundSocket[Any]:
    _bound_here.add(socket.endpoint)
    return BoundSocket(socket, socket.endpoint, None)


def _connect(socket: zmq.Socket[bytes], endpoint: str, curve: Curve | None) -> zmq.Socket[bytes]:
    path = ipc_path(endpoint)
    try:
        check_endpoint(endpoint, has_keys=curve is not None)
        if path is not None and path.parent.is_dir():
            check_folder(endpoint, path.parent)
        if curve is not None and path is None:
            curve.introduce(socket)
        socket.setsockopt(zmq.IPV6, ":" in host_of(endpoint))
        socket.connect(endpoint)
    except (WireError, zmq.ZMQError) as error:
        socket.close()
        if isinstance(error, WireError):
            raise
        raise WireError(f"{endpoint}: cannot be used ({error.strerror}): check its host and port.") from error
    return socket
