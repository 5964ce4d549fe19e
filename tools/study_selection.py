"""Which speeds are chosen as dependent on 20 000 random sets of rows, and how long the choice takes.

    python tools/study_selection.py             the distribution of conditions, and times
    python tools/study_selection.py --quick     500 sets
    python tools/study_selection.py --json -    the numbers; --save and --compare as well

The sets: 1 to 12 rows in 2 to 40 speeds.  Up to three pairs of columns are parallel to within 1e-1 to 1e-8,
up to two rows are combinations of others, exactly or to within 1e-1 to 1e-16; in half of the sets columns are
scaled by 1e-3 to 1e3 and so are, independently, the inertias.

Counted is the condition of V_D, the dependent columns of an orthonormal basis of the rows (columns scaled by
the inertias), by numpy's SVD, for

    first choice    select_speeds, nothing chosen before
    choice kept     the same, after another set of rows: what was dependent then is preferred
    largest rows    the speeds with the largest rows of V

Beside them the largest share of the proven bound sqrt(1 + 4 r (n - r)) where speeds are left to choose, and
on how many sets the rank is not numpy's; no set counts there with a singular value within a thousandth of a
threshold.

Times, in microseconds, best of the rounds: select_speeds and numpy.linalg.svd (LAPACK) alone, both in a
compiled loop, in turns, on random rows; "deficient" with one row in three redundant.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from hapticsim.kernels.linalg.selection import RANK_GAIN, RANK_KEEP, select_speeds

SETS, QUICK_SETS = 20_000, 500
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
WAYS = ("first choice", "choice kept", "largest rows")
SIZES = ((1, 7), (3, 9), (6, 13), (12, 18), (12, 40))
CASES, LOOPS, ROUNDS = 32, 10, 15
CONDITION, SELECTION_US = 100.0, 12.0  # at most
Array = np.ndarray


# ---- conditions


def random_set(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return rows A (m x n) and a mass matrix."""
    m, n = int(rng.integers(1, 13)), int(rng.integers(2, 41))
    A = rng.normal(size=(m, n))
    for _ in range(int(rng.integers(0, 4))):
        i, j = rng.choice(n, 2, replace=False)
        A[:, i] = rng.uniform(-2, 2) * A[:, j] + 10.0 ** rng.uniform(-8, -1) * rng.normal(size=m)
    for _ in range(int(rng.integers(0, 3)) if m > 1 else 0):
        i, *others = rng.choice(m, min(m, 4), replace=False)
        A[i] = rng.uniform(-2, 2, len(others)) @ A[others]
        if rng.random() < 0.5:
            A[i] += 10.0 ** rng.uniform(-16, -1) * rng.normal(size=n)
    if rng.random() < 0.5:
        return A, np.eye(n)
    return A * 10.0 ** rng.uniform(-3, 3, n), np.diag(10.0 ** rng.uniform(-3, 3, n))


def choose(A: Array, M: Array, before: int, order: Array) -> int:
    """Write the choice to order; return the rank."""
    m, n = A.shape
    R, U, sigma, norms, perm = scratch(m, n)
    rank, _ = select_speeds(A, m, 0, n, M, order, before, np.empty((m, m)), R, U, sigma, norms, perm)
    if rank != before or set(perm[:rank]) != set(order[:before]):
        order[:rank] = perm[:rank]
        order[rank:] = np.setdiff1d(np.arange(n), order[:rank])
    return int(rank)


def scratch(m: int, n: int) -> tuple[Array, ...]:
    return np.empty((m, n)), np.empty((m, m)), np.empty(m), np.empty(n), np.empty(n, np.int64)


def numpy_rank(values: Array, before: int) -> int | None:
    """Return the rank with its hysteresis, None when a value is too near a threshold to tell."""
    for k, value in enumerate(values):
        limit = values[0] * (RANK_KEEP if k < before else RANK_GAIN)
        if abs(value - limit) < 1e-3 * limit:
            return None
        if value <= limit:
            return k
    return len(values)


def conditions(count: int) -> Found:
    """Return for every way the conditions at the percentiles, the share of the bound, and wrong ranks."""
    rng = np.random.default_rng(0)
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    share, wrong = 0.0, 0
    for _ in range(count):
        A, M = random_set(rng)
        n = A.shape[1]
        _, values, V = np.linalg.svd(A / np.sqrt(np.diag(M)), full_matrices=False)
        before, earlier = int(rng.integers(1, min(A.shape) + 1)), rng.permutation(n)
        for way, rank_before, order in (("first choice", 0, np.arange(n)), ("choice kept", before, earlier)):
            rank = choose(A, M, rank_before, order)
            condition = float(np.linalg.cond(V[:rank, order[:rank]]))
            found[way].append(condition)
            if rank < n:
                share = max(share, condition / np.sqrt(1.0 + 4.0 * rank * (n - rank)))
            wrong += numpy_rank(values, rank_before) not in (rank, None)
            if way == "first choice":
                largest = np.argsort(-np.linalg.norm(V[:rank], axis=0))[:rank]
                found["largest rows"].append(float(np.linalg.cond(V[:rank, largest])))
    return {
        "sets": count,
        "conditions": {way: np.percentile(values, PERCENTILES).tolist() for way, values in found.items()},
        "share_of_bound": share,
        "wrong_ranks": wrong,
    }


# ---- times


@njit(nogil=True, error_model="numpy")
def select_all(rows, M, loops, order, combine, R, U, sigma, norms, perm):
    n = order.size
    for _ in range(loops):
        for c in range(rows.shape[0]):
            select_speeds(rows[c], rows.shape[1], 0, n, M, order, 0, combine, R, U, sigma, norms, perm)


@njit(nogil=True)
def decompose_all(rows, loops):
    total = 0.0
    for _ in range(loops):
        for c in range(rows.shape[0]):
            total += np.linalg.svd(rows[c], False)[1][0]
    return total


def times(m: int, n: int, deficient: bool, rounds: int) -> dict[str, float]:
    """Return the time [us] of a selection and of an SVD."""
    rng = np.random.default_rng([m, n])
    rows = rng.normal(size=(CASES, m, n))
    if deficient:
        rows[:, ::3] = np.einsum("ij,cjk->cik", rng.normal(size=(len(range(0, m, 3)), m - 1)), rows[:, 1:])
    arguments: tuple[Any, ...] = (rows, np.eye(n))
    outputs = (np.arange(n), np.empty((m, m)), *scratch(m, n))
    best = {"selection_us": np.inf, "svd_us": np.inf}
    for k in range(rounds + 1):  # the first compiles
        loops = LOOPS if k else 1
        start = time.perf_counter()
        select_all(*arguments, loops, *outputs)
        middle = time.perf_counter()
        decompose_all(rows, loops)
        end = time.perf_counter()
        if k:
            best["selection_us"] = min(best["selection_us"], (middle - start) / loops / CASES * 1e6)
            best["svd_us"] = min(best["svd_us"], (end - middle) / loops / CASES * 1e6)
    return best


def measure(quick: bool) -> Found:
    """Return everything this tool finds."""
    found = {"machine": machine(), **conditions(QUICK_SETS if quick else SETS), "times": {}}
    for m, n in SIZES:
        for deficient in (False, True) if m >= 3 else (False,):
            name = f"{m} x {n}" + (", deficient" if deficient else "")
            found["times"][name] = times(m, n, deficient, 2 if quick else ROUNDS)
    worst = max(found["conditions"][way][-1] for way in ("first choice", "choice kept"))
    found["targets"] = {
        "largest condition of the dependent columns": target(worst, CONDITION),
        "share of the proven bound": target(found["share_of_bound"], 1.0),
        "ranks that are not numpy's": target(found["wrong_ranks"], 0),
        "selection, 6 x 13 [us]": target(
            max(t["selection_us"] for name, t in found["times"].items() if name.startswith("6 x 13")),
            SELECTION_US,
        ),
    }
    return found


# ---- what is shown


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the two tables and the targets."""
    console.print(machine_line(found))
    table = Table(box=SIMPLE, title=f"condition of the dependent columns, {found['sets']} sets")
    for name in ("", *("largest" if p == 100.0 else f"{p:g} %" for p in PERCENTILES)):
        table.add_column(name, justify="right" if name else "left")
    for way, values in found["conditions"].items():
        table.add_row(way, *(f"{value:.3g}" for value in values))
    console.print(table)
    table = Table(box=SIMPLE, title="time [us]")
    for name in (
        "rows x speeds",
        "selection",
        "numpy's SVD alone",
        *(["selection before"] if before else []),
    ):
        table.add_column(name, justify="right" if name != "rows x speeds" else "left")
    for name, t in found["times"].items():
        old = [f"{before['times'][name]['selection_us']:.2f}"] if before and name in before["times"] else []
        table.add_row(name, f"{t['selection_us']:.2f}", f"{t['svd_us']:.2f}", *old)
    console.print(table)
    show_targets(console, found)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--quick", action="store_true", help="500 sets, two rounds of timing")
    options = parser.parse_args()
    report(options, lambda: measure(options.quick), show)


if __name__ == "__main__":
    main()
