"""Send damaged device messages to a running server, and look for late ticks, lost memory and tracebacks.

    python tools/fuzz_server.py                        as the connected device, 1e6 messages
    python tools/fuzz_server.py --as stranger          beside a device that pushes on the table

The messages are those of fuzz_wire.py: about half are not acceptable.  As the device, a good hello
goes before every 200 of them, so that the damage is done in sessions.  They are sent as fast as the server
takes them.  Fails unless every frame was counted, memory stayed, nothing was written to standard error, and
no tick took longer than the period by what it did itself: the time in which the host stood still, as a probe
on each processor saw it, is not counted (long_ticks.py).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zmq
from bench_loop import script
from fuzz_wire import damaged, resident_MiB
from hapticsim_devices.scripted import Scripted
from long_ticks import LongTicks, TickWatch
from rich.progress import track

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.process.child import PYTHON
from hapticsim.recording.reader import Recording, read_recording
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import Welcome
from hapticsim.wire.messages.fields import Refused

CONFIG = Path(__file__).parent.parent / "configs" / "wam_table.yaml"
PORTION = 200  # messages of a session
START_S, ANSWER_S, QUIET_S = 240.0, 2.0, 5.0
STUCK_MS = 20_000  # a message that the server does not take for so long will never be taken
WARM_UP = 20_000  # messages before memory is measured
GROWTH_LIMIT_MiB = 8.0


class Served:
    """A server in a process of its own, and what it says of itself."""

    def __init__(self, folder: Path) -> None:
        self.device, self.record = f"ipc://{folder}/device.sock", folder / "run.mcap"
        self._errors = folder / "errors.txt"
        self.publish = f"ipc://{folder}/publish.sock"
        command = [*PYTHON, "-m", "hapticsim", "serve", str(CONFIG), "--quiet", "--record", self.record]
        command += ["--device-endpoint", self.device, "--publish-endpoint", self.publish]
        self.process = subprocess.Popen(command, stderr=self._errors.open("w"), stdout=subprocess.DEVNULL)
        self.observer = hs.Subscriber(self.publish, ("stats",))
        if self.observer.latest("stats", START_S) is None:
            sys.exit(f"the server did not start:\n{self._errors.read_text()}")
        self._compiling = len(self._errors.read_text())  # progress of a first start is no trouble

    def statistics(self) -> dict[str, Any]:
        """Return statistics that are newer than this call."""
        self.observer.latest("stats", 0.0)
        time.sleep(1.2)
        stats = self.observer.latest("stats", ANSWER_S)
        self.check()
        if stats is None:
            sys.exit("FAILED: the server publishes no statistics any more.")
        return dict(stats)

    def check(self) -> None:
        """End the program where the server has ended."""
        if self.process.poll() is not None:
            sys.exit(f"FAILED: the server ended:\n{self._errors.read_text()}")

    def end(self) -> str:
        """Stop; returns what it wrote to standard error."""
        self.observer.close()
        self.process.terminate()
        self.process.wait(10.0)
        return self._errors.read_text()[self._compiling :]


def fuzz_as_device(
    socket: zmq.Socket[bytes], rng: random.Random, count: int, served: Served, watch: TickWatch
) -> int:
    """Send damaged messages inside sessions; returns how many frames were sent, hellos included."""
    hello, number, sent = Scripted().info.hello(), 0, 0
    for start in track(range(0, count, PORTION), "fuzzing"):
        watch.look()
        session = 0
        while session == 0:
            number += 1
            hello.number, hello.stamp_ns = number, time.monotonic_ns()
            put(socket, encode(hello), served)
            sent += 1
            session = welcomed(socket, hello.stamp_ns)
            served.check()
        for _ in range(min(PORTION, count - start)):
            number += 1
            put(socket, damaged(rng, number, session), served)
            sent += 1
    return sent


def put(socket: zmq.Socket[bytes], data: bytes, served: Served) -> None:
    """Send a message."""
    try:
        socket.send(data)
    except zmq.Again:
        served.check()
        sys.exit("FAILED: the server takes no messages any more.")


def welcomed(socket: zmq.Socket[bytes], stamp_ns: int) -> int:
    """Wait for the welcome to a hello; returns the session, or 0 after a while."""
    while socket.poll(round(1000 * ANSWER_S)):
        try:
            message = decode(socket.recv())
        except Refused:
            sys.exit("the server sent what is no message: a defect.")
        if isinstance(message, Welcome) and message.echo_ns == stamp_ns:
            return message.session
    return 0


def fuzz_as_stranger(
    socket: zmq.Socket[bytes], rng: random.Random, count: int, served: Served, watch: TickWatch
) -> int:
    """Send damaged messages without having been welcomed; returns how many."""
    for number in track(range(count), "fuzzing"):
        if number % PORTION == 0:
            watch.look()
        put(socket, damaged(rng, number), served)
    return count


@contextmanager
def pushing(endpoint: str, wanted: bool) -> Iterator[None]:
    """Have a scripted hand press on the table and drag, if wanted."""
    if not wanted:
        yield
        return
    command = [*PYTHON, "-m", "hapticsim_devices", "scripted", "--endpoint", endpoint, "--realtime"]
    device = subprocess.Popen([*command, "--options", script()], stderr=subprocess.DEVNULL)
    try:
        time.sleep(3.0)  # until it is down
        yield
    finally:
        device.terminate()
        device.wait()


@dataclass
class Span:
    """Ticks between two looks at the statistics."""

    name: str
    before: dict[str, Any]
    after: dict[str, Any]

    def more(self, key: str) -> int:
        """Return by how much a count grew."""
        return int(self.after[key] - self.before[key])

    def dropped(self) -> Counter[str]:
        return Counter(self.after["dropped"]) - Counter(self.before["dropped"])

    def tell(self, recording: Recording, watch: TickWatch) -> LongTicks:
        """Print how punctual the loop was; returns what took it longer than a period."""
        first, end = int(self.before["ticks"]), int(self.after["ticks"])
        late, work, armed = (
            recording.column(name)[first:end] for name in ("lateness_us", "execution_us", "safety")
        )
        long = watch.judge(recording, first, end)
        print(
            f"{self.name}: {len(late)} ticks, {self.more('missed')} missed; p50/p99/p99.9/max late "
            f"{_four(late)} us, execution {_four(work)} us; "
            f"armed {np.mean(armed == Safety.ARMED):.0%}\n  {long.sentence()}"
        )
        return long


def _four(us: np.ndarray) -> str:
    return "/".join(f"{x:.0f}" for x in [*np.percentile(us, [50.0, 99.0, 99.9]), us.max()])


def main() -> int:
    """Run the fuzz; 0 if the server came through."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="messages (1000000)")
    parser.add_argument("--as", dest="role", choices=("device", "stranger"), default="device")
    options = parser.parse_args()
    stranger, rng, period_us = options.role == "stranger", random.Random(1), 1e6 / hs.load(CONFIG).rate_Hz
    fuzz = fuzz_as_stranger if stranger else fuzz_as_device
    with tempfile.TemporaryDirectory() as folder, zmq.Context() as context:
        served = Served(Path(folder))
        socket = context.socket(zmq.DEALER)
        socket.sndtimeo = STUCK_MS
        socket.connect(served.device)
        with pushing(served.device, stranger), TickWatch(served.publish, 1e-6 * period_us) as watch:
            start = served.statistics()
            time.sleep(QUIET_S)
            quiet = Span("quiet", start, served.statistics())
            fuzz(socket, rng, WARM_UP, served, watch)
            memory, calm = resident_MiB(served.process.pid), served.statistics()
            began = time.monotonic()
            sent = fuzz(socket, rng, options.count, served, watch)
            took_s = time.monotonic() - began
            fuzzed = Span("fuzzed", calm, served.statistics())
            watch.look()
            grown = resident_MiB(served.process.pid) - memory
        socket.close(linger=0)
        errors = served.end()
        recording = read_recording(served.record)
    ticks = recording.column("tick")
    if len(ticks) < fuzzed.after["ticks"] or np.any(ticks != np.arange(len(ticks))):
        sys.exit("FAILED: the recording lacks ticks.")
    quiet.tell(recording, watch)
    own = fuzzed.tell(recording, watch).own
    counted = sum(fuzzed.dropped().values()) + (0 if stranger else fuzzed.more("received"))
    print(f"sent {sent} in {took_s:.0f} s, {sent / took_s:,.0f} a second; counted {counted}:")
    print(f"  refused {dict(sorted(fuzzed.dropped().items()))}, taken {fuzzed.more('received')}")
    print(f"resident memory {memory:.1f} MiB, {grown:+.1f} MiB after")
    failures = {
        f"{sent - counted} frames were not counted": counted != sent,
        f"memory grew by {grown:.1f} MiB": grown > GROWTH_LIMIT_MiB,
        f"{own} ticks took longer than the period by themselves": own > 0,
        f"the server complained:\n{errors}": bool(errors.strip()),
    }
    for failure in (words for words, true in failures.items() if true):
        print(f"FAILED: {failure}", file=sys.stderr)
    return int(any(failures.values()))


if __name__ == "__main__":
    sys.exit(main())
