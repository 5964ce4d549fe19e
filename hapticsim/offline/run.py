"""Simulate a robot off-line: choose algorithm, integrator, accuracy and precision, and see what it cost.

Nothing here meets a clock, a contact or a hand.  It is the program of Cloutier (1995), section 5.1.3, for any
tree: a trajectory, the evaluations it took, and on request how well conditioned the mass matrix was and how
far another algorithm would have been off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hapticsim.arguments import number, numbers, one_of, truth, unusable, whole
from hapticsim.equations.base import Equations
from hapticsim.errors import ConfigError
from hapticsim.offline.balance import unexplained_energy
from hapticsim.offline.cash_karp import cash_karp
from hapticsim.offline.ending import Ending
from hapticsim.offline.fixed import runge_kutta_4
from hapticsim.offline.motion import PRECISIONS, Motion, Torques, motion_of
from hapticsim.offline.record import Record
from hapticsim.offline.scipy_methods import METHODS, scipy_method

INTEGRATORS = ("cash_karp", "rk4", *METHODS)

WHERE = "simulate_offline"
MOST_STEPS = 2**31
MOST_FIXED_STEPS = 1e15  # more cannot be counted, nor waited for
TIGHTEST = {"float64": 1e-15, "float32": 1e-7}  # what is asked below is rounding


@dataclass(frozen=True, eq=False)
class OfflineRun:
    """What happened; ns samples at accepted steps, at least ``store_every_s`` apart, and the last step."""

    algorithm: str
    integrator: str
    precision: str
    time: np.ndarray  # (ns,) [s]
    q: np.ndarray  # (ns, nq), in the precision of the run, as are u and udot
    u: np.ndarray  # (ns, nu)
    udot: np.ndarray  # (ns, nu)
    kinetic: np.ndarray  # (ns,) [J], always in float64
    potential: np.ndarray  # (ns,) [J]
    evaluations: np.ndarray  # (ns,) of the forward dynamics, until that step
    accepted: int  # steps
    rejected: int  # attempts thrown away; -1 where SciPy does not say
    ending: Ending
    energy_off: float  # [J] largest difference of the energy to what torques and damping account for
    condition: np.ndarray | None = None  # (ns,) 2-norm condition number of M
    difference: np.ndarray | None = None  # (ns, nu) |udot - udot of the other algorithm| / |udot|

    @property
    def energy(self) -> np.ndarray:
        """(ns,) total energy [J]."""
        return self.kinetic + self.potential

    @property
    def energy_scale(self) -> float:
        """What an error of the energy is compared with [J]: the largest kinetic, the span of potential."""
        return max(float(self.kinetic.max() + np.ptp(self.potential)), 1e-12)

    @property
    def total_evaluations(self) -> int:
        """Evaluations of the forward dynamics in the whole run."""
        return int(self.evaluations[-1])


def simulate_offline(
    equations: Equations,
    q0: Sequence[float] | np.ndarray,
    u0: Sequence[float] | np.ndarray,
    seconds: float,
    *,
    algorithm: str = "abm_exact",
    integrator: str = "cash_karp",
    accuracy: float = 1e-6,
    precision: str = "float64",
    torques: Torques | Sequence[float] | np.ndarray | None = None,
    step_s: float = 0.01,
    store_every_s: float = 0.01,
    max_steps: int = 1_000_000,
    condition_number: bool = False,
    compare_with: str | None = None,
) -> OfflineRun:
    """Simulate a robot from (q0, u0) for some seconds.

    Parameters
    ----------
    equations : from ``compile_equations``; joint dampings act, limits and friction do not.
    q0, u0 : (nq,) and (nu,) in SI units, quaternions of unit length.
    algorithm : of the forward dynamics, a name that ``Equations.algorithm`` knows.
    integrator : one of INTEGRATORS, in capitals or not.
    accuracy : relative error allowed in a step; 'rk4' does not look at it.
    precision : 'float64' or 'float32', of state, time, dynamics and integrator.
    torques : (nu,) held, or a function (time [s], q, u) -> (nu,) [N m, N].
    step_s : first step, or the step of 'rk4' [s].
    store_every_s : accepted steps are stored at least this far apart [s].
    max_steps : accepted steps after which the run is given up.
    condition_number : compute the condition number of M at every sample.
    compare_with : another algorithm, evaluated at every sample beside the one that ran.

    Raises
    ------
    ConfigError : an unknown name, a wrong length, a number that cannot be used.
    """
    if not isinstance(equations, Equations):
        raise unusable(WHERE, "equations", equations, "what hs.compile_equations returns")
    integrator = {name.lower(): name for name in INTEGRATORS}.get(str(integrator).lower(), integrator)
    one_of(WHERE, "integrator", integrator, INTEGRATORS)
    one_of(WHERE, "precision", precision, PRECISIONS)
    truth(WHERE, "condition_number", condition_number)
    if precision == "float32" and integrator in METHODS:
        raise _refusal("precision", f"= 'float32' does not go with {integrator!r}: use 'cash_karp' or 'rk4'.")
    if precision == "float32" and equations.nq != equations.nu:
        raise _refusal("precision", "= 'float32' does not go with free and ball joints: use 'float64'.")
    for name, value in (("seconds", seconds), ("step_s", step_s), ("store_every_s", store_every_s)):
        _above(name, value, 0.0)
    _above("accuracy", accuracy, 0.0)
    if integrator != "rk4" and accuracy < TIGHTEST[precision]:
        raise _refusal(
            "accuracy",
            f"= {accuracy!r} is below the rounding of {precision}: {TIGHTEST[precision]} is the least.",
        )
    if integrator == "rk4" and not seconds / step_s <= MOST_FIXED_STEPS:
        raise _refusal("step_s", f"= {step_s!r} is too short for {seconds:g} s: it makes over 1e15 steps.")
    whole(WHERE, "max_steps", max_steps, 1, MOST_STEPS)
    equations.algorithm(algorithm, precision)
    if compare_with is not None:
        equations.algorithm(compare_with, precision)
    q = _numbers("q0", q0, equations.nq)
    u = _numbers("u0", u0, equations.nu)
    law = torques if callable(torques) else None
    constant = _numbers(
        "torques", np.zeros(equations.nu) if law or torques is None else torques, equations.nu
    )
    motion = motion_of(equations, algorithm, precision, constant, equations.model.damping, law)
    y0 = np.concatenate([q, u])
    if compare_with is not None:
        equations.algorithm(compare_with, precision)  # refused now, and not after the run
    if law:
        _numbers("torques(0, q0, u0)", law(0.0, q.astype(motion.dtype), u.astype(motion.dtype)), equations.nu)
    record = _integrator(integrator)(motion, y0, seconds, accuracy, step_s, store_every_s, max_steps)
    return _described(equations, motion, record, algorithm, integrator, condition_number, compare_with)


def _integrator(name: str) -> Callable[..., Record]:
    if name == "cash_karp":
        return cash_karp
    if name == "rk4":
        return lambda motion, y0, seconds, _accuracy, *rest: runge_kutta_4(motion, y0, seconds, *rest)
    return lambda *arguments: scipy_method(name, *arguments)


def _described(
    equations: Equations,
    motion: Motion,
    record: Record,
    algorithm: str,
    integrator: str,
    condition_number: bool,
    compare_with: str | None,
) -> OfflineRun:
    """Add to a record what follows from it."""
    nq = equations.nq
    q, u, udot = record.y[:, :nq], record.y[:, nq:], record.rate[:, nq:]
    wide = record.y.astype(float)
    energies = np.array([_energy(equations, row[:nq], row[nq:]) for row in wide])
    forces = np.array(
        [_forces(motion, t, row[:nq], row[nq:]) for t, row in zip(record.time, wide, strict=True)]
    )
    condition = difference = None
    if condition_number:
        condition = np.array([np.linalg.cond(equations.mass_matrix(row[:nq])) for row in wide])
    if compare_with is not None:
        other = motion_of(
            equations, compare_with, motion.precision, motion.constant, motion.damping, motion.torques
        )
        theirs = [other.derivative(t, y)[nq:] for t, y in zip(record.time, record.y, strict=True)]
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = np.abs((udot - np.array(theirs)) / udot).astype(float)
    return OfflineRun(
        algorithm=algorithm,
        integrator=integrator,
        precision=motion.precision,
        time=record.time.astype(float),
        q=q,
        u=u,
        udot=udot,
        kinetic=energies[:, 0],
        potential=energies[:, 1],
        evaluations=record.evaluations,
        accepted=record.accepted,
        rejected=record.rejected,
        ending=record.ending,
        energy_off=unexplained_energy(record.time.astype(float), energies.sum(axis=1), forces * wide[:, nq:]),
        condition=condition,
        difference=difference,
    )


def _forces(motion: Motion, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(nu,) [N m] or [N] torques and joint damping."""
    tau = motion.constant.astype(float) - motion.damping.astype(float) * u
    if motion.torques:
        tau = tau + np.asarray(
            motion.torques(float(t), q.astype(motion.dtype), u.astype(motion.dtype)), float
        )
    return tau


def _energy(equations: Equations, q: np.ndarray, u: np.ndarray) -> tuple[float, float]:
    out = np.empty(2)
    equations.kernels.energy(q.copy(), u.copy(), out)
    return float(out[0]), float(out[1])


def _above(name: str, value: Any, least: float) -> None:
    words = f"finite and above {least:g}"
    if not number(WHERE, name, value, words=words) > least:
        raise unusable(WHERE, name, value, words)


def _numbers(name: str, value: Any, n: int) -> np.ndarray:
    return numbers(WHERE, name, value, (n,))


def _refusal(key: str, problem: str) -> ConfigError:
    return ConfigError(WHERE, key, problem)
