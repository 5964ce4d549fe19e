"""Mechanisms for the tests, and SymPy's own Kane's method beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

from hapticsim import Mechanism
from hapticsim.equations.kane.source import MechanismFile

FOLDER = Path(__file__).parent.parent / "configs" / "mechanisms"


def ready(name: str, **parameters: Any) -> Mechanism:
    """One of the mechanisms that come with the project."""
    path = FOLDER / f"{name}.py"
    return MechanismFile(str(path), path.read_text(), tuple(parameters.items())).mechanism()


def pendulum(n: int = 3) -> Mechanism:
    """n rods with absolute angles and absolute angular velocities, a spring at the first, air at the last."""
    q, u = dynamicsymbols(f"q1:{n + 1}"), dynamicsymbols(f"u1:{n + 1}")
    m, l, g, k, d = sp.symbols("m l g k d")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    tip, bodies = O, []
    for i in range(n):
        frame = ReferenceFrame(f"F{i}")
        frame.orient_axis(N, N.y, q[i])
        frame.set_ang_vel(N, u[i] * N.y)
        centre, end = tip.locatenew(f"G{i}", -l / 2 * frame.z), tip.locatenew(f"P{i}", -l * frame.z)
        centre.v2pt_theory(tip, N, frame)
        end.v2pt_theory(tip, N, frame)
        I = m * l**2 / 12
        bodies.append(RigidBody(f"rod{i + 1}", centre, frame, m, (inertia(frame, I, I, 0), centre)))
        tip = end
    return Mechanism(
        name="pendulum",
        frame=N,
        origin=O,
        coordinates=q,
        speeds=u,
        kinematics=[a.diff() - b for a, b in zip(q, u, strict=True)],
        bodies=bodies,
        frames={"tip": (tip, frame)},
        forces=[(bodies[0].frame, -k * q[0] * N.y), (tip, -d * tip.vel(N))],
        gravity=-g * N.z,
        potential=k * q[0] ** 2 / 2,
        parameters={m: 0.7, l: 0.4, g: 9.81, k: 3.0, d: 0.2},
    )


def satellite() -> Mechanism:
    """A free body with body-fixed angles and velocities in its own axes, and a particle that slides on it."""
    q, u = dynamicsymbols("q1:8"), dynamicsymbols("u1:8")
    m, mp, a = sp.symbols("m mp a")
    Ix, Iy, Iz, Ixy = sp.symbols("Ix Iy Iz Ixy")
    N, O, B = ReferenceFrame("N"), Point("O"), ReferenceFrame("B")
    O.set_vel(N, 0)
    B.orient_body_fixed(N, q[3:6], "123")
    angles = B.ang_vel_in(N).to_matrix(B)
    B.set_ang_vel(N, u[3] * B.x + u[4] * B.y + u[5] * B.z)
    G = O.locatenew("G", q[0] * N.x + q[1] * N.y + q[2] * N.z)
    G.set_vel(N, u[0] * B.x + u[1] * B.y + u[2] * B.z)
    P = G.locatenew("P", a * B.x + q[6] * B.y)
    P.set_vel(B, u[6] * B.y)
    P.v1pt_theory(G, N, B)
    G_rate = sp.Matrix([x.diff() for x in q[:3]])
    body = RigidBody("hub", G, B, m, (inertia(B, Ix, Iy, Iz, Ixy), G))
    return Mechanism(
        name="satellite",
        frame=N,
        origin=O,
        coordinates=q,
        speeds=u,
        kinematics=[
            *(G_rate - G.vel(N).to_matrix(N)),
            *(angles - sp.Matrix(u[3:6])),
            q[6].diff() - u[6],
        ],
        bodies=[body, Particle("mass", P, mp)],
        parameters={m: 2.0, mp: 0.4, a: 0.3, Ix: 0.03, Iy: 0.05, Iz: 0.06, Ixy: 0.004},
        forces=[(P, -2.0 * q[6] * B.y), (G, 2.0 * q[6] * B.y), (B, 0.3 * B.z - 0.1 * u[3] * B.x)],
    )


def kanes_method(mechanism: Mechanism) -> Any:
    """M and forcing as functions of (q, u), by SymPy's KanesMethod; all constraints left out."""
    gravity = mechanism.gravity
    weights = [] if gravity is None else [(b.masscenter, b.mass * gravity) for b in mechanism.bodies]
    method = KanesMethod(
        mechanism.frame, list(mechanism.coordinates), list(mechanism.speeds), list(mechanism.kinematics)
    )
    method.kanes_equations(list(mechanism.bodies), [*mechanism.forces, *weights])
    values = {k: v for k, v in mechanism.parameters.items()}
    arguments = (list(mechanism.coordinates), list(mechanism.speeds))
    M, forcing, rates = (
        sp.lambdify(arguments, e.subs(values), "numpy", cse=True)
        for e in (
            method.mass_matrix,
            method.forcing,
            sp.Matrix([method.kindiffdict()[q.diff()] for q in mechanism.coordinates]),
        )
    )
    return (
        lambda q, u: np.array(M(q, u), float),
        lambda q, u: np.array(forcing(q, u), float).ravel(),
        lambda q, u: np.array(rates(q, u), float).ravel(),
    )
