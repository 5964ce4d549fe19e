"""A box that bounces under a constant force in time steps: it gains no more than the force puts in."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads

SCENE = """
name: a box bounces
rate_Hz: {rate}
contact_regime: time_stepping
robot:
  bodies: [{{name: box, inertial: {{mass_kg: 0.2, inertia_kg_m2: {{xx: 1.2e-4, yy: 1.2e-4, zz: 1.2e-4}}}}}}]
  joints: [{{name: box, type: free, parent: world, child: box}}]
shapes:
  - {{name: floor, kind: plane}}
  - {{name: box, body: box, kind: box, half_extents_m: [0.02, 0.02, 0.02]}}
contacts: [{{between: [box, floor], restitution: {restitution}}}]
handle: {{body: box}}
initial: {{free: {{box: {{xyz_m: [0, 0, 0.0917]}}}}}}
"""


@pytest.mark.parametrize("rate", [200, 1000])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
@pytest.mark.parametrize("force", [[0.0, 0.0, -1.0], [2.0, 0.0, -1.0]])
def test_no_tick_gains_more_than_the_force_puts_in(rate, restitution, force):
    sim = hs.Simulation(loads(SCENE.format(rate=rate, restitution=restitution)))
    sim.apply(force=np.array(force))
    first = before = sum(sim.energy())
    bounces = 0
    for _ in range(2 * rate):
        place = sim.state.q[:3].copy()
        sim.step()
        after = sum(sim.energy())
        work = float(np.dot(force, sim.state.q[:3] - place))
        assert after - before < work + 1e-7 * first
        before = after
        bounces += bool(sim.events)
    assert bounces >= 3
