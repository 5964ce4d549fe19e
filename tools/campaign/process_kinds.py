"""Processes are killed, stopped, told to end; disks are full or hang; terminals block."""

from __future__ import annotations

import random
import signal
import socket
import time
from collections.abc import Callable

from campaign.kinds import Trial, kind
from campaign.site import LOOKED_AFTER_S, Site, read_whole, silences_s


def ending(name: str, about: str, strike: Callable[[Site], None], complete: bool) -> None:
    """A kind that ends the server; its recording has to be whole, and closed where ``complete``."""

    @kind(name, "processes", about)
    def _run(trials: int, rng: random.Random) -> list[Trial]:
        found = []
        with Site() as site:
            record = site.serve()
            site.hold()
            for _ in range(trials):
                if not site.pushing():
                    found.append(Trial(wrong=["there was no force to begin with"]))
                    continue
                number = site.log.written
                time.sleep(rng.uniform(0.0, 0.1))
                struck_s = time.monotonic()
                strike(site)
                time.sleep(LOOKED_AFTER_S)
                trial = site.trial(struck_s, number, zero=True)
                status = site.ended()
                if complete and status != "0":
                    trial.wrong.append(f"the server ended with status {status}")
                _, trial.whole = read_whole(record, complete)
                found.append(trial)
                record = site.serve()
        return found


def _twice(site: Site, how: signal.Signals) -> None:
    site.strike_server(how)
    time.sleep(0.01)
    site.strike_server(how)


def _all_kinds(site: Site) -> None:
    for how in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        site.strike_server(how)
        time.sleep(0.003)


ending("server killed", "SIGKILL", lambda site: site.strike_server(signal.SIGKILL), False)
ending("server ended", "SIGTERM", lambda site: site.strike_server(signal.SIGTERM), True)
ending("terminal closed", "SIGHUP", lambda site: site.strike_server(signal.SIGHUP), True)
ending("Ctrl-C twice", "SIGINT, and again after 10 ms", lambda site: _twice(site, signal.SIGINT), True)
ending("four signals in 10 ms", "SIGHUP, SIGINT, SIGTERM, SIGINT", _all_kinds, True)


@kind("server stopped", "processes", "SIGSTOP for 60 ms")
def _server_stopped(trials: int, rng: random.Random) -> list[Trial]:
    found = []
    with Site() as site:
        site.serve()
        site.hold()
        for _ in range(trials):
            if not site.pushing():
                found.append(Trial(wrong=["there was no force to begin with"]))
                continue
            number = site.log.written
            time.sleep(rng.uniform(0.0, 0.1))
            struck_s = time.monotonic()
            site.strike_server(signal.SIGSTOP)
            time.sleep(LOOKED_AFTER_S)
            found.append(site.trial(struck_s, number, zero=True))
            site.strike_server(signal.SIGCONT)
    return found


def strike_hand(trials: int, rng: random.Random, how: signal.Signals) -> list[Trial]:
    """Strike the hand's process: what the server did is in its recording, struck or not."""
    found = []
    with Site() as site:
        record = site.serve()
        site.hold()
        for _ in range(trials):
            if not site.pushing():
                found.append(Trial(wrong=["there was no force to begin with"]))
                continue
            number = site.log.written
            time.sleep(rng.uniform(0.0, 0.1))
            struck_s = time.monotonic()
            assert site.hand is not None
            site.hand.send_signal(how)
            time.sleep(LOOKED_AFTER_S)
            found.append(site.trial(struck_s, number, zero=False))
            if how == signal.SIGKILL:
                site.hand.wait()
                site.hold()
            else:
                site.hand.send_signal(signal.SIGCONT)
                time.sleep(0.1)
        site.strike_server(signal.SIGTERM)
        site.ended()
        recording, whole = read_whole(record, complete=True)
    ages = silences_s(recording) if recording else []
    if len(ages) < trials:
        found[0].wrong.append(f"the server took the force away {len(ages)} times of {trials}")
    for trial, age in zip(found, sorted(ages, reverse=True), strict=False):
        trial.server_s, trial.whole = age, whole
        trial.host_s = max((t.host_s for t in found), default=0.0)  # which strike it was is not recorded
    return found


@kind("device killed", "processes", "SIGKILL to the bridge")
def _device_killed(trials: int, rng: random.Random) -> list[Trial]:
    return strike_hand(trials, rng, signal.SIGKILL)


@kind("device stopped", "processes", "SIGSTOP to the bridge for 60 ms")
def _device_stopped(trials: int, rng: random.Random) -> list[Trial]:
    return strike_hand(trials, rng, signal.SIGSTOP)


def enduring(
    name: str, about: str, during: Callable[[Site, random.Random], None], complete: bool, **server: object
) -> None:
    """A kind that must not cost the force, nor what is recorded."""

    @kind(name, "processes", about)
    def _run(trials: int, rng: random.Random) -> list[Trial]:
        found = []
        with Site() as site:
            record = site.serve(**server)  # type: ignore[arg-type]
            site.hold()
            for _ in range(trials):
                if not site.pushing():
                    found.append(Trial(wrong=["there was no force to begin with"]))
                    continue
                number, struck_s = site.log.written, time.monotonic()
                during(site, rng)
                trial = site.trial(struck_s, number, zero=False)
                if not site.pushing(within_s=5.0):
                    trial.wrong.append("the force did not last")
                found.append(trial)
            site.strike_server(signal.SIGTERM)
            status = site.ended()
            if status != "0":
                found[-1].wrong.append(f"the server ended with status {status}")
            found[-1].whole = read_whole(record, complete)[1]
        return found


def _rest(site: Site, rng: random.Random) -> None:
    time.sleep(rng.uniform(0.1, 0.3))


def _again(site: Site, rng: random.Random) -> None:
    """The device leaves and comes back: the server has much to say."""
    site.block()
    assert site.hand is not None
    site.hand.terminate()
    site.hand.wait()
    site.hold()


def _flood(site: Site, rng: random.Random) -> None:
    """Junk, in whole messages and in none, straight to the socket."""
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


enduring("disk full", "files may not grow beyond 300 kB", _rest, False, longest_file=300_000)
enduring("disk hangs", "a write to the recording takes 1 s, again and again", _rest, True, hang_s=1.0)
enduring("terminal blocked", "nobody reads what the server says; the device leaves and comes back", _again,
         True, blocked=True)  # fmt: skip
enduring("junk on the socket", "bytes that are no ZeroMQ from twenty peers", _flood, True)
