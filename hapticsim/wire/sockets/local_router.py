"""A ROUTER at a path, with the calls of a socket: bounded in memory and in work whatever its peers send."""

from __future__ import annotations

import errno

import zmq

from hapticsim.wire.sockets.local_peers import LocalPeers, Peer
from hapticsim.wire.sockets.zmtp import encode_frame

LOOK_EVERY = 8  # messages: a peer that never stops sending keeps nobody from being heard
_SEVERAL = (b"", b"")  # stands for the frames of a message of several, which were dropped as they came


class LocalRouter:
    """Takes messages of one frame from peers in turns, and sends some to one of them.

    Parameters
    ----------
    path : claimed (`claim`).
    longest : bytes of a message from a peer; whoever sends a longer one is disconnected.
    queue : messages that wait for a peer which does not read.
    buffer_bytes : of the system, per direction and peer.
    """

    def __init__(self, path: str, longest: int, queue: int, buffer_bytes: int) -> None:
        self.closed = False
        self._peers = LocalPeers(path, "ROUTER", frozenset({"DEALER"}), longest, buffer_bytes=buffer_bytes)
        self.refused = self._peers.refused
        self._turns: dict[bytes, Peer] = {}  # who may have sent something, in the order of their turns
        self._queue, self._taken = queue, 0

    def poll(self, timeout_ms: int = 0, flags: int = zmq.POLLIN) -> int:
        """Wait for something to take; what came may turn out to be no message."""
        self._look(0.0 if self._turns else timeout_ms / 1000.0)
        return zmq.POLLIN if self._turns else 0

    def recv_multipart(self, flags: int = zmq.DONTWAIT) -> list[bytes]:
        """Return the name of a peer and its message, or the name and two frames for one of several.

        Raises
        ------
        zmq.Again : there is none.
        """
        self._taken += 1
        if not self._turns or self._taken % LOOK_EVERY == 0:
            self._look(0.0)
        for name in list(self._turns):
            peer = self._turns.pop(name)
            taken = self._peers.take(peer)
            if taken is not None or peer.has_more:
                self._turns[name] = peer  # behind the others
            if taken is not None:
                return [name, *_SEVERAL] if taken.body is None else [name, taken.body]
        raise zmq.Again

    def send_multipart(self, parts: list[bytes], flags: int = zmq.DONTWAIT) -> None:
        """Send the parts after the first one to the peer which that names.

        Raises
        ------
        zmq.ZMQError : it is gone (EHOSTUNREACH), or does not read (EAGAIN).
        """
        name, *bodies = parts
        peer = self._peers.peers.get(name)
        if peer is not None and len(peer.waiting) >= self._queue:
            raise zmq.Again
        frames = b"".join(encode_frame(body, n + 1 < len(bodies)) for n, body in enumerate(bodies))
        if peer is None or not self._peers.put(peer, frames):
            raise zmq.ZMQError(errno.EHOSTUNREACH)

    def _look(self, timeout_s: float) -> None:
        for peer in self._peers.wait(timeout_s):
            self._turns.setdefault(peer.name, peer)

    def close(self, linger: int = 0) -> None:
        """Disconnect all; what waits gets ``linger`` [ms] to leave."""
        if not self.closed:
            self.closed = True
            self._peers.close(linger / 1000.0)
