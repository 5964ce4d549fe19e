"""Measure what looking ahead saves in the ticks where something happens.

    python tools/bench_anticipation.py                      2 s of virtual time, 10 s on the clock
    python tools/bench_anticipation.py --json - --seconds 60    the numbers

Forty speeds: legs on a stand, whose feet come down one by one and bounce, and legs on a trunk, through which
they strike one another, up to sixteen events a tick.  Virtual time: the same inputs without looking ahead,
with it, and with forecasts that are wrong; processor time, trial steps and adopted choices of every tick.
On the clock: the loop drops the legs on the stand again and again, without and with the thread that looks
ahead.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from bench_loop import percentiles
from many_legs import many_legs
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.codes import Event
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.realtime.ahead import Foresight
from hapticsim.realtime.loop import RealTimeLoop

AHEAD_S = 0.02
EVERY = 5  # ticks between two looks in virtual time
DROP_S = 2.0  # between two drops on the clock
EVENTS = (Event.TOUCH, Event.LEAVE, Event.IMPULSE)
WARM = 5  # first ticks that do not count


def virtual(how: str, ticks: int, stand: bool) -> Found:
    """Drop the legs: how is ``without``, ``with`` or ``wrong``."""
    simulation = hs.Simulation(many_legs(contacts=True, anticipate_s=AHEAD_S, stand=stand), sys.stderr.write)
    foresight = Foresight(simulation.assembly)
    inp, rng = simulation._input, np.random.default_rng(1)
    taken, counts = np.zeros(ticks), np.zeros((ticks, 9), int)
    for k in range(ticks):
        if how != "without":
            if k % EVERY == 0:
                foresight.look(simulation._state, inp, round(1000 * AHEAD_S))
            foresight.tell(inp, k)
        if how == "wrong":
            inp.hint[:, 1] = rng.uniform(-2000.0, 2000.0, len(inp.hint))
            inp.hint[:, 2:] = np.floor(rng.uniform(0.0, 2.0**40, (len(inp.hint), 2)))
        start = time.thread_time_ns()
        simulation.step()
        taken[k] = 1e-3 * (time.thread_time_ns() - start)
        counts[k] = simulation._output.counts
    taken, counts = taken[WARM:], counts[WARM:]
    eventful = counts[:, 5] > 0
    crossings = int(counts[:, 5].sum())
    return {
        "execution_us": percentiles(taken),
        "eventful_us": percentiles(taken[eventful]),
        "eventful_ticks": int(eventful.sum()),
        "crossings": crossings,
        "trials_per_crossing": float(counts[eventful, 6].sum() / max(1, crossings)),
        "adopted": int(counts[:, 7].sum()),
    }


def on_the_clock(how: str, seconds: float) -> Found:
    """Drop the mechanism again and again in the loop: how is ``without`` or ``with``."""
    assembly = assemble(many_legs(contacts=True, anticipate_s=AHEAD_S if how == "with" else 0.0, stand=True))
    loop = RealTimeLoop(assembly, progress=sys.stderr.write)
    start, rows, events = assembly.new_state(), [], set()
    loop.start()
    until, drop = time.monotonic() + seconds, time.monotonic() + DROP_S
    try:
        while time.monotonic() < until:
            time.sleep(0.05)
            rows.append(loop.drain()[:, [1, PLACE["execution_us"]]].copy())
            events |= {tick for tick, kind, *_ in loop.drain_events() if kind in EVENTS}
            if time.monotonic() > drop:
                loop.adopt(start)
                drop += DROP_S
        statistics = loop.statistics()
    finally:
        loop.stop()
    seen = np.concatenate(rows)
    eventful = np.isin(seen[:, 0], list(events))
    return {
        "execution_us": percentiles(seen[:, 1]),
        "eventful_us": percentiles(seen[eventful, 1]),
        "eventful_ticks": int(eventful.sum()),
        "missed": statistics["missed"],
        "looks": statistics["looks_ahead"],
    }


def measure(ticks: int, seconds: float) -> Found:
    """Return everything this tool measures."""
    found = {
        f"{kind}, {how}": virtual(how, ticks, kind == "stand")
        for kind in ("stand", "trunk")
        for how in ("without", "with", "wrong")
    }
    found |= {f"clock, {how}": on_the_clock(how, seconds) for how in ("without", "with")}
    worst = {name: run["eventful_us"]["max"] for name, run in found.items()}
    trials = {name: run.get("trials_per_crossing", 0.0) for name, run in found.items()}
    return {
        "machine": machine(),
        "runs": found,
        "targets": {
            "stand: worst tick in virtual time, with by without": target(
                worst["stand, with"] / worst["stand, without"], 1.0
            ),
            "stand: trial steps that a wrong forecast adds to a crossing": target(
                trials["stand, wrong"] - trials["stand, without"], 1.0
            ),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(box=SIMPLE, title="ticks with events: execution in microseconds")
    columns = ("run", "ticks", "p50", "p99", "p99.9", "max", "trials/crossing", "adopted", "before max")
    for column in columns:
        table.add_column(column, justify="left" if column == "run" else "right", no_wrap=True)
    for name, r in found["runs"].items():
        us = r["eventful_us"]
        figures = (f"{us[p]:.0f}" for p in ("p50", "p99", "p999", "max"))
        trials = f"{r['trials_per_crossing']:.2f}" if "trials_per_crossing" in r else ""
        old = f"{before['runs'][name]['eventful_us']['max']:.0f}" if before else ""
        table.add_row(name, str(r["eventful_ticks"]), *figures, trials, str(r.get("adopted", "")), old)
    console.print(table)
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--ticks", type=int, default=2000, help="in virtual time (2000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run on the clock (10)")
    options = parser.parse_args()
    if not (options.ticks > WARM and options.seconds > DROP_S):
        parser.error(f"--ticks must be above {WARM} and --seconds above {DROP_S:g}.")
    report(options, lambda: measure(options.ticks, options.seconds), show)


if __name__ == "__main__":
    main()
