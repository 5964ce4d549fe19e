"""Scenes with meshes: what the keys give, which other file is read, and that a recording knows it again."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import trimesh

import hapticsim as hs
from hapticsim.config import shipped_scenes
from hapticsim.config.load import loads
from hapticsim.config.variants import load_variants
from hapticsim.describe.recorded_scene import about_files, scene_of
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.model.write import model_to_yaml
from hapticsim.offline.sweeps.journal import Journal
from hapticsim.recording.reader import read_recording
from hapticsim.recording.writer import RecordingWriter
from tests.good_files import GOOD, URDF
from tests.mesh_files import CUBE, CUBE_TRIANGLES, binary_stl, written

BONE = "  - {name: bone, kind: mesh, file: bone.obj}\n"


@pytest.fixture
def folder(tmp_path):
    written(tmp_path / "bone.obj", CUBE - [0.25, 0.5, 2.0], CUBE_TRIANGLES)
    return tmp_path


def with_shapes(shapes: str, contacts: str = "") -> str:
    text = GOOD.replace("contacts:\n", f"{shapes}contacts:\n{contacts}")
    assert text != GOOD
    return text


def scene(folder: Path, shapes: str = BONE, contacts: str = "") -> Scene:
    return loads(with_shapes(shapes, contacts), folder / "scene.yaml")


def refusal(folder: Path, shapes: str = BONE, contacts: str = "") -> str:
    with pytest.raises(ConfigError) as caught:
        scene(folder, shapes, contacts)
    return str(caught.value).removeprefix(f"{folder / 'scene.yaml'}: ")


def test_the_size_of_a_mesh_is_the_box_about_its_origin_that_holds_it(folder):
    bone = scene(folder).shapes[-1]
    assert (bone.kind, bone.size) == ("mesh", (0.75, 0.5, 2.0))
    assert len(bone.mesh.vertices) == 8
    assert all(s.mesh is None for s in scene(folder).shapes[:-1])


def test_scale_is_one_number_or_three(folder):
    for scale, size in (
        ("0.1", (0.075, 0.05, 0.2)),
        ("[1, 2, 0.5]", (0.75, 1.0, 1.0)),
        ("2", (1.5, 1.0, 4.0)),
    ):
        (bone,) = scene(folder, BONE.replace("}", f", scale: {scale}}}")).shapes[-1:]
        assert bone.size == pytest.approx(size)


@pytest.mark.parametrize("scale", ["0", "-1", ".nan", ".inf", "true", "mm", "[1, 2]", "[1, 2, 0]", "{x: 1}"])
def test_a_scale_that_is_none_is_refused(folder, scale):
    found = refusal(folder, BONE.replace("}", f", scale: {scale}}}"))
    assert found.startswith("shapes[4].scale = ")
    assert found.endswith(" is not usable: it must be a finite number above 0, or a list of 3 of them.")


def test_keys_of_a_mesh_are_checked_like_others(folder):
    assert refusal(folder, BONE.replace(", file: bone.obj", "")) == (
        "shapes[4].file is missing (STL, OBJ, PLY, OFF, glTF, GLB or DAE file, relative to this config): "
        "add it as a name of 1 to 1000 letters."
    )
    assert refusal(folder, BONE.replace("bone.obj", '"a\\0b.obj"')) == (
        "shapes[4].file = 'a\\x00b.obj' is not a path: remove the NUL character."
    )
    assert refusal(folder, BONE.replace("bone.obj", "bonne.obj")) == (
        f"{folder / 'bonne.obj'}: does not exist (did you mean 'bone.obj'?): check the path of the mesh."
    )


def test_a_file_of_two_shapes_is_read_once_for_each_scale(folder):
    two = BONE + BONE.replace("bone,", "twin,") + BONE.replace("bone,", "large,").replace("}", ", scale: 2}")
    *_, bone, twin, large = scene(folder, two).shapes
    assert bone.mesh is twin.mesh and large.mesh is not bone.mesh


def test_what_was_put_right_is_among_the_notes_once(folder):
    path = written(folder / "bone.obj", CUBE, CUBE_TRIANGLES[:, ::-1])
    notes = scene(folder, BONE + BONE.replace("bone,", "twin,")).notes
    assert [n for n in notes if str(path) in n] == [
        f"{path}: was inside out, and was turned so that it faces outwards."
    ]


def test_a_sphere_may_touch_any_mesh_and_a_cylinder_with_sides_convex_ones(folder):
    for names in ("[tip, bone]", "[bone, tip]"):
        pair = scene(folder, BONE, f"  - {{between: {names}}}\n").contacts[0]
        assert (pair.a, pair.b) == ("tip", "bone")
    drum = "  - {name: drum, body: puck, kind: cylinder, radius_m: 0.05, length_m: 0.1}\n"
    assert refusal(folder, BONE + drum, "  - {between: [drum, bone]}\n") == (
        "contacts[0].between = [drum, bone] pairs a cylinder with a mesh, and a cylinder without sides "
        "touches spheres and planes alone: write sides: 24 at the cylinder, and others touch it as a prism "
        "(of a robot: corners: 48 at robot.urdf or robot.mjcf)."
    )
    drum = drum.replace("}", ", sides: 24}")
    pair = scene(folder, BONE + drum, "  - {between: [drum, bone]}\n").contacts[0]
    assert (pair.a, pair.b) == ("drum", "bone")


def test_an_ellipsoid_and_a_cone_need_sides_and_touch_no_mesh_that_is_not_convex(folder):
    egg = "  - {name: egg, body: puck, kind: ellipsoid, radii_m: [0.05, 0.1, 0.2]}\n"
    hat = "  - {name: hat, kind: cone, radius_m: 0.05, length_m: 0.1}\n"
    assert refusal(folder, BONE + egg, "  - {between: [egg, bone]}\n") == (
        "contacts[0].between = [egg, bone] pairs an ellipsoid with a mesh, and an ellipsoid without sides "
        "touches spheres and planes alone: write sides: 12 at the ellipsoid, and others touch it as a solid "
        "with flat faces (of a robot: corners: 48 at robot.urdf or robot.mjcf)."
    )
    egg = egg.replace("}", ", sides: 12}")
    told = refusal(folder, egg + hat, "  - {between: [egg, hat]}\n")
    assert "pairs an ellipsoid with a cone, and a cone without sides touches" in told
    assert "write sides: 24 at the cone, and others touch it as a pyramid" in told
    hat = hat.replace("}", ", sides: 3}")
    assert scene(folder, egg + hat, "  - {between: [egg, hat]}\n").contacts[0].b in ("egg", "hat")
    trimesh.creation.torus(0.3, 0.1).export(folder / "bone.obj")
    assert refusal(folder, BONE + egg, "  - {between: [egg, bone]}\n").startswith(
        "contacts[0].between = [bone, egg] has the mesh 'bone' touch an ellipsoid, and it "
    )
    for sides in ("3", "13"):
        assert "sides" in refusal(folder, egg.replace("12", sides))


def test_a_mesh_is_looked_for_beside_the_file_that_names_it(folder, monkeypatch):
    (folder / "base.yaml").write_text(with_shapes(BONE))
    (folder / "sub").mkdir()
    (folder / "sub" / "top.yaml").write_text("extends: ../base.yaml\nrate_Hz: 500\n")
    top = hs.load(folder / "sub" / "top.yaml", {"shapes.bone.scale": 0.5})
    assert top.shapes[-1].size == (0.375, 0.25, 1.0)
    again = loads(top.source, top.path)
    assert again.shapes[-1].mesh.fingerprint == top.shapes[-1].mesh.fingerprint
    monkeypatch.chdir(folder)
    assert hs.load({"extends": "sub/top.yaml"}).shapes[-1].size == (0.75, 0.5, 2.0)
    assert loads(hs.load({"extends": "sub/top.yaml"}).source, "<mapping>").shapes[-1].mesh is not None


def test_so_is_a_urdf_when_its_scene_is_read_again(folder):
    (folder / "robot.urdf").write_text(URDF)
    (folder / "base.yaml").write_text("name: x\nrobot: {urdf: {path: robot.urdf}}\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "top.yaml").write_text("extends: ../base.yaml\nrate_Hz: 500\n")
    top = hs.load(folder / "sub" / "top.yaml")
    assert loads(top.source, top.path).model.nu == 1


def test_a_scene_goes_to_another_process_whole(folder):
    for sent in load_variants(folder_file(folder), {"shapes.bone.scale": [1.0, 0.5]}):
        got = pickle.loads(pickle.dumps(sent))
        np.testing.assert_array_equal(got.shapes[-1].mesh.vertices, sent.shapes[-1].mesh.vertices)
        assert got.shapes[-1].mesh.fingerprint == sent.shapes[-1].mesh.fingerprint


def folder_file(folder: Path) -> Path:
    path = folder / "scene.yaml"
    path.write_text(with_shapes(BONE))
    return path


def test_a_journal_holds_results_of_the_mesh_that_gave_them(folder):
    path = folder_file(folder)
    with Journal(folder / "sweep.jsonl", about_files) as journal:
        journal.add(hs.load(path), 1.0)
        assert journal.has(hs.load(path))
        written(folder / "bone.obj", CUBE, CUBE_TRIANGLES)
        assert not journal.has(hs.load(path))


def test_a_model_is_written_without_shapes(folder):
    assert "mesh" not in model_to_yaml(scene(folder).model)


def recorded(folder: Path) -> Path:
    made = hs.load(folder_file(folder))
    path = folder / "run.mcap"
    about = {"path": made.path, **about_files(made)}
    with RecordingWriter(path, ["time_s", "tick"], made.source, about) as out:
        out.append(np.zeros((1, 2)))
    return path


def test_a_recording_knows_its_mesh_again(folder):
    file = recorded(folder)
    assert scene_of(read_recording(file), False).shapes[-1].mesh is not None
    written(
        folder / "bone.obj", CUBE[::-1] - [0.25, 0.5, 2.0], 7 - CUBE_TRIANGLES
    )  # the same, exported again
    assert scene_of(read_recording(file), False).shapes[-1].mesh is not None


def test_a_recording_of_another_mesh_is_refused(folder):
    file = recorded(folder)
    written(folder / "bone.obj", CUBE - [0.25, 0.5, 2.001], CUBE_TRIANGLES)
    with pytest.raises(ConfigError) as caught:
        scene_of(read_recording(file), False)
    assert str(caught.value) == (
        f"{file}: was made with another mesh of the shape 'bone': put the file of then in its place."
    )
    (folder / "bone.obj").unlink()
    with pytest.raises(ConfigError) as caught:
        scene_of(read_recording(file), False)
    assert str(caught.value) == f"{folder / 'bone.obj'}: does not exist: check the path of the mesh."


def test_a_shipped_scene_with_a_mesh_says_which_extra_it_needs(folder, monkeypatch):
    path = folder_file(folder)
    (folder / "bone.obj").write_bytes(binary_stl(CUBE, CUBE_TRIANGLES))
    assert shipped_scenes.missing_extras(path) == []
    monkeypatch.setattr(shipped_scenes, "find_spec", lambda name: None if name == "trimesh" else name)
    assert shipped_scenes.missing_extras(path) == ["meshes"]


HULL = "  - {name: part, kind: mesh, body: pole, file: bone.obj, convex: true}\n"


def test_a_convex_mesh_may_touch_a_plane_and_another_may_not(folder):
    pair = "  - {between: [floor, part]}\n"
    (last, *_) = scene(folder, HULL, pair).contacts
    assert (last.a, last.b) == ("part", "floor")
    dented = CUBE.copy()
    dented[7] = 0.3
    written(folder / "bone.obj", dented, CUBE_TRIANGLES)
    assert refusal(folder, HULL.replace(", convex: true", ""), pair).endswith(
        "= [part, floor] has the mesh 'part' touch a plane, and it is not convex: give it convex: true and "
        "corners: a number up to 64, or decompose: {} (of a robot: robot.urdf or robot.mjcf)."
    )
    assert refusal(folder, HULL.replace("convex: true", "corners: 8"), pair) == (
        "shapes[4].corners is for hulls: write convex: true, or remove it."
    )


@pytest.mark.parametrize(("other", "kind"), [("rod", "capsule"), ("disc", "box"), ("twin", "mesh")])
def test_a_convex_mesh_may_touch_boxes_capsules_and_others_and_a_hollow_one_not(folder, other, kind):
    part = HULL.replace("pole", "puck" if other == "rod" else "pole")
    shapes = part + HULL.replace("part,", "twin,").replace("pole", "puck")
    pair = f"  - {{between: [{other}, part]}}\n"
    made = scene(folder, shapes, pair).contacts[0]
    assert {made.a, made.b} == {other, "part"} and made.b == ("disc" if other == "disc" else "part")
    dented = CUBE.copy()
    dented[7] = 0.3
    written(folder / "bone.obj", dented, CUBE_TRIANGLES)
    found = refusal(folder, shapes.replace(", convex: true", "", 1), pair)
    assert found.endswith(
        f"has the mesh 'part' touch a {kind}, and it is not convex: give it convex: true and corners: "
        "a number up to 64, or decompose: {} (of a robot: robot.urdf or robot.mjcf)."
    )


def test_a_hull_with_more_corners_than_a_tick_looks_at_may_not_touch_another(folder):
    ball = trimesh.creation.icosphere(2)
    written(folder / "bone.obj", np.array(ball.vertices), np.array(ball.faces))
    pair = "  - {between: [disc, part]}\n"
    assert "touch a box, and it has 162 corners: give it convex: true and corners: a number up to 64" in (
        refusal(folder, HULL, pair)
    )
    assert scene(folder, HULL.replace("convex: true", "convex: true, corners: 64"), pair).contacts
