"""A watch over the connections of a tcp socket: who brings bytes that never become messages must go.

ZeroMQ keeps the frames of a message until it is complete, however many there are.  The system counts what a
connection brought (TCP_INFO); what still waits in the system, where a reader that stalls leaves it, and what
complete messages took are taken off that.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
import struct
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zmq

MOST_UNFINISHED_BYTES = 4 << 20  # of a connection, beside what waits in the system
# Of an observer, which subscribes to a few topics and answers heartbeats.  ZeroMQ keeps a subscription in a
# tree that takes some fifty times its bytes.
OBSERVER_BYTES, OBSERVER_BYTES_PER_S = 16 << 10, 1 << 10
LOOK_S = 0.01
_monitors = itertools.count()
_BYTES_RECEIVED = 128  # place of tcpi_bytes_received in struct tcp_info (linux/tcp.h)


class ByteWatch:
    """Watches a socket from before it is bound, in a thread of its own.

    Public attributes: ``refused``, how many connections had to go, by reason; ``each_look``, what else the
    thread does every time it looks.

    Parameters
    ----------
    watched : the socket.
    refused : where to count.
    most_bytes : that a connection may bring beyond its messages.
    bytes_per_s : that are forgotten of them.
    """

    def __init__(
        self,
        watched: zmq.Socket[bytes],
        refused: Counter[str],
        most_bytes: int = MOST_UNFINISHED_BYTES,
        bytes_per_s: float = 0.0,
    ) -> None:
        from zmq.utils.monitor import recv_monitor_message  # brings asyncio, which a device need not pay

        self._receive = recv_monitor_message
        self.refused = refused
        self.each_look: Callable[[], object] = lambda: None
        self._watched, self._stopped = watched, False
        self._most_bytes, self._bytes_per_s = most_bytes, bytes_per_s
        self._unwanted: set[int] = set()  # descriptors of who has to go whatever it brings
        self._finished: dict[int, int] = {}  # bytes of complete messages since the last look, by descriptor
        self._monitor = self._listen()
        self._thread = threading.Thread(target=self._run, name="hapticsim-bytes", daemon=True)
        self._thread.start()

    def finished(self, descriptor: int, size: int) -> None:
        """Bytes of a connection were those of a complete message."""
        self._finished[descriptor] = self._finished.get(descriptor, 0) + size

    def disconnect(self, descriptor: int) -> None:
        """Have a connection ended soon; who holds no key that counts does not come back."""
        self._unwanted.add(descriptor)

    def stop(self) -> None:
        """End the watch; call it before the socket is closed.

        The news end before their reader: ZeroMQ waits for good where it has news and nobody takes them.
        """
        try:
            self._watched.monitor(None, 0)
        finally:
            self._stopped = True
            self._thread.join(2.0)

    def _listen(self) -> zmq.Socket[bytes]:
        """Have ZeroMQ tell who connects and who leaves; no number of news makes it wait for their reader."""
        place = f"inproc://monitor-{next(_monitors)}"
        self._watched.monitor(place, zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        reader: zmq.Socket[bytes] = self._watched.context.socket(zmq.PAIR)
        reader.setsockopt(zmq.LINGER, 0)
        reader.setsockopt(zmq.RCVHWM, 0)
        reader.connect(place)
        return reader

    def _run(self) -> None:
        connections: dict[int, _Connection] = {}
        looked_s = time.monotonic()
        while not self._stopped:
            since_s, looked_s = looked_s, time.monotonic()
            forgotten = self._bytes_per_s * (looked_s - since_s)
            with suppress(zmq.ZMQError):  # the context was ended under us: so are its connections
                self._take_news(connections)
            for descriptor, connection in list(connections.items()):
                if descriptor in self._unwanted:
                    self._unwanted.discard(descriptor)
                    connection.end()
                    del connections[descriptor]
                elif self._is_too_much(descriptor, connection, forgotten):
                    self.refused["it sent what does not become messages"] += 1
                    connection.end()
                    del connections[descriptor]
            with suppress(OSError):
                self.each_look()
            time.sleep(LOOK_S)
        for connection in connections.values():
            connection.release()
        self._monitor.close(linger=0)

    def _is_too_much(self, descriptor: int, connection: _Connection, forgotten: float) -> bool:
        """Whether a connection brought more than may belong to no message.

        Bytes are counted between two looks at the messages, because this thread may lose its processor there:
        what arrives meanwhile and is a message by the second look has not to go.
        """
        unfinished = connection.count_unfinished(self._finished.pop(descriptor, 0) + forgotten)
        return unfinished > self._most_bytes + self._finished.get(descriptor, 0)

    def _take_news(self, connections: dict[int, _Connection]) -> None:
        while self._monitor.poll(0):
            news: Any = self._receive(self._monitor)
            descriptor = int(news["value"])
            if descriptor in connections:  # it ended, or its number belongs to another now
                connections.pop(descriptor).release()
            if news["event"] == zmq.EVENT_ACCEPTED:
                self._unwanted.discard(descriptor)
                with suppress(OSError):  # it is gone already
                    connections[descriptor] = _Connection(descriptor)


class _Connection:
    """What one connection brought, held by a descriptor of our own, so that it cannot be another's meanwhile.

    Raises
    ------
    OSError : there is no such connection any more.
    """

    def __init__(self, descriptor: int) -> None:
        own = os.dup(descriptor)
        try:
            self._link = socket.socket(fileno=own)
        except OSError:  # the number is of something else by now
            os.close(own)
            raise
        self._taken, self._unfinished = 0, 0.0

    def count_unfinished(self, finished: float) -> float:
        """Return how many of its bytes belong to no message yet; ``finished`` more of them do."""
        try:
            info = self._link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            received = struct.unpack_from("=Q", info, _BYTES_RECEIVED)[0]
            waits = struct.unpack("=i", fcntl.ioctl(self._link, termios.FIONREAD, bytes(4)))[0]
        except (OSError, struct.error, AttributeError):  # a system that does not count
            return 0.0
        taken = max(self._taken, received - waits)  # more may wait now than when it was counted
        self._unfinished = max(0.0, self._unfinished + taken - self._taken - finished)
        self._taken = taken
        return self._unfinished

    def end(self) -> None:
        """Disconnect it."""
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)
        self.release()

    def release(self) -> None:
        self._link.close()
