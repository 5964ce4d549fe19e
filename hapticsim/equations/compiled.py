"""Equations of motion of one robot, compiled.

``compile_equations(model)`` returns an ``Equations``: methods for people, who want checked arguments and
fresh arrays, and under ``kernels`` the bare compiled functions for loops, which write into arrays that the
caller owns.  Each function is generated and compiled when it is first used, and kept on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import float64, void

from hapticsim.arguments import a_function, names, shown, truth
from hapticsim.equations.algorithms import ALGORITHMS, RECURSIVE, Algorithm
from hapticsim.equations.base import Equations, Progress, check_body
from hapticsim.equations.catalogue import CATALOGUE, DIMENSIONS, shapes_of, traced
from hapticsim.equations.codegen.cache import equations_folder, load_compiled
from hapticsim.equations.codegen.emit import emit_module
from hapticsim.equations.forest import generate_forest
from hapticsim.equations.operations import operations_of
from hapticsim.equations.scalars.precision import precision_of
from hapticsim.equations.tree.checks import check_determined
from hapticsim.equations.tree.frames import partial_velocities
from hapticsim.equations.tree.impulse_response import factor_size, is_articulated
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import poses
from hapticsim.errors import ConfigError, HapticsimError, listed, nearest
from hapticsim.model.moving import MovingTree, moving_tree
from hapticsim.model.multibody.tree import Model
from hapticsim.model.protocol import is_model


def signature(name: str) -> Any:
    """Return the numba signature of a kernel: C-contiguous float64 arrays, no return value."""
    arrays = {1: float64[::1], 2: float64[:, ::1], 3: float64[:, :, ::1]}
    return void(*(arrays[DIMENSIONS.get(a, 1)] for a in CATALOGUE[name].arguments))


def generate(name: str, tree: MovingTree, frames: Sequence[str]) -> str:
    """Return the source of one function for one robot."""
    about = f"{tree.name}: {name} ({tree.nq} coordinates, {tree.nu} speeds)."
    forest = generate_forest(name, tree, frames, about)
    if forest is not None:
        return forest
    trace, outputs = traced(name, tree, frames)
    return emit_module(name, shapes_of(name, tree, frames), trace, outputs, about)


class Kernels:
    """The compiled functions of one robot, by name; each compiled on first use.

    They take C-contiguous float64 arrays of the right shape, outputs last, write every entry of the outputs,
    return nothing, check nothing, allocate nothing and do not need the GIL.
    """

    def __init__(self, tree: MovingTree, frames: tuple[str, ...], progress: Progress | None) -> None:
        self._tree, self._frames, self._progress = tree, frames, progress
        self._folder = equations_folder(tree, frames)

    def __getattr__(self, name: str) -> Any:
        if name not in CATALOGUE:
            raise AttributeError(
                f"no kernel {name!r}{nearest(name, CATALOGUE)}; there are {listed(CATALOGUE)}"
            )
        function = self._compile(name)
        setattr(self, name, function)  # found without __getattr__ from now on
        return function

    def __dir__(self) -> Iterator[str]:
        yield from CATALOGUE

    def _compile(self, name: str) -> Any:
        return load_compiled(
            self._folder,
            name,
            lambda: generate(name, self._tree, self._frames),
            signature(name),
            f"compiling {self._tree.name}: {name}",
            self._progress,
        )


class TreeEquations(Equations):
    """The equations of motion of a tree; attributes and methods as of ``Equations``.

    tree : the model as the recursions see it, fixed joints lumped.
    """

    def __init__(
        self,
        model: Model,
        frames: Sequence[str] | None = None,
        progress: Progress | None = None,
        aligned: bool = True,
    ) -> None:
        check_model("compile_equations", model)
        a_function("compile_equations", "progress", progress)
        truth("compile_equations", "aligned", aligned)
        if frames is not None:
            frames = names("compile_equations", "frames", frames, "names of bodies")
        super().__init__(model, CATALOGUE, progress)
        self.tree = moving_tree(model, aligned)
        check_determined(self.tree)
        if frames is None:
            frames = [b.name for b in model.bodies if b.mass > 0.0 and self.tree.where[b.name][0] >= 0]
        for name in frames:
            check_body(model, name)
        self.frames = tuple(frames)
        self.kernels = Kernels(self.tree, self.frames, progress)
        self._algorithms: dict[tuple[str, str], Algorithm] = {}

    @property
    def folder(self) -> Path:
        return equations_folder(self.tree, self.frames)

    @property
    def factor_size(self) -> int:
        return factor_size(self.tree)

    @property
    def is_articulated(self) -> bool:
        return is_articulated(self.tree)

    @property
    def algorithm_names(self) -> tuple[str, ...]:
        return tuple(n for n in ALGORITHMS if not (self.tree.has_followers and n in RECURSIVE))

    def signature(self, name: str) -> Any:
        return signature(name)

    def shapes(self, name: str) -> dict[str, tuple[int, ...]]:
        return shapes_of(name, self.tree, self.frames)

    def operations(self, name: str) -> int:
        return sum(operations_of(name, self.tree, self.frames).values())

    def algorithm(self, name: str, precision: str = "float64") -> Algorithm:
        precision_of(precision)
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise HapticsimError(
                f"forward dynamics of {self.model.name} has no algorithm {shown(name)}"
                f"{nearest(name, ALGORITHMS)}; there are {listed(ALGORITHMS)}."
            )
        if (name, precision) not in self._algorithms:
            made = Algorithm(self.tree, name, precision, self._checked, self._progress)
            self._algorithms[name, precision] = made
        return self._algorithms[name, precision]

    def partial_velocities(self, name: str, q: Any) -> np.ndarray:
        check_body(self.model, name)
        link = Linkage(self.tree, self._q(q).tolist())
        return np.array(partial_velocities(link, poses(link), name), float).reshape(self.nu, 6).T.copy()


def check_model(where: str, model: object) -> None:
    """Refuse what is no model of a tree of bodies; a scene has one, a URDF file makes one.

    Raises
    ------
    ConfigError : what was given, and what to give.
    """
    if is_model(model) and not isinstance(model, Model):
        raise ConfigError(
            where,
            "model",
            f"= {model.name!r} is a mechanism by Kane's method: give it to hs.compile_mechanism.",
        )
    if not isinstance(model, Model):
        remedy = f"give hs.load_urdf({shown(model)})" if isinstance(model, str | os.PathLike) else ""
        if isinstance(getattr(model, "model", None), Model):
            remedy = "give its model, scene.model"
        remedy = remedy or "give what hs.load_urdf returns, or scene.model"
        raise ConfigError(where, "model", f"is a {type(model).__name__} and no model of a robot: {remedy}.")


def compile_equations(
    model: Model,
    frames: Sequence[str] | None = None,
    progress: Progress | None = None,
    aligned: bool = True,
) -> Equations:
    """Return the equations of motion of a model.

    model : of ``load_urdf``, or ``scene.model``; a tree of bodies.
    frames : bodies whose partial velocities the loop needs (those with a shape, a handle or a sensor); may be
        empty.  None means every moving body with mass.
    progress : called with pieces of text while something is compiled that is not in the cache, e.g.
        ``sys.stderr.write``.
    aligned : False keeps the axes of bodies as they are given instead of turning them along their joints, for
        studies of what that costs in digits.

    Nothing is compiled here: every function is compiled when it is first used.

    Raises
    ------
    ConfigError : ``model`` is none, a frame is no text, or another argument of the wrong kind; joints whose
        accelerations the masses do not determine.
    HapticsimError : a frame that the model does not have.
    """
    return TreeEquations(model, frames, progress, aligned)
