"""Strike a server that pushes a hand, and measure when the hand feels nothing.

    python tools/bench_silence.py                          10 strikes of each kind
    python tools/bench_silence.py --strikes 40 --json -    the numbers

A server and a bridge run as processes of their own, as a user has them.  While the bridge applies force, the
server gets SIGKILL or SIGSTOP at a random moment; what counts is the time from that moment to the driver's
first write of zero, on the clock both share.  The bridge runs once at ordinary priority and once with
``--realtime``, where that is permitted.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hapticsim_devices.base import Vector
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.pacing import ask_for_priority
from hapticsim_devices.scripted import Scripted
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.process.child import PYTHON
from hapticsim.wire.device.link import DeviceLink

CONFIG = Path(__file__).parent.parent / "configs" / "wam_table.yaml"
KINDS = {"SIGKILL": signal.SIGKILL, "SIGSTOP": signal.SIGSTOP}
PATIENCE_S = 120.0  # a first server compiles
LOOKED_AFTER_S = 0.05  # at the driver's writes, from the strike on
LEAST_FORCE_N = 0.5
HAND = {  # to and fro, so that there is force; clicks again wherever there is none
    "waypoints": [{"time_s": 0.3 * i, "position_m": [0.02 * (-1) ** i, 0.0, 0.0]} for i in range(5)],
    "presses": [{"time_s": 0.1 + 0.3 * i, "button": "engage", "hold_s": 0.1} for i in range(4)],
    "repeat": True,
}


class Watched(Scripted):
    """A scripted hand that says on standard output when force comes, and when it is gone."""

    force_N = 0.0

    def write(self, force_N: Vector) -> Vector:
        size = sum(c * c for c in force_N) ** 0.5
        if size == 0.0 < self.force_N:
            print(f"zero {time.monotonic_ns()}", flush=True)
        elif size >= LEAST_FORCE_N > self.force_N:
            print("force", flush=True)
        self.force_N = size if size == 0.0 or size >= LEAST_FORCE_N else self.force_N
        return super().write(force_N)


def be_the_bridge(endpoint: str, realtime: bool) -> None:
    """Run the watched hand until killed."""
    driver = Watched(HAND)
    if realtime and (why_not := ask_for_priority()):
        sys.exit(why_not)
    link = DeviceLink(endpoint, driver.info.hello())
    bridge = Bridge(driver, link, wait_s=None)
    signal.signal(signal.SIGTERM, lambda *_: bridge.stop.set())
    bridge.run()


class Pair:
    """A bridge and, whenever one is needed, a server."""

    def __init__(self, folder: str, realtime: bool) -> None:
        self.device = f"ipc://{folder}/device.sock"
        self.publish = f"ipc://{folder}/publish.sock"
        self.server = self._serve()
        command = [sys.executable, __file__, "--bridge", self.device, *(["--realtime"] if realtime else [])]
        self.bridge = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def _serve(self) -> subprocess.Popen[bytes]:
        command = [*PYTHON, "-m", "hapticsim", "serve", str(CONFIG), "--quiet"]
        command += ["--device-endpoint", self.device, "--publish-endpoint", self.publish]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def hear(self, word: str) -> int:
        """Wait for a word of the bridge; returns the number after it, or 0."""
        assert self.bridge.stdout is not None
        for line in self.bridge.stdout:
            said, *number = line.split()
            if said == word:
                return int(number[0]) if number else 0
        sys.exit("the bridge ended: SCHED_FIFO is not permitted, or this is a defect.")

    def strike(self, how: signal.Signals, after_s: float) -> float:
        """Strike once; returns the time to zero force [s]."""
        while True:
            self.hear("force")
            time.sleep(after_s)
            struck_ns = time.monotonic_ns()
            self.server.send_signal(how)
            zero_ns = self.hear("zero")
            if zero_ns > struck_ns:
                break  # else the force had gone by itself between the two: once more
            self.wake(how)
        time.sleep(LOOKED_AFTER_S)
        self.wake(how)
        return 1e-9 * (zero_ns - struck_ns)

    def wake(self, how: signal.Signals) -> None:
        """Have a server again."""
        if how == signal.SIGSTOP:
            self.server.send_signal(signal.SIGCONT)
        else:
            self.server.wait()
            self.server = self._serve()

    def end(self) -> None:
        self.server.kill()
        self.server.wait()
        self.bridge.terminate()
        self.bridge.wait()


def measure(strikes: int) -> Found:
    """Return everything this tool measures."""
    rng = random.Random(1)
    timeout_s = hs.load(CONFIG).safety.timeout_s
    found: Found = {}
    for priority in ("ordinary", "realtime"):
        if priority == "realtime" and not may_have_priority():
            continue
        with tempfile.TemporaryDirectory() as folder:
            pair = Pair(folder, priority == "realtime")
            try:
                for name, how in KINDS.items():
                    times = []
                    for n in range(strikes):
                        print(f"\r{priority}, {name}: {n + 1} of {strikes} ", end="", file=sys.stderr)
                        times.append(1e3 * pair.strike(how, rng.uniform(0.0, 0.1)))
                    print(file=sys.stderr)
                    found[f"{name}, bridge at {priority} priority"] = {"zero_after_ms": sorted(times)}
            finally:
                pair.end()
    return {
        "machine": machine("pyzmq"),
        "timeout_ms": 1e3 * timeout_s,
        "runs": found,
        "targets": {
            f"{name}: worst [ms]": target(run["zero_after_ms"][-1], 1e3 * timeout_s)
            for name, run in found.items()
        },
    }


def may_have_priority() -> bool:
    """Ask in a process of its own: whoever asked has it."""
    code = "import sys; from hapticsim_devices import pacing; sys.exit(pacing.ask_for_priority() is not None)"
    return subprocess.run([sys.executable, "-c", code]).returncode == 0


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(box=SIMPLE, title="zero force after a strike at the server [ms]")
    for column in ("strike", "number", "median", "worst", "before"):
        table.add_column(column, justify="left" if column == "strike" else "right", no_wrap=True)
    for name, run in found["runs"].items():
        times = run["zero_after_ms"]
        old = before["runs"][name]["zero_after_ms"][-1] if before and name in before["runs"] else None
        table.add_row(
            name, str(len(times)), f"{times[len(times) // 2]:.2f}", f"{times[-1]:.2f}",
            "" if old is None else f"{old:.2f}",
        )  # fmt: skip
    console.print(table)
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--strikes", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--bridge", help=argparse.SUPPRESS)
    parser.add_argument("--realtime", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bridge:
        be_the_bridge(options.bridge, options.realtime)
        return
    if options.strikes < 1:
        parser.error("--strikes must be 1 or more.")
    report(options, lambda: measure(options.strikes), show)


if __name__ == "__main__":
    main()
