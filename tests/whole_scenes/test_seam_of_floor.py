"""A part that slides from one box of a floor to the next, which is a little lower."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads

SCENE = """
name: a floor of two boxes
rate_Hz: 1000
contact_regime: {regime}
robot:
  bodies: [{{name: part, inertial: {{mass_kg: 0.2, inertia_kg_m2: {{xx: 1e-4, yy: 1e-4, zz: 1e-4}}}}}}]
  joints: [{{name: free, type: free, parent: world, child: part}}]
shapes:
  - {{name: first, kind: box, half_extents_m: [0.1, 0.1, 0.1], origin: {{xyz_m: [-0.1, 0, -0.1]}}}}
  - {{name: next, kind: box, half_extents_m: [0.1, 0.1, 0.1], origin: {{xyz_m: [0.1, 0, {middle}]}}}}
  - {{name: part, body: part, kind: box, half_extents_m: [0.03, 0.02, 0.025]}}
contacts: [{{between: [part, first]}}, {{between: [part, next]}}]
initial:
  free:
    free: {{xyz_m: [-0.05, 0, 0.025], rpy_rad: [0, 0, {turned}], velocity_m_per_s: [0.5, 0, 0]}}
"""


@pytest.mark.parametrize("turned", [0.0, 0.1, 0.5])
@pytest.mark.parametrize(
    ("regime", "step"),
    [("exact", 1.5e-6), ("exact", 3e-6), ("exact", 1e-5), ("exact", 1e-4), ("time_stepping", 1e-4)],
)
def test_it_goes_on(regime: str, step: float, turned: float):
    """As it rocks over the edge it chattered, and the end of the chatter took all its speed."""
    sim = hs.Simulation(loads(SCENE.format(regime=regime, middle=-0.1 - step, turned=turned)))
    sim.step(250)
    assert sim.state.q[0] == pytest.approx(0.075, abs=5e-4)
    assert np.linalg.norm(sim.state.u[3:]) == pytest.approx(0.5, rel=0.02)
