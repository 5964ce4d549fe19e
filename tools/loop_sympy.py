"""A planar loop by SymPy's ``KanesMethod``."""

from __future__ import annotations

import numpy as np
import sympy as sp
from loop_pinocchio import ends
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.scene import Scene


class SympyLoop:
    """A chain of planar rods closed by one point, by ``KanesMethod`` with its default linear solver.

    The first speed is independent, as anyone would choose who sees a crank.
    """

    def __init__(self, scene: Scene) -> None:
        model = scene.model
        n = model.nu
        q, u = dynamicsymbols(f"q1:{n + 1}"), dynamicsymbols(f"u1:{n + 1}")
        N, O = ReferenceFrame("N"), Point("O")
        O.set_vel(N, 0)
        frame, point, bodies, loads = N, O, [], []
        frames: dict[str, tuple[ReferenceFrame, Point]] = {WORLD: (N, O)}
        for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
            parent, origin = frames[joint.parent]
            frame = parent.orientnew(f"B{i}", "Axis", (q[i], -parent.y))
            frame.set_ang_vel(parent, -u[i] * parent.y)
            point = origin.locatenew(f"P{i}", float(joint.X_PJ.translation[0]) * parent.x)
            point.v2pt_theory(origin, N, parent)
            mass = point.locatenew(f"G{i}", float(body.com_B[0]) * frame.x)
            mass.v2pt_theory(point, N, frame)
            bodies.append(
                RigidBody(
                    body.name, mass, frame, body.mass, (inertia(frame, *body.inertia_com_B.diagonal()), mass)
                )
            )
            loads.append((mass, body.mass * float(model.gravity_W[2]) * N.z))
            frames[body.name] = (frame, point)
        (constraint,) = scene.constraints
        a, point_a, _, point_b = ends(constraint)
        frame, point = frames[a]
        tip = point.locatenew("T", float(point_a[0]) * frame.x)
        tip.v2pt_theory(point, N, frame)
        gap = tip.pos_from(O) - float(point_b[0]) * N.x
        kane = KanesMethod(
            N,
            q_ind=q[:1],
            u_ind=u[:1],
            q_dependent=q[1:],
            u_dependent=u[1:],
            kd_eqs=[u[i] - q[i].diff() for i in range(n)],
            configuration_constraints=[gap.dot(N.x), gap.dot(N.z)],
            velocity_constraints=[tip.vel(N).dot(N.x), tip.vel(N).dot(N.z)],
        )
        kane.kanes_equations(bodies, loads)
        self._evaluate = sp.lambdify([*q, *u], [kane.mass_matrix, kane.forcing], cse=True)

    def acceleration(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(nu,) udot; NaN where SymPy's equations give none."""
        with np.errstate(all="ignore"):
            try:
                M, f = self._evaluate(*q, *u)
                return np.asarray(np.linalg.solve(np.array(M, float), np.array(f, float)).ravel())
            except (ZeroDivisionError, np.linalg.LinAlgError):
                return np.full(len(u), np.nan)
