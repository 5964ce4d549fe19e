"""Collision elements of a URDF as shapes: sizes, poses, names, where meshes lie, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hapticsim.config.load import loads
from hapticsim.config.robot.collision_shapes import collision_shapes
from hapticsim.errors import ConfigError
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.scene import Shape
from tests.mesh_files import CUBE, CUBE_TRIANGLES, check_closed, volume_of, written

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ALL = """
<collision>
  <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="0.2 0.4 0.6"/></geometry>
</collision>
<collision><geometry><sphere radius="0.3"/></geometry></collision>
<visual><geometry><sphere radius="9"/></geometry></visual>
<collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
<collision><geometry><capsule radius="0.1" length="0.5"/></geometry></collision>
"""


BALL = '<geometry><sphere radius="1"/></geometry>'


def robot(folder: Path, collisions: str) -> Path:
    """A URDF with these elements on the link "arm"."""
    path = folder / "my_robot" / "urdf" / "robot.urdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<robot name="r"><link name="base"/><link name="arm">{INERTIAL}{collisions}</link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    return path


def mesh(name: str, more: str = "") -> str:
    return f'<collision><geometry><mesh filename="{name}" {more}/></geometry></collision>'


def shapes(folder: Path, collisions: str) -> tuple[list[Shape], list[str]]:
    notes: list[str] = []
    return collision_shapes(robot(folder, collisions), notes), notes


def refusal(folder: Path, collisions: str) -> str:
    with pytest.raises(ConfigError) as caught:
        shapes(folder, collisions)
    return str(caught.value).split("robot.urdf: ")[-1]


@pytest.fixture
def package(tmp_path):
    """A folder with a package "my_robot" that has a mesh of 1 m^3 and one with a hole."""
    (tmp_path / "my_robot" / "meshes").mkdir(parents=True)
    written(tmp_path / "my_robot" / "meshes" / "cube.obj", CUBE, CUBE_TRIANGLES)
    written(tmp_path / "my_robot" / "meshes" / "open.obj", CUBE, CUBE_TRIANGLES[1:])
    return tmp_path


def test_every_kind_has_the_sizes_and_the_pose_of_its_element(tmp_path):
    (box, ball, drum, capsule), notes = shapes(tmp_path, ALL)
    assert (box.name, box.body, box.kind, box.size) == ("arm", "arm", "box", (0.1, 0.2, 0.3))
    np.testing.assert_allclose(box.X_BS.translation, [1, 2, 3])
    np.testing.assert_allclose(box.X_BS.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert (ball.name, ball.kind, ball.size) == ("arm_2", "sphere", (0.3,))
    assert (drum.name, drum.kind, drum.size) == ("arm_3", "cylinder", (0.1, 0.5))
    assert (capsule.name, capsule.kind, capsule.size) == ("arm_4", "capsule", (0.1, 0.5))
    assert notes == []


@pytest.mark.parametrize(
    "name",
    ["package://my_robot/meshes/cube.obj", "../meshes/cube.obj", "file://{0}/my_robot/meshes/cube.obj"],
)
def test_a_mesh_is_found_in_its_package_beside_the_urdf_and_by_its_path(package, name):
    (cube,), notes = shapes(package, mesh(name.format(package), 'scale="0.1 0.2 0.3"'))
    assert cube.kind == "mesh" and cube.size == pytest.approx((0.1, 0.2, 0.3)) and notes == []
    assert volume_of(cube.mesh) == pytest.approx(0.006)


@pytest.mark.parametrize("variable, inner", [("ROS_PACKAGE_PATH", "."), ("AMENT_PREFIX_PATH", "share")])
def test_other_packages_are_looked_for_where_ros_does(package, tmp_path, monkeypatch, variable, inner):
    folder = tmp_path / "elsewhere" / inner / "parts"
    folder.mkdir(parents=True)
    written(folder / "cube.obj", CUBE, CUBE_TRIANGLES)
    asked = mesh("package://parts/cube.obj")
    assert refusal(package, asked) == (
        "link 'arm' has a mesh in 'package://parts/cube.obj', which is in no package 'parts' above the URDF: "
        "set ROS_PACKAGE_PATH to the folder that holds 'parts'."
    )
    monkeypatch.setenv(variable, f"/nowhere:{tmp_path / 'elsewhere'}")
    assert len(shapes(package, asked)[0]) == 1


def test_a_mesh_that_is_mirrored_still_faces_outwards(package):
    (cube,), notes = shapes(package, mesh("../meshes/cube.obj", 'scale="1 -1 1"'))
    assert notes == [] and volume_of(cube.mesh) == pytest.approx(1.0)
    assert cube.mesh.vertices[:, 1].min() == -1.0


def test_a_mesh_with_a_hole_is_its_convex_hull_and_a_note_says_so(package):
    (cube,), (note,) = shapes(package, mesh("../meshes/open.obj"))
    assert volume_of(cube.mesh) == pytest.approx(1.0)
    check_closed(cube.mesh)
    assert "its convex hull is touched, as the surface is open" in note


@pytest.mark.parametrize(
    ("collisions", "found"),
    [
        ("<collision/>", "has a collision without one geometry: give it one of "),
        ("<collision><geometry/></collision>", "has a collision without one geometry"),
        ('<collision><geometry><sphere radius="0"/></geometry></collision>', "has a sphere without a size"),
        ('<collision><geometry><sphere radius="-1"/></geometry></collision>', "has a sphere without a size"),
        ('<collision><geometry><box size="1 1"/></geometry></collision>', "has size='1 1' in <box>"),
        (
            '<collision><geometry><cylinder radius="1"/></geometry></collision>',
            "has a cylinder without a size",
        ),
        ('<collision><geometry><sphere radius="x"/></geometry></collision>', "has radius='x' in <sphere>"),
        (f"<collision>{2 * BALL}</collision>", "has a collision without one geometry"),
        (mesh(""), "has a mesh in '': write filename= a path"),
        (mesh("https://x.org/a.stl"), "has a mesh in 'https://x.org/a.stl': write filename= a path"),
        (mesh("a.stl", 'scale="1 0 1"'), "has scale='1 0 1': none of the three may be 0."),
    ],
)
def test_an_element_that_is_no_shape_is_refused_by_its_link(tmp_path, collisions, found):
    assert refusal(tmp_path, collisions).startswith(f"link 'arm' {found}")


def test_a_further_shape_takes_no_name_of_another_link(tmp_path):
    path = robot(tmp_path, 2 * ALL)
    path.write_text(path.read_text().replace('<link name="base"/>', f'<link name="arm_2">{ALL}</link>'))
    names = [s.name for s in collision_shapes(path, [])]
    assert names[:4] == ["arm_2", "arm_2_2", "arm_2_3", "arm_2_4"]
    assert names[4:] == ["arm", *(f"arm_{i}" for i in range(3, 10))]


@pytest.mark.parametrize(
    "name",
    [
        "package://[x/m.stl", "package://", "package:///m.stl", "package://p/" + 300 * "x", "package://p\u2100/m",
        "file://host/a.stl", "file://[x]y/m.stl", "ftp://a/b", "a.stl#b", "a?b.stl", "a%00.stl",
        "\n", "x" * 5000,
    ],
)  # fmt: skip
def test_no_name_of_a_mesh_ends_in_anything_but_a_sentence(tmp_path, monkeypatch, name):
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/proc/1/root/x:/root\x7f")
    escaped = name.replace("\n", "&#10;")
    with pytest.raises(ConfigError):
        collision_shapes(robot(tmp_path, mesh(escaped)), [])


def test_too_many_elements_and_too_many_pairs_are_refused(tmp_path):
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    assert refusal(tmp_path, 2001 * ball).endswith(
        "has 2001 elements <collision> and may have 2000: this is no robot."
    )
    robot(tmp_path, 1500 * ball)
    text = """
name: many
robot: {urdf: {path: my_robot/urdf/robot.urdf, collision: true}}
shapes:
  [{name: a1, kind: sphere, radius_m: 1}, {name: a2, kind: sphere, radius_m: 1}, {name: a3, kind: plane}]
contacts: [{between: ["a*", "arm*"]}]
"""
    with pytest.raises(
        ConfigError,
        match=r"makes 1503 x 1500 pairs of shapes, and at most 250000 are",
    ):
        loads(text, tmp_path / "scene.yaml")


def test_a_joint_of_the_scene_may_follow_one_of_the_robot(tmp_path):
    robot(tmp_path, "")
    text = """
name: follows
robot:
  urdf: {path: my_robot/urdf/robot.urdf}
  bodies: [{name: tool, inertial: {mass_kg: 1, inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}}]
  joints: [{name: k, type: revolute, parent: arm, child: tool, mimic: {joint: j, multiplier: 2.0}}]
"""
    model = loads(text, tmp_path / "scene.yaml").model
    assert model.nu == 1 and model.joints[-1].mimic.joint == "j"


def test_a_scene_has_the_shapes_of_its_urdf_after_its_own_and_contacts_by_pattern(tmp_path):
    robot(tmp_path, ALL)
    text = """
name: touched
robot: {urdf: {path: my_robot/urdf/robot.urdf, collision: true}}
shapes: [{name: tip, kind: sphere, radius_m: 0.01, origin: {xyz_m: [0, 0, 9]}}, {name: wall, kind: plane}]
contacts: [{between: [tip, arm]}, {between: [tip, "arm*"], restitution: 0.5}]
"""
    scene = loads(text, tmp_path / "scene.yaml")
    assert [s.name for s in scene.shapes] == ["tip", "wall", "arm", "arm_2", "arm_3", "arm_4"]
    assert [(p.a, p.b, p.restitution) for p in scene.contacts] == [
        ("tip", "arm", 0.0), ("tip", "arm_2", 0.5), ("tip", "arm_3", 0.5), ("tip", "arm_4", 0.5),
    ]  # fmt: skip
    for wrong, sentence in (
        (("[tip, arm]", '[tip, "leg*"]'), "contacts[0].between[1] = 'leg*' is not a shape: the shapes are "),
        (
            ("[tip, arm]", '[tip, "wal*"]'),
            "leaves no pair: leave_out takes 0, 1 cannot move, 0 are",
        ),
        (
            ("name: wall", "name: arm_3"),
            "shapes[1].name = 'arm_3' is taken by a shape of the robot",
        ),
        (
            ("[tip, arm]", '["arm_3", "arm_4"]'),
            "pairs a cylinder with a capsule, and a cylinder without sides",
        ),
    ):
        with pytest.raises(ConfigError) as caught:
            loads(text.replace(*wrong), tmp_path / "scene.yaml")
        assert sentence in str(caught.value)


def test_bodies_are_added_to_a_robot_beside_it_and_on_it(tmp_path):
    robot(tmp_path, "")
    body = "inertial: {mass_kg: 1, inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}"
    text = f"""
name: more
robot:
  urdf: {{path: my_robot/urdf/robot.urdf}}
  bodies: [{{name: tool, {body}}}, {{name: ball, {body}}}]
  joints:
    - {{name: mount, type: fixed, parent: arm, child: tool}}
    - {{name: flight, type: free, parent: world, child: ball}}
"""
    model = loads(text, tmp_path / "scene.yaml").model
    assert model.body_names == ("base", "arm", "tool", "ball")
    assert (model.nu, model.rigid_groups()["tool"]) == (7, model.rigid_groups()["arm"])
    with pytest.raises(ConfigError, match=r"robot.bodies\[0\] repeats the body name 'arm'"):
        loads(text.replace("name: tool", "name: arm"), tmp_path / "scene.yaml")


@pytest.mark.parametrize(
    "name", sorted({"panda", "talos_reduced", "tiago_pro", "anymal_b_simple/anymal", "ur3_robot"})
)
def test_robots_load_with_their_collision_geometry(name):
    found = collision_shapes(library_models()[name], [])
    assert found
    for shape in found:
        if shape.mesh is not None:
            check_closed(shape.mesh)


@pytest.mark.parametrize(("corners", "sides"), [(4, 3), (24, 12), (64, 32)])
def test_cylinders_have_half_as_many_sides_as_meshes_have_corners(tmp_path, corners, sides):
    path = robot(tmp_path, ALL)
    text = f"name: x\nrobot: {{urdf: {{path: {path}, collision: true, corners: {corners}}}}}\n"
    shapes = loads(text, "<test>").shapes
    assert {s.sides for s in shapes if s.kind == "cylinder"} == {sides}
    assert {s.sides for s in shapes if s.kind != "cylinder"} == {None}


def test_corners_of_hulls_are_for_collision_elements(tmp_path):
    path = robot(tmp_path, "")
    with pytest.raises(ConfigError) as caught:
        loads(f"name: x\nrobot: {{urdf: {{path: {path}, corners: 8}}}}\n", "<test>")
    assert str(caught.value).endswith(
        "robot.urdf.corners is for collision shapes: write collision: true, or remove it."
    )
