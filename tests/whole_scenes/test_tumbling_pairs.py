"""Two convex solids that tumble into one another: of all their features those that meet first have a place.

A pair has a dozen places.  Small solids that turn far within a tick have more features within reach.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
import yaml

import hapticsim as hs
from hapticsim.assemble.initial_check import place_of
from hapticsim.assemble.overlap import overlap_of
from tests.seeds import seeds

DEEPEST = 1e-6  # [m]
GAIN = 1e-6  # of the energy
CORNERS = {"tetrahedron": 4, "stone": 14}


def tumbling(folder: Path, seed: int) -> hs.Scene:
    """Two solids of some centimetres that fly at one another and turn by up to a tenth of a radian a tick."""
    random = np.random.default_rng(seed)
    shapes, bodies, joints, start, sizes = [], [], [], {}, []
    fastest = 10.0 ** random.uniform(0.5, 1.7)  # [rad/s]
    for name in ("a", "b"):
        size = 10.0 ** random.uniform(-2.0, -1.3)
        sizes.append(size)
        kind = str(random.choice(["box", *CORNERS]))
        if kind == "box":
            form = {"kind": "box", "half_extents_m": (size * random.uniform(0.2, 1.0, 3)).tolist()}
        else:
            corners = random.normal(size=(CORNERS[kind], 3))
            corners *= size / np.linalg.norm(corners, axis=1, keepdims=True)
            trimesh.convex.convex_hull(corners - corners.mean(axis=0)).export(folder / f"{name}.stl")
            form = {"kind": "mesh", "file": f"{name}.stl", "convex": True}
        shapes.append({"name": name, "body": name, **form})
        inertia = float(0.06 * size * size)
        inertial = {"mass_kg": 0.2, "inertia_kg_m2": {"xx": inertia, "yy": inertia, "zz": inertia}}
        bodies.append({"name": name, "inertial": inertial})
        joints.append({"name": name, "type": "free", "parent": "world", "child": name})
        turn, turned = random.normal(size=3), random.normal(size=4)
        start[name] = {
            "quaternion_wxyz": (turned / np.linalg.norm(turned)).tolist(),
            "angular_velocity_rad_per_s": (fastest * turn / np.linalg.norm(turn)).tolist(),
        }
    way = random.normal(size=3)
    way /= np.linalg.norm(way)
    speed = 10.0 ** random.uniform(-1.0, 0.3)
    start["b"]["xyz_m"] = (2.2 * sum(sizes) * way).tolist()
    start["b"]["velocity_m_per_s"] = (speed * (0.1 * random.normal(size=3) - way)).tolist()
    made = {
        "name": "two tumble",
        "rate_Hz": float(random.choice([200.0, 500.0])),
        "gravity_m_per_s2": [0.0, 0.0, 0.0],
        "robot": {"bodies": bodies, "joints": joints},
        "shapes": shapes,
        "contacts": [{"between": ["a", "b"]}],
        "initial": {"free": start},
    }
    (folder / "scene.yaml").write_text(yaml.safe_dump(made))
    return hs.load(folder / "scene.yaml")


@pytest.mark.parametrize("seed", seeds(40, 600))
def test_what_tumbles_into_another_never_comes_in(tmp_path, seed):
    scene = tumbling(tmp_path, seed)
    sim, (a, b) = hs.Simulation(scene), scene.shapes
    energy = first = sum(sim.energy())
    for tick in range(300):
        sim.step()
        q = sim.state.q
        if np.linalg.norm(q[:3] - q[7:10]) > 0.2:
            continue
        depth = overlap_of(a, place_of(sim.assembly, a, q), b, place_of(sim.assembly, b, q))
        assert depth is not None and depth < DEEPEST, (tick, sim.scene.rate_Hz)
        now = sum(sim.energy())
        assert now < energy + GAIN * first, tick
        energy = min(energy, now)
