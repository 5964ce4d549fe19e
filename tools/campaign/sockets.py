"""Sockets of a rig: two queues with a network between them that can be made to misbehave."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import zmq

from hapticsim.wire.device import link as device_link
from hapticsim.wire.device import port as device_port

Carry = Callable[[bytes], list[tuple[float, bytes]]]  # a frame into copies, each with its delay [s]
QUEUE = 64


def at_once(frame: bytes) -> list[tuple[float, bytes]]:
    """A network that only carries."""
    return [(0.0, frame)]


class Road:
    """Frames in one direction."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self.carry: Carry = at_once
        self._now_ns, self._count = now_ns, itertools.count()
        self._waiting: list[tuple[int, int, bytes]] = []

    def put(self, frame: bytes) -> None:
        for delay_s, copy in self.carry(frame):
            heapq.heappush(self._waiting, (self._now_ns() + round(1e9 * delay_s), next(self._count), copy))

    def ready(self) -> bool:
        return bool(self._waiting) and self._waiting[0][0] <= self._now_ns()

    def take(self) -> bytes:
        if not self.ready():
            raise zmq.Again
        return heapq.heappop(self._waiting)[2]

    def clear(self) -> None:
        self._waiting.clear()


class End:
    """One end, with as much of a ZeroMQ socket as the wire uses."""

    def __init__(self, inbound: Road, outbound: Road, peer: bytes = b"") -> None:
        self._inbound, self._outbound, self._peer = inbound, outbound, peer
        self.closed = False
        self.socket, self.endpoint = self, "virtual"

    def send(self, frame: bytes, flags: int = 0) -> None:
        self._outbound.put(frame)

    def recv(self, flags: int = 0) -> bytes:
        return self._inbound.take()

    def send_multipart(self, frames: list[bytes], flags: int = 0) -> None:
        if frames[0] == self._peer:  # there is no road to anybody else
            self._outbound.put(frames[-1])

    def recv_multipart(self, flags: int = 0) -> list[bytes]:
        return [self._peer, self._inbound.take()]

    def poll(self, timeout_ms: int = 0, flags: int = 0) -> int:
        return int(self._inbound.ready())

    def getsockopt(self, option: int) -> int:
        return 0

    def close(self, linger: int = 0, linger_ms: int = 0) -> None:
        self.closed = True


@contextmanager
def virtual_sockets(up: Road, down: Road) -> Iterator[None]:
    """Give the wire these roads instead of sockets: up from the device, down to it."""
    before = device_link.connect_dealer, device_port.bind_router
    link, port = End(down, up), End(up, down, b"device")
    made: Any = {"connect_dealer": lambda *a, **k: link, "bind_router": lambda *a, **k: port}
    device_link.connect_dealer, device_port.bind_router = made["connect_dealer"], made["bind_router"]
    try:
        yield
    finally:
        device_link.connect_dealer, device_port.bind_router = before
