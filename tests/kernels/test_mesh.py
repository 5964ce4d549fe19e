"""A sphere against a triangle mesh: the tables, the nearest feature, and the row, against plain geometry."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import trimesh

from hapticsim.assemble.assembly import Assembly, assemble
from hapticsim.assemble.mesh_tables import MeshTables, tables_of
from hapticsim.kernels.events import follow_mesh
from hapticsim.kernels.geometry import contact
from hapticsim.kernels.geometry.mesh import features as mesh_features
from hapticsim.kernels.geometry.mesh import search as mesh_search
from hapticsim.kernels.geometry.mesh.contact import NOWHERE
from hapticsim.kernels.geometry.mesh.search import BEYOND, MESH_FEATURE
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.triangle_mesh import TriangleMesh
from tests import naive
from tests.kernel_access import FLOAT, INT, MATRIX, PLAN, STATE, WORKSPACE, compiled
from tests.kernels.test_contact import moved
from tools.mesh_scenes import (
    ball_scene,
    bowl,
    box_mesh,
    bumpy,
    groove,
    is_inside,
    mesh_of,
    plain_distance,
    terrain,
)

gap = compiled(contact.gap_of, PLAN, STATE, INT, MATRIX)
contact_row = compiled(contact.contact_row, PLAN, STATE, INT, INT, WORKSPACE)
find_feature = compiled(mesh_search.find_feature, PLAN, STATE, INT, MATRIX, FLOAT)
region_margin = compiled(mesh_features.region_margin, PLAN, INT, FLOAT, FLOAT, FLOAT)
follow_meshes = compiled(follow_mesh.follow_all, PLAN, STATE, WORKSPACE)

RADIUS = 0.05
X_BM = Placement(rotation_from_rpy((0.3, -0.2, 0.5)), np.array([0.05, -0.03, 0.02]))
MESHES = {
    "box": box_mesh((0.3, 0.2, 0.1)),
    "divided box": box_mesh((0.3, 0.2, 0.1), 2),
    "bumpy": bumpy(np.random.default_rng(1)),
    "terrain": terrain(np.random.default_rng(2)),
    "torus": mesh_of(trimesh.creation.torus(0.4, 0.1, major_sections=20, minor_sections=10)),
    "tetrahedron": TriangleMesh(
        0.3 * np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]),
    ),
}
ASSEMBLIES: dict[str, Assembly] = {}


def assembly_of(name: str) -> Assembly:
    """The mesh on a free body, and a free ball."""
    if name not in ASSEMBLIES:
        scene = ball_scene(MESHES[name], (0.0, 0.0, 1.0), radius=RADIUS, X_WM=X_BM, carried=True)
        ASSEMBLIES[name] = assemble(scene)
    return ASSEMBLIES[name]


def pose_with(rng: np.random.Generator, centre_M: np.ndarray) -> np.ndarray:
    """Coordinates (14,): a random pose of the carrier, and the ball's centre here in the mesh."""
    q = np.concatenate([rng.uniform(-1.0, 1.0, 3), random_quaternion(rng)] * 2)
    R, p = naive.turned(q[10:]), q[7:10]
    q[:3] = p + R @ (X_BM.rotation @ centre_M + X_BM.translation)
    return q


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def centre_in_mesh(q: np.ndarray) -> np.ndarray:
    R, p = naive.turned(q[10:]), q[7:10]
    return X_BM.rotation.T @ (R.T @ (q[:3] - p) - X_BM.translation)


def frames(assembly: Assembly, q: np.ndarray, u: np.ndarray):
    ws = assembly.new_workspace()
    assembly.equations.kernels.kinematics(q, u, ws.qs, ws.X, ws.V, ws.vel, ws.acc)
    return ws


def points_near(rng: np.random.Generator, mesh: TriangleMesh, count: int) -> np.ndarray:
    """Points (count, 3) around a mesh: far, near, on its middle and inside."""
    span = 2.0 * np.abs(mesh.vertices).max()
    far = rng.uniform(-span, span, (count, 3))
    at = mesh.vertices[mesh.triangles[rng.integers(len(mesh.triangles), size=count)]]
    on = np.einsum("nij,ni->nj", at, rng.dirichlet(np.ones(3), count))
    near = on + rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-6, -1, (count, 1))
    return np.where(rng.random((count, 1)) < 0.3, far, near)


@pytest.mark.parametrize("name", MESHES)
def test_the_gap_is_the_distance_from_all_triangles_one_by_one(name):
    assembly, mesh, rng = assembly_of(name), MESHES[name], np.random.default_rng(3)
    state, signs = assembly.new_state(), Counter()
    for point in points_near(rng, mesh, 300):
        q = pose_with(rng, point)
        found = gap(assembly.plan, state, 0, frames(assembly, q, np.zeros(12)).X)
        wanted = plain_distance(mesh, point) - RADIUS
        assert found == pytest.approx(wanted, abs=1e-9), point
        signs[wanted > -RADIUS] += 1
    assert min(signs[True], signs[False]) > 10, "both sides were looked at"


@pytest.mark.parametrize("name", MESHES)
def test_tables_close_around_every_vertex_and_every_box_holds_its_triangles(name):
    mesh, tables = MESHES[name], tables_of(MESHES[name])
    triangle = tables.triangle.reshape(-1, 3)
    places = [sorted(tables.vertex[corners].tolist()) for corners in triangle]
    assert sorted(places) == sorted(sorted(mesh.vertices[corners].tolist()) for corners in mesh.triangles)
    ends = np.stack([triangle, np.roll(triangle, -1, axis=1)], -1).reshape(-1, 2)
    assert np.array_equal(ends[tables.neighbour], ends[:, ::-1])
    assert np.array_equal(tables.neighbour[tables.neighbour], np.arange(3 * len(triangle)))
    for v in range(len(mesh.vertices)):
        ring = tables.ring[tables.ring_start[v] : tables.ring_start[v + 1]]
        assert sorted(ring) == list(np.flatnonzero(tables.triangle == v))
    check_boxes(tables)


def check_boxes(tables: MeshTables) -> None:
    count, leaves = len(tables.normal), tables.leaves
    points = tables.vertex[tables.triangle].reshape(-1, 3, 3)
    normal, with_slab = tables.normal, 0
    for node in range(1, 2 * leaves):
        level = 2 ** int(np.log2(node))
        first, end = (node - level) * count // level, (node - level + 1) * count // level
        assert 1 <= end - first <= 4 or node < leaves or count < 4
        assert np.all(points[first:end] >= tables.box[node, :3])
        assert np.all(points[first:end] <= tables.box[node, 3:6])
        low, high = tables.box[node, 6:]
        if low < np.inf:
            with_slab += 1
            height = points[first:end] @ normal[first + (end - first) // 2]
            assert low == pytest.approx(height.min(), abs=1e-14)
            assert high == pytest.approx(height.max(), abs=1e-14)
    assert with_slab >= leaves


def plain_feature(tables: MeshTables, feature: int, x: np.ndarray) -> float:
    """Distance [m] of a point from the plane, the line or the point of a feature."""
    faces, corners = len(tables.normal), tables.triangle.reshape(-1, 3)
    if feature < faces:
        a, b, c = tables.vertex[corners[feature]]
        n = np.cross(b - a, c - a)
        return float(n @ (x - a) / np.linalg.norm(n))
    if feature < 4 * faces:
        t, i = divmod(feature - faces, 3)
        a, b = tables.vertex[corners[t, i]], tables.vertex[corners[t, (i + 1) % 3]]
        return float(np.linalg.norm(np.cross(x - a, b - a)) / np.linalg.norm(b - a))
    return float(np.linalg.norm(x - tables.vertex[feature - 4 * faces]))


@pytest.mark.parametrize("name", MESHES)
def test_the_row_is_the_derivative_of_the_distance_from_its_feature(name):
    assembly, mesh, rng = assembly_of(name), MESHES[name], np.random.default_rng(4)
    tables, faces, h = tables_of(MESHES[name]), len(MESHES[name].triangles), 5e-4
    state, kinds = assembly.new_state(), Counter()
    while min(kinds[k] for k in range(3)) < 8 and kinds.total() < 900:
        centre = points_near(rng, mesh, 1)[0]
        q = pose_with(rng, centre)
        state.face[0] = 0
        feature = find_feature(assembly.plan, state, 0, frames(assembly, q, np.zeros(12)).X, BEYOND)
        kind = 0 if feature < faces else 1 if feature < 4 * faces else 2
        distance = plain_feature(tables, feature, centre)
        if is_inside(mesh.vertices[mesh.triangles], centre) or not 0.02 < distance < 0.5:
            continue
        kinds[kind] += 1
        if kinds[kind] > 15:
            continue
        state.face[0] = MESH_FEATURE + feature
        u, udot = rng.uniform(-0.5, 0.5, 12), rng.uniform(-1.0, 1.0, 12)
        ws = frames(assembly, q, u)
        phi = contact_row(assembly.plan, state, 0, 0, ws)
        m2, m1, p1, p2 = (
            plain_feature(tables, feature, centre_in_mesh(moved(q, u, udot, i * h))) - RADIUS
            for i in (-2, -1, 1, 2)
        )
        assert phi == pytest.approx(distance - RADIUS, abs=1e-12)
        assert ws.A[0] @ u == pytest.approx((m2 - 8 * m1 + 8 * p1 - p2) / (12 * h), abs=1e-6)
        second = (-m2 + 16 * m1 - 30 * phi + 16 * p1 - p2) / (12 * h * h)
        assert ws.A[0] @ udot + ws.s[0] == pytest.approx(second, abs=1e-4)
    assert kinds[0] >= 8 and kinds[1] >= 8, kinds


@pytest.mark.parametrize("name", MESHES)
def test_a_point_outside_lies_in_the_region_of_its_nearest_feature(name):
    assembly, mesh, rng = assembly_of(name), MESHES[name], np.random.default_rng(5)
    state, seen = assembly.new_state(), 0
    for point in points_near(rng, mesh, 200):
        if not is_inside(mesh.vertices[mesh.triangles], point):
            seen += 1
            X = frames(assembly, pose_with(rng, point), np.zeros(12)).X
            feature = find_feature(assembly.plan, state, 0, X, BEYOND)
            assert region_margin(assembly.plan, feature, *point) >= -1e-12
    assert seen > 50


def border(assembly: Assembly, feature: int, start: np.ndarray, end: np.ndarray) -> np.ndarray | None:
    """The point between start and end, 1e-9 m behind where the region of a feature ends."""
    if region_margin(assembly.plan, feature, *end) >= 0.0:
        return None
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if region_margin(assembly.plan, feature, *(start + middle * (end - start))) >= 0.0:
            low = middle
        else:
            high = middle
    return start + (high + 1e-9 / np.linalg.norm(end - start)) * (end - start)


@pytest.mark.parametrize("name", MESHES)
def test_where_a_region_ends_the_contact_goes_over_to_the_feature_that_is_as_near(name):
    assembly, mesh, rng = assembly_of(name), MESHES[name], np.random.default_rng(6)
    state, handed, kept = assembly.new_state(), 0, 0
    for point in points_near(rng, mesh, 1500):
        state.face[0] = 0
        X = frames(assembly, pose_with(rng, point), np.zeros(12)).X
        if not 1e-3 < gap(assembly.plan, state, 0, X) + RADIUS < 0.2:
            continue
        feature = find_feature(assembly.plan, state, 0, X, BEYOND)
        ahead = border(assembly, feature, point, point + 0.3 * rng.normal(size=3))
        if ahead is None or is_inside(mesh.vertices[mesh.triangles], ahead):
            continue
        ws = frames(assembly, pose_with(rng, ahead), np.zeros(12))
        X = ws.X
        nearest = gap(assembly.plan, state, 0, X)
        state.face[0] = MESH_FEATURE + feature
        before = gap(assembly.plan, state, 0, X)
        follow_meshes(assembly.plan, state, ws)
        assert gap(assembly.plan, state, 0, X) == pytest.approx(before, abs=1e-8)
        if abs(nearest - before) < 1e-8:  # else something else came nearer on the way
            handed += 1
            assert region_margin(assembly.plan, state.face[0] - MESH_FEATURE, *ahead) >= -1e-12
        else:
            kept += 1
    assert handed > 40, (handed, kept)


def test_the_next_place_finds_the_other_side_of_a_groove_and_waits_behind_one_that_holds_nothing():
    angle, r = 0.4, RADIUS
    scene = ball_scene(groove(angle), (0.0, 0.1, 1.0), radius=r)
    assembly = assemble(scene)
    state, plan = assembly.new_state(), assembly.plan
    q = np.concatenate([[0.0, 0.1, (r + 1e-5) / np.cos(angle)], [1.0, 0, 0, 0]])
    X = frames(assembly, q, np.zeros(6)).X
    first = find_feature(plan, state, 0, X, BEYOND)
    assert [gap(plan, state, k, X) for k in range(4)] == [pytest.approx(1e-5, abs=1e-12)] + 3 * [NOWHERE]
    state.face[0] = MESH_FEATURE + first
    second = find_feature(plan, state, 1, X, BEYOND)
    assert gap(plan, state, 1, X) == pytest.approx(1e-5, abs=1e-12)
    assert plan.mesh_normal[first, 0] == pytest.approx(-plan.mesh_normal[second, 0], abs=1e-12)
    assert [gap(plan, state, k, X) for k in (2, 3)] == 2 * [NOWHERE]
    state.face[1] = MESH_FEATURE + second
    assert find_feature(plan, state, 2, X, BEYOND) == mesh_search.NO_FEATURE
    assert gap(plan, state, 2, X) == BEYOND, "nothing else is near"


def test_a_bowl_of_many_triangles_looks_into_few_of_them():
    """The nearest feature of 80 000 triangles is the one that trying all of them gives."""
    mesh = bowl(200)
    assembly = assemble(ball_scene(mesh, (0.0, 0.0, 1.0), radius=RADIUS))
    state, rng = assembly.new_state(), np.random.default_rng(6)
    for _ in range(10):
        centre = np.array([*rng.uniform(-0.4, 0.4, 2), rng.uniform(0.2, 0.6)])
        X = frames(assembly, np.concatenate([centre, [1.0, 0, 0, 0]]), np.zeros(6)).X
        assert gap(assembly.plan, state, 0, X) == pytest.approx(
            plain_distance(mesh, centre) - RADIUS, abs=1e-12
        )
