"""How many operations a generated function has, in the way the literature counts them.

Only what reaches an output is counted, and equal operations once, as they are emitted.  A change of sign is
free, a subtraction is an addition, and what is known before the run (products of constants) costs nothing.
"""

from __future__ import annotations

from typing import Any

from hapticsim.equations.algorithms import ELIMINATIONS, PARTS
from hapticsim.equations.catalogue import CATALOGUE, traced
from hapticsim.equations.codegen.emit import entries, live_operations
from hapticsim.equations.scalars.trace import Trace
from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.moving import MovingTree

KINDS = {"*": "mul", "+": "add", "-": "add", "/": "div", "sin": "sincos", "cos": "sincos", "sqrt": "sqrt"}


def count_operations(trace: Trace, outputs: dict[str, Any]) -> dict[str, int]:
    """Return the numbers of operations by kind: mul, add (and subtract), div, sincos and sqrt."""
    count = dict.fromkeys(KINDS.values(), 0)
    values = [value for array in outputs.values() for _, value in entries(array)]
    for n in live_operations(trace, values):
        op = trace.operations[n][0]
        if op in KINDS:
            count[KINDS[op]] += 1
    return count


def operations_of(name: str, tree: MovingTree, frames: tuple[str, ...] = ()) -> dict[str, int]:
    """Return the numbers of operations of a function of the catalogue or an ABM for one robot."""
    offered = [*CATALOGUE, *ELIMINATIONS]
    if name not in offered:
        raise HapticsimError(
            f"{tree.name} has no function {name!r} to count{nearest(name, offered)}; "
            f"there are {listed(offered)}."
        )
    return count_operations(*traced(name, tree, frames, "float64", PARTS if name in PARTS else None))
