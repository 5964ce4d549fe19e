"""A spherical robot wrist, with generalized speeds that make its equations short, or with rates of angles.

Gillespie, Haptics-e 3(2) (2003), example 2: u are the measure numbers of the angular velocity of the last
link in its own axes (50), or the rates of the coordinates (48).  The links A and B have no mass.  With (50)
the kinematical equations are singular where sin q2 = 0: the tool level.  It starts hanging down.
"""

import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from hapticsim import HapticsimError, Mechanism


def mechanism(
    speeds="careful",
    mass_kg=0.6,
    length_m=0.12,
    I1_kg_m2=1.2e-3,
    I2_kg_m2=1.6e-3,
    I3_kg_m2=0.5e-3,
    gravity_m_per_s2=9.81,
):
    if speeds not in ("careful", "rates"):
        raise HapticsimError(f"speeds = {speeds!r} is not a choice of the wrist: write 'careful' or 'rates'.")
    M, L, I1, I2, I3, G = sp.symbols("M L I1 I2 I3 G")
    q1, q2, q3 = dynamicsymbols("q1 q2 q3")
    u1, u2, u3 = dynamicsymbols("u1 u2 u3")

    world, O = ReferenceFrame("W"), Point("O")
    O.set_vel(world, 0)
    N, A, B, C = (ReferenceFrame(name) for name in "NABC")
    N.orient_explicit(world, sp.Matrix([[0, 0, 1], [0, -1, 0], [1, 0, 0]]).T)  # n1 up, n3 along x
    A.orient_axis(N, N.z, q1)
    B.orient_axis(A, A.y, q2)
    C.orient_axis(B, B.z, q3)
    if speeds == "careful":
        C.set_ang_vel(world, u1 * C.x + u2 * C.y + u3 * C.z)
        s2, c2, s3, c3 = sp.sin(q2), sp.cos(q2), sp.sin(q3), sp.cos(q3)
        turn = (s3 * u2 - c3 * u1) / s2
        kinematics = [q1.diff() - turn, q2.diff() - s3 * u1 - c3 * u2, q3.diff() - u3 + c2 * turn]  # (50)
    else:
        kinematics = [q1.diff() - u1, q2.diff() - u2, q3.diff() - u3]  # (48)

    Co = O.locatenew("Co", L * C.z)
    Co.v2pt_theory(O, world, C)
    tool = RigidBody("tool", Co, C, M, (inertia(C, I1, I2, I3), Co))
    return Mechanism(
        name=f"wrist ({speeds} speeds)",
        frame=world,
        origin=O,
        coordinates=[q1, q2, q3],
        speeds=[u1, u2, u3],
        kinematics=kinematics,
        bodies=[tool],
        frames={"outer": (O, A), "inner": (O, B)},
        gravity=-G * N.x,
        parameters={
            M: mass_kg,
            L: length_m,
            I1: I1_kg_m2,
            I2: I2_kg_m2,
            I3: I3_kg_m2,
            G: gravity_m_per_s2,
        },
        initial={q2: -1.2},
        handle=("tool", L * C.z),
        sensors={
            "swing_rad": q2 + sp.pi / 2,  # of the tool in the ring, from hanging
            "spin_rad_per_s": C.ang_vel_in(world).dot(C.z),
            "tip_height_m": (2 * L * C.z).dot(N.x),
        },
    )
