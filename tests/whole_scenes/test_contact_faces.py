"""A corner keeps its face; what is found deeper is held there; what nothing holds passes and is told."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import NO_TICK, Event, Fault, Safety
from hapticsim.config.load import loads
from hapticsim.describe.events import event_words
from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import DeviceLimits
from tests import scenes
from tests.places import PUCK
from tests.watch import Watch
from tests.whole_scenes.test_many_contacts import balls
from tools import random_starts

TABLE = "{name: table, kind: box, half_extents_m: [0.3, 0.3, 0.05], origin: {xyz_m: [0, 0, -0.05]}}"
STARTS = {"puck_over_wall": 60, "box_on_edge": 60, "cube_on_cube": 60, "dominoes": 30, "thrown": 60}
FEW = [(name, starts // 12) for name, starts in STARTS.items()]


@pytest.mark.parametrize(
    ("name", "starts"), [*FEW, *(pytest.param(*item, marks=pytest.mark.long) for item in STARTS.items())]
)
def test_from_random_starts_no_energy_comes_from_nowhere_and_nothing_flies(name, starts):
    """Of the code before, one start of twenty or more gained energy, to 1e100 J."""
    for found in random_starts.trials(name, starts, 0):
        assert found.gains == found.flights == 0, (found.seeds, found.worst)
    assert found.starts == starts and found.told <= starts // 5
    assert found.through == 0, "nothing comes in, over no edge"


def test_a_puck_that_overhangs_a_wall_tips_over_its_edge_and_nothing_pushes_it_sideways():
    """Two corners are on the wall's top, 3 mm from its side: once this side held them."""
    sim = hs.Simulation(hs.load(PUCK))
    sim.set_state(np.array([0.197, 0.0, 0.12, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    for _ in range(20):
        sim.step()
        for contact in sim.state.contacts:
            assert contact.normal[2] > 0.999 and contact.point[0] == pytest.approx(0.16, abs=1e-6)
        assert sim.gaps[sim._state.mode == 1] == pytest.approx(0.0, abs=1e-9)
    assert len(sim.state.contacts) == 2 and sim.state.u[1] > 0.5


def test_a_puck_that_falls_flat_across_a_wall_comes_to_lie_on_its_edges():
    """A corner of the wall came into it over an edge, once, and others were found 66 um deep."""
    sim = hs.Simulation(hs.load(PUCK))
    sim.set_state(*random_starts.puck_over_wall(np.random.default_rng(404)))
    seen = Watch(sim).take(2000)
    assert not seen.counts[Event.THROUGH] and sim.state.fault == 0
    assert seen.rise < 1e-7 and seen.deepest > -1e-8


@pytest.mark.parametrize(("name", "start"), [("hand_over_wall", 518), ("dominoes", 404)])
def test_nothing_is_lifted_out_of_the_depth_where_it_is_found(name, start):
    """A hand tips the puck over the wall; dominoes rock through more events than a tick looks at.

    Before, a corner that the hand bore was put onto its surface for 5e-8 J that a touch lost, and lifting it
    took 8e-6 J: a refused tick.  A corner held once before was lifted from deeper to there: 2e-7 J.
    """
    (found,) = list(random_starts.trials(name, 1, start))[-1:]
    assert found.flights == found.gains == found.told == 0  # a start that is refused is told


@pytest.mark.parametrize("start", [54, 57, 78, 369, 924, 947, 975])
def test_closing_the_gaps_of_nearly_dependent_contacts_gives_no_energy(start):
    """Dominoes rest on one another by up to 32 corners and edges, of which some nearly depend on others.

    Before, to close a gap of 1e-10 to 1e-5 m moved them so far that they gained up to 3e-6 of the scale, or
    had a tick refused.
    """
    found = list(random_starts.trials("dominoes", 1, start))[-1]
    assert found.flights == found.gains == found.told == 0
    assert found.worst < 1e-7


def sunk(depth: float) -> hs.Simulation:
    """A block on a table, this much inside it."""
    sim = hs.Simulation(scenes.block(others=TABLE, touching=("table",)))
    sim.set_state(np.array([0.0, 0.0, 0.05 - depth, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    return sim


@pytest.mark.parametrize("depth", [1e-8, 1e-6, 1e-4, 9e-4])
def test_what_is_found_deeper_is_held_there_and_never_thrown_out(depth):
    seen = Watch(sunk(depth)).take(200)
    assert seen.rise < 1e-12
    assert seen.sim.state.q[2] == pytest.approx(0.05 - depth, abs=1e-10)
    assert len(seen.sim.state.contacts) == 4
    assert sum(c.force for c in seen.sim.state.contacts) == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert seen.sim.gaps.min() == pytest.approx(-depth, abs=1e-10), "and that is told"


def test_what_was_held_deeper_is_held_by_the_surface_once_it_was_outside():
    sim = sunk(5e-4)
    sim.step(10)
    lift = (0.0, 0.0, 3.0 * 9.81)
    seen = Watch(sim).take(60, lambda i: lift).take(200, lambda i: (0.0, 0.0, 0.0))
    assert sim.state.q[2] == pytest.approx(0.05, abs=1e-9) and len(sim.state.contacts) == 4
    assert seen.counts[Event.THROUGH] == 0


def test_a_state_that_puts_a_shape_into_another_is_refused_and_changes_nothing():
    sim = hs.Simulation(hs.load(PUCK))
    sim.step(10)
    before = sim.state
    with pytest.raises(
        ConfigError, match=r"q puts 'puck_box' 40 mm into 'wall': start with at most 1 mm; move the robot, or"
    ):
        sim.set_state(np.array([0.1, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0]), np.ones(6))
    after = sim.state
    assert np.array_equal(before.q, after.q) and np.array_equal(before.u, after.u)
    assert len(after.contacts) == 4


@pytest.mark.parametrize(
    ("other", "at", "depth"),
    [
        ("half_extents_m: [0.1, 0.08, 0.05]", (0.0, 0.0, 0.0), "100 mm"),  # the same box at the same place
        ("half_extents_m: [0.3, 0.02, 0.02]", (0.0, 0.0, 0.0), "70 mm"),  # crossed: no corner is in the other
        ("half_extents_m: [0.3, 0.02, 0.02]", (0.0, 0.0, 0.045), "25 mm"),
    ],
)
def test_a_box_inside_another_is_refused_where_its_corners_do_not_tell(other, at, depth):
    crossed = scenes.block(at=at, others=f"{{name: beam, kind: box, {other}}}", touching=("beam",))
    with pytest.raises(ConfigError, match=rf"initial puts '\w+' {depth} into '\w+': start with"):
        hs.Simulation(crossed)
    beside = scenes.block(at=(0.0, 0.0, 0.3), others=TABLE, touching=("table",))
    sim = hs.Simulation(beside)
    with pytest.raises(ConfigError, match=r"q puts"):
        sim.set_state(np.array([0.0, 0.0, -0.05, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))


def test_what_passes_through_is_told_in_a_sentence():
    sentence = event_words(Event.THROUGH, "block on post", 0.0021)
    assert sentence == "block on post: 2.1 mm inside, held by nothing, and passes through"


ROLLING = """
name: rolls
robot:
  bodies: [{name: b, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.004, yy: 0.004, zz: 0.004}}}]
  joints: [{name: j, type: free, parent: world, child: b}]
initial: {free: {j: {xyz_m: [0, 0, 0.1]}}}
constraints:
  - {name: roll, kind: rolling, bodies: [b, world], radius_m: 0.1}
"""
KEPT = "  - {name: floor, kind: plane, bodies: [b, world], point_b_m: [0, 0, 0.1]}\n"


def test_a_ball_that_rolls_on_nothing_is_told_what_it_needs():
    assert loads(ROLLING).notes == (
        "constraint 'roll' keeps 'b' from slipping, and not on its plane: unless joints do that, it sinks or "
        "lifts; add a contact, or a constraint of kind 'plane', between 'b' and 'world'.",
    )
    assert loads(ROLLING + KEPT).notes == ()


def test_more_contacts_than_rows_are_told_at_load_by_an_event_and_by_a_fault():
    scene = balls([0.05 + 1e-4 * (i % 7) for i in range(40)])
    assert (
        "contacts may ask for 40 rows at once, and 32 can be imposed: a tick with more becomes a time step, "
        "with an event; 'max_rows' allows more, and with 'contact_regime: time_stepping' every tick is one."
    ) in scene.notes
    assert not balls([0.05] * 32).notes
    sim = hs.Simulation(scene)
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "steps": NO_TICK})  # as with constraints
    sim.couple(DeviceLimits(12.0, 14500.0, 10.0, 0.2))
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    told = 0
    for _ in range(110):
        sim.step()
        told += sum(int(e.value) for e in sim.events if e.kind is Event.ROWS_FULL)
    assert told == 8 and int(sim._state.mode.sum()) == 32
    assert sim.state.safety is Safety.FAULT and sim.state.fault & Fault.ROWS_FULL
    sim.arm()
    sim.step(5)
    assert sim.state.safety is Safety.FAULT, "as long as one is left out"
