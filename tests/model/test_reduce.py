"""Locked joints: the rest of the robot moves as the whole one does when those joints are held."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.frames import frame_pose
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Mimic
from hapticsim.model.multibody.tree import Model
from hapticsim.model.reduce import kept_coordinates, kept_speeds, lock_joints
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf
from tests.models import Z, at, body, branching_tree, some_state, turn, wam


def talos() -> Model:
    if "talos_reduced" not in library_models():
        pytest.skip("example-robot-data is not installed")
    return load_urdf(library_models()["talos_reduced"], fixed_base=False)


def screw_and_follower() -> Model:
    """An arm with a screw, and a finger that follows it, slower and the other way."""
    arm = wam()
    skew = np.array([2.0, -1.0, 2.0]) / 3.0
    screw = Joint("screw", "helical", "fore", "nut", at(0.0, 0.1, 0.0, turn(skew, 0.4)), skew, pitch=0.03)
    finger = Joint("finger", "revolute", "nut", "digit", at(0.05), Z, mimic=Mimic("screw", -0.5, 0.2))
    more = (
        body("nut", 0.8, (0.0, 0.02, 0.1), (0.01, 0.012, 0.008)),
        body("digit", 0.2, (0.03, 0.0, 0.0), (0.001, 0.002, 0.002)),
    )
    return replace(arm, bodies=arm.bodies + more, joints=(*arm.joints, screw, finger))


CASES = [
    (wam, ["j3"]),
    (wam, ["j1", "j4"]),
    (branching_tree, ["left_joint"]),  # revolute about a skew axis
    (branching_tree, ["slider_joint", "right_joint"]),  # prismatic and continuous, both with armature
    (branching_tree, ["flag_joint"]),  # then fixed to the world
    (screw_and_follower, ["screw"]),
    (screw_and_follower, ["j2"]),
    (talos, ["leg_left_4_joint", "torso_1_joint", "arm_right_2_joint"]),
]
IDS = [f"{make.__name__}-{'+'.join(names)}" for make, names in CASES]


class Locked:
    """A model, the same with joints locked where a random state has them, and that state at rest in them."""

    def __init__(self, make, names: list[str], seed: int) -> None:
        self.full = make()
        self.q, self.u, self.tau = some_state(self.full, seed)
        self.u[[self.full.u_slice(name).start for name in names]] = 0.0
        self.reduced = lock_joints(self.full, {n: self.q[self.full.q_slice(n)].item() for n in names})
        self.kept = kept_speeds(self.full, self.reduced)
        self.q_kept = kept_coordinates(self.full, self.reduced, self.q)

    def links(self) -> tuple[Linkage, Linkage]:
        return tuple(
            Linkage(moving_tree(m), q.tolist()) for m, q in ((self.full, self.q), (self.reduced, self.q_kept))
        )


@pytest.mark.parametrize(("make", "names"), CASES, ids=IDS)
def test_the_mass_matrix_is_that_of_the_whole_robot_without_the_locked_rows_and_columns(make, names):
    for seed in range(3):
        locked = Locked(make, names, seed)
        full, reduced = (np.array(recursions.mass_matrix(link)) for link in locked.links())
        assert reduced.shape == (locked.full.nu - len(names),) * 2
        expected = full[np.ix_(locked.kept, locked.kept)]
        np.testing.assert_allclose(reduced, expected, rtol=0, atol=1e-12 * np.abs(full).max())


@pytest.mark.parametrize(("make", "names"), CASES, ids=IDS)
def test_it_accelerates_as_the_whole_robot_does_when_those_joints_are_held(make, names):
    """The whole robot: M udot + h = tau in the rows of the joints that move, udot = 0 in the others."""
    for seed in range(3):
        locked = Locked(make, names, seed)
        full, reduced = locked.links()
        kept, u, tau = locked.kept, locked.u, locked.tau
        M = np.array(recursions.mass_matrix(full))[np.ix_(kept, kept)]
        h = np.array(recursions.inverse_dynamics(full, u.tolist(), None))[kept]
        expected = np.linalg.solve(M, tau[kept] - h)
        udot = recursions.forward_dynamics(reduced, u[kept].tolist(), tau[kept].tolist())
        np.testing.assert_allclose(udot, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("make", "names"), CASES, ids=IDS)
def test_every_body_stays_where_it_was(make, names):
    locked = Locked(make, names, 7)
    for name in locked.full.body_names:
        (R, p), (R_locked, p_locked) = (
            frame_pose(link.tree, recursions.poses(link), name) for link in locked.links()
        )
        np.testing.assert_allclose(R_locked, R, rtol=0, atol=1e-13)
        np.testing.assert_allclose(p_locked, p, rtol=0, atol=1e-13)


def test_locked_at_zero_is_what_loading_with_locked_joints_gives():
    if "panda" not in library_models():
        pytest.skip("example-robot-data is not installed")
    path, names = library_models()["panda"], ["panda_joint3", "panda_joint7"]
    loaded = load_urdf(path, locked=names)
    locked = lock_joints(load_urdf(path), dict.fromkeys(names, 0.0))
    for ours, theirs in zip(locked.joints, loaded.joints, strict=True):
        assert (ours.name, ours.kind, ours.lower) == (theirs.name, theirs.kind, theirs.lower)
        np.testing.assert_array_equal(ours.X_PJ.rotation, theirs.X_PJ.rotation)


def test_the_model_given_is_not_changed():
    model = wam()
    lock_joints(model, {"j2": 0.4})
    assert [j.kind for j in model.joints] == ["revolute"] * 4 + ["fixed"]


def refusal(model: Model, displacements: dict) -> str:
    with pytest.raises(HapticsimError) as caught:
        lock_joints(model, displacements)
    return str(caught.value)


def test_what_cannot_be_locked_is_refused_with_what_can():
    assert refusal(wam(), {"j5": 0.0}) == (
        "wam has no joint 'j5' to lock (did you mean 'j4'?): "
        "the joints that can be locked are 'j1', 'j2', 'j3', 'j4'."
    )
    assert refusal(wam(), {"tip_joint": 0.0}).startswith("wam cannot lock 'tip_joint', which is fixed: ")
    assert "cannot lock 'trunk_joint', which is free" in refusal(branching_tree(), {"trunk_joint": 0.0})
    assert "cannot lock 'finger', which follows 'screw'" in refusal(screw_and_follower(), {"finger": 0.1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "0.5", None])
def test_a_displacement_that_is_no_number_is_refused(value):
    assert refusal(wam(), {"j1": value}) == (
        f"wam: joint 'j1' cannot be locked at {value!r}: give a finite number of rad or m."
    )


def test_a_lock_that_leaves_a_joint_nothing_to_move_is_refused():
    """A massless carrier turns about the line on which the point mass lies once the elbow is locked."""
    model = Model(
        "rod",
        (Body("carrier"), Body("bob", 1.0, np.array([0.0, 0.0, 0.3]))),
        (
            Joint("twist", "revolute", WORLD, "carrier"),
            Joint("elbow", "revolute", "carrier", "bob", axis_J=np.array([0.0, 1.0, 0.0])),
        ),
    )
    assert lock_joints(model, {"elbow": 0.5}).nu == 1
    assert refusal(model, {"elbow": 0.0}).startswith(
        "rod: body 'carrier' is moved by joint 'twist' but has no"
    )
