"""What compiling ahead needs to know of one function of a robot, a tree or a mechanism by Kane's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numba import void

from hapticsim.equations.algorithms import ALGORITHMS, ELIMINATIONS, RECURSIVE
from hapticsim.equations.catalogue import CATALOGUE, shapes_of
from hapticsim.equations.codegen.cache import equations_folder
from hapticsim.equations.compiled import Equations, signature
from hapticsim.equations.kane.compiled import (
    ARGUMENTS,
    MechanismEquations,
    mechanism_shapes,
    mechanism_signature,
    traced_mechanism,
)
from hapticsim.equations.operations import count_operations, operations_of
from hapticsim.equations.scalars.precision import precision_of


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


def names_of(equations: Equations) -> list[str]:
    """Return the functions of the catalogue, and of a mechanism those beside it."""
    if isinstance(equations, MechanismEquations):
        return list(ARGUMENTS)
    return list(CATALOGUE)


def algorithms_of(equations: Equations) -> list[str]:
    """Return the algorithms of forward dynamics that there are for a robot; none without a tree."""
    if isinstance(equations, MechanismEquations):
        return []
    followers = equations.tree.has_followers
    return [name for name in ALGORITHMS if not (followers and name in RECURSIVE)]


def catalogue_function(equations: Equations, name: str) -> Function:
    """Return a function that the equations offer."""

    def kernel() -> Any:
        return getattr(equations.kernels, name)

    if isinstance(equations, MechanismEquations):
        shapes = list(mechanism_shapes(name, equations.model, equations.frames).values())
        kind, folder = mechanism_signature(name), equations.kernels.folder
        return Function(kernel, kind, shapes, (), folder, lambda: _mechanism_operations(equations, name))
    tree, frames = equations.tree, equations.frames
    return Function(
        kernel,
        signature(name),
        list(shapes_of(name, tree, frames).values()),
        tree.quaternions,
        equations_folder(tree, frames),
        lambda: sum(operations_of(name, tree, frames).values()),
    )


def algorithm_function(equations: Equations, name: str, precision: str) -> Function:
    """Return an algorithm of forward dynamics on a tree."""
    tree = equations.tree
    return Function(
        lambda: equations.algorithm(name, precision).kernel,
        void(*[precision_of(precision).element[::1]] * 4),
        [(tree.nq,), *[(tree.nu,)] * 3],
        tree.quaternions,
        equations_folder(tree, (), precision),
        lambda: sum(operations_of(name, tree).values()) if name in ELIMINATIONS else None,
    )


def _mechanism_operations(equations: MechanismEquations, name: str) -> int:
    traced = traced_mechanism(name, equations.system, equations.model, equations.frames)
    return sum(count_operations(*traced).values())
