"""Let a server run for an hour with all that meets it, and see whether anything grows.

    python tools/soak.py                          60 minutes at 1 kHz
    python tools/soak.py --minutes 5 --json -     shorter; the numbers

A server that records, a scripted hand that presses and drags, an observer of every topic, clients of the
control road that come and go, and a device that leaves and comes back once a minute.  Every ten seconds
resident memory, open descriptors and threads of the server and of the device are noted.  The first fifth of
the time is not counted: pages are touched for the first time then.  A straight line through the rest, by
least squares, is what an hour adds; the error of its slope is that of points that scatter.

Ends with status 1 where memory grows by more than LIMIT_MIB an hour (and by more than three times the error
of the slope), where descriptors or threads at the end are more than they were, or where the server complains.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from bench_trips import clicking_script
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.errors import HapticsimError
from hapticsim.process.child import PYTHON

CONFIG = Path(__file__).parent.parent / "configs" / "wam_table.yaml"
EVERY_S, REJOIN_EVERY_S, START_S = 10.0, 60.0, 300.0
COUNTED = 0.8  # of the time
LIMIT_MIB = 2.0  # an hour
COLUMNS = ("memory_MiB", "descriptors", "threads")
OBSERVER = (
    "import sys, hapticsim\nwith hapticsim.Subscriber(sys.argv[1]) as s:\n    while True: s.receive(1.0)"
)


def of_process(pid: int) -> tuple[float, float, float]:
    """Resident memory [MiB], descriptors, threads."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
    )
    memory = float(status["VmRSS"].split()[0]) / 1024.0
    return memory, float(len(os.listdir(f"/proc/{pid}/fd"))), float(status["Threads"])


class Soak:
    """The processes, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.errors = folder, folder / "errors.txt"
        endpoints = {name: f"ipc://{folder}/{name}.sock" for name in ("device", "publish", "control")}
        self.device_endpoint, self.control = endpoints["device"], endpoints["control"]
        command = [*PYTHON, "-m", "hapticsim", "serve", str(CONFIG), "--quiet"]
        command += ["--record", str(folder / "soak.mcap")]
        for name, endpoint in endpoints.items():
            command += [f"--{name}-endpoint", endpoint]
        with self.errors.open("w") as errors:
            self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        self.observer = subprocess.Popen([*PYTHON, "-c", OBSERVER, endpoints["publish"]])
        self.hand: subprocess.Popen[bytes] | None = None
        self._stats = hs.Subscriber(endpoints["publish"], ("stats",))
        if self._stats.latest("stats", START_S) is None:
            self.observer.kill()
            self.server.kill()
            sys.exit(f"the server did not start:\n{self.errors.read_text()}")
        self._said = len(self.errors.read_text())  # progress of a first start is no complaint
        self.rejoin()

    def rejoin(self) -> None:
        """Let the device leave and come back."""
        self.leave()
        command = [
            *PYTHON,
            "-m",
            "hapticsim_devices",
            "scripted",
            "--endpoint",
            self.device_endpoint,
            "--realtime",
        ]
        with (self.folder / "device.txt").open("w") as out:
            self.hand = subprocess.Popen([*command, "--options", clicking_script()], stderr=out)

    def leave(self) -> None:
        if self.hand is not None:
            self.hand.terminate()
            self.hand.wait(10.0)

    def ask(self) -> None:
        """A client of the control road comes, asks, is refused, and goes."""
        with hs.Switches(self.control) as switches, contextlib.suppress(HapticsimError):
            switches.constraints()
            switches.switch("nothing", True)

    def statistics(self) -> Found:
        """The newest; asked for often, as a subscriber that does not read gets nothing new."""
        return dict(self._stats.latest("stats", 5.0) or {})

    def complaints(self) -> str:
        return self.errors.read_text()[self._said :].strip()

    def end(self) -> None:
        self.leave()
        self.observer.kill()
        self.observer.wait()
        self._stats.close()
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30.0)


def slope(time_s: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """What an hour adds, and the standard error of it, by least squares."""
    t = (time_s - time_s.mean()) / 3600.0
    b = float(t @ values / (t @ t))
    rest = values - values.mean() - b * t
    return b, float(np.sqrt(rest @ rest / max(len(t) - 2, 1) / (t @ t)))


def measure(minutes: float) -> Found:
    """Return everything this tool measures."""
    noted: list[list[float]] = []
    with tempfile.TemporaryDirectory(prefix="hs-") as name:
        soak = Soak(Path(name))
        try:
            start = next_rejoin = time.monotonic()
            while (now := time.monotonic()) - start < 60.0 * minutes:
                noted.append([now - start, *of_process(soak.server.pid)])  # those who went are gone by now
                if now >= next_rejoin + REJOIN_EVERY_S:
                    next_rejoin = now
                    soak.rejoin()
                soak.ask()
                statistics = soak.statistics()
                print(f"\r{(now - start) / 60.0:5.1f} min  {noted[-1][1]:.1f} MiB ", end="", file=sys.stderr)
                time.sleep(min(EVERY_S, 60.0 * minutes / 30.0))
            print(file=sys.stderr)
        finally:
            soak.end()
        complaints = soak.complaints()
    rows = np.array(noted)
    counted = rows[rows[:, 0] >= (1.0 - COUNTED) * 60.0 * minutes]
    tail = max(len(counted) // 5, 1)
    found: Found = {"machine": machine("pyzmq"), "minutes": minutes, "complaints": complaints}
    found["ticks"], found["missed"] = statistics.get("ticks", 0), statistics.get("missed", 0)
    found["rows_lost"] = statistics.get("rows_lost", 0)
    for i, column in enumerate(COLUMNS, 1):
        per_hour, error = slope(counted[:, 0], counted[:, i])
        found[column] = {
            "first": float(np.median(counted[:tail, i])),
            "last": float(np.median(counted[-tail:, i])),
            "largest": float(rows[:, i].max()),
            "per_hour": per_hour,
            "error": error,
        }
    found["failures"] = failures(found)
    return found


def failures(found: Found) -> list[str]:
    """What grew, in sentences."""
    out = []
    memory = found["memory_MiB"]
    if memory["per_hour"] > LIMIT_MIB and memory["per_hour"] > 3.0 * memory["error"]:
        out.append(f"memory grows by {memory['per_hour']:.2f} +- {memory['error']:.2f} MiB an hour")
    for column in COLUMNS[1:]:
        if found[column]["last"] > found[column]["first"]:
            out.append(f"{column} grew from {found[column]['first']:g} to {found[column]['last']:g}")
    if found["complaints"]:
        out.append(f"the server complained: {found['complaints'].splitlines()[0]}")
    return out


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the verdict."""
    table = Table(box=SIMPLE, title=f"{found['minutes']:g} minutes, {found['ticks']} ticks")
    for column in ("of the server", "first", "last", "largest", "an hour adds"):
        table.add_column(column, justify="left" if column == "of the server" else "right", no_wrap=True)
    for column in COLUMNS:
        c = found[column]
        numbers = [f"{c[n]:.1f}" for n in ("first", "last", "largest")]
        table.add_row(column, *numbers, f"{c['per_hour']:+.2f} +- {c['error']:.2f}")
    console.print(table)
    console.print(f"{found['missed']} ticks missed, {found['rows_lost']} rows lost")
    for failure in found["failures"]:
        console.print(f"FAILED: {failure}", markup=False)
    if not found["failures"]:
        console.print("nothing grows")
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    options = parser.parse_args()
    if not options.minutes >= 1.0:
        parser.error("--minutes must be 1 or more.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and the processes end too
    kept: list[Found] = []

    def measured() -> Found:
        kept.append(measure(options.minutes))
        return kept[0]

    report(options, measured, show)
    sys.exit(int(bool(kept[0]["failures"])))


if __name__ == "__main__":
    main()
