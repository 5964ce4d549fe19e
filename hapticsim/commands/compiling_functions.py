"""What compiling ahead needs to know of one function of a robot, a tree or a mechanism by Kane's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numba import void

from hapticsim.equations.algorithms import ELIMINATIONS
from hapticsim.equations.base import Equations
from hapticsim.equations.codegen.cache import equations_folder
from hapticsim.equations.operations import operations_of
from hapticsim.equations.scalars.precision import precision_of
from hapticsim.model.moving import moving_tree


@dataclass(frozen=True, eq=False)
class Function:
    """One function, not compiled yet.

    kernel : compiles it, or loads it from the cache.
    kind : its numba signature.
    shapes : of its arguments, q first.
    quaternions : where unit quaternions start in q.
    folder : where its source and its machine code are kept.
    operations : counts its operations; None for what is not one straight line.
    """

    kernel: Callable[[], Any]
    kind: Any
    shapes: Sequence[tuple[int, ...]]
    quaternions: Sequence[int]
    folder: Path
    operations: Callable[[], int | None]


def catalogue_function(equations: Equations, name: str) -> Function:
    """Return a function that the equations offer."""
    return Function(
        lambda: getattr(equations.kernels, name),
        equations.signature(name),
        list(equations.shapes(name).values()),
        equations.model.quaternions,
        equations.folder,
        lambda: equations.operations(name),
    )


def algorithm_function(equations: Equations, name: str, precision: str) -> Function:
    """Return an algorithm of forward dynamics on a tree."""
    tree = moving_tree(equations.model)
    return Function(
        lambda: equations.algorithm(name, precision).kernel,
        void(*[precision_of(precision).element[::1]] * 4),
        [(tree.nq,), *[(tree.nu,)] * 3],
        tree.quaternions,
        equations_folder(tree, (), precision),
        lambda: sum(operations_of(name, tree).values()) if name in ELIMINATIONS else None,
    )
