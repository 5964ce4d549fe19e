"""A hull has flat faces, straight edges, and no vertex that it does not need, whatever its triangles are."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from hapticsim.model.hull import Hull, around, hull_of_box
from hapticsim.model.triangle_mesh import TriangleMesh
from tools.mesh_scenes import box_mesh, mesh_of

HALF = (0.1, 0.07, 0.05)


def check_hull(hull: Hull) -> None:
    """Euler's formula, each edge once either way, flat faces that nothing is beyond, normals outwards."""
    assert len(hull.vertices) - len(hull.edges) + len(hull.faces) == 2
    passed = [pair for face in hull.faces for pair in around(face)]
    assert len(set(passed)) == len(passed) == 2 * len(hull.edges)
    assert {(v, u) for u, v in passed} == set(passed)
    heights = hull.planes[:, :3] @ hull.vertices.T - hull.planes[:, 3:]
    assert heights.max() < 1e-6
    for face, height in zip(hull.faces, heights, strict=True):
        assert np.abs(height[list(face)]).max() < 1e-6
    middle = hull.vertices.mean(axis=0)
    assert np.all(hull.planes[:, :3] @ middle < hull.planes[:, 3])
    for (_, _, f, g), line in zip(hull.edges, hull.edge_lines, strict=True):
        for face, into in ((f, line[7:10]), (g, line[10:13])):
            inner = hull.vertices[list(hull.faces[face])].mean(axis=0)
            assert into @ hull.planes[face, :3] == pytest.approx(0.0, abs=1e-9)
            assert into @ (inner - line[:3]) > 0.0


def counts(hull: Hull) -> tuple[int, int, int]:
    return len(hull.vertices), len(hull.edges), len(hull.faces)


def prism(sides: int) -> TriangleMesh:
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-1.0, 1.0)])
    return mesh_of(trimesh.convex.convex_hull(points))


def test_a_box_is_a_hull_of_eight_vertices():
    hull = hull_of_box(HALF)
    check_hull(hull)
    assert counts(hull) == (8, 12, 6) and hull.most_in_a_face == 4
    assert hull.ball == pytest.approx([0.0, 0.0, 0.0, np.linalg.norm(HALF)])


@pytest.mark.parametrize("divided", [0, 1, 2])
def test_triangles_in_a_plane_are_one_face_and_vertices_within_it_are_none(divided):
    hull = box_mesh(HALF, divided).hull
    check_hull(hull)
    assert counts(hull) == (8, 12, 6)


@pytest.mark.parametrize("sides", [3, 6, 32])
def test_a_prism_has_two_large_faces(sides):
    hull = prism(sides).hull
    check_hull(hull)
    assert counts(hull) == (2 * sides, 3 * sides, sides + 2)
    assert hull.most_in_a_face == max(sides, 4)


@pytest.mark.parametrize("seed", range(10))
def test_a_cloud_of_points_has_a_triangle_for_a_face(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(4, 65)), 3))
    mesh = mesh_of(trimesh.convex.convex_hull(0.1 * points / np.linalg.norm(points, axis=1, keepdims=True)))
    check_hull(mesh.hull)
    assert len(mesh.hull.vertices) == len(mesh.vertices)
    assert np.all(mesh.hull.ball[3] >= np.linalg.norm(mesh.vertices - mesh.hull.ball[:3], axis=1) - 1e-12)


def test_a_plane_bent_by_rounding_is_one_face():
    rng = np.random.default_rng(3)
    mesh = prism(12)
    bent = TriangleMesh(mesh.vertices + 1e-8 * rng.normal(size=mesh.vertices.shape), mesh.triangles)
    assert counts(bent.hull) == (24, 36, 14)
    check_hull(bent.hull)


def test_the_first_vertices_are_far_from_one_another():
    """So that the first few that find a place hold a face by its outermost."""
    hull = prism(32).hull
    top = hull.vertices[hull.vertices[:, 2] > 0.0][:4, :2]
    angles = np.sort(np.arctan2(top[:, 1], top[:, 0]))
    assert np.diff(angles, append=angles[0] + 2.0 * np.pi).max() < 0.6 * np.pi
