"""Concave parts that touch by convex solids: they hang by hollows, tumble, and slide over seams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.kernels.tick.advance import UNSEEN_DEPTH
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.scene import ContactPair, Scene, Shape
from tests.concave import decomposed, with_solids
from tests.seeds import with_long
from tests.whole_scenes.test_hulls_touch import (
    HALF,
    TABLE,
    WEIGHT,
    Deep,
    check_quiet,
    deepest,
    flat,
    scene,
    thrown,
)

SINKS = 2e-5  # [m] by which a solid of a part of 0.2 m may be off its neighbour (joined/faces.py)


def on_table(start: str, found=None, solid=HALF, below: float = 0.03) -> Scene:
    """A part on a table that is a decomposed mesh whose upper side is at z = 0."""
    made = scene([solid], [start], TABLE, below=Placement(np.eye(3), np.array([0.0, 0.0, -below])))
    return with_solids(made, ["table"], found)


@pytest.mark.parametrize("peg", ["capsule", "box"])
def test_a_bracket_hangs_on_a_peg_in_its_hollow(peg):
    """Upside down, its floor on the peg, 5 mm and 40 mm from its walls: its hull would be 80 mm higher."""
    found = decomposed("U")
    start = "{xyz_m: [0.0, 0, 0.06], rpy_rad: [3.141592653589793, 0, 0]}"
    made = with_solids(scene([HALF], [start], TABLE), ["part0"], found)
    lying = Placement(rotation_from_rpy((np.pi / 2, 0.0, 0.0)))
    shape = {
        "capsule": Shape("table", WORLD, "capsule", (0.015, 0.3), lying),
        "box": Shape("table", WORLD, "box", (0.055, 0.3, 0.015)),
    }[peg]
    made = replace(made, shapes=tuple(shape if s.name == "table" else s for s in made.shapes))
    sim = hs.Simulation(replace(made, contacts=(ContactPair("part0", "table"),)))
    seen = Deep(sim).take(400)
    check_quiet(seen)
    assert seen.overlap < 1e-6
    assert sim.body_pose("part0").translation[2] == pytest.approx(0.055, abs=SINKS)
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(WEIGHT, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "yaw"), [("cross", 0.0), ("cross", 1.2), ("wry cross", -0.7), ("wry cross", 2.5)]
)
@pytest.mark.parametrize("way", [0.0, np.pi / 2, np.pi])
def test_a_box_slides_over_the_seams_of_solids_as_on_one(name, yaw, way):
    """It turned by 2 rad/s where a corner struck the side of the next solid, flush with the first."""
    c, s = np.cos(way), np.sin(way)
    start = f"{{xyz_m: [{-0.2 * c}, {-0.2 * s}, 0.0201], rpy_rad: [0, 0, {yaw}], "
    start += f"velocity_m_per_s: [{0.5 * c}, {0.5 * s}, 0]}}"
    sim = hs.Simulation(on_table(start, decomposed(name, 0.01), (0.03, 0.02, 0.02)))
    seen = Deep(sim).take(50)
    before = sim.state.u.copy()
    seen.take(600)
    check_quiet(seen)
    np.testing.assert_allclose(sim.state.u, before, atol=1e-9)
    assert np.linalg.norm(sim.body_pose("part0").translation[:2]) > 0.12
    assert seen.overlap < 1e-9


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_box_that_slides_along_the_floor_of_a_hollow_stops_at_its_wall(tilt):
    """Its lower corners come to where the wall meets the floor, and it stays; leant back only they do."""
    start = "{xyz_m: [0.02, 0, 0.0221], velocity_m_per_s: [0.3, 0, 0]}"
    sim = hs.Simulation(on_table(start, decomposed("U"), (0.015, 0.015, 0.022), below=0.04))
    if tilt:
        sim = hs.Simulation(
            on_table(start.replace("0.0221]", f"0.03], rpy_rad: [0, {-tilt}, 0]"), decomposed("U"),
                     (0.015, 0.015, 0.022), below=0.04)
        )  # fmt: skip
    seen = Deep(sim).take(500)
    check_quiet(seen)
    assert seen.overlap < SINKS
    assert sim.body_pose("part0").translation[0] < 0.06 - 0.0149
    assert np.abs(sim.state.u[3]) < 0.3


def tumble(name: str, seed: int, count: int) -> bool:
    """Whether the first of so many parts comes to rest on the table; nothing passes, energy does not rise."""
    rng = np.random.default_rng(seed)
    e, rate_Hz = float(rng.choice([0.0, 0.4])), float(rng.choice([250.0, 1000.0]))
    starts = [thrown(rng, 0.25 + 0.35 * i) for i in range(count)]
    found = decomposed(name)
    made = scene([found[0]] * count, starts, TABLE, e, rate_Hz)
    sim = hs.Simulation(with_solids(made, [f"part{i}" for i in range(count)], found))
    seen = Deep(sim).take(round(1.2 * rate_Hz))
    check_quiet(seen)
    assert seen.overlap < (10.0 * UNSEEN_DEPTH if seen.counts[Event.OVERFLOW] else SINKS)
    assert seen.counts[Event.TOUCH] > 3
    tilting = np.linalg.norm((sim.body_pose("part0").rotation @ sim.state.u[:3])[:2])
    still = len(sim.state.contacts) >= 3 and tilting < 1e-6
    if still and count == 1:
        assert sum(c.force for c in sim.state.contacts) == pytest.approx(WEIGHT, rel=1e-6)
    return bool(still)


@pytest.mark.parametrize("name", ["U", "L"])
@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(10, 100, 10))])
def test_brackets_tumble_to_rest_on_a_table(name, first):
    assert sum(tumble(name, seed, 1) for seed in range(first, first + 10)) >= 6


@pytest.mark.parametrize("name", ["U", "L"])
@pytest.mark.parametrize("first", with_long([0, 12], [4, 8, *range(16, 60, 4)]))
def test_a_bracket_falls_on_a_bracket(name, first):
    for seed in range(first, first + 4):
        tumble(name, seed, 2)


def test_two_brackets_stack_with_the_wall_of_one_in_the_hollow_of_the_other():
    """Turned by a quarter about the vertical, the floor of the upper one lies on the walls of the lower."""
    found = decomposed("U")
    starts = [
        flat(0.0, 0.0, 0.0),
        "{xyz_m: [0, 0, 0.201], rpy_rad: [3.141592653589793, 0, 1.5707963267948966]}",
    ]
    sim = hs.Simulation(with_solids(scene([found[0]] * 2, starts, TABLE), ["part0", "part1"], found))
    seen = Deep(sim).take(300)
    check_quiet(seen)
    assert deepest(sim) < SINKS
    assert sim.body_pose("part1").translation[2] == pytest.approx(0.16, abs=2 * SINKS)
    assert sum(c.force for c in sim.state.contacts if "table" in (c.a, c.b)) == pytest.approx(
        2 * WEIGHT, rel=1e-6
    )
