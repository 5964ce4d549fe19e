"""Agreement with Pinocchio on the robots of example-robot-data, to 1e-9 of the largest entry.

The recursion runs on floats for every robot; that compiled code has the same bits is the claim of
test_compiled.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.equations import recursions
from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.recursions import Linkage
from hapticsim.model.library import library_models
from hapticsim.model.moving import moving_tree
from hapticsim.model.tree import Model
from hapticsim.model.urdf import load_urdf

pin = pytest.importorskip("pinocchio")
TOLERANCE = 1e-9
# What load_urdf refuses, with good reason: fingers without mass that move; a file without links.
REFUSED = {"romeo", "romeo_laas_small", "ur3"}
ROBOTS = sorted(set(library_models()) - REFUSED)
FLOATING = ("talos_reduced", "solo12", "go2", "iris_simple", "quadrotor_base")


class Peer:
    """The same robot in Pinocchio, and the way between the two kinds of coordinates."""

    def __init__(self, name: str, fixed_base: bool) -> None:
        path = library_models()[name]
        self.ours: Model = load_urdf(path, fixed_base=fixed_base)
        root = () if fixed_base else (pin.JointModelFreeFlyer(),)
        self.model = pin.buildModelFromUrdf(str(path), *root)
        self.model.armature = np.zeros(self.model.nv)
        self.data = self.model.createData()
        self.v_index: list[int] = []  # Pinocchio's place of each of our speeds
        for joint in self.ours.moving_joints:
            start = self.model.joints[self.model.getJointId(joint.name)].idx_v
            self.v_index += [start + k for k in ((3, 4, 5, 0, 1, 2) if joint.kind == "free" else (0,))]
        assert sorted(self.v_index) == list(range(self.model.nv))

    def state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.0, 1.0, self.ours.nq)
        for joint in self.ours.moving_joints:
            if joint.kind == "free":
                q[self.ours.q_slice(joint.name)][3:] /= np.linalg.norm(q[self.ours.q_slice(joint.name)][3:])
        return q, rng.uniform(-1.0, 1.0, self.ours.nu), rng.uniform(-1.0, 1.0, self.ours.nu)

    def q(self, q: np.ndarray) -> np.ndarray:
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
        theirs = np.zeros(self.model.nv)
        theirs[self.v_index] = u
        return theirs


def assert_agrees(ours, theirs, what: str) -> None:
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, what
    error = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12)
    assert error < TOLERANCE, f"{what}: {error:.1e}"


CASES = [(name, True) for name in ROBOTS] + [(name, False) for name in FLOATING if name in ROBOTS]


def test_there_are_robots_enough_to_mean_something():
    assert len(ROBOTS) >= 20


@pytest.mark.parametrize(("name", "fixed_base"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_a_real_robot_moves_as_in_pinocchio(name, fixed_base):
    peer = Peer(name, fixed_base)
    if peer.ours.nu == 0:
        pytest.skip("nothing moves on a fixed base")
    model, data = peer.model, peer.data
    tree = moving_tree(peer.ours)
    q, u, x = peer.state(seed=1)
    pq, pv, px = peer.q(q), peer.v(u), peer.v(x)
    link, u, x = Linkage(tree, q.tolist()), u.tolist(), x.tolist()

    theirs = pin.aba(model, data, pq, pv, px)[peer.v_index]
    assert_agrees(recursions.forward_dynamics(link, u, x), theirs, "forward dynamics")
    assert_agrees(
        recursions.inverse_dynamics(link, u, x),
        pin.rnea(model, data, pq, pv, px)[peer.v_index],
        "inverse dynamics",
    )
    M = pin.crba(model, data, pq)
    M = np.triu(M) + np.triu(M, 1).T
    assert_agrees(recursions.mass_matrix(link), M[np.ix_(peer.v_index, peer.v_index)], "mass matrix")
    kinetic, potential = recursions.energy(link, u)
    assert_agrees([kinetic], [pin.computeKineticEnergy(model, data, pq, pv)], "kinetic energy")
    assert_agrees([potential], [pin.computePotentialEnergy(model, data, pq)], "potential energy")

    pin.forwardKinematics(model, data, pq, pv, np.zeros(model.nv))
    pin.computeJointJacobians(model, data, pq)
    pin.updateFramePlacements(model, data)
    names = peer.ours.body_names
    some = [n for n in {names[-1], names[len(names) // 2], names[len(names) // 3]} if model.existBodyName(n)]
    found = CATALOGUE["kinematics"].build(tree, some, q.tolist(), u)
    for k, body in enumerate(some):
        frame = model.getFrameId(body, pin.FrameType.BODY)
        placement = data.oMf[frame]
        X = np.array(found["X"][k])
        assert_agrees(X, [*placement.rotation.ravel(), *placement.translation], f"pose of {body}")
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[[3, 4, 5, 0, 1, 2]][
            :, peer.v_index
        ]
        assert_agrees(np.array(found["V"][k]).T, J, f"Jacobian of {body}")
        for what, ours, get in (
            ("velocity", found["vel"][k], pin.getFrameVelocity),
            ("acceleration", found["acc"][k], pin.getFrameClassicalAcceleration),
        ):
            theirs = get(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            assert_agrees(ours, [*theirs.angular, *theirs.linear], f"{what} of {body}")


@pytest.mark.parametrize("name", ["panda", "talos_reduced"])
def test_compiled_forward_dynamics_agrees_with_pinocchio(name):
    peer = Peer(name, fixed_base=True)
    equations = compile_equations(peer.ours, ())
    for seed in range(10):
        q, u, tau = peer.state(seed)
        theirs = pin.aba(peer.model, peer.data, peer.q(q), peer.v(u), peer.v(tau))[peer.v_index]
        assert_agrees(equations.forward_dynamics(q, u, tau), theirs, name)
