"""A scene with loops in MuJoCo, each ``point`` constraint as a ``connect``, which is soft."""

from __future__ import annotations

import mujoco
import numpy as np
from loop_pinocchio import ends
from mujoco_scene import scene_xml

from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.scene import Scene


class MujocoLoops:
    """The same in MuJoCo, where constraints are soft."""

    def __init__(self, scene: Scene, integrator: str, options: str = "") -> None:
        """options : attributes of ``connect``, such as a ``solref``; none: MuJoCo's default."""
        links = ""
        for constraint in scene.constraints:
            a, point_a, b, _ = ends(constraint)
            other = "" if b == WORLD else f'body2="{b}" '
            links += (
                f'<connect body1="{a}" {other}anchor="{" ".join(map(repr, point_a.tolist()))}" {options}/>'
            )
        text = scene_xml(scene, integrator).replace("</mujoco>", f"<equality>{links}</equality></mujoco>")
        text = text.replace("<option ", '<option><flag energy="enable"/></option><option ', 1)
        self.model = mujoco.MjModel.from_xml_string(text)
        for i, constraint in enumerate(scene.constraints):  # not where qpos = 0 would put it
            self.model.eq_data[i, 3:6] = ends(constraint)[3]
        self.data = mujoco.MjData(self.model)
        self._ends = [ends(c) for c in scene.constraints]
        self._q = [self.model.joint(j.name).qposadr[0] for j in scene.model.moving_joints]
        self._u = [self.model.joint(j.name).dofadr[0] for j in scene.model.moving_joints]
        self.data.qpos[self._q], self.data.qvel[self._u] = scene.q0, scene.u0
        mujoco.mj_forward(self.model, self.data)

    def step(self) -> None:
        mujoco.mj_step(self.model, self.data)

    def energy(self) -> float:
        """Kinetic and potential [J]."""
        mujoco.mj_forward(self.model, self.data)
        return float(self.data.energy.sum())

    def loop_error(self) -> float:
        """Largest distance [m] between two points that should be one."""
        return max(float(np.linalg.norm(self._place(a, p) - self._place(b, o))) for a, p, b, o in self._ends)

    def _place(self, name: str, point: np.ndarray) -> np.ndarray:
        if name == WORLD:
            return point
        i = self.model.body(name).id
        return np.asarray(self.data.xpos[i] + self.data.xmat[i].reshape(3, 3) @ point)
