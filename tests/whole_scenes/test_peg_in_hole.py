"""A square peg that rattles down a hole with 0.1 mm play, and jams nowhere."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from tests.seeds import with_long

SCENE = """
name: peg
robot:
  bodies:
    - {name: peg, inertial: {mass_kg: 0.3, inertia_kg_m2: {xx: 3.0e-4, yy: 3.0e-4, zz: 1.0e-4}}}
  joints:
    - {name: free, type: free, parent: world, child: peg, origin: {xyz_m: [0, 0, 0.09]}}
shapes:
  - {name: rod, body: peg, kind: box, half_extents_m: [0.01, 0.01, 0.04]}
  - {name: left, kind: box, half_extents_m: [0.02, 0.06, 0.03], origin: {xyz_m: [-0.03005, 0, 0.03]}}
  - {name: right, kind: box, half_extents_m: [0.02, 0.06, 0.03], origin: {xyz_m: [0.03005, 0, 0.03]}}
  - {name: front, kind: box, half_extents_m: [0.01005, 0.02, 0.03], origin: {xyz_m: [0, -0.03005, 0.03]}}
  - {name: back, kind: box, half_extents_m: [0.01005, 0.02, 0.03], origin: {xyz_m: [0, 0.03005, 0.03]}}
  - {name: bottom, kind: plane}
contacts:
  - {between: [rod, "*"]}
contact_regime: %s
"""
DEPTH_m = 1e-6
# At start 16 edges of peg and wall that are almost parallel seemed to cross, 6 cm inside one another, where
# the peg touches nothing.  At start 141 the peg was put onto a corner that was held 5 um open, and others
# with it 7 um into the bottom.
SEEDS = with_long([0, 1, 2, 16, 141], range(200, 350))


@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_peg_rattles_to_the_bottom_of_a_hole_with_little_play(regime: str, seed: int) -> None:
    sim = hs.Simulation(loads(SCENE % regime, "<test>"))
    rng = np.random.default_rng(seed)
    u = np.concatenate([rng.normal(size=3), 0.1 * rng.normal(size=3)])
    sim.set_state(sim.scene.q0, u)
    least, start = 0.0, sum(sim.energy())
    for _ in range(1000):
        sim.step()
        least = min(least, *sim.gaps)
        assert sum(sim.energy()) <= start + 1e-9
    assert least > -DEPTH_m
    assert sim.state.q[2] == pytest.approx(0.04 - 0.09, abs=1e-4), "it is at the bottom"
