"""A robot of an MJCF file in both libraries, and what they say of the same state.

What ``robot.mjcf`` leaves out and says so (actuators, the medium, gravcomp, tendons, armature of free joints,
springs of balls), and what is a constraint there, is switched off in MuJoCo.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.model.mjcf.read import MjcfRobot, read_mjcf
from hapticsim.model.mjcf.state import mujoco_state, tree_state
from hapticsim.model.mjcf.tree import BALL, FREE
from hapticsim.model.moving import moving_tree

OFF = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
TOUCHES = int(  # contacts and equalities act
    mujoco.mjtDisableBit.mjDSBL_ACTUATION
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
)


class MjcfPeer:
    """A robot in both.

    robot, mj, data : ours, and MuJoCo's model and state.
    """

    def __init__(self, path: Path, notes: list[str] | None = None) -> None:
        self.robot: MjcfRobot = read_mjcf(path, [] if notes is None else notes)
        self.model, self.mj, self.names = self.robot.model, self.robot.mj, self.robot.names
        self.only_what_is_taken()
        self.data = mujoco.MjData(self.mj)
        self._tree = moving_tree(self.model)

    def only_what_is_taken(self) -> None:
        """Switch off in MuJoCo what is not taken over."""
        mj = self.mj
        mj.opt.disableflags = int(OFF)
        mj.opt.density = mj.opt.viscosity = 0.0
        mj.body_gravcomp[:] = 0.0
        mj.tendon_stiffness[:] = mj.tendon_damping[:] = mj.tendon_armature[:] = 0.0
        for j, kind in enumerate(mj.jnt_type):
            d = mj.jnt_dofadr[j]
            if kind == FREE:
                mj.dof_armature[d : d + 6] = 0.0
            if kind in (FREE, BALL):
                mj.jnt_stiffness[j] = 0.0

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and u (nu,) at random, q within the limits of joints."""
        return self.model.random_q(self.model.zero_q(), rng), rng.normal(size=self.model.nu)

    def beside(self, q: np.ndarray, by: float) -> np.ndarray:
        """Return coordinates (nq,) of which each is about ``by`` [m, rad] off q, the same in every run."""
        other = q + by * np.random.default_rng(0).normal(size=q.size)
        for at in self.model.quaternions:
            other[at : at + 4] /= np.linalg.norm(other[at : at + 4])
        return other

    def place(self, q: np.ndarray, u: np.ndarray) -> None:
        """Put MuJoCo's robot there and let it compute."""
        model = self.model
        state = {j.name: (q[model.q_slice(j.name)], u[model.u_slice(j.name)]) for j in model.moving_joints}
        self.data.qpos[:], self.data.qvel[:] = mujoco_state(self.mj, self.names, state)
        mujoco.mj_forward(self.mj, self.data)

    def ours(self) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and u (nu,) of where MuJoCo's robot is."""
        q, u = self.model.zero_q(), np.zeros(self.model.nu)
        for name, (q_j, u_j) in tree_state(self.mj, self.names, self.data.qpos, self.data.qvel).items():
            q[self.model.q_slice(name)], u[self.model.u_slice(name)] = q_j, u_j
        return q, u

    def accelerations(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return MuJoCo's accelerations (nv,) by our equations, and by MuJoCo."""
        model, mj = self.model, self.mj
        self.place(q, u)
        tau = -model.damping * u
        for spring in self.robot.springs:
            tau[model.u_slice(spring.joint)] += spring.stiffness * (
                spring.reference - q[model.q_slice(spring.joint)]
            )
        link = Linkage(self._tree, q.tolist())
        udot = np.array(recursions.forward_dynamics(link, u.tolist(), tau.tolist()))
        qacc = np.zeros(mj.nv)
        for j, name in enumerate(self.names.joints):
            at, d = model.u_slice(name), int(mj.jnt_dofadr[j])
            u_j, udot_j = u[at], udot[at]
            if mj.jnt_type[j] == FREE:
                R_WB = self.data.xmat[mj.jnt_bodyid[j]].reshape(3, 3)
                qacc[d : d + 3] = R_WB @ (udot_j[3:] + np.cross(u_j[:3], u_j[3:]))
                qacc[d + 3 : d + 6] = udot_j[:3]
            else:
                qacc[d : d + len(udot_j)] = udot_j
        return qacc, np.array(self.data.qacc)

    def poses(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rotation and position of all bodies of the file (nbody - 1, 12), ours and MuJoCo's."""
        self.place(q, u)
        X = np.array(CATALOGUE["poses"].build(self._tree, (), q.tolist())["X"]).reshape(-1, 12)
        places = [self.model.body_names.index(name) for name in self.names.bodies[1:]]
        return X[places], np.hstack([self.data.xmat[1:], self.data.xpos[1:]])


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference by the largest entry."""
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12))
