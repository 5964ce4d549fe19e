"""The peers at a path whose handshake is over: who has something to say, who is too slow, who has to go."""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter
from contextlib import suppress

from hapticsim.wire.sockets.door import Door
from hapticsim.wire.sockets.peer import Peer
from hapticsim.wire.sockets.zmtp import Taken, Violation

MOST_PEERS = 32  # of a road at a time
STEPS_AT_ONCE = 8  # of one peer, that lead to no message: a look at the socket, an answer to a ping


class LocalPeers:
    """The peers at one path; used from one thread, or under a lock.

    Parameters as of `Door`, and

    evicts : where there are `MOST_PEERS`, the one that was silent for longest makes room for a new one;
        otherwise the new one is refused.

    Public attributes: ``peers`` by name, ``refused`` (how often one was disconnected or not let in, by
    reason), ``selector``.

    Raises
    ------
    OSError : the path cannot be bound.
    """

    def __init__(
        self,
        path: str,
        kind: str,
        accepts: frozenset[str],
        longest: int,
        *,
        buffer_bytes: int = 0,
        evicts: bool = True,
    ) -> None:
        self.peers: dict[bytes, Peer] = {}
        self.selector = selectors.DefaultSelector()
        self._longest, self._evicts = longest, evicts
        self._door = Door(path, kind, accepts, longest, buffer_bytes, self._admit)
        self.refused: Counter[str] = self._door.refused

    def wait(self, timeout_s: float) -> list[Peer]:
        """Wait for news; send what waits, and return the peers who sent something."""
        talking: list[Peer] = []
        for key, mask in self.selector.select(timeout_s):
            peer: Peer = key.data
            is_new, peer.is_new = peer.is_new, False
            if mask & selectors.EVENT_WRITE:
                self.flush(peer)
            if (mask & selectors.EVENT_READ or is_new) and peer.name in self.peers:
                talking.append(peer)
        return talking

    def take(self, peer: Peer) -> Taken | None:
        """Return the next message of a peer; None if none is complete, or the peer was disconnected.

        ``peer.has_more`` says whether it is worth asking again before more comes.
        """
        peer.has_more = False
        try:
            for _ in range(STEPS_AT_ONCE):
                taken = peer.incoming.next()
                if taken is not None and not taken.reply:
                    return taken
                if taken is not None:
                    peer.put(taken.reply)
                    self._watch(peer)
                    if peer.waiting_bytes > 2 * self._longest + 1024:
                        raise Violation("it does not read the answers to its pings")
                elif not peer.read():
                    return None
            peer.has_more = True
        except Violation as violation:
            self.drop(peer, str(violation))
        except OSError:
            self.drop(peer)
        return None

    def put(self, peer: Peer, data: bytes) -> bool:
        """Hand over a frame to a peer; False if it is gone."""
        try:
            peer.put(data)
        except OSError:
            self.drop(peer)
            return False
        self._watch(peer)
        return True

    def flush(self, peer: Peer) -> None:
        """Send what waits for a peer."""
        try:
            peer.flush()
        except OSError:
            self.drop(peer)
            return
        self._watch(peer)

    def drop(self, peer: Peer, why: str = "") -> None:
        """Disconnect a peer; ``why`` is counted."""
        if self.peers.pop(peer.name, None) is None:
            return
        if why:
            self.refused[why] += 1
        self.selector.unregister(peer.link)
        peer.link.close()

    def close(self, linger_s: float = 0.0) -> None:
        """Disconnect all, giving what waits some time to leave, and remove the socket."""
        self._door.close()
        give_up = time.monotonic() + linger_s
        for peer in list(self.peers.values()):
            while peer.waiting and peer.name in self.peers and time.monotonic() < give_up:
                self.flush(peer)
                if peer.waiting:
                    time.sleep(0.001)
            self.drop(peer)
        self.selector.close()

    # ------------------------------------------------------------------------------------------------ inside

    def _admit(self, peer: Peer) -> None:
        """In the thread of the door: one more peer."""
        there = list(self.peers.values())
        if len(there) >= MOST_PEERS:
            self.refused[f"there were {MOST_PEERS} peers already"] += 1
            if not self._evicts:
                peer.link.close()
                return
            silent = min(there, key=lambda p: p.heard_s)
            with suppress(OSError):  # it went by itself meanwhile
                silent.link.shutdown(socket.SHUT_RDWR)  # its own thread sees that it is gone
        self.peers[peer.name] = peer
        # it can be written, so that its own thread looks at what came with the handshake
        self.selector.register(peer.link, selectors.EVENT_READ | selectors.EVENT_WRITE, peer)

    def _watch(self, peer: Peer) -> None:
        """Be told when a peer that did not take everything can take more."""
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.waiting else 0)
        if peer.name in self.peers and self.selector.get_key(peer.link).events != wanted:
            self.selector.modify(peer.link, wanted, peer)
