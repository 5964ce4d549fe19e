"""Every mesh file that cannot be touched is refused in one sentence, and nothing else comes out of one."""

# Sentences stand whole on the line of what provokes them, so that they can be read and searched for:
# ruff: noqa: E501

from __future__ import annotations

import io
import logging
import math
import os
import re
import sys
from collections.abc import Callable

import numpy as np
import pytest
import trimesh

from hapticsim.config.mesh_file import contents, read
from hapticsim.errors import ConfigError
from tests.mesh_files import CUBE, CUBE_TRIANGLES, binary_stl, exported, good, refusal, text_stl, written

HOLE = CUBE_TRIANGLES[:-1]
FLAP = np.array([[3.0, 0.0, 0.0], [5.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 1.0, 0.0]])  # the third on a side
FLAP_TRIANGLES = np.array([[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]]) + 8
KLEIN_U, KLEIN_V = 16, 12


def klein_bottle() -> tuple[np.ndarray, np.ndarray]:
    """A grid closed along v, and along u with v turned round; where it lies in space does not matter."""
    at = {}
    points = []
    for i in range(KLEIN_U):
        for j in range(KLEIN_V):
            u, v = i * math.tau / KLEIN_U, j * math.tau / KLEIN_V
            r = 2 + math.cos(u / 2) * math.sin(v) - math.sin(u / 2) * math.sin(2 * v)
            at[i, j] = len(points)
            points.append(
                [
                    r * math.cos(u),
                    r * math.sin(u),
                    math.sin(u / 2) * math.sin(v) + math.cos(u / 2) * math.sin(2 * v),
                ]
            )

    def index(i: int, j: int) -> int:
        return at[i, j % KLEIN_V] if i < KLEIN_U else at[0, -j % KLEIN_V]

    quads = [
        [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)]
        for i in range(KLEIN_U)
        for j in range(KLEIN_V)
    ]
    return np.array(points), np.array([t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])])


SURFACES: list[tuple[Callable[[], tuple[np.ndarray, np.ndarray]], float, str]] = [
    (lambda: (CUBE, HOLE), 1.0, "is open: of its 18 edges 3 belong to one triangle only, and what is touched has no holes; close them (Blender: Make Manifold of the 3D Print Toolbox; MeshLab: Close Holes)."),
    (lambda: (np.concatenate([CUBE, CUBE + np.array([1, 1, 0])]), np.concatenate([CUBE_TRIANGLES, CUBE_TRIANGLES + 8])), 1.0, "is not one surface: of its 35 edges 1 belong to more than two triangles; take out walls inside it, and take apart bodies that touch along an edge (Blender: Make Manifold of the 3D Print Toolbox)."),
    (klein_bottle, 1.0, "has no inside: its triangles cannot be turned so that neighbours face the same way; model it as a body."),
    (lambda: (np.concatenate([CUBE, FLAP]), np.concatenate([CUBE_TRIANGLES, FLAP_TRIANGLES])), 1.0, "has 1 triangles without area that cannot be taken out: merge their vertices (Blender: Merge by Distance, Degenerate Dissolve)."),
    (lambda: (CUBE * [1, 1, 1e-10], CUBE_TRIANGLES), 1.0, "is flat: it encloses no volume; give it a thickness."),
    (lambda: (CUBE, CUBE_TRIANGLES[:3]), 1.0, "has 3 triangles, and a closed surface has at least 4: export a whole body."),
    (lambda: (CUBE, CUBE_TRIANGLES[:, [0, 0, 1]]), 1.0, "has 0 triangles, and a closed surface has at least 4: export a whole body."),
    (lambda: (np.where(np.arange(8)[:, None] == 5, np.nan, CUBE), CUBE_TRIANGLES), 1.0, "holds NaN or infinity among its coordinates: export it again."),
    (lambda: (np.where(np.arange(8)[:, None] == 5, np.inf, CUBE), CUBE_TRIANGLES), 1.0, "holds NaN or infinity among its coordinates: export it again."),
    (lambda: (CUBE * 1e200, CUBE_TRIANGLES), 1e200, "holds NaN or infinity among its coordinates: export it again."),
    (lambda: (CUBE, CUBE_TRIANGLES), 1000.5, "reaches 1000 m from its origin and may reach 1000 m: give scale, the metres per unit of the file (0.001 where it is in millimetres)."),
    (lambda: (CUBE - [0, 2500, 0], CUBE_TRIANGLES), 1.0, "reaches 2500 m from its origin and may reach 1000 m: give scale, the metres per unit of the file (0.001 where it is in millimetres)."),
    (lambda: (CUBE, CUBE_TRIANGLES), 5e-7, "is 5e-07 m large and must be at least 1e-06 m: give scale, the metres per unit of the file."),
    (lambda: (np.zeros((3, 3)), CUBE_TRIANGLES[:0]), 1.0, "holds no triangles: export a surface, not points or lines."),
]  # fmt: skip


@pytest.mark.parametrize(("made", "scale", "sentence"), SURFACES)
def test_a_surface_that_cannot_be_touched_is_refused_with_this_sentence(tmp_path, made, scale, sentence):
    assert refusal(written(tmp_path / "a.obj", *made()), scale) == sentence


MOST = "may have 2000000: make it coarser (Blender: Decimate; MeshLab: Quadric Edge Collapse Decimation)."
STL = binary_stl(CUBE, CUBE_TRIANGLES)
OFF = "OFF\n8 12 0\n" + "".join(f"{x} {y} {z}\n" for x, y, z in CUBE) + "".join(f"3 {a} {b} {c}\n" for a, b, c in CUBE_TRIANGLES)  # fmt: skip
DAE = trimesh.Trimesh(CUBE, CUBE_TRIANGLES, process=False).export(file_type="dae")
NODES = "".join(f'<node id="n{k}"><instance_node url="#n{k - 1}"/><instance_node url="#n{k - 1}"/></node>' for k in range(1, 60))  # fmt: skip
BOMB = DAE.replace(b"<visual_scene ", b'<library_nodes><node id="n0"/>' + NODES.encode() + b"</library_nodes><visual_scene ", 1)  # fmt: skip

FILES = [
    ("a.stl", b"", "is empty: export the mesh again."),
    ("a.step", STL, "has the suffix '.step', which is not read: export the mesh to one of '.dae', '.glb', '.gltf', '.obj', '.off', '.ply', '.stl'."),
    ("a.stp", STL, "has the suffix '.stp', which is not read: export the mesh to one of '.dae', '.glb', '.gltf', '.obj', '.off', '.ply', '.stl'."),
    ("a", STL, "has no suffix, which is not read: export the mesh to one of '.dae', '.glb', '.gltf', '.obj', '.off', '.ply', '.stl'."),
    ("a.stl", STL[:-1], "is no whole STL file: by its header it has 12 triangles, which take 684 bytes, and it has 683; export it again."),
    ("a.stl", STL[:50], "is no whole STL file: by its header it has 0 triangles, which take 84 bytes, and it has 50; export it again."),
    ("a.stl", b"solid" + STL[5:-1], "is no whole STL file: by its header it has 12 triangles, which take 684 bytes, and it has 683; export it again."),
    ("a.stl", text_stl(CUBE, CUBE_TRIANGLES)[:-20].encode(), "is no whole STL file: its last line is not 'endsolid'; export it again."),
    ("a.stl", b"solid a\nendsolid a\n" * 1001, "has more than 1000 solids: join them, or leave out what is small."),
    ("a.stl", STL[:80] + np.uint32(0).tobytes(), "holds no triangles: export a surface, not points or lines."),
    ("a.obj", b"# nothing\n", "holds no triangles: export a surface, not points or lines."),
    ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf -3 -1 -2\n", "line 5 counts vertices from 0 or backwards, which is not read: export it with numbers from 1."),
    ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0/1 1/1 2/1\n", "line 4 counts vertices from 0 or backwards, which is not read: export it with numbers from 1."),
    ("a.gltf", b"{]", "is no glTF 2 file: its header is not as it must be; export it again."),
    ("a.gltf", b'{"accessors": [{"count": Infinity}]}', "is no glTF 2 file: its header is not as it must be; export it again."),
    ("a.gltf", b"[]", "is no glTF 2 file: its header is not as it must be; export it again."),
    ("a.glb", b"glTF", "is no glTF 2 file: its header is not as it must be; export it again."),
    ("a.dae", b"<COLLADA>\n<a></COLLADA>", "line 2, column 6 is not XML: export it again."),
    ("a.dae", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><COLLADA>&x;</COLLADA>', "has a document type, which is not read: take <!DOCTYPE ...> out."),
    ("a.dae", BOMB, "has more than 1000 parts: join them, or leave out what is small."),
    ("a.dae", DAE.replace(b"<instance_geometry", b'<instance_controller url="#skin"/><instance_geometry'), "bends its mesh with a skin, which is not read: export it without bones."),
    ("a.dae", DAE.replace(b'count="12"', b'count="3000000"'), "has 3000000 triangles and MOST"),
    ("a.dae", DAE.replace(b'count="12"', b'count="x"'), "is no COLLADA file as it must be: export it again."),
    ("a.off", OFF.replace("8 12 0", "# a\n8 3000000 0").encode(), "has 3000000 triangles and MOST"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement face 3000000\n", "has 3000000 triangles and MOST"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement face " + b"9" * 5000, "has 1000000000000000 triangles and MOST"),
    ("a.stl", b"solid a\n" + b"endfacet\n" * 2_000_001 + b"endsolid", "has 2000001 triangles and MOST"),
    ("a.obj", b"v 0 0 0" + b"\nf 1 1 1" * 2_000_001, "has 2000001 triangles and MOST"),
    ("a.dae", STL, "line 1, column 1 is not XML: export it again."),
]  # fmt: skip


GARBAGE = [
    ("a.stl", text_stl(CUBE, CUBE_TRIANGLES).replace("1.0", "1,0").encode()),
    ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n"),
    ("a.off", OFF.replace("8 12 0", "8 13 0").encode() + b"3 0 1 8\n"),
    ("a.ply", b"ply\nformat ascii 1.0\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "sentence"), FILES)
def test_a_file_that_is_no_mesh_is_refused_with_this_sentence(tmp_path, name, data, sentence):
    (tmp_path / name).write_bytes(data)
    assert refusal(tmp_path / name) == sentence.replace("MOST", MOST)


@pytest.mark.parametrize(("name", "data"), GARBAGE)
def test_a_file_that_its_reader_chokes_on_is_refused_with_what_that_said(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    kind = contents.FORMATS[f".{name[2:]}"]
    found = refusal(tmp_path / name)
    assert re.fullmatch(
        rf"cannot be read as {kind} \(\w+: .+\): export it again, or in another format\.", found
    )


def test_a_path_that_is_no_file_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "bone.stl").write_bytes(STL)
    assert (
        refusal(tmp_path / "bome.stl")
        == "does not exist (did you mean 'bone.stl'?): check the path of the mesh."
    )
    assert (
        refusal(tmp_path / "bone.stl" / "a.stl")
        == "cannot be read (Not a directory): check the path and its permissions."
    )
    (tmp_path / "folder.stl").mkdir()
    assert refusal(tmp_path / "folder.stl") == "is a folder: name the mesh in it."
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "zero.stl").symlink_to("/dev/zero")
    for name in ("pipe.stl", "zero.stl"):
        assert refusal(tmp_path / name) == "is a device, a pipe or a socket: name a file."
    with (tmp_path / "large.stl").open("wb") as file:
        file.truncate(contents.MOST_BYTES + 1)
    assert (
        refusal(tmp_path / "large.stl")
        == "is larger than 1 GiB, the most that is read: make the mesh coarser."
    )
    (tmp_path / "large.stl").rename(tmp_path / "large.blend")
    assert refusal(tmp_path / "large.blend").startswith("has the suffix '.blend', which is not read")
    (tmp_path / "version.stl").symlink_to("/proc/version")
    assert refusal(tmp_path / "version.stl") == "is empty: export the mesh again."
    if os.geteuid() != 0:
        (tmp_path / "bone.stl").chmod(0)
        assert (
            refusal(tmp_path / "bone.stl")
            == "cannot be read (Permission denied): check the path and its permissions."
        )


def test_too_many_triangles_and_pieces_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a.stl").write_bytes(STL[:80] + np.uint32(2_000_001).tobytes() + bytes(50 * 2_000_001))
    too_many = (
        "may have 2000000: make it coarser (Blender: Decimate; MeshLab: Quadric Edge Collapse Decimation)."
    )
    assert refusal(tmp_path / "a.stl") == f"has 2000001 triangles and {too_many}"
    monkeypatch.setattr(read, "MOST_PIECES", 2)
    shift = 3.0 * np.arange(3)[:, None, None]
    many = written(
        tmp_path / "b.obj",
        (CUBE + shift).reshape(-1, 3),
        np.concatenate([CUBE_TRIANGLES + 8 * k for k in range(3)]),
    )
    assert refusal(many) == "has 3 pieces and may have 2: join them, or leave out what is small."


@pytest.mark.parametrize(("missing", "suffix"), [("trimesh", "stl"), ("scipy", "stl"), ("collada", "dae")])
def test_a_missing_package_is_named_with_what_installs_it(tmp_path, monkeypatch, missing, suffix):
    monkeypatch.setitem(sys.modules, missing, None)
    (tmp_path / f"a.{suffix}").write_bytes(DAE if suffix == "dae" else STL)
    assert (
        refusal(tmp_path / f"a.{suffix}")
        == f"needs {missing}, which is not installed: pip install 'hapticsim[meshes]'."
    )


def test_what_trimesh_logs_does_not_reach_the_user(tmp_path, capfd):
    logger = logging.getLogger("trimesh.exchange")

    def noisy(*_: object, **__: object) -> dict:
        logger.error("something that only trimesh understands")
        return {"vertices": CUBE, "faces": CUBE_TRIANGLES}

    from trimesh.exchange.load import mesh_loaders

    (tmp_path / "a.stl").write_bytes(STL)
    kept = mesh_loaders["stl"]
    try:
        mesh_loaders["stl"] = noisy
        good(tmp_path / "a.stl")
    finally:
        mesh_loaders["stl"] = kept
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("trimesh").propagate


SMALL = trimesh.creation.icosphere(subdivisions=1)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "off", "glb", "dae"])
def test_a_file_spoilt_at_random_gives_a_closed_mesh_or_one_sentence(tmp_path, suffix):
    whole = binary_stl(SMALL.vertices, SMALL.faces) if suffix == "stl" else exported(SMALL, suffix)
    outcomes = set()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        data = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(len(data)))
            match rng.integers(4):
                case 0:
                    data[place] ^= 1 << int(rng.integers(8))
                case 1:
                    data[place] = int(rng.integers(256))
                case 2:
                    del data[place : place + int(rng.integers(1, 60))]
                case _:
                    data = data[: max(place, 1)]
        path = tmp_path / f"spoilt.{suffix}"
        path.write_bytes(data or b"x")
        try:
            good(path)
            outcomes.add("mesh")
        except ConfigError as error:
            outcomes.add("sentence")
            assert (
                "\n" not in str(error) and str(error).endswith(".") and str(error).startswith(str(tmp_path))
            )
    assert "sentence" in outcomes


def test_a_reader_that_never_got_a_path_opens_none(tmp_path, monkeypatch):
    """Every file that is opened while a DAE with a texture and an OBJ with materials are read."""
    opened: list[str] = []
    kept = io.open

    def watched(file: object, *args: object, **options: object) -> object:
        opened.append(str(file))
        return kept(file, *args, **options)  # type: ignore[call-overload]

    for name, data in (("a.dae", DAE), ("a.obj", exported(SMALL, "obj"))):
        (tmp_path / name).write_bytes(data)
        good(tmp_path / name)  # imports are done
    monkeypatch.setattr(io, "open", watched)
    monkeypatch.setattr("builtins.open", watched)
    for name in ("a.dae", "a.obj"):
        good(tmp_path / name)
    assert {name for name in opened if str(tmp_path) in name} <= {
        str(tmp_path / "a.dae"),
        str(tmp_path / "a.obj"),
    }
