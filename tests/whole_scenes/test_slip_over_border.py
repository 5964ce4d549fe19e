"""A corner that has just slid past the border of a face: from there on edges hold it that cross.

Within a micrometre of the border both a corner and the edge that ends there might be said to touch, and
rounding decides; neither may be left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import hapticsim as hs
from hapticsim.assemble.initial_check import place_of
from hapticsim.assemble.overlap import overlap_of
from tests.seeds import seeds

HALF = np.array([0.03, 0.02, 0.025])
CORNERS = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * HALF
SHAPES = [f"kind: box, half_extents_m: {HALF.tolist()}", "kind: mesh, file: part.stl"]
TABLE = 0.1  # [m] half extent
TICKS = 3
DEEPEST = {"exact": 1e-6, "time_stepping": 1e-4}  # [m]

SCENE = """
name: a part slides off a table
rate_Hz: 500
contact_regime: {regime}
robot:
  bodies: [{{name: part, inertial: {{mass_kg: 0.2, inertia_kg_m2: {{xx: 1e-4, yy: 1e-4, zz: 1e-4}}}}}}]
  joints: [{{name: free, type: free, parent: world, child: part}}]
shapes:
  - {{name: table, kind: box, half_extents_m: [0.1, 0.1, 0.1]}}
  - {{name: part, body: part, {shape}}}
contacts: [{{between: [part, table]}}]
initial: {{free: {{free: {{xyz_m: {xyz}, rpy_rad: {rpy}, velocity_m_per_s: {velocity}}}}}}}
"""


def scene(
    folder: Path,
    shape: str,
    regime: str,
    turned: Rotation,
    past: float,
    height: float,
    velocity: tuple[float, float, float] = (0.3, 0.05, -0.3),
) -> hs.Scene:
    """A part whose lowest corner is so far past the border of the table, and so high over its face [m].

    velocity   [m/s] of the part.
    """
    corners = turned.apply(CORNERS)
    place = np.array([TABLE + past, 0.01, TABLE + height]) - corners[corners[:, 2].argmin()]
    trimesh.convex.convex_hull(CORNERS).export(folder / "part.stl")
    path = folder / "scene.yaml"
    rpy = turned.as_euler("xyz").tolist()
    xyz, moves = place.tolist(), list(velocity)
    path.write_text(SCENE.format(regime=regime, shape=shape, xyz=xyz, rpy=rpy, velocity=moves))
    return hs.load(path)


def depth(sim: hs.Simulation) -> float:
    """How deep [m] the part is in the table, by plain geometry; below 0: apart."""
    part, table = (next(s for s in sim.scene.shapes if s.name == name) for name in ("part", "table"))
    X_part, X_table = (place_of(sim.assembly, shape, sim.state.q) for shape in (part, table))
    found = overlap_of(part, X_part, table, X_table)
    assert found is not None
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
@pytest.mark.parametrize("seed", seeds(6, 60))
def test_a_corner_past_the_border_is_held_by_its_edges(tmp_path: Path, seed: int, regime: str, shape: str):
    rng = np.random.default_rng(seed)
    turned = Rotation.random(random_state=rng)
    past, height = 10.0 ** rng.uniform(-8.9, -5.9), 10.0 ** rng.uniform(-8.5, -6.05)
    sim = hs.Simulation(scene(tmp_path, shape, regime, turned, past, height))
    assert depth(sim) <= 0.0
    for _ in range(TICKS):
        sim.step()
        assert depth(sim) < DEEPEST[regime]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
@pytest.mark.parametrize("seed", seeds(12, 300))
def test_a_corner_that_comes_over_the_border_is_held(tmp_path: Path, seed: int, regime: str, shape: str):
    rng = np.random.default_rng(seed)
    turned = Rotation.random(random_state=rng)
    past, height = 10.0 ** rng.uniform(-6.0, -3.5), 10.0 ** rng.uniform(-5.0, -3.2)
    velocity = -(10.0 ** rng.uniform(-2.0, -0.4)), 0.05, -0.4
    sim = hs.Simulation(scene(tmp_path, shape, regime, turned, past, height, velocity))
    if depth(sim) > 0.0:  # an edge is in it already
        height += 2.0 * depth(sim)
        sim = hs.Simulation(scene(tmp_path, shape, regime, turned, past, height, velocity))
    for _ in range(8):
        sim.step()
        assert depth(sim) < DEEPEST[regime]
