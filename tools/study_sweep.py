"""Energy drift of falling chains of random geometry, on all cores or on a cluster.

    python tools/study_sweep.py                           500 runs on this machine
    python tools/study_sweep.py --runs 2000 --journal drift.jsonl     goes on where it was interrupted
    python tools/study_sweep.py --scheduler tcp://host:8786           the same on a dask cluster

A run is 2 s of RK4 with steps of 1 ms and the compiled forward dynamics of a planar chain of one to four
links, released at rest from random angles.  Chain and start come from the number of the run alone: lengths
0.2 to 0.6 m, masses 0.5 to 2 kg, angles -3 to 3 rad.  Its drift is the largest deviation of the total energy,
relative to the largest kinetic energy.  The checksum is of all drifts and final angles, bit by bit: runs on
the same kind of processor give the same one, wherever they ran.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from typing import Any

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from hapticsim.equations.compiled import compile_equations
from hapticsim.errors import HapticsimError
from hapticsim.offline.chains import planar_chain
from hapticsim.offline.run import simulate_offline
from hapticsim.offline.sweeps.sweep import run_sweep

CHAINS = 24  # so many geometries, each compiled once per machine; runs share them
MOST_LINKS = 4
SECONDS, STEP_s = 2.0, 1e-3
PERCENTILES = (0, 5, 25, 50, 75, 95, 100)


def energy_drift(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the relative drift of one run, the number of links and the final angles [rad]."""
    rng = np.random.default_rng(parameters["chain"])
    n = 1 + parameters["chain"] % MOST_LINKS
    lengths, masses = rng.uniform(0.2, 0.6, n), rng.uniform(0.5, 2.0, n)
    equations = compile_equations(planar_chain(lengths.tolist(), masses.tolist(), [0.05] * n), ())
    q0 = np.random.default_rng([parameters["chain"], parameters["start"]]).uniform(-3.0, 3.0, n)
    run = simulate_offline(
        equations, q0, np.zeros(n), SECONDS, integrator="rk4", step_s=STEP_s, store_every_s=STEP_s
    )
    deviation = np.abs(run.energy - run.energy[0]).max()
    return {"links": n, "drift": float(deviation / run.kinetic.max()), "q": run.q[-1].tolist()}


def main() -> None:
    """Sweep and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--workers", type=int, help="processes (default: one per core)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster, such as tcp://host:8786")
    parser.add_argument("--journal", metavar="FILE", help="keep results, and go on from what it holds")
    options = parser.parse_args()
    sets = [{"chain": k % CHAINS, "start": k // CHAINS} for k in range(options.runs)]
    start = time.perf_counter()
    try:
        found = run_sweep(
            energy_drift,
            sets,
            workers=options.workers,
            scheduler=options.scheduler,
            journal=options.journal,
        )
    except HapticsimError as refusal:
        sys.exit(str(refusal))
    except KeyboardInterrupt:
        kept = f" The same command goes on from {options.journal}." if options.journal else ""
        sys.exit(f"interrupted.{kept}")
    show(found, time.perf_counter() - start)


def show(found: list[dict[str, Any]], seconds: float) -> None:
    """Print percentiles of the drift by the number of links, and the checksum."""
    table = Table(
        box=SIMPLE, title=f"largest energy error in {SECONDS:g} s of RK4, {STEP_s * 1e3:g} ms steps"
    )
    for column in ("links", "runs", *(f"{p} %" for p in PERCENTILES)):
        table.add_column(column, justify="right")
    for links in sorted({r["links"] for r in found}):
        drifts = [r["drift"] for r in found if r["links"] == links]
        table.add_row(str(links), str(len(drifts)), *(f"{x:.1e}" for x in np.percentile(drifts, PERCENTILES)))
    Console(width=max(Console().width, 110)).print(table)
    digest = hashlib.sha256(np.concatenate([[r["drift"], *r["q"]] for r in found]).tobytes())
    print(f"{len(found)} runs in {seconds:.1f} s, checksum {digest.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
