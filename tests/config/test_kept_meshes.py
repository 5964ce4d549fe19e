"""What is read of a large mesh, and its tables, are kept in the cache, and used if they are whole."""

from __future__ import annotations

import os

import numpy as np
import pytest

from hapticsim.assemble import mesh_tables
from hapticsim.config.mesh_file import read
from hapticsim.files import kept_arrays as keeping
from tests.mesh_files import CUBE, CUBE_TRIANGLES, binary_stl

INSIDE_OUT = CUBE_TRIANGLES[:, ::-1]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and every mesh is a large one."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(folder))
    monkeypatch.setattr(read, "LARGE", 0)
    monkeypatch.setattr(mesh_tables, "LARGE", 0)
    return folder


def never(*_):
    raise AssertionError("it is made again")


def test_a_mesh_is_read_once_with_its_notes_wherever_it_lies(tmp_path, cache, monkeypatch):
    first, second, notes, again = tmp_path / "a.stl", tmp_path / "b.stl", [], []
    for path in (first, second):
        path.write_bytes(binary_stl(CUBE, INSIDE_OUT))
    mesh = read.read_mesh(first, (1.0, 1.0, 1.0), notes)
    monkeypatch.setattr(read, "_read", never)
    same = read.read_mesh(second, (1.0, 1.0, 1.0), again)
    assert same.fingerprint == mesh.fingerprint and same.triangles.dtype == mesh.triangles.dtype
    assert notes == [f"{first}: was inside out, and was turned so that it faces outwards."]
    assert again == [f"{second}: was inside out, and was turned so that it faces outwards."]


@pytest.mark.parametrize("change", ["bytes", "scale", "convex", "corners", "sources", "versions", "suffix"])
def test_what_another_file_or_question_gives_is_not_taken(tmp_path, monkeypatch, change):
    path, scale, convex, corners = tmp_path / "a.stl", (1.0, 1.0, 1.0), change == "corners", None
    path.write_bytes(binary_stl(CUBE, CUBE_TRIANGLES))
    read.read_mesh(path, scale, [], convex)
    match change:
        case "bytes":
            path.write_bytes(binary_stl(2.0 * CUBE, CUBE_TRIANGLES))
        case "scale":
            scale = (1.0, 2.0, 1.0)
        case "convex":
            convex = True
        case "corners":
            corners = 8
        case "versions":
            monkeypatch.setattr(read, "VERSIONS", ["another"])
        case "sources":
            monkeypatch.setattr(read, "SOURCES", b"another")
        case "suffix":
            path = path.rename(tmp_path / "a.obj")
    monkeypatch.setattr(read, "_read", never)
    with pytest.raises(AssertionError, match="made again"):
        read.read_mesh(path, scale, [], convex, corners)


def test_tables_are_kept_to_the_bit(monkeypatch):
    mesh = read.TriangleMesh(CUBE, CUBE_TRIANGLES)
    made = mesh_tables.tables_of(mesh)
    monkeypatch.setattr(mesh_tables, "_made", never)
    kept = mesh_tables.tables_of(mesh)
    for name, value in vars(made).items():
        assert np.array_equal(getattr(kept, name), value)
        assert type(getattr(kept, name)) is type(value)


@pytest.mark.parametrize("damage", ["cut", "bit", "directory", "empty", "folder"])
def test_a_damaged_file_is_made_again(cache, damage):
    asked = []

    def make():
        asked.append(1)
        return {"a": np.arange(1000.0)}

    keeping.kept_arrays("meshes", [b"x"], make)
    (file,) = cache.rglob("arrays.kept")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        listed = data[:-20] + bytes([data[-20] ^ 8]) + data[-19:]
        file.write_bytes({"cut": data[:400], "bit": data, "directory": listed, "empty": b""}[damage])
    for _ in range(2):
        np.testing.assert_array_equal(keeping.kept_arrays("meshes", [b"x"], make)["a"], np.arange(1000.0))
    assert len(asked) == (3 if damage == "folder" else 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_where_nothing_can_be_kept_it_is_made(cache):
    cache.chmod(0o500)
    assert keeping.kept_arrays("meshes", [b"x"], lambda: {"a": np.ones(1)})["a"] == [1.0]


def test_a_folder_that_is_not_safe_is_not_used(cache):
    cache.chmod(0o777)
    assert keeping.kept_arrays("meshes", [b"y"], lambda: {"a": np.ones(1)})["a"] == [1.0]
    assert not list(cache.iterdir())
