"""Equations of motion of one model as a user has them, be it a tree or a mechanism by Kane's method.

Their siblings are ``TreeEquations`` (compiled.py) and ``MechanismEquations`` (kane/compiled.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.arguments import real_numbers, shown
from hapticsim.equations.batch import address_of, batch, checked_states, evaluate
from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.protocol import SceneModel

Progress = Callable[[str], Any]
MOST_THREADS = 1024


class Equations(ABC):
    """Equations of motion of one model, of ``compile_equations`` or ``compile_mechanism``.

    Arguments of all methods: q (nq,) [rad, m], unit quaternions where joints have them; u (nu,) [rad/s, m/s];
    tau (nu,) [N m, N].  They take whatever holds as many finite numbers and return fresh arrays; anything
    else raises ``HapticsimError``.

    nq, nu : numbers of generalized coordinates and speeds.
    joint_names : the moving joints, in the order of q and u; of a mechanism its speeds.
    frames : the bodies whose kinematics ``kernels.kinematics`` and ``kernels.kane`` give, in their order.
    sensor_names : of a mechanism; a tree has none.
    kernels : the bare compiled functions.
    """

    sensor_names: tuple[str, ...] = ()
    knows_energy = True

    def __init__(self, model: SceneModel, functions: Collection[str], progress: Progress | None) -> None:
        self.model, self.functions = model, functions
        self.nq, self.nu = model.nq, model.nu
        self.joint_names = tuple(j.name for j in model.moving_joints)
        self.frames: tuple[str, ...] = ()
        self.kernels: Any = None
        self._progress = progress

    # -- what a tree and a mechanism each say of themselves ----------------------------------------------

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where their machine code is kept, named by the hash of all it is made from."""

    @property
    def algorithm_names(self) -> tuple[str, ...]:
        """The algorithms of forward dynamics that there are for it."""
        return ()

    @property
    def is_articulated(self) -> bool:
        """Whether it is a tree in which no joint follows another: impulse responses are then of O(n)."""
        return False

    @property
    @abstractmethod
    def factor_size(self) -> int:
        """Number of entries of F of ``response_factor``."""

    @abstractmethod
    def signature(self, name: str) -> Any:
        """Return the numba signature of a kernel."""

    @abstractmethod
    def shapes(self, name: str) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the arguments of a kernel, in the order of the call."""

    @abstractmethod
    def operations(self, name: str) -> int:
        """Return the number of operations of a kernel."""

    @abstractmethod
    def algorithm(self, name: str, precision: str = "float64") -> Any:
        """Return forward dynamics by a named algorithm in float64 or float32, for comparing them.

        ``equations/algorithms.py`` lists the names; "abm_exact" is what ``forward_dynamics`` does.

        Raises
        ------
        HapticsimError : no such algorithm or precision, or one that cannot take joints that follow others.
        """

    @abstractmethod
    def partial_velocities(self, name: str, q: Any) -> np.ndarray:
        """Return the Jacobian (6, nu) of any body: angular velocity, then velocity of its origin, world axes.

        Works by the recursion on floats, for any body at any time; a loop asks for ``frames`` and uses
        ``kernels``.
        """

    # -- what follows for both -----------------------------------------------------------------------------

    def sensors(self, q: Any, u: Any) -> dict[str, float]:
        """Return the sensors of a mechanism by name, SI units; NaN or infinite where one has no value."""
        return {}

    def forward_dynamics(self, q: Any, u: Any, tau: Any) -> np.ndarray:
        """Return udot (nu,) [rad/s^2, m/s^2] under generalized forces tau (nu,), without joint damping."""
        udot = np.empty(self.nu)
        self.kernels.forward_dynamics(self._q(q), self._u("u", u), self._u("tau", tau), udot)
        return udot

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
        check_body(self.model, name)
        X = np.empty((len(self.model.bodies), 12))
        self.kernels.poses(self._q(q), X)
        row = X[self.model.body_names.index(name)]
        return Placement(row[:9].reshape(3, 3).copy(), row[9:].copy())

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
        shapes = self.shapes(name)
        given = zip(entry.inputs, arrays, strict=True)
        inputs = {a: checked_states(where, a, value, shapes[a][0]) for a, value in given}
        kernel, kind = getattr(self.kernels, name), self.signature(name)
        outputs = {a: shapes[a] for a in entry.outputs}
        return batch(where, inputs, outputs, lambda a, n: evaluate(kernel, kind, a, n, threads), out)

    def address(self, name: str) -> int:
        """Return the C-callable address of a kernel, a first-class function of ``signature(name)``.

        Valid as long as this object lives.

        Raises
        ------
        HapticsimError : there is no function of this name.
        """
        check_function(self.model.name, name, self.functions)
        return address_of(getattr(self.kernels, name), self.signature(name))

    @property
    def addresses(self) -> dict[str, int]:
        """The addresses of all kernels; compiles those that have not been used yet."""
        return {name: self.address(name) for name in self.functions}

    @property
    def rows_address(self) -> int:
        """The address of the kernel of the model's own constraint rows; 0: it has none."""
        return 0

    def _q(self, q: Any) -> np.ndarray:
        return self._checked("q", q)

    def _u(self, name: str, u: Any) -> np.ndarray:
        return self._checked(name, u)

    def _checked(self, name: str, value: Any, dtype: type = np.float64) -> np.ndarray:
        n = self.nq if name == "q" else self.nu
        if type(value) is np.ndarray and value.dtype == dtype:
            array: np.ndarray = np.ascontiguousarray(value if value.flags.writeable else value.copy())
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


def check_body(model: SceneModel, name: object) -> None:
    """Refuse what is neither a body of the model nor the world.

    Raises
    ------
    HapticsimError : names the nearest, and all there are.
    """
    names = model.body_names
    if not isinstance(name, str) or (name != WORLD and name not in names):
        raise HapticsimError(
            f"{model.name} has no body {shown(name)}{nearest(name, names)}; it has {listed(names)}."
        )
