"""Time a whole tick beside MuJoCo's, and what a running server costs in memory and in waiting for it.

    python tools/bench_step.py                      tables for configs/wam_table.yaml
    python tools/bench_step.py --json - CONFIG      the numbers
    python tools/bench_step.py --quick              a tenth of the ticks, one start of the server

Our tick: safety, torque laws, coupler armed, detection, Runge-Kutta of the independent speeds with the
contact embedded in four stages, forces of constraint, guards, projection, the sample.  MuJoCo's: mj_step with
Euler and with RK4, frictionless contact, on the same masses, damping and contact pairs (mujoco_scene.py),
with the weight carried and the coupler's force as constants.  Both loops are compiled and take their ticks
alone; batches alternate, and the ratio is the median of the ratios of neighbours.

``contact``: the handle pressed down by the coupler until it rests.  ``free``: held where it starts.

Before anything is timed the scenes are compared: mass matrix and bias at random states, and the contact force
at rest.  MuJoCo's contact is soft, so the arms rest some micrometres apart.

Server: ``hapticsim serve`` in a process of its own, everything compiled before.  Start: from the birth of the
process to its first tick.  Memory: peak resident set while it ticks, with locked memory where that is
permitted.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from mujoco_scene import MujocoScene
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import hapticsim as hs
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.process.child import PYTHON

PEERS = ("Euler", "RK4")
BATCH = 2000  # ticks
ROUNDS = 41
PRESS_N = 3.0  # what the coupler presses with
DEVICE = DeviceLimits(  # of no particular device: strong enough, and stiff enough to be passive with a hand
    max_force_N=12.0, max_stiffness_N_per_m=5000.0, max_damping_Ns_per_m=30.0, apparent_mass_kg=0.2
)
SERVER_RUN_S, STARTS, PATIENCE_S = 2.0, 5, 120.0
SAME, SAME_FORCE = 1e-9, 0.02  # how equal the scenes must be: relative, and of the contact force


def hold(scene: hs.Scene) -> hs.Simulation:
    """Return a simulation with the coupler armed, the device where the handle is."""
    sim = hs.Simulation(scene, lambda text: print(text, end="", file=sys.stderr))
    sim.couple(DEVICE)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    sim.step(round(2.0 * scene.safety.ramp_s * scene.rate_Hz) + 1)
    return sim


def press(sim: hs.Simulation) -> None:
    """Move the device down, at 50 mm/s, until the handle rests on something and is pressed onto it."""
    step, depth = 1e-3, 0.0
    while np.linalg.norm(sim.state.coupler_force) < PRESS_N or not sim.state.contacts:
        depth += step
        if depth > 0.3:
            sys.exit(f"{sim.scene.name}: nothing to press on within 0.3 m below the handle.")
        sim.set_device(np.array([0.0, 0.0, -depth]), np.zeros(3))
        sim.step(round(step / 0.05 * sim.scene.rate_Hz))
    sim.step(round(2.0 * sim.scene.rate_Hz))


def check_equal(sim: hs.Simulation, peer: MujocoScene) -> Found:
    """Return how far the two scenes differ; end with a sentence where that is too much."""
    equations, n = sim.assembly.equations, sim.assembly.equations.nu
    errors = {"mass_matrix": 0.0, "bias": 0.0}
    for q, u in np.random.default_rng(0).uniform(-1.0, 1.0, (8, 2, n)):
        peer.place(q, u)
        for name, a, b in (
            ("mass_matrix", equations.mass_matrix(q), peer.mass_matrix()),
            ("bias", equations.bias(q, u), peer.bias()),
        ):
            errors[name] = max(errors[name], float(np.abs(a - b).max() / np.abs(b).max()))
    state = sim.state
    peer.place(state.q, np.zeros(n))
    peer.push(state.coupler_force)
    peer.step(round(sim.scene.rate_Hz))
    ours, theirs = sum(c.force for c in state.contacts), peer.contact_force()
    found = {
        "mass_matrix_relative": errors["mass_matrix"],
        "bias_relative": errors["bias"],
        "contact_force_N": ours,
        "mujoco_contact_force_N": theirs,
        "apart_at_rest": float(np.abs(peer.q - state.q).max()),
    }
    if max(errors.values()) > SAME or abs(ours - theirs) > SAME_FORCE * max(ours, theirs):
        sys.exit(f"{sim.scene.name}: not the same scene in MuJoCo, nothing was timed: {found}")
    return found


def time_ticks(sim: hs.Simulation, peer: MujocoScene, rounds: int, batch: int) -> Found:
    """Return microseconds per tick of both, taking turns, and the median of the ratios."""
    pairs, state = [], sim.state
    for _ in range(rounds):
        peer.place(state.q, np.zeros_like(state.u))
        peer.push(state.coupler_force)
        start = time.perf_counter()
        sim.step(batch)
        middle = time.perf_counter()
        peer.step(batch)
        pairs.append((middle - start, time.perf_counter() - middle))
        if len(sim.state.contacts) != len(state.contacts) or (peer.contact_force() > 0) != bool(
            state.contacts
        ):
            sys.exit(f"{sim.scene.name}: a contact came or went while ticks were timed; nothing is compared.")
    ours, theirs = np.array(pairs).T / batch * 1e6
    return {
        "ours_us": float(np.median(ours)),
        "mujoco_us": float(np.median(theirs)),
        "ratio": statistics.median(ours / theirs),
    }


def measure_ticks(scene: hs.Scene, rounds: int, batch: int) -> Found:
    """Return times and agreement for the arm pressed and free, beside each integrator of MuJoCo."""
    found: Found = {}
    sim = hold(scene)
    for case in ("free", "contact"):
        if case == "contact":
            press(sim)
        for integrator in PEERS:
            peer = MujocoScene(scene, integrator)
            agreement = check_equal(sim, peer)
            found[f"{case}, {integrator}"] = {
                **time_ticks(sim, peer, rounds, batch),
                "agreement": agreement,
                "contacts": len(sim.state.contacts),
            }
    return found


@contextmanager
def running_server(config: Path) -> Iterator[tuple[subprocess.Popen[bytes], float, hs.Subscriber]]:
    """Yield a server, when it was born [s, monotonic] and a subscriber to it."""
    with tempfile.TemporaryDirectory() as folder:
        endpoints = {name: f"ipc://{folder}/{name}.sock" for name in ("device", "publish")}
        arguments = [*PYTHON, "-m", "hapticsim", "serve", str(config)]
        for name, endpoint in endpoints.items():
            arguments += [f"--{name}-endpoint", endpoint]
        with hs.Subscriber(endpoints["publish"]) as subscriber:
            born = time.monotonic()
            server = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                yield server, born, subscriber
            finally:
                server.send_signal(signal.SIGTERM)
                try:
                    server.wait(5.0)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


def measure_server(config: Path, scene: hs.Scene, starts: int, run_s: float) -> Found:
    """Return seconds to the first tick (median, after one start that may compile) and peak memory."""
    seconds, memory = [], []
    for attempt in range(starts + 1):
        with running_server(config) as (server, born, subscriber):
            message = None
            while message is None and server.poll() is None and time.monotonic() - born < PATIENCE_S:
                message = subscriber.receive(0.1)
            if message is None:
                sys.exit(f"{config}: the server published nothing; see what 'hapticsim serve' says.")
            first_tick = message.stamp_ns * 1e-9 - (message.payload["tick"] + 1) * scene.tick_s
            time.sleep(run_s)
            if attempt > 0:
                seconds.append(first_tick - born)
                memory.append(peak_resident_MB(server.pid))
    return {"start_s": statistics.median(seconds), "starts": seconds, "peak_resident_MB": max(memory)}


def peak_resident_MB(process: int) -> float:
    """Return the largest resident set a process ever had [10^6 bytes]."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    sys.exit("this system does not tell the memory of a process in /proc.")


def measure(config: Path, quick: bool) -> Found:
    """Return everything this tool measures."""
    scene = hs.load(config)
    rounds, batch = (3, BATCH // 10) if quick else (ROUNDS, BATCH)
    ticks = measure_ticks(scene, rounds, batch)
    server = measure_server(config, scene, 1 if quick else STARTS, SERVER_RUN_S)
    return {
        "machine": machine("mujoco"),
        "scene": scene.name,
        "rounds": rounds,
        "ticks": ticks,
        "server": server,
        "targets": {
            "tick in contact / mj_step with Euler": target(ticks["contact, Euler"]["ratio"], 0.7),
            "tick in contact / mj_step with RK4": target(ticks["contact, RK4"]["ratio"], 0.3),
            "peak memory of a server [MB]": target(server["peak_resident_MB"], 400.0),
            "start of a server to its first tick [s]": target(server["start_s"], 3.0),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(
        box=SIMPLE, title=f"{found['scene']}: us per tick, medians of {found['rounds']} alternating rounds"
    )
    for column in ("case, MuJoCo's integrator", "ours", "MuJoCo", "ratio", "contact force", "MuJoCo's"):
        table.add_column(column, justify="left" if "," in column else "right", no_wrap=True)
    if before:
        table.add_column("ratio before", justify="right", no_wrap=True)
    for case, t in found["ticks"].items():
        forces = (t["agreement"]["contact_force_N"], t["agreement"]["mujoco_contact_force_N"])
        row = [case, f"{t['ours_us']:.2f}", f"{t['mujoco_us']:.2f}", f"{t['ratio']:.2f}"]
        row += [f"{force:.4f} N" for force in forces]
        if before:
            row.append(f"{before['ticks'][case]['ratio']:.2f}")
        table.add_row(*row)
    console.print(table)
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    default = Path(__file__).parent.parent / "configs" / "wam_table.yaml"
    parser.add_argument(
        "config", nargs="?", type=Path, default=default, help="scene (configs/wam_table.yaml)"
    )
    parser.add_argument("--quick", action="store_true", help="few ticks: to see that the tool works")
    options: argparse.Namespace = parser.parse_args()
    if not os.path.exists("/proc/self/status"):
        sys.exit("memory is read from /proc: run this on Linux.")
    report(options, lambda: measure(options.config, options.quick), show)


if __name__ == "__main__":
    main()
