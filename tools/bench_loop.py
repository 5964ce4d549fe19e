"""Measure how punctual the real loop is, with a device, an observer and a contact, beside cyclictest.

    python tools/bench_loop.py                                 10 s of each for configs/wam_table.yaml
    python tools/bench_loop.py --json - --seconds 60 CONFIG    the numbers

Three servers in this process, one after the other: at the scene's rate; the same with two busy Python threads
beside it; and at 4 kHz.  Each has a scripted driver in a process of its own, which presses the handle onto
what lies below it, drags it about and lifts it now and then, and an observer process that subscribes to
everything.  ``cyclictest -m -p 80`` (package rt-tests), where it may, takes its turn alone: what kernel and
machine allow a C program that does nothing but wake.  Turns alternate, ``--rounds`` times, so that a noisy
neighbour meets all.

Lateness: start of a tick after its deadline.  Execution: from there until force, state and row are written.
Counting starts at the first contact.  ``missed`` are deadlines that were skipped because a tick ended after
them; ``own`` are those that an execution longer than the period explains.  A virtual processor taken away
during a tick looks like a long execution; ``steal`` is the share of time that the kernel knows was taken.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from json import dumps
from pathlib import Path

import numpy as np
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.process.child import Child
from hapticsim.server.server import Server

FAST_HZ = 4000.0
BUSY_THREADS = 2
PRESS_DEPTH_M, DRAG_M, DRAG_S, DRAGS = 0.065, 0.03, 1.0, 4  # below the start: 15 mm into the WAM's table
TO_CONTACT_S = 15.0  # patience; without contact the run is measured all the same, and says so
OBSERVER = """
import sys, hapticsim
with hapticsim.Subscriber(sys.argv[1], topics=("scene", "state", "events", "stats")) as server:
    while True:
        server.receive(1.0)
"""
NAMES = {50.0: "p50", 99.0: "p99", 99.9: "p999", 99.99: "p9999"}


@dataclass
class Run:
    """What was seen of one way to run the loop, over all of its turns."""

    scene: hs.Scene
    busy: int  # Python threads that never rest
    late_us: list[np.ndarray] = field(default_factory=list)
    work_us: list[np.ndarray] = field(default_factory=list)
    touching: list[np.ndarray] = field(default_factory=list)
    armed: list[np.ndarray] = field(default_factory=list)
    trips_us: list[dict[str, float]] = field(default_factory=list)
    missed: int = 0
    rows_lost: int = 0
    scheduling: str = ""
    steal: list[float] = field(default_factory=list)

    def result(self) -> Found:
        """Return the numbers."""
        late, work = np.concatenate(self.late_us), np.concatenate(self.work_us)
        touching, period_us = np.concatenate(self.touching), 1e6 / self.scene.rate_Hz
        return {
            "rate_Hz": self.scene.rate_Hz,
            "busy_threads": self.busy,
            "ticks": len(late),
            "missed": self.missed,
            "missed_own": int((work // period_us).sum()),
            "contact_share": float(touching.mean()),
            "armed_share": float(np.concatenate(self.armed).mean()),
            "lateness_us": percentiles(late),
            "execution_us": percentiles(work),
            "execution_in_contact_us": percentiles(work[touching]),
            "round_trip_us": {p: max(t[p] for t in self.trips_us) for p in ("p50", "p99")},
            "rows_lost": self.rows_lost,
            "steal_share": float(np.mean(self.steal)),
            "scheduling": self.scheduling,
        }


def percentiles(samples: np.ndarray) -> dict[str, float]:
    """Return p50, p99, p99.9, p99.99 and the largest of some samples; zeros when there are none."""
    if len(samples) == 0:
        return dict.fromkeys([*NAMES.values(), "max"], 0.0)
    values = np.percentile(samples, list(NAMES))
    return {**dict(zip(NAMES.values(), map(float, values), strict=True)), "max": float(samples.max())}


def script() -> str:
    """Return the options of the scripted driver: down onto the table, drag, lift, again and again."""
    path = [(0.0, (0.0, 0.0)), (0.8, (0.0, 0.0)), (1.8, (0.0, -PRESS_DEPTH_M))]
    for i in range(DRAGS):
        path.append((path[-1][0] + DRAG_S, (DRAG_M if i % 2 == 0 else -DRAG_M, -PRESS_DEPTH_M)))
    path += [(path[-1][0] + 0.7, (0.0, -PRESS_DEPTH_M)), (path[-1][0] + 1.7, (0.0, 0.0))]
    return dumps(
        {
            "waypoints": [{"time_s": t, "position_m": [x, 0.0, z]} for t, (x, z) in path],
            "presses": [{"time_s": 0.2, "button": "engage"}],
            "repeat": True,
        }
    )


@contextmanager
def busy_threads(number: int) -> Iterator[None]:
    """Keep Python busy with threads that never rest."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def take_turn(run: Run, seconds: float) -> None:
    """Run a server with its device and observer for some seconds of contact, and add what was seen."""
    rows: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            run.scene,
            device_endpoint=f"ipc://{folder}/device.sock",
            publish_endpoint=f"ipc://{folder}/publish.sock",
            progress=sys.stderr.write,
        )
        forces = [i for i, name in enumerate(server.loop.columns) if name.startswith("force_N[")]
        wanted = [PLACE["lateness_us"], PLACE["execution_us"], PLACE["safety"], *forces]
        server.outlet.on_rows = lambda new: rows.append(new[:, wanted].copy())
        device = ["-m", "hapticsim_devices", "scripted", "--endpoint", server.device_endpoint, "--realtime"]
        children: list[Child] = []
        server.start()
        try:
            children.append(Child("device", [*device, "--options", script()], _tell, restart=False))
            children.append(
                Child("observer", ["-c", OBSERVER, server.publisher.endpoint], _tell, restart=False)
            )
            give_up = time.monotonic() + min(TO_CONTACT_S, 5.0 * seconds)
            while time.monotonic() < give_up and not (rows and np.any(rows[-1][-1, 3:] > 0.0)):
                time.sleep(0.02)
            with busy_threads(run.busy):
                time.sleep(0.2)
                rows.clear()
                server.loop.reset_statistics()
                stolen = Steal()
                time.sleep(seconds)
                run.steal.append(stolen.share())
                statistics = server.statistics()
        finally:
            for child in children:
                child.end()
            server.stop()
    seen = np.concatenate(rows)[: math.ceil(seconds * run.scene.rate_Hz)]
    run.late_us.append(seen[:, 0])
    run.work_us.append(seen[:, 1])
    run.armed.append(seen[:, 2] == Safety.ARMED)
    run.touching.append(np.any(seen[:, 3:] > 0.0, axis=1))
    run.trips_us.append(statistics["round_trip_us"])
    run.missed += statistics["missed"]
    run.rows_lost += statistics["rows_lost"]
    run.scheduling = statistics["scheduling"]


class Steal:
    """Share of processor time that a hypervisor gave to others since this was built (0 if it is not told)."""

    def __init__(self) -> None:
        self._before = self._read()

    def share(self) -> float:
        steal, total = (now - then for now, then in zip(self._read(), self._before, strict=True))
        return steal / total if total > 0 else 0.0

    @staticmethod
    def _read() -> tuple[int, int]:
        stat = Path("/proc/stat")
        if not stat.exists():
            return 0, 0
        ticks = [int(x) for x in stat.read_text().splitlines()[0].split()[1:]]
        return ticks[7], sum(ticks[:8])


def why_no_cyclictest() -> str | None:
    """Return why cyclictest cannot run here, or None."""
    if shutil.which("cyclictest") is None:
        return "cyclictest is not installed (package rt-tests)"
    try:
        cyclictest(1000, 1.0)
    except subprocess.CalledProcessError as failed:
        return f"cyclictest may not use priority 80 here: {failed.stderr.strip().splitlines()[-1]}"
    return None


def cyclictest(period_us: int, seconds: float) -> np.ndarray:
    """Return latencies [us] of cyclictest; its histogram has bins of 1 us."""
    command = ["cyclictest", "-m", "-q", "-p", "80", "-i", str(period_us), "-h", "4000"]
    command += ["-D", str(max(1, round(seconds)))]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = np.array([(int(b), int(n)) for b, n in re.findall(r"^(\d+)\s+(\d+)\s*$", text, re.MULTILINE)])
    samples = np.repeat(counts[:, 0], counts[:, 1]).astype(float)
    beyond, largest = (
        int(re.search(rf"# {title}:\s*(\d+)", text).group(1))  # type: ignore[union-attr]
        for title in ("Histogram Overflows", "Max Latencies")
    )
    return np.concatenate([samples, np.full(beyond, float(largest))])


def measure(config: Path, seconds: float, rounds: int) -> Found:
    """Return everything this tool measures."""
    scene = hs.load(config)
    rate = f"{scene.rate_Hz:g} Hz"
    runs = {
        rate: Run(scene, 0),
        f"{rate}, busy Python": Run(scene, BUSY_THREADS),
        f"{FAST_HZ:g} Hz": Run(replace(scene, rate_Hz=FAST_HZ), 0),
    }
    reason = why_no_cyclictest()
    alone: list[np.ndarray] = []
    for number in range(rounds):
        if reason is None:
            alone.append(cyclictest(round(1e6 * scene.tick_s), seconds / rounds))
        for name, run in runs.items():
            print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
            take_turn(run, seconds / rounds)
    found = {name: run.result() for name, run in runs.items()}
    quiet, busy = found[rate], found[f"{rate}, busy Python"]
    return {
        "machine": machine("pyzmq"),
        "scene": scene.name,
        "seconds": seconds,
        "rounds": rounds,
        "runs": found,
        "cyclictest": {"skipped": reason}
        if reason
        else {"lateness_us": percentiles(np.concatenate(alone)), "wakes": sum(map(len, alone))},
        "targets": {
            f"{rate}: execution in contact p99.9 [us]": target(
                quiet["execution_in_contact_us"]["p999"], 50.0
            ),
            f"{rate}: ticks missed by own execution": target(quiet["missed_own"], 0),
            f"{rate}: lateness p99 added by busy Python [us]": target(
                busy["lateness_us"]["p99"] - quiet["lateness_us"]["p99"], 10.0
            ),
            f"{FAST_HZ:g} Hz: share of ticks missed by own execution": target(
                found[f"{FAST_HZ:g} Hz"]["missed_own"] / found[f"{FAST_HZ:g} Hz"]["ticks"], 1e-4
            ),
            f"{FAST_HZ:g} Hz: execution p99.9 [us]": target(
                found[f"{FAST_HZ:g} Hz"]["execution_us"]["p999"], 1e6 / FAST_HZ
            ),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(
        box=SIMPLE,
        title=f"{found['scene']}: {found['seconds']:g} s of each in {found['rounds']} turns; "
        "p50 / p99 / p99.9 / max in microseconds",
    )
    for column in ("loop", "lateness", "execution", "missed (own)", "contact"):
        table.add_column(column, justify="left" if column == "loop" else "right", no_wrap=True)
    for name, r in found["runs"].items():
        table.add_row(name, *_cells(r))
        if before and name in before["runs"]:
            table.add_row("  before", *_cells(before["runs"][name]))
    alone = found["cyclictest"]
    if "skipped" not in alone:
        table.add_row("cyclictest", _four(alone["lateness_us"]))
    console.print(table)
    if "skipped" in alone:
        console.print(f"without cyclictest: {alone['skipped']}")
    for name, r in found["runs"].items():
        trip = r["round_trip_us"]
        console.print(
            f"{name}: {r['scheduling']}; armed {r['armed_share']:.0%}; round trip p50 {trip['p50']:.0f}, "
            f"p99 {trip['p99']:.0f} us; {r['rows_lost']} rows lost; steal {r['steal_share']:.1%}"
        )
    show_targets(console, found)
    console.print(machine_line(found))


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


def _four(values: dict[str, float]) -> str:
    shown = (values[p] for p in ("p50", "p99", "p999", "max"))
    return " / ".join(f"{x:.1f}" if x < 100.0 else f"{x:.0f}" for x in shown)


def _cells(r: Found) -> list[str]:
    return [
        _four(r["lateness_us"]),
        _four(r["execution_us"]),
        f"{r['missed']} ({r['missed_own']})",
        f"{r['contact_share']:.0%}",
    ]


def main() -> None:
    parser = parser_of(__doc__)
    default = Path(__file__).parent.parent / "configs" / "wam_table.yaml"
    add = parser.add_argument
    add("config", nargs="?", type=Path, default=default, help="scene (configs/wam_table.yaml)")
    add("--seconds", type=float, default=10.0, help="of each loop, all turns together (10)")
    add("--rounds", type=int, default=2, help="turns that each takes (2)")
    options: argparse.Namespace = parser.parse_args()
    if not (options.seconds > 0.0 and options.rounds >= 1):
        parser.error("--seconds must be above 0 and --rounds 1 or more.")
    report(options, lambda: measure(options.config, options.seconds, options.rounds), show)


if __name__ == "__main__":
    main()
