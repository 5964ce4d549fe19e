"""A PUB at a path: bounded in memory and in work whatever its subscribers send.

A thread of its own lets subscribers in, takes what they subscribe to, and sends on what they did not take at
once.  It rests between two looks, so that a flood of subscriptions costs the others no more than that.
"""

from __future__ import annotations

import threading
import time

import zmq

from hapticsim.wire.sockets.local_peers import LocalPeers, Peer
from hapticsim.wire.sockets.zmtp import encode_frame

MOST_PREFIXES = 16  # that one subscriber may name
LONGEST_PREFIX = 64  # bytes
MOST_CHANGES = 1000  # of its subscriptions, in the life of a connection
WAITING_BYTES = 256 * 1024  # for one subscriber; a longer message waits alone
STALLED_S = (
    10.0  # a subscriber that took nothing for so long is disconnected, and finds us again when it wakes
)
REST_S = 0.002
LOOK_S = 0.05
TAKEN_AT_ONCE = 100  # of one subscriber, between two rests


class LocalPublisher:
    """Sends messages of one frame to those whose prefix they begin with.  Used from one thread.

    Parameters
    ----------
    path : claimed (`claim`).
    queue : messages that wait for a subscriber which does not read.
    """

    def __init__(self, path: str, queue: int) -> None:
        self.closed = False
        accepts = frozenset({"SUB", "XSUB"})
        self._peers = LocalPeers(path, "PUB", accepts, 1 + LONGEST_PREFIX, evicts=False)
        self.refused = self._peers.refused
        self._queue = queue
        self._prefixes: dict[bytes, list[bytes]] = {}  # by the name of a peer
        self._changes: dict[bytes, int] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="hapticsim-subscribers", daemon=True)
        self._thread.start()

    def send(self, data: bytes, flags: int = zmq.DONTWAIT) -> None:
        """Send to all who want it and keep up; never waits."""
        frame = encode_frame(data)
        with self._lock:
            for name, prefixes in list(self._prefixes.items()):
                peer = self._peers.peers.get(name)
                if peer is None:
                    self._forget(name)
                elif data.startswith(tuple(prefixes)) and self._keeps_up(peer, len(frame)):
                    self._peers.put(peer, frame)

    def close(self, linger: int = 0) -> None:
        """Disconnect all; what waits gets ``linger`` [ms] to leave."""
        if self.closed:
            return
        self.closed = True
        self._thread.join(1.0)
        with self._lock:
            self._peers.close(linger / 1000.0)

    # ------------------------------------------------------------------------------------------------ inside

    def _keeps_up(self, peer: Peer, size: int) -> bool:
        waits = len(peer.waiting)
        return not waits or (waits < self._queue and peer.waiting_bytes + size <= WAITING_BYTES)

    def _serve(self) -> None:
        while not self.closed:
            self._peers.selector.select(LOOK_S)  # waits without the lock
            with self._lock:
                if self.closed:
                    return
                for peer in self._peers.wait(0.0):
                    for _ in range(TAKEN_AT_ONCE):
                        if not self._take(peer):
                            break
                self._drop_stalled()
            time.sleep(REST_S)

    def _take(self, peer: Peer) -> bool:
        """Apply a subscription; False if there is none."""
        taken = self._peers.take(peer)
        if taken is None:
            if peer.name not in self._peers.peers:
                self._forget(peer.name)
            return peer.has_more
        prefixes = self._prefixes.setdefault(peer.name, [])
        changes = self._changes[peer.name] = self._changes.get(peer.name, 0) + 1
        body = taken.body or b""
        if body[:1] == b"\1" and body[1:] not in prefixes:
            prefixes.append(body[1:])
        elif body[:1] == b"\0" and body[1:] in prefixes:
            prefixes.remove(body[1:])
        if len(prefixes) > MOST_PREFIXES or changes > MOST_CHANGES:
            too_many = f"it subscribed to more than {MOST_PREFIXES} prefixes, or {MOST_CHANGES} times"
            self._peers.drop(peer, too_many)
            self._forget(peer.name)
            return False
        return True

    def _drop_stalled(self) -> None:
        now = time.monotonic()
        for peer in list(self._peers.peers.values()):
            if peer.waiting and now - peer.moved_s > STALLED_S:
                self._peers.drop(peer, f"it took nothing for {STALLED_S:g} s")
                self._forget(peer.name)

    def _forget(self, name: bytes) -> None:
        self._prefixes.pop(name, None)
        self._changes.pop(name, None)
