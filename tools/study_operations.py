"""Count the operations of generated dynamics beside the published formulas.

    python tools/study_operations.py                  chains of 1 to 14 joints, robots of example-robot-data
    python tools/study_operations.py --quick          three chains and one robot
    python tools/study_operations.py --json -         the numbers; --save and --compare as well

Chains have n revolute joints and links with full inertias.  "twist and offset": a joint is placed in its
parent by a twist about x and offsets along x and z (Denavit and Hartenberg), as the published formulas
assume.  "arbitrary": by any rotation and translation.  Constants are random and give no operation away.

ABM is forward dynamics by abm_exact; CRBM is M and h, generated together, and then Cholesky, whose
operations are counted by running the solver's own loops on numbers that count.  A subtraction is an addition,
a change of sign is free, products of constants cost nothing; sines and cosines ("trig") count one each.
The tables leave out the square roots of Cholesky, one per speed; the numbers have them.

Published (Cloutier, Properties of Robot Forward Dynamics Algorithms, 1995, section 3.4), multiplications and
additions: ABM 300 n - 267 and 279 n - 259, CRBM with Cholesky n^3/6 + 11.5 n^2 + 160.33 n - 109 and
n^3/6 + 7 n^2 + 138.83 n - 102.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from reporting import Found, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from hapticsim.equations import solvers
from hapticsim.equations.algorithms import PARTS
from hapticsim.equations.catalogue import traced
from hapticsim.equations.operations import count_operations, operations_of
from hapticsim.model.moving import MovingTree, moving_tree
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Placement
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf

LENGTHS, QUICK_LENGTHS = range(1, 15), (1, 4, 7)
FROM = 4  # joints from which the generated ABM is meant to stay below the printed count
ROBOTS = {  # name: file, fixed base
    "panda": ("panda", True),
    "ur5_robot": ("ur5_robot", True),
    "talos_reduced": ("talos_reduced", True),
    "talos_reduced, floating": ("talos_reduced", False),
    "icub": ("icub", True),
    "icub, floating": ("icub", False),
    "solo12": ("solo12", True),
    "solo12, floating": ("solo12", False),
}
QUICK_ROBOTS = ("panda",)
ABM, INVERSE, MATRIX, CRBM = "ABM", "inverse dynamics", "mass matrix", "CRBM + Cholesky"
KINDS = ("mul", "add", "div", "sincos", "sqrt")


def published(n: int) -> dict[str, dict[str, float]]:
    """Return the printed counts for n joints."""
    return {
        ABM: {"mul": 300 * n - 267, "add": 279 * n - 259},
        CRBM: {
            "mul": n**3 / 6 + 11.5 * n**2 + 160.33 * n - 109,
            "add": n**3 / 6 + 7 * n**2 + 138.83 * n - 102,
        },
    }


# ---- chains


def chain(n: int, arbitrary: bool) -> Model:
    """Return a chain of n revolute joints about z, placed by twist and offsets or arbitrarily."""
    rng = np.random.default_rng([n, arbitrary])
    bodies, joints, parent = [], [], WORLD
    for k in range(n):
        root = rng.normal(size=(3, 3))
        bodies.append(Body(f"b{k}", rng.uniform(1.0, 3.0), rng.normal(size=3), root @ root.T + np.eye(3)))
        if arbitrary:
            Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            place = Placement(Q * np.sign(np.linalg.det(Q)), rng.normal(size=3))
        else:
            twist, along_x, along_z = rng.uniform(0.2, 1.3), *rng.normal(size=2)
            c, s = np.cos(twist), np.sin(twist)
            R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            place = Placement(R, np.array([along_x, 0.0, 0.0]) + along_z * R[:, 2])
        joints.append(Joint(f"j{k}", "revolute", parent, f"b{k}", place))
        parent = f"b{k}"
    return Model(f"chain of {n}", tuple(bodies), tuple(joints))


# ---- counting


class Counted:
    """A number that writes down what is done with it."""

    def __init__(self, value: float, log: Counter[str]) -> None:
        self.value, self.log = value, log

    def _done(self, kind: str, value: float) -> Counted:
        self.log[kind] += 1
        return Counted(value, self.log)

    def __sub__(self, other: Counted) -> Counted:
        return self._done("add", self.value - other.value)

    def __mul__(self, other: Counted) -> Counted:
        return self._done("mul", self.value * other.value)

    def __truediv__(self, other: Counted) -> Counted:
        return self._done("div", self.value / other.value)

    def sqrt(self) -> Counted:
        """Called by np.sqrt."""
        return self._done("sqrt", float(np.sqrt(self.value)))

    def __gt__(self, other: float) -> bool:
        return self.value > other


def cholesky_operations(n: int) -> dict[str, int]:
    """Return the operations of ``solvers.cholesky`` for n equations, from its own loops."""
    log: Counter[str] = Counter()
    number = np.vectorize(lambda x: Counted(float(x), log), otypes=[object])
    solve = _plain(solvers.cholesky)
    solve(number(n * np.eye(n) + 1.0), number(np.ones(n)), number(np.zeros(n)))
    return {kind: log[kind] for kind in KINDS}


def _plain(compiled: Any) -> Callable[..., Any]:
    """Return the Python function behind a compiled one, which calls others uncompiled, too."""
    function = getattr(compiled, "py_func", compiled)
    others = {name: getattr(value, "py_func", value) for name, value in function.__globals__.items()}
    return FunctionType(function.__code__, others)


def counts_of(tree: MovingTree) -> Found:
    """Return the counts of one mechanism."""
    system = count_operations(*traced("system", tree, (), "float64", PARTS))
    solver = cholesky_operations(tree.nu)
    counts = {
        ABM: operations_of("abm_exact", tree),
        INVERSE: operations_of("inverse_dynamics", tree),
        MATRIX: operations_of("mass_matrix", tree),
        CRBM: {kind: system[kind] + solver[kind] for kind in KINDS},
    }
    return {"speeds": tree.nu, **{name: {kind: c[kind] for kind in KINDS} for name, c in counts.items()}}


def total(count: dict[str, float]) -> float:
    """Return multiplications, additions, divisions and square roots."""
    return sum(count.get(kind, 0) for kind in ("mul", "add", "div", "sqrt"))


def crossing(counts: dict[int, Any]) -> int | None:
    """Return the number of joints from which ABM needs fewer operations than CRBM, if it ever does."""
    better = [n for n, c in counts.items() if total(c[ABM]) < total(c[CRBM])]
    return min((n for n in better if all(k in better for k in counts if k >= n)), default=None)


def measure(quick: bool) -> Found:
    """Return everything this tool counts."""
    lengths = QUICK_LENGTHS if quick else LENGTHS
    library = library_models()
    robots = {
        name: (library[file], fixed)
        for name, (file, fixed) in ROBOTS.items()
        if file in library and (name in QUICK_ROBOTS or not quick)
    }
    found: Found = {"published": {n: published(n) for n in lengths}, "robots": {}}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("counting", total=2 * len(lengths) + len(robots))
        for kind in ("twist and offset", "arbitrary"):
            found[kind] = {}
            for n in lengths:
                found[kind][n] = counts_of(moving_tree(chain(n, kind == "arbitrary")))
                progress.advance(bar)
        for name, (path, fixed) in robots.items():
            found["robots"][name] = counts_of(moving_tree(load_urdf(path, fixed_base=fixed, mimic=False)))
            progress.advance(bar)
    found["crossing"] = {k: crossing(found[k]) for k in ("published", "twist and offset", "arbitrary")}
    found["targets"] = {
        f"generated ABM / printed, {kind} ({FROM} joints or more)": target(
            max(
                found["twist and offset"][n][ABM][kind] / published(n)[ABM][kind]
                for n in lengths
                if n >= FROM
            ),
            1.0,
        )
        for kind in ("mul", "add")
    }
    return found


# ---- what is shown


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables, where ABM becomes cheaper, and the targets."""
    for kind in ("twist and offset", "arbitrary"):
        table = _table(f"chains, frames: {kind}; mul add div", ("n", "ABM paper", "CRBM paper"))
        for n, counts in found[kind].items():
            printed = (f"{p['mul']:.0f} {p['add']:.0f}" for p in found["published"][n].values())
            table.add_row(str(n), *printed, *_cells(counts))
        console.print(table)
    table = _table("robots; mul add div", ("robot", "nu"))
    for name, counts in found["robots"].items():
        table.add_row(name, str(counts["speeds"]), *_cells(counts))
    if found["robots"]:
        console.print(table)
    else:
        console.print("Robots are left out: none is installed (pip install example-robot-data).")
    for kind, n in found["crossing"].items():
        when = f"from {n} joints on" if n else "for none of these chains"
        console.print(f"ABM needs fewer operations than CRBM, {kind}: {when}")
    if before:
        for name in found["robots"].keys() & before["robots"].keys():
            old, new = (total(f["robots"][name][ABM]) for f in (before, found))
            console.print(f"{name}: ABM {new} operations, before {old}")
    show_targets(console, found)


def _table(title: str, first: tuple[str, ...]) -> Table:
    table = Table(box=SIMPLE, title=title)
    for column in (*first, ABM, INVERSE, MATRIX, CRBM, "trig"):
        table.add_column(column, justify="left" if column == "robot" else "right", no_wrap=True)
    return table


def _cells(counts: Found) -> list[str]:
    functions = (counts[name] for name in (ABM, INVERSE, MATRIX, CRBM))
    return [*(f"{c['mul']} {c['add']} {c['div']}" for c in functions), str(counts[ABM]["sincos"])]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--quick", action="store_true", help="three chains and one robot")
    options = parser.parse_args()
    report(options, lambda: measure(options.quick), show)


if __name__ == "__main__":
    main()
