"""A whole scene against its plain twin: textbook equations, full system, an adaptive integrator at 1e-12."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.codes import Event
from tests import naive, scenes

ARM = naive.PlanarArm()


@dataclass
class Reference:
    """Ends of all phases of a fall onto the floor under a constant force at the tip."""

    q: np.ndarray
    u: np.ndarray
    events: list[tuple[Event, float, float]]  # kind, time [s], energy lost [J]


def reference(q0, u0, force: np.ndarray, seconds: float) -> Reference:
    """Integrate phase by phase: free until the gap closes, in contact until the force is zero."""
    x, t, touching = np.array([*q0, *u0]), 0.0, False
    events = []
    while True:

        def rate(_t, x, touching=touching):
            return np.append(x[2:], ARM.motion(x[:2], x[2:], force, touching)[0])

        def ending(_t, x, touching=touching):
            return ARM.motion(x[:2], x[2:], force, True)[1] if touching else ARM.gap(x[:2])

        ending.terminal, ending.direction = True, -1
        phase = solve_ivp(rate, (t, seconds), x, "DOP853", rtol=1e-12, atol=1e-13, events=ending)
        x, t = phase.y[:, -1], phase.t[-1]
        if phase.status == 0:
            return Reference(x[:2], x[2:], events)
        touching = not touching
        if touching:
            after, lost = naive.plastic_impact(ARM.mass_matrix(x[:2]), ARM.jacobian(x[:2])[1:], x[2:])
            x = np.append(x[:2], after)
            events.append((Event.TOUCH, t, lost))
        else:
            events.append((Event.LEAVE, t, 0.0))


CASES = {
    "falls and slides": ((-0.2, -0.6), (0.0, 0.0), (0.0, -3.0), 0.25),
    "is driven onto the floor and along it": ((-0.2, -0.6), (-1.0, 2.0), (2.0, -6.0), 0.25),
    "is thrown off": ((-0.2, -0.6), (-1.0, -2.0), (0.0, 2.0), 0.20),
    "slides off and touches again": ((0.1, -1.2), (-1.0, -2.0), (0.0, -3.0), 0.30),
}


@pytest.mark.parametrize("name", CASES)
def test_states_and_events_are_those_of_the_reference(name):
    q0, u0, (x, z), seconds = CASES[name]
    expected = reference(q0, u0, np.array([x, z]), seconds)
    sim = hs.Simulation(scenes.arm(q0, u0))
    sim.apply(force=np.array([x, 0.0, z]))
    events = []
    for _ in range(round(1000 * seconds)):
        sim.step()
        events += [(e.kind, e.time, e.value) for e in sim.events if e.kind is not Event.SELECT]
    assert [e[0] for e in events] == [e[0] for e in expected.events]
    assert any(kind is Event.TOUCH for kind, _, _ in events)
    for ours, theirs in zip(events, expected.events, strict=True):
        assert ours[1] == pytest.approx(theirs[1], abs=1e-7 if ours[0] is Event.LEAVE else 1e-8)
        assert ours[2] == pytest.approx(theirs[2], abs=1e-9)
    np.testing.assert_allclose(sim.state.q, expected.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sim.state.u, expected.u, rtol=0, atol=1e-8)


def test_the_reference_knows_its_own_arm():
    """The twin's energy is kept in free fall; an error in its equations would show here."""

    def energy(q, u):
        com1 = 0.5 * ARM.l1 * np.sin(q[0])
        com2 = ARM.l1 * np.sin(q[0]) + 0.5 * ARM.l2 * np.sin(q[0] + q[1])
        height = ARM.m1 * com1 + ARM.m2 * com2
        return 0.5 * u @ ARM.mass_matrix(q) @ u + ARM.gravity * height

    start = np.array([0.3, -0.5, 1.0, -2.0])

    def rate(_t, x):
        return np.append(x[2:], ARM.motion(x[:2], x[2:], np.zeros(2), False)[0])

    end = solve_ivp(rate, (0.0, 1.0), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    assert energy(end[:2], end[2:]) == pytest.approx(energy(start[:2], start[2:]), abs=1e-10)
