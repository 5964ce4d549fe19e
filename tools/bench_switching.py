"""Change twelve rows of a mechanism with forty speeds while it runs, and a hand holds it.

    python tools/bench_switching.py                     10 s on the clock, 10 s over the wire
    python tools/bench_switching.py --json - --seconds 60    the numbers

Virtual time: every few ticks another subset of the rows is asked for; the processor time of every tick is
taken.  On the clock: a server runs the same mechanism, a scripted hand of a process of its own moves the
trunk about, and a client of the control road switches one row after the other as fast as it is answered.
From the rows of the run: execution, missed ticks, and the largest step of the force on the hand against the
slew limit.
"""

from __future__ import annotations

import sys
import tempfile
import time
from json import dumps

import numpy as np
from bench_loop import Steal, percentiles
from many_legs import ROWS, many_legs
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.process.child import Child
from hapticsim.server.server import Server

EVERY = 4  # ticks between two subsets
SWAY_M = 0.01  # of the hand
LIMIT_US = 300.0


def virtual(ticks: int) -> Found:
    """Time every tick while random subsets hold."""
    simulation = hs.Simulation(many_legs(contacts=False, velocity=0.0), sys.stderr.write)
    rng = np.random.default_rng(1)
    taken, rows, changes = np.zeros(ticks), np.zeros(ticks), 0
    wanted = np.zeros(ROWS, bool)
    for k in range(ticks):
        if k % EVERY == 0:
            wanted, before = rng.random(ROWS) < rng.random(), wanted
            for c in np.flatnonzero(wanted != before):
                simulation.switch(f"row{c}", bool(wanted[c]))
                changes += 1
        if k % 100 == 0:
            simulation.apply(torque=rng.normal(size=simulation.scene.model.nu))
        start = time.thread_time_ns()
        simulation.step()
        taken[k] = 1e-3 * (time.thread_time_ns() - start)
        rows[k] = simulation.rank[1]
    q, u = simulation.state.q, simulation.state.u
    return {
        "ticks": ticks,
        "switches": changes,
        "rows_mean": float(rows.mean()),
        "rows_most": int(rows.max()),
        "finite": bool(np.all(np.isfinite(q)) and np.all(np.isfinite(u))),
        "execution_us": percentiles(taken[1:]),
    }


def script() -> str:
    """Return the options of the hand: armed, swaying."""
    path = [(0.0, (0.0, 0.0)), (0.5, (0.0, 0.0))]
    for i in range(8):
        path.append((path[-1][0] + 0.4, (SWAY_M if i % 2 else -SWAY_M, SWAY_M if i % 4 < 2 else 0.0)))
    path.append((path[-1][0] + 0.4, (0.0, 0.0)))
    waypoints = [{"time_s": t, "position_m": [x, 0.0, z]} for t, (x, z) in path]
    engage = [{"time_s": 0.2, "button": "engage"}]
    return dumps({"waypoints": waypoints, "presses": engage, "repeat": True})


def over_the_wire(seconds: float) -> Found:
    """Switch a running server, held by a hand, and read its rows."""
    scene = many_legs(contacts=False, velocity=0.0)
    blocks: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            scene,
            device_endpoint=f"ipc://{folder}/device.sock",
            publish_endpoint=f"ipc://{folder}/publish.sock",
            progress=sys.stderr.write,
        )
        i = PLACE["hand_force_x_N"]
        rows_at = server.loop.columns.index("rows")
        wanted = [PLACE["execution_us"], PLACE["lateness_us"], PLACE["safety"], rows_at, i, i + 1, i + 2]
        server.outlet.on_rows = lambda new: blocks.append(new[:, wanted].copy())
        device = ["-m", "hapticsim_devices", "scripted", "--endpoint", server.device_endpoint, "--realtime"]
        server.start()
        child = Child("device", [*device, "--options", script()], _tell, restart=False)
        try:
            give_up = time.monotonic() + 20.0
            while time.monotonic() < give_up and not (blocks and blocks[-1][-1, 2] == Safety.ARMED):
                time.sleep(0.02)
            assert server.control is not None
            blocks.clear()
            server.loop.reset_statistics()
            stolen = Steal()
            answered, refused = _switch_for(seconds, server.control.endpoint)
            steal = stolen.share()
            statistics = server.statistics()
        finally:
            child.end()
            server.stop()
    seen = np.concatenate(blocks)
    steps = np.linalg.norm(np.diff(seen[:, 4:7], axis=0), axis=1)
    period_us = 1e6 / scene.rate_Hz
    return {
        "ticks": len(seen),
        "switches": answered,
        "refused": refused,
        "rows_mean": float(seen[:, 3].mean()),
        "rows_most": int(seen[:, 3].max()),
        "armed_share": float((seen[:, 2] == Safety.ARMED).mean()),
        "missed": statistics["missed"],
        "missed_own": int((seen[:, 0] // period_us).sum()),
        "execution_us": percentiles(seen[:, 0]),
        "lateness_us": percentiles(seen[:, 1]),
        "force_most_N": float(np.linalg.norm(seen[:, 4:7], axis=1).max()),
        "force_step_N": float(steps.max()),
        "force_step_allowed_N": scene.safety.slew_limit_N_per_s * scene.tick_s,
        "steal_share": steal,
        "scheduling": statistics["scheduling"],
    }


def _switch_for(seconds: float, endpoint: str) -> tuple[int, int]:
    """Switch one row after the other; return how many requests were followed, and refused."""
    rng = np.random.default_rng(2)
    held = np.zeros(ROWS, bool)
    answered = refused = 0
    until = time.monotonic() + seconds
    with hs.Switches(endpoint) as switches:
        while time.monotonic() < until:
            c = int(rng.integers(ROWS))
            try:
                switches.switch(f"row{c}", not held[c])
                held[c] = not held[c]
                answered += 1
            except hs.HapticsimError as error:
                _tell(f"{error}\n")
                refused += 1
    return answered, refused


def measure(seconds: float) -> Found:
    """Return everything this tool measures."""
    alone = virtual(round(1000 * seconds))
    held = over_the_wire(seconds)
    return {
        "machine": machine("pyzmq"),
        "seconds": seconds,
        "runs": {"virtual time": alone, "held, over the wire": held},
        "targets": {
            "virtual time: execution p99.9 [us]": target(alone["execution_us"]["p999"], LIMIT_US),
            "held: execution p99.9 [us]": target(held["execution_us"]["p999"], LIMIT_US),
            "held: ticks missed by own execution": target(held["missed_own"], 0),
            "held: largest step of the force [N]": target(
                held["force_step_N"], held["force_step_allowed_N"] * (1.0 + 1e-9)
            ),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(box=SIMPLE, title="execution in microseconds")
    for column in ("run", "switches", "rows", "p50", "p99", "p99.9", "max", "before p99.9"):
        table.add_column(column, justify="left" if column == "run" else "right", no_wrap=True)
    for name, r in found["runs"].items():
        us = r["execution_us"]
        old = f"{before['runs'][name]['execution_us']['p999']:.0f}" if before else ""
        figures = (f"{us[p]:.0f}" for p in ("p50", "p99", "p999", "max"))
        mean = f"{r['rows_mean']:.1f} (to {r['rows_most']})"
        table.add_row(name, str(r["switches"]), mean, *figures, old)
    console.print(table)
    r = found["runs"]["held, over the wire"]
    console.print(
        f"{r['scheduling']}; armed {r['armed_share']:.0%}; {r['refused']} refused; {r['missed']} ticks "
        f"missed, {r['missed_own']} by their own execution; force up to {r['force_most_N']:.2f} N, in steps "
        f"up to {r['force_step_N']:.3f} N of {r['force_step_allowed_N']:g} N; steal {r['steal_share']:.1%}"
    )
    show_targets(console, found)
    console.print(machine_line(found))


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run (10)")
    options = parser.parse_args()
    if not options.seconds > 0.0:
        parser.error("--seconds must be above 0.")
    report(options, lambda: measure(options.seconds), show)


if __name__ == "__main__":
    main()
