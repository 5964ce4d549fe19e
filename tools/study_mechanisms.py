"""What well-chosen generalized speeds save, and how well our Kane's equations agree with SymPy's.

    python tools/study_mechanisms.py                  the wrist's operations, and all ready mechanisms
    python tools/study_mechanisms.py --json -         the numbers; --save and --compare as well

The wrist is example 2 of Gillespie, Haptics-e 3(2) (2003); its Table 3 stands beside the counts (the print is
garbled; read so that it fits its own equations).  Counted are udot from q, u, a torque and a force of three
measure numbers each, and qdot from q and u: equal operations once, constants are known, a subtraction is an
addition, a change of sign is free.

Agreement: largest difference of M, of the forcing terms and of udot against ``KanesMethod`` and ``lambdify``
at random states, by the largest entry; and the time of one evaluation of udot.

Motion: five seconds of every mechanism, while constraints are switched, slip and stick
(``mechanism_runs.py``), by the tick (1 kHz, RK4, changes inside the tick) and by an integration that shares
nothing with it: KanesMethod for every set of constraints, DOP853 at 1e-12 (``mechanism_kane.py``,
``mechanism_oracle.py``).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from mechanism_runs import RUNS, compare, differences
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from sympy.physics.mechanics import KanesMethod

from hapticsim.equations.kane.compiled import compile_mechanism
from hapticsim.equations.kane.mechanism import System
from hapticsim.equations.kane.operations import count_dynamical, count_kinematical
from hapticsim.equations.kane.source import MechanismFile
from hapticsim.mechanism import Mechanism

FOLDER = Path(__file__).parent.parent / "configs" / "mechanisms"
KINDS = ("multiply, divide", "add, subtract", "sin, cos")
PUBLISHED = {  # by kind
    "kinematical, u = qdot": (0, 0, 0),
    "dynamical, u = qdot": (790, 285, 372),
    "kinematical, careful": (10, 4, 9),
    "dynamical, careful": (29, 16, 10),
}
READY: dict[str, tuple[str, dict[str, Any]]] = {
    "rolling disk": ("rolling_disk", {}),
    "wrist, careful speeds": ("wrist", {"speeds": "careful"}),
    "wrist, u = qdot": ("wrist", {"speeds": "rates"}),
    "shopping cart": ("shopping_cart", {}),
}
STATES, ROUNDS, AGREED, MOTION_AGREED = 20, 5, 1e-12, 1e-8


def ready(name: str) -> Mechanism:
    """Return a ready mechanism by its name in the table."""
    file, parameters = READY[name]
    path = FOLDER / f"{file}.py"
    return MechanismFile(str(path), path.read_text(), tuple(parameters.items())).mechanism()


def counts() -> dict[str, list[int]]:
    """Return the wrist's operations, ordered as ``PUBLISHED``."""
    found = {}
    for words, name in (("u = qdot", "wrist, u = qdot"), ("careful", "wrist, careful speeds")):
        system = System(ready(name), name)
        for what, count in (
            ("kinematical", count_kinematical(system)),
            ("dynamical", count_dynamical(system, "tool")),
        ):
            found[f"{what}, {words}"] = [count["mul"] + count["div"], count["add"], count["sincos"]]
    return found


def oracle(mechanism: Mechanism) -> Any:
    """Return a function of (q, u) that gives M and forcing by SymPy's KanesMethod, constraints left out."""
    g = mechanism.gravity
    weights = [] if g is None else [(b.masscenter, b.mass * g) for b in mechanism.bodies]
    q, u = list(mechanism.coordinates), list(mechanism.speeds)
    method = KanesMethod(mechanism.frame, q, u, list(mechanism.kinematics))
    method.kanes_equations(list(mechanism.bodies), [*mechanism.forces, *weights])
    values = dict(mechanism.parameters)
    parts = [method.mass_matrix.subs(values), method.forcing.subs(values)]
    return sp.lambdify((q, u), parts, "numpy", cse=True)


def agreement(name: str) -> dict[str, float]:
    """Return the largest differences over the states, and both times [us]."""
    mechanism = ready(name)
    ours, theirs = compile_mechanism(mechanism), oracle(mechanism)
    dice = np.random.default_rng(0)
    worst = {"M": 0.0, "forcing": 0.0, "udot": 0.0}
    for _ in range(STATES):
        q, u = dice.uniform(0.2, 1.3, ours.nq), dice.uniform(-2.0, 2.0, ours.nu)
        M, forcing = (np.array(x, float) for x in theirs(q, u))
        pairs = {
            "M": (ours.mass_matrix(q), M),
            "forcing": (-ours.bias(q, u), forcing.ravel()),
            "udot": (ours.forward_dynamics(q, u, np.zeros(ours.nu)), np.linalg.solve(M, forcing).ravel()),
        }
        for key, (a, b) in pairs.items():
            worst[key] = max(worst[key], float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-3)))
    many = 20_000
    qs, us = np.tile(q, (many, 1)), np.tile(u, (many, 1))
    tau = np.zeros((many, ours.nu))
    out = np.empty((many, ours.nu))
    ours_s = _least(lambda: ours.batch("forward_dynamics", qs, us, tau, out=out, threads=1)) / many

    def sympys() -> None:
        for _ in range(200):
            np.linalg.solve(*(np.array(x, float) for x in theirs(q, u)))

    return {**worst, "ours_us": ours_s * 1e6, "sympy_us": _least(sympys) / 200 * 1e6}


def motion(name: str) -> Found:
    """Return how far tick and oracle are apart in one run, and the changes of both."""
    ours, theirs = compare(name)
    dq, du, late = differences(ours, theirs)
    return {
        "q": dq,
        "u": du,
        "late_s": late,
        "changes": [[*a, b[0]] for a, b in zip(ours.changes, theirs.changes, strict=False)],
    }


def _least(call: Any) -> float:
    """Return the least time of some rounds [s]."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure() -> Found:
    """Return counts, agreement and whether both are as wanted."""
    found = counts()
    agreed = {name: agreement(name) for name in READY}
    motions = {name: motion(name) for name in RUNS}
    apart = max(max(m["q"], m["u"], m["late_s"]) for m in motions.values())
    worst = max(max(a["M"], a["forcing"], a["udot"]) for a in agreed.values())
    return {
        "machine": machine("sympy"),
        "operations": found,
        "agreement": agreed,
        "motion": motions,
        "targets": {
            **{
                f"wrist, {key}, {kind}": target(ours, printed)
                for key in PUBLISHED
                for kind, ours, printed in zip(KINDS, found[key], PUBLISHED[key], strict=True)
            },
            "largest difference from KanesMethod": target(worst, AGREED),
            "largest difference of a motion over 5 s": target(apart, MOTION_AGREED),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables."""
    table = Table(title="Spherical wrist: operations, published in brackets", box=SIMPLE)
    for column in ("equations", *KINDS):
        table.add_column(column, justify="left" if column == "equations" else "right")
    for key, ours in found["operations"].items():
        cells = [f"{a} ({b})" for a, b in zip(ours, PUBLISHED[key], strict=True)]
        table.add_row(key, *cells)
    console.print(table)
    table = Table(title="Against SymPy's KanesMethod: largest difference, time of one udot", box=SIMPLE)
    for column in ("mechanism", "M", "forcing", "udot", "ours", "KanesMethod, lambdify"):
        table.add_column(column, justify="left" if column == "mechanism" else "right")
    for name, a in found["agreement"].items():
        table.add_row(
            name,
            *(f"{a[key]:.1e}" for key in ("M", "forcing", "udot")),
            f"{a['ours_us']:.3f} us",
            f"{a['sympy_us']:.0f} us",
        )
    console.print(table)
    show_motions(console, found["motion"])
    if before is not None:
        console.print(f"before: {before['operations']}")
    console.print(machine_line(found), markup=False)
    show_targets(console, found)


def show_motions(console: Console, motions: Found) -> None:
    """Print the largest differences, and every change with its time in both."""
    table = Table(title="Tick and oracle over 5 s: largest differences, changes", box=SIMPLE)
    for column in ("run", "q", "u", "constraint", "does", "tick, at [s]", "oracle, at [s]"):
        table.add_column(column, justify="right" if column in ("q", "u") else "left")
    for name, m in motions.items():
        first = (name, f"{m['q']:.1e}", f"{m['u']:.1e}")
        for ours, constraint, hold, theirs in m["changes"]:
            table.add_row(*first, constraint, hold.lower(), f"{ours:.12f}", f"{theirs:.12f}")
            first = ("", "", "")
    console.print(table)


def main() -> None:
    report(parser_of(__doc__ or "").parse_args(), measure, show)


if __name__ == "__main__":
    main()
