"""A weld holds its frames at 0, and not at the other turns at which its rows are closed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Mode
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.scene import Scene


def welded(
    quaternion: list[float], origin_rpy: str = "[0.0, 0.0, 0.0]", close: bool = False, held: bool = True
) -> Scene:
    return loads(
        f"""
name: welded
robot:
  bodies: [{{name: b, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.02, zz: 0.025}}}}}}]
  joints: [{{name: j, type: ball, parent: world, child: b}}]
constraints:
  - name: w
    kind: weld
    bodies: [b, world]
    origin_b: {{rpy_rad: {origin_rpy}}}
    held: {str(held).lower()}
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


@pytest.mark.parametrize(
    ("quaternion", "degrees"),
    [
        ([0.0, 1.0, 0.0, 0.0], 180),
        ([0.0, 0.0, 0.0, 1.0], 180),
        ([0.5, -0.5, 0.5, 0.5], 120),
        ([0.8, 0.6, 0.0, 0.0], 73),
    ],
)
def test_a_weld_switched_on_at_another_turn_is_refused_and_nothing_moves(quaternion, degrees):
    sim = hs.Simulation(welded(quaternion, held=False))
    sim.switch("w", True)
    sim.step()
    (event,) = sim.events
    assert event.kind == Event.REFUSED and sim.held["w"] == Mode.FREE
    assert np.degrees(event.value) == pytest.approx(degrees, abs=1.0)
    np.testing.assert_allclose(sim.state.q, quaternion, atol=1e-15)
    assert not sim.state.u.any() and sim.state.fault == Fault.NONE


@pytest.mark.parametrize("turn", [0.0, 0.01, 0.045])
@pytest.mark.parametrize("axis", range(3))
def test_a_weld_switched_on_near_0_is_closed(turn, axis):
    quaternion = [math.cos(0.5 * turn), 0.0, 0.0, 0.0]
    quaternion[1 + axis] = math.sin(0.5 * turn)
    sim = hs.Simulation(welded(quaternion, held=False))
    sim.switch("w", True)
    sim.step()
    assert sim.held["w"] == Mode.HELD
    np.testing.assert_allclose(sim.state.q, [1.0, 0.0, 0.0, 0.0], atol=1e-9)


def test_a_weld_that_starts_at_0_holds():
    sim = hs.Simulation(welded([1.0, 0.0, 0.0, 0.0]))
    sim.step(100)
    np.testing.assert_allclose(sim.state.q, [1.0, 0.0, 0.0, 0.0], atol=1e-12)


def test_a_weld_that_holds_is_not_put_at_another_turn():
    sim = hs.Simulation(welded([1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(ConfigError, match="set_state: q turns the frames of 'w' by 180 degrees"):
        sim.set_state(np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(3))
    assert sim.state.q.tolist() == [1.0, 0.0, 0.0, 0.0]
    sim.switch("w", False)
    sim.step()
    sim.set_state(np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(3))


SPECIAL = [np.zeros(3), *(math.pi * np.eye(3)), *(2.0 * math.pi / 3.0 / math.sqrt(3.0) * np.array(w) for w in
           ([1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]))]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_a_weld_switched_on_anywhere_holds_at_0_or_nothing_has_moved(seed):
    """From near the turns at which its rows are closed, and from any other."""
    rng = np.random.default_rng(seed)
    turn = SPECIAL[rng.integers(len(SPECIAL))] + rng.normal(0.0, 10.0 ** rng.uniform(-4.0, 0.0), 3)
    angle = float(np.linalg.norm(turn))
    quaternion = [math.cos(0.5 * angle), *(math.sin(0.5 * angle) * turn / angle).tolist()]
    sim = hs.Simulation(welded(quaternion, held=False))
    sim.switch("w", True)
    sim.step()
    if sim.held["w"] == Mode.HELD:
        np.testing.assert_allclose(np.abs(sim.state.q), [1.0, 0.0, 0.0, 0.0], atol=1e-8)
    else:
        assert [event.kind for event in sim.events] == [Event.REFUSED]
        np.testing.assert_allclose(sim.state.q, quaternion, atol=1e-12)
