"""Time our dynamics and Pinocchio's in one run, and compare what they say.

    python tools/bench_dynamics.py                    a table
    python tools/bench_dynamics.py --json -           the numbers, to standard output or a file
    python tools/bench_dynamics.py --save old.json    the table, numbers kept
    python tools/bench_dynamics.py --compare old.json   the table with the kept numbers beside the new

What is timed, in microseconds per call: our compiled function in a compiled loop, the same called from
Python through ``Equations.kernels``, and Pinocchio's function (aba, rnea, crba, nonLinearEffects) called
from Python. The ratio is Pinocchio's time to that of our loop, so it contains Pinocchio's call overhead,
which a program in Python cannot avoid. Rounds of the three alternate, so that a busy machine slows all of
them; the median round counts. Every call has another of 16 random states (seed 0).

Agreement: forward dynamics of the recursion on floats and of pinocchio.aba, same random q, u, tau in -1 .. 1
(seed 1), largest error relative to the largest entry.  Compile and load times [s]: from an empty cache in a
temporary folder, and once more from there.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numba import njit
from pinocchio_peer import Peer
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from hapticsim.equations.base import Equations
from hapticsim.equations.codegen.cache import forget_loaded
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.errors import HapticsimError
from hapticsim.files.cache_folder import ENVIRONMENT
from hapticsim.model.moving import moving_tree
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf

HUMANOID = "talos_reduced, floating"
# Robots, whether they stand fixed, and the share of Pinocchio's time that forward dynamics may take.
TIMED = {
    "panda": ("panda", True, 1 / 7),
    "talos_reduced": ("talos_reduced", True, 1 / 4.5),
    HUMANOID: ("talos_reduced", False, 1 / 4.5),
}
OTHERS_SHARE = 1 / 2.5  # of Pinocchio's time for mass matrix and bias
COMPILE_S = {"panda": 6.0, HUMANOID: 60.0}  # of all functions
LOAD_S = 0.3  # of all functions, from the cache
PAIRS = {  # ours -> theirs
    "forward_dynamics": "aba",
    "inverse_dynamics": "rnea",
    "mass_matrix": "crba",
    "bias": "nonLinearEffects",
}
STATES = 16


def agreement() -> dict[str, float]:
    """Return for every robot of the package that can be read the relative error of the accelerations."""
    errors = {}
    for name in sorted(library_models()):
        try:
            peer = Peer(name)
        except HapticsimError:
            continue
        if peer.ours.nu == 0:
            continue
        q, u, tau = np.random.default_rng(1).uniform(-1.0, 1.0, (3, peer.ours.nu))
        theirs = pin.aba(peer.model, peer.data, peer.q(q), peer.v(u), peer.v(tau))[peer.v_index]
        link = Linkage(moving_tree(peer.ours), q.tolist())
        ours = np.array(recursions.forward_dynamics(link, u.tolist(), tau.tolist()))
        errors[name] = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    return errors


def time_robot(name: str, fixed_base: bool, rounds: int) -> dict[str, Any]:
    """Return compile times [s] and times per call [us] of every pair of functions."""
    peer = Peer(name, fixed_base)
    equations = compile_equations(peer.ours, ())
    states = tuple(np.array(a) for a in zip(*(peer.state(k) for k in range(STATES)), strict=True))
    result: dict[str, Any] = {"speeds": peer.ours.nu, "functions": {}}
    for ours, theirs in PAIRS.items():
        start = time.perf_counter()
        getattr(equations.kernels, ours)
        compile_s = time.perf_counter() - start
        forget_loaded()
        start = time.perf_counter()
        getattr(compile_equations(peer.ours, ()).kernels, ours)
        load_s = time.perf_counter() - start
        loop, called = our_calls(equations, ours, states)
        peers = their_calls(peer, theirs, states)
        times = alternate({"loop": loop, "called": called, "pinocchio": peers}, rounds)
        result["functions"][ours] = {
            "compile_s": compile_s,
            "load_s": load_s,
            "loop_us": times["loop"],
            "from_python_us": times["called"],
            "pinocchio": theirs,
            "pinocchio_from_python_us": times["pinocchio"],
            "ratio_loop": times["pinocchio"] / times["loop"],
            "ratio_from_python": times["pinocchio"] / times["called"],
        }
    spent = sum(f["compile_s"] for f in result["functions"].values())
    start = time.perf_counter()
    _ = equations.addresses  # those that were not timed, too
    result["compile_all_s"] = spent + time.perf_counter() - start
    forget_loaded()
    start = time.perf_counter()
    _ = compile_equations(peer.ours, ()).addresses
    result["load_all_s"] = time.perf_counter() - start
    return result


Batch = tuple[Callable[[], None], int]  # does this many calls
States = tuple[np.ndarray, ...]  # q, u, x; a row per state


def our_calls(equations: Equations, name: str, states: States) -> tuple[Batch, Batch]:
    """Return a batch in a compiled loop and a batch of calls from Python."""
    kernel = getattr(equations.kernels, name)
    q, u, x = states
    arguments: list[tuple[np.ndarray, ...]]
    n = equations.nu
    out = np.empty((n, n) if name == "mass_matrix" else n)
    if name == "mass_matrix":

        @njit(nogil=True)
        def loop(calls, q, u, x, out):
            for k in range(calls):
                kernel(q[k % STATES], out)

        arguments = [(q[k], out) for k in range(STATES)]
    elif name == "bias":

        @njit(nogil=True)
        def loop(calls, q, u, x, out):
            for k in range(calls):
                kernel(q[k % STATES], u[k % STATES], out)

        arguments = [(q[k], u[k], out) for k in range(STATES)]
    else:

        @njit(nogil=True)
        def loop(calls, q, u, x, out):
            for k in range(calls):
                kernel(q[k % STATES], u[k % STATES], x[k % STATES], out)

        arguments = [(q[k], u[k], x[k], out) for k in range(STATES)]
    loop(STATES, q, u, x, out)

    def called() -> None:
        for a in arguments:
            kernel(*a)

    return (lambda: loop(5000, q, u, x, out), 5000), (lambda: repeat(called, 60), 60 * STATES)


def their_calls(peer: Peer, name: str, states: States) -> Batch:
    """Return a batch of calls of a Pinocchio function from Python, with its own arrays prepared."""
    function = getattr(pin, name)
    q, u, x = states
    takes = {"crba": 1, "nonLinearEffects": 2}.get(name, 3)
    arguments = [(peer.q(q[k]), peer.v(u[k]), peer.v(x[k]))[:takes] for k in range(STATES)]
    model, data = peer.model, peer.data

    def called() -> None:
        for a in arguments:
            function(model, data, *a)

    return (lambda: repeat(called, 60), 60 * STATES)


def repeat(batch: Callable[[], None], times: int) -> None:
    """Run a batch several times."""
    for _ in range(times):
        batch()


def alternate(batches: dict[str, Batch], rounds: int) -> dict[str, float]:
    """Return the median time per call [us] of every batch, the batches taking turns."""
    samples: dict[str, list[float]] = {name: [] for name in batches}
    for _ in range(rounds):
        for name, (run, calls) in batches.items():
            start = time.perf_counter()
            run()
            samples[name].append((time.perf_counter() - start) / calls * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def measure(rounds: int, chosen: Sequence[str] = tuple(TIMED)) -> dict[str, Any]:
    """Return everything this tool measures of the robots chosen."""
    timed = {name: TIMED[name] for name in chosen}
    with tempfile.TemporaryDirectory() as folder:
        kept = os.environ.get(ENVIRONMENT)
        os.environ[ENVIRONMENT] = folder
        try:
            compile_equations(load_urdf(library_models()["double_pendulum"]), ()).address(
                "bias"
            )  # wake numba up
            robots = {name: time_robot(of, fixed, rounds) for name, (of, fixed, _) in timed.items()}
        finally:
            os.environ.pop(ENVIRONMENT)
            if kept is not None:
                os.environ[ENVIRONMENT] = kept
    errors = agreement()
    return {
        "machine": machine("pin"),
        "rounds": rounds,
        "robots": robots,
        "agreement": errors,
        "targets": {
            **{
                f"{name}: forward dynamics, our loop / pinocchio.aba from Python": target(
                    1.0 / robots[name]["functions"]["forward_dynamics"]["ratio_loop"], limit
                )
                for name, (_, _, limit) in timed.items()
            },
            **{
                f"{name}: {function}, our loop / Pinocchio from Python": target(
                    1.0 / robots[name]["functions"][function]["ratio_loop"], OTHERS_SHARE
                )
                for name in timed
                for function in ("mass_matrix", "bias")
            },
            **{
                f"{name}: slowest of ours from Python / Pinocchio's": target(
                    max(1.0 / f["ratio_from_python"] for f in robots[name]["functions"].values()), 1.0
                )
                for name in timed
            },
            **{
                f"{name}: compiling everything [s]": target(robots[name]["compile_all_s"], limit)
                for name, limit in COMPILE_S.items()
                if name in timed
            },
            **{
                f"{name}: loading everything [s]": target(robots[name]["load_all_s"], LOAD_S)
                for name in timed
            },
            "forward dynamics: largest relative difference": target(max(errors.values()), 1e-9),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables."""
    for name, robot in found["robots"].items():
        table = Table(
            box=SIMPLE,
            title=f"{name}, {robot['speeds']} speeds: us per call, median of {found['rounds']} rounds",
        )
        for column in ("function", "loop", "Python", "Pinocchio", "ratio", "compile", "load"):
            table.add_column(column, justify="left" if column == "function" else "right", no_wrap=True)
        if before:
            table.add_column("before", justify="right", no_wrap=True)
        for function, f in robot["functions"].items():
            row = [
                function,
                f"{f['loop_us']:.3f}",
                f"{f['from_python_us']:.2f}",
                f"{f['pinocchio_from_python_us']:.2f}",
                f"{f['ratio_loop']:.1f}",
                f"{f['compile_s']:.2f}",
                f"{f['load_s']:.3f}",
            ]
            if before:
                row.append(f"{before['robots'][name]['functions'][function]['loop_us']:.3f}")
            table.add_row(*row)
        console.print(table)
    errors = found["agreement"]
    worst = max(errors, key=lambda name: errors[name])
    console.print(
        f"forward dynamics against Pinocchio on {len(errors)} robots: largest relative error "
        f"{errors[worst]:.1e} ({worst}), median {statistics.median(errors.values()):.1e}"
    )
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=31, help="alternating rounds per function (default 31)")
    parser.add_argument("--robots", nargs="+", choices=TIMED, default=list(TIMED), help="which are timed")
    options = parser.parse_args()
    if not library_models():
        sys.exit("No robots found: pip install example-robot-data.")
    report(options, lambda: measure(options.rounds, options.robots), show)


if __name__ == "__main__":
    main()
