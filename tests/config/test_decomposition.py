"""Meshes decomposed into convex hulls: from scenes, URDF and MJCF; the same bits again; what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

from hapticsim.config.contacts import pairs
from hapticsim.config.decomposition import points, solids
from hapticsim.config.load import load, loads
from hapticsim.describe.recorded_scene import MESHES, about_files
from hapticsim.describe.shapes import published_shapes
from hapticsim.errors import ConfigError
from hapticsim.model.candidates import candidates_of
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.concave import bracket_u
from tests.mesh_files import CUBE, CUBE_TRIANGLES, check_closed, volume_of, written

BODY = "{name: part, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}"
SHAPE = "  - {name: part, kind: mesh, body: part, file: part.obj, decompose: {}}\n"
OTHERS = """  - {name: ball, kind: sphere, radius_m: 0.1}
  - {name: crate, kind: box, half_extents_m: [0.1, 0.1, 0.1]}
  - {name: floor, kind: plane}
  - {name: rod, kind: capsule, radius_m: 0.1, length_m: 0.2}
"""
URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="part.obj"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MJCF = """<mujoco><asset><mesh name="stone" file="part.obj"/></asset><worldbody>
<body name="thing"><freejoint/><geom type="mesh" mesh="stone"/></body></worldbody></mujoco>"""


@pytest.fixture
def folder(tmp_path):
    mesh = bracket_u()
    written(tmp_path / "part.obj", mesh.vertices, mesh.triangles)
    return tmp_path


def text(shape: str = SHAPE, contacts: str = "") -> str:
    return (
        f"name: s\nrobot:\n  bodies: [{BODY}]\n"
        "  joints: [{name: j, type: free, parent: world, child: part}]\n"
        f"shapes:\n{shape}{OTHERS}contacts:\n{contacts}" + ("" if contacts else "  []\n")
    )


def scene(folder: Path, shape: str = SHAPE, contacts: str = ""):
    return loads(text(shape, contacts), folder / "scene.yaml")


def refusal(folder: Path, shape: str = SHAPE, contacts: str = "") -> str:
    with pytest.raises(ConfigError) as caught:
        scene(folder, shape, contacts)
    return str(caught.value).removeprefix(f"{folder}/")


def test_a_mesh_becomes_convex_solids_and_a_note_tells_how_many(folder):
    made = scene(folder)
    part = made.shapes[0]
    assert len(part.solids) == 3 and not part.mesh.is_convex
    for solid in part.solids:
        check_closed(solid)
        assert solid.is_convex and len(solid.vertices) == 8
    assert sum(volume_of(solid) for solid in part.solids) == pytest.approx(volume_of(part.mesh), rel=1e-9)
    (note,) = [n for n in made.notes if "part.obj" in n]
    assert note.startswith(f"{folder / 'part.obj'}: touches by 3 convex hulls, with ")
    assert note.endswith(" volume than it has; its vertices are up to 0 mm outside of them.")


def test_every_hull_is_in_contact_with_what_the_name_is_paired_with(folder):
    found = scene(
        folder, contacts="".join(f"  - {{between: [part, {n}]}}\n" for n in ("crate", "floor", "rod"))
    )
    assert [(c.a, c.b) for c in found.contacts] == [("part", "crate"), ("part", "floor"), ("rod", "part")]
    candidates = candidates_of(found)
    assert {frozenset((c.a, c.b)) for c in candidates} == {
        frozenset(("part", "crate")), frozenset(("part", "floor")), frozenset(("rod", "part"))
    }  # fmt: skip
    assert sum(c.places == 12 for c in candidates) == 3
    assert sum(c.b == "floor" for c in candidates) == 3 * 8


def test_a_sphere_touches_the_mesh_itself(folder):
    made = scene(folder, contacts="  - {between: [ball, part]}\n")
    assert all(candidate.mesh is made.shapes[0].mesh for candidate in candidates_of(made))


def test_what_is_drawn_is_the_mesh(folder):
    made = scene(folder)
    published = published_shapes(made, {"part": 0, "world": -1})
    assert [s["name"] for s in published] == ["part", "ball", "crate", "floor", "rod"]
    assert len(published[0]["triangles"]) == made.shapes[0].mesh.triangles.size


def test_a_recording_knows_other_solids_of_the_same_mesh(folder):
    made = scene(folder)
    fewer = replace(made.shapes[0], solids=made.shapes[0].solids[:2])
    plain = scene(folder, SHAPE.replace(", decompose: {}", ""))
    whole = [about_files(s)[MESHES] for s in (made, replace(made, shapes=(fewer,)), plain)]
    assert len(set(whole)) == 3


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_same_bits_come_again_on_any_number_of_threads(tmp_path, monkeypatch, threads):
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    ring = trimesh.creation.torus(0.1, 0.04, major_sections=12, minor_sections=8)
    mesh = TriangleMesh(np.array(ring.vertices), np.array(ring.faces))
    found = points._decomposed(Path("x"), "", mesh, 4, 0.05)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    again = points._decomposed(Path("x"), "", mesh, 4, 0.05)
    assert list(found) == list(again) and 2 <= len(found) <= 4
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_it_is_made_once_and_told_while_it_is(folder, tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path / "cache"))
    told: list[str] = []
    path = folder / "scene.yaml"
    path.write_text(text())
    first = load(path, progress=told.append).shapes[0]
    assert told[0] == "decomposing part.obj (28 triangles) ... " and told[1].endswith(" s\n")
    monkeypatch.setattr(points, "_decomposed", None)
    again = load(path, progress=told.append).shapes[0]
    assert len(told) == 2 and again.fingerprint == first.fingerprint


@pytest.mark.parametrize("key", ["parts", "concavity"])
def test_another_question_is_not_answered_from_the_cache(folder, monkeypatch, key):
    scene(folder)

    def asked(*_):
        raise ConfigError("", "", "asked again")

    monkeypatch.setattr(points, "_decomposed", asked)
    value = {"parts": 5, "concavity": 0.3}[key]
    assert "asked again" in refusal(folder, SHAPE.replace("{}", f"{{{key}: {value}}}"))


def test_a_urdf_and_an_mjcf_file_have_decomposed_meshes(folder):
    (folder / "r.urdf").write_text(URDF)
    (folder / "r.xml").write_text(MJCF)
    for robot in ("urdf: {path: r.urdf", "mjcf: {path: r.xml"):
        made = loads(
            f"name: s\nrobot: {{{robot}, collision: true, decompose: {{parts: 4}}}}}}\n", folder / "s.yaml"
        )
        (shape,) = made.shapes
        assert len(shape.solids) == 3 and not shape.mesh.is_convex
        assert any("touches by 3 convex hulls" in note for note in made.notes)


@pytest.mark.parametrize("robot", ["urdf: {path: r.urdf", "mjcf: {path: r.xml"])
def test_keys_of_a_robot_that_do_not_go_together_are_refused(folder, robot):
    (folder / "r.urdf").write_text(URDF)
    (folder / "r.xml").write_text(MJCF)
    kind = robot[:4]
    for keys, sentence in (
        ("decompose: {}", "is for collision shapes: write collision: true, or remove it."),
        (
            "collision: true, corners: 8, decompose: {}",
            "stands beside corners, and has its own: give one of the two.",
        ),
    ):
        with pytest.raises(ConfigError) as caught:
            loads(f"name: s\nrobot: {{{robot}, {keys}}}}}\n", folder / "s.yaml")
        assert str(caught.value) == f"{folder / 's.yaml'}: robot.{kind}.decompose {sentence}"


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            "decompose: {parts: 0}",
            "shapes[0].decompose.parts = 0 is not usable: it must be a whole number from 1 to 64.",
        ),
        (
            "decompose: {parts: 65}",
            "shapes[0].decompose.parts = 65 is not usable: it must be a whole number from 1 to 64.",
        ),
        (
            "decompose: {corners: 3}",
            "shapes[0].decompose.corners = 3 is not usable: it must be a whole number from 4 to 64.",
        ),
        ("decompose: {concavity: 0}", "shapes[0].decompose.concavity = 0"),
        (
            "convex: true, decompose: {}",
            "shapes[0].decompose stands beside convex: true: give one of the two.",
        ),
    ],
)
def test_what_is_out_of_range_is_refused(folder, keys, sentence):
    assert sentence in refusal(folder, SHAPE.replace("decompose: {}", keys))


def test_without_coacd_a_sentence_says_what_installs_it(folder, monkeypatch):
    def missing(name):
        raise points.PackageNotFoundError(name)

    monkeypatch.setattr(points, "version", missing)
    assert refusal(folder) == (
        "part.obj: needs coacd to be decomposed, which is not installed: pip install "
        "'hapticsim[decomposition]'."
    )


def test_what_takes_too_long_or_fails_is_refused(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(points, "LONGEST_s", 0.01)
    assert refusal(folder) == (
        "part.obj: takes longer than 0.01 s to decompose: make it coarser, or allow more concavity."
    )
    monkeypatch.setattr(points, "LONGEST_s", 60.0)
    failing = tmp_path / "failing.py"
    failing.write_text("raise SystemExit('it broke')\n")
    monkeypatch.setattr(points, "DECOMPOSER", failing)
    assert refusal(folder) == (
        "part.obj: cannot be decomposed by coacd ('it broke'): mend or coarsen the mesh."
    )


def test_a_part_that_is_flat_is_refused(folder, monkeypatch):
    square = CUBE[:4] * 0.05
    monkeypatch.setattr(solids, "points_of_parts", lambda *_: [CUBE * 0.05, square])
    assert refusal(folder) == (
        "part.obj: has a part, number 2 of its decomposition, that is flat and no convex solid: allow more "
        "concavity, or another number of parts."
    )


def test_too_many_pairs_of_hulls_are_refused(folder, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_PAIRS", 5)
    contacts = "  - {between: [part, crate]}\n  - {between: [part, floor]}\n"
    assert refusal(folder, contacts=contacts) == (
        "scene.yaml: contacts[1].between makes more than 5 pairs of shapes, each hull of a decomposed mesh "
        "counted: name fewer."
    )


def test_coacd_is_not_imported_unless_asked(folder):
    """Nor then, in this process."""
    code = (
        "import sys; from hapticsim.config.load import load; load(sys.argv[1]); "
        "assert 'coacd' not in sys.modules"
    )
    path = folder / "scene.yaml"
    path.write_text(text())
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=dict(os.environ))


def test_a_cube_is_one_hull(folder):
    written(folder / "part.obj", CUBE, CUBE_TRIANGLES)
    made = scene(folder)
    assert len(made.shapes[0].solids) == 1
    assert any("touches by one convex hull, with" in note for note in made.notes)
