"""Both sites of a link through random networks and computers, in virtual time, compared to the bit.

    python tools/study_link.py [--runs 200] [--seconds 6] [--seed 0]

Every run draws a delay, jitter, losses, outages, stalls and clocks that drift, plays a visit to the table
through them and counts: ticks before which the two states were not equal to the bit (there must be none),
corrections of the operator's mechanism and the largest step of one (none), commands that were left out or
taken twice (none), how often the force went because the link was late, and how old what was confirmed became.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from hapticsim_devices.scripted import Scripted
from rich.console import Console
from rich.table import Table
from virtual_link import Host, VirtualLink, stalls

import hapticsim as hs
from hapticsim.model.settings import LinkSettings
from hapticsim.simulate.virtual import simulate

CONFIG = Path(__file__).parents[1] / "configs" / "wam_table.yaml"
VISIT_S = 8.0

# name, delay each way [s], jitter [s], loss, stalls a second, longest [ms], drift [ppm], outages a second,
# longest [s]
KINDS: tuple[tuple[str, float, float, float, float, float, float, float, float], ...] = (
    ("no network", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ("jitter 100 ms", 0.1, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ("loss 50 %", 0.1, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0),
    ("stalls to 10 ms", 0.1, 0.0, 0.0, 5.0, 10.0, 0.0, 0.0, 0.0),
    ("stalls to 50 ms", 0.1, 0.0, 0.0, 2.0, 50.0, 0.0, 0.0, 0.0),
    ("drift 100 ppm", 0.1, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0),
    ("outages to 1 s", 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 1.0),
    ("all, outages to 0.1 s", 1.0, 0.1, 0.5, 2.0, 50.0, 100.0, 0.3, 0.1),
)


def one(kind: tuple, scene: Any, visit: np.ndarray, seconds: float, seed: int) -> dict[str, float]:
    """Draw a network of a kind and run it."""
    _, delay, jitter, loss, stalled, longest_ms, drift, cuts, longest_s = kind
    rng = np.random.default_rng(seed)
    up, down = delay * rng.uniform(0.0, 2.0, 2)
    link = LinkSettings(up, down, jitter_s=jitter, loss=loss, seed=seed)
    hosts = [
        Host(drift * rng.choice([-1.0, 1.0]), stalls(rng, seconds + up + down, stalled, longest_ms))
        for _ in range(2)
    ]
    outages = [
        (at * 1e-9, (at + length) * 1e-9) for at, length in stalls(rng, seconds, cuts, 1e3 * longest_s)
    ]
    began = time.perf_counter()
    run = VirtualLink(
        scene, visit, link, *hosts, cut=lambda at_s, way: any(a < at_s < b for a, b in outages)
    ).run(seconds + up + down)
    return {
        "ticks": len(run.remote_loop.executed),
        "differ": run.differing_ticks(),
        "left out": int(not run.is_gapless()),
        "corrections": run.operator.corrections,
        "step": run.largest_step,
        "begun anew": run.operator.losses,
        "force gone": run.faults,
        "waited": run.remote_loop.waited(),
        "over_s": float(np.nanmax(run.ages_s)) - up - down,
        "took_s": time.perf_counter() - began,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run, print a table, return 0 when the two sites were equal in all runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200, help="together, of all kinds of network")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each run")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    scene = hs.load(CONFIG)
    with Scripted({"emulate": "omega_3"}) as hand:
        visit = simulate(scene, hand, VISIT_S)
    table = Table(title=f"{given.runs} networks, {given.seconds:g} s each, both sites to the bit")
    words = ("network", "runs", "ticks", "differ", "left out", "corrections", "largest step", "begun anew")
    for word in (*words, "force gone", "beyond the delay [s]"):
        table.add_column(word, justify="left" if word == "network" else "right")
    wrong = 0
    for n, kind in enumerate(KINDS):
        count = given.runs // len(KINDS) + (n < given.runs % len(KINDS))
        found = [one(kind, scene, visit, given.seconds, given.seed + 1000 * n + i) for i in range(count)]
        if not found:
            continue
        total = {key: sum(f[key] for f in found) for key in found[0]}
        step, over = max(f["step"] for f in found), max(f["over_s"] for f in found)
        wrong += int(total["differ"] + total["left out"] + total["corrections"] + total["begun anew"])
        keys = ("ticks", "differ", "left out", "corrections")
        table.add_row(
            kind[0], str(count), *(f"{total[k]:.0f}" for k in keys), f"{step:g}",
            f"{total['begun anew']:.0f}", f"{total['force gone']:.0f}", f"{over:.3f}",
        )  # fmt: skip
    Console(width=140).print(table)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
