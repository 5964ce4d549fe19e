"""The right-hand side of an off-line run: dq/dt = W(q) u and du/dt by a chosen algorithm.

A ``Motion`` holds what the compiled integrators call: the forward dynamics of one robot, its kinematical
equations, and the torques.  They are passed as first-class functions (torques written in Python as a C
callback), so an integrator is compiled once per precision and serves every robot.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import float32, float64, njit, types, uint64

from hapticsim.equations.base import Equations
from hapticsim.equations.making import equations_of
from hapticsim.kernels.machine_code.foreign import callable_at

PRECISIONS: dict[str, Any] = {"float64": float64, "float32": float32}

Torques = Callable[[float, np.ndarray, np.ndarray], Any]  # (time [s], q, u) -> (nu,) [N m, N]

# (t, q, u, tau): time and the addresses of three arrays in the precision of the run
TORQUE = types.void(float64, uint64, uint64, uint64)
torque_at = callable_at(TORQUE)
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(eq=False)
class Motion:
    """What an integrator integrates.

    forward_dynamics(q, u, tau, udot), rates(q, u, qdot) and normalise(q) are compiled for C-contiguous arrays
    of the precision.  The generalized forces are ``constant``, what ``torques`` gives, and -damping u.
    """

    nq: int
    nu: int
    precision: str
    forward_dynamics: Any
    rates: Any
    normalise: Any
    constant: np.ndarray  # (nu,) [N m] or [N]
    damping: np.ndarray  # (nu,) [N m s/rad] or [N s/m]
    torques: Torques | None = None
    trouble: list[Exception] = field(default_factory=list)  # what the torques raised; the first counts

    def __post_init__(self) -> None:
        self._callback = _CALLBACK(self._called) if self.torques else None

    @property
    def dtype(self) -> Any:
        """The numpy type of all numbers of the run."""
        return np.dtype(self.precision).type

    @property
    def torque_address(self) -> int:
        """C-callable address of the torques, 0 without; valid as long as this object lives."""
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0 if self._callback else 0

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return dy/dt (nq + nu,) at time t [s]; y is q then u.  For callers in Python."""
        y = np.ascontiguousarray(y, self.dtype)
        dy, tau = np.empty_like(y), np.empty(self.nu, self.dtype)
        q, u = y[: self.nq], y[self.nq :]
        tau[:] = self.constant
        if self.torques:
            tau += np.asarray(self.torques(float(t), q, u), self.dtype)
        tau -= self.damping * u
        self.rates(q, u, dy[: self.nq])
        self.forward_dynamics(q, u, tau, dy[self.nq :])
        return dy

    def _called(self, t: float, q: int, u: int, tau: int) -> None:
        """Add the torques to tau; what they raise is kept, and NaN ends the run."""
        out = self._view(tau, self.nu)
        try:
            assert self.torques is not None
            out += np.asarray(self.torques(t, self._view(q, self.nq).copy(), self._view(u, self.nu).copy()))
        except Exception as error:  # it cannot cross compiled code
            self.trouble.append(error)
            out[:] = np.nan

    def _view(self, address: int, n: int) -> np.ndarray:
        kind = ctypes.c_double if self.precision == "float64" else ctypes.c_float
        return np.ctypeslib.as_array((kind * n).from_address(address))


def motion_of(
    equations: Equations,
    algorithm: str,
    precision: str,
    constant: np.ndarray,
    damping: np.ndarray,
    torques: Torques | None,
) -> Motion:
    """Return the motion of a robot by one algorithm; robots with quaternions only in float64."""
    dtype = np.dtype(precision).type
    rates, normalise = _plain_rates(precision), _nothing(precision)
    if equations.nq != equations.nu:
        rates, normalise = _quaternion_rates(equations), equations.kernels.normalise
    return Motion(
        nq=equations.nq,
        nu=equations.nu,
        precision=precision,
        forward_dynamics=equations.algorithm(algorithm, precision).kernel,
        rates=rates,
        normalise=normalise,
        constant=constant.astype(dtype),
        damping=damping.astype(dtype),
        torques=torques,
    )


def function_types(precision: str) -> tuple[Any, Any, Any]:
    """Return the numba types of forward_dynamics, rates and normalise."""
    v = PRECISIONS[precision][::1]
    return tuple(types.FunctionType(types.void(*(v,) * n)) for n in (4, 3, 1))  # type: ignore[return-value]


_made: dict[tuple[str, str], Any] = {}


def _plain_rates(precision: str) -> Any:
    """Return rates(q, u, qdot) of a robot whose speeds are the rates of its coordinates."""

    def rates(q, u, qdot):
        for i in range(q.size):
            qdot[i] = u[i]

    return _once("rates", precision, rates, 3)


def _nothing(precision: str) -> Any:
    """Return normalise(q) of a robot without quaternions."""

    def leave(q):
        pass

    return _once("leave", precision, leave, 1)


def _once(name: str, precision: str, function: Any, arguments: int) -> Any:
    if (name, precision) not in _made:
        v = PRECISIONS[precision][::1]
        _made[name, precision] = njit(types.void(*(v,) * arguments), nogil=True)(function)
    return _made[name, precision]


def _quaternion_rates(equations: Equations) -> Any:
    """Return rates(q, u, qdot) by the kinematics of the robot, of which no frame is asked."""
    return _rates_by(equations_of(equations.model, (), None).kernels.kinematics, equations.nu)


@cache
def _rates_by(kinematics: Any, nu: int) -> Any:
    def rates(q, u, qdot):
        kinematics(q, u, qdot, np.empty((0, 12)), np.empty((0, nu, 6)), np.empty((0, 6)), np.empty((0, 6)))

    v = float64[::1]
    compiled: Any = rates if numba.config.DISABLE_JIT else njit(types.void(v, v, v), nogil=True)(rates)  # type: ignore[attr-defined]
    return compiled
