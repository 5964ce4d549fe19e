"""Agreement with Pinocchio on the robots of example-robot-data, to 1e-9 of the largest entry.

The recursion runs on floats for every robot; that compiled code has the same bits is the claim of
test_compiled.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.model.moving import moving_tree
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf

pin = pytest.importorskip("pinocchio")
from tools.pinocchio_peer import Peer  # noqa: E402

TOLERANCE = 1e-9
# What load_urdf refuses, with good reason: fingers without mass that move; a file without links.
REFUSED = {"romeo", "romeo_laas_small", "ur3"}
ROBOTS = sorted(set(library_models()) - REFUSED)
FLOATING = ("talos_reduced", "solo12", "go2", "iris_simple", "quadrotor_base")


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


# A hand of alex_psyonic_hands follows a joint that its file does not have.
MIMICS = [
    name
    for name in ROBOTS
    if name != "alex_psyonic_hands" and any(j.mimic for j in load_urdf(library_models()[name]).joints)
]


@pytest.mark.parametrize("name", MIMICS)
def test_joints_that_follow_others_are_coupled(name):
    """With u_all = G u: M = G' M_all G and h = G' h_all of the robot whose joints all move on their own."""
    peer = Peer(name, fixed_base=True)
    model, data, full = peer.model, peer.data, peer.ours
    coupled = load_urdf(library_models()[name])
    G, offset = np.zeros((full.nu, coupled.nu)), np.zeros(full.nq)
    for joint in full.moving_joints:
        mine = next(j for j in coupled.joints if j.name == joint.name)
        if mine.kind == "fixed":  # it followed a fixed joint
            pytest.skip(f"{joint.name} is fixed")
        leader = mine.mimic.joint if mine.mimic else mine.name
        G[full.u_slice(joint.name), coupled.u_slice(leader)] = mine.mimic.multiplier if mine.mimic else 1.0
        offset[full.q_slice(joint.name)] = mine.mimic.offset if mine.mimic else 0.0
    assert coupled.nu < full.nu == full.nq
    rng = np.random.default_rng(2)
    q, u, udot = rng.uniform(-1.0, 1.0, (3, coupled.nu))
    pq, pv, pa = peer.q(G @ q + offset), peer.v(G @ u), peer.v(G @ udot)
    link, u, udot = Linkage(moving_tree(coupled), q.tolist()), u.tolist(), udot.tolist()
    tau = recursions.inverse_dynamics(link, u, udot)
    assert_agrees(tau, G.T @ pin.rnea(model, data, pq, pv, pa)[peer.v_index], "inverse dynamics")
    M = pin.crba(model, data, pq)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T)[np.ix_(peer.v_index, peer.v_index)] @ G
    assert_agrees(recursions.mass_matrix(link), M, "mass matrix")
    assert_agrees(
        recursions.forward_dynamics(link, u, np.zeros(coupled.nu).tolist()),
        np.linalg.solve(M, -G.T @ pin.nle(model, data, pq, pv)[peer.v_index]),
        "forward dynamics",
    )
    kinetic, potential = recursions.energy(link, u)
    assert_agrees([kinetic], [pin.computeKineticEnergy(model, data, pq, pv)], "kinetic energy")
    assert_agrees([potential], [pin.computePotentialEnergy(model, data, pq)], "potential energy")
    assert_agrees(recursions.rates(link, u), u, "rates")


def test_enough_robots_have_joints_that_follow_others():
    assert len(MIMICS) >= 5


@pytest.mark.parametrize("name", ["panda", "talos_reduced"])
def test_compiled_forward_dynamics_agrees_with_pinocchio(name):
    peer = Peer(name, fixed_base=True)
    equations = compile_equations(peer.ours, ())
    for seed in range(10):
        q, u, tau = peer.state(seed)
        theirs = pin.aba(peer.model, peer.data, peer.q(q), peer.v(u), peer.v(tau))[peer.v_index]
        assert_agrees(equations.forward_dynamics(q, u, tau), theirs, name)
