"""Switching the constraints of a running server, from any process::

with Switches() as switches:
    print(switches.constraints())
    switches.switch("brake", held=True)  # returns what it does now, raises the server's sentence
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import zmq

from hapticsim.arguments import number, shown, truth
from hapticsim.errors import WireError
from hapticsim.wire.messages.fields import Refused, text
from hapticsim.wire.messages.requests import (
    ListRequest,
    Request,
    SwitchRequest,
    decode_answer,
    encode_request,
)
from hapticsim.wire.sockets.endpoints import LONGEST_WAIT_S, check_connection, default_endpoint
from hapticsim.wire.sockets.ports import CONTROL_QUEUE, PUBLISHED_BYTES, connect_dealer

if TYPE_CHECKING:
    from hapticsim.wire.sockets.curve_security import Curve

WAIT_S = 2.0  # a server answers within two periods of its publishing, or says that its loop stands still
NAME_LENGTH = 64  # characters
_check_name = text(NAME_LENGTH)


class Switches:
    """A connection to the control endpoint of one server.  Use it from one thread.

    Parameters
    ----------
    endpoint : what the server bound (``ipc://...`` or ``tcp://...``); the default ``control`` endpoint if
        None.
    timeout_s : how long `switch` and `constraints` wait for the answer [s].
    context : ZeroMQ context to use, the process-wide one if None.
    curve : a ``hapticsim.wire.sockets.curve_security.Curve``, which a tcp endpoint needs.

    Raises
    ------
    WireError : the endpoint cannot be used.
    ConfigError : an argument of the wrong kind.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        timeout_s: float = WAIT_S,
        context: zmq.Context | None = None,
        curve: Curve | None = None,
    ) -> None:
        self.endpoint = default_endpoint("control") if endpoint is None else endpoint
        check_connection("Switches", self.endpoint, context, curve)
        self.timeout_s = number("Switches", "timeout_s", timeout_s, 0.0, LONGEST_WAIT_S)
        self._socket = connect_dealer(
            self.endpoint, context=context, curve=curve, queue=CONTROL_QUEUE, longest_bytes=PUBLISHED_BYTES
        )
        self._number = 0

    def switch(self, name: str, held: bool) -> str:
        """Let a constraint hold, or let it go, at the next tick; return what it does then.

        That is ``held``, ``free``, or ``forward`` or ``backward`` for one that slips.

        Raises
        ------
        WireError : there is no such constraint, it could not be imposed, or nobody answered.
        ConfigError : ``held`` is neither True nor False.
        """
        answer = self._wait(self._switch_request("switch", name, held))
        return str(answer.get("hold"))

    def constraints(self) -> list[dict[str, Any]]:
        """Return a map per constraint: ``name``, ``hold`` as in `switch`, ``rows``, how many.

        Raises
        ------
        WireError : nobody answered.
        """
        self._number += 1
        found = self._wait(ListRequest(self._number)).get("constraints")
        return [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []

    def offer(self, name: str, held: bool) -> bool:
        """Ask as `switch` does, without waiting: the answer comes from `take`.

        False: nobody is there to take it.

        Raises
        ------
        WireError : the name cannot be that of a constraint.
        ConfigError : ``held`` is neither True nor False.
        """
        return self._send(self._switch_request("offer", name, held))

    def take(self) -> str | None:
        """Return a sentence of the server that has come: why something was refused, or what now holds.

        None if there is none.  Never waits.
        """
        while (data := self._receive()) is not None:
            answer = decode_answer(data)
            if answer is not None and answer["k"] == "refused":
                return str(answer.get("reason"))
            if answer is not None and answer["k"] == "done":
                return f"{answer.get('name')!r} is {answer.get('hold')}."
        return None

    def close(self) -> None:
        """Close the socket; a second time does nothing."""
        self._socket.close()

    def __enter__(self) -> Switches:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _switch_request(self, where: str, name: str, held: bool) -> SwitchRequest:
        hold = truth(where, "held", held)
        try:
            _check_name(name)
        except Refused as refused:
            raise WireError(
                f"constraint {shown(name)}: is not usable: a name has 1 to {NAME_LENGTH} printable "
                "characters."
            ) from refused
        self._number += 1
        return SwitchRequest(self._number, name, hold)

    def _wait(self, request: Request) -> dict[str, Any]:
        """Send a request, wait for its answer and return it; a refusal is raised."""
        give_up = time.monotonic() + self.timeout_s
        sent = False
        while (left := give_up - time.monotonic()) > 0.0:
            if not sent:
                sent = self._send(request)
                if not sent:  # not connected yet: that takes a moment, or for ever
                    time.sleep(0.005)
                    continue
            if not self._socket.poll(max(1, math.ceil(1000.0 * left))):
                continue
            data = self._receive()
            answer = decode_answer(data) if data is not None else None
            if answer is None or answer["n"] != request.number:
                continue
            if answer["k"] == "refused":
                raise WireError(str(answer.get("reason")))
            return answer
        raise WireError(
            f"{self.endpoint}: no server answered in {self.timeout_s:g} s: start one with 'hapticsim run'."
        )

    def _send(self, request: Request) -> bool:
        self._check_open()
        try:
            self._socket.send(encode_request(request), zmq.DONTWAIT)
        except zmq.Again:
            return False
        return True

    def _check_open(self) -> None:
        if self._socket.closed:
            raise WireError(f"{self.endpoint}: this connection is closed: make another one.")

    def _receive(self) -> bytes | None:
        self._check_open()
        try:
            return self._socket.recv(zmq.DONTWAIT)
        except zmq.Again:
            return None
