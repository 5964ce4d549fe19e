"""Hulls with few corners: of the file's own vertices, convex after mending, as far off as their note says."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.optimize import nnls

from hapticsim.config.contacts.notes import contact_notes
from hapticsim.config.mesh_file.hull import hull_of
from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.model.scene import ContactPair, Shape
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.mesh_files import binary_stl, check_closed

STIFF = 1e4  # weight of "shares add up to one" in the least squares


def distance_to_hull(point: np.ndarray, corners: np.ndarray) -> float:
    """Distance [m] of a point from the convex hull of corners (n, 3), as least squares of their shares."""
    rows = np.vstack([(corners - point).T, STIFF * np.ones(len(corners))])
    shares, _ = nnls(rows, np.array([0.0, 0.0, 0.0, STIFF]))
    return float(np.linalg.norm((shares / shares.sum()) @ (corners - point)))


def cloud(seed: int) -> np.ndarray:
    """Points of a lump, a flat disc or a bar, some twice."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(20, 200)), 3)) * rng.choice([1.0, 0.1, 0.01], 3)
    return np.concatenate([points, points[:5]])


@pytest.mark.parametrize("seed", range(30))
def test_a_hull_with_few_corners_has_them_among_the_points_and_is_as_far_off_as_it_says(seed, tmp_path):
    points, corners = cloud(seed), int(np.random.default_rng(seed + 1000).integers(4, 30))
    (vertices, triangles), off = hull_of(tmp_path / "x.stl", [(points, np.zeros((0, 3)))], corners)
    assert 4 <= len(vertices) <= corners and len(triangles) == 2 * len(vertices) - 4
    assert all(np.any(np.all(points == vertex, axis=1)) for vertex in vertices)
    assert TriangleMesh(vertices, triangles).is_convex
    true = max(distance_to_hull(point, vertices) for point in points)
    assert off == pytest.approx(true, rel=1e-5, abs=1e-7 * np.ptp(points))


@pytest.mark.parametrize("corners", [None, 64, 16, 8])
@pytest.mark.parametrize("seed", range(4))
def test_the_hull_of_a_box_with_vertices_along_its_edges_is_convex(tmp_path, seed, corners):
    """Their slivers are taken out, which bends the hull by 1e-7 of its size; it was refused as not convex."""
    rng = np.random.default_rng(seed)
    box = trimesh.creation.box((0.3, 0.2, 0.1)).subdivide().subdivide()
    box.apply_transform(trimesh.transformations.random_rotation_matrix(rng.random(3)))
    path = tmp_path / "box.stl"
    path.write_bytes(binary_stl(box.vertices, box.faces))
    mesh = read_mesh(path, (1.0, 1.0, 1.0), [], True, corners)
    check_closed(mesh)
    assert mesh.is_convex


def test_the_note_tells_how_much_smaller_a_flat_disc_becomes(tmp_path):
    """Six corners on either side: a hexagon in a circle, r (1 - cos 30 degrees)."""
    path, notes = tmp_path / "disc.stl", []
    disc = trimesh.creation.cylinder(0.15, 0.002, sections=120)
    path.write_bytes(binary_stl(disc.vertices, disc.faces))
    read_mesh(path, (1.0, 1.0, 1.0), notes, True, 12)
    (note,) = notes
    told = float(note.split(" is up to ")[1].split(" mm")[0])
    assert "with 12 corners the hull is up to" in note
    assert 150.0 * (1.0 - np.cos(np.pi / 6.0)) * 0.95 < told < 30.0


@pytest.mark.parametrize(("sides", "noted"), [(12, False), (32, False), (40, True)])
def test_a_hull_that_may_lie_on_more_corners_than_there_are_rows_is_noted(tmp_path, sides, noted):
    path = tmp_path / "cone.stl"
    cone = trimesh.creation.cone(0.1, 0.2, sections=sides)
    path.write_bytes(binary_stl(cone.vertices, cone.faces))
    mesh = read_mesh(path, (1.0, 1.0, 1.0), [], True, 64)
    shapes = (
        Shape("cone", "part", "mesh", (0.1, 0.1, 0.2), mesh=mesh),
        Shape("floor", "world", "plane", (1.0, 1.0)),
    )
    notes = contact_notes(shapes, (ContactPair("cone", "floor"),), (), 32, False)
    assert mesh.most_in_a_face == sides
    assert bool(notes) == noted
    assert not noted or f"may ask for {sides} rows at once" in notes[0]
