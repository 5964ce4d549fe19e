"""Redundant contact: a block on four corners, which rank three holds; resting, falling, pushed, rocking."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import NO_TICK, Event
from hapticsim.config.load import load
from hapticsim.kernels.events.inside import GAP_CAPTURE
from hapticsim.kernels.memory.arrays import Plan
from tests import naive, scenes
from tests.places import PUCK
from tests.watch import Watch

WEIGHT = 2.0 * 9.81
ENERGY_AT_REST = WEIGHT * 0.05
# A floor and two walls that meet at right angles, at x = 0.2 and y = 0.2.
ROOM = """{name: ground, kind: plane}
{name: east, kind: plane, origin: {xyz_m: [0.2, 0, 0], rpy_rad: [0, -1.5707963267948966, 0]}}
{name: north, kind: plane, origin: {xyz_m: [0, 0.2, 0], rpy_rad: [1.5707963267948966, 0, 0]}}"""
STOP = """{name: ground, kind: plane}
{name: stop, kind: box, half_extents_m: [0.02, 0.3, 0.01], origin: {xyz_m: [0.12, 0, 0]}}"""


def watch(scene) -> Watch:
    return Watch(hs.Simulation(scene))


def test_at_rest_four_corners_push_and_together_carry_the_weight():
    seen = watch(scenes.block()).take(300)
    forces = [c.force for c in seen.sim.state.contacts]
    assert len(forces) == 4
    np.testing.assert_allclose(forces, WEIGHT / 4, rtol=1e-12)
    assert seen.sim._state.rank[0] == 3
    assert seen.counts == {Event.TOUCH: 4, Event.SELECT: 1, Event.RANK: 1}
    assert seen.sim.state.q.tolist() == [0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0], "not a bit of it moves"


def test_a_load_off_the_middle_is_shared_by_the_corners_beneath_it():
    """The sum is the weight and the load; the moments about both axes vanish."""
    seen = watch(scenes.block(handle=(0.06, -0.03, 0.05))).take(200, lambda i: (0.0, 0.0, -12.0))
    contacts = seen.sim.state.contacts
    F = np.array([c.force for c in contacts])
    p = np.array([c.point for c in contacts])
    assert F.sum() == pytest.approx(WEIGHT + 12.0, rel=1e-12)
    np.testing.assert_allclose(F @ p[:, 0], 12.0 * 0.06, atol=1e-10)
    np.testing.assert_allclose(F @ p[:, 1], 12.0 * -0.03, atol=1e-10)
    assert F.min() >= 0.0


def test_a_load_outside_the_least_norm_share_is_still_carried_by_pushing():
    """Near a corner the least-norm forces would pull at the opposite one though three others can carry it."""
    seen = watch(scenes.block(handle=(0.095, 0.075, 0.05))).take(200, lambda i: (0.0, 0.0, -40.0))
    assert len(seen.sim.state.contacts) == 4 and seen.counts[Event.LEAVE] == 0
    assert sum(c.force for c in seen.sim.state.contacts) == pytest.approx(WEIGHT + 40.0, rel=1e-10)
    assert np.abs(seen.sim.state.u).max() < 1e-12


def test_dropped_flat_it_stops_at_once_and_loses_what_it_fell():
    seen = watch(scenes.block(at=(0.0, 0.0, 0.15))).take(400)
    touches = [e for e in seen.events if e.kind is Event.TOUCH]
    assert len(touches) == 4 and {e.time for e in touches} == {touches[0].time}
    assert touches[0].time == pytest.approx(np.sqrt(2 * 0.1 / 9.81), abs=1e-9)
    assert sum(e.value for e in touches) == pytest.approx(WEIGHT * 0.1, rel=1e-8)
    assert sum(seen.sim.energy()) == pytest.approx(ENERGY_AT_REST, abs=1e-12)
    assert seen.deepest > -1e-12 and seen.rise < 1e-12 and np.abs(seen.sim.state.u).max() < 1e-12


def test_dropped_tilted_it_rocks_to_rest():
    """The bounces of a rocking block follow one another ever faster, and all fit into their ticks."""
    seen = watch(scenes.block(at=(0.0, 0.0, 0.25), rpy=(0.3, 0.2, 0.1))).take(2000)
    assert sum(seen.sim.energy()) == pytest.approx(ENERGY_AT_REST, abs=1e-9)
    assert len(seen.sim.state.contacts) == 4
    assert seen.deepest > -1e-9 and seen.rise < 1e-9 and seen.counts[Event.OVERFLOW] == 0


@pytest.mark.parametrize("allowed", [1, 2, 4])
def test_chatter_beyond_what_a_tick_allows_is_captured_as_resting_and_told(allowed):
    sim = hs.Simulation(scenes.block(at=(0.0, 0.0, 0.25), rpy=(0.3, 0.2, 0.1)))
    sim.plan = Plan(**{**dict(sim.plan.items()), "max_events": allowed, "steps": NO_TICK})
    seen = Watch(sim).take(2000)
    overflows = [e for e in seen.events if e.kind is Event.OVERFLOW]
    assert overflows and all(e.value == allowed for e in overflows)
    assert sum(seen.sim.energy()) == pytest.approx(ENERGY_AT_REST, abs=1e-9)
    assert len(seen.sim.state.contacts) == 4 and seen.rise < 1e-9


def test_a_free_body_that_runs_out_of_events_goes_on_in_a_time_step():
    sim = hs.Simulation(scenes.block(at=(0.0, 0.0, 0.25), rpy=(0.3, 0.2, 0.1)))
    sim.plan = Plan(**{**dict(sim.plan.items()), "max_events": 2})
    seen = Watch(sim).take(2000)
    assert seen.counts[Event.STEPPED] > 0 and seen.counts[Event.HALTED] == 0
    assert sum(seen.sim.energy()) == pytest.approx(ENERGY_AT_REST, abs=WEIGHT * GAP_CAPTURE)
    assert len(seen.sim.state.contacts) == 4 and seen.rise < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_thrown_into_a_corner_of_a_room_it_comes_to_terms_with_floor_and_walls(seed):
    rng = np.random.default_rng(seed)
    rpy, velocity = rng.uniform(-1, 1, (2, 3)).tolist()
    spin = rng.uniform(-5, 5, 3).tolist()
    scene = scenes.block(
        others=ROOM, touching=("ground", "east", "north"),
        at=(-0.1, -0.1, 0.35), rpy=rpy, velocity=velocity, spin=spin,
    )  # fmt: skip
    seen = watch(scene).take(1000)
    assert seen.deepest > -1e-9 and seen.rise < 1e-7
    assert seen.busiest <= 48 and seen.counts[Event.OVERFLOW] <= 3
    assert len(seen.sim.state.contacts) >= 4, "it ends on a face"


def test_pushed_into_the_corner_of_a_room_twelve_corners_hold_it():
    """Rank six: nothing is left to move.  Every surface gives back what it is pushed with."""
    scene = scenes.block(others=ROOM, touching=("ground", "east", "north"))
    seen = watch(scene).take(900, lambda i: (2.0, 1.5, 0.0))
    assert len(seen.sim.state.contacts) == 12 and seen.sim._state.rank[0] == 6
    assert seen.forces == pytest.approx({"ground": WEIGHT, "east": 2.0, "north": 1.5}, rel=1e-10)
    assert not np.any(np.abs(seen.sim.state.u) > 1e-14) and seen.deepest > -1e-12


def test_pushed_at_height_against_a_stop_it_tilts_over_its_edge_and_falls_back():
    """F h = m g a is where it tilts: 6.77 N at 0.29 m over the stop's edge, for a half width of 0.10 m."""

    def push(i: int) -> tuple[float, float, float]:
        return min(0.05 * i, 8.0) if i < 200 else 0.0, 0.0, 0.0

    scene = scenes.block(
        half=(0.1, 0.08, 0.15), at=(0.0, 0.0, 0.15), handle=(0.0, 0.0, 0.15),
        others=STOP, touching=("ground", "stop"),
    )  # fmt: skip
    seen = watch(scene).take(600, push)
    tilt = min(round(1000 * e.time) for e in seen.events if e.kind is Event.LEAVE and e.contact in (0, 2))
    assert push(tilt - 1)[0] < WEIGHT * 0.1 / 0.29 < push(tilt)[0]
    back = min(e.time for e in seen.events if e.kind is Event.TOUCH and e.contact in (0, 2) and e.time > 0)
    assert back > 0.2, "it came back after it was let go"
    assert len(seen.sim.state.contacts) >= 4 and np.abs(seen.sim.state.u[:3]).max() < 1e-12
    assert seen.deepest > -1e-9


def test_sliding_and_spinning_flat_nothing_holds_it_back():
    seen = watch(scenes.block(velocity=(0.5, 0.2, 0.0), spin=(0.0, 0.0, 2.0))).take(1000)
    state = seen.sim.state
    np.testing.assert_allclose(state.q[:3], [0.5, 0.2, 0.05], atol=1e-12)
    np.testing.assert_allclose(naive.turned(state.q[3:]) @ state.u[3:], [0.5, 0.2, 0.0], atol=1e-12)
    assert state.u[2] == pytest.approx(2.0, abs=1e-13)
    assert seen.counts[Event.SELECT] <= 4 and seen.counts[Event.LEAVE] == 0


def test_the_puck_is_held_by_table_and_wall_at_once_and_goes_round_the_end_of_the_wall():
    seen = watch(load(PUCK)).take(800, lambda i: (1.0, 0.2, 0.0))
    assert seen.forces == pytest.approx({"table": 0.5 * 9.81, "wall": 1.0}, rel=1e-9)
    assert seen.sim.state.q[0] == pytest.approx(0.08, abs=1e-12)
    seen.take(700, lambda i: (1.0, 0.2, 0.0))
    assert seen.sim.state.q[0] > 0.15 and set(seen.forces) == {"table"}
    assert seen.deepest > -1e-9 and seen.counts[Event.OVERFLOW] == 0


def test_a_block_stands_flush_on_one_of_its_own_size():
    """Corners over corners: which face holds them is decided by where the block is, not by rounding."""
    pedestal = "{name: pedestal, kind: box, half_extents_m: [0.1, 0.08, 0.2], origin: {xyz_m: [0, 0, -0.2]}}"
    seen = watch(scenes.block(others=pedestal, touching=("pedestal",))).take(300)
    assert sum(seen.forces.values()) == pytest.approx(WEIGHT, rel=1e-10)
    np.testing.assert_allclose(seen.sim.state.q[:3], [0.0, 0.0, 0.05], atol=1e-13)


def test_a_capsule_lies_down_on_both_ends():
    scene = scenes.block(
        shape="kind: capsule, radius_m: 0.05, length_m: 0.3", at=(0.0, 0.0, 0.4), rpy=(0.7, 0.3, 0.0)
    )
    seen = watch(scene).take(1000)
    assert len(seen.sim.state.contacts) == 2
    assert seen.forces == pytest.approx({"ground": WEIGHT}, rel=1e-3)  # it rolls, slowly
    assert seen.deepest > -1e-9 and seen.rise < 1e-10
