"""Time the ticks of bins full of parts in the time-stepping regime: while they fall, and while they lie.

    python tools/bench_piles.py                     30 and 60 parts, three bins each
    python tools/bench_piles.py --parts 10 100
    python tools/bench_piles.py --json - --quick

Bins are those of tools/fuzz_scenes.py --piles, with boxes, balls, capsules and convex meshes.  Times are of
the processor in the thread of the tick, of each tick the least of all rounds, which are the same ticks, so
that what else runs counts little; a period at 1 kHz is 1000 us.
"""

from __future__ import annotations

import time

import numpy as np
from pile_maker import make_pile
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from scene_trial import loaded

import hapticsim as hs

PARTS = (30, 60)
FALL_s, LIE_s = 1.0, 2.0
ROUNDS = 3


def time_bins(parts: int, bins: int, share: float, rounds: int) -> Found:
    """Times of the ticks of several bins [us]."""
    falling: list[float] = []
    lying: list[float] = []
    contacts, loading = [], []
    for seed in range(bins):
        trial = make_pile(seed, parts, FALL_s + LIE_s)
        trial.scene["rate_Hz"] = 1000.0
        start = time.perf_counter()
        scene = loaded(trial)
        sim = hs.Simulation(scene)
        sim.step(3)
        loading.append(time.perf_counter() - start)
        ticks = [round(1000 * seconds * share) for seconds in (FALL_s, LIE_s)]
        least = times_of_ticks(sim, sum(ticks))
        for _ in range(rounds - 1):
            sim = hs.Simulation(scene)
            sim.step(3)
            least = np.minimum(least, times_of_ticks(sim, sum(ticks)))
        falling.extend(least[: ticks[0]])
        lying.extend(least[ticks[0] :])
        contacts.append(len(sim.state.contacts))
    return {
        "falling_us": np.percentile(falling, (50, 99, 99.9)).tolist(),
        "lying_us": np.percentile(lying, (50, 99, 99.9)).tolist(),
        "contacts": float(np.mean(contacts)),
        "load_s": float(np.median(loading)),
    }


def times_of_ticks(sim: hs.Simulation, ticks: int) -> np.ndarray:
    """(ticks,) [us] of the processor, one after the other."""
    times = np.zeros(ticks)
    for i in range(ticks):
        start = time.thread_time()
        sim.step()
        times[i] = 1e6 * (time.thread_time() - start)
    return times


def show(console: Console, found: Found, _: Found | None) -> None:
    """Print the table."""
    table = Table(box=SIMPLE, title="bins of parts: us of the processor per tick")
    columns = (
        "parts",
        "contacts",
        "falling p50",
        "p99",
        "p99.9",
        "lying p50",
        "p99",
        "p99.9",
        r"loaded in \[s]",
    )
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for parts, t in found["parts"].items():
        shown = [f"{us:.0f}" for us in (*t["falling_us"], *t["lying_us"])]
        table.add_row(parts, f"{t['contacts']:.0f}", *shown, f"{t['load_s']:.1f}")
    console.print(table)
    console.print(machine_line(found))


def main() -> None:
    """Take the options, measure and show."""
    parser = parser_of(__doc__)
    parser.add_argument("--parts", type=int, nargs="+", default=PARTS, help="how many, 1 to 80 each")
    parser.add_argument("--bins", type=int, default=3, help="of each size")
    parser.add_argument("--quick", action="store_true", help="few ticks: to see that the tool works")
    options = parser.parse_args()
    if not all(1 <= n <= 80 for n in options.parts):
        parser.error(f"--parts {options.parts}: a scene has at most 4096 pairs; give 1 to 80.")
    bins, share, rounds = (1, 0.05, 1) if options.quick else (options.bins, 1.0, ROUNDS)

    def measure() -> Found:
        parts = {str(n): time_bins(n, bins, share, rounds) for n in options.parts}
        return {"machine": machine("numpy"), "parts": parts}

    report(options, measure, show)


if __name__ == "__main__":
    main()
