"""Processes are killed, stopped, told to end; disks are full or hang; terminals block."""

from __future__ import annotations

import contextlib
import math
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import zmq
from hapticsim_devices.base import ZERO
from hapticsim_devices.scripted import Scripted

from campaign.kinds import Trial, kind
from campaign.site import LOOKED_AFTER_S, Site, read_whole, silence_of_each, silences
from hapticsim.wire.messages.codec import encode
from hapticsim.wire.messages.device import State

KILLED = "-9"


def ending(
    name: str, about: str, strike: Callable[[Site], None], status: str, zero: bool = True, **trouble: Any
) -> None:
    """A kind that ends the server; its recording has to be whole, and closed unless it was killed.

    status : with which it has to end; zero: whether the force has to be gone within 10 ms.
    """

    @kind(name, "processes", about)
    def _run(trials: int, rng: random.Random) -> Iterator[Trial]:
        with Site() as site:
            record = site.serve(**trouble)
            site.hold()
            for left in range(trials, 0, -1):
                if not site.pushing():
                    yield no_force()
                    continue
                number, struck_s = site.moment(rng)
                strike(site)
                time.sleep(LOOKED_AFTER_S)
                if trouble.get("dies"):
                    struck_s = site.died_s()
                trial = site.trial(struck_s, number, zero)
                ended = site.ended()
                if ended != status:
                    trial.wrong.append(f"the server ended with status {ended}")
                if not site.is_off():
                    trial.wrong.append("there is force and no server")
                _, trial.whole = read_whole(record, status != KILLED)
                if left > 1:
                    record = site.serve(**trouble)
                yield trial


def no_force() -> Trial:
    return Trial(wrong=["there was no force to begin with"])


def _twice(site: Site, how: signal.Signals) -> None:
    site.strike_server(how)
    time.sleep(0.01)
    site.strike_server(how)


def _all_kinds(site: Site) -> None:
    for how in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        site.strike_server(how)
        time.sleep(0.003)


ending("server killed", "SIGKILL", lambda site: site.strike_server(signal.SIGKILL), KILLED)
ending("server ended", "SIGTERM", lambda site: site.strike_server(signal.SIGTERM), "0")
ending("terminal closed", "SIGHUP", lambda site: site.strike_server(signal.SIGHUP), "0")
ending("Ctrl-C twice", "SIGINT, and again after 10 ms", lambda site: _twice(site, signal.SIGINT), "0")
ending("four signals in 10 ms", "SIGHUP, SIGINT, SIGTERM, SIGINT", _all_kinds, "0")
ending("wire thread dies", "a defect ends the thread that answers the device",
       lambda site: site.strike_server(signal.SIGUSR1), "1", dies="wire")  # fmt: skip
ending("outlet thread dies", "a defect ends the thread that records: the run ends, the force first",
       lambda site: site.strike_server(signal.SIGUSR1), "1", zero=False, dies="outlet")  # fmt: skip


def _struck(
    trials: int, rng: random.Random, strike: Callable[[Site], Any], mend: Callable[[Site], Any]
) -> Iterator[Trial]:
    """Strike a server and a hand that go on afterwards."""
    with Site() as site:
        site.serve()
        site.hold()
        for _ in range(trials):
            if not site.pushing():
                yield no_force()
                continue
            number, struck_s = site.moment(rng)
            strike(site)
            time.sleep(LOOKED_AFTER_S)
            trial = site.trial(struck_s, number, zero=True)
            mend(site)
            yield trial


@kind("server stopped", "processes", "SIGSTOP for 60 ms")
def _server_stopped(trials: int, rng: random.Random) -> Iterator[Trial]:
    return _struck(
        trials,
        rng,
        lambda site: site.strike_server(signal.SIGSTOP),
        lambda site: site.strike_server(signal.SIGCONT),
    )


@kind("driver hangs", "processes", "a read of the driver does not come back for 40 ms")
def _driver_hangs(trials: int, rng: random.Random) -> Iterator[Trial]:
    return _struck(trials, rng, lambda site: site.strike_hand(signal.SIGUSR1), lambda site: None)


def strike_hand(trials: int, rng: random.Random, how: signal.Signals) -> list[Trial]:
    """Strike the hand's process: what the server did is in its recording, struck or not."""
    found: list[Trial] = []
    struck: list[tuple[float, Trial]] = []
    with Site() as site:
        record = site.serve()
        site.hold()
        for _ in range(trials):
            if not site.pushing():
                found.append(no_force())
                continue
            number, struck_s = site.moment(rng)
            site.strike_hand(how)
            time.sleep(LOOKED_AFTER_S)
            trial = site.trial(struck_s, number, zero=True)
            trial.device_s = math.nan  # a process that stands still takes nothing away: its device does
            found.append(trial)
            struck.append((struck_s, trial))
            if how == signal.SIGKILL:
                site.wait(site.hand)
                site.hold()
            else:
                site.strike_hand(signal.SIGCONT)
                time.sleep(0.1)
        site.strike_server(signal.SIGTERM)
        status = site.ended()
        recording, whole = read_whole(record, complete=True)
    if status != "0":
        found[-1].wrong.append(f"the server ended with status {status}")
    silent = silences(recording) if recording else np.zeros((0, 2))
    ages = silence_of_each([at_s for at_s, _ in struck], silent)
    for (_, trial), age_s in zip(struck, ages, strict=True):
        trial.whole = whole
        if not trial.void:
            trial.server_s = math.inf if math.isnan(age_s) else age_s
    return found


@kind("device killed", "processes", "SIGKILL to the bridge")
def _device_killed(trials: int, rng: random.Random) -> list[Trial]:
    return strike_hand(trials, rng, signal.SIGKILL)


@kind("device stopped", "processes", "SIGSTOP to the bridge for 60 ms")
def _device_stopped(trials: int, rng: random.Random) -> list[Trial]:
    return strike_hand(trials, rng, signal.SIGSTOP)


def enduring(
    name: str, about: str, during: Callable[[Site, random.Random], int], complete: bool, **trouble: Any
) -> None:
    """A kind that must not cost the force for good, nor what is recorded.

    during : does something, and returns from which write to the motors on they are to be looked at, -1: from
        before it.
    """

    @kind(name, "processes", about)
    def _run(trials: int, rng: random.Random) -> Iterator[Trial]:
        with Site() as site:
            record = site.serve(**trouble)
            site.hold()
            for left in range(trials, 0, -1):
                if not site.pushing():
                    yield no_force()
                    continue
                number, struck_s = site.log.written, time.monotonic()
                since = during(site, rng)
                lasts = site.pushing(within_s=5.0)
                trial = site.trial(struck_s, number if since < 0 else since, zero=False)
                if not lasts:
                    trial.wrong.append("the force did not last")
                if left == 1:
                    site.strike_server(signal.SIGTERM)
                    status = site.ended()
                    if status != "0":
                        trial.wrong.append(f"the server ended with status {status}")
                    trial.whole = read_whole(record, complete)[1]
                yield trial


def _rest(site: Site, rng: random.Random) -> int:
    time.sleep(rng.uniform(0.1, 0.3))
    return -1


def _again(site: Site, rng: random.Random) -> int:
    """The device leaves and comes back: the server has much to say."""
    site.block()
    site.let_go(signal.SIGTERM)
    site.hold()
    return 0


def _junk(site: Site, rng: random.Random) -> int:
    """Bytes that are no ZeroMQ, straight to the socket."""
    path = site.endpoint.removeprefix("ipc://")
    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(0.05)
            try:
                peer.connect(path)
                peer.sendall(rng.randbytes(rng.randrange(1, 60_000)))
            except OSError:
                pass
        time.sleep(0.005)
    return -1


def peers(count: int, kind_of: int, endpoint: str, use: Callable[[zmq.Socket], None]) -> None:
    """Connect so many sockets, and let each do something three times."""
    with zmq.Context() as context:
        sockets = [context.socket(kind_of) for _ in range(count)]
        for peer in sockets:
            peer.linger = 0
            peer.connect(endpoint)
        for _ in range(3):
            for peer in sockets:
                with contextlib.suppress(zmq.Again):
                    use(peer)
            time.sleep(0.01)
        for peer in sockets:
            peer.close()


def _flood(site: Site, rng: random.Random) -> int:
    """Fifty peers that say hello, and send states of no session."""
    hello = Scripted({}).info.hello()
    hello.session, hello.number, hello.stamp_ns, hello.echo_ns = 0, 1, time.monotonic_ns(), 0
    state = State(ZERO, (1.0, 0.0, 0.0, 0.0), ZERO, ZERO, 0, ZERO, 1, None)
    state.session, state.number, state.stamp_ns, state.echo_ns = 7, 1, time.monotonic_ns(), 0
    frames = [encode(hello), *[encode(state)] * 19]

    def speak(peer: zmq.Socket) -> None:
        for frame in frames:
            peer.send(frame, zmq.NOBLOCK)

    peers(50, zmq.DEALER, site.endpoint, speak)
    return -1


def _endless(site: Site, rng: random.Random) -> int:
    """Four peers begin a message of many parts that never ends."""
    part = bytes(10_000)

    def speak(peer: zmq.Socket) -> None:
        for _ in range(50):
            peer.send(part, zmq.NOBLOCK | zmq.SNDMORE)

    peers(4, zmq.DEALER, site.endpoint, speak)
    return -1


def _subscriptions(site: Site, rng: random.Random) -> int:
    """An observer subscribes to some thousand things that do not exist."""
    names = [rng.randbytes(8) for _ in range(2000)]

    def subscribe(peer: zmq.Socket) -> None:
        for name in names:
            peer.setsockopt(zmq.SUBSCRIBE, name)

    peers(1, zmq.SUB, site.endpoint.replace("device.sock", "publish.sock"), subscribe)
    return -1


enduring("nothing at all", "the hand sways, and nobody does anything", _rest, True)
enduring("disk full", "files may not grow beyond 300 kB", _rest, False, longest_file=300_000)
enduring("disk hangs", "a write to the recording takes 1 s, again and again", _rest, True, hang_s=1.0)
enduring("terminal blocked", "nobody reads what the server says; the device leaves and comes back", _again,
         True, blocked=True)  # fmt: skip
enduring("junk on the socket", "bytes that are no ZeroMQ from twenty peers", _junk, True)
enduring("flood of peers", "fifty peers say hello and send states of no session", _flood, True)
enduring("message without an end", "peers send parts of messages that never end", _endless, True)
enduring("subscriptions by the thousand", "to things that do not exist", _subscriptions, True)
