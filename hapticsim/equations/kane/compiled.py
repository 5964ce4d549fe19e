"""Equations of motion of a mechanism, compiled: the sibling of those of a tree, with two functions more.

``rows(q, u, phi, A, b, s)`` gives all constraint rows of the mechanism: phi (nrow,) the residual of rows of
configuration, 0 for rows of motion; A (nrow, nu) and b (nrow,) with A u = b; s (nrow,) with A udot + s = 0.
``sensors(q, u, out)`` gives the sensors, in the order of ``sensor_names``; the tick does not call it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, void

from hapticsim.arguments import a_function, names
from hapticsim.equations.base import Equations, Progress, check_body, check_function
from hapticsim.equations.catalogue import CATALOGUE, DIMENSIONS
from hapticsim.equations.codegen.cache import load_compiled
from hapticsim.equations.codegen.emit import emit_module
from hapticsim.equations.kane.source import form, mechanism_folder, model_of
from hapticsim.equations.operations import count_operations
from hapticsim.equations.scalars.trace import Trace
from hapticsim.errors import ConfigError, HapticsimError, listed, nearest
from hapticsim.mechanism import Mechanism
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.multibody.joint import WORLD

if TYPE_CHECKING:
    from hapticsim.equations.kane.mechanism import System

ROWS, SENSORS = "rows", "sensors"
ARGUMENTS = {name: (entry.inputs, entry.outputs) for name, entry in CATALOGUE.items()} | {
    ROWS: (("q", "u"), ("phi", "A", "b", "s")),
    SENSORS: (("q", "u"), ("out",)),
}
_DIMENSIONS = {**DIMENSIONS, "A": 2}


def arguments_of(name: str) -> tuple[str, ...]:
    """Return the arguments of a function in the order of the call."""
    inputs, outputs = ARGUMENTS[name]
    return tuple(dict.fromkeys(inputs + outputs))


def mechanism_signature(name: str) -> Any:
    """Return the numba signature of a kernel."""
    arrays = {1: float64[::1], 2: float64[:, ::1], 3: float64[:, :, ::1]}
    return void(*(arrays[_DIMENSIONS.get(a, 1)] for a in arguments_of(name)))


def mechanism_shapes(name: str, model: MechanismModel, frames: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a function's arguments, in the order of the call."""
    nf = len(model.bodies) if name == "poses" else len(frames)
    nq, nu, rows = model.nq, model.nu, model.row_count
    known: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("q", "qdot", "qnew"), (nq,)),
        **dict.fromkeys(("u", "tau", "udot", "h", "g", "delta", "x"), (nu,)),
        **dict.fromkeys(("phi", "b", "s"), (rows,)),
        "M": (nu, nu),
        "A": (rows, nu),
        "X": (nf, 12),
        "V": (nf, nu, 6),
        "vel": (nf, 6),
        "acc": (nf, 6),
        "out": (len(model.sensors) if name == SENSORS else 2,),
        "F": (nu * (nu + 1) // 2,),
    }
    return {argument: known[argument] for argument in arguments_of(name)}


def traced_mechanism(name: str, system: System, model: MechanismModel, frames: Sequence[str]) -> Any:
    """Return the operations of a function, and its outputs as traced values."""
    from hapticsim.equations.kane.functions import BUILDERS

    trace, shapes = Trace(), mechanism_shapes(name, model, frames)
    inputs = [trace.inputs(array, shapes[array][0]) for array in ARGUMENTS[name][0]]
    return trace, BUILDERS[name](system, frames, *inputs)


class MechanismKernels:
    """The compiled functions of one mechanism, by name; each compiled on first use."""

    def __init__(self, equations: MechanismEquations, progress: Progress | None) -> None:
        self._equations, self._progress = equations, progress
        words = f"{equations.model.source.digest} {equations.frames!r}"
        self.folder = mechanism_folder(hashlib.sha256(words.encode()).hexdigest())

    def __getattr__(self, name: str) -> Any:
        if name not in ARGUMENTS:
            raise AttributeError(
                f"no kernel {name!r}{nearest(name, ARGUMENTS)}; there are {listed(ARGUMENTS)}"
            )
        function = load_compiled(
            self.folder,
            name,
            lambda: self._generate(name),
            mechanism_signature(name),
            f"compiling {self._equations.model.name}: {name}",
            self._progress,
        )
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return list(ARGUMENTS)

    def _generate(self, name: str) -> str:
        eq = self._equations
        trace, outputs = traced_mechanism(name, eq.system, eq.model, eq.frames)
        about = f"{eq.model.name}: {name} ({eq.nq} coordinates, {eq.nu} speeds)."
        return emit_module(name, mechanism_shapes(name, eq.model, eq.frames), trace, outputs, about)


class MechanismEquations(Equations):
    """The equations of motion of a mechanism; attributes and methods as of ``Equations``.

    system : the expressions they are made of; formed when something is not in the cache.
    """

    model: MechanismModel
    knows_energy = False  # the tick has no use for what a mechanism says of its potential

    def __init__(
        self, model: MechanismModel, frames: Sequence[str] | None = None, progress: Progress | None = None
    ) -> None:
        a_function("compile_mechanism", "progress", progress)
        if frames is not None:
            frames = names("compile_mechanism", "frames", frames, "names of bodies")
        super().__init__(model, ARGUMENTS, progress)
        if frames is None:
            frames = [b.name for b in model.bodies if b.mass > 0.0]
        for name in frames:
            check_body(model, name)
        self.frames = tuple(frames)
        self.sensor_names = model.sensors
        self.kernels: Any = MechanismKernels(self, progress)

    @cached_property
    def system(self) -> System:
        return form(self.model.source)

    @property
    def folder(self) -> Path:
        return self.kernels.folder

    @property
    def rows_address(self) -> int:
        return self.address(ROWS) if self.model.row_count else 0

    def signature(self, name: str) -> Any:
        return mechanism_signature(name)

    def shapes(self, name: str) -> dict[str, tuple[int, ...]]:
        return mechanism_shapes(name, self.model, self.frames)

    def operations(self, name: str) -> int:
        return sum(count_operations(*traced_mechanism(name, self.system, self.model, self.frames)).values())

    @property
    def factor_size(self) -> int:
        """Number of entries of F of ``response_factor``."""
        return self.nu * (self.nu + 1) // 2

    def rows(self, q: Any, u: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return phi (nrow,), A (nrow, nu), b (nrow,) and s (nrow,) of all constraint rows."""
        n = self.model.row_count
        phi, A, b, s = np.empty(n), np.empty((n, self.nu)), np.empty(n), np.empty(n)
        self.kernels.rows(self._q(q), self._u("u", u), phi, A, b, s)
        return phi, A, b, s

    def sensors(self, q: Any, u: Any) -> dict[str, float]:
        out = np.empty(len(self.sensor_names))
        if out.size:
            self.kernels.sensors(self._q(q), self._u("u", u), out)
        return dict(zip(self.sensor_names, out.tolist(), strict=True))

    def partial_velocities(self, name: str, q: Any) -> np.ndarray:
        """Return the Jacobian (6, nu) of any place: angular over linear velocity of its point, world axes."""
        from hapticsim.equations.kane.motion import Motion

        check_body(self.model, name)
        if name == WORLD:
            return np.zeros((6, self.nu))
        motion = Motion(self.system, self._q(q).tolist(), [0.0] * self.nu)
        V = np.array(motion.frame_outputs([name])["V"][0], float)
        return V.reshape(self.nu, 6).T.copy()

    def algorithm(self, name: str, precision: str = "float64") -> Any:
        raise HapticsimError(
            f"{self.model.name} is a mechanism without a tree, for which there is no algorithm {name!r}: "
            "use forward_dynamics."
        )

    def batch(self, name: str, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        check_function(self.model.name, name, CATALOGUE)
        if "F" in arguments_of(name):
            raise HapticsimError(
                f"{self.model.name} evaluates {name} one state at a time: use kernels.{name}."
            )
        return super().batch(name, *arrays, out=out, threads=threads)


def compile_mechanism(
    mechanism: Mechanism | MechanismModel,
    frames: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> MechanismEquations:
    """Return the equations of motion of a mechanism.

    mechanism : made in Python, or the model that ``load_mechanism`` read from a file.
    frames, progress : as for ``compile_equations``.

    Raises
    ------
    ConfigError : it is no mechanism, or one of which no equations can be made: what is wrong with which part.
    """
    if not isinstance(mechanism, Mechanism | MechanismModel):
        raise ConfigError(
            "compile_mechanism",
            "mechanism",
            f"is a {type(mechanism).__name__}: give an hs.Mechanism, or what hs.load_mechanism returns.",
        )
    model = model_of(mechanism) if isinstance(mechanism, Mechanism) else mechanism
    return MechanismEquations(model, frames, progress)
