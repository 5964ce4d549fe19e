"""How many digits forward dynamics keep: every algorithm, MuJoCo and Pinocchio against 60-digit arithmetic.

    python tools/study_accuracy.py                        200 states of ten mechanisms; minutes when first run
    python tools/study_accuracy.py --states 20 --json -   the numbers; --save and --compare as well
    python tools/study_accuracy.py --chain "mass and length 10^k" --chain "10 equal links, skew"
    python tools/study_accuracy.py --draw FOLDER          bars as well (extra: studies)

The mechanisms are those of accuracy_cases.py: four chains, each with parallel and with skew axes, and an arm
at its shoulder singularity.

Truth: ABM on 60 digits, constants of the model exact, rotations the nearest orthogonal ones.  At one state
of each mechanism it is compared with itself at 120 digits and, independently, with M udot = tau - h solved at
120 digits.  Errors: "norm" is |udot - truth| / |truth| (2-norm), "component" the largest relative error of a
component, which has no bound where a component passes through zero.  Median and largest over the states.

"q rounded" is no algorithm: it is what the truth moves by when every q moves by at random up to half its last
bit.
In single precision the model's constants are rounded, too, which is part of the error.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from accuracy_cases import (
    MECHANISMS,
    MORE_DIGITS,
    MUJOCO,
    PINOCCHIO,
    WORST,
    Exact,
    Number,
    equations_of,
    exact,
    missing_peers,
    solved,
    solvers_of,
    state_of,
    truth,
)
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from hapticsim.equations.scalars.precision import PRECISIONS

DIGITS = 60
LIMIT = 1e-11  # of the default algorithm on the worst chain
AGREE = 1e-40  # 60 digits less those that cancel
KINDS = ("norm", "component")
CHUNK = 10  # states per task
ROUNDED = "q rounded"


def errors(udot: Any, true: Exact) -> tuple[float, float]:
    """Return the error by norm and by component; NaN where there is no solution."""
    if not all(np.isfinite(float(x)) for x in udot):
        return np.nan, np.nan
    off = [Number(x) - t for x, t in zip(udot, true, strict=True)]
    by_component = max(abs(d / t) for d, t in zip(off, true, strict=True))
    return float(mpmath.norm(off) / mpmath.norm(true)), float(by_component)


def errors_at(name: str, seeds: range) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return for each precision and row the two errors at some states."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {
        p: {row: [] for row in rows} for p, rows in solvers_of(name).items()
    }
    found["float64"][ROUNDED] = []
    for seed in seeds:
        state = state_of(equations_of(name).model, seed)
        half_bits = np.random.default_rng([seed, 1]).uniform(-1.0, 1.0, len(state[0]))
        with mpmath.workdps(DIGITS):
            q, u, tau = (exact(x) for x in state)
            true = truth(name, q, u, tau)
            for p, rows in solvers_of(name).items():
                for row, function in rows.items():
                    udot = [float(x) for x in function(*state)]
                    found[p][row].append(errors(udot, true))
            half = exact(0.5 * half_bits * np.spacing(np.abs(state[0])))
            moved = truth(name, [x + d for x, d in zip(q, half, strict=True)], u, tau)
            found["float64"][ROUNDED].append(errors(moved, true))
    return found


def differences(name: str) -> dict[str, float]:
    """Return by how much the truth at one state differs from what more digits and another way give."""
    found = {}
    state = state_of(equations_of(name).model, 0)
    with mpmath.workdps(DIGITS):
        true = truth(name, *(exact(x) for x in state))
    with mpmath.workdps(MORE_DIGITS):
        more = [exact(x) for x in state]
        for key, function in (("abm_120_digits", truth), ("solved_120_digits", solved)):
            found[key] = errors(function(name, *more), true)[0]
    return found


def prepare(name: str) -> tuple[str, dict[str, float]]:
    """Compile all algorithms of a mechanism and check its truth."""
    solvers_of(name)
    return name, differences(name)


def summary(pairs: list[tuple[float, float]]) -> Found:
    """Return medians and maxima over the states that gave numbers, and how many did not."""
    table = np.array(pairs)
    good = table[np.isfinite(table[:, 0])]
    found: Found = {"failed": len(table) - len(good)}
    for k, kind in enumerate(KINDS):
        column = good[:, k]
        found[kind] = {"median": float(np.median(column)), "max": float(column.max())} if len(good) else None
    return found


def measure(names: list[str], states: int) -> Found:
    """Return everything this tool measures."""
    rows: Found = {name: {} for name in names}
    with ProcessPoolExecutor(os.cpu_count()) as pool, Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("compiling", total=len(names))
        checks = {}
        for name, check in pool.map(prepare, names):
            checks[name] = check
            progress.advance(bar)
        parts = [range(k, min(k + CHUNK, states)) for k in range(0, states, CHUNK)]
        tasks = [(name, part) for name in names for part in parts]
        bar = progress.add_task("states", total=len(tasks))
        for (name, _), found in zip(tasks, pool.map(errors_at, *zip(*tasks, strict=True)), strict=True):
            for p, by_row in found.items():
                for row, pairs in by_row.items():
                    rows[name].setdefault(p, {}).setdefault(row, []).extend(pairs)
            progress.advance(bar)
    chains: Found = {
        name: {
            "speeds": equations_of(name).nu,
            "check": checks[name],
            **{p: {row: summary(pairs) for row, pairs in by_row.items()} for p, by_row in rows[name].items()},
        }
        for name in names
    }
    off = max(max(c.values()) for c in checks.values())
    targets = {"truth: largest difference of the checks": target(off, AGREE)}
    if WORST in chains:
        largest = chains[WORST]["float64"]["abm_exact"]["norm"]["max"]
        targets[f"abm_exact, {WORST}: largest error by norm"] = target(largest, LIMIT)
    missing = missing_peers()
    versions = [package for package, name in (("pin", PINOCCHIO), ("mujoco", MUJOCO)) if name not in missing]
    return {
        "machine": machine("mpmath", *versions),
        "states": states,
        "left_out": list(missing.values()),
        "chains": chains,
        "targets": targets,
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print a table per precision, the targets, and who does worse there."""
    for p in PRECISIONS:
        table = Table(box=SIMPLE, title=f"{p}: errors over {found['states']} states")
        for column in ("mechanism", "algorithm"):
            table.add_column(column, no_wrap=True)
        for column in ("norm median", "norm largest", "comp. median", "comp. largest", "no solution"):
            table.add_column(column, justify="right")
        for name, chain in found["chains"].items():
            for k, (row, e) in enumerate(chain[p].items()):
                figures = [
                    f"{e[kind][x]:.0e}" if e[kind] else "" for kind in KINDS for x in ("median", "max")
                ]
                table.add_row(name if k == 0 else "", row, *figures, str(e["failed"] or ""))
            table.add_section()
        console.print(table)
    for sentence in found["left_out"]:
        console.print(sentence)
    show_targets(console, found)
    if WORST in found["chains"]:
        others = found["chains"][WORST]["float64"]
        for row in (MUJOCO, PINOCCHIO, "crbm_cholesky", "abm_exact", "abm_refined"):
            if row in others:
                by_norm, by_component = (f"{others[row][kind]['max']:.1e}" for kind in KINDS)
                console.print(f"there, {row}: {by_norm} by norm, {by_component} by component", markup=False)
    if before:
        for name, chain in found["chains"].items():
            if name in before["chains"]:
                old, new = (c["float64"]["abm_exact"]["norm"]["max"] for c in (before["chains"][name], chain))
                console.print(f"abm_exact, {name}: {new:.1e}, before {old:.1e}", markup=False)
    console.print(machine_line(found))


def draw(folder: Path, found: Found) -> None:
    """Write the largest errors by norm as bars, one picture per precision."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    chains = found["chains"]
    for p, precision in PRECISIONS.items():
        figure = Figure(figsize=(14, 1.3 * len(chains) + 1.5), layout="constrained")
        panels = figure.subplots((len(chains) + 1) // 2, 2, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, (name, chain) in zip(panels, chains.items(), strict=False):
            shown = {row: e["norm"]["max"] for row, e in chain[p].items() if e["norm"]}
            axes.bar(list(shown), list(shown.values()))
            axes.set(yscale="log", ylim=(0.1 * np.finfo(precision.dtype).eps, 10.0), title=name)
            axes.tick_params(axis="x", labelrotation=90)
        figure.supylabel(f"largest error by norm over {found['states']} states, {p}")
        figure.savefig(folder / f"accuracy_{p}.png", dpi=110)


def main() -> None:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--states", type=int, default=200, help="random states of each mechanism (200)")
    add("--chain", action="append", choices=MECHANISMS, help="only this one; may be repeated")
    add("--draw", metavar="FOLDER", type=Path, help="write bars there (needs matplotlib)")
    options = parser.parse_args()
    if options.states < 1:
        sys.exit("--states must be 1 or more.")
    if options.draw:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            sys.exit("--draw needs matplotlib: pip install 'hapticsim[studies]'.")

    def study() -> Found:
        found = measure(list(dict.fromkeys(options.chain or MECHANISMS)), options.states)
        if options.draw:
            draw(options.draw, found)
        return found

    report(options, study, show)


if __name__ == "__main__":
    main()
