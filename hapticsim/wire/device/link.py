"""The device's end of the device road: session, newest force, its age.

Used from one thread, never blocks except in `DeviceLink.connect`::

    link = DeviceLink(default_endpoint("device"), Hello(name="omega", driver="scripted", ...))
    welcome = link.connect(timeout_s=10.0)
    while running:                              # at welcome.rate_Hz
        link.send_state(position, velocity, ...)
        force = link.newest_force()             # drains; None if none came in this session
        if force is None or link.force_age_s() > welcome.timeout_s:
            ...                                 # apply zero
        if link.welcome is None:                # the server said bye, or has been silent for long
            link.try_connect()                  # again each tick until it returns a Welcome

What a force does to the motors is the bridge's business; this file only says what came and when.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import zmq

from hapticsim.errors import WireError
from hapticsim.wire.device.inbox import Inbox
from hapticsim.wire.device.round_trip import RoundTrip
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import (
    FROM_SERVER,
    Arm,
    Bye,
    Disarm,
    Force,
    Hello,
    Message,
    Reject,
    State,
    Welcome,
)
from hapticsim.wire.messages.fields import Reason, Refused
from hapticsim.wire.sockets.ports import connect_dealer

if TYPE_CHECKING:
    from hapticsim.wire.sockets.curve_security import Curve

MAX_FRAMES = 64  # taken per call, so that a flood costs the tick a bounded time


class DeviceLink:
    """A device's connection to one server.

    Parameters
    ----------
    endpoint : what the server bound, e.g. ``default_endpoint("device")``.
    hello : what the device says about itself; its envelope is filled in here.
    context : the ZeroMQ context, the process-wide one if not given.
    curve : keys, needed beyond this machine.
    retry_s : time between two hellos while there is no answer.
    lost_after_s : silence of the server after which the session counts as over.

    Public attributes: ``welcome`` (the terms of the session, None without one), ``ended`` (why the last
    session ended, one sentence), ``dropped`` (frames refused, by reason), ``unsent`` (messages that found no
    server), ``round_trip`` (time from a state sent to the arrival of a force that answers it).

    Raises
    ------
    WireError : the endpoint cannot be used.
    """

    def __init__(
        self,
        endpoint: str,
        hello: Hello,
        *,
        context: zmq.Context | None = None,
        curve: Curve | None = None,
        retry_s: float = 0.25,
        lost_after_s: float = 0.5,
    ) -> None:
        self.endpoint, self.hello = endpoint, hello
        self.retry_s, self.lost_after_s = retry_s, lost_after_s
        self.welcome: Welcome | None = None
        self.ended = ""
        self.unsent = 0
        self.dropped: Counter[str] = Counter()
        self.round_trip = RoundTrip()
        self._socket = connect_dealer(endpoint, context=context, curve=curve)
        self._inbox = Inbox(0, FROM_SERVER)
        self._number = 0
        self._refusal = ""  # a server's sentence, not told yet
        self._first_hello_ns = 0  # of this handshake: a welcome to an older one is not for us
        self._last_hello_s = -math.inf
        self._force: Force | None = None
        self._force_at_s = -math.inf
        self._heard_at_s = -math.inf

    # ------------------------------------------------------------------------------------------------ session

    def connect(self, timeout_s: float = 10.0) -> Welcome:
        """Say hello until the server welcomes us; blocks.

        Raises
        ------
        WireError : the server refused the device (its reason), or did not answer in time.
        """
        give_up = time.monotonic() + timeout_s
        while True:
            welcome = self.try_connect()
            if welcome is not None:
                return welcome
            left = give_up - time.monotonic()
            if left <= 0.0:
                raise WireError(
                    f"{self.endpoint}: no server answered in {timeout_s:g} s: start one with 'hapticsim run'."
                )
            self._socket.poll(max(1, round(1000.0 * min(left, self.retry_s / 4.0))))

    def try_connect(self) -> Welcome | None:
        """Take one step of the handshake without waiting; return the terms once there are some.

        Sends a hello when the last one is ``retry_s`` old.

        Raises
        ------
        WireError : the server refused the device; the sentence is the server's.
        """
        self._drain()
        if self._refusal:
            refusal, self._refusal = self._refusal, ""
            raise WireError(f"{self.endpoint}: {refusal}")
        now = time.monotonic()
        if self.welcome is None and now - self._last_hello_s >= self.retry_s:
            self._last_hello_s = now
            if self._send(self.hello) and self._first_hello_ns == 0:
                self._first_hello_ns = self.hello.stamp_ns
        return self.welcome

    def bye(self, reason: str = "its driver ended.") -> None:
        """End the session politely; the force is over on both ends."""
        if self.welcome is not None:
            self._send(Bye(reason))
            self._end(f"this end left: {reason}")

    def close(self) -> None:
        """Say bye and close the socket; messages under way get 50 ms to leave."""
        if not self._socket.closed:
            self.bye()
            self._socket.close(linger=50)

    def __enter__(self) -> DeviceLink:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # --------------------------------------------------------------------------------------------- each tick

    def send_state(
        self,
        position_m: Sequence[float],
        velocity_m_per_s: Sequence[float],
        *,
        quaternion: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
        angular_velocity_rad_per_s: Sequence[float] = (0.0, 0.0, 0.0),
        buttons: int = 0,
        force_N: Sequence[float] = (0.0, 0.0, 0.0),
        flags: int = 0,
        target_m: Sequence[float] | None = None,
    ) -> bool:
        """Send what the device measures (units and frames: `device.State`); False if nobody was reached.

        ``force_N`` is the force really applied to the hand.  Sequences may be lists, tuples or arrays.
        """
        if self.welcome is None:
            return False
        return self._send(
            State(
                _vector(position_m),
                _quaternion(quaternion),
                _vector(velocity_m_per_s),
                _vector(angular_velocity_rad_per_s),
                int(buttons),
                _vector(force_N),
                int(flags),
                None if target_m is None else _vector(target_m),
            )
        )

    def newest_force(self) -> Force | None:
        """Take what waits and return the newest force of this session, new or not; look at `force_age_s`."""
        self._drain()
        return self._force

    def force_age_s(self) -> float:
        """Return the time since the newest force arrived [s]; infinite without one in this session."""
        return time.monotonic() - self._force_at_s

    def answered_s(self) -> float:
        """Return the time since the measurement that the newest force knows of [s]; infinite without one.

        It grows where the arrival of forces tells nothing: they lay in a queue, or the server does not hear.
        """
        if self._force is None:
            return math.inf
        return (time.monotonic_ns() - self._force.echo_ns) * 1e-9

    def arm(self) -> bool:
        """Ask for force; the server answers by the mode of the forces that follow."""
        return self.welcome is not None and self._send(Arm())

    def disarm(self) -> bool:
        """Ask for zero force."""
        return self.welcome is not None and self._send(Disarm())

    @property
    def missing(self) -> int:
        """Messages of the server that never arrived in this session."""
        return self._inbox.missing

    # ------------------------------------------------------------------------------------------------ inside

    def _send(self, message: Message) -> bool:
        self._number += 1
        message.session = 0 if isinstance(message, Hello) else self._inbox.session
        message.number = self._number
        message.stamp_ns = time.monotonic_ns()
        message.echo_ns = self._inbox.newest_stamp_ns
        try:
            self._socket.send(encode(message), zmq.DONTWAIT)
        except zmq.Again:
            self.unsent += 1
            return False
        return True

    def _drain(self) -> None:
        for _ in range(MAX_FRAMES):
            try:
                frame = self._socket.recv(zmq.DONTWAIT)
            except zmq.Again:
                break
            if self._socket.getsockopt(zmq.RCVMORE):
                self._skip_rest()
                self.dropped[Reason.FRAMES] += 1
                continue
            try:
                message = decode(frame)
            except Refused as refused:
                self.dropped[refused.reason] += 1
                continue
            self._take(message)
        silence = time.monotonic() - self._heard_at_s
        if self.welcome is not None and silence > self.lost_after_s:
            self._end(f"the server was silent for {silence:.1f} s.")

    def _take(self, message: Message) -> None:
        if isinstance(message, Welcome | Reject):
            if self._first_hello_ns == 0 or message.echo_ns < self._first_hello_ns:
                self.dropped[Reason.STALE] += 1
            elif isinstance(message, Reject):
                self._end(message.reason)
                self._refusal = message.reason  # `try_connect` raises it: no other call ends a run
            elif self.welcome is None or message.session != self.welcome.session:
                self._begin(message)
            return  # a welcome that is repeated, because we repeated our hello, changes nothing
        if self._inbox.admit(message) is None:
            return
        self._heard_at_s = time.monotonic()
        if isinstance(message, Force):
            self._force, self._force_at_s = message, self._heard_at_s
            self.round_trip.add(message.echo_ns, time.monotonic_ns())
        elif isinstance(message, Bye):
            self._end(f"the server left: {message.reason}")

    def _begin(self, welcome: Welcome) -> None:
        """Enter the session; a server that begins one with every hello means the last."""
        self._inbox = Inbox(welcome.session, FROM_SERVER)
        self._inbox.dropped = self.dropped
        self._inbox.admit(welcome)
        self.welcome, self.ended, self._refusal = welcome, "", ""
        self._force, self._force_at_s = None, -math.inf
        self._heard_at_s = time.monotonic()

    def _end(self, why: str) -> None:
        self.welcome, self.ended = None, why
        self._inbox = Inbox(0, FROM_SERVER)
        self._inbox.dropped = self.dropped
        self._first_hello_ns = 0
        self._force, self._force_at_s = None, -math.inf

    def _skip_rest(self) -> None:
        while self._socket.getsockopt(zmq.RCVMORE):
            self._socket.recv(zmq.DONTWAIT)


def _vector(values: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = values
    return (float(x), float(y), float(z))


def _quaternion(values: Sequence[float]) -> tuple[float, float, float, float]:
    w, x, y, z = values
    return (float(w), float(x), float(y), float(z))
