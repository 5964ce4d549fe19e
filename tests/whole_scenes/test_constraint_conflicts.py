"""Constraints that cannot all hold, found while they hold: named, let go, and no force on the hand."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Mode
from hapticsim.config.load import loads
from tests.four_bar import FOUR_BAR

ARM = """
name: two rods
robot:
  bodies:
    - name: upper
      inertial: {mass_kg: 1, com_m: [0.1, 0, 0], inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}
    - name: lower
      inertial: {mass_kg: 1, com_m: [0.1, 0, 0], inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}
  joints:
    - {name: shoulder, type: revolute, parent: world, child: upper, axis: [0, 1, 0]}
    - name: elbow
      type: revolute
      parent: upper
      child: lower
      axis: [0, 1, 0]
      origin: {xyz_m: [0.2, 0, 0]}
constraints:
"""
LOCK = "  - {name: lock, kind: lock, joints: [shoulder]}\n"


def drive(**words: float) -> str:
    return "  - {name: drive, kind: motion, joint: shoulder, " + str(words)[1:].replace("'", "") + "\n"


@pytest.mark.parametrize(
    ("words", "latest"),
    [
        (dict(speed_per_s=1.0), 0),
        (dict(amplitude=0.2, angular_frequency_rad_per_s=5.0, phase_rad=0.5 * np.pi), 20),
        (dict(amplitude=1e-3, angular_frequency_rad_per_s=1.0), 120),
    ],
)
def test_a_drive_against_a_lock_is_let_go_when_they_part(words, latest):
    """Both hold at the start, whatever their rates are then; nobody switches anything."""
    sim = hs.Simulation(loads(ARM + LOCK + drive(**words)))
    events = []
    for _ in range(latest + 1):
        sim.step()
        events += [e for e in sim.events if e.kind in (Event.CONFLICT, Event.SWITCH)]
    told = [(e.kind, e.contact, e.value) for e in events]
    conflict = [(Event.CONFLICT, c, pytest.approx(0.5)) for c in (0, 1)]
    assert told == [*conflict, (Event.SWITCH, 1, Mode.FREE)]
    assert sim.held == {"lock": Mode.HELD, "drive": Mode.FREE}
    assert Fault.INCONSISTENT in sim.state.fault
    sim.step(300)
    assert sim.state.q[0] == pytest.approx(0.0, abs=1e-12)
    assert not any(e.kind is Event.CONFLICT for e in sim.events)


def test_a_guide_at_the_end_of_reach_is_let_go_and_not_followed_into_infinity():
    """At full stretch the rows vanish, off it the motion they ask for has no bound."""
    rail = "name: rail, kind: line, bodies: [lower, world], direction_b: [0, 0, 1], point_a_m: [0.2, 0, 0]"
    sim = hs.Simulation(loads(f"{ARM}  - {{{rail}, point_b_m: [0.4, 0, 0]}}\n"))
    for _ in range(200):
        sim.step()
        assert np.abs(sim.state.q).max() < 10.0
    assert sim.held == {"rail": Mode.FREE}
    assert sim.state.fault != Fault.NONE
    assert np.abs(sim.state.u).max() < 50.0  # it falls, as it would without a rail


def test_what_was_asked_for_after_a_fork_is_forgotten_when_it_is_restored():
    sim = hs.Simulation(loads(FOUR_BAR))
    sim.step(3)
    fork = sim.fork()
    sim.switch("loop", False)
    sim.step(5)
    assert sim.held["loop"] == Mode.FREE
    sim.restore(fork)
    sim.step(5)
    assert sim.held["loop"] == Mode.HELD
    sim.switch("loop", False)
    sim.step()
    assert sim.held["loop"] == Mode.FREE
