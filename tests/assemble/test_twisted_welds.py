"""A weld holds its frames at 0, and not at the other turns at which its rows are closed."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.scene import Scene


def welded(quaternion: list[float], origin_rpy: str = "[0.0, 0.0, 0.0]", close: bool = False) -> Scene:
    return loads(
        f"""
name: welded
robot:
  bodies: [{{name: b, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.02, zz: 0.025}}}}}}]
  joints: [{{name: j, type: ball, parent: world, child: b}}]
constraints:
  - {{name: w, kind: weld, bodies: [b, world], origin_b: {{rpy_rad: {origin_rpy}}}}}
initial: {{ball: {{j: {{quaternion_wxyz: {quaternion}}}}}}}
close_loops: {str(close).lower()}
"""
    )


@pytest.mark.parametrize(
    ("quaternion", "degrees"),
    [([0.0, 1.0, 0.0, 0.0], 180), ([0.0, 0.0, 1.0, 0.0], 180), ([0.5, -0.5, -0.5, -0.5], 120)],
)
def test_a_weld_closed_at_another_turn_is_refused(quaternion, degrees):
    with pytest.raises(ConfigError) as caught:
        hs.Simulation(welded(quaternion))
    assert str(caught.value).endswith(
        f"initial turns the frames of 'w' by {degrees} degrees against each other, and a weld holds them "
        "at 0: start nearer."
    )


@pytest.mark.parametrize("seed", range(40))
def test_closing_ends_at_0_or_is_refused(seed):
    rng = np.random.default_rng(seed)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    try:
        sim = hs.Simulation(welded(quaternion.tolist(), "[0.4, -0.3, 0.2]", close=True))
    except ConfigError:
        return
    R_WB = sim.assembly.equations.body_pose("b", sim.state.q).rotation
    np.testing.assert_allclose(R_WB, rotation_from_rpy([0.4, -0.3, 0.2]), atol=1e-9)


def test_a_weld_that_starts_at_0_holds():
    sim = hs.Simulation(welded([1.0, 0.0, 0.0, 0.0]))
    sim.step(100)
    np.testing.assert_allclose(sim.state.q, [1.0, 0.0, 0.0, 0.0], atol=1e-12)
