"""The server's end of the control road: requests in, one answer each, bounded work per call.

The owner polls it and answers what it got::

    port = ControlPort(control_beside(publisher.endpoint))
    for request in port.poll():
        port.answer(request, "refused", reason="there is no such constraint.")

What is no request is answered and counted here.  No thread of its own, and nobody waits for it: a flood of
requests costs the owner ``max_frames`` of them per poll.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import zmq

from hapticsim.wire.messages.device import PROTOCOL
from hapticsim.wire.messages.fields import Reason, Refused
from hapticsim.wire.messages.requests import Request, decode_request, encode_answer, number_in
from hapticsim.wire.sockets.ports import CONTROL_QUEUE, bind_router

if TYPE_CHECKING:
    from hapticsim.wire.sockets.curve_security import Curve

_WHY = {
    Reason.SIZE: "it is too long",
    Reason.MSGPACK: "it is not one msgpack object of plain types",
    Reason.SHAPE: "it is not a flat map with text keys",
    Reason.VERSION: f"this server speaks protocol {PROTOCOL}",
    Reason.KIND: "is 'list' or 'switch'",
    Reason.KEY: "is missing",
    Reason.TYPE: "has a value of the wrong type",
    Reason.VALUE: "has a value beyond what is allowed",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and who waits for its answer."""

    peer: bytes
    request: Request


class ControlPort:
    """Binds the control endpoint.

    Parameters
    ----------
    endpoint : where to bind; see `endpoints.check_endpoint`.
    max_frames : frames handled per `poll`; the rest waits, and senders with it.
    context, curve : see `ports.bind_router`.

    Public attributes: ``endpoint`` (the one really bound), ``received`` (requests), ``dropped`` (frames
    that were none, by reason), ``unsent`` (answers nobody took).

    Raises
    ------
    WireError : the endpoint cannot be bound.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        max_frames: int = 8,
        context: zmq.Context | None = None,
        curve: Curve | None = None,
    ) -> None:
        self.max_frames = max_frames
        self.received = self.unsent = 0
        self.dropped: Counter[str] = Counter()
        self._bound = bind_router(endpoint, road="control", context=context, curve=curve, queue=CONTROL_QUEUE)
        self.endpoint = self._bound.endpoint

    def poll(self) -> list[Asked]:
        """Return the requests that wait, at most ``max_frames``; never waits, never raises."""
        asked: list[Asked] = []
        for _ in range(self.max_frames):
            try:
                frames = self._bound.socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                break
            if len(frames) != 2:
                self.dropped[Reason.FRAMES] += 1
                continue
            try:
                asked.append(Asked(frames[0], decode_request(frames[1])))
                self.received += 1
            except Refused as refused:
                self.dropped[refused.reason] += 1
                why = f"{refused.key} {_WHY[refused.reason]}".strip()
                reason = f"this is no request ({why}): write it as docs/protocol.md says."
                self._send(frames[0], encode_answer("refused", number_in(frames[1]), {"reason": reason}))
        return asked

    def answer(self, asked: Asked, kind: str, **content: Any) -> bool:
        """Answer a request with plain values; False when its sender is gone or does not read."""
        return self._send(asked.peer, encode_answer(kind, asked.request.number, content))

    @property
    def refused(self) -> Counter[str]:
        """How often a peer was disconnected or not let in, by reason."""
        return self._bound.refused

    def close(self) -> None:
        """Release the endpoint; answers under way get 50 ms to leave."""
        self._bound.close(linger_ms=50)

    def __enter__(self) -> ControlPort:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _send(self, peer: bytes, data: bytes) -> bool:
        try:
            self._bound.socket.send_multipart([peer, data], zmq.DONTWAIT)
        except zmq.ZMQError:  # gone (EHOSTUNREACH) or not reading (EAGAIN)
            self.unsent += 1
            return False
        return True
