"""Speeds chosen again while pressed on the table: nobody feels it, and it is rare."""

from __future__ import annotations

import numpy as np

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.kernels.geometry import contact
from tests.kernel_access import INT, PLAN, STATE, WORKSPACE, compiled
from tests.places import WAM

POINT = np.array([-0.045, -0.35, 0.0])  # of the fingertip's centre in the forearm

contact_row = compiled(contact.contact_row, PLAN, STATE, INT, INT, WORKSPACE)


def row(sim: hs.Simulation) -> np.ndarray:
    """The contact's row at the present state, columns scaled by the inertia of the speeds."""
    ws, eq = sim.assembly.new_workspace(), sim.assembly.equations
    eq.kernels.kinematics(sim.state.q, sim.state.u, np.zeros(4), ws.X, ws.V, ws.vel, ws.acc)
    contact_row(sim.plan, sim._state, 0, 0, ws)
    return ws.A[0] / np.sqrt(np.diag(eq.mass_matrix(sim.state.q)))


def pressed() -> hs.Simulation:
    sim = hs.Simulation(hs.load(WAM))
    sim.apply(force=np.array([0.0, 0.0, -5.0]))
    sim.step(600)
    assert sim.state.contacts
    return sim


def test_in_the_symmetric_pose_the_third_joint_is_never_dependent():
    """The upper arm's axis, the fingertip and the normal share a plane: its entry in the row vanishes."""
    sim = pressed()
    assert abs(row(sim)[2]) < 1e-4
    assert sim._state.order[0] != 2 and abs(row(sim)[sim._state.order[0]]) > 0.1


def sway(sim: hs.Simulation, start: int, ticks: int) -> tuple[list[float], list[int]]:
    """Turn the third joint to and fro by 1.2 rad, the fingertip drawn to one place and pressed down.

    Returns the third joint's entry in the row and the ticks in which speeds were chosen.
    """
    entries, chosen = [], []
    for tick in range(start, start + ticks):
        state, pose = sim.state, sim.body_pose("forearm")
        tip = pose.rotation @ POINT + pose.translation
        pull = 80.0 * (np.array([0.58, 0.0]) - tip[:2])
        turn = 8.0 * (1.2 * np.sin(2e-3 * tick) - state.q[2]) - state.u[2]
        sim.apply(force=np.array([*pull, -6.0]), torque=np.array([0.0, 0.0, turn, 0.0]))
        sim.step()
        now = row(sim)
        assert sim.state.contacts and sim.gaps[0] > -1e-9
        assert np.linalg.norm(now) < 5.0 * abs(now[sim._state.order[0]]), "badly conditioned"
        entries.append(float(now[2]))
        chosen += [tick for e in sim.events if e.kind is Event.SELECT]
    return entries, chosen


def test_a_good_choice_is_kept_through_a_whole_sway():
    entries, chosen = sway(pressed(), 0, 3200)
    assert min(entries) < -1.0 and max(entries) > 1.0
    assert chosen == []


def test_a_choice_that_turns_bad_is_changed_once_and_nobody_feels_it():
    """The third joint, a fine dependent speed at the end of its sway, is none where its entry vanishes."""
    sim = pressed()
    sway(sim, 0, 750)
    start = sim.fork()
    undisturbed, _ = sway(sim, 750, 1700)
    expected = np.concatenate([sim.state.q, sim.state.u])
    sim.restore(start)
    sim._state.order[:] = [2, 0, 1, 3]
    sim._state.volume[0] = abs(row(sim)[2])
    entries, chosen = sway(sim, 750, 1700)
    assert len(chosen) == 1 and min(entries) < -1.0 and max(entries) > 1.0
    np.testing.assert_allclose(entries, undisturbed, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.concatenate([sim.state.q, sim.state.u]), expected, rtol=0, atol=1e-10)


def test_the_state_does_not_depend_on_the_choice():
    """Every speed that the row sees may be the dependent one: a tick ends in the same state to rounding."""
    sim = pressed()
    sim.apply(torque=np.array([3.0, 0.0, 1.0, 0.0]))
    sim.step(200)
    start, ends = sim.fork(), []
    entries = np.abs(row(sim))
    seen = [k for k in range(4) if entries[k] > 0.02 * entries.max()]
    assert len(seen) >= 3
    for k in seen:
        sim.restore(start)
        sim._state.order[:] = [k, *(i for i in range(4) if i != k)]
        sim._state.volume[0] = entries[k]  # as if it had just been chosen: it is kept
        sim.step()
        assert sim._state.order[0] == k
        ends.append(np.concatenate([sim.state.q, sim.state.u]))
    assert np.ptp(ends, axis=0).max() < 1e-12


def test_a_bad_choice_is_noticed_at_once():
    sim = pressed()
    before = sim.state.q
    sim._state.order[:] = [2, 0, 1, 3]  # the row does not see it
    sim.step()
    (event,) = sim.events
    assert event.kind is Event.SELECT and event.value < 3.0
    assert sim._state.order[0] == np.argmax(np.abs(row(sim)))
    assert np.abs(sim.state.q - before).max() < 1e-3 and sim.gaps[0] > -1e-9
