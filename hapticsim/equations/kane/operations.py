"""How many operations the equations of a mechanism have, counted as in Gillespie (2003), Table 3."""

from __future__ import annotations

from hapticsim.equations.kane.mechanism import System
from hapticsim.equations.kane.motion import Motion
from hapticsim.equations.operations import count_operations
from hapticsim.equations.scalars.spatial import add, dot, subtract
from hapticsim.equations.scalars.symmetric import solve_symmetric
from hapticsim.equations.scalars.trace import Trace
from hapticsim.errors import HapticsimError, listed, nearest


def count_kinematical(system: System) -> dict[str, int]:
    """Return the operations of qdot from q and u (2)."""
    trace = Trace()
    motion = Motion(system, trace.inputs("q", system.nq), trace.inputs("u", system.nu))
    return count_operations(trace, {"qdot": motion.qdot})


def count_dynamical(system: System, body: str) -> dict[str, int]:
    """Return the operations of udot from q, u, a torque T on a body and a force F at its mass centre.

    T and F are three measure numbers each, in axes of the body, as in (49).
    """
    names = [mass.place.name for mass in system.masses]
    if body not in names:
        raise HapticsimError(
            f"{system.mechanism.name} has no body {body!r}{nearest(body, names)}: they are {listed(names)}."
        )
    place = system.places[body]
    point = next(b.masscenter for b in system.mechanism.bodies if str(b.name) == body)
    v = system.affine(system.vector(system.velocity(point, body), place.axes.frame, body), body)
    trace = Trace()
    q, u = trace.inputs("q", system.nq), trace.inputs("u", system.nu)
    T, F = trace.inputs("T", 3), trace.inputs("F", 3)
    motion = Motion(system, q, u)
    tau = add(
        [dot(omega_r, T) for omega_r in motion.partials(place.axes.omega)],
        [dot(v_r, F) for v_r in motion.partials(v)],
    )
    udot = solve_symmetric(motion.mass_matrix(), subtract(tau, motion.bias()))
    return count_operations(trace, {"udot": udot})
