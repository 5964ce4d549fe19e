"""URDF files: what is read of them, and that real robots come out as Pinocchio reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.errors import ConfigError
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.library import library_models, library_path
from tests.config.test_config import body_poses

ROBOTS = library_models()
# No equations of motion exist for these: moving leaf links without mass, and a file without links.
OUT_OF_SCOPE = {"romeo", "romeo_laas_small", "ur3"}

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="base"><visual><geometry><mesh filename="package://arm/base.stl"/></geometry></visual></link>
  <link name="middle">
    <inertial>
      <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
      <mass value="2.5"/><inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0.2" iyz="0.3"/>
    </inertial>
  </link>
  <joint name="second" type="prismatic">
    <origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><parent link="middle"/><child link="tip"/>
    <axis xyz="0 0 -4"/><limit lower="-0.1" upper="0.2" effort="30" velocity="0.5"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="first" type="continuous"><parent link="base"/><child link="middle"/></joint>
</robot>
"""


@pytest.fixture
def read(tmp_path):
    """Write a URDF and load it."""

    def load(text: str, **options) -> Model:
        path = tmp_path / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        return hs.load_urdf(path, **options)

    return load


def test_joints_are_ordered_from_the_root_outwards(read):
    model = read(ARM)
    assert [j.name for j in model.joints] == ["root", "first", "second"]
    assert model.body_names == ("base", "middle", "tip")
    assert model.name == "arm"


def test_a_fixed_base_hangs_on_the_world_by_a_fixed_joint(read):
    root = read(ARM).joints[0]
    assert (root.kind, root.parent, root.child) == ("fixed", WORLD, "base")


def test_a_floating_base_hangs_on_the_world_by_a_free_joint(read):
    heavy = ARM.replace(
        '<link name="base">',
        '<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>',
    )
    model = read(heavy, fixed_base=False)
    assert (model.joints[0].name, model.joints[0].kind) == ("root_joint", "free")
    assert (model.nq, model.nu) == (9, 8)


def test_a_root_link_named_world_is_the_world(read):
    model = read(ARM.replace('"base"', '"world"'))
    assert model.body_names == ("middle", "tip")
    assert model.joints[0].parent == WORLD


def test_the_axis_is_x_by_default_and_normalised_otherwise(read):
    _, first, second = read(ARM).joints
    np.testing.assert_array_equal(first.axis_J, [1, 0, 0])
    np.testing.assert_array_equal(second.axis_J, [0, 0, -1])


def test_limits_and_dynamics_are_carried(read):
    _, first, second = read(ARM).joints
    assert (second.lower, second.upper, second.effort_limit, second.velocity_limit) == (-0.1, 0.2, 30.0, 0.5)
    assert (second.damping, second.coulomb) == (0.7, 0.2)
    assert (first.lower, first.upper, first.effort_limit) == (-np.inf, np.inf, np.inf)


def test_the_inertia_is_turned_into_the_link_frame(read):
    """Yaw of 90 degrees: the inertial frame's x is the link's y, its y the link's -x."""
    body = read(ARM).bodies[1]
    np.testing.assert_array_equal(body.com_B, [1, 2, 3])
    expected = [[2, -0.1, -0.3], [-0.1, 1, 0.2], [-0.3, 0.2, 2.5]]
    np.testing.assert_allclose(body.inertia_com_B, expected, atol=1e-15)


def test_a_locked_joint_becomes_fixed(read):
    model = read(ARM, locked=["second"])
    assert [j.kind for j in model.joints] == ["fixed", "continuous", "fixed"]
    assert model.nu == 1


def test_a_floating_joint_becomes_free(read):
    assert read(ARM.replace("continuous", "floating")).joints[1].kind == "free"


def test_notes_say_what_is_not_acted_on(read):
    notes: list[str] = []
    mimic = ARM.replace("<axis", '<mimic joint="first"/><axis').replace('izz="2.5"', 'izz="4.5"')
    read(mimic, notes=notes)
    assert notes == [
        "moments of inertia that no body can have, used as published: middle; worst is middle, whose "
        "largest moment exceeds the sum of the others by 35.09%.",
        "joint limits are shown alone; 'joint_stops: {}' in a scene makes them stops: second.",
        "Coulomb friction of joints is shown alone; 'joint_friction: {}' in a scene lets it act: second.",
        "joints that follow another: second (with first).",
        "1 mesh file is no part of the tree: a scene draws those of visual elements, and touches those of "
        "collision elements with robot.urdf.collision.",
    ]


def test_an_inertial_without_inertia_is_a_point_mass_and_noted(read):
    notes: list[str] = []
    model = read(ARM.replace('<inertia ixx="1" iyy="1" izz="1"/>', ""), notes=notes)
    assert notes[0] == "an inertial without <inertia> is a point mass: tip."
    assert not model.bodies[-1].inertia_com_B.any() and model.bodies[-1].mass == 1.0


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '<mass value="1"/>',
            "",
            "link 'tip' has an inertial without a mass: add <mass value=\"...\"/> [kg]",
        ),
        ('<mass value="1"/>', "<mass/>", "link 'tip' has an inertial without a mass"),
        ('iyy="1" izz="1"', "", "link 'tip' has an <inertia> without 'iyy', 'izz': give all three moments"),
    ],
)
def test_an_inertial_that_leaves_out_a_number_is_refused(read, old, new, sentence):
    with pytest.raises(ConfigError) as caught:
        read(ARM.replace(old, new))
    assert sentence in str(caught.value)


def test_a_negative_moment_is_told_as_it_stands_in_the_file(read):
    with pytest.raises(
        ConfigError, match=r"the moment of inertia -0\.1 kg m\^2, which is negative: check the"
    ):
        read(ARM.replace('<inertia ixx="1" iyy="1" izz="1"/>', '<inertia ixx="-0.1" iyy="1" izz="1"/>'))


def test_links_without_inertia_behind_fixed_joints_are_fine(read):
    flange = (
        '<link name="flange"/><joint name="f" type="fixed"><parent link="tip"/><child link="flange"/></joint>'
    )
    model = read(ARM.replace("</robot>", flange + "</robot>"))
    assert model.bodies[-1].mass == 0.0


def test_a_moving_link_may_take_its_inertia_from_a_link_fixed_to_it(read):
    carrier = """<link name="carrier"/>
      <joint name="swing" type="revolute"><parent link="tip"/><child link="carrier"/></joint>
      <link name="load"><inertial><origin xyz="0 0 1"/><mass value="1"/></inertial></link>
      <joint name="held" type="fixed"><parent link="carrier"/><child link="load"/></joint></robot>"""
    assert read(ARM.replace("</robot>", carrier)).body_names[-2:] == ("carrier", "load")


@pytest.mark.parametrize("name", sorted(OUT_OF_SCOPE & ROBOTS.keys()))
def test_robots_out_of_scope_are_refused_with_a_sentence(name):
    with pytest.raises(ConfigError, match=r"has no mass|holds no <link>"):
        hs.load_urdf(ROBOTS[name])


def test_a_robot_is_found_by_name():
    if not ROBOTS:
        pytest.skip("example-robot-data is not installed")
    assert library_path("panda").name == "panda.urdf"


def test_an_unknown_robot_is_answered_with_the_nearest_name():
    if not ROBOTS:
        pytest.skip("example-robot-data is not installed")
    with pytest.raises(
        ConfigError, match=r"= 'pandaa' is not a robot of .* \(did you mean 'panda'\?\): it has "
    ):
        library_path("pandaa")


def test_a_missing_package_is_answered_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr("hapticsim.model.robot_file.library.library_models", dict)
    with pytest.raises(ConfigError) as caught:
        library_path("panda", "scene.yaml")
    assert str(caught.value) == (
        "scene.yaml: robot.urdf.package = 'panda' needs example-robot-data, which is not "
        "installed: pip install 'hapticsim[robots]'."
    )


@pytest.mark.parametrize("name", sorted(ROBOTS.keys() - OUT_OF_SCOPE))
def test_installed_robots_move_as_pinocchio_moves_them(name):
    """Every link's pose; mass, centre of mass and inertia of the whole robot; at a random configuration."""
    pin = pytest.importorskip("pinocchio")
    path: Path = ROBOTS[name]
    model = hs.load_urdf(path, mimic=False)
    other = pin.buildModelFromUrdf(str(path))
    data = other.createData()

    rng = np.random.default_rng(7)
    q, q_pin = model.zero_q(), pin.neutral(other)
    for joint in model.moving_joints:
        index = other.idx_qs[other.getJointId(joint.name)]
        if joint.kind == "free":
            continue
        x = rng.uniform(-1.0, 1.0)
        q[model.q_slice(joint.name)] = x
        if other.nqs[other.getJointId(joint.name)] == 2:  # Pinocchio keeps (cos, sin) of a continuous joint
            q_pin[index : index + 2] = np.cos(x), np.sin(x)
        else:
            q_pin[index] = x
    pin.framesForwardKinematics(other, data, q_pin)
    com = pin.centerOfMass(other, data, q_pin)
    poses = body_poses(model, q)
    for body in model.body_names:
        X = data.oMf[other.getFrameId(body, pin.FrameType.BODY)]
        np.testing.assert_allclose(poses[body][0], X.rotation, atol=1e-9)
        np.testing.assert_allclose(poses[body][1], X.translation, atol=1e-9)

    # Pinocchio leaves what is fixed to the world out of its total.
    moving = [b for b in model.bodies if moves(model, b.name)]
    mass = sum(b.mass for b in moving)
    assert mass == pytest.approx(sum(i.mass for i in other.inertias[1:]), rel=1e-9)
    if mass > 0:
        centres = {b.name: poses[b.name][0] @ b.com_B + poses[b.name][1] for b in moving}
        ours = sum(b.mass * centres[b.name] for b in moving) / mass
        np.testing.assert_allclose(ours, com, atol=1e-9)
        pin.ccrba(other, data, q_pin, np.zeros(other.nv))
        inertia = sum(
            poses[b.name][0] @ b.inertia_com_B @ poses[b.name][0].T
            + parallel_axis(b.mass, centres[b.name] - ours)
            for b in moving
        )
        np.testing.assert_allclose(inertia, data.Ig.inertia, atol=1e-9 * np.abs(inertia).max())


def parallel_axis(mass: float, c: np.ndarray) -> np.ndarray:
    return mass * (c @ c * np.eye(3) - np.outer(c, c))


def moves(model: Model, body: str) -> bool:
    while body != WORLD:
        joint = next(j for j in model.joints if j.child == body)
        if joint.kind != "fixed":
            return True
        body = joint.parent
    return False
