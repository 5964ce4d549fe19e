"""What is drawn of a mesh: few triangles, near its surface, and the mesh itself where it has few."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.describe.shapes import published_shapes
from hapticsim.describe.simplified_mesh import (
    FEWEST,
    MOST_OF_SCENE,
    MOST_TRIANGLES,
    share,
    simplified,
    surfaces_of,
)
from hapticsim.model.scene import Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh
from hapticsim.wire.messages.topics import Published, frame, unframe
from hapticsim.wire.sockets.local_publisher import WAITING_BYTES
from tests.drawn_meshes import ball, cuboid, shape_of, torus
from tests.models import pendulum


def naive(mesh: TriangleMesh, cells: int) -> set[tuple[tuple[float, ...], ...]]:
    """Triangles, by their rounded corners, that clustering on so many cells along the longest side leaves."""
    low = [min(v[k] for v in mesh.vertices) for k in range(3)]
    longest = max(max(v[k] for v in mesh.vertices) - low[k] for k in range(3))
    members: dict[tuple[int, ...], list[np.ndarray]] = {}
    cell_of = []
    for v in mesh.vertices:
        cell = tuple(min(int((v[k] - low[k]) / longest * cells), cells - 1) for k in range(3))
        members.setdefault(cell, []).append(v)
        cell_of.append(cell)
    mean = {cell: tuple(np.round(np.mean(v, axis=0), 9).tolist()) for cell, v in members.items()}
    kept = set()
    for triangle in mesh.triangles.tolist():
        corners = [cell_of[i] for i in triangle]
        if len(set(corners)) == 3:
            first = corners.index(min(corners))
            kept.add(tuple(mean[corners[(first + k) % 3]] for k in range(3)))
    return kept


@pytest.mark.parametrize("mesh", [ball(0.1), torus(0.1, 0.04)], ids=["ball", "torus"])
@pytest.mark.parametrize("most", [40, 200, 700])
def test_the_triangles_are_those_of_a_naive_clustering_of_which_a_finer_one_has_too_many(mesh, most):
    surface = simplified(mesh, most)
    corners = np.round(surface.vertices, 9)[surface.triangles]
    found = {frozenset(map(tuple, t)) for t in corners.tolist()}
    per_cells = {cells: naive(mesh, cells) for cells in range(1, 40)}
    cells = [n for n, kept in per_cells.items() if {frozenset(t) for t in kept} == found]
    assert any(len(per_cells[n]) == len(surface.triangles) and len(per_cells[n + 1]) > most for n in cells)
    assert len(surface.triangles) <= most


def test_a_ball_of_80000_triangles_keeps_its_vertices_within_a_cell_of_the_sphere():
    mesh = ball(1.0, subdivisions=6)
    surface = simplified(mesh, 1500)  # with 3000 a hundredth of them stands edgewise or turned
    assert len(mesh.triangles) == 81920 and 1000 < len(surface.triangles) <= 1500
    cell_m = 2.0 / 12  # a grid that leaves 1000 triangles has at least so many cells across
    radius = np.linalg.norm(surface.vertices, axis=1)
    assert np.abs(radius - 1.0).max() < np.sqrt(3.0) * cell_m
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    outward = np.cross(b - a, c - a)
    assert ((outward * (a + b + c)).sum(axis=1) > 0.0).all()
    area = 0.5 * np.linalg.norm(outward, axis=1).sum()
    assert area == pytest.approx(4.0 * np.pi, rel=0.03)


@pytest.mark.parametrize("most", [12, 13, 50, 500, 5000])
def test_there_are_never_more_than_the_limit_and_each_vertex_is_used(most):
    for mesh in (ball(0.1, 4), torus(1.0, 0.01, 300, 8), torus(0.05, 0.04, 90, 70)):
        surface = simplified(mesh, most)
        assert FEWEST <= len(surface.triangles) <= most
        assert np.array_equal(np.unique(surface.triangles), np.arange(len(surface.vertices)))
        low, high = mesh.vertices.min(axis=0) - 1e-12, mesh.vertices.max(axis=0) + 1e-12
        assert (surface.vertices >= low).all() and (surface.vertices <= high).all()


def test_a_small_mesh_is_drawn_as_it_is_without_vertices_that_nothing_uses():
    mesh = ball(0.1, 3)
    surface = simplified(mesh, MOST_TRIANGLES)
    assert np.array_equal(surface.vertices, mesh.vertices)
    assert np.array_equal(surface.triangles, mesh.triangles)
    more = TriangleMesh(np.concatenate([np.ones((1000, 3)), mesh.vertices]), mesh.triangles + 1000)
    assert np.array_equal(simplified(more, 2000).vertices, mesh.vertices)


def test_both_sides_of_a_thin_plate_stay():
    plate = ball(0.5, 5)
    plate = TriangleMesh(plate.vertices * [1.0, 1.0, 1e-4], plate.triangles)
    surface = simplified(plate, 600)
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    up = np.cross(b - a, c - a)[:, 2]
    assert up[up > 0.0].sum() == pytest.approx(-up[up < 0.0].sum(), rel=1e-3)
    assert 0.5 * up[up > 0.0].sum() == pytest.approx(np.pi * 0.25, rel=0.1)


def test_of_what_no_grid_leaves_a_triangle_the_box_around_it_is_drawn():
    cubes = [cuboid((1e-9, 1e-9, 1e-9)) for _ in range(40)]
    far = np.random.default_rng(2).uniform(-1.0, 1.0, (40, 3))
    vertices = np.concatenate([cube.vertices + p for cube, p in zip(cubes, far, strict=True)])
    triangles = np.concatenate([cube.triangles + 8 * k for k, cube in enumerate(cubes)])
    surface = simplified(TriangleMesh(vertices, triangles), 50)
    assert len(surface.triangles) == 12
    assert np.ptp(surface.vertices, axis=0) == pytest.approx(np.ptp(vertices, axis=0))


@pytest.mark.parametrize(
    "counts, most",
    [
        ([], MOST_TRIANGLES),
        ([10**6], MOST_TRIANGLES),
        ([10**6, 10**6], 1500),
        ([10**6] * 3, 1000),
        ([10**6, 100, 10**6, 10**6], (MOST_OF_SCENE - 100) // 3),
        ([12] * 200 + [10**6], MOST_OF_SCENE - 2400),
        ([10**6] * 1000, FEWEST),
    ],
)
def test_what_small_meshes_leave_goes_to_the_large_ones(counts, most):
    assert share(counts) == most


def test_a_scene_of_many_large_meshes_fits_what_waits_for_an_observer():
    shapes = tuple(shape_of(f"m{k}", ball(0.1 + 0.01 * k, 4)) for k in range(40))
    scene = Scene("many", pendulum(), (*shapes, Shape("bob", "bob", "sphere", (0.1,))))
    published = published_shapes(scene, {"world": -1, "bob": 0})
    assert 1500 < sum(len(s.get("triangles", ())) for s in published) // 3 <= MOST_OF_SCENE
    data = frame(Published("scene", 1, 1, {"shapes": published}))
    assert len(data) < WAITING_BYTES
    found = unframe(data)
    assert found is not None and found.payload["shapes"] == published
    assert "vertices" not in published[-1]


def test_a_mesh_is_simplified_once():
    shape = shape_of("ball", ball(0.1, 5))
    (first,), (second, none) = (
        surfaces_of([shape]),
        surfaces_of([shape, Shape("s", "world", "sphere", (1.0,))]),
    )
    assert first is second and none is None
