"""The device road by hand: both ends brought together, and a device that sends any bytes."""

from __future__ import annotations

import time
from dataclasses import replace

import zmq

from hapticsim.wire.device.port import News, Terms
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import Hello, State, Welcome

TERMS = Terms(rate_Hz=1000.0, timeout_s=0.01, force_limit_N=8.0, slew_limit_N_per_s=2000.0)
HELLO = Hello("bench", "scripted", "omega_3", 12.0, 5000.0, 30.0, 0.075, 0.2, 1e-5, 1000.0, 3, 3, True)
ZERO = (0.0, 0.0, 0.0)
STATE = State(ZERO, (1.0, 0.0, 0.0, 0.0), ZERO, ZERO, 0, ZERO, 0, None)


def join(link, port, seconds=2.0):
    """Run both ends until the link has a session; return what the port saw."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        if link.try_connect() is not None and port.device is not None:
            return link.welcome
        port.poll(0.005)
    raise AssertionError("no session")


def gather(port, seconds=1.0, until=lambda news: False):
    """Poll until the condition holds on the news gathered so far."""
    total, give_up = News(), time.monotonic() + seconds
    while time.monotonic() < give_up and not until(total):
        news = port.poll(0.005)
        total.state = news.state or total.state
        total.arm |= news.arm
        total.disarm |= news.disarm
        total.joined = news.joined or total.joined
        total.left = news.left or total.left
    return total


def wait_for(condition, seconds=2.0):
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.001)


class RawDevice:
    """A DEALER without manners: sends any bytes."""

    def __init__(self, endpoint, queue=20_000):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDHWM, queue)
        self.socket.connect(endpoint)
        self.number = 0

    def send(self, message, **envelope):
        self.number += 1
        self.socket.send(encode(replace(message, **({"number": self.number} | envelope))))

    def receive(self, port, kind, seconds=2.0):
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            port.poll(0.002)
            while self.socket.poll(0):
                message = decode(self.socket.recv())
                if isinstance(message, kind):
                    return message
        raise AssertionError(f"no {kind.kind}")

    def join(self, port):
        self.send(HELLO, stamp_ns=1)
        return self.receive(port, Welcome).session
