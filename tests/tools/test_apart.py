"""Whether two solids are deep in one another, asked shortly, beside the whole question."""

from __future__ import annotations

import numpy as np
import pytest
from apart import Pair
from scipy.spatial.transform import Rotation

from hapticsim.assemble.overlap import overlap_of
from hapticsim.config.load import loads
from hapticsim.model.multibody.joint import Placement

SCENE = """
name: solids
robot:
  bodies: [{name: a, inertial: {mass_kg: 1, inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}}]
  joints: [{name: free, type: free, parent: world, child: a}]
shapes:
  - {name: box, body: a, kind: box, half_extents_m: [0.03, 0.02, 0.01]}
  - {name: can, body: a, kind: cylinder, radius_m: 0.02, length_m: 0.05, sides: 7}
  - {name: cone, body: a, kind: cone, radius_m: 0.03, length_m: 0.04, sides: 5}
  - {name: pill, body: a, kind: capsule, radius_m: 0.01, length_m: 0.05}
"""
ALLOWED = 1e-4  # [m]


@pytest.mark.parametrize("b", ["box", "can", "cone", "pill"])
@pytest.mark.parametrize("a", ["box", "can", "cone", "pill"])
def test_what_is_deep_is_found_and_nothing_else(a, b):
    shapes = {shape.name: shape for shape in loads(SCENE).shapes}
    a, b = shapes[a], shapes[b]
    pair, random = Pair(a, b), np.random.default_rng(2)
    found = 0
    for start in range(40):
        turns = [Rotation.random(random_state=100 * start + k) for k in range(2)]
        way, spin = random.normal(size=3), random.normal(size=3)
        way /= np.linalg.norm(way)
        for k in range(20):  # one comes nearer and turns, as in looks that follow one another
            X_WA = Placement(
                (turns[0] * Rotation.from_rotvec(0.05 * k * spin)).as_matrix(), way * 0.004 * (20 - k)
            )
            X_WB = Placement(turns[1].as_matrix(), np.zeros(3))
            whole = overlap_of(a, X_WA, b, X_WB)
            expected = whole if whole is not None and whole > ALLOWED else None
            assert pair.depth(X_WA, X_WB, ALLOWED) == expected
            found += expected is not None
    assert found > 60 or (a.kind == b.kind == "capsule")
