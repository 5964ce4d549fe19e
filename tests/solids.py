"""What holds of round solids: beside a box, where they move as a mesh with their sides; and on a floor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hapticsim.assemble.initial_check import place_of
from hapticsim.assemble.overlap import overlap_of
from hapticsim.codes import Event
from hapticsim.model.scene import Scene
from hapticsim.simulate.simulation import Simulation
from tests.watch import Watch

DEPTH_m = 1e-5  # into the other solid, at most
NEVER = {Event.THROUGH, Event.ENERGY, Event.NOT_FINITE}


def end_of_two_that_touch(scene: Scene, ticks: int, looks: int = 10) -> np.ndarray:
    """Take ticks of a scene of two shapes, which touch, stay apart and gain no energy; return q and u."""
    sim, (a, b) = Simulation(scene), scene.shapes
    seen = Watch(sim)
    for _ in range(ticks // looks):
        seen.take(looks)
        q = sim.state.q
        depth = overlap_of(a, place_of(sim.assembly, a, q), b, place_of(sim.assembly, b, q))
        assert depth is not None and depth < DEPTH_m
    assert seen.counts[Event.TOUCH] > 0 and seen.rise < 1e-6
    return np.concatenate([sim.state.q, sim.state.u])


def check_fall(
    sim: Simulation, lowest: Callable[[Simulation], float], scale: float, sinks: float, ticks: int = 1000
) -> None:
    """Take ticks: energy rises by no millionth of ``scale`` [J], nothing passes or is refused.

    lowest : gives the height of the lowest point by plain geometry [m], which stays above ``-sinks``.
    """
    for _ in range(ticks):
        before = sum(sim.energy())
        sim.step()
        assert sum(sim.energy()) < before + 1e-6 * scale
        assert not {event.kind for event in sim.events} & NEVER
        assert lowest(sim) > -sinks
    assert all(contact.force >= 0.0 for contact in sim.state.contacts)
