"""One connection at a path: what came, and what is still to leave."""

from __future__ import annotations

import socket
import time
from collections import deque

from hapticsim.wire.sockets.zmtp import Incoming


class Peer:
    """A connection: what came, and what is still to leave, oldest first.

    Public attributes: ``name`` (5 bytes that no other peer of this road has), ``came_s``, ``heard_s``,
    ``moved_s`` (when it connected; when bytes came; when some left, or all had left), ``has_more`` (there may
    be another message), ``is_new`` (nobody has looked at it since the handshake).
    """

    def __init__(self, link: socket.socket, name: bytes, incoming: Incoming) -> None:
        self.link, self.name, self.incoming = link, name, incoming
        self.came_s = self.heard_s = self.moved_s = time.monotonic()
        self.waiting: deque[bytes] = deque()
        self.waiting_bytes = 0
        self.has_more, self.is_new = False, True
        self._sent = 0  # bytes of the oldest

    def read(self) -> bool:
        """Take bytes that wait; False if there are none.

        Raises
        ------
        OSError : the peer is gone.
        """
        try:
            data = self.link.recv(max(1, self.incoming.room))
        except (BlockingIOError, InterruptedError):
            return False
        if not data:
            raise ConnectionResetError
        self.heard_s = time.monotonic()
        self.incoming.feed(data)
        return True

    def put(self, data: bytes) -> None:
        """Send as much as the system takes at once, and keep the rest."""
        if not self.waiting:
            self.moved_s = time.monotonic()
        self.waiting.append(data)
        self.waiting_bytes += len(data)
        self.flush()

    def flush(self) -> bool:
        """Send what waits; whether all is gone.

        Raises
        ------
        OSError : the peer is gone.
        """
        while self.waiting:
            data = self.waiting[0]
            try:
                sent = self.link.send(memoryview(data)[self._sent :])
            except (BlockingIOError, InterruptedError):
                return False
            self.moved_s = time.monotonic()
            self._sent += sent
            if self._sent == len(data):
                self.waiting.popleft()
                self.waiting_bytes -= len(data)
                self._sent = 0
        return True
