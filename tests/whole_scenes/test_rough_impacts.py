"""What strikes and rubs: impulses are found at the instant, in the cone, and never give energy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from tests.rubbing import BOX, HALF, SCENE, G, part, velocity_of
from tests.seeds import seeds

ROD_HALF = 0.3
ROD = f"kind: capsule, radius_m: 0.005, length_m: {2.0 * ROD_HALF}"
SHAPES = {
    "box": (BOX, 1.5e-3, [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]),
    "rod": (ROD, ROD_HALF**2 / 3.0, [(0, 0, -1), (0, 0, 1)]),
}
EXTENT = {"box": np.array(HALF), "rod": np.array([0.0, 0.0, ROD_HALF])}
BALL_RADIUS = {"box": 0.0, "rod": 0.005}
RUNS = 40  # impacts of one simulation


def thing(shape: str, friction: float, restitution: float) -> hs.Simulation:
    kind, inertia, _ = SHAPES[shape]
    text = SCENE.format(
        friction=f"{friction}, restitution: {restitution}",
        shape=kind,
        regime="exact",
        mass=1.0,
        inertia=inertia,
        height=1.0,
        down=0.0,
        into=-G,
    )
    return hs.Simulation(loads(text, "<test>"))


def about_to_strike(sim: hs.Simulation, shape: str, rng: np.random.Generator) -> None:
    """Put it over the floor, turned and moving at random, its lowest point 0.1 mm up and coming down."""
    turned = Rotation.random(random_state=rng)
    corners = turned.apply(np.array(SHAPES[shape][2]) * EXTENT[shape])
    lowest = corners[np.argmin(corners[:, 2])]
    turning = rng.normal(size=3) * rng.choice([0.0, 3.0, 30.0])
    velocity = np.array([*(rng.normal(size=2) * rng.choice([0.0, 1.0, 5.0])), 0.0])
    velocity[2] = -rng.uniform(0.3, 3.0) - np.cross(turning, lowest)[2]  # that point comes down
    x, y, z, w = turned.as_quat()
    height = -lowest[2] + BALL_RADIUS[shape] + 1e-4 - 1.0
    q = np.array([0.0, 0.0, height, w, x, y, z])
    sim.set_state(q, np.concatenate([turned.inv().apply(turning), turned.inv().apply(velocity)]))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", seeds(4, 100))
def test_impulses_of_random_impacts_are_in_the_cone_and_give_no_energy(shape: str, seed: int):
    """All that the floor does in the tick is a sum of vectors in the cone: so it is in the cone itself."""
    rng = np.random.default_rng(seed)
    friction, e = float(rng.choice([0.05, 0.3, 1.0, 2.0])), float(rng.choice([0.0, 0.5, 0.9, 1.0]))
    sim, steps, struck = thing(shape, friction, e), 0, 0
    for _ in range(RUNS):
        about_to_strike(sim, shape, rng)
        before, energy = velocity_of(sim), sum(sim.energy())
        sim.step()
        push = velocity_of(sim) - before + np.array([0.0, 0.0, 1e-3 * G])
        kinds = {event.kind for event in sim.events}
        if not kinds:  # it turned away
            continue
        struck += 1
        turns = 1e-3 * float(np.linalg.norm(sim.state.u[:3]))  # [rad] in the tick
        off = (1e-6 + 0.01 * turns**4) * max(1.0, float(np.linalg.norm(before)))  # of a free motion, too
        assert math.hypot(push[0], push[1]) <= friction * push[2] + off
        assert sum(sim.energy()) <= energy + 1e-9 * max(1.0, energy)
        steps += Event.STEPPED in kinds
    assert struck > RUNS // 2 and steps <= struck // 4


def test_restitution_beside_friction_gives_no_energy_where_newtons_law_would():
    """A rod that comes down on an end which slides: friction turns it against its slip, and throwing the end
    back with 0.9 of its speed would take more energy than there was (Kane 1984)."""
    kept = 0
    rng = np.random.default_rng(7)
    sim = thing("rod", 1.0, 0.9)
    for _ in range(300):
        about_to_strike(sim, "rod", rng)
        energy = sum(sim.energy())
        sim.step()
        gain = (sum(sim.energy()) - energy) / energy
        assert gain <= 1e-9
        kept += gain > -1e-9
    assert 0 < kept < 150  # as much is thrown back as there is energy for


def test_what_slides_at_rest_sticks_again():
    """Pulled to nearly where it slides, corners with little weight are on the border of their cones; let go,
    no friction is left, and nothing is told of it tick after tick."""
    sim = part(0.4, regime="exact")
    sim.step(5)
    sim.apply(torque=np.array([0.0, 0.0, 0.0, 0.39 * G, 0.0, 0.0]))
    sim.step(5)
    border = [abs(c.friction[0]) >= 0.4 * c.force - 1e-9 for c in sim.state.contacts if c.force > 0.0]
    assert any(border) and not all(border)
    sim.step()
    assert not sim.events
    sim.apply(torque=np.zeros(6))
    sim.step(3)
    assert max(np.abs(contact.friction).max() for contact in sim.state.contacts) < 1e-9
    np.testing.assert_allclose(sim.state.q, sim.scene.q0, atol=1e-14)
