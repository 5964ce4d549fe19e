"""Attack the three roads of a running server with bytes, and print what its memory does.

    python tools/attack_server.py                      10 s for each attack on each road
    python tools/attack_server.py --seconds 60

Attackers speak ZMTP as far as it suits them: floods of subscriptions, messages that never end, frames that
are announced and never come, pings, noise; six connections at a time, opened anew as often as they are ended.
A hand pushes on the table meanwhile, and an observer counts how long it hears nothing.  Fails when the server
grew by more than 64 MiB, ended, or complained of anything but its peers.
"""

from __future__ import annotations

import argparse
import random
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fuzz_server import Served, pushing
from fuzz_wire import resident_MiB

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.recording.reader import read_recording
from hapticsim.wire.messages.device import MAX_BYTES
from hapticsim.wire.sockets.zmtp import GREETING, encode_frame, ready

MORE, COMMAND = 1, 4
GROWTH_LIMIT_MiB = 64.0
CONNECTIONS = 6
TOLD = "was disconnected"

Attack = Callable[[random.Random], bytes]


def subscriptions(rng: random.Random) -> bytes:
    """To what nobody publishes, each another one."""
    return b"".join(encode_frame(b"\1" + rng.randbytes(rng.randrange(60))) for _ in range(2000))


def unfinished(rng: random.Random) -> bytes:
    """Frames of a message that never ends."""
    return encode_frame(rng.randbytes(rng.choice([0, 50, 4000])), MORE) * 100


def several(rng: random.Random) -> bytes:
    """Messages of a few frames each."""
    return (encode_frame(bytes(1000), MORE) * rng.randrange(1, 8) + encode_frame(b"")) * 50


def announced(rng: random.Random) -> bytes:
    """The head of a frame that is too long."""
    return struct.pack(">BQ", 2, rng.choice([MAX_BYTES + 1, 2**31, 2**63 - 1])) + bytes(100)


def pings(rng: random.Random) -> bytes:
    """With something to be echoed."""
    return encode_frame(b"\4PING\0\0" + bytes(rng.randrange(17)), COMMAND) * 1000


def noise(rng: random.Random) -> bytes:
    """Bytes."""
    return rng.randbytes(4096)


ATTACKS: tuple[Attack, ...] = (subscriptions, unfinished, several, announced, pings, noise)


class Connection:
    """One that comes back when it is ended."""

    def __init__(self, path: str, kind: str) -> None:
        self._path, self._kind, self.opened = path, kind, 0
        self._open()

    def _open(self) -> None:
        self.opened += 1
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._link.settimeout(0.05)
        try:
            self._link.connect(self._path)
            self._link.sendall(GREETING + ready(self._kind))
        except OSError:
            time.sleep(0.005)

    def send(self, data: bytes) -> int:
        try:
            self._link.sendall(data)
        except OSError:
            self.close()
            self._open()
            return 0
        return len(data)

    def close(self) -> None:
        self._link.close()


def attack_road(
    road: str, path: str, attack: Attack, seconds: float, observer: hs.Subscriber
) -> tuple[int, int, float]:
    """Attack for some seconds; returns bytes sent, connections opened, and the observer's longest silence."""
    rng, sent, longest = random.Random(1), 0, 0.0
    connections = [Connection(path, "SUB" if road == "publish" else "DEALER") for _ in range(CONNECTIONS)]
    until = heard = time.monotonic()
    until += seconds
    while time.monotonic() < until:
        for connection in connections:
            sent += connection.send(attack(rng))
            while observer.receive() is not None:
                heard = time.monotonic()
            longest = max(longest, time.monotonic() - heard)
    for connection in connections:
        connection.close()
    return sent, sum(c.opened for c in connections), longest


def main() -> int:
    """Run all attacks; 0 if the server came through."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each attack on each road (10)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder))
        roads = {"device": served.device, "publish": f"ipc://{folder}/publish.sock"}
        roads["control"] = f"ipc://{folder}/control.sock"
        with hs.Subscriber(roads["publish"], ("state",)) as observer, pushing(served.device, True):
            before = most = resident_MiB(served.process.pid)
            for road, endpoint in roads.items():
                for attack in ATTACKS:
                    path = endpoint.removeprefix("ipc://")
                    sent, opened, silent = attack_road(road, path, attack, options.seconds, observer)
                    if served.process.poll() is not None:
                        sys.exit(f"the server is gone:\n{served.end()}")
                    memory = resident_MiB(served.process.pid)
                    most = max(most, memory)
                    print(
                        f"{road:8} {attack.__name__:14} {sent / 2**20:8.1f} MiB in {opened:5} connections; "
                        f"resident {memory:.1f} MiB ({memory - before:+.1f}), observer silent {silent:.2f} s",
                        flush=True,
                    )
        errors = [line for line in served.end().splitlines() if line.strip() and TOLD not in line]
        recording = read_recording(served.record)
    armed = float(np.mean(recording.column("safety") == Safety.ARMED))
    print(f"{len(recording.data)} ticks, armed {armed:.0%}; at most {most - before:+.1f} MiB")
    failures = {
        f"memory grew by {most - before:.1f} MiB": most - before > GROWTH_LIMIT_MiB,
        "the server complained:\n" + "\n".join(errors): bool(errors),
    }
    for failure in (words for words, true in failures.items() if true):
        print(f"FAILED: {failure}", file=sys.stderr)
    return int(any(failures.values()))


if __name__ == "__main__":
    sys.exit(main())
