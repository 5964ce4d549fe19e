"""ZMTP 3.0 as a server of this computer speaks it (https://rfc.zeromq.org/spec/23/): greeting, READY, frames.

ZeroMQ itself keeps whatever a peer sends until a message is complete, and every subscription: some bytes of a
peer that means harm, sent often enough, fill the memory of whoever listens.  So where a server listens on a
path, these files take the place of its sockets (peers go on using ZeroMQ): `Incoming` holds one frame of at
most ``longest`` bytes, and drops the frames of a message of several as they come.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_MORE, _LONG, _COMMAND = 1, 2, 4
_GREETING_BYTES = 64
_SIGNATURE = b"\xff" + bytes(8) + b"\x7f"
GREETING = _SIGNATURE + bytes([3, 0]) + b"NULL".ljust(20, b"\0") + b"\0" + bytes(31)
_LONGEST_COMMAND = 512
_MOST_FRAMES = 16  # of a message, that are dropped as they come
_PING_HEAD, _LONGEST_CONTEXT = 7, 16  # of a PING: its name with length, time to live; bytes to be echoed


class Violation(Exception):
    """A peer does not keep to the protocol, or to our limits: it is disconnected."""


class Taken(NamedTuple):
    """What came from a peer."""

    body: bytes | None  # of a message of one frame; None: it had several, and was dropped
    reply: bytes = b""  # to be sent back (to a PING), and then there is no message


def encode_frame(body: bytes, flags: int = 0) -> bytes:
    """Return the bytes of a frame."""
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return struct.pack(">BQ", flags | _LONG, len(body)) + body


def ready(socket_type: str) -> bytes:
    """Return the frame that ends the handshake on our side."""
    value = socket_type.encode()
    return encode_frame(b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", len(value)) + value, _COMMAND)


class Incoming:
    """Takes bytes of one peer, gives its messages.

    longest : bytes of a frame; one that is longer is a `Violation`.
    peers : socket types that may connect.

    Public attributes: ``is_greeted``, ``is_ready``: how far the handshake is.
    """

    def __init__(self, longest: int, peers: frozenset[str]) -> None:
        self.is_greeted = self.is_ready = False
        self._longest, self._peers = longest, peers
        self._buffer = bytearray()
        self._skipping = 0  # frames of a message of several

    @property
    def room(self) -> int:
        """How many bytes may be fed now: never more than two frames wait."""
        return max(0, 2 * (max(self._longest, _LONGEST_COMMAND) + 9) - len(self._buffer))

    def feed(self, data: bytes) -> None:
        """Take bytes, at most ``room`` of them."""
        self._buffer += data

    def handshake(self) -> bool:
        """Go on with the handshake; True once it is over.  Messages may wait behind it.

        Raises
        ------
        Violation : see there.
        """
        if not self.is_greeted and not self._take_greeting():
            return False
        frame = None if self.is_ready else self._take_frame()
        if frame is not None:
            if frame[0] != _COMMAND or not frame[1].startswith(b"\x05READY"):
                raise Violation("it did not end the handshake")
            kind = _properties(frame[1][6:]).get(b"socket-type", b"").decode("ascii", "replace")
            if kind not in self._peers:
                raise Violation("it has a socket of another type")
            self.is_ready = True
        return self.is_ready

    def next(self) -> Taken | None:
        """Return what is complete after the handshake, None if nothing is.

        Raises
        ------
        Violation : see there.
        """
        while (frame := self._take_frame()) is not None:
            flags, body = frame
            if flags & _COMMAND:
                return Taken(None, self._take_command(body))
            elif flags & _MORE:
                self._skipping += 1
                if self._skipping > _MOST_FRAMES:
                    raise Violation(f"its message has more than {_MOST_FRAMES} frames")
            elif self._skipping:
                self._skipping = 0
                return Taken(None)
            else:
                return Taken(body)
        return None

    # ------------------------------------------------------------------------------------------------ inside

    def _take_greeting(self) -> bool:
        have = self._buffer[:_GREETING_BYTES]
        if (
            (have and have[0] != 0xFF)
            or (len(have) > 9 and not have[9] & 1)
            or (len(have) > 10 and have[10] < 3)
        ):
            raise Violation("it does not speak ZMTP 3")
        if len(have) < _GREETING_BYTES:
            return False
        if have[12:32].rstrip(b"\0") != b"NULL":
            raise Violation("it asks for keys, which a path does not use")
        del self._buffer[:_GREETING_BYTES]
        self.is_greeted = True
        return True

    def _take_frame(self) -> tuple[int, bytes] | None:
        """Take a frame off the buffer, its length checked as soon as that is there."""
        have = self._buffer
        if len(have) < 2:
            return None
        flags = have[0]
        if flags & ~(_MORE | _LONG | _COMMAND) or flags & (_MORE | _COMMAND) == _MORE | _COMMAND:
            raise Violation("its frame has flags that do not exist")
        head = 9 if flags & _LONG else 2
        if len(have) < head:
            return None
        length = int.from_bytes(have[1:head], "big")
        longest = _LONGEST_COMMAND if flags & _COMMAND else self._longest
        if length > longest:
            raise Violation(f"its frame is longer than {longest} bytes")
        if len(have) < head + length:
            return None
        body = bytes(have[head : head + length])
        del have[: head + length]
        return flags, body

    def _take_command(self, body: bytes) -> bytes:
        """Return the answer to a PING, the one command that a peer may send here."""
        if not body.startswith(b"\x04PING") or not _PING_HEAD <= len(body) <= _PING_HEAD + _LONGEST_CONTEXT:
            raise Violation("it sent a command that does not exist")
        return encode_frame(b"\x04PONG" + body[_PING_HEAD:], _COMMAND)


def _properties(data: bytes) -> dict[bytes, bytes]:
    """Names, in small letters, and values of a handshake.

    Raises
    ------
    Violation : they are cut off.
    """
    found = {}
    while data:
        name = data[1 : 1 + data[0]]
        rest = data[1 + data[0] :]
        if len(rest) < 4 or len(rest) < 4 + int.from_bytes(rest[:4], "big"):
            raise Violation("its handshake is cut off")
        end = 4 + int.from_bytes(rest[:4], "big")
        found[name.lower()] = rest[4:end]
        data = rest[end:]
    return found
