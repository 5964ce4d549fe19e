"""Equations of motion of one robot, compiled.

``compile_equations(model)`` returns an ``Equations``: methods for people, who want checked arguments and
fresh arrays, and under ``kernels`` the bare compiled functions for loops, which write into arrays that the
caller owns.  Each function is generated and compiled when it is first used, and kept on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numba import float64, void

from hapticsim.arguments import a_function, names, real_numbers, shown, truth
from hapticsim.equations.algorithms import ALGORITHMS, Algorithm
from hapticsim.equations.batch import address_of, batch, checked_states, evaluate
from hapticsim.equations.catalogue import CATALOGUE, DIMENSIONS, shapes_of, traced
from hapticsim.equations.codegen.cache import equations_folder, load_compiled
from hapticsim.equations.codegen.emit import emit_module
from hapticsim.equations.scalars.precision import precision_of
from hapticsim.equations.tree.frames import partial_velocities
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import poses
from hapticsim.errors import ConfigError, HapticsimError, listed, nearest
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.moving import MovingTree, moving_tree
from hapticsim.model.multibody.tree import Model, Placement

Progress = Callable[[str], Any]
MOST_THREADS = 1024


def signature(name: str) -> Any:
    """Return the numba signature of a kernel: C-contiguous float64 arrays, no return value."""
    arrays = {1: float64[::1], 2: float64[:, ::1], 3: float64[:, :, ::1]}
    return void(*(arrays[DIMENSIONS.get(a, 1)] for a in CATALOGUE[name].arguments))


def generate(name: str, tree: MovingTree, frames: Sequence[str]) -> str:
    """Return the source of one function for one robot."""
    trace, outputs = traced(name, tree, frames)
    about = f"{tree.name}: {name} ({tree.nq} coordinates, {tree.nu} speeds)."
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


class Equations:
    """Equations of motion of one model, of ``compile_equations``.

    Arguments of all methods: q (nq,) [rad, m], unit quaternions where joints have them; u (nu,) [rad/s, m/s];
    tau (nu,) [N m, N].  They take whatever holds as many finite numbers and return fresh arrays; anything
    else raises ``HapticsimError``.

    nq, nu : numbers of generalized coordinates and speeds.
    tree : the model as the recursions see it, fixed joints lumped.
    joint_names : the moving joints, in the order of q and u.
    frames : the bodies whose kinematics ``kernels.kinematics`` and ``kernels.kane`` give, in their order.
    sensor_names : of a mechanism; a tree has none.
    kernels : the bare compiled functions.
    """

    sensor_names: tuple[str, ...] = ()

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
        self.model = model
        self.tree = moving_tree(model, aligned)
        self.nq, self.nu = self.tree.nq, self.tree.nu
        self.joint_names = tuple(j.name for j in model.moving_joints)
        if frames is None:
            frames = [b.name for b in model.bodies if b.mass > 0.0 and self.tree.where[b.name][0] >= 0]
        for name in frames:
            self.tree.place_of(name)
        self.frames = tuple(frames)
        self.kernels = Kernels(self.tree, self.frames, progress)
        self._progress = progress
        self._algorithms: dict[tuple[str, str], Algorithm] = {}

    def sensors(self, q: Any, u: Any) -> dict[str, float]:
        """Return the sensors of a mechanism by name, SI units; NaN or infinite where one has no value."""
        return {}

    def forward_dynamics(self, q: Any, u: Any, tau: Any) -> np.ndarray:
        """Return udot (nu,) [rad/s^2, m/s^2] under generalized forces tau (nu,), without joint damping."""
        udot = np.empty(self.nu)
        self.kernels.forward_dynamics(self._q(q), self._u("u", u), self._u("tau", tau), udot)
        return udot

    def algorithm(self, name: str, precision: str = "float64") -> Algorithm:
        """Return forward dynamics by a named algorithm in float64 or float32, for comparing them.

        ``equations/algorithms.py`` lists the names; "abm_exact" is what ``forward_dynamics`` does.

        Raises
        ------
        HapticsimError : no such algorithm or precision, or one that cannot take joints that follow others.
        """
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

    def inverse_dynamics(self, q: Any, u: Any, udot: Any) -> np.ndarray:
        """Return the generalized forces (nu,) [N m, N] that give udot (nu,)."""
        tau = np.empty(self.nu)
        self.kernels.inverse_dynamics(self._q(q), self._u("u", u), self._u("udot", udot), tau)
        return tau

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Return the mass matrix M (nu, nu) [kg m^2, kg m, kg], symmetric, armature included."""
        M = np.empty((self.nu, self.nu))
        self.kernels.mass_matrix(self._q(q), M)
        return M

    def bias(self, q: Any, u: Any) -> np.ndarray:
        """Return h (nu,) [N m, N] with M udot + h = tau: gravity, centrifugal and Coriolis forces."""
        h = np.empty(self.nu)
        self.kernels.bias(self._q(q), self._u("u", u), h)
        return h

    def energy(self, q: Any, u: Any) -> tuple[float, float]:
        """Return kinetic and potential energy [J]; the potential of a mass m at p is -m g . p."""
        out = np.empty(2)
        self.kernels.energy(self._q(q), self._u("u", u), out)
        return float(out[0]), float(out[1])

    def body_pose(self, name: str, q: Any) -> Placement:
        """Return X_WB of any body of the model: ``rotation`` (3, 3) and ``translation`` (3,) [m], world axes.

        Raises
        ------
        HapticsimError : there is no body of this name.
        """
        self.tree.place_of(name)
        X = np.empty((len(self.model.bodies), 12))
        self.kernels.poses(self._q(q), X)
        row = X[self.model.body_names.index(name)]
        return Placement(row[:9].reshape(3, 3).copy(), row[9:].copy())

    def partial_velocities(self, name: str, q: Any) -> np.ndarray:
        """Return the Jacobian (6, nu) of any body: angular velocity, then velocity of its origin, world axes.

        Works by the recursion on floats, for any body at any time; a loop asks for ``frames`` and uses
        ``kernels``.
        """
        self.tree.place_of(name)
        link = Linkage(self.tree, self._q(q).tolist())
        return np.array(partial_velocities(link, poses(link), name), float).reshape(self.nu, 6).T.copy()

    def batch(self, name: str, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """Evaluate a function of the catalogue at many states, on all cores.

        name : e.g. "forward_dynamics"; ``CATALOGUE`` lists them with their arguments.
        arrays : its inputs in their order, (states, n) each: one row per state.
        out : array to write into, or a dict of arrays by name where the function has several outputs; must
            be C-contiguous float64.
        threads : at most so many; 1 keeps to this thread.

        Returns the output (states, ...), or a dict of outputs by name.  Shapes and finiteness are checked
        once, not per state.

        Raises
        ------
        HapticsimError : no such function, a wrong number of arrays or rows, not finite, or an ``out`` that
            cannot be written to.
        """
        check_function(self.model.name, name, CATALOGUE)
        where, entry = f"{name} of {self.model.name}", CATALOGUE[name]
        if len(arrays) != len(entry.inputs):
            raise HapticsimError(
                f"{where} takes {', '.join(entry.inputs)}, got {len(arrays)} arrays: give one for each."
            )
        if threads is not None and (
            isinstance(threads, bool) or not isinstance(threads, Integral) or not 1 <= threads <= MOST_THREADS
        ):
            raise HapticsimError(
                f"{where} cannot run on {shown(threads)} threads: "
                f"give a whole number from 1 to {MOST_THREADS}."
            )
        shapes = shapes_of(name, self.tree, self.frames)
        given = zip(entry.inputs, arrays, strict=True)
        inputs = {a: checked_states(where, a, value, shapes[a][0]) for a, value in given}
        kernel, kind = getattr(self.kernels, name), signature(name)
        outputs = {a: shapes[a] for a in entry.outputs}
        return batch(where, inputs, outputs, lambda a, n: evaluate(kernel, kind, a, n, threads), out)

    def address(self, name: str) -> int:
        """Return the C-callable address of a kernel, a first-class function of ``signature(name)``.

        Valid as long as this object lives.

        Raises
        ------
        HapticsimError : there is no function of this name.
        """
        check_function(self.model.name, name, CATALOGUE)
        return address_of(getattr(self.kernels, name), signature(name))

    @property
    def addresses(self) -> dict[str, int]:
        """The addresses of all kernels; compiles those that have not been used yet."""
        return {name: self.address(name) for name in CATALOGUE}

    def _q(self, q: Any) -> np.ndarray:
        return self._checked("q", q)

    def _u(self, name: str, u: Any) -> np.ndarray:
        return self._checked(name, u)

    def _checked(self, name: str, value: Any, dtype: type = np.float64) -> np.ndarray:
        n = self.nq if name == "q" else self.nu
        if type(value) is np.ndarray and value.dtype == dtype:
            array: np.ndarray = np.ascontiguousarray(value)
        else:
            array = self._numbers(name, value, n, dtype)
        if array.shape != (n,):
            raise HapticsimError(
                f"{name} of {self.model.name} must have shape ({n},), got {array.shape}: "
                f"one entry per {'coordinate' if name == 'q' else 'speed'} of {', '.join(self.joint_names)}."
            )
        if not np.all(np.isfinite(array)):
            raise HapticsimError(
                f"{name}[{np.argmin(np.isfinite(array))}] of {self.model.name} is not finite: give a number."
            )
        return array

    def _numbers(self, name: str, value: Any, n: int, dtype: type) -> np.ndarray:
        try:
            array = real_numbers(value)
            with np.errstate(over="ignore"):  # a number too large for single precision is refused later
                return np.ascontiguousarray(array, dtype=dtype)
        except ValueError:
            raise HapticsimError(
                f"{name} of {self.model.name} must be {n} numbers, got {shown(value)}."
            ) from None


def check_model(where: str, model: object) -> None:
    """Refuse what is no model of a tree of bodies; a scene has one, a URDF file makes one.

    Raises
    ------
    ConfigError : what was given, and what to give.
    """
    if isinstance(model, MechanismModel):
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


def check_function(model: str, name: object, known: Collection[str]) -> None:
    """Refuse a function that is not offered.

    Raises
    ------
    HapticsimError : names the nearest, and all there are.
    """
    if not isinstance(name, str) or name not in known:
        raise HapticsimError(
            f"{model} has no function {shown(name)}{nearest(name, known)}; there are {listed(known)}."
        )


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
    ConfigError : ``model`` is none, a frame is no text, or another argument of the wrong kind.
    HapticsimError : a frame that the model does not have.
    """
    return Equations(model, frames, progress, aligned)
