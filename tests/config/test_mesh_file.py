"""Mesh files: what is read is the surface in them, closed and facing outwards."""

from __future__ import annotations

import base64
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
import trimesh

from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.mesh_file.winding import is_inside
from hapticsim.errors import ConfigError
from tests.mesh_files import (
    CUBE,
    CUBE_TRIANGLES,
    FACES_IN_TEXT,
    binary_stl,
    good,
    refusal,
    scene_in,
    text_stl,
    volume_of,
    written,
)


@pytest.mark.parametrize("suffix", ["stl", "STL", "obj", "ply", "off", "gltf", "glb", "dae"])
def test_every_format_gives_the_surface_that_was_written(tmp_path, suffix):
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.25)
    path = tmp_path / f"ball.{suffix}"
    made = ball.export(file_type=suffix.lower())
    if isinstance(made, dict):
        for name, data in made.items():
            (tmp_path / name).write_bytes(data)
        (tmp_path / "model.gltf").rename(path)
    else:
        path.write_bytes(made if isinstance(made, bytes) else made.encode())
    mesh, notes = good(path)
    assert (len(mesh.vertices), len(mesh.triangles), notes) == (642, 1280, [])
    assert volume_of(mesh) == pytest.approx(ball.volume, rel=1e-6)
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices, axis=1), 0.25, rtol=1e-6)


def test_volume_and_vertices_are_those_of_the_closed_forms(tmp_path):
    path = written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    mesh, _ = good(path, (2.0, 3.0, 0.5))
    assert (len(mesh.vertices), len(mesh.triangles)) == (8, 12)
    assert volume_of(mesh) == pytest.approx(3.0)
    ring = trimesh.creation.torus(0.3, 0.1, major_sections=200, minor_sections=100)
    ring.export(tmp_path / "ring.stl")
    mesh, _ = good(tmp_path / "ring.stl")
    assert (len(mesh.vertices), len(mesh.triangles)) == (20_000, 40_000)
    sections = 0.5 * 100 * math.sin(2 * math.pi / 100)  # area of a polygon of 100 corners, of radius 1
    assert volume_of(mesh) == pytest.approx(2 * math.pi * 0.3 * sections * 0.1**2, rel=1e-3)


def test_a_hundred_thousand_triangles_are_read(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=7)
    (tmp_path / "ball.stl").write_bytes(binary_stl(ball.vertices, ball.faces))
    mesh, notes = good(tmp_path / "ball.stl")
    assert (len(mesh.vertices), len(mesh.triangles), notes) == (163_842, 327_680, [])


def test_the_order_of_a_file_is_not_that_of_its_mesh(tmp_path):
    rng = np.random.default_rng(3)
    shuffled = rng.permutation(8)
    triangles = np.argsort(shuffled)[CUBE_TRIANGLES][rng.permutation(12)]
    triangles = np.array([np.roll(t, k) for t, k in zip(triangles, rng.integers(3, size=12), strict=True)])
    one, _ = good(written(tmp_path / "a.obj", CUBE, CUBE_TRIANGLES))
    two, _ = good(written(tmp_path / "b.obj", CUBE[shuffled], triangles))
    assert one.fingerprint == two.fingerprint
    three, _ = good(written(tmp_path / "c.obj", CUBE * [1, 1, 1 + 1e-15], CUBE_TRIANGLES))
    assert one.fingerprint != three.fingerprint


def test_nor_is_that_of_vertices_at_one_place(tmp_path):
    vertices = np.concatenate([CUBE, CUBE + 1.0])
    triangles = np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES + 8])
    prints = set()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        path = written(tmp_path / "a.obj", vertices, triangles[rng.permutation(24)])
        prints.add(good(path)[0].fingerprint)
    assert len(prints) == 1


def test_a_point_is_inside_where_a_naive_solid_angle_says_so():
    """Of two balls, one hollow: the sum of angles that triangles take [Van Oosterom and Strackee 1983]."""
    ball = trimesh.creation.icosphere(subdivisions=2)
    inner = (0.5 * ball.vertices)[ball.faces[:, ::-1]]
    corners = np.concatenate([ball.vertices[ball.faces], inner, ball.vertices[ball.faces] + 3.0])
    rng = np.random.default_rng(5)
    for point in rng.uniform(-1.5, 4.5, (300, 3)):
        a, b, c = np.moveaxis(corners - point, 1, 0)
        la, lb, lc = (np.linalg.norm(e, axis=1) for e in (a, b, c))
        over = np.sum(a * np.cross(b, c), axis=1)
        under = la * lb * lc + np.sum(a * b, 1) * lc + np.sum(b * c, 1) * la + np.sum(c * a, 1) * lb
        turns = float(np.sum(2.0 * np.arctan2(over, under)) / (4.0 * math.pi))
        assert is_inside(point, corners) == (round(turns) != 0)


def test_text_stl_of_several_solids_is_one_mesh(tmp_path):
    path = tmp_path / "two.stl"
    path.write_text(
        text_stl(CUBE, CUBE_TRIANGLES, "Würfel") + text_stl(CUBE + 3.0, CUBE_TRIANGLES), "latin-1"
    )
    mesh, notes = good(path)
    assert (len(mesh.vertices), volume_of(mesh), notes) == (16, pytest.approx(2.0), [])


def test_quads_and_polygons_are_cut_into_triangles(tmp_path):
    corners = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE.tolist())
    faces = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
    (tmp_path / "cube.obj").write_text(corners + faces)
    assert volume_of(good(tmp_path / "cube.obj")[0]) == pytest.approx(1.0)
    ring = [(math.cos(k * math.tau / 5), math.sin(k * math.tau / 5)) for k in range(5)]
    corners = "".join(f"v {x} {y} {z}\n" for z in (0, 1) for x, y in ring)
    sides = "".join(f"f {k + 1} {(k + 1) % 5 + 1} {(k + 1) % 5 + 6} {k + 6}\n" for k in range(5))
    (tmp_path / "prism.obj").write_text(f"{corners}f 5 4 3 2 1\nf 6 7 8 9 10\n{sides}")
    assert volume_of(good(tmp_path / "prism.obj")[0]) == pytest.approx(2.5 * math.sin(math.tau / 5))


def test_materials_of_an_obj_are_not_looked_for(tmp_path):
    (tmp_path / "lib.mtl").mkdir()  # to read it would fail
    path = written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    half = len(FACES_IN_TEXT) // 2
    cut = FACES_IN_TEXT.index("\n", half) + 1
    head = "mtllib lib.mtl\no cube\n" + path.read_text().partition("f ")[0]
    path.write_text(f"{head}usemtl red\n{FACES_IN_TEXT[:cut]}usemtl blue\n{FACES_IN_TEXT[cut:]}")
    assert len(good(path)[0].triangles) == 12


def test_parts_of_a_scene_stand_where_it_places_them(tmp_path):
    pose, mirror = np.eye(4), np.diag([-1.0, 1.0, 1.0, 1.0])
    pose[:3, :3] = [[0, -2, 0], [2, 0, 0], [0, 0, 2]]
    pose[:3, 3] = [10, 0, 0]
    mirror[0, 3] = -5.0
    mesh, notes = good(scene_in(tmp_path, [np.eye(4), pose, mirror], "glb"))
    assert notes == [] and len(mesh.vertices) == 24
    assert volume_of(mesh) == pytest.approx(1.0 + 8.0 + 1.0)
    x = np.sort(mesh.vertices[:, 0])
    np.testing.assert_allclose(x, np.repeat([-6.0, -5.0, 0.0, 1.0, 8.0, 10.0], 4))


def test_a_body_in_two_parts_by_material_is_closed_across_them(tmp_path):
    scene = trimesh.Scene()
    for part in (CUBE_TRIANGLES[:5], CUBE_TRIANGLES[5:]):
        scene.add_geometry(trimesh.Trimesh(CUBE, part, process=False))
    scene.export(tmp_path / "halves.glb")
    mesh, notes = good(tmp_path / "halves.glb")
    assert (len(mesh.vertices), len(mesh.triangles), notes) == (8, 12, [])


def test_parts_that_touch_along_an_edge_stay_apart(tmp_path):
    pose = np.eye(4)
    pose[:3, 3] = [1.0, 1.0, 0.0]
    mesh, _ = good(scene_in(tmp_path, [np.eye(4), pose], "glb"))
    assert (len(mesh.vertices), volume_of(mesh)) == (16, pytest.approx(2.0))


def test_a_vertex_at_which_a_surface_touches_itself_becomes_two(tmp_path):
    vertices = np.concatenate([CUBE, CUBE + 1.0])
    triangles = np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES + 8])
    mesh, notes = good(written(tmp_path / "tips.obj", vertices, triangles))
    assert (len(mesh.vertices), notes) == (16, [])


def test_an_inverted_surface_is_turned_with_a_note(tmp_path):
    path = written(tmp_path / "in.obj", CUBE, CUBE_TRIANGLES[:, ::-1])
    mesh, notes = good(path)
    assert volume_of(mesh) == pytest.approx(1.0)
    assert notes == [f"{path}: was inside out, and was turned so that it faces outwards."]


@pytest.mark.parametrize("seed", range(10))
def test_triangles_that_face_any_way_are_turned_with_a_note(tmp_path, seed):
    ball = trimesh.creation.icosphere(subdivisions=2)
    turned = np.random.default_rng(seed).random(len(ball.faces)) < 0.1 * (seed + 1)
    triangles = np.where(turned[:, None], ball.faces[:, ::-1], ball.faces)
    path = written(tmp_path / "mixed.obj", ball.vertices, triangles)
    mesh, notes = good(path)
    assert volume_of(mesh) == pytest.approx(ball.volume)
    assert (
        notes[0] == f"{path}: triangles that faced another way than their neighbours were turned."
        or seed == 9
    )


def test_a_hollow_stays_hollow_and_a_piece_beside_it_is_turned(tmp_path):
    inner = 0.25 + 0.5 * CUBE
    vertices = np.concatenate([CUBE, inner, CUBE * 0.5 + 5.0])
    outer, hollow, beside = CUBE_TRIANGLES, CUBE_TRIANGLES[:, ::-1] + 8, CUBE_TRIANGLES[:, ::-1] + 16
    for pieces in ([outer, hollow, beside], [outer[:, ::-1], hollow[:, ::-1], beside[:, ::-1]]):
        mesh, notes = good(written(tmp_path / "hollow.obj", vertices, np.concatenate(pieces)))
        assert volume_of(mesh) == pytest.approx(1.0 - 0.125 + 0.125)
        assert len(notes) == 1


def test_what_is_no_triangle_goes(tmp_path):
    vertices = np.concatenate([CUBE, [[50.0, 0.0, 0.0], [0.5, 0.5, 0.5]]])  # which nothing uses
    doubled = np.concatenate(
        [CUBE_TRIANGLES, [[0, 0, 1], [3, 1, 0], [0, 1, 3], [0, 1, 3]], CUBE_TRIANGLES[:3]]
    )
    mesh, _ = good(written(tmp_path / "a.obj", vertices, doubled))
    assert (len(mesh.vertices), len(mesh.triangles)) == (8, 12)


def test_a_wall_between_two_bodies_goes_with_a_note(tmp_path):
    """The second cube is the first mirrored at the wall, so that both have the same diagonal in it."""
    triangles = np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES[:, ::-1] + 8])
    vertices = np.concatenate([CUBE, CUBE * [-1.0, 1.0, 1.0]])
    path = written(tmp_path / "wall.obj", vertices, triangles)
    mesh, notes = good(path)
    assert (len(mesh.vertices), len(mesh.triangles), volume_of(mesh)) == (12, 20, pytest.approx(2.0))
    assert notes == [f"{path}: 2 pairs of triangles that lay back to back were left out."]


def test_a_vertex_on_an_edge_of_another_triangle_is_closed_by_a_flip(tmp_path):
    """The sliver (0, middle, 1) has three corners on a line; the triangle beyond is cut in two."""
    vertices = np.concatenate([CUBE, [[0.0, 0.0, 0.5]]])
    triangles = [t for t in CUBE_TRIANGLES.tolist() if t != [0, 1, 3]]
    triangles += [[0, 8, 3], [8, 1, 3], [0, 1, 8]]
    mesh, notes = good(written(tmp_path / "sliver.obj", vertices, np.array(triangles)))
    assert (len(mesh.triangles), volume_of(mesh), notes) == (14, pytest.approx(1.0), [])


def test_vertices_that_an_stl_file_rounded_apart_are_one_with_a_note(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.3)
    corners = ball.vertices[ball.faces].reshape(-1, 3).astype(np.float32)
    rng = np.random.default_rng(1)
    nudged = np.nextafter(corners, np.float32(rng.choice([-9, 9], corners.shape)).astype(np.float32))
    path = tmp_path / "ball.stl"
    path.write_bytes(binary_stl(nudged, np.arange(len(nudged)).reshape(-1, 3)))
    mesh, notes = good(path)
    assert len(mesh.triangles) == 1280
    assert notes == [f"{path}: vertices within 1.4e-07 m of one another were taken as one."]


def test_an_edge_of_no_length_is_taken_out_with_a_note(tmp_path):
    vertices = np.concatenate([CUBE, [[0.0, 0.0, 1e-14]]])
    triangles = [t for t in CUBE_TRIANGLES.tolist() if t not in ([0, 1, 3], [0, 5, 1])]
    triangles += [[0, 8, 3], [8, 1, 3], [0, 5, 8], [8, 5, 1]]
    path = written(tmp_path / "needle.obj", vertices, np.array(triangles))
    mesh, notes = good(path)
    assert (len(mesh.vertices), len(mesh.triangles)) == (8, 12)
    assert notes == [f"{path}: vertices within 2.4e-07 m of one another were taken as one."]


def test_a_gltf_file_may_name_a_buffer_beside_it_and_no_other(tmp_path):
    folder = tmp_path / "sent"
    (folder / "below").mkdir(parents=True)
    data = CUBE.astype("<f4").tobytes() + CUBE_TRIANGLES.astype("<u4").tobytes()

    def gltf(uri: str, **more: object) -> Path:
        header = {
            "asset": {"version": "2.0"},
            "buffers": [{"uri": uri, "byteLength": len(data)}],
            "bufferViews": [
                {"buffer": 0, "byteLength": 96},
                {"buffer": 0, "byteOffset": 96, "byteLength": 144},
            ],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
                {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"},
            ],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "nodes": [{"mesh": 0}],
            "scenes": [{"nodes": [0]}],
        } | more
        (folder / "a.gltf").write_text(json.dumps(header))
        return folder / "a.gltf"

    (folder / "below" / "a b.bin").write_bytes(data)
    (tmp_path / "above.bin").write_bytes(data)
    (folder / "link.bin").symlink_to(tmp_path / "above.bin")
    os.mkfifo(folder / "pipe.bin")
    inline = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    for uri in ("below/a%20b.bin", inline):
        assert volume_of(good(gltf(uri))[0]) == pytest.approx(1.0)
    for uri in (
        "../above.bin",
        "..%2Fabove.bin",
        "link.bin",
        str(tmp_path / "above.bin"),
        "http://127.0.0.1:9/a.bin",
        "a\0b",
    ):
        assert refusal(gltf(uri)) == (
            f"names the file {uri!r}, and may name those beside it: put it there, or export a GLB."
        )
    for uri, sentence in (
        ("pipe.bin", "is a device, a pipe or a socket: name a file."),
        ("none.bin", "does not exist: check the path of the mesh."),
        ("below", "is a folder: name the mesh in it."),
    ):
        with pytest.raises(ConfigError) as caught:
            read_mesh(gltf(uri), [1.0] * 3, [])
        assert str(caught.value) == f"{folder / uri}: {sentence}"
    zeros = [{"componentType": 5126, "count": 10**12, "type": "VEC3"}]
    assert refusal(gltf(inline, accessors=zeros)) == (
        "has 333333333333 triangles and may have 2000000: make it coarser "
        "(Blender: Decimate; MeshLab: Quadric Edge Collapse Decimation)."
    )
    assert refusal(gltf(inline, extensionsRequired=["KHR_draco_mesh_compression"])) == (
        "needs KHR_draco_mesh_compression, which is not read: export it without compression."
    )
    assert refusal(gltf(inline, nodes=[{"mesh": 0}] * 1001, scenes=[{"nodes": list(range(1001))}])) == (
        "has more than 1000 parts: join them, or leave out what is small."
    )
    loop = [{"mesh": 0, "children": [1]}, {"children": [0]}]
    assert len(good(gltf(inline, nodes=loop))[0].triangles) == 12
