"""Ticks of states that are no numbers, or far beyond all that moves: refused, and nothing is read out of
bounds."""

from __future__ import annotations

import numpy as np
import pytest
from pile_maker import make_pile
from scene_trial import loaded

import hapticsim as hs
from hapticsim.codes import Event
from tests.seeds import with_long

WRONG = [np.nan, np.inf, 1e200, 1e30, 1e9]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", with_long([2], [0, 1, *range(3, 12)]))
def test_a_state_that_is_no_number_is_refused(seed: int, exact: bool) -> None:
    """A pile of all kinds of shapes, one of them a mesh: the place on it of a sphere that is nowhere is none.

    A tick in which trial steps blew up read far before the first triangle, and crashed: one of 60 piles.
    """
    sim = hs.Simulation(loaded(make_pile(seed, 12, 3.0, exact)))
    sim.step(300)
    rng = np.random.default_rng(seed)
    q, u = sim._state.q, sim._state.u
    for _ in range(30):
        kept_q, kept_u = q.copy(), u.copy()
        wrong, array = rng.choice(WRONG), (u, u, q, q)[which := rng.integers(4)]
        if which % 2:
            array[:] = wrong * rng.normal(size=array.size)
        else:
            array[rng.integers(array.size)] = wrong
        sim.step()
        told = [event.kind for event in sim.events]
        assert Event.NOT_FINITE in told or (np.isfinite(q).all() and np.isfinite(u).all())
        q[:], u[:] = kept_q, kept_u
        sim.step(3)
        assert np.isfinite(q).all()
        assert np.isfinite(u).all()
