"""A scene with loops in Pinocchio: revolute joints, each ``point`` constraint as a 3-D contact."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from hapticsim.model.constraints import Constraint
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.scene import Scene

MU, ITERATIONS = 1e-8, 200  # of the proximal solver: without mu redundant rows give NaN
MU_IMPULSE = 1e-12  # impulses are not iterated: mu is an error of the result
SETTLED = 1e-14  # its absolute and relative tolerance


class PinocchioLoops:
    """A scene of revolute joints in Pinocchio, its ``point`` constraints as 3-D contacts."""

    def __init__(self, scene: Scene) -> None:
        model = pin.Model()
        model.gravity.linear = np.array(scene.model.gravity_W)
        index = {WORLD: 0}
        for body, joint in zip(scene.model.bodies, scene.model.joints, strict=True):
            if joint.kind != "revolute":
                raise ValueError(f"joint {joint.name} is {joint.kind}: only revolute ones are built.")
            revolute = pin.JointModelRevoluteUnaligned(np.array(joint.axis_J))
            i = model.addJoint(index[joint.parent], revolute, _se3(joint.X_PJ), joint.name)
            model.appendBodyToJoint(
                i, pin.Inertia(body.mass, body.com_B, body.inertia_com_B), pin.SE3.Identity()
            )
            index[body.name] = i
        self.model, self.data = model, model.createData()
        self._rows, self._scratch = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for constraint in scene.constraints:
            a, point_a, b, point_b = ends(constraint)
            row = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                model,
                index[a],
                pin.SE3(np.eye(3), point_a),
                index[b],
                pin.SE3(np.eye(3), point_b),
                pin.ReferenceFrame.LOCAL,
            )
            self._rows.append(row)
            self._scratch.append(row.createData())
        pin.initConstraintDynamics(model, self.data, self._rows, self._scratch)

    def acceleration(self, q: np.ndarray, u: np.ndarray, torque: np.ndarray, mu: float = MU) -> np.ndarray:
        """(nu,) udot; NaN where the solver gives none."""
        settings = pin.ProximalSettings(SETTLED, SETTLED, mu, ITERATIONS if mu > 0.0 else 1)
        udot = pin.constraintDynamics(
            self.model, self.data, q, u, torque, self._rows, self._scratch, settings
        )
        return np.array(udot)

    def force(self) -> float:
        """Largest force of constraint [N] at the last acceleration."""
        return float(np.abs(self.data.lambda_c).max())

    def after_impulse(self, q: np.ndarray, u: np.ndarray, restitution: float = 0.0) -> np.ndarray:
        """(nu,) speeds after the constraints were imposed at (q, u)."""
        settings = pin.ProximalSettings(SETTLED, SETTLED, MU_IMPULSE, 1)
        return np.array(
            pin.impulseDynamics(self.model, self.data, q, u, self._rows, self._scratch, restitution, settings)
        )

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """(nu, nu)."""
        M = pin.crba(self.model, self.data, q)
        return np.asarray(np.triu(M) + np.triu(M, 1).T)


def ends(constraint: Constraint) -> tuple[str, np.ndarray, str, np.ndarray]:
    """Return the two bodies of a ``point`` constraint and the points in them [m]."""
    row = constraint.rows[0]
    if len(constraint.rows) != 3 or any(not np.array_equal(r.point_a, row.point_a) for r in constraint.rows):
        raise ValueError(f"constraint {constraint.name} is no 'point': only those are built.")
    return row.a, np.array(row.point_a), row.b, np.array(row.point_b)


def _se3(X: Placement) -> pin.SE3:
    return pin.SE3(np.array(X.rotation), np.array(X.translation))
