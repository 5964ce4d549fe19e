"""A disk on a ramp that rolls while friction can hold it and slides when it cannot.

Gillespie, Kane's equations for haptic display of multibody systems, Haptics-e 3(2) (2003), example 1.  There
the disk cannot leave the ramp; here its height over the ramp is a coordinate, held by the constraint
``contact``, whose force is the normal force that Coulomb's law asks for.
"""

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from hapticsim import Friction, Mechanism, Switchable


def mechanism(
    mass_kg=1.0,
    radius_m=0.1,
    slope_rad=0.2,
    static_friction=0.15,
    kinetic_friction=0.1,
    gravity_m_per_s2=9.81,
):
    m, r, slope, g = sp.symbols("m r slope g")
    q1, q2, q3 = dynamicsymbols("q1 q2 q3")  # along the ramp, turned, above the ramp
    u1, u2, u3 = dynamicsymbols("u1 u2 u3")  # u2 is the speed of the rim

    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    upright, A, B = ReferenceFrame("upright"), ReferenceFrame("A"), ReferenceFrame("B")
    upright.orient_axis(N, N.x, sp.pi / 2)  # y of it is up
    A.orient_axis(upright, upright.z, slope)  # a1 up the ramp, a2 square to it
    B.orient_axis(A, A.z, q2)
    B.set_ang_vel(N, u2 / r * A.z)  # (35)

    Bo = O.locatenew("Bo", q1 * A.x + q3 * A.y)
    Bo.set_vel(N, u1 * A.x + u3 * A.y)
    J = m * r**2 / 2
    disk = RigidBody("disk", Bo, B, m, (inertia(B, J / 2, J / 2, J), Bo))
    return Mechanism(
        name="rolling disk",
        frame=N,
        origin=O,
        coordinates=[q1, q2, q3],
        speeds=[u1, u2, u3],
        kinematics=[q1.diff() - u1, r * q2.diff() - u2, q3.diff() - u3],
        bodies=[disk],
        frames={"ramp": (O, A)},
        gravity=-g * N.z,
        constraints=[
            Switchable("contact", configuration=[q3 - r], held=True),
            Switchable(
                "rolling",
                motion=[u1 + u2],
                held=True,
                friction=Friction(static_friction, kinetic_friction, normal="contact"),
            ),
        ],
        parameters={m: mass_kg, r: radius_m, slope: slope_rad, g: gravity_m_per_s2},
        initial={q3: radius_m},
        handle=("disk", None),
        sensors={
            "turned_rad": q2,
            "rolled_m": -r * q2,  # what the rim has laid down, up the ramp
            "slip_m_per_s": u1 + u2,  # of the point of the disk that touches
        },
    )
