"""A ball on a height field: as on the surface that it samples, to the accuracy of its grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.config.height_field.surface import surface_of_heights
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.watch import Watch
from tools.mesh_scenes import ball_scene, plain_distance

GRAVITY = 9.81
SIZE, STEEP, RADIUS = 1.0, 0.5, 0.05  # [m], [1/m], [m]


def paraboloid(cells: int) -> TriangleMesh:
    """z = STEEP (x^2 + y^2) over a square, sampled."""
    x = np.linspace(-0.5 * SIZE, 0.5 * SIZE, cells + 1)
    heights = STEEP * (x[None, :] ** 2 + x[:, None] ** 2)
    return surface_of_heights(Path("paraboloid"), "", heights, (SIZE, SIZE), 0.1)


def centre_over(r: float) -> tuple[float, float]:
    """Distance from the axis and height of the centre of a ball that touches the paraboloid at r."""
    slope = 2.0 * STEEP * r
    n = 1.0 / np.sqrt(1.0 + slope * slope)
    return r - RADIUS * slope * n, STEEP * r * r + RADIUS * n


def exact(r0: float, seconds: float, count: int) -> np.ndarray:
    """Where along x the centre is of a smooth ball that starts at rest at r0: slides in the plane y = 0.

    Energy along the curve of the centre: s'^2 / 2 + g z = const, so s'' = -g dz/ds, with ds of the parallel
    curve (1 + RADIUS k) times that of the parabola, k < 0 its curvature towards the ball.
    """

    def rate(_: float, state: np.ndarray) -> list[float]:
        r, v = state
        slope = 2.0 * STEEP * r
        root = np.sqrt(1.0 + slope * slope)
        stretch = root - RADIUS * 2.0 * STEEP / root**2  # speed of the centre by r'
        turned = 2.0 * STEEP * slope / root + 2.0 * RADIUS * 2.0 * STEEP * slope * 2.0 * STEEP / root**4
        rise = slope * stretch / root  # dz / dr of the centre
        return [v, -(GRAVITY * rise / stretch + turned * v * v) / stretch]

    at = np.linspace(0.0, seconds, count)
    found = solve_ivp(rate, (0.0, seconds), [r0, 0.0], t_eval=at, rtol=1e-11, atol=1e-13)
    return np.array([centre_over(r)[0] for r in found.y[0]])


def farthest_off(cells: int) -> float:
    """How far [m] the ball gets from the exact motion in 0.6 s, about half a swing and back."""
    r0 = 0.3
    x, z = centre_over(r0)
    sim = hs.Simulation(ball_scene(paraboloid(cells), [x, 0.0, z + 1e-6], radius=RADIUS))
    wanted, off = exact(r0, 0.6, 61), 0.0
    for k in range(1, 61):
        sim.step(10)
        off = max(off, abs(sim.body_pose("ball").translation[0] - wanted[k]))
    return off


def test_a_ball_slides_as_on_the_paraboloid_and_nearer_on_a_finer_grid():
    coarse, fine = farthest_off(50), farthest_off(200)
    assert coarse < 2.5e-3 and fine < 4e-4 and fine < 0.25 * coarse


@pytest.mark.parametrize("seed", range(8))
def test_a_ball_never_passes_a_random_field(seed):
    rng = np.random.default_rng(seed)
    heights = 0.06 * rng.random((12, 15))
    field = surface_of_heights(Path("random"), "", heights, (1.0, 0.8), 0.05)
    velocity = [*rng.uniform(-0.5, 0.5, 2), -float(rng.uniform(0.0, 8.0))]
    sim = hs.Simulation(
        ball_scene(field, [*rng.uniform(-0.2, 0.2, 2), 0.4], velocity, 0.03, float(rng.choice([0, 0.5])))
    )
    seen = Watch(sim)
    for _ in range(40):
        seen.take(15)
        centre = sim.body_pose("ball").translation
        if np.all(np.abs(centre[:2]) < [0.5, 0.4]):
            assert plain_distance(field, centre) > 0.03 - 1e-5
    assert seen.rise < 1e-6


def test_a_field_on_a_body_falls_on_a_ball():
    field = surface_of_heights(Path("f"), "", 0.05 * np.random.default_rng(0).random((6, 6)), (0.6, 0.6), 0.1)
    sim = hs.Simulation(ball_scene(field, [0.0, 0.0, 0.3], [0.0, 0.0, -2.0], carried=True))
    seen = Watch(sim).take(300)
    assert seen.rise < 1e-6 and seen.deepest > -1e-5
