"""The functions of the catalogue for a mechanism; scalars and arrays as in ``catalogue.py``."""

from __future__ import annotations

from collections.abc import Sequence

from hapticsim.equations.catalogue import Outputs
from hapticsim.equations.kane.mechanism import System
from hapticsim.equations.kane.motion import Motion, weighted
from hapticsim.equations.scalars.spatial import Matrix, Vector, add, subtract, times, zeros
from hapticsim.equations.scalars.symmetric import solve_symmetric


def forward_dynamics(system: System, frames: Sequence[str], q: Vector, u: Vector, tau: Vector) -> Outputs:
    """udot from M udot = tau - h."""
    motion = Motion(system, q, u)
    return {"udot": solve_symmetric(motion.mass_matrix(), subtract(tau, motion.bias()))}


def inverse_dynamics(system: System, frames: Sequence[str], q: Vector, u: Vector, udot: Vector) -> Outputs:
    """tau = M udot + h."""
    motion = Motion(system, q, u)
    return {"tau": add(times(motion.mass_matrix(), udot), motion.bias())}


def mass_matrix(system: System, frames: Sequence[str], q: Vector) -> Outputs:
    """M."""
    return {"M": Motion(system, q).mass_matrix()}


def bias(system: System, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """h, with the mechanism's own forces in it."""
    return {"h": Motion(system, q, u).bias()}


def gravity_force(system: System, frames: Sequence[str], q: Vector) -> Outputs:
    """The generalized forces that hold the mechanism still: the bias at u = 0."""
    return {"g": Motion(system, q, zeros(system.nu)).bias()}


def energy(system: System, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """Kinetic and potential energy [J]."""
    return {"out": list(Motion(system, q, u).energy())}


def poses(system: System, frames: Sequence[str], q: Vector) -> Outputs:
    """X of every place, in the order of the model."""
    motion = Motion(system, q)
    return {"X": [motion.pose(place) for place in system.places.values()]}


def kinematics(system: System, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """Kane's kinematical quantities of the frames."""
    motion = Motion(system, q, u)
    return {"qdot": motion.qdot, **motion.frame_outputs(frames)}


def kane(system: System, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """Everything a constrained step asks for, sharing what it shares."""
    motion = Motion(system, q, u)
    dynamics = {"M": motion.mass_matrix(), "h": motion.bias()}
    return {"qdot": motion.qdot, **dynamics, **motion.frame_outputs(frames)}


def displace(system: System, frames: Sequence[str], q: Vector, delta: Vector) -> Outputs:
    """qnew = q + W(q) delta."""
    return {"qnew": [a + weighted(row, delta) for a, row in zip(q, Motion(system, q).W, strict=True)]}


def normalise(system: System, frames: Sequence[str], q: Vector) -> Outputs:
    """Nothing: no coordinate is part of a quaternion."""
    return {"q": list(q)}


def response_factor(system: System, frames: Sequence[str], q: Vector) -> Outputs:
    """F: M = L D L' as the rows of D L' from the diagonal on, each with 1/D instead of D."""
    n, M = system.nu, Motion(system, q).mass_matrix()
    F: Vector = []
    U: Matrix = []
    L: Matrix = [zeros(n) for _ in range(n)]
    for j in range(n):
        row = list(M[j])
        for k in range(j):
            for i in range(j, n):
                row[i] = row[i] - L[j][k] * U[k][i]
        U.append(row)
        inverse = 1.0 / row[j]
        for i in range(j + 1, n):
            L[i][j] = row[i] * inverse
        F += [inverse, *row[j + 1 :]]
    return {"F": F}


def response(system: System, frames: Sequence[str], F: Vector, tau: Vector) -> Outputs:
    """x = M^-1 tau."""
    n = system.nu
    start = [r * n - r * (r - 1) // 2 for r in range(n)]
    x = list(tau)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - F[start[k] + i - k] * x[k]  # x[k] is scaled by 1/D already
        x[i] = x[i] * F[start[i]]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - F[start[i] + k - i] * F[start[i]] * x[k]
    return {"x": x}


def rows(system: System, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """phi, A, b and s of all constraint rows."""
    return Motion(system, q, u).rows()


def sensors(system: System, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """The user's sensors, in their order."""
    return {"out": Motion(system, q, u).sensors(system.sensors)}


BUILDERS = {
    f.__name__: f
    for f in (
        forward_dynamics,
        inverse_dynamics,
        mass_matrix,
        bias,
        gravity_force,
        energy,
        poses,
        kinematics,
        kane,
        displace,
        normalise,
        response_factor,
        response,
        rows,
        sensors,
    )
}
