"""A limb that is thrown touches the floor and itself: nothing is entered, energy falls, no tick refused."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault
from hapticsim.simulate.fork import Fork
from tests.config.test_contact_pairs import scene
from tests.watch import Watch

REFUSED = (30, 251)  # once: closing a gap of 0.1 um gave a shin that spins at 100 rad/s 0.1 mJ


def throw(sim: hs.Simulation, start: Fork, seed: int) -> None:
    """Put the limb anywhere over the floor, its joints turning at up to 60 rad/s."""
    rng = np.random.default_rng(seed)
    sim.restore(start)
    q, u = sim.state.q.copy(), rng.normal(size=sim.state.u.size)
    turned = rng.normal(size=4)
    q[2], q[3:7] = rng.uniform(0.0, 0.3), turned / np.linalg.norm(turned)
    u[6:] *= rng.choice([3, 8, 15, 25])
    q[7:] = rng.uniform(-1.0, 1.0, q.size - 7)
    sim.set_state(q, u)


def test_a_thrown_limb_enters_nothing_and_only_loses_energy():
    sim = hs.Simulation(scene('[{between: ["*", "*"]}]'))
    start, met = sim.fork(), 0
    for seed in (*REFUSED, *range(12)):
        throw(sim, start, seed)
        energy = sum(sim.energy())
        seen = Watch(sim).take(1200)
        assert seen.deepest > -1e-6 and seen.rise < 1e-6 * max(energy, 100.0), seed
        assert sim.state.fault == Fault.NONE, seed
        met += sum("floor" not in e.subject for e in seen.events if e.kind == Event.TOUCH)
    assert met > 10, "limbs must meet limbs"


@pytest.mark.parametrize("seed", REFUSED)
def test_a_contact_that_is_held_as_it_is_is_held_near_its_surface(seed: int):
    sim = hs.Simulation(scene('[{between: ["*", "*"]}]'))
    throw(sim, sim.fork(), seed)
    farthest = 0.0
    for _ in range(1200):
        sim.step()
        farthest = max(farthest, float(np.abs(sim._state.depth).max()))
    assert 1e-9 < farthest < 1e-6
