"""Formulation stiffness: how many evaluations an integrator needs depends on who computes the accelerations.

    python tools/study_formulation_stiffness.py                   everything, a minute
    python tools/study_formulation_stiffness.py --quick           a few rows of everything
    python tools/study_formulation_stiffness.py --draw FOLDER     the figures as well (extra: studies)
    python tools/study_formulation_stiffness.py --json -          the numbers; --save and --compare as well

Ours beside the published numbers of Ascher, Pai & Cloutier (1997), tables 1 and 2, and of Cloutier (1995),
figures 5.3 to 5.7 and 5.9.  ABM is the algorithm abm_exact, CRBM is crbm_cholesky.  docs/studies.md says what
is reproduced and what is not.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table
from stiffness_runs import (
    ABM,
    BAD,
    CRBM,
    FIGURE_5_6,
    FIGURE_5_9,
    LDL,
    QUICK,
    QUICK_SWEPT,
    SWEPT,
    TABLE_1,
    Job,
    pivots,
    run,
    sweep_summary,
)
from stiffness_table_2 import PROGRAMS, TABLE_2, is_as_printed, paper_program


def measure(quick: bool) -> Found:
    """Return everything; the runs go over all cores."""
    rows: dict[str, Sequence[float]] = {
        "table_1": [*TABLE_1],
        "figure_5_6": [*FIGURE_5_6],
        "figure_5_9": [*FIGURE_5_9],
    }
    jobs: list[Job] = [
        (table, row, algorithm)
        for table, all_rows in rows.items()
        for row in (QUICK[table] if quick else all_rows)
        for algorithm in (ABM, CRBM)
    ]
    found: Found = {"machine": machine("numpy"), **{table: {} for table in rows}, "sweep": {}, "table_2": {}}
    lengths = QUICK_SWEPT if quick else SWEPT
    spawn = multiprocessing.get_context("spawn")  # the progress bar has a thread
    with (
        Progress(console=Console(stderr=True), transient=True) as progress,
        ProcessPoolExecutor(mp_context=spawn) as pool,
    ):
        bar = progress.add_task("formulation stiffness", total=len(jobs) + len(lengths))
        waiting: dict[Any, tuple[str, float, str]] = {pool.submit(run, job): job for job in jobs}
        waiting |= {pool.submit(sweep_summary, x): ("sweep", x, "") for x in lengths}
        for future in as_completed(waiting):
            table, row, algorithm = waiting[future]
            if algorithm:
                found[table].setdefault(row, {})[algorithm] = future.result()
            else:
                found[table][row] = future.result()
            progress.advance(bar)
    for table in (*rows, "sweep"):
        found[table] = dict(sorted(found[table].items(), key=lambda item: item[0], reverse=table[-1] in "16"))
    found["table_2"] = {
        row_2(*row): {
            **pivots(*row),
            "paper": {
                name: {
                    "pivot": pivot,
                    "tip_acceleration": tip,
                    "as_printed": is_as_printed((pivot, tip), theirs),
                }
                for (name, (pivot, tip)), theirs in zip(paper_program(*row).items(), printed, strict=True)
            },
        }
        for row, printed in TABLE_2.items()
    }
    return {**found, "targets": targets(found)}


def row_2(tip_mass: float, case: int) -> str:
    """Return the name of a row of table 2."""
    return f"{tip_mass:.0e} case {case}"


def off(found: Found, table: str, published: dict[Any, Any], row: float, algorithm: str) -> float:
    """Return how far the evaluations of a row are from the published ones, relative; 1 for a failed run."""
    one = found[table][row][algorithm]
    theirs = published[row][algorithm == CRBM]
    return abs(one["evaluations"] / theirs - 1.0) if one["ending"] == "DONE" else 1.0


def share(found: Found, table: str, row: float) -> float:
    """Return ABM's evaluations over CRBM's; 0 where CRBM failed."""
    both = found[table][row]
    return both[ABM]["evaluations"] / both[CRBM]["evaluations"] if both[CRBM]["ending"] == "DONE" else 0.0


def targets(found: Found) -> Found:
    """Return what must hold."""
    one, six, nine = found["table_1"], found["figure_5_6"], found["figure_5_9"]
    both = (ABM, CRBM)
    return {
        "table 1, ABM: largest difference to the paper": target(
            max(off(found, "table_1", TABLE_1, r, ABM) for r in one), 0.15
        ),
        "table 1, 0.0020 and below: largest ABM / CRBM": target(
            max(share(found, "table_1", r) for r in one if r <= 0.002), 0.5
        ),
        "figure 5.6, to 1e-8: largest difference to the thesis": target(
            max(off(found, "figure_5_6", FIGURE_5_6, r, a) for r in six if r >= 1e-8 for a in both), 0.05
        ),
        "figure 5.6, 1e-9: ABM / CRBM": target(share(found, "figure_5_6", 1e-9), 1 / 1.5),
        "figure 5.9: largest difference to the thesis": target(
            max(off(found, "figure_5_9", FIGURE_5_9, n, a) for n in nine for a in both), 0.15
        ),
        "figure 5.9: largest energy deviation [%]": target(
            max(abs(nine[n][a]["energy_deviation_percent"]) for n in nine for a in both), 0.05
        ),
        "table 2: entries the paper's program does not have as printed": target(
            sum(not one["as_printed"] for row in found["table_2"].values() for one in row["paper"].values()),
            0,
        ),
        "table 2: largest |D_2 - 1| of the modified ABM": target(
            max(abs(row["abm_modified"]["pivot"] - 1.0) for row in found["table_2"].values()), 1e-6
        ),
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables."""
    for table, title, first, published in (
        ("table_1", "table 1 of the paper: 10 s in float32, accuracy 1e-4", "base / total", TABLE_1),
        (
            "figure_5_6",
            "figure 5.6 of the thesis: 10 s in float64, accuracy 1e-6",
            "base / total",
            FIGURE_5_6,
        ),
        ("figure_5_9", "figure 5.9 of the thesis: 60 s in float64, accuracy 1e-4", "links", FIGURE_5_9),
    ):
        headings = [first, "ABM", "printed", "ratio", "CRBM", "printed", "ratio", "CRBM/ABM", "cond(M)"]
        rows = [_run_row(row, both, published[row]) for row, both in found[table].items()]
        if table == "figure_5_9":
            headings.append("energy [%]")
            for cells, both in zip(rows, found[table].values(), strict=True):
                cells.append("/".join(f"{both[a]['energy_deviation_percent']:+.3f}" for a in (ABM, CRBM)))
        if before:
            headings.append("before")
            for cells, row in zip(rows, found[table], strict=True):
                kept = before[table].get(str(row), {})
                cells.append("/".join(str(kept[a]["evaluations"]) for a in (ABM, CRBM) if a in kept))
        _print_table(console, f"evaluations: {title}", headings, rows)
    rows, others = [], []
    for (mass, case), printed in TABLE_2.items():
        row, start = found["table_2"][row_2(mass, case)], [f"{mass:.0e}", str(case)]
        cells = []
        for name, theirs in zip(PROGRAMS, printed, strict=True):
            one = row["paper"][name]
            cells += [f"{one['pivot']:.3f} ({theirs.pivot:g})", _number(one["tip_acceleration"])]
        rows.append([*start, *cells])
        others.append([*start, *(f"{row[name]['pivot']:.3f}" for name in (LDL, "abm", "abm_modified"))])
    headings = ["tip [kg]", "case", *(x for name in PROGRAMS for x in (f"{name} D_2", "qdd_1"))]
    _print_table(
        console, "table 2 of the paper, float32, by its program (printed in brackets)", headings, rows
    )
    _print_table(console, "the same D_2", ["tip [kg]", "case", LDL, "abm", "abm_modified"], others)
    headings = ["l2 = m2", "cond(M)", "difference", "/ (cond 1e-16)", "ragged: ABM", "CRBM", "bad ABM"]
    rows = [
        [
            f"{float(x):.0e}",
            f"{s['condition']:.1e}",
            f"{s['difference']:.1e}",
            f"{s['difference'] / (s['condition'] * 1e-16):.2f}",
            *(f"{s['raggedness'][name]:.1e}" for name in (ABM, CRBM, BAD)),
        ]
        for x, s in found["sweep"].items()
    ]
    _print_table(
        console, "figures 5.3 to 5.5 and 5.7: base acceleration [rad/s^2] over joint 2", headings, rows
    )
    show_targets(console, found)
    console.print(machine_line(found))


def _run_row(row: float, both: Found, printed: tuple[int, int | None]) -> list[str]:
    cells = [f"{row:g}"]
    for algorithm, theirs in zip((ABM, CRBM), printed, strict=True):
        one = both[algorithm]
        done = one["ending"] == "DONE"
        cells += [str(one["evaluations"]) if done else "fails", str(theirs or "fails")]
        cells.append(f"{one['evaluations'] / theirs:.3f}" if done and theirs else "")
    quotient = both[CRBM]["evaluations"] / both[ABM]["evaluations"]
    return [
        *cells,
        f"{quotient:.2f}" if both[CRBM]["ending"] == "DONE" else "",
        f"{both[ABM]['condition']:.0e}",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _print_table(console: Console, title: str, headings: list[str], rows: list[list[str]]) -> None:
    table = Table(box=SIMPLE, title=escape(title))
    for heading in headings:
        table.add_column(escape(heading), justify="right", no_wrap=True)
    for cells in rows:
        table.add_row(*cells)
    console.print(table)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rows of everything")
    parser.add_argument("--draw", metavar="FOLDER", type=Path, help="write the figures there")
    options = parser.parse_args()
    if options.draw:
        try:
            from stiffness_figures import draw
        except ImportError:
            sys.exit("--draw needs matplotlib: pip install 'hapticsim[studies]'.")

    def study() -> Found:
        found = measure(options.quick)
        if options.draw:
            draw(options.draw, found)
        return found

    report(options, study, show)


if __name__ == "__main__":
    main()
