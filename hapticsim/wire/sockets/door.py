"""The door of a path: a thread that lets peers of this user in and shakes hands, and keeps no other busy.

Whoever does not come to an end with the handshake, or is one too many, is sent away and counted.
"""

from __future__ import annotations

import os
import selectors
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable

from hapticsim.wire.sockets.peer import Peer
from hapticsim.wire.sockets.zmtp import GREETING, Incoming, Violation, ready

MOST_AT_THE_DOOR = 16
BACKLOG = 128  # connections that the system keeps for us: a path refuses at once where it has no room
HANDSHAKE_S = 1.0
ACCEPTED_AT_ONCE, REST_S = 4, 0.005  # peers who come and go all the time cost 800 handshakes a second at most


class Door:
    """Listens at a path.

    Parameters
    ----------
    path : where; it must have been claimed (`claim`).
    kind : our socket type in the handshake; ``accepts``: those of peers.
    longest : bytes of a frame from a peer.
    buffer_bytes : of the system, per direction and peer; 0: as it is.
    admit : called with each peer whose handshake is over, in the thread of the door.

    Public attributes: ``refused``, how often a peer was sent away, by reason.

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
        buffer_bytes: int,
        admit: Callable[[Peer], None],
    ) -> None:
        self.refused: Counter[str] = Counter()
        self._ready, self._accepts, self._longest = ready(kind), accepts, longest
        self._buffer_bytes, self._admit = buffer_bytes, admit
        self._count, self._closing = 0, False
        self._guests: dict[bytes, Peer] = {}
        self._path = path
        self._listening = _listen(path)
        self._inode = os.stat(path).st_ino
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="hapticsim-door", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let nobody in any more, and remove the socket."""
        self._closing = True
        self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join(2.0)
        self._listening.close()
        try:
            if os.stat(self._path).st_ino == self._inode:
                os.unlink(self._path)
        except OSError:  # somebody has removed it
            pass

    # ------------------------------------------------------------------------------------------------ inside

    def _serve(self) -> None:
        while not self._closing:
            for key, _ in self._selector.select(HANDSHAKE_S / 4.0 if self._guests else None):
                if self._closing:
                    break
                if key.fileobj is self._listening:
                    self._accept()
                elif key.data.name in self._guests:
                    self._shake_hands(key.data)
            late = time.monotonic() - HANDSHAKE_S
            for guest in list(self._guests.values()):
                if guest.came_s < late:
                    self._send_away(guest, f"its handshake took more than {HANDSHAKE_S:g} s")
            time.sleep(REST_S)
        for guest in list(self._guests.values()):
            self._send_away(guest)
        self._selector.close()

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                link, _ = self._listening.accept()
            except OSError:  # nobody any more, or no descriptors left
                return
            if not _is_mine(link):
                self.refused["it belongs to another user"] += 1
                link.close()
                continue
            if len(self._guests) >= MOST_AT_THE_DOOR:
                oldest = next(iter(self._guests.values()))
                self._send_away(oldest, f"{MOST_AT_THE_DOOR} handshakes were going on already")
            link.setblocking(False)
            if self._buffer_bytes:
                for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                    link.setsockopt(socket.SOL_SOCKET, option, self._buffer_bytes)
            self._count += 1
            name = b"\0" + (self._count % (1 << 32)).to_bytes(4, "big")
            guest = self._guests[name] = Peer(link, name, Incoming(self._longest, self._accepts))
            self._selector.register(link, selectors.EVENT_READ, guest)
            self._send(guest, GREETING)

    def _shake_hands(self, guest: Peer) -> None:
        try:
            is_over = guest.read() and guest.incoming.handshake()
            if guest.incoming.is_greeted and not is_over:
                is_over = guest.incoming.handshake()  # greeting and READY came together
        except Violation as violation:
            self._send_away(guest, str(violation))
            return
        except OSError:
            self._send_away(guest)
            return
        if is_over and self._send(guest, self._ready):
            del self._guests[guest.name]
            self._selector.unregister(guest.link)
            self._admit(guest)

    def _send(self, guest: Peer, data: bytes) -> bool:
        try:
            guest.put(data)
        except OSError:
            self._send_away(guest)
            return False
        return True

    def _send_away(self, guest: Peer, why: str = "") -> None:
        if self._guests.pop(guest.name, None) is None:
            return
        if why:
            self.refused[why] += 1
        self._selector.unregister(guest.link)
        guest.link.close()


def _listen(path: str) -> socket.socket:
    """Listen at a path, with a socket that only this user can connect to."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        if os.path.lexists(path):  # of a process that is gone: the path has been claimed
            os.unlink(path)
        listening.bind(path)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    return listening


def _is_mine(link: socket.socket) -> bool:
    """Whether the other end is of this user, or of root; True where the system does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid in (0, os.geteuid())
