"""What is drawn of a mesh: few triangles, near its surface, and the mesh itself where it has few."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.describe.shapes import published_shapes
from hapticsim.describe.simplified_mesh import (
    FEWEST,
    MOST_OF_SCENE,
    MOST_TRIANGLES,
    shares,
    simplified,
    surfaces_of,
)
from hapticsim.model.scene import Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh
from hapticsim.wire.messages.topics import Published, frame, unframe
from hapticsim.wire.sockets.local_publisher import WAITING_BYTES
from tests.drawn_meshes import ball, cuboid, shape_of, torus
from tests.models import pendulum
from tests.seeds import with_long


def naive(mesh: TriangleMesh, cells: int) -> set[tuple[tuple[float, ...], ...]]:
    """Triangles, by their rounded corners, that clustering on so many cells along the longest side leaves."""
    low = [min(v[k] for v in mesh.vertices) for k in range(3)]
    high = [max(v[k] for v in mesh.vertices) for k in range(3)]
    longest = max(high[k] - low[k] for k in range(3))
    members: dict[tuple[int, ...], list[np.ndarray]] = {}
    cell_of = []
    for v in mesh.vertices:
        cell = tuple(min(int((v[k] - low[k]) / longest * cells), cells - 1) for k in range(3))
        members.setdefault(cell, []).append(v)
        cell_of.append(cell)
    planes: dict[tuple[int, ...], list[tuple[np.ndarray, float]]] = {cell: [] for cell in members}
    for a, b, c in mesh.triangles.tolist():
        normal = np.cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a])
        for corner in (a, b, c):
            planes[cell_of[corner]].append((normal, float(normal @ mesh.vertices[a])))
    place = {}
    for cell, points in members.items():
        mean = np.mean(points, axis=0)
        normals = np.array([n for n, _ in planes[cell]])
        held = 0.1 * np.sqrt((normals**2).sum()) * np.eye(3)  # to the mean, 0.01 of the planes
        targets = [*(d for _, d in planes[cell]), *(held @ mean)]
        found = np.linalg.lstsq(np.concatenate([normals, held]), np.array(targets), rcond=None)[0]
        if max(abs(found - mean)) > longest / cells:
            found = mean
        place[cell] = tuple((np.round(np.clip(found, low, high), 8) + 0.0).tolist())
    kept = set()
    for triangle in mesh.triangles.tolist():
        corners = [cell_of[i] for i in triangle]
        if len(set(corners)) == 3:
            first = corners.index(min(corners))
            kept.add(tuple(place[corners[(first + k) % 3]] for k in range(3)))
    return kept


@pytest.mark.parametrize("mesh", [ball(0.1), torus(0.1, 0.04)], ids=["ball", "torus"])
@pytest.mark.parametrize("most", with_long([200], [40, 700]))
def test_the_triangles_are_those_of_a_naive_clustering_of_which_a_finer_one_has_too_many(mesh, most):
    surface = simplified(mesh, most)
    corners = (np.round(surface.vertices, 8) + 0.0)[surface.triangles]
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


BIG = 10**6


@pytest.mark.parametrize(
    "counts, sizes, most",
    [
        ([], [], []),
        ([BIG], [1.0], [MOST_TRIANGLES]),
        ([BIG] * 3, [0.1] * 3, [1000] * 3),
        ([BIG, BIG], [2.0, 1.0], [1996, 1004]),
        ([BIG, 100, BIG, BIG], [1.0] * 4, [966, 100, 966, 967]),
        ([12] * 200 + [BIG], [1.0] * 201, [12] * 200 + [600]),
        ([BIG] * 1000, [1.0] * 1000, [FEWEST] * 1000),
        ([BIG, BIG], [1.0, 1e-6], [2988, FEWEST]),
    ],
)
def test_a_mesh_has_as_many_triangles_as_it_is_large_and_small_meshes_leave_theirs(counts, sizes, most):
    assert np.minimum(shares(counts, sizes), counts).tolist() == pytest.approx(most, abs=1)


@pytest.mark.parametrize("seed", range(20))
def test_the_triangles_of_a_scene_are_bounded_and_used(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 250))
    counts = rng.integers(12, 20_000, n).tolist()
    found = np.minimum(shares(counts, rng.uniform(0.001, 1.0, n).tolist()), counts)
    assert min(sum(counts), MOST_OF_SCENE) - n <= found.sum() <= MOST_OF_SCENE


def test_corners_of_a_box_stay_sharp():
    box = cuboid((0.3, 0.2, 0.1))
    fine = divided_box(box, 5)
    surface = simplified(fine, 200)
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    volume = float((np.cross(b - a, c - a) * a).sum()) / 6.0
    assert len(surface.triangles) <= 200 < len(fine.triangles)
    assert volume == pytest.approx(8 * 0.3 * 0.2 * 0.1, rel=0.02)  # with means of cells 0.1 is missing


def divided_box(mesh: TriangleMesh, times: int) -> TriangleMesh:
    """The same surface, each triangle cut in four so many times."""
    import trimesh

    vertices, faces = mesh.vertices, mesh.triangles
    for _ in range(times):
        vertices, faces = trimesh.remesh.subdivide(vertices, faces)[:2]
    return TriangleMesh(np.array(vertices), np.array(faces, dtype=np.int64))


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
