"""A convex mesh on a plane: as a box, where it is one; random hulls tumble, lose energy, and come to rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.kernels.events.inside import GAP_CAPTURE
from hapticsim.kernels.tick.advance import UNSEEN_DEPTH
from hapticsim.model.scene import ContactPair, Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.watch import Watch
from tools.mesh_scenes import box_mesh, mesh_of

HALF = (0.1, 0.07, 0.05)


def scene(
    solid: TriangleMesh | tuple[float, ...], rng: np.random.Generator, e: float, rate_Hz: float
) -> Scene:
    """A solid of 1 kg, turned anyhow, thrown at a floor."""
    rpy, w = rng.uniform(-3.0, 3.0, 3).tolist(), (3.0 * rng.normal(size=3)).tolist()
    v = rng.uniform(-0.5, 0.5, 3).tolist()
    made = loads(f"""
name: a solid on a floor
rate_Hz: {rate_Hz}
robot:
  bodies: [{{name: part, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.003, yy: 0.004, zz: 0.005}}}}}}]
  joints: [{{name: flight, type: free, parent: world, child: part}}]
shapes: [{{name: floor, kind: plane}}]
initial:
  free:
    flight: {{xyz_m: [0, 0, 0.3], rpy_rad: {rpy}, velocity_m_per_s: {v}, angular_velocity_rad_per_s: {w}}}
""")
    if isinstance(solid, TriangleMesh):
        shape = Shape("solid", "part", "mesh", tuple(np.abs(solid.vertices).max(axis=0).tolist()), mesh=solid)
    else:
        shape = Shape("solid", "part", "box", solid)
    return replace(made, shapes=(*made.shapes, shape), contacts=(ContactPair("solid", "floor", e),))


def random_hull(rng: np.random.Generator) -> TriangleMesh:
    """The hull of 5 to 40 points, or a prism, a pyramid, a cone of flat sides."""
    kind = rng.integers(3)
    if kind == 0:
        points = rng.normal(size=(int(rng.integers(5, 40)), 3))
        points *= (
            0.1 * rng.uniform(0.7, 1.0, (len(points), 1)) / np.linalg.norm(points, axis=1, keepdims=True)
        )
    else:
        n, angle = int(rng.integers(3, 13)), rng.uniform(0.0, 6.0)
        around = angle + 2.0 * np.pi * np.arange(n) / n
        ring = np.column_stack([0.08 * np.cos(around), 0.08 * np.sin(around), np.full(n, -0.05)])
        top = ring + np.array([0.0, 0.0, 0.1]) if kind == 1 else np.array([[0.0, 0.0, 0.1]])
        points = np.concatenate([ring, top])
    return mesh_of(trimesh.convex.convex_hull(points))


@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_a_box_of_triangles_moves_as_a_box(seed, e):
    ends = []
    for solid in (HALF, box_mesh(HALF, 0)):
        sim = hs.Simulation(scene(solid, np.random.default_rng(seed), e, 1000.0))
        sim.step(800)
        ends.append(np.concatenate([sim.state.q, sim.state.u]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def tumble(seed: int) -> bool:
    """Whether a hull lies on a face after 4 s; without friction it may slide and spin on."""
    rng = np.random.default_rng(seed)
    hull, e, rate_Hz = random_hull(rng), float(rng.choice([0.0, 0.4])), float(rng.choice([250.0, 1000.0]))
    sim = hs.Simulation(scene(hull, rng, e, rate_Hz))
    seen = Watch(sim).take(round(4.0 * rate_Hz))
    X = sim.body_pose("part")
    heights = (hull.vertices @ X.rotation.T + X.translation)[:, 2]
    unseen = (
        UNSEEN_DEPTH if seen.counts[Event.OVERFLOW] else 1e-8
    )  # what a tick without events left may push in
    assert min(seen.deepest, heights.min()) > -unseen
    assert seen.rise < 1e-6 and seen.widest <= 1.01 * GAP_CAPTURE
    assert not set(seen.counts) & {Event.THROUGH, Event.ENERGY, Event.NOT_FINITE}
    tilting = np.linalg.norm((X.rotation @ sim.state.u[:3])[:2])
    lies = len(sim.state.contacts) >= 3 and tilting < 1e-6
    if lies:
        assert np.sort(heights)[2] <= 1.01 * GAP_CAPTURE, "it lies in the air"
        assert sum(c.force for c in sim.state.contacts) == pytest.approx(9.81, rel=1e-6)
    return bool(lies)


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (10, 20, 30))])
def test_hulls_tumble_to_rest_on_a_face_and_nothing_sinks(first):
    assert sum(tumble(seed) for seed in range(first, first + 10)) >= 8


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 500, 100))
def test_more_hulls_tumble_to_rest(first):
    assert sum(tumble(seed) for seed in range(first, first + 100)) >= 80
