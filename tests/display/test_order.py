"""Painter's order and meshes: what is in front is drawn last, outsides face outwards."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.display.messages.scene import Poses, SceneMessage, rotations
from hapticsim.display.scene.mesh import box, capsule, place, tessellate
from hapticsim.display.scene.order import face_planes, hidden, layers, solids_back_to_front
from tests import display_fake


def upright(*centres: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(centres, dtype=float), np.tile(np.eye(3), (len(centres), 1, 1))


EYE = np.array([0.0, -3.0, 1.0])
TABLE = np.array([[1.0, 1.0, 0.05]])


def test_a_ball_on_a_table_is_drawn_after_it_and_one_below_it_before():
    p, R = upright((0.0, 0.0, 0.0))
    balls = np.array(
        [[0.0, 0.9, 0.1], [0.0, 0.0, -0.3], [0.0, -2.0, -0.3]]
    )  # on top, below, in front of its edge
    facet_layer, solid_layer = layers(balls, p, R, TABLE, EYE)
    assert facet_layer[0] > solid_layer[0]
    assert facet_layer[1] < solid_layer[0]
    assert facet_layer[2] > solid_layer[0]


def test_depth_of_centres_alone_would_get_the_ball_on_the_table_wrong():
    # The ball stands at the far edge: farther than the table's centre, and still in front of the table top.
    ball, table = np.array([0.0, 0.9, 0.1]), np.zeros(3)
    assert np.linalg.norm(ball - EYE) > np.linalg.norm(table - EYE)
    p, R = upright((0.0, 0.0, 0.0))
    facet_layer, solid_layer = layers(ball[None], p, R, TABLE, EYE)
    assert facet_layer[0] > solid_layer[0]


def test_stacked_boxes_are_drawn_from_the_bottom_when_seen_from_above():
    p, R = upright((0.3, 0.3, 0.15), (0.0, 0.0, 0.0))
    half = np.array([[0.1, 0.1, 0.1], TABLE[0]])
    assert solids_back_to_front(p, R, half, EYE) == [1, 0]
    assert solids_back_to_front(p, R, half, EYE * [1, 1, -1]) == [0, 1]


def test_facets_find_their_place_among_several_boxes():
    p, R = upright((0.3, 0.3, 0.15), (0.0, 0.0, 0.0))  # a box on a table
    half = np.array([[0.1, 0.1, 0.1], TABLE[0]])
    on_box, behind_box, below_table = [0.3, 0.3, 0.3], [0.3, 0.6, 0.1], [0.0, 0.0, -0.3]
    facet_layer, (box_layer, table_layer) = layers(
        np.array([on_box, behind_box, below_table]), p, R, half, EYE
    )
    assert facet_layer[2] < table_layer < facet_layer[1] < box_layer < facet_layer[0]


def test_boxes_in_a_row_are_drawn_from_the_far_end():
    p, R = upright(*[(0.0, 0.5 * k, 0.0) for k in range(5)])
    half = np.full((5, 3), 0.2)
    assert solids_back_to_front(p, R, half, EYE) == [4, 3, 2, 1, 0]


def test_boxes_through_each_other_still_come_out_once_each():
    rng = np.random.default_rng(3)
    p, R = rng.uniform(-0.2, 0.2, (7, 3)), rotations(rng.normal(size=(7, 4)))
    assert sorted(solids_back_to_front(p, R, np.full((7, 3), 0.3), EYE)) == list(range(7))


def test_nothing_is_hidden_unless_a_sampled_line_of_sight_meets_the_box():
    rng = np.random.default_rng(4)
    p, R = np.zeros((1, 3)), rotations(rng.normal(size=(1, 4)))
    half = np.array([[0.3, 0.2, 0.1]])
    normals, offsets = face_planes(p, R, half)
    points = rng.uniform(-1.0, 1.0, (400, 3))
    said = hidden(normals[0], offsets[0], EYE, points)
    part = np.linspace(0.0, 1.0, 400)[:, None]
    for point, is_hidden in zip(points, said, strict=True):
        sight_B = (EYE + part * (point - EYE)) @ R[0]
        if (np.abs(sight_B) < half[0] - 1e-3).all(axis=1).any():
            assert is_hidden


@pytest.mark.parametrize(
    "shape", [box(0.1, 0.2, 0.3), capsule(0.1, 0.4), capsule(0.2, 0.0), capsule(0.1, 0.3, 7, 2)]
)
def test_every_face_of_a_shape_looks_outwards(shape):
    points, faces = shape
    corners = points[faces]
    outward = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    # For a shape that is convex and holds the origin, outside is where the face's centre is.
    assert ((outward * corners.mean(axis=1)).sum(axis=1) > 0.0).all()


def test_capsule_vertices_lie_at_one_radius_from_its_axis_segment():
    points, _ = capsule(0.1, 0.4)
    nearest = np.clip(points[:, 2], -0.2, 0.2)
    assert np.hypot(np.hypot(points[:, 0], points[:, 1]), points[:, 2] - nearest) == pytest.approx(0.1)


def test_shapes_follow_their_bodies_and_the_world_stands_still():
    scene = SceneMessage.read(display_fake.scene())
    poses = Poses.read(display_fake.state(1.0)["bodies"])
    p_WS, _ = place(scene.shapes, poses)
    names = [s.name for s in scene.shapes]
    assert p_WS[names.index("tip")] == pytest.approx(display_fake.tip_at(1.0))
    assert p_WS[names.index("table")] == pytest.approx(display_fake.TABLE_CENTRE)
    # The forearm hangs between elbow and tip: its centre is half a forearm from either.
    for end in ("elbow", "tip"):
        distance = np.linalg.norm(p_WS[names.index("forearm")] - p_WS[names.index(end)])
        assert distance == pytest.approx(0.5 * display_fake.FORE_M)


def test_an_empty_scene_has_an_empty_mesh():
    assert tessellate(()).faces.shape == (0, 4)
