"""Which face of a box holds a corner at its border: against points taken along the edges of the corner."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hapticsim.assemble.assembly import Assembly, assemble
from hapticsim.codes import ON_BOX
from hapticsim.config.load import loads
from hapticsim.kernels.geometry import corner_edges
from tests.kernel_access import FLOAT, INT, MATRIX, PLAN, compiled
from tests.seeds import seeds

face_at_border = compiled(corner_edges.face_at_border, PLAN, INT, INT, FLOAT, FLOAT, FLOAT, MATRIX)
face_against_edges = compiled(corner_edges.face_against_edges, PLAN, INT, INT, FLOAT, FLOAT, FLOAT, MATRIX)

BODY = "{{name: {0}, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.02, zz: 0.025}}}}}}"
SCENE = f"""
name: two boxes
robot:
  bodies: [{BODY.format("one")}, {BODY.format("two")}]
  joints:
    - {{name: of_one, type: free, parent: world, child: one}}
    - {{name: of_two, type: free, parent: world, child: two}}
shapes:
  - {{name: die, body: one, kind: box, half_extents_m: [0.02, 0.03, 0.04],
     origin: {{xyz_m: [0.01, 0.0, -0.02], rpy_rad: [0.3, 0.4, 0.5]}}}}
  - {{name: block, body: two, kind: box, half_extents_m: [0.1, 0.05, 0.07],
     origin: {{xyz_m: [0.0, 0.02, 0.01], rpy_rad: [-0.3, 0.9, 0.1]}}}}
contacts: [{{between: [die, block]}}]
initial: {{free: {{of_one: {{xyz_m: [0.0, 0.0, 0.5]}}}}}}
"""
DIE, BLOCK = np.array([0.02, 0.03, 0.04]), np.array([0.1, 0.05, 0.07])
STEPS = 4001


@cache
def scene() -> tuple[Assembly, int]:
    """Two free boxes, and the candidate that is the corner of the die at -x, -y, -z."""
    assembly = assemble(loads(SCENE))
    first = next(k for k, c in enumerate(assembly.candidates) if c.kind == ON_BOX and c.a == "die")
    return assembly, first


def frames(R: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Poses of both bodies with the block in the world's axes, the die with this rotation and corner."""
    assembly, k = scene()
    corner_of_die = assembly.candidates[k]
    X = np.zeros((2, 12))
    X_WE = {"die": (R, corner + R @ DIE), "block": (np.eye(3), np.zeros(3))}
    for shape in assembly.scene.shapes:
        rotation, middle = X_WE[shape.name]
        R_WB = rotation @ shape.X_BS.rotation.T
        i = assembly.equations.frames.index(shape.body)
        X[i, :9], X[i, 9:] = R_WB.ravel(), middle - R_WB @ shape.X_BS.translation
    i = assembly.equations.frames.index(corner_of_die.sphere_body)
    np.testing.assert_allclose(X[i, :9].reshape(3, 3) @ corner_of_die.centre_B + X[i, 9:], corner, atol=1e-15)
    return X


def depth_under(face: int, R: np.ndarray, corner: np.ndarray) -> float:
    """How deep the deepest point of an edge from the corner is that is under the face and not past it [m]."""
    axis, sign = (face - 1) // 2, -1.0 if face % 2 else 1.0
    deepest = 0.0
    for i in range(3):
        points = corner + np.outer(np.linspace(0.0, 2.0 * DIE[i], STEPS), R[:, i])
        past = np.abs(np.delete(points, axis, axis=1)) > np.delete(BLOCK, axis)
        points = points[: int(past.any(axis=1).argmax()) if past.any() else STEPS]
        if len(points):
            deepest = max(deepest, float((sign * (corner - points)[:, axis]).max()))
    return deepest


@pytest.mark.parametrize("seed", seeds(10, 200))
def test_a_corner_at_a_border_goes_to_the_face_under_which_its_edges_are_least_deep(seed: int):
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.linalg.det(R)
    corner = BLOCK * np.array([rng.uniform(-0.9, 0.9), 1.0, 1.0])
    corner -= np.array([0.0, 10.0 ** rng.uniform(-8, -3.2), 10.0 ** rng.uniform(-8, -3.2)])
    X, k = frames(R, corner), scene()[1]
    found = face_against_edges(scene()[0].plan, k, 6, *corner, X)
    finest = 2.0 * DIE.max() / (STEPS - 1)  # between points of an edge
    under_top, under_side = depth_under(6, R, corner), depth_under(4, R, corner)
    deep = {6: BLOCK[2] - corner[2] + under_top, 4: BLOCK[1] - corner[1] + under_side}
    if under_top < corner_edges.SLIGHT - finest or deep[4] > deep[6] + finest:
        assert found == 6
    elif under_top > corner_edges.SLIGHT + finest and deep[4] < deep[6] - corner_edges.SLIGHT - finest:
        assert found == 4


@pytest.mark.parametrize("seed", seeds(10, 200))
def test_beside_a_border_a_face_that_an_edge_leads_into_gives_way_to_one_that_all_lead_away_from(seed: int):
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.linalg.det(R)
    inside = 10.0 ** rng.uniform(-8, -3, 2)
    corner = BLOCK * np.array([rng.uniform(-0.9, 0.9), 1.0, 1.0]) - np.array([0.0, *inside])
    leads_into_top, leads_into_side = R[2].min() < -corner_edges.LEAN, R[1].min() < -corner_edges.LEAN
    gives_way = leads_into_top and not leads_into_side and inside[0] < corner_edges.HARDLY
    found = face_at_border(scene()[0].plan, scene()[1], 6, *corner, frames(R, corner))
    assert found == (4 if gives_way else 6)


def test_flush_boxes_keep_the_face_they_stand_on():
    """A corner over a corner: edges that lie along a face lead neither away from it nor into it."""
    R = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # edges along +x, -y and +z
    for tilt in (0.0, 1e-12, -1e-12, 1e-6, -1e-6):
        c, s = np.cos(tilt), np.sin(tilt)
        tilted = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) @ R
        corner = BLOCK * np.array([0.3, 1.0, 1.0])
        assert face_at_border(scene()[0].plan, scene()[1], 6, *corner, frames(tilted, corner)) == 6


def test_both_faces_are_drawn():
    """Of the random corners above some go and some stay."""
    found = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R *= np.linalg.det(R)
        corner = BLOCK * np.array([0.3, 1.0, 1.0]) - np.array([0.0, 1e-6, 1e-6])
        found.add(int(face_against_edges(scene()[0].plan, scene()[1], 6, *corner, frames(R, corner))))
    assert found == {4, 6}


def test_a_corner_far_from_the_border_stays():
    R = np.eye(3)[:, [2, 0, 1]]
    corner = BLOCK * np.array([0.3, 1.0, 1.0]) - np.array([0.0, 2.0 * corner_edges.BORDER, 1e-6])
    assert face_against_edges(scene()[0].plan, scene()[1], 6, *corner, frames(R, corner)) == 6
