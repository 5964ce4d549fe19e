"""The server's end of the device road: one device at a time, bounded work per call, no thread of its own.

The owner calls `DevicePort.poll` at least once per time-out and `DevicePort.send_force` once per tick::

    terms = Terms(rate_Hz=1000.0, timeout_s=0.01, force_limit_N=8.0, slew_limit_N_per_s=2000.0)
    port = DevicePort(default_endpoint("device"), terms)
    news = port.poll(timeout_s=0.001)
    if news.joined: ...        # a device came (again): disarm, choose gains from news.joined
    if news.state: ...         # the newest state that arrived in this call
    port.send_force(force_N, mode)

Whoever does not speak the protocol is counted and ignored.
"""

from __future__ import annotations

import errno
import math
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zmq

from hapticsim.codes import DeviceFlag
from hapticsim.wire.device.inbox import Inbox
from hapticsim.wire.device.round_trip import RoundTrip
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import (
    FROM_DEVICE,
    PROTOCOL,
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
from hapticsim.wire.messages.fields import UINT32, Reason, Refused
from hapticsim.wire.sockets.ports import bind_router

if TYPE_CHECKING:
    from hapticsim.wire.sockets.curve_security import Curve

_ZERO = (0.0, 0.0, 0.0)
MAX_STRANGERS = 2  # messages of others read in a poll while a device is heard; the rest is dropped unread
HEARD_S = 0.25  # a device silent for longer may have come back under another identity: no hello is rejected


@dataclass(frozen=True, slots=True)
class Terms:
    """What every session is welcomed with; see `device.Welcome`."""

    rate_Hz: float
    timeout_s: float
    force_limit_N: float  # of the scene; a device is told the smaller of this and its own
    slew_limit_N_per_s: float
    torque_limit_Nm: float = 0.0  # the same of the torque; 0: the scene does not turn the hand
    resume_within_s: float = 0.0


def is_drivable(flags: int) -> bool:
    """Whether a device with these flags may be given force."""
    return bool(flags & DeviceFlag.READY) and not flags & DeviceFlag.STOPPED


@dataclass(slots=True)
class News:
    """What one `DevicePort.poll` found; a session that ended did so before the one that began."""

    state: State | None = None  # the newest that arrived in this call
    stopped: bool = False  # any of those that arrived, newest or not, was of a device that must not be driven
    arm: bool = False  # the device asked for force, and has not taken it back since
    disarm: bool = False  # the device asked for zero force
    joined: Hello | None = None  # a session began
    left: str = ""  # why a session ended, one sentence


class DevicePort:
    """Binds the device endpoint and keeps one session.

    Parameters
    ----------
    endpoint : where to bind, e.g. ``default_endpoint("device")``; see `endpoints.check_endpoint`.
    terms : what a device is welcomed with.
    max_frames : frames handled per `poll`; the rest waits, so that a flood cannot starve the caller.
    replace_after_s : silence after which another device may take the place of the connected one.
    context, curve : see `ports.bind_router`.

    Public attributes: ``endpoint`` (the one really bound), ``device`` (the hello of the connected device or
    None), ``received`` (valid messages), ``dropped`` (frames refused, by reason), ``floods`` (polls that met
    their bound with more waiting), ``unsent`` (messages nobody could take), ``round_trip`` (from a force sent
    to the arrival of a state measured after it).

    Raises
    ------
    WireError : the endpoint cannot be bound.
    """

    def __init__(
        self,
        endpoint: str,
        terms: Terms,
        *,
        max_frames: int = 32,
        replace_after_s: float = 0.5,
        context: zmq.Context | None = None,
        curve: Curve | None = None,
    ) -> None:
        self.terms, self.max_frames, self.replace_after_s = terms, max_frames, replace_after_s
        self.device: Hello | None = None
        self.received = 0
        self.floods = 0
        self.unsent = 0
        self.dropped: Counter[str] = Counter()
        self.round_trip = RoundTrip()
        self._bound = bind_router(endpoint, context=context, curve=curve)
        self._socket = self._bound.socket
        self.endpoint = self._bound.endpoint
        self._peer = b""  # routing identity of the connected device
        self._gone = False  # its connection was closed: it cannot come back under this identity
        self._inbox = Inbox(0, FROM_DEVICE)
        self._number = 0
        self._heard_at_s = -math.inf
        self._missing_before = 0  # in sessions that are over

    @property
    def session(self) -> int:
        """The session's number, 0 without one."""
        return self._inbox.session

    @property
    def missing(self) -> int:
        """Messages of devices that never arrived."""
        return self._missing_before + self._inbox.missing

    def silence_s(self) -> float:
        """Return the time since the last valid message of the connected device [s]; infinite without one."""
        return time.monotonic() - self._heard_at_s

    def poll(self, timeout_s: float = 0.0) -> News:
        """Wait up to ``timeout_s`` (in steps of 1 ms) for a frame, then take what waits; never raises."""
        news = News()
        if timeout_s > 0.0 and not self._socket.poll(max(1, math.ceil(1000.0 * timeout_s))):
            return news
        strangers = MAX_STRANGERS
        for _ in range(self.max_frames):
            try:
                frames = self._socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return news
            if len(frames) != 2:
                self.dropped[Reason.FRAMES] += 1
                continue
            if frames[0] != self._peer and self.silence_s() < HEARD_S:
                if strangers == 0:  # whoever is heard must not wait until the words of a flood are read
                    self.dropped[Reason.STRANGER] += 1
                    continue
                strangers -= 1
            self._take(frames[0], frames[1], news)
        if self._socket.poll(0):
            self.floods += 1
        return news

    def send_force(
        self, force_N: Sequence[float], mode: int, fault: int = 0, torque_Nm: Sequence[float] = _ZERO
    ) -> bool:
        """Send the force the device shall apply to the hand, in the device base frame; False if not sent.

        ``mode`` is a `codes.Safety`, ``fault`` the bits of `codes.Fault`.
        """
        if self.device is None:
            return False
        (x, y, z), (mx, my, mz) = force_N, torque_Nm
        force = Force(
            (float(x), float(y), float(z)), (float(mx), float(my), float(mz)), int(mode), int(fault)
        )
        return self._send(self._peer, force, self._inbox.session)

    def end_session(self, reason: str) -> None:
        """Say bye to the connected device, with one sentence why."""
        if self.device is not None:
            self._send(self._peer, Bye(reason), self._inbox.session)
            self._forget()

    @property
    def refused(self) -> Counter[str]:
        """How often a peer was disconnected or not let in, by reason."""
        return self._bound.refused

    def close(self, reason: str = "the server stopped.") -> None:
        """Say bye and release the endpoint."""
        self.end_session(reason)
        self._bound.close(linger_ms=50)

    def __enter__(self) -> DevicePort:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------ inside

    def _take(self, peer: bytes, frame: bytes, news: News) -> None:
        try:
            message = decode(frame)
        except Refused as refused:
            self.dropped[refused.reason] += 1
            if refused.reason == Reason.VERSION:
                self._reject(peer, f"this server speaks protocol {PROTOCOL}: install matching versions.")
            elif refused.kind == Hello.kind and peer != self._peer:
                what = "is absent" if refused.reason == Reason.KEY else "has a value that is not allowed"
                self._reject(peer, f"hello: {refused.key} {what}: compare it with docs/protocol.md.")
            return
        if isinstance(message, Hello):
            self._take_hello(peer, message, news)
        elif peer != self._peer:  # it said bye, or was replaced, with this under way
            self.dropped[Reason.STRANGER] += 1
        elif self._inbox.admit(message) is not None:
            self.received += 1
            self._heard_at_s = time.monotonic()
            self._apply(message, news)

    def _apply(self, message: Message, news: News) -> None:
        if isinstance(message, State):
            news.state = message
            news.stopped = news.stopped or not is_drivable(message.flags)
            self.round_trip.add(message.echo_ns, time.monotonic_ns())
        elif isinstance(message, Arm):
            news.arm = True
        elif isinstance(message, Disarm):
            news.arm, news.disarm = False, True
        elif isinstance(message, Bye):
            news.arm, news.state, news.stopped, news.joined = False, None, False, None
            news.left = f"the device left: {message.reason}"
            self._forget()

    def _take_hello(self, peer: bytes, hello: Hello, news: News) -> None:
        """Begin a session, unless another device is using its own.

        The same peer may always say hello again.  Before anything else came from it, it repeats itself while
        our answer is under way: the session stays, however many hellos waited for us.  After that it lost us
        and starts afresh.
        """
        if self.device is not None and peer != self._peer and not self._is_gone(self.device):
            self.dropped[Reason.STRANGER] += 1
            if self.silence_s() < HEARD_S:
                self._reject(peer, f"{self.device.name!r} is connected already: end it first.", hello)
            return
        if self.device is not None and peer == self._peer and self._inbox.taken == 0:
            self._inbox.newest, self._inbox.newest_stamp_ns = hello.number, hello.stamp_ns
            self._heard_at_s = time.monotonic()
            self.received += 1
            self._send(peer, self._welcome(hello), self._inbox.session)
            return
        self._forget()
        self._peer, self.device = peer, hello
        self.round_trip = RoundTrip()  # of this device, not of the one before
        self._inbox = Inbox(1 + secrets.randbelow(UINT32), FROM_DEVICE)
        self._inbox.dropped = self.dropped
        self._inbox.newest, self._inbox.newest_stamp_ns = hello.number, hello.stamp_ns
        self._heard_at_s = time.monotonic()
        self.received += 1
        self._send(peer, self._welcome(hello), self._inbox.session)
        # what the former session asked for in this same poll is void
        news.joined, news.state, news.arm, news.disarm, news.stopped = hello, None, False, False, False

    def _is_gone(self, device: Hello) -> bool:
        """Whether another may take the place of the connected device."""
        if self.silence_s() >= self.replace_after_s:
            return True
        self._send(self._peer, self._welcome(device), self._inbox.session)  # repeated, it changes nothing
        return self._gone

    def _welcome(self, hello: Hello) -> Welcome:
        """The terms, with the smaller of the scene's limits and the device's."""
        terms = self.terms
        return Welcome(
            terms.rate_Hz,
            terms.timeout_s,
            min(terms.force_limit_N, hello.max_force_N),
            terms.slew_limit_N_per_s,
            torque_limit_Nm=min(terms.torque_limit_Nm, hello.max_torque_Nm),
            resume_within_s=terms.resume_within_s,
        )

    def _reject(self, peer: bytes, reason: str, hello: Hello | None = None) -> None:
        self._send(peer, Reject(reason), 0, hello.stamp_ns if hello else time.monotonic_ns())

    def _send(self, peer: bytes, message: Message, session: int, echo_ns: int | None = None) -> bool:
        self._number += 1
        message.session, message.number, message.stamp_ns = session, self._number, time.monotonic_ns()
        message.echo_ns = self._inbox.newest_stamp_ns if echo_ns is None else echo_ns
        try:
            self._socket.send_multipart([peer, encode(message)], zmq.DONTWAIT)
        except zmq.ZMQError as error:  # gone, or not reading (EAGAIN): newest wins, so nothing is kept
            self.unsent += 1
            self._gone = self._gone or (peer == self._peer and error.errno == errno.EHOSTUNREACH)
            return False
        return True

    def _forget(self) -> None:
        self._missing_before += self._inbox.missing
        self._inbox = Inbox(0, FROM_DEVICE)
        self._inbox.dropped = self.dropped
        self._peer, self.device, self._heard_at_s = b"", None, -math.inf
        self._gone = False
