"""Mesh files made by hand, and what is asked of the mesh that is read of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.errors import ConfigError
from hapticsim.model.triangle_mesh import TriangleMesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip
FACES_IN_TEXT = "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in CUBE_TRIANGLES)


def written(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> Path:
    """An OBJ file by hand, every digit of it."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices, float).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(triangles).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


def binary_stl(vertices: np.ndarray, triangles: np.ndarray) -> bytes:
    facets = np.zeros(len(triangles), dtype=[("n", "<f4", 3), ("p", "<f4", (3, 3)), ("a", "<u2")])
    facets["p"] = vertices[triangles]
    return bytes(80) + np.uint32(len(triangles)).tobytes() + facets.tobytes()


def text_stl(vertices: np.ndarray, triangles: np.ndarray, name: str = "part") -> str:
    text = f"solid {name}\n"
    for corners in vertices[triangles]:
        points = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners)
        text += f"facet normal 0 0 0\nouter loop\n{points}endloop\nendfacet\n"
    return text + f"endsolid {name}\n"


def volume_of(mesh: TriangleMesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def check_closed(mesh: TriangleMesh) -> None:
    """Naively: each directed edge once, its opposite once, one fan about each vertex, everything used."""
    edges = [(int(t[k]), int(t[(k + 1) % 3])) for t in mesh.triangles for k in range(3)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)
    assert set(mesh.triangles.ravel().tolist()) == set(range(len(mesh.vertices)))
    after: dict[int, dict[int, int]] = {}
    for a, b, c in mesh.triangles.tolist():
        for v, left, right in ((a, b, c), (b, c, a), (c, a, b)):
            after.setdefault(v, {})[left] = right
    for fan in after.values():
        start = here = next(iter(fan))
        length = 0
        while length == 0 or here != start:
            here, length = fan[here], length + 1
        assert length == len(fan)
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    assert np.all(np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0.0)
    assert volume_of(mesh) > 0.0


def good(path: Path, scale: float | tuple[float, float, float] = 1.0) -> tuple[TriangleMesh, list[str]]:
    notes: list[str] = []
    mesh = read_mesh(path, np.broadcast_to(scale, 3).tolist(), notes)
    check_closed(mesh)
    return mesh, notes


def refusal(path: Path, scale: float = 1.0) -> str:
    with pytest.raises(ConfigError) as caught:
        read_mesh(path, [scale] * 3, [])
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ") and sentence.endswith(".") and "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")


def exported(mesh: trimesh.Trimesh, suffix: str) -> bytes:
    """A file as trimesh writes it."""
    found = mesh.export(file_type=suffix)
    return found if isinstance(found, bytes) else found.encode()


def scene_in(folder: Path, poses: list[np.ndarray], suffix: str) -> Path:
    scene = trimesh.Scene()
    box = trimesh.Trimesh(CUBE, CUBE_TRIANGLES, process=False)
    for k, pose in enumerate(poses):
        scene.add_geometry(box, node_name=f"n{k}", geom_name="box", transform=pose)
    path = folder / f"scene.{suffix}"
    scene.export(path)
    return path
