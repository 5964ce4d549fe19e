"""Count how often the demo loses its force although nothing is wrong, and how often it needs another click.

    python tools/bench_trips.py                       10 minutes quiet, 10 beside a busy process per processor
    python tools/bench_trips.py --minutes 2 --json -  shorter; the numbers

A server in this process and a scripted driver in its own, as ``hapticsim run`` starts them: the hand
presses onto the table, drags and lifts, and clicks twice a second, which does nothing while there is force.
A probe on each processor (hapticsim/realtime/probe.py) sees when the host itself stood still.

Every time the force went away counts, whoever's fault it was: as one that came back by itself, or as one that
needed a click.  The share of time with force is that of the time outside stalls of the host of 4 ms and
more (a bridge cuts the force 6 ms after the last command, which came up to 2 ms before the stall) and the
ramp after them.  Ends with status 1 where the share is below 99 %, and where a click was needed that no such
stall explains: none was about, the host gave the two sides CALM_S to find one another again, or the fault is
one that no stall makes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path

import numpy as np
from bench_loop import script
from campaign.host import longest_s
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.codes import Fault, Safety
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.process.child import Child
from hapticsim.realtime.probe import HostProbe, Stall
from hapticsim.server.host_watch import deadlines_of
from hapticsim.server.server import Server
from hapticsim.wire.messages.fault_words import fault_words

CONFIG = Path(__file__).parent.parent / "configs" / "wam_table.yaml"
START_S = 20.0  # until the first force
EXPLAINS_S = 0.004  # a stall of the host so long may cost the force
BEFORE_S = 0.03  # a stall so long before a loss of force may have led to it
CALM_S = 0.02  # what coming back takes: 5 ms of settling and a round trip, and as much again
CLICK_EVERY_S = 0.5
LOOK_EVERY_S = 1.0  # at the probes, which keep the newest stalls only
LEAST_SHARE = 0.99
OF_A_STALL = Fault.DEVICE_SILENT | Fault.STALLED | Fault.JUMP | Fault.STRETCH | Fault.SUSPENDED
BUSY = """
import os
if hasattr(os, "sched_setscheduler"):  # the server's threads hand on their own
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
parent = os.getppid()
while os.getppid() == parent:
    pass
"""
FORCEFUL = (int(Safety.ARMING), int(Safety.ARMED))
STAYS_OFF = (int(Safety.FAULT), int(Safety.DISARMED))  # until a click
WANTED = [PLACE[name] for name in ("safety", "fault")]


@dataclass(frozen=True)
class Loss:
    """A time without force: start, end [s]; whether the hand had to click, and the faults that made it.

    A click during an interruption does nothing: the force comes back by itself.  ``host_s`` is the longest
    stall of the host from shortly before until the fault, or the force, and ``calm_s`` the longest time
    without one.
    """

    start_s: float
    end_s: float
    clicked: bool
    fault: Fault
    host_s: float
    calm_s: float

    @property
    def is_excused(self) -> bool:
        """Whether a stall of the host explains that a click was needed: it makes some faults only."""
        return not self.fault & ~OF_A_STALL and self.host_s >= EXPLAINS_S and self.calm_s < CALM_S


def clicking_script() -> str:
    """The visit of bench_loop.py, with a click twice a second."""
    options = loads(script())
    period_s = options["waypoints"][-1]["time_s"]
    times = np.arange(0.2, period_s - 0.3, CLICK_EVERY_S)
    options["presses"] = [{"time_s": round(t, 3), "button": "engage"} for t in times.tolist()]
    return dumps(options)


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Keep processors busy with processes of ordinary priority."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def losses_of(safety: np.ndarray, faults: np.ndarray, at_s: np.ndarray, stalls: list[Stall]) -> list[Loss]:
    """Times without force, from the rows of a run that began with force."""
    off = ~np.isin(safety, FORCEFUL)
    edges = np.diff(off.astype(int), prepend=0, append=0)
    found = []
    for first, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        last = min(end, len(at_s) - 1)
        stays = np.isin(safety[first:end], STAYS_OFF)
        fault = Fault(int(np.bitwise_or.reduce(faults[first:end][stays].astype(np.int64))))
        at = float(at_s[first])
        over = float(at_s[first + np.argmax(stays)] if stays.any() else at_s[last])
        since, until = at - BEFORE_S, max(over, at + 0.005)
        host, calm = longest_s(stalls, since, until), calm_s(stalls, at, until)
        found.append(Loss(at, float(at_s[last]), bool(stays.any()), fault, host, calm))
    return found


def calm_s(stalls: list[Stall], start_s: float, end_s: float) -> float:
    """Longest part of a span of time [s] without a stall that may cost the force."""
    longest, reached = 0.0, start_s
    for stall in stalls:  # in the order of their starts
        if stall.length_s >= EXPLAINS_S and stall.end_s > start_s and stall.start_s < end_s:
            longest, reached = max(longest, stall.start_s - reached), max(reached, stall.end_s)
    return max(longest, end_s - reached)


def excused(at_s: np.ndarray, stalls: list[Stall], after_s: float) -> np.ndarray:
    """Which times (n,) [s] lie in a stall of the host, or in the ramp after it."""
    out = np.zeros(len(at_s), bool)
    for stall in stalls:
        if stall.length_s >= EXPLAINS_S:
            first, last = np.searchsorted(at_s, [stall.start_s - 0.001, stall.end_s + after_s])
            out[first:last] = True
    return out


def watched(probe: HostProbe, seconds: float) -> list[Stall]:
    """Wait, and return the stalls of the host meanwhile, in the order of their starts."""
    stalls: list[Stall] = []
    counts, until = probe.counts(), time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0.0:
        time.sleep(min(left, LOOK_EVERY_S))
        since, counts = counts, probe.counts()
        stalls += probe.stalls(since)
    return sorted(set(stalls), key=lambda stall: stall.start_s)


def take_turn(seconds: float, busy: int) -> Found:
    """Run the demo and return what became of its force."""
    scene = hs.load(CONFIG)
    seen: list[np.ndarray] = []
    said: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        endpoints = {f"{n}_endpoint": f"ipc://{folder}/{n}.sock" for n in ("device", "publish", "control")}
        server = Server(scene, **endpoints, probe=True, progress=sys.stderr.write)  # type: ignore[arg-type]
        assert server.host is not None

        def keep(rows: np.ndarray) -> None:
            at = deadlines_of(rows, *server.newest_tick(), scene.tick_s)
            seen.append(np.column_stack([at, rows[:, WANTED]]))

        server.outlet.on_rows = keep
        device = ["-m", "hapticsim_devices", "scripted", "--endpoint", server.device_endpoint, "--realtime"]
        server.start()
        server.adopt_threads()
        child = Child("device", [*device, "--options", clicking_script()], said.append, restart=False)
        try:
            give_up = time.monotonic() + START_S
            while not (seen and seen[-1][-1, 1] == Safety.ARMED):
                if time.monotonic() > give_up:
                    sys.exit(f"the demo never had force:\n{said}")
                time.sleep(0.05)
            with busy_processes(busy):
                time.sleep(0.5)
                seen.clear()
                stalls = watched(server.host.probe, seconds)
                kept = list(seen)  # what comes later is the end of the run
                statistics = server.statistics()
        finally:
            child.end()
            server.stop()
    at_s, safety, faults = np.concatenate(kept).T
    losses = losses_of(safety, faults, at_s, stalls)
    outside = ~excused(at_s, stalls, scene.safety.ramp_s + scene.safety.resume_within_s)
    on = np.isin(safety, FORCEFUL)
    clicks = [loss for loss in losses if loss.clicked]
    return {
        "seconds": seconds,
        "busy_processes": busy,
        "losses": len(losses),
        "losses_after_host_stall": sum(loss.host_s >= EXPLAINS_S for loss in losses),
        "longest_loss_ms": 1e3 * max((loss.end_s - loss.start_s for loss in losses), default=0.0),
        "engages": len(clicks),
        "why": [
            f"{fault_words(loss.fault)} (host {1e3 * loss.host_s:.0f} ms, calm {1e3 * loss.calm_s:.0f} ms)"
            for loss in clicks
        ],
        "engages_not_excused": sum(not loss.is_excused for loss in clicks),
        "share": float(on.mean()),
        "share_outside_stalls": float(on[outside].mean()) if outside.any() else 1.0,
        "time_outside_stalls": float(outside.mean()),
        "host_stalls_ms": sorted(
            (1e3 * s.length_s for s in stalls if s.length_s >= EXPLAINS_S), reverse=True
        ),
        "late": statistics["host"],
        "missed": statistics["missed"],
        "scheduling": statistics["scheduling"],
    }


def measure(minutes: float) -> Found:
    """Return everything this tool measures."""
    runs = {}
    for name, busy in (("quiet", 0), ("a busy process per processor", os.cpu_count() or 1)):
        print(f"{name}: {minutes:g} minutes", file=sys.stderr)
        run = runs[name] = take_turn(60.0 * minutes, busy)
        print(
            f"{name}: {run['losses']} losses, {run['engages']} engages ({run['engages_not_excused']} not "
            f"excused), force on {run['share']:.2%} ({run['share_outside_stalls']:.2%} outside stalls)",
            *(f"  engage after: {why}" for why in run["why"]),
            sep="\n",
            file=sys.stderr,
        )
    return {
        "machine": machine("pyzmq"),
        "runs": runs,
        "targets": {
            **{f"{n}: engages needed": target(r["engages_not_excused"], 0) for n, r in runs.items()},
            **{
                f"{n}: time without force outside stalls of the host": target(
                    1.0 - r["share_outside_stalls"], 1.0 - LEAST_SHARE
                )
                for n, r in runs.items()
            },
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(box=SIMPLE, title="the demo's force; losses: all (after a stall of the host)")
    for column in (
        "beside",
        "minutes",
        "losses",
        "longest",
        "engages",
        "force on",
        "outside stalls",
        "stalls",
    ):
        table.add_column(column, justify="left" if column == "beside" else "right", no_wrap=True)
    for name, run in found["runs"].items():
        table.add_row(name, *_cells(run))
        if before and name in before["runs"]:
            table.add_row("  before", *_cells(before["runs"][name]))
    console.print(table)
    for name, run in found["runs"].items():
        late = run["late"]
        console.print(
            f"{name}: late ticks {late['late_hosts']} in stalls of the host, {late['late_ours']} of our own; "
            f"{run['missed']} ticks missed; {run['scheduling']}"
        )
    show_targets(console, found)
    console.print(machine_line(found))


def _cells(run: Found) -> list[str]:
    stalls = run["host_stalls_ms"]
    return [
        f"{run['seconds'] / 60.0:g}",
        f"{run['losses']} ({run['losses_after_host_stall']})",
        f"{run['longest_loss_ms']:.0f} ms",
        str(run["engages"]),
        f"{run['share']:.2%}",
        f"{run['share_outside_stalls']:.2%} of {run['time_outside_stalls']:.0%}",
        f"{len(stalls)}, {stalls[0]:.0f} ms" if stalls else "none",
    ]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of each (10)")
    options = parser.parse_args()
    if not options.minutes > 0.0:
        parser.error("--minutes must be above 0.")
    kept: list[Found] = []

    def measured() -> Found:
        kept.append(measure(options.minutes))
        return kept[0]

    report(options, measured, show)
    sys.exit(0 if all(t["met"] for t in kept[0]["targets"].values()) else 1)


if __name__ == "__main__":
    main()
