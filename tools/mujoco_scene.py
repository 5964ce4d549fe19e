"""The same scene in MuJoCo: masses, joints, damping, armature, gravity carried by the joints, contact pairs.

Only what both simulate alike is built; anything else is refused rather than left out.  MuJoCo's contacts are
soft; their friction is switched off (condim 1).  What our tick computes afresh, the weight that the joints
carry and the coupler's force, MuJoCo gets as constants: it is spared the work, and so has to be put back in
place before it drifts off.
"""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from hapticsim.model.multibody.joint import WORLD, Joint, Placement
from hapticsim.model.multibody.rotation import quaternion_of
from hapticsim.model.scene import Scene, Shape


class MujocoScene:
    """A scene in MuJoCo.

    Parameters
    ----------
    scene : shapes of contact pairs are spheres, boxes and planes; every torque law is gravity compensation.
    integrator : ``Euler``, ``RK4``, ``implicit`` or ``implicitfast``.

    Raises ValueError for what cannot be built alike.
    """

    def __init__(self, scene: Scene, integrator: str) -> None:
        self.scene = scene
        self.model = mujoco.MjModel.from_xml_string(scene_xml(scene, integrator))
        self.data = mujoco.MjData(self.model)
        # MuJoCo numbers speeds depth first; ours follow the file
        self._q = [self.model.joint(j.name).qposadr[0] for j in scene.model.moving_joints]
        self._u = [self.model.joint(j.name).dofadr[0] for j in scene.model.moving_joints]

    def place(self, q: np.ndarray, u: np.ndarray) -> None:
        """Put the mechanism at q and u, the joints carrying the weight it has there if the laws say so."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._q] = q
        mujoco.mj_forward(self.model, self.data)
        if self.scene.torque_laws:
            self.data.qfrc_applied[:] = self.data.qfrc_bias  # at speed zero: the weight
        self.data.qvel[self._u] = u
        mujoco.mj_forward(self.model, self.data)

    def push(self, force_W: np.ndarray) -> None:
        """Apply a force [N] at the handle, and its moment about the centre of mass, until told otherwise."""
        handle = self.scene.handle
        if handle is None:
            raise ValueError(f"{self.scene.name} has no handle to push at.")
        body = self.model.body(handle.body).id
        X = self.data.xmat[body].reshape(3, 3)
        arm = self.data.xpos[body] + X @ handle.point_B - self.data.xipos[body]
        self.data.xfrc_applied[body] = [*force_W, *np.cross(arm, force_W)]

    def step(self, ticks: int) -> None:
        """Advance; the loop is MuJoCo's own, in C."""
        mujoco.mj_step(self.model, self.data, ticks)

    @property
    def q(self) -> np.ndarray:
        """(nq,) coordinates in our order."""
        return self.data.qpos[self._q].copy()

    def mass_matrix(self) -> np.ndarray:
        """(nu, nu) in our order, at the state of the last ``place``."""
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self._u, self._u)]

    def bias(self) -> np.ndarray:
        """(nu,) in our order, at the state of the last ``place``."""
        return self.data.qfrc_bias[self._u].copy()

    def contact_force(self) -> float:
        """Sum of the normal forces [N] of the last step."""
        total, wrench = 0.0, np.zeros(6)
        for i in range(self.data.ncon):
            mujoco.mj_contactForce(self.model, self.data, i, wrench)
            total += float(wrench[0])
        return total


def scene_xml(scene: Scene, integrator: str) -> str:
    """Return the scene in MuJoCo's XML."""
    for law in scene.torque_laws:
        if law.constant or law.stiffness or law.damping or not law.gravity_compensation:
            raise ValueError(f"torque law of {law.joint} is more than gravity compensation.")
    carried = {law.joint for law in scene.torque_laws}
    if carried and carried != {j.name for j in scene.model.moving_joints}:
        raise ValueError("gravity is carried by some joints only: let all carry it, or none.")
    touching = {name for pair in scene.contacts for name in (pair.a, pair.b)}
    shapes = [s for s in scene.shapes if s.name in touching]
    pairs = "".join(f'<pair geom1="{p.a}" geom2="{p.b}" condim="1"/>' for p in scene.contacts)
    return (
        f'<mujoco><compiler angle="radian" inertiafromgeom="false" autolimits="false"/>'
        f'<option timestep="{scene.tick_s!r}" integrator="{integrator}" '
        f'gravity="{_numbers(scene.model.gravity_W)}"/>'
        f"<worldbody>{_geoms(shapes, WORLD)}{_children(scene, shapes, WORLD)}</worldbody>"
        f"<contact>{pairs}</contact></mujoco>"
    )


def _children(scene: Scene, shapes: list[Shape], parent: str) -> str:
    text = ""
    for body, joint in zip(scene.model.bodies, scene.model.joints, strict=True):
        if joint.parent != parent:
            continue
        I = body.inertia_com_B
        text += (
            f'<body name="{body.name}" {_pose(joint.X_PJ)}>'
            f'<inertial pos="{_numbers(body.com_B)}" mass="{body.mass!r}" '
            f'fullinertia="{_numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])}"/>'
            f"{_joint(joint)}{_geoms(shapes, body.name)}{_children(scene, shapes, body.name)}</body>"
        )
    return text


def _joint(joint: Joint) -> str:
    if joint.kind == "fixed":
        return ""
    kinds = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}
    if joint.kind not in kinds:
        raise ValueError(f"joint {joint.name} is {joint.kind}: only hinges and slides are built.")
    return (
        f'<joint name="{joint.name}" type="{kinds[joint.kind]}" axis="{_numbers(joint.axis_J)}" '
        f'damping="{joint.damping!r}" armature="{joint.armature!r}"/>'
    )


def _geoms(shapes: list[Shape], body: str) -> str:
    text = ""
    for shape in (s for s in shapes if s.body == body):
        sizes = {"sphere": shape.size, "box": shape.size, "plane": (0.0, 0.0, 1.0)}
        if shape.kind not in sizes:
            raise ValueError(
                f"shape {shape.name} is a {shape.kind}: only spheres, boxes and planes are built."
            )
        # touching only by the pairs named: masks are zero
        text += (
            f'<geom name="{shape.name}" type="{shape.kind}" size="{_numbers(sizes[shape.kind])}" '
            f'{_pose(shape.X_BS)} contype="0" conaffinity="0"/>'
        )
    return text


def _pose(X: Placement) -> str:
    return f'pos="{_numbers(X.translation)}" quat="{_numbers(quaternion_of(X.rotation))}"'


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)
