"""The camera: projection in closed form, rays that undo it, and cuts that lose nothing visible."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hapticsim.display.scene.camera import NEAREST_M, OrbitCamera
from hapticsim.display.scene.clip import clip_polygon, clip_segments, guard_planes

ANGLE = st.floats(-3.0, 3.0)
LENGTH = st.floats(-1.0, 1.0)


def camera(**changes: float) -> OrbitCamera:
    return OrbitCamera(800, 600, target_W=np.array([0.1, 0.2, 0.3]), **changes)


def test_unturned_camera_sees_x_to_the_right_and_z_up():
    at, depth = camera(distance=2.0).project(np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.3], [0.1, 0.2, 0.4]]))
    assert at[0] == pytest.approx([400.0, 300.0])
    assert at[1, 0] > 400.0 and at[1, 1] == pytest.approx(300.0)
    assert at[2, 1] < 300.0 and at[2, 0] == pytest.approx(400.0)
    assert depth == pytest.approx(2.0)


def test_projection_matches_the_pinhole_written_out():
    # The eye stands at (0.1, -1.8, 0.3) and looks along +Y: x/y and z/y times the focal length.
    focal = 300.0 / math.tan(math.radians(17.5))
    at, depth = camera(distance=2.0).project(np.array([[0.6, 0.7, -0.2]]))
    assert at[0] == pytest.approx([400.0 + focal * 0.5 / 2.5, 300.0 + focal * 0.5 / 2.5])
    assert depth[0] == pytest.approx(2.5)


def test_quarter_turn_looks_along_minus_x():
    turned = camera(azimuth=0.5 * math.pi, distance=2.0)
    assert turned.eye_W == pytest.approx([2.1, 0.2, 0.3])
    at, _ = turned.project(np.array([[0.1, 0.3, 0.3]]))
    assert at[0, 0] > 400.0  # +Y of the world is now to the right


@given(azimuth=ANGLE, elevation=st.floats(-1.4, 1.4))
@settings(max_examples=50, deadline=None)
def test_camera_axes_are_right_handed_and_orthonormal(azimuth: float, elevation: float):
    R = camera(azimuth=azimuth, elevation=elevation).R_WC
    assert R.T @ R == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)


@given(azimuth=ANGLE, elevation=st.floats(-1.4, 1.4), x=LENGTH, y=LENGTH, z=LENGTH)
@settings(max_examples=100, deadline=None)
def test_ray_through_a_projected_point_meets_the_point(azimuth, elevation, x, y, z):
    view = camera(azimuth=azimuth, elevation=elevation, distance=4.0)
    point = np.array([x, y, z])
    (at,), _ = view.project(point[None])
    away = point - view.eye_W
    assert view.ray(*at) == pytest.approx(away / np.linalg.norm(away), abs=1e-9)


def test_fit_brings_all_points_into_the_picture_and_fills_it():
    points = np.random.default_rng(1).uniform(-2.0, 2.0, (50, 3)) + np.array([5.0, 0.0, 1.0])
    for azimuth in np.linspace(0.0, 6.0, 7):
        view = camera(azimuth=azimuth, elevation=0.4)
        view.fit(points)
        at, depth = view.project(points)
        assert depth.min() > NEAREST_M
        filled = np.abs(at - [400.0, 300.0]) / [400.0, 300.0]
        assert 0.75 < filled.max() < 0.9


def test_orbit_stops_short_of_the_pole():
    view = camera()
    view.orbit(0.0, 10.0)
    assert view.elevation < 0.5 * math.pi
    assert np.isfinite(view.R_WC).all()


def test_polygon_that_reaches_behind_the_eye_is_cut_and_stays_in_its_plane():
    view = camera(distance=1.0, elevation=0.3)
    floor_C = view.to_camera(np.array([[-50.0, -50, 0], [50, -50, 0], [50, 50, 0], [-50, 50, 0]]))
    cut = clip_polygon(view, floor_C)
    normals, offsets = guard_planes(view)
    assert len(cut) >= 3
    assert (cut @ normals.T >= offsets - 1e-9).all()
    back_W = cut @ view.R_WC.T + view.eye_W
    assert back_W[:, 2] == pytest.approx(0.0, abs=1e-9)
    assert np.abs(view.to_pixels(cut)).max() < 5000.0  # nothing a fill would take seconds for


def test_polygon_in_view_is_left_alone_and_one_behind_vanishes():
    view = camera(distance=2.0)
    near = view.to_camera(np.array([[0.0, 0.2, 0.3], [0.2, 0.2, 0.3], [0.1, 0.2, 0.4]]))
    assert clip_polygon(view, near) == pytest.approx(near)
    assert clip_polygon(view, near - [0.0, 10.0, 0.0]).shape == (0, 3)


def test_segments_are_cut_where_dense_sampling_says():
    view = camera(distance=1.0)
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-3.0, 3.0, (2, 40, 3))
    normals, offsets = guard_planes(view)
    a_cut, b_cut, kept = clip_segments(view, a, b)
    part = np.linspace(0.0, 1.0, 2001)[:, None]
    for i in range(40):
        samples = a[i] + part * (b[i] - a[i])
        inside = samples[(samples @ normals.T >= offsets).all(axis=1)]
        assert kept[i] == (len(inside) > 0)
        if kept[i]:
            assert a_cut[i] == pytest.approx(inside[0], abs=1e-2)
            assert b_cut[i] == pytest.approx(inside[-1], abs=1e-2)
