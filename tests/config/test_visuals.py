"""What a URDF says its links look like: drawn, never touched, and no reason to refuse a scene."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.config.load import load, loads
from hapticsim.config.mesh_file import look
from hapticsim.config.robot import visuals
from hapticsim.config.robot.visuals import visual_shapes
from hapticsim.describe.shapes import drawn_shapes, published_shapes
from hapticsim.describe.simplified_mesh import MOST_OF_SCENE
from hapticsim.model.scene import Shape
from hapticsim.wire.messages.topics import Published, frame
from tests.mesh_files import CUBE, CUBE_TRIANGLES, binary_stl, written

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BALL = "<collision><geometry><sphere radius='0.3'/></geometry></collision>"
ALL = """
<visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="0.2 0.4 0.6"/></geometry>
  <material name="blue"/></visual>
<visual><geometry><sphere radius="0.3"/></geometry>
  <material name="x"><color rgba="1 0.5 0 1"/></material></visual>
<visual><geometry><cylinder radius="0.1" length="0.5"/></geometry><material name="nowhere"/></visual>
<visual><geometry><capsule radius="0.1" length="0.5"/></geometry></visual>
"""
CONTACT = "shapes: [{name: floor, kind: plane}]\ncontacts: [{between: [arm, floor]}]\n"


def robot(folder: Path, elements: str) -> Path:
    """A URDF with these elements on the link "arm"."""
    path = folder / "robot.urdf"
    path.write_text(
        '<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material><material name="bad">'
        f'<color rgba="0 0 x 1"/></material><link name="base"/><link name="arm">{INERTIAL}{elements}</link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
        "</joint></robot>"
    )
    return path


def mesh(name: str, more: str = "") -> str:
    return f'<visual><geometry><mesh filename="{name}" {more}/></geometry></visual>'


def shapes(folder: Path, elements: str) -> tuple[list[Shape], list[str]]:
    notes: list[str] = []
    return visual_shapes(robot(folder, elements), notes), notes


def scene(folder: Path, elements: str, more: str = "", keys: str = "collision: true") -> hs.Scene:
    path = robot(folder, elements)
    text = f"name: r\nrobot: {{urdf: {{path: {path.name}, {keys}}}}}\n{more}"
    return loads(text, folder / "scene.yaml")


@pytest.fixture
def cube(tmp_path):
    return written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)


def test_every_kind_has_the_sizes_the_pose_and_the_colour_of_its_element(tmp_path):
    (box, ball, drum, capsule), notes = shapes(tmp_path, ALL)
    assert (box.name, box.body, box.kind, box.size) == ("arm:visual", "arm", "box", (0.1, 0.2, 0.3))
    np.testing.assert_allclose(box.X_BS.translation, [1, 2, 3])
    np.testing.assert_allclose(box.X_BS.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert (ball.name, ball.kind, ball.size) == ("arm:visual_2", "sphere", (0.3,))
    assert (drum.kind, drum.size) == ("cylinder", (0.1, 0.5))
    assert (capsule.kind, capsule.size) == ("capsule", (0.1, 0.5))
    assert [s.color for s in (box, ball, drum, capsule)] == [
        (0, 0, 255),
        (255, 128, 0),
        Shape.color,
        Shape.color,
    ]
    assert notes == []


@pytest.mark.parametrize(
    "rgba", ["1 0 0", "1 0 0 x", "1 0 0 2", "nan 0 0 1", "-1 0 0 1", "", "1 0 0 1 1", "1e999 0 0 1"]
)
def test_a_colour_that_is_none_is_the_common_one(tmp_path, rgba):
    material = f'<material name="m"><color rgba="{rgba}"/></material>'
    (found,), notes = shapes(
        tmp_path, f'<visual><geometry><sphere radius="1"/></geometry>{material}</visual>'
    )
    assert found.color == Shape.color and notes == []


def test_a_mesh_may_be_open_and_flat_and_is_read_once(tmp_path, cube):
    written(tmp_path / "sheet.obj", CUBE, CUBE_TRIANGLES[:1])
    (first, second, sheet), notes = shapes(
        tmp_path, mesh("cube.obj") + mesh("cube.obj") + mesh("sheet.obj", 'scale="2 2 -2"')
    )
    assert first.surface is second.surface is not None and first.kind == "mesh" and first.mesh is None
    assert first.size == (1.0, 1.0, 1.0) and len(first.surface.triangles) == 12
    assert sheet.surface is not None
    corners = sheet.surface.vertices[sheet.surface.triangles[0]]
    wanted = CUBE[CUBE_TRIANGLES[0]] * [2.0, 2.0, -2.0]
    np.testing.assert_array_equal(np.sort(corners, axis=0), np.sort(wanted, axis=0))
    normal, turned = (np.cross(c[1] - c[0], c[2] - c[0]) for c in (corners, wanted))
    np.testing.assert_array_equal(normal, -turned)  # a mirror turns it inside out, and it is turned back
    assert notes == []


def test_what_it_looks_like_is_drawn_instead_of_what_is_touched(tmp_path, cube):
    made = scene(tmp_path, BALL + mesh("cube.obj"), CONTACT)
    assert [s.name for s in made.shapes] == ["floor", "arm"]
    assert [(c.a, c.b) for c in made.contacts] == [("arm", "floor")]
    assert [s.name for s in drawn_shapes(made)] == ["floor", "arm:visual"]
    published = published_shapes(made, {"world": -1, "base": 0, "arm": 1})
    assert [(s["name"], s["kind"], s["body"]) for s in published] == [
        ("floor", "plane", -1),
        ("arm:visual", "mesh", 1),
    ]
    assert len(published[1]["triangles"]) == 36


def test_a_pattern_does_not_pair_what_is_only_drawn(tmp_path):
    more = "shapes: [{name: floor, kind: plane}]\ncontacts: [{between: ['*', floor]}]\n"
    assert len(scene(tmp_path, BALL + ALL, more).contacts) == 1


def test_it_is_turned_off_by_a_key(tmp_path):
    made = scene(tmp_path, BALL + mesh("missing.obj"), CONTACT, "collision: true, visual: false")
    assert made.visuals == () and [s.name for s in drawn_shapes(made)] == ["floor", "arm"]
    assert not any("visual element" in note and "not drawn" in note for note in made.notes)
    rods = scene(tmp_path, ALL, keys="visual: false")
    assert rods.visuals == () and [s.name for s in drawn_shapes(rods)] == ["arm end"]


def test_what_it_looks_like_is_drawn_where_nothing_is_touched(tmp_path):
    made = scene(tmp_path, ALL, keys="collision: false")
    assert made.shapes == () and len(drawn_shapes(made)) == 4  # and no rods


def test_names_of_what_is_drawn_differ_from_those_of_shapes(tmp_path):
    more = "shapes: [{name: 'arm:visual', kind: plane}, {name: \"arm:visual'\", kind: plane}]\n"
    names = [s.name for s in drawn_shapes(scene(tmp_path, ALL, more))]
    assert len(set(names)) == len(names) == 6 and "arm:visual''" in names


BAD = {
    "missing": (mesh("none.obj"), "none.obj: does not exist"),
    "empty": (mesh("empty.obj"), "empty.obj: is empty: export the mesh again."),
    "of another suffix": (mesh("cube.xyz"), "cube.xyz: has the suffix '.xyz', which is not read"),
    "a folder": (mesh("."), "is a folder: name the mesh in it."),
    "without triangles": (mesh("points.obj"), "points.obj: "),
    "far off": (mesh("cube.obj", 'scale="1e6 1 1"'), "cube.obj: reaches more than 1000 m from its origin"),
    "so large that it overflows": (mesh("cube.obj", 'scale="1e15 1e15 1e15"'), "reaches more than 1000 m"),
    "a point": (mesh("point.stl"), "point.stl: is a single point: export a surface."),
    "of NaN": (mesh("nan.stl"), "nan.stl: reaches more than 1000 m from its origin, or holds NaN"),
    "in no package": (mesh("package://nowhere/a.stl"), "which is in no package 'nowhere' above the URDF"),
    "flat by its scale": (mesh("cube.obj", 'scale="1 0 1"'), "none of the three may be 0."),
    "of no geometry": ("<visual/>", "has a visual without one geometry: give it one of 'box', 'capsule'"),
    "of a strange kind": ("<visual><geometry><torus/></geometry></visual>", "has a visual without one"),
    "of no size": ("<visual><geometry><sphere/></geometry></visual>", "has a sphere without a size"),
    "no number": ("<visual><geometry><sphere radius='x'/></geometry></visual>", "has radius='x' in <sphere>"),
    "at no place": (
        "<visual><origin xyz='1 2'/><geometry><sphere radius='1'/></geometry></visual>",
        "has xyz='1 2' in <origin>: it must be three numbers.",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_visual_that_cannot_be_read_is_told_and_what_is_touched_is_drawn(tmp_path, cube, name):
    elements, words = BAD[name]
    (tmp_path / "empty.obj").touch()
    (tmp_path / "cube.xyz").write_bytes(cube.read_bytes())
    (tmp_path / "points.obj").write_text("v 0 0 0\nv 1 0 0\n")
    (tmp_path / "point.stl").write_bytes(binary_stl(CUBE * 0.0, CUBE_TRIANGLES))
    (tmp_path / "nan.stl").write_bytes(binary_stl(CUBE * np.nan, CUBE_TRIANGLES))
    made = scene(tmp_path, BALL + elements, CONTACT)
    assert made.visuals == () and [s.name for s in drawn_shapes(made)] == ["floor", "arm"]
    (note,) = (n for n in made.notes if "not drawn" in n)
    assert note.startswith("a visual element is not drawn, as of link 'arm': ") and words in note
    assert note.endswith(".") and "\n" not in note


def test_many_that_cannot_be_read_are_told_in_one_sentence_and_the_others_drawn(tmp_path, cube):
    made = scene(tmp_path, mesh("a.obj") + mesh("cube.obj") + mesh("b.obj"))
    assert [s.name for s in made.visuals] == ["arm:visual_2"]
    (note,) = (n for n in made.notes if "not drawn" in n)
    assert note.startswith("2 visual elements are not drawn, as of link 'arm': ") and "a.obj" in note


def test_without_the_readers_of_meshes_a_scene_is_drawn_as_before(tmp_path, cube, monkeypatch):
    monkeypatch.setattr("hapticsim.config.mesh_file.read.find_spec", lambda name: None)
    made = scene(tmp_path, BALL + mesh("cube.obj"), CONTACT)
    assert made.visuals == ()
    assert any(
        "needs trimesh, which is not installed: pip install 'hapticsim[meshes]'." in n for n in made.notes
    )


def test_there_are_bounds_on_elements_triangles_and_bytes(tmp_path, cube, monkeypatch):
    found, notes = shapes(tmp_path, ALL * 100)
    assert len(found) == 250
    assert notes[0].startswith("150 visual elements are not drawn") and "more than 250 visual" in notes[0]
    written(tmp_path / "two.obj", CUBE * 2.0, CUBE_TRIANGLES)
    monkeypatch.setattr(visuals, "MOST_TRIANGLES", 20)
    found, notes = shapes(tmp_path, mesh("cube.obj") + mesh("two.obj") + mesh("cube.obj"))
    assert [s.name for s in found] == ["arm:visual", "arm:visual_3"]
    assert "two.obj: brings the triangles of all visual elements to 24, and 20 are drawn" in notes[0]
    monkeypatch.setattr(look, "MOST_BYTES", 1 << 20)
    with (tmp_path / "large.stl").open("wb") as file:
        file.truncate((1 << 20) + 1)
    _, notes = shapes(tmp_path, mesh("large.stl"))
    assert "large.stl: is larger than 1 MiB, the most that is read" in notes[0]


def test_what_is_published_is_bounded_whatever_a_robot_looks_like(tmp_path):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(20_000, 3))
    (tmp_path / "m.stl").write_bytes(binary_stl(points, rng.integers(0, len(points), (30_000, 3))))
    made = scene(tmp_path, "".join(mesh("m.stl", f'scale="{1 + k} 1 1"') for k in range(60)))
    made = replace(made, visuals=tuple(replace(s, name=f"v{k}") for k, s in enumerate(made.visuals)))
    published = published_shapes(made, {"world": -1, "base": 0, "arm": 1})
    assert len(published) == 60
    assert sum(len(s["triangles"]) for s in published) // 3 <= MOST_OF_SCENE
    assert len(frame(Published("scene", 1, 1, {"shapes": published}))) < 400_000


def test_a_package_may_stand_behind_three_slashes(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    written(folder / "cube.obj", CUBE, CUBE_TRIANGLES)
    (found,), notes = shapes(tmp_path, mesh("package:///parts/cube.obj"))
    assert found.kind == "mesh" and notes == []


def test_a_second_reading_from_the_cache_is_the_same(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=5)
    (tmp_path / "ball.stl").write_bytes(binary_stl(np.array(ball.vertices), np.array(ball.faces)))
    first, again = (shapes(tmp_path, mesh("ball.stl"))[0][0].surface for _ in range(2))
    assert first is not None and again is not None and len(first.triangles) == 20480
    assert np.array_equal(first.vertices, again.vertices)
    assert np.array_equal(first.triangles, again.triangles)
    assert len(first.vertices) == 10242  # equal vertices are one


def test_an_installed_robot_is_drawn_as_it_looks():
    made = load({"name": "p", "robot": {"urdf": {"package": "panda", "collision": True}}})
    assert len(made.visuals) == 11 and all(s.surface for s in made.visuals)
    index = {"world": -1} | {name: i for i, name in enumerate(made.model.body_names)}
    published = published_shapes(made, index)
    count = sum(len(s["triangles"]) for s in published) // 3
    assert {s["name"] for s in published} == {s.name for s in made.visuals}
    assert 0.8 * MOST_OF_SCENE < count <= MOST_OF_SCENE


@given(data=st.data(), seed=st.integers(0, 10**6))
@settings(
    deadline=None,
    max_examples=int(os.environ.get("HAPTICSIM_ROBOT_FILES", "100")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_damaged_mesh_is_drawn_or_told(tmp_path, data, seed):
    rng, bytes_ = random.Random(seed), bytearray(binary_stl(CUBE, CUBE_TRIANGLES))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(80, len(bytes_))
        bytes_[at : at + rng.randint(0, 12)] = data.draw(st.binary(max_size=12))
    (tmp_path / "m.stl").write_bytes(bytes_)
    made = scene(tmp_path, mesh("m.stl"))
    told = [n for n in made.notes if "not drawn" in n]
    assert len(told) + len(made.visuals) == 1 and all("\n" not in n and n.endswith(".") for n in told)
    published_shapes(made, {"world": -1, "base": 0, "arm": 1})


@given(data=st.data(), seed=st.integers(0, 10**6))
@settings(
    deadline=None,
    max_examples=int(os.environ.get("HAPTICSIM_ROBOT_FILES", "100")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_damaged_robot_is_drawn_or_told_or_refused_in_one_sentence(tmp_path, data, seed):
    rng = random.Random(seed)
    written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    text = bytearray(robot(tmp_path, BALL + ALL + mesh("cube.obj", 'scale="1 2 3"')).read_bytes())
    first = text.index(b"<visual")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(first, len(text))
        text[at : at + rng.randint(0, 12)] = data.draw(st.binary(max_size=8))
    (tmp_path / "robot.urdf").write_bytes(text)
    try:
        made = loads("name: r\nrobot: {urdf: {path: robot.urdf}}\n", tmp_path / "scene.yaml")
    except hs.ConfigError as refused:
        assert "\n" not in str(refused) and str(refused).endswith(".")
    else:
        assert all("\n" not in note and note.endswith(".") for note in made.notes)
        published_shapes(made, {"world": -1} | {name: i for i, name in enumerate(made.model.body_names)})
