"""A robot of the package example-robot-data in both libraries, and the way between their coordinates.

Pinocchio numbers joints by name, keeps cosine and sine of a continuous joint, writes quaternions x, y, z, w
and the linear velocity of a free joint before the angular one.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf

LINEAR_FIRST = (3, 4, 5, 0, 1, 2)  # ours starts with omega: where each of our speeds stands in theirs


class Peer:
    """A robot in both libraries, every joint moving on its own.

    ours, model, data : hapticsim's model, Pinocchio's, and Pinocchio's scratch.
    v_index : Pinocchio's place of each of our speeds.
    """

    def __init__(self, name: str, fixed_base: bool = True) -> None:
        path = library_models()[name]
        self.ours: Model = load_urdf(path, fixed_base=fixed_base, mimic=False)
        root = () if fixed_base else (pin.JointModelFreeFlyer(),)
        self.model = pin.buildModelFromUrdf(str(path), *root)
        self.model.armature = np.zeros(self.model.nv)
        self.data = self.model.createData()
        self.v_index: list[int] = []
        for joint in self.ours.moving_joints:
            start = self.model.joints[self.model.getJointId(joint.name)].idx_v
            self.v_index += [start + k for k in (LINEAR_FIRST if joint.kind == "free" else (0,))]
        if sorted(self.v_index) != list(range(self.model.nv)):
            raise ValueError(f"{name}: the two libraries do not see the same joints.")

    def state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return random q (nq,), u (nu,) and a third vector (nu,) in -1 .. 1, quaternions of length 1."""
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.0, 1.0, self.ours.nq)
        for k in self.ours.quaternions:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q, rng.uniform(-1.0, 1.0, self.ours.nu), rng.uniform(-1.0, 1.0, self.ours.nu)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's coordinates."""
        theirs = np.zeros(self.model.nq)
        for joint in self.ours.moving_joints:
            x, their = q[self.ours.q_slice(joint.name)], self.model.joints[self.model.getJointId(joint.name)]
            if joint.kind == "free":
                theirs[their.idx_q : their.idx_q + 7] = [*x[:3], *x[4:], x[3]]
            elif their.nq == 2:
                theirs[their.idx_q : their.idx_q + 2] = np.cos(x[0]), np.sin(x[0])
            else:
                theirs[their.idx_q] = x[0]
        return theirs

    def v(self, u: np.ndarray) -> np.ndarray:
        """Return Pinocchio's speeds, forces or accelerations."""
        theirs = np.zeros(self.model.nv)
        theirs[self.v_index] = u
        return theirs

    def mass_matrix(self, pq: np.ndarray) -> np.ndarray:
        """Return Pinocchio's M at its coordinates, in our order: only its upper triangle is guaranteed."""
        M = pin.crba(self.model, self.data, pq)
        M = np.triu(M) + np.triu(M, 1).T
        return np.asarray(M[np.ix_(self.v_index, self.v_index)])
