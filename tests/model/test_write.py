"""A model written as a scene file and read back is the same model, to the bit."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from hapticsim.config.load import load, loads
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import forward_dynamics
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import JOINT_KINDS, WORLD, Body, Joint, Mimic, Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf
from hapticsim.model.write import direction_of, model_to_yaml, rpy_of
from tests.models import Y, at, body, branching_tree, pendulum, some_state, turn
from tests.places import WAM

# Among them: angles of 12 digits, skew axes, continuous and prismatic joints, a limit of 1e16 (iris).
ROBOTS = [
    name
    for name in (
        "panda", "talos_reduced", "ur5_robot", "kinova", "go2", "icub_reduced", "iris", "baxter", "human",
        "double_pendulum_continuous", "simple_humanoid", "centauro", "so100",
    )
    if name in library_models()
]  # fmt: skip


def read_back(model: Model) -> Model:
    return loads(model_to_yaml(model)).model


def assert_same(ours: Model, theirs: Model) -> None:
    """Every number that means something, by the names of bodies and joints."""
    assert ours.name == theirs.name
    np.testing.assert_array_equal(ours.gravity_W, theirs.gravity_W)
    bodies, joints = {b.name: b for b in theirs.bodies}, {j.name: j for j in theirs.joints}
    assert (bodies.keys(), joints.keys()) == ({b.name for b in ours.bodies}, {j.name for j in ours.joints})
    for b in ours.bodies:
        for field in ("mass", "com_B", "inertia_com_B"):
            np.testing.assert_array_equal(getattr(b, field), getattr(bodies[b.name], field), b.name)
    for j in ours.joints:
        other = joints[j.name]
        assert (j.kind, j.parent, j.child) == (other.kind, other.parent, other.child)
        np.testing.assert_array_equal(j.X_PJ.rotation, other.X_PJ.rotation, j.name)
        np.testing.assert_array_equal(j.X_PJ.translation, other.X_PJ.translation, j.name)
        if j.kind == "fixed":
            continue
        np.testing.assert_array_equal(j.axis_J, other.axis_J, j.name)
        for field in ("damping", "coulomb", "armature", "pitch", "mimic"):
            assert getattr(j, field) == getattr(other, field), j.name
        for field in ("lower", "upper", "effort_limit", "velocity_limit"):
            value = getattr(j, field)
            assert getattr(other, field) == (value if abs(value) <= 1e15 else np.copysign(np.inf, value))


def assert_moves_alike(ours: Model, theirs: Model) -> None:
    """Forward dynamics of both, by the recursion on floats, has the same bits."""
    assert ours.body_names == theirs.body_names
    for seed in range(3):
        q, u, tau = (x.tolist() for x in some_state(ours, seed))
        assert forward_dynamics(Linkage(moving_tree(ours), q), u, tau) == forward_dynamics(
            Linkage(moving_tree(theirs), q), u, tau
        )


@pytest.mark.parametrize("name", ROBOTS)
def test_a_published_robot_reads_back_to_the_bit(name):
    model = load_urdf(library_models()[name])
    read = read_back(model)
    assert_same(model, read)
    assert_moves_alike(model, read)


def test_the_arm_of_the_demo_reads_back_to_the_bit():
    model = load(WAM).model
    read = read_back(model)
    assert_same(model, read)
    assert_moves_alike(model, read)


def test_what_was_read_back_is_written_the_same_again():
    text = model_to_yaml(branching_tree())
    assert model_to_yaml(loads(text).model) == model_to_yaml(read_back(loads(text).model))


def every_kind() -> Model:
    """One joint of each kind in a row, with as many properties as the kind can have in a file."""
    bodies, joints, parent = [], [], WORLD
    tilt = rotation_from_rpy([0.1, -2.0, 3.3])
    for k, kind in enumerate(JOINT_KINDS):
        joint = Joint(f"j_{kind}", kind, parent, f"b_{kind}", at(0.1, 0.2 * k, -0.3, tilt), Y)
        units = JOINT_KINDS[kind].units
        if len(set(units)) == 1:
            joint = replace(joint, damping=0.1 + k, coulomb=0.01 * k, armature=1e-5 / 3.0)
        if len(units) == 1:
            joint = replace(joint, lower=-1.0 / 3.0, upper=0.7, effort_limit=30.0, velocity_limit=0.1 * k)
        if kind == "helical":
            joint = replace(joint, pitch=0.02 / 3.0)
        if kind == "universal":
            joint = replace(joint, axis2_J=np.array([2.0, 1.0, -2.0]) / 3.0)
        joints.append(joint)
        bodies.append(body(f"b_{kind}", 0.1 * (k + 1), (0.01, 0.02, k / 7.0), (0.02, 0.03, 0.04 + 1e-3 / 3)))
        parent = f"b_{kind}"
    follower = replace(joints[1], name="follower", child="led", mimic=Mimic("j_prismatic", -1.0 / 3.0, 0.1))
    bodies.append(body("led", 1.0, (0.0, 0.0, 0.1), (0.02, 0.03, 0.04)))
    joints.append(follower)
    return Model("every kind", tuple(bodies), tuple(joints), np.array([0.1, 0.0, -1.62]))


def test_every_kind_of_joint_reads_back_to_the_bit():
    model = every_kind()
    read = read_back(model)
    assert_same(model, read)
    axes = [next(j.axis2_J for j in m.joints if j.kind == "universal") for m in (model, read)]
    np.testing.assert_array_equal(*axes)
    assert_moves_alike(model, read)


def test_every_field_of_a_body_and_of_a_joint_is_written():
    """A field added to the model later fails here until it is written."""
    model, helical = pendulum(), "helical"
    base = replace(model, joints=(replace(model.joints[0], kind=helical),))
    changed = {
        "name": "other", "kind": "prismatic", "parent": "bob", "child": "other", "mass": 2.5,
        "com_B": np.ones(3), "inertia_com_B": np.eye(3), "X_PJ": at(1.0), "axis_J": np.array([1.0, 0.0, 0.0]),
        "mimic": Mimic("other", 2.0, 0.1),
    }  # fmt: skip
    for field in fields(Body):
        other = replace(base, bodies=(replace(base.bodies[0], **{field.name: changed[field.name]}),))
        assert model_to_yaml(other) != model_to_yaml(base), field.name
    for field in fields(Joint):
        if field.name == "axis2_J":
            joint = replace(base.joints[0], kind="universal")
            before, after = joint, replace(joint, axis2_J=np.array([0.0, 0.0, 1.0]))
        else:
            before, after = (
                base.joints[0],
                replace(base.joints[0], **{field.name: changed.get(field.name, 0.5)}),
            )
        texts = [model_to_yaml(replace(base, joints=(j,))) for j in (before, after)]
        assert texts[0] != texts[1], field.name


def test_a_model_in_another_order_is_put_depth_first_and_is_otherwise_the_same():
    model = branching_tree()
    model = replace(model, joints=tuple(rounded(j) for j in model.joints))
    read = read_back(model)
    assert read.body_names != model.body_names
    assert_same(model, read)


def rounded(joint: Joint) -> Joint:
    """The joint with an orientation that a file can hold."""
    return replace(
        joint, X_PJ=Placement(rotation_from_rpy(rpy_of(joint.X_PJ.rotation)), joint.X_PJ.translation)
    )


def angles(count: int) -> list[np.ndarray]:
    """Triples as files have them: any, rounded, quarter turns and their neighbours, beyond a whole turn."""
    rng = np.random.default_rng(5)
    special = [0.0, np.pi / 2, -np.pi / 2, np.pi, -np.pi, 1.5708, -1.5708, 3.14159, 1.57079632679, 4.71238898]
    triples = []
    for k in range(count):
        triple = rng.uniform(-7.0, 7.0, 3)
        if k % 3 == 1:
            triple = np.round(triple, k % 5)
        elif k % 3 == 2:
            triple[rng.integers(3)] = rng.choice(special)
            triple[rng.integers(3)] = rng.choice(special)
        triples.append(triple)
    return triples


def test_an_orientation_that_came_from_angles_is_written_as_angles_that_give_its_bits():
    for rpy in angles(900):
        R = rotation_from_rpy(rpy)
        np.testing.assert_array_equal(rotation_from_rpy(rpy_of(R)), R, str(rpy))


def test_an_orientation_that_was_computed_is_written_to_rounding_also_near_a_quarter_turn_of_pitch():
    rng = np.random.default_rng(6)
    for off in (1.0, 1e-3, 1e-6, 1e-8, 1e-10, 1e-16, 0.0) * 20:
        R = turn(rng.normal(size=3), 1e-15) @ rotation_from_rpy([rng.uniform(-3, 3), np.pi / 2 - off, 0.4])
        assert np.abs(rotation_from_rpy(rpy_of(R)) - R).max() < 1e-15


def test_an_axis_is_written_as_a_vector_that_gives_its_bits_when_normalised():
    rng = np.random.default_rng(7)
    for k in range(500):
        v = rng.normal(size=3) if k % 2 else np.round(rng.normal(size=3), 1) + 0.01
        axis = v / np.linalg.norm(v)
        written = np.array(direction_of(axis))
        np.testing.assert_array_equal(written / np.linalg.norm(written), axis)


@pytest.mark.parametrize(
    "name", ["1e-3", "12", "on", "true", "null", "0x1f", "12:30", "a: b", "- #x", "é", "~"]
)
def test_a_name_that_looks_like_something_else_stays_a_name(name):
    model = replace(pendulum(), name=name)
    model = replace(model, joints=(replace(model.joints[0], name=name),))
    read = read_back(model)
    assert (read.name, read.joints[0].name) == (name, name)


def test_what_a_file_has_no_key_for_is_refused():
    model = Model(
        "puck",
        (body("disc", 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),),
        (Joint("float", "free", WORLD, "disc", armature=0.1),),
    )
    with pytest.raises(HapticsimError) as caught:
        model_to_yaml(model)
    assert str(caught.value) == (
        "puck: joint 'float' is free and has armature = 0.1, for which a scene file has no key: "
        "set it to 0 before writing."
    )


@pytest.mark.parametrize("R", [np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 1.1]), np.full((3, 3), np.nan)])
def test_a_placement_that_is_no_rotation_is_refused(R):
    model = pendulum()
    model = replace(model, joints=(replace(model.joints[0], X_PJ=at(rotation=R)),))
    with pytest.raises(HapticsimError, match=r"joint 'hinge' is off a rotation by .*: give it an ortho"):
        model_to_yaml(model)
