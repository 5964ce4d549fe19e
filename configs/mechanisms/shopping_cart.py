"""A shopping cart whose front caster sticks now and then.

Gillespie, Haptics-e 3(2) (2003), example 3, Eqs. (51) to (67), seen from above on the floor z = 0.  The fixed
wheels are part of the choice of speeds (54); the caster's wheel rolls without slipping sideways (58); the
caster's axis may stick (64), which takes the second degree of freedom away.  It sticks with a torque: up to
``breakaway_Nm`` it holds.  The paper's wheels roll without drag.
"""

import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from hapticsim import Friction, Mechanism, Switchable


def mechanism(
    basket_mass_kg=8.0,
    basket_inertia_kg_m2=0.7,
    caster_mass_kg=0.8,
    L1_m=0.3,
    L2_m=0.6,
    L3_m=0.08,
    breakaway_Nm=0.4,
    sliding_Nm=0.25,
    stuck=False,
    drag_Ns_per_m=0.0,
):
    mB, IB, mC, L1, L2, L3, drag = sp.symbols("mB IB mC L1 L2 L3 drag")
    q1, q2, q3, q4 = dynamicsymbols("q1 q2 q3 q4")
    u1, u2, u3 = dynamicsymbols("u1 u2 u3")  # (51) to (53)

    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    B, C = ReferenceFrame("B"), ReferenceFrame("C")
    B.orient_axis(N, N.z, q3)
    B.set_ang_vel(N, u2 * N.z)
    C.orient_axis(B, B.z, q4)
    C.set_ang_vel(N, u3 * N.z)
    P1 = O.locatenew("P1", q1 * N.x + q2 * N.y)
    P1.set_vel(N, u1 * B.x)  # (54)
    Bo, P2 = P1.locatenew("Bo", L1 * B.x), P1.locatenew("P2", L2 * B.x)
    P3 = P2.locatenew("P3", -L3 * C.x)
    Bo.v2pt_theory(P1, N, B)
    P2.v2pt_theory(P1, N, B)
    P3.v2pt_theory(P2, N, C)

    basket = RigidBody("basket", Bo, B, mB, (inertia(B, 0, 0, IB), Bo))
    return Mechanism(
        name="shopping cart",
        frame=N,
        origin=O,
        coordinates=[q1, q2, q3, q4],
        speeds=[u1, u2, u3],
        kinematics=[  # (57)
            q1.diff() - sp.cos(q3) * u1,
            q2.diff() - sp.sin(q3) * u1,
            q3.diff() - u2,
            q4.diff() - u3 + u2,
        ],
        bodies=[basket, Particle("caster", P3, mC)],
        frames={"grip": (P1, B), "fork": (P2, C)},
        forces=[(P1, -drag * u1 * B.x)],
        constraints=[
            Switchable("caster rolls", motion=[P3.vel(N).dot(C.y)], held=True),  # (58)
            Switchable(
                "caster sticks",
                motion=[u3 - u2],  # (64)
                held=stuck,
                friction=Friction(breakaway_Nm, sliding_Nm, normal=1.0),
            ),
        ],
        parameters={
            mB: basket_mass_kg,
            IB: basket_inertia_kg_m2,
            mC: caster_mass_kg,
            L1: L1_m,
            L2: L2_m,
            L3: L3_m,
            drag: drag_Ns_per_m,
        },
        initial={q3: 0.0, q4: 0.0},
        handle=("grip", None),
        sensors={
            "caster_rad": q4,
            "caster_sideways_m_per_s": P3.vel(N).dot(C.y),  # of the wheel: 0 while it rolls
        },
    )
