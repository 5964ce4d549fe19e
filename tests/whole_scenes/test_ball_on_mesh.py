"""A ball on a triangle mesh: as on a box, in a groove, in a bowl, thrown, and from random starts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from tests.watch import Watch
from tools import random_meshes
from tools.mesh_scenes import (
    GRAVITY,
    ball_scene,
    bowl,
    box_mesh,
    bumpy,
    floor_and_wall,
    funnel,
    groove,
    plain_distance,
    slot,
    trough,
)

HALF = (0.2, 0.15, 0.1)


@pytest.mark.parametrize("divided", [0, 2])
@pytest.mark.parametrize("seed", range(6))
def test_a_ball_on_a_box_of_triangles_moves_as_on_a_box(seed, divided):
    """Over faces, edges and corners, thrown and spinning: the same path, whatever triangles there are."""
    rng = np.random.default_rng(seed)
    start = np.array([*rng.uniform(-0.15, 0.15, 2), 0.2])
    velocity, restitution = rng.normal(size=3) * [1.0, 1.0, 0.3], 0.5 * (seed % 2)
    ends = []
    for solid in (HALF, box_mesh(HALF, divided)):
        sim = hs.Simulation(ball_scene(solid, start, velocity, 0.04, restitution))
        watch = Watch(sim).take(400)
        ends.append((sim.state.q[:3], sim.state.u[3:6], watch.counts[Event.TOUCH] > 0))
        assert watch.deepest > -1e-8
    (q, u, touched), (q_mesh, u_mesh, touched_mesh) = ends
    assert touched == touched_mesh
    assert q_mesh == pytest.approx(q, abs=1e-7) and u_mesh == pytest.approx(u, abs=1e-6)


def test_a_ball_at_rest_in_a_groove_shares_its_weight_between_both_sides():
    angle, radius = 0.5, 0.05
    sim = hs.Simulation(ball_scene(groove(angle), (0.0, 0.1, radius / math.cos(angle) + 0.01), radius=radius))
    Watch(sim).take(300)
    forces = [c.force for c in sim.state.contacts]
    assert forces == pytest.approx(2 * [0.5 * GRAVITY / math.cos(angle)], rel=1e-9)
    assert sim.state.q[2] == pytest.approx(radius / math.cos(angle), abs=1e-10)


def test_a_ball_slides_down_one_side_of_a_groove_as_a_point_on_a_slope():
    angle, radius = 0.3, 0.04
    x = 0.3
    place = (x, 0.0, x * math.tan(angle) + radius / math.cos(angle))
    sim = hs.Simulation(ball_scene(groove(angle), place, radius=radius))
    Watch(sim).take(300)
    assert np.linalg.norm(sim.state.u[3:6]) == pytest.approx(GRAVITY * math.sin(angle) * 0.3, rel=1e-9)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_ball_bounces_on_a_vertex_and_on_an_edge_as_on_a_plane(restitution):
    """Centred over them the normal is upright."""
    for at in ((0.0, 0.0), (0.0, 0.05)):  # a vertex of the divided box, and the middle of an edge
        sim = hs.Simulation(
            ball_scene(box_mesh(HALF, 2), (*at, 0.1 + 0.05 + 0.1), radius=0.05, restitution=restitution)
        )
        top = 0.0
        landed = math.sqrt(2 * 0.1 / GRAVITY)
        for _ in range(int(1000 * (landed * (1.0 + restitution))) + 2):
            sim.step()
            if sim.time > landed:
                top = max(top, sim.state.q[2])
        assert top - 0.15 == pytest.approx(0.1 * restitution**2, abs=2e-5)
        assert sim.state.q[:2] == pytest.approx(at, abs=1e-9)


def test_a_ball_in_a_bowl_of_triangles_comes_to_rest_and_stays_there():
    sim = hs.Simulation(ball_scene(bowl(), (0.15, 0.1, 0.15), radius=0.05))
    watch = Watch(sim).take(6000)
    assert watch.deepest > -1e-8 and watch.rise < 1e-9
    lowest = sim.state.q[:3].copy()
    assert np.linalg.norm(lowest[:2]) < 0.3
    assert not watch.counts[Event.THROUGH]


@pytest.mark.parametrize("speed", [5.0, 15.0, 50.0])
def test_a_fast_small_ball_does_not_pass_a_thin_plate(speed):
    """5 mm of ball against 2 mm of plate, 50 mm in a tick."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        for solid in ((0.5, 0.5, 0.001), box_mesh((0.5, 0.5, 0.001))):
            velocity = (*rng.normal(size=2), -speed)
            sim = hs.Simulation(ball_scene(solid, (0.0, 0.1, rng.uniform(0.05, 0.1)), velocity, 0.005))
            Watch(sim).take(40)
            assert sim.state.q[2] > 0.0


def test_a_mesh_on_a_body_is_pushed_as_hard_as_it_pushes():
    """The ball lands on a free block: momentum is kept, and so is angular momentum about the origin."""
    scene = ball_scene(bumpy(np.random.default_rng(3)), (0.1, 0.05, 0.8), (0.0, 0.0, -3.0), carried=True)
    sim = hs.Simulation(scene)
    Watch(sim).take(400)
    ball, block = sim.body_pose("ball"), sim.body_pose("block")
    u = sim.state.u
    fall = GRAVITY * sim.time
    momentum = 1.0 * ball.rotation @ u[3:6] + 3.0 * block.rotation @ u[9:12]
    assert momentum == pytest.approx([0.0, 0.0, -3.0 - 4.0 * fall], abs=1e-6)
    assert abs(u[6:12]).max() > 1e-3, "the block was struck"


@pytest.mark.parametrize(
    "facets, rate_Hz, speed", [(300, 100.0, 3.0), (700, 100.0, 3.0), (1500, 1000.0, 5.0)]
)
def test_a_ball_that_passes_many_facets_in_a_tick_keeps_its_energy(facets, rate_Hz, speed):
    """Plastic at every facet: each facet takes the square of the angle to the next one."""
    radius, angle = 0.03, -math.pi / 4.0
    way = 0.5 - radius
    place = (way * math.sin(angle), 0.0, 0.5 - way * math.cos(angle) + 1e-4)
    velocity = (speed * math.cos(angle), 0.0, speed * math.sin(angle))
    sim = hs.Simulation(ball_scene(trough(facets), place, velocity, radius, rate_Hz=rate_Hz))
    before = sum(sim.energy())
    Watch(sim).take(round(0.15 * rate_Hz))
    assert sum(sim.energy()) > 0.99 * before


@pytest.mark.parametrize(
    "radius, speed, rate_Hz",
    [(0.005, 10.0, 100.0), (0.02, 3.0, 100.0), (0.02, 10.0, 250.0), (0.001, 20.0, 1000.0)],
)
def test_a_ball_that_slides_on_the_floor_stops_at_the_wall_of_the_same_mesh(radius, speed, rate_Hz):
    """It passes up to 20 of its radii in a tick."""
    mesh = floor_and_wall()
    for seed in range(8):
        x = 0.5 - 0.05 * speed + np.random.default_rng(seed).uniform(-0.02, 0.02)
        sim = hs.Simulation(
            ball_scene(mesh, (x, 0.1, radius + 1e-4), (speed, 0.0, -0.1), radius, rate_Hz=rate_Hz)
        )
        Watch(sim).take(round(0.1 * rate_Hz) + 2)
        assert sim.state.q[0] == pytest.approx(0.5 - radius, abs=1e-6)
        assert plain_distance(mesh, sim.state.q[:3]) - radius > -1e-7


def test_a_small_ball_that_slides_round_an_edge_keeps_to_it():
    """At 100 Hz it turns by 0.1 rad in a tick: the gap that a step leaves is energy in the next."""
    mesh, radius = box_mesh((0.1, 0.1, 0.1), 0), 0.0043
    start = (0.0995, 0.01, 0.1 + radius)
    sim = hs.Simulation(ball_scene(mesh, start, (0.06, 0.02, 0.0), radius, 0.6, 100.0))
    sim.step()
    off = []
    while sim.state.contacts:
        off.append(abs(plain_distance(mesh, sim.state.q[:3]) - radius))
        sim.step()
    assert sim.state.q[0] > 0.1 + 0.5 * radius and 1e-13 < max(off) < 1e-8


def test_a_ball_thrown_about_in_a_slot_keeps_its_energy():
    """A tenth of a millimetre of room, five impacts in a tick."""
    sim = hs.Simulation(
        ball_scene(slot(0.1001), (0.0, 0.0, 0.0), (0.5, 0.0, 0.0), radius=0.05, restitution=1.0)
    )
    watch = Watch(sim).take(100)
    assert sum(sim.energy()) == pytest.approx(0.5 * 0.5**2, abs=1e-12) and watch.rise < 1e-12


@pytest.mark.parametrize("sides", [8, 30, 60])
def test_a_ball_in_a_pit_of_many_sides_does_not_sink(sides):
    for seed in range(3):
        mesh, at = funnel(sides), np.random.default_rng(seed).uniform(-0.03, 0.03, 2)
        sim = hs.Simulation(ball_scene(mesh, (*at, 0.3)))
        Watch(sim).take(900)
        assert plain_distance(mesh, sim.state.q[:3]) - 0.05 > -1e-7


@pytest.mark.parametrize("angle", [0.3, 0.8, 1.2])
def test_a_ball_thrown_into_a_groove_of_triangles_comes_into_no_side_in_time_steps(angle):
    """Both sides come near within the same step, and each has a row of its own."""
    for seed in range(10):
        rng, mesh = np.random.default_rng(seed), groove(angle)
        velocity = (rng.uniform(-3.0, 3.0), rng.uniform(-0.3, 0.3), -rng.uniform(0.0, 3.0))
        start = (rng.uniform(-0.05, 0.05), 0.0, 0.2)
        scene = ball_scene(mesh, start, velocity, radius=0.01)
        sim = hs.Simulation(replace(scene, contact_regime="time_stepping"))
        for _ in range(600):
            sim.step()
            x, _, z = sim.state.q[:3]
            if max(abs(sim.state.q[0]), abs(sim.state.q[1])) < 0.45:
                assert math.cos(angle) * z - math.sin(angle) * abs(x) > 0.01 - 1e-9


@pytest.mark.parametrize("first", [0, *[pytest.param(k, marks=pytest.mark.long) for k in range(15, 405, 15)]])
def test_random_balls_on_random_meshes_never_pass_in_time_steps(first):
    for found in random_meshes.throws(15, first, 1, stepping=True):
        assert not found.bad, found


FURTHER = [pytest.param(k, marks=pytest.mark.long) for k in range(20, 120, 20)]


@pytest.mark.parametrize("first", [0, *FURTHER])
def test_random_balls_on_random_meshes_never_sink_never_gain_energy_and_never_pass(first):
    """Depth by plain geometry from all triangles, not by the gaps of the kernels."""
    for found in random_meshes.throws(20, first, 1):
        assert not found.bad, found


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 1400, 100))
def test_random_balls_on_more_random_meshes(first):
    for found in random_meshes.throws(100, first, 1):
        assert not found.bad, found
