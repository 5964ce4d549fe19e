"""Terms of the equations of motion go over from one tick to the next, and only to the place they are of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.kernels.motion.integrate import project_one
from tests.kernel_access import PLAN, STATE, WORKSPACE, compiled

WAM = Path(__file__).parents[2] / "configs" / "wam_table.yaml"
DOWN_N = np.array([1.0, 0.5, -5.0])

close_row = compiled(project_one, PLAN, STATE, WORKSPACE)


def pressed() -> hs.Simulation:
    """The arm that slides over the table under a force."""
    sim = hs.Simulation(hs.load(WAM))
    sim.apply(force=DOWN_N)
    while not sim.state.contacts:
        sim.step(10)
    sim.step(50)
    return sim


def bits(sim: hs.Simulation) -> bytes:
    return sim._state.words.tobytes()


def test_a_tick_that_takes_over_terms_has_the_bits_of_one_that_does_not():
    kept, anew = pressed(), pressed()
    assert bits(kept) == bits(anew)
    for tick in range(300):
        kept.step()
        assert kept._workspace.known_terms[0] == 1, tick
        anew._workspace.known_terms[0] = 0
        anew.step()
        assert bits(kept) == bits(anew), tick


@pytest.mark.parametrize("moved", ["q", "u"])
def test_terms_of_another_place_are_not_taken_over(moved):
    kept, anew = pressed(), pressed()
    for tick in range(50):
        for sim in (kept, anew):
            sim.step()
            getattr(sim._state, moved)[tick % 4] += 1e-9  # somebody sets another state between two ticks
        anew._workspace.known_terms[0] = 0
        assert kept._workspace.known_terms[0] == 1
    kept.step()
    anew.step()
    assert bits(kept) == bits(anew)


def test_a_look_between_ticks_leaves_the_next_one_its_bits():
    looked, plain = pressed(), pressed()
    for _ in range(50):
        _ = looked.state
        looked.step()
        plain.step()
    assert bits(looked) == bits(plain)


@pytest.mark.parametrize("seed", range(20))
def test_one_row_is_closed_by_the_least_change_in_kinetic_energy(seed):
    random, sim = np.random.default_rng(seed), pressed()
    _ = sim.state  # a stage is evaluated at the state
    ws, plan, state = sim._workspace, sim.plan, sim._state
    M, a = np.array(ws.M), np.array(ws.A[0])
    gap, rate = random.uniform(-1e-5, 1e-5), random.uniform(-1e-3, 1e-3)
    q, u = ws.q0.copy(), ws.u0.copy()
    u += rate * a / (a @ a)
    ws.u0[:], ws.phi[0], ws.b[0] = u, gap, 0.0
    rate = float(a @ u)
    close_row(plan, state, ws)
    unit = np.linalg.solve(M, a) / (a @ np.linalg.solve(M, a))
    np.testing.assert_allclose(ws.q0, q - gap * unit, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ws.u0, u - rate * unit, rtol=0, atol=1e-13)
    assert abs(a @ ws.u0) < 1e-15 * np.abs(a * u).sum() * 10


def test_a_constraint_that_is_too_far_off_stays_where_it_is():
    sim = pressed()
    _ = sim.state
    ws = sim._workspace
    q = ws.q0.copy()
    ws.phi[0] = 2e-3
    close_row(sim.plan, sim._state, ws)
    assert not np.array_equal(ws.q0, q)  # a contact is closed
    ws.q0[:], ws.counts[0] = q, 1  # a constraint
    close_row(sim.plan, sim._state, ws)
    np.testing.assert_array_equal(ws.q0, q)
