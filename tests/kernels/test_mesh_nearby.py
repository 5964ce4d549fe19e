"""The triangles listed near a sphere, and when a region is left, against searching the tree and bisection."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.kernels.events import follow_mesh
from hapticsim.kernels.geometry.mesh import features as mesh_features
from hapticsim.kernels.geometry.mesh import nearby as mesh_nearby
from hapticsim.kernels.geometry.mesh import search as mesh_search
from hapticsim.kernels.geometry.mesh.search import BEYOND, MESH_FEATURE, NO_FEATURE
from hapticsim.kernels.memory.arrays import PIECES, TRIALS
from tests.kernel_access import FLOAT, INT, MATRIX, PLAN, STATE, WORKSPACE, compiled
from tools.mesh_scenes import ball_scene, bowl, box_mesh, bumpy, groove, mesh_of, terrain

look_nearby = compiled(mesh_nearby.look_nearby, PLAN, STATE, WORKSPACE, INT)
find_feature = compiled(mesh_search.find_feature, PLAN, STATE, INT, MATRIX, FLOAT)
from_feature = compiled(mesh_features.from_feature, PLAN, INT, FLOAT, FLOAT, FLOAT)
region_margin = compiled(mesh_features.region_margin, PLAN, INT, FLOAT, FLOAT, FLOAT)
leaves_region = compiled(mesh_features.leaves_region, PLAN, INT, *10 * [FLOAT])
follow_meshes = compiled(follow_mesh.follow_all, PLAN, STATE, WORKSPACE)

RADIUS = 0.05
MESHES = {
    "divided box": box_mesh((0.3, 0.2, 0.1), 3),
    "bumpy": bumpy(np.random.default_rng(1), 3),
    "terrain": terrain(np.random.default_rng(2), 20),
    "fine bowl": bowl(150),
    "groove": groove(0.4),
}


def put(assembly, ws, centre: np.ndarray) -> None:
    """The frames of a ball with its centre there; the mesh is in the axes of the world."""
    q = np.array([*centre, 1.0, 0.0, 0.0, 0.0])
    assembly.equations.kernels.kinematics(q, np.zeros(6), ws.qs, ws.X, ws.V, ws.vel, ws.acc)


@pytest.mark.parametrize("name", MESHES)
def test_a_list_says_what_the_tree_says_as_the_ball_moves(name):
    """From place to place, with nothing held and with a feature held that it follows; to the bit."""
    assembly = assemble(ball_scene(MESHES[name], (0.0, 0.0, 1.0), radius=RADIUS))
    plan, state, rng = assembly.plan, assembly.new_state(), np.random.default_rng(7)
    corners = MESHES[name].vertices[MESHES[name].triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    kept = beside = overflows = looks = 0
    for _ in range(12):
        ws, t = assembly.new_workspace(), rng.integers(len(corners))
        centre = corners[t].mean(axis=0) + (RADIUS + rng.normal() * 1e-3) * normals[t]
        largest = -2.7
        if name == "groove":  # between its sides, near to both
            centre, largest = np.array([0.0, 0.1, (RADIUS + 5e-6) / np.cos(0.4)]), -5.3
        put(assembly, ws, centre)
        state.face[:] = 0
        held = rng.random() < 0.6
        if held:
            state.face[0] = MESH_FEATURE + find_feature(plan, state, 0, ws.X, BEYOND)
        k, way = int(held), rng.normal(size=3)
        for step in range(60):
            size = 10.0 ** rng.uniform(-7.0, largest)
            centre = centre + size * (way + 0.3 * rng.normal(size=3))
            put(assembly, ws, centre)
            if held:
                follow_meshes(plan, state, ws)
            before = ws.around_place[0].copy()
            feature, phi = look_nearby(plan, state, ws, k)
            wanted = find_feature(plan, state, k, ws.X, BEYOND)
            assert feature == wanted, (step, centre)
            distance = BEYOND + RADIUS if wanted == NO_FEATURE else from_feature(plan, wanted, *centre)[0]
            assert phi == pytest.approx(distance - RADIUS, abs=1e-15)
            looks += 1
            kept += bool(np.array_equal(before, ws.around_place[0]) and before[3] > 0.0)
            beside += held and wanted != NO_FEATURE
            overflows += bool(ws.around_place[0, 3] < 0.0)
    assert kept > looks // 4, "lists are looked through more than once"
    assert beside > 0 or name != "groove"
    assert overflows > 0 or name != "fine bowl", "of these triangles too many are near"


@pytest.mark.parametrize("name", MESHES)
def test_a_region_is_left_when_bisection_says(name):
    assembly = assemble(ball_scene(MESHES[name], (0.0, 0.0, 1.0), radius=RADIUS))
    plan, state, rng, level = assembly.plan, assembly.new_state(), np.random.default_rng(8), -1e-8
    ws, kinds, never = assembly.new_workspace(), set(), 0
    corners, faces = MESHES[name].vertices[MESHES[name].triangles], len(MESHES[name].triangles)
    for _ in range(60):
        x = corners[rng.integers(faces)].mean(axis=0) + rng.normal(size=3) * 0.05
        put(assembly, ws, x)
        feature = find_feature(plan, state, 0, ws.X, BEYOND)
        v, a = (
            rng.normal(size=3) * 10.0 ** rng.uniform(-2, 1),
            rng.normal(size=3) * 10.0 ** rng.uniform(-1, 2),
        )

        def margin(t, x=x, v=v, a=a, feature=feature):
            return region_margin(plan, feature, *(x + v * t + 0.5 * a * t * t))

        if margin(0.0) < 1e-9:
            continue
        found, tried = leaves_region(plan, feature, level, *x, *v, *a), np.linspace(0.0, 0.5, 1001)
        below = [t for t in tried if margin(t) < level]
        if not below:
            never += 1
            assert found > 0.4999 or margin(found) == pytest.approx(level, abs=1e-9)
            continue
        low, high = below[0] - tried[1], below[0]
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if margin(middle) >= level else (low, middle)
        kinds.add(0 if feature < faces else 1 if feature < 4 * faces else 2)
        if found < below[0] - tried[1]:  # out and in again between two tries
            assert margin(found) == pytest.approx(level, abs=1e-9)
        else:
            assert found == pytest.approx(high, abs=1e-9)
    assert kinds >= {0, 1} or name == "groove", "of which few edges are convex"


def test_a_ball_that_passes_borders_takes_next_to_no_step_in_vain():
    """A step that ends where a border was foreseen is kept; to find it by steps takes two."""
    ball, ticks = trimesh.creation.icosphere(6, 0.3), 140
    sim = hs.Simulation(ball_scene(mesh_of(ball), (0.0, 0.0, 0.31), (0.15, 0.1, 0.0), radius=0.01))
    sim.step(50)
    pieces = trials = 0
    for _ in range(ticks):
        sim.step()
        pieces += int(sim._output.counts[PIECES])
        trials += int(sim._output.counts[TRIALS])
    assert sim.state.contacts
    borders = pieces - ticks
    assert borders > 10 and trials - pieces <= 1, (borders, trials - pieces)
