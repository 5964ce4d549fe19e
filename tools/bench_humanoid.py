"""Time the ticks of a humanoid that falls on a floor and may touch itself, beside MuJoCo's step.

    python tools/bench_humanoid.py                    humanoid.xml of gymnasium, 1 s of fall and 1 s of lying
    python tools/bench_humanoid.py --robot FILE       another MJCF file with a floor
    python tools/bench_humanoid.py --json -           the numbers; --save and --compare as well

Both begin at the same pose, without friction, actuators and limits of joints, and go their own ways: MuJoCo's
contacts give way.  Told is the time of the processor of a call from Python, in each tick the least of some
rounds over the same ticks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from check_mjcf import gymnasium_models
from mjcf_peer import TOUCHES, MjcfPeer
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.config.load import loads

FALL_s, LIE_s, ROUNDS = 1.0, 1.0, 5
ASKEW = 0.01  # [m, rad] by which each coordinate is off where the file draws the robot
PERCENTILES = (50, 99, 99.9)
REGIMES = ("exact", "time_stepping")


def scene_of(path: Path, regime: str) -> hs.Scene:
    """Everything in the file may touch everything that its masks let it."""
    return loads(
        f"name: humanoid\nrobot: {{mjcf: {{path: '{path.resolve()}', collision: true}}}}\n"
        f'contacts: [{{between: ["*", "*"]}}]\ncontact_regime: {regime}\n',
        path.resolve().with_name("bench.yaml"),
    )


def least_times(begin: Callable[[], object], step: Callable[[], object], ticks: int) -> np.ndarray:
    """Return the time of each tick (ticks,) [us], the least of some rounds."""
    least = np.full(ticks, np.inf)
    for _ in range(ROUNDS):
        begin()
        times = np.empty(ticks)
        for i in range(ticks):
            start = time.thread_time()
            step()
            times[i] = time.thread_time() - start
        least = np.minimum(least, times)
    return 1e6 * least


def split(times: np.ndarray, contacts: int) -> Found:
    """Return percentiles of the fall and of the lying."""
    fall = round(len(times) * FALL_s / (FALL_s + LIE_s))
    return {
        "fall_us": np.percentile(times[:fall], PERCENTILES).tolist(),
        "lie_us": np.percentile(times[fall:], PERCENTILES).tolist(),
        "contacts": contacts,
    }


def time_ours(path: Path, regime: str, ticks: int) -> Found:
    """Return the times of our ticks."""
    peer, sim = MjcfPeer(path), hs.Simulation(scene_of(path, regime))
    sim.set_state(peer.beside(sim.scene.q0, ASKEW), sim.scene.u0)
    first = sim.fork()
    found = split(least_times(lambda: sim.restore(first), sim.step, ticks), len(sim.state.contacts))
    return found | {"pairs": int(sim.plan.pair_a.size), "speeds": peer.model.nu}


def time_mujoco(path: Path, ticks: int) -> Found:
    """Return the times of MuJoCo's steps, by Euler's method."""
    peer, q0 = MjcfPeer(path), scene_of(path, "exact").q0
    mj, data = peer.mj, peer.data
    mj.opt.disableflags = TOUCHES
    mj.opt.timestep, mj.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_EULER
    mj.geom_condim[:] = 1
    mj.geom_margin[:] = 0.0
    q = peer.beside(q0, ASKEW)

    def begin() -> None:
        mujoco.mj_resetData(mj, data)
        peer.place(q, np.zeros(peer.model.nu))

    times = least_times(begin, lambda: mujoco.mj_step(mj, data), ticks)
    return split(times, int(data.ncon))


def measure(path: Path, ticks: int) -> Found:
    """Return everything this tool finds."""
    rows = {regime: time_ours(path, regime, ticks) for regime in REGIMES}
    rows["MuJoCo, Euler"] = time_mujoco(path, ticks)
    return {"machine": machine("mujoco"), "robot": path.name, "rows": rows}


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print a row per regime, and MuJoCo's."""
    of = found["rows"]["exact"]
    title = f"{found['robot']}, {of['speeds']} speeds, {of['pairs']} pairs: us of the processor per tick"
    table = Table(box=SIMPLE, title=title)
    columns = [f"{part} p{p:g}" for part in ("fall", "lie") for p in PERCENTILES]
    for column in ("", *columns, "contacts"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name, row in found["rows"].items():
        times = (f"{us:.0f}" for us in row["fall_us"] + row["lie_us"])
        table.add_row(name, *times, str(row["contacts"]))
    console.print(table)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--robot", type=Path, metavar="FILE", help="an MJCF file (gymnasium's humanoid.xml)")
    parser.add_argument("--quick", action="store_true", help="few ticks: to see that the tool works")
    options = parser.parse_args()
    path = options.robot or gymnasium_models() / "humanoid.xml"
    if not path.is_file():
        parser.error(f"--robot {path} is no file.")
    ticks = round(1e3 * (FALL_s + LIE_s) * (0.02 if options.quick else 1.0))
    report(options, lambda: measure(path, ticks), show)


if __name__ == "__main__":
    main()
