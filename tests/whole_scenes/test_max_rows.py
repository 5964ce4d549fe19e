"""``max_rows``: how many rows of contacts and constraints a scene lets hold at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import NO_TICK, Event, Fault
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from tests.watch import Watch
from tests.whole_scenes.test_constraint_switching import welded
from tests.whole_scenes.test_many_contacts import balls

HEIGHTS = [0.05 + 1e-4 * (i % 7) for i in range(40)]


def stack(cubes: int, max_rows: int) -> hs.Scene:
    """Cubes of 40 mm that slide up and down, one on the other, on the floor: four corners each."""
    names = [f"c{i}" for i in range(cubes)]
    below = ["floor", *names]
    lines = ["name: stack", f"max_rows: {max_rows}", "robot:", "  bodies:"]
    lines += [
        f"    - {{name: {name}, inertial: {{mass_kg: 0.3, inertia_kg_m2: {{xx: 1e-4, yy: 1e-4, zz: 1e-4}}}}}}"
        for name in names
    ]
    lines += ["  joints:"]
    lines += [
        f"    - {{name: j_{name}, type: prismatic, parent: world, child: {name}, axis: [0, 0, 1], "
        f"origin: {{xyz_m: [0, 0, {0.02 + 0.04 * i:g}]}}}}"
        for i, name in enumerate(names)
    ]
    lines += ["shapes:", "  - {name: floor, kind: plane}"]
    lines += [
        f"  - {{name: {name}, body: {name}, kind: box, half_extents_m: [{half:g}, {half:g}, 0.02]}}"
        for name, half in zip(names, np.linspace(0.02, 0.019, cubes), strict=True)
    ]
    lines += ["contacts:"]
    lines += [f"  - {{between: [{a}, {b}]}}" for a, b in zip(names, below, strict=False)]
    return loads("\n".join(lines) + "\n")


def test_more_rows_let_more_contacts_hold():
    scene = replace(balls(HEIGHTS), max_rows=40)
    sim = hs.Simulation(scene)
    seen = Watch(sim).take(400)
    assert not seen.counts[Event.ROWS_FULL] and sim.state.fault == Fault.NONE
    assert int(sim._state.mode.sum()) == 40
    assert np.abs(sim.gaps).max() < 1e-9


def test_fewer_rows_let_fewer_hold_where_no_tick_may_be_a_time_step():
    sim = hs.Simulation(replace(balls(HEIGHTS), max_rows=8))
    assert sim._state.combine.shape == (8, 8)
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "steps": NO_TICK})  # as with constraints
    sim.step(150)
    assert int(sim._state.mode.sum()) == 8
    assert "and 8 can be imposed" in loads(balls(HEIGHTS).source + "\nmax_rows: 8\n").notes[0]


def test_ten_cubes_stand_on_one_another():
    """Forty rows: with 32 the two cubes above had none left, and fell through; time steps bear them."""
    few, enough = hs.Simulation(stack(10, 32)), hs.Simulation(stack(10, 64))
    few.step(300)
    seen = Watch(enough).take(1000)
    assert np.abs(few.state.q).max() < 1e-6
    assert np.abs(enough.state.q).max() < 1e-9 and not seen.counts[Event.ROWS_FULL]
    assert int(enough._state.mode.sum()) == 40 and seen.rise < 1e-9


def test_six_welds_of_six_rows_hold():
    sim = hs.Simulation(replace(welded([True] * 6), max_rows=36))
    start = sim.state.q
    sim.step(300)
    np.testing.assert_allclose(sim.state.q, start, atol=1e-12)


@pytest.mark.parametrize("value", ["0", "257", "-1", "3.5", "many", "true", ".nan", "[32]"])
def test_what_is_no_number_of_rows_is_refused(value: str):
    with pytest.raises(ConfigError, match=r"max_rows = .* is not usable: it must be"):
        loads(balls([0.05]).source + f"\nmax_rows: {value}\n")


@pytest.mark.parametrize("value", [0, 257, 3.5, True, "32", None])
def test_a_scene_of_python_with_no_number_of_rows_is_refused(value: object):
    with pytest.raises(ConfigError, match=r"Simulation: scene\.max_rows = .* is not usable"):
        hs.Simulation(replace(balls([0.05]), max_rows=value))


def test_a_fork_of_another_number_of_rows_is_refused_and_changes_nothing():
    few, many = hs.Simulation(replace(balls(HEIGHTS), max_rows=8)), hs.Simulation(balls(HEIGHTS))
    many.step(150)
    before = few._state.words.copy()
    with pytest.raises(ConfigError, match="of this scene with other values"):
        few.restore(many.fork())
    assert (few._state.words == before).all()
