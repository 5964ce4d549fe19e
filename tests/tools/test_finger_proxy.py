"""The twin of CHAI3D's finger proxy against what is known of it: planes, edges, corners, balls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh

RADIUS, STIFFNESS = 3.0, 0.8
EPSILON = 3e-4  # that of a proxy of this radius: a ten thousandth, or 1e-4 if that is more
HALF = 50.0  # of a cube, in the same units


def proxy_on(
    tool: Any, surface: trimesh.Trimesh, start: tuple[float, ...], stages: int, **others: Any
) -> Any:
    module = tool("finger_proxy")
    mesh = module.Mesh(np.array(surface.vertices), np.array(surface.faces), RADIUS)
    return module.FingerProxy(mesh, STIFFNESS, np.array(start), stages, **others)


def settled(proxy: Any, device: tuple[float, ...], ticks: int = 200) -> np.ndarray:
    """The force once the device has stood there for a while."""
    for _ in range(ticks):
        force: np.ndarray = proxy.force(np.array(device))
    return force


def wedge(angle: float) -> trimesh.Trimesh:
    """A valley along y whose sides rise from x = 0 at an angle; its triangles alone, not closed."""
    h = HALF * np.tan(angle)
    corners = [
        (-HALF, -HALF, h),
        (0, -HALF, 0),
        (HALF, -HALF, h),
        (-HALF, HALF, h),
        (0, HALF, 0),
        (HALF, HALF, h),
    ]
    return trimesh.Trimesh(corners, [(0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4)], process=False)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_on_a_plane_the_proxy_is_the_projection(tool, stages, seed):
    rng = np.random.default_rng(seed)
    x, y, deep = *rng.uniform(-30.0, 30.0, 2), rng.uniform(0.5, 5.0)
    proxy = proxy_on(tool, trimesh.creation.box(3 * [2.0 * HALF]), (10.0, 5.0, HALF + 10.0), stages)
    force = settled(proxy, (x, y, HALF + RADIUS - deep))
    assert proxy.proxy == pytest.approx([x, y, HALF + RADIUS], abs=1.1 * EPSILON)
    assert force == pytest.approx([0.0, 0.0, STIFFNESS * deep], abs=1.1 * STIFFNESS * EPSILON)
    assert proxy.contacts == 1


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("angle", [0.2, 0.5, 0.9])
def test_in_a_valley_the_proxy_lies_on_the_line_that_touches_both_sides(tool, stages, angle):
    proxy = proxy_on(tool, wedge(angle), (5.0, -20.0, 60.0), stages)
    settled(proxy, (1.0, 12.0, -4.0))
    assert proxy.proxy == pytest.approx([0.0, 12.0, RADIUS / np.cos(angle)], abs=30.0 * EPSILON)
    assert proxy.contacts == 2


@pytest.mark.parametrize("stages", [1, 3])
def test_in_a_corner_it_touches_three_walls(tool, stages):
    """Three planes that meet at the origin, each to be felt from where all coordinates are above 0."""
    a, b, c, o = (HALF, 0, 0), (0, HALF, 0), (0, 0, HALF), (0, 0, 0)
    corner = trimesh.Trimesh([o, a, b, c], [(0, 1, 2), (0, 2, 3), (0, 3, 1)], process=False)
    proxy = proxy_on(tool, corner, (7.0, 6.0, 8.0), stages)
    settled(proxy, (-1.0, -2.0, -1.5))
    assert proxy.proxy == pytest.approx(3 * [RADIUS], abs=50.0 * EPSILON)


@pytest.mark.parametrize("stages", [1, 3])
def test_round_the_edge_of_a_cube_it_keeps_its_radius_from_the_edge(tool, stages):
    proxy = proxy_on(tool, trimesh.creation.box(3 * [2.0 * HALF]), (HALF + 10.0, 5.0, HALF + 10.0), stages)
    device = np.array([HALF + 0.5, 5.0, HALF + 1.0])
    force = settled(proxy, tuple(device))
    away = (device - [HALF, 5.0, HALF]) / np.hypot(0.5, 1.0)
    assert proxy.proxy == pytest.approx([HALF, 5.0, HALF] + RADIUS * away, abs=10.0 * EPSILON)
    assert force == pytest.approx(STIFFNESS * (RADIUS - np.hypot(0.5, 1.0)) * away, abs=10.0 * EPSILON)


def test_past_the_edge_of_a_cube_it_slides_to_the_nearer_face(tool):
    proxy = proxy_on(tool, trimesh.creation.box(3 * [2.0 * HALF]), (HALF + 10.0, 5.0, HALF + 10.0), 1)
    settled(proxy, (HALF - 1.0, 5.0, HALF - 1.5))
    assert proxy.proxy == pytest.approx([HALF + RADIUS, 5.0, HALF - 1.5], abs=1.1 * EPSILON)


def test_it_stays_out_of_a_closed_mesh_wherever_the_device_goes(tool):
    ball = trimesh.creation.icosphere(2, HALF)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        proxy = proxy_on(tool, ball, (0.0, 0.0, HALF + 10.0), 3)
        goal = np.array([0.0, 0.0, HALF])
        for _ in range(200):
            goal = goal + rng.normal(0.0, 0.5, 3)
            proxy.force(goal)
            # the flat of a triangle is up to 0.97 of the radius from the middle
            assert np.linalg.norm(proxy.proxy) > 0.96 * HALF + RADIUS - EPSILON


@pytest.mark.parametrize("seed", range(30))
def test_a_swept_ball_meets_a_triangle_where_its_distance_is_the_radius(tool, seed):
    """The shell of faces, cylinders and balls against the plain distance of a point from a triangle."""
    rng = np.random.default_rng(seed)
    triangle = rng.normal(0.0, 5.0, (1, 3, 3))
    mesh = tool("finger_proxy").Mesh(triangle[0], np.array([[0, 1, 2]]), RADIUS)
    front = np.cross(triangle[0, 1] - triangle[0, 0], triangle[0, 2] - triangle[0, 0])
    front /= np.linalg.norm(front)
    start = triangle[0].mean(axis=0) + rng.normal(0.0, 4.0, 3) + 15.0 * front
    end = start - 30.0 * front + rng.normal(0.0, 4.0, 3)
    shares = np.linspace(0.0, 1.0, 20_001)
    centres = start + shares[:, None] * (end - start)
    nearest = trimesh.triangles.closest_point(np.repeat(triangle, len(centres), 0), centres)
    within = np.flatnonzero(np.linalg.norm(centres - nearest, axis=1) <= RADIUS)
    hit = mesh.first_hit(start, end)
    if len(within) == 0:
        assert hit is None
        return
    k = within[0]
    step = np.linalg.norm(end - start) / 20_000
    assert hit.distance == pytest.approx(k * step, abs=2.0 * step)
    assert hit.normal == pytest.approx((centres[k] - nearest[k]) / RADIUS, abs=0.02)


def test_no_force_before_it_touches_and_none_after(tool):
    proxy = proxy_on(tool, trimesh.creation.box(3 * [2.0 * HALF]), (0.0, 0.0, HALF + 10.0), 1)
    assert not settled(proxy, (1.0, 2.0, HALF + 4.0)).any()
    assert settled(proxy, (1.0, 2.0, HALF + 2.0))[2] > 0.0
    assert not settled(proxy, (1.0, 2.0, HALF + 4.0)).any()
    assert proxy.proxy == pytest.approx([1.0, 2.0, HALF + 4.0], abs=EPSILON)


def test_the_shaded_normal_of_a_ball_is_nearly_radial(tool):
    module, ball = tool("finger_proxy"), trimesh.creation.icosphere(2, HALF)
    mesh = module.Mesh(np.array(ball.vertices), np.array(ball.faces), RADIUS)
    rng, off, flat = np.random.default_rng(0), [], []
    for triangle in range(0, 320, 7):
        share = rng.dirichlet(3 * [1.0])
        n = mesh.normals[triangle]
        point = share @ mesh.corners[triangle]
        hit = module.Hit(1.0, point + RADIUS * n, n, triangle)
        radial = point / np.linalg.norm(point)
        off.append(np.linalg.norm(mesh.shaded_normal(hit) - radial))
        flat.append(np.linalg.norm(n - radial))
    assert max(off) < 0.02 < 0.1 < max(flat), (max(off), max(flat))
