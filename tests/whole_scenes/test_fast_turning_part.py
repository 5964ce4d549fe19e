"""Parts that turn by a tenth of a radian in a time step: in two piles they came in, or stood still.

Within such a tick pairs of features come over a border far inside one another while the solids are apart:
these have not met, so that nothing is moved out along them, and no way is shortened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
import yaml

import hapticsim as hs
from hapticsim.assemble.initial_check import place_of
from hapticsim.assemble.overlap import overlap_of
from hapticsim.codes import Event

DEEPEST = 1e-4  # [m]
GAIN = 1e-6  # of the energy

BOX = {"kind": "box", "half_extents_m": [0.0114339, 0.0294879, 0.0250441]}
POLYHEDRON = {"kind": "ellipsoid", "radii_m": [0.0148256, 0.0284516, 0.0108882], "sides": 4}
CAPSULE = {"kind": "capsule", "radius_m": 0.0178310, "length_m": 0.0328485}
OCTAHEDRON = {"kind": "mesh", "file": "octahedron.stl", "convex": True}
CORNERS = np.diag([0.025873, 0.013567, 0.03694])
FLOOR = {"name": "floor", "kind": "plane"}
WALL = {
    "name": "wall",
    "kind": "plane",
    "origin": {"xyz_m": [-0.21, 0.0, 0.0], "rpy_rad": [0.0, 0.5 * np.pi, 0.0]},
}

STRUCK = {
    "a": (BOX, 0.935457, [4.667118e-4, 2.363400e-4, 3.119026e-4]),
    "b": (POLYHEDRON, 0.115535, [3.574055e-5, 1.303045e-5, 3.963970e-5]),
    "q": [
        *(0.1756017, -0.0810804, 0.0114339, 0.4434418, 0.5507807, -0.4434418, 0.5507807),
        *(0.1720373, -0.0687589, 0.0338541, -0.1835679, 0.5624358, 0.6772818, 0.4373307),
    ],
    "u": [
        *(5.3277705, 0.0, 0.0, 0.0, 0.0548199, -0.3032698),
        *(5.9155929, 2.8890171, 15.3721133, -1.9639711, 0.2433485, 1.8898874),
    ],
}
WEDGED = {
    "a": (CAPSULE, 0.0350592, [1.668555e-5, 1.121951e-5, 1.289730e-5]),
    "b": (OCTAHEDRON, 0.0706491, [3.646963e-5, 4.789970e-5, 2.009884e-5]),
    "q": [
        *(-0.1843839, -0.1463810, 0.0212868, 0.5027190, 0.7706140, -0.1064918, 0.3769446),
        *(-0.1589228, -0.1166401, 0.0125893, 0.3129661, 0.3024395, 0.4880624, 0.7565564),
    ],
    "u": [
        *(-15.1748638, -41.3714899, 30.8694983, -0.1613345, 0.4761086, -0.4681100),
        *(1.0212630, 9.4750984, -7.7769017, -0.4213947, 0.2913262, -0.5483336),
    ],
}


def run_of(folder: Path, case: dict[str, Any]) -> hs.Simulation:
    """The two parts over a floor and beside a wall, put where the case says."""
    trimesh.convex.convex_hull(np.vstack([CORNERS, -CORNERS])).export(folder / "octahedron.stl")
    bodies = []
    for name in "ab":
        _, mass, inertia = case[name]
        moments = dict(zip(("xx", "yy", "zz"), inertia, strict=True))
        bodies.append({"name": name, "inertial": {"mass_kg": mass, "inertia_kg_m2": moments}})
    made = {
        "name": "parts that turn fast",
        "rate_Hz": 500.0,
        "contact_regime": "time_stepping",
        "robot": {
            "bodies": bodies,
            "joints": [{"name": n, "type": "free", "parent": "world", "child": n} for n in "ab"],
        },
        "shapes": [FLOOR, WALL, *({"name": n, "body": n, **case[n][0]} for n in "ab")],
        "contacts": [{"between": ["*", "*"]}],
        "initial": {"free": {"a": {"xyz_m": [0.0, 0.0, 0.3]}, "b": {"xyz_m": [0.0, 0.3, 0.3]}}},
    }
    (folder / "scene.yaml").write_text(yaml.safe_dump(made))
    sim, q = hs.Simulation(hs.load(folder / "scene.yaml")), np.array(case["q"])
    for first in (3, 10):
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    sim.set_state(q, np.array(case["u"]))
    return sim


@pytest.mark.parametrize("case", [STRUCK, WEDGED], ids=["struck", "wedged"])
def test_features_far_inside_one_another_of_solids_that_are_apart_do_nothing(tmp_path, case):
    sim = run_of(tmp_path, case)
    a, b = (shape for shape in sim.scene.shapes if shape.name in "ab")
    least = sum(sim.energy())
    for tick in range(10):
        sim.step()
        q = sim.state.q
        depth = overlap_of(a, place_of(sim.assembly, a, q), b, place_of(sim.assembly, b, q))
        assert depth is not None and depth < DEEPEST, tick
        assert Event.HALTED not in {event.kind for event in sim.events}, tick
        energy = sum(sim.energy())
        assert energy < least + GAIN * energy, tick
        least = min(least, energy)
