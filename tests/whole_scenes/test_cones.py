"""Cones that stand, lie, spin, tip and fall on planes, and touch others as pyramids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.model.candidates import STANDS_OUT
from hapticsim.model.scene import Scene
from hapticsim.model.triangle_mesh import pyramid
from tests.naive import turned
from tests.seeds import seeds
from tests.solids import check_fall
from tests.watch import Watch
from tests.whole_scenes import test_cylinders as cylinders
from tests.whole_scenes.test_cylinders import MASS, A, G

R, LENGTH = cylinders.R, cylinders.LENGTH
SLANT = float(np.hypot(R, LENGTH))


def scene(at: list[float], rpy: list[float], **of: object) -> Scene:
    """A free cone over a plane, with the moments of the cylinder around it about its middle."""
    made = cylinders.scene(at, rpy, **of)
    return replace(made, shapes=(replace(made.shapes[0], kind="cone"), made.shapes[1]))


def lying() -> tuple[list[float], list[float]]:
    """Place and angles of one that lies on its side."""
    return [0.0, 0.0, 0.5 * R * LENGTH / SLANT], [0.0, np.pi / 2.0 + np.arctan2(R, LENGTH), 0.0]


def lowest(sim: hs.Simulation, radius: float, length: float) -> float:
    """Height [m] of the lowest point over z = 0, as if nothing stood out of it."""
    z, up = sim.state.q[2], turned(sim.state.q[3:7])[2, 2]
    rim = z - 0.5 * length * up - radius * np.sqrt(max(1.0 - up * up, 0.0))
    return float(min(rim, z + 0.5 * length * up))


def test_one_that_stands_bears_its_weight_on_its_base():
    sim = hs.Simulation(scene([0.0, 0.0, 0.5 * LENGTH], [0.0, 0.0, 0.4], w=[0.0, 0.0, 30.0]))
    seen = Watch(sim).take(500)
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(MASS * G, rel=1e-9)
    assert sim.state.q[:3] == pytest.approx([0.0, 0.0, 0.5 * LENGTH], abs=1e-12)
    assert seen.deepest == pytest.approx(-STANDS_OUT * R, abs=1e-12)


@pytest.mark.parametrize("spin", [0.0, 25.0])
def test_one_that_lies_is_held_at_its_apex_and_its_rim_and_may_turn_about_its_axis(spin):
    at, rpy = lying()
    axis = np.array([np.sin(rpy[1]), 0.0, np.cos(rpy[1])])
    sim = hs.Simulation(scene(at, rpy, w=(spin * axis).tolist()))
    seen = Watch(sim).take(1000)
    weights = [c.force for c in sim.state.contacts]
    assert len(weights) == 2 and sum(weights) == pytest.approx(MASS * G, rel=1e-9)
    assert sim.state.q[:3] == pytest.approx(at, abs=1e-8)
    assert turned(sim.state.q[3:7])[:, 2] == pytest.approx(axis, abs=1e-8)
    assert seen.deepest > -1e-10 and seen.widest < 1e-10 and abs(seen.rise) < 1e-10


def test_one_that_falls_from_its_apex_moves_as_its_lagrangian_says_and_comes_to_lie():
    """By its height h = L/2 cos t: (A + m h'^2) t'' + m h' h'' t'^2 + m g h' = 0."""
    tilt, half = 0.05, 0.5 * LENGTH

    def rate(_: float, y: np.ndarray) -> list[float]:
        t, t_dot = y
        h1, h2 = -half * np.sin(t), -half * np.cos(t)
        return [t_dot, -(MASS * h1 * h2 * t_dot**2 + MASS * G * h1) / (A + MASS * h1**2)]

    told = solve_ivp(rate, (0.0, 1.0), [tilt, 0.0], rtol=1e-11, atol=1e-13, dense_output=True)
    lands = np.pi / 2.0 - np.arctan2(R, LENGTH)
    ticks = int(1000.0 * told.t[np.argmax(told.y[0] > lands)]) - 1
    sim = hs.Simulation(scene([0.0, 0.0, half * np.cos(tilt)], [np.pi - tilt, 0.0, 0.0]))
    seen = Watch(sim)
    for _ in range(ticks // 10 - 2):
        seen.take(10)
        down = -turned(sim.state.q[3:7])[2, 2]
        assert np.arccos(down) == pytest.approx(told.sol(sim.state.time)[0], abs=2e-7)
    assert seen.rise < 1e-9 and seen.counts[Event.TOUCH] == 1
    seen.take(1000)
    assert sim.state.q[2] == pytest.approx(lying()[0][2], abs=1e-9)
    assert len(sim.state.contacts) == 2 and seen.deepest > -1e-9


def thrown(seed: int, more: str = "", sinks: float = 1e-6) -> None:
    """Thrown at the floor anyhow, it never sinks nor gains energy."""
    rng = np.random.default_rng(seed)
    radius, length = rng.uniform(0.01, 0.1), 10.0 ** rng.uniform(-2.3, -0.7)
    rpy = rng.uniform(-np.pi, np.pi, 3)
    if rng.random() < 0.3:
        rpy[:2] = rng.choice([0.0, np.pi]), rng.normal() * rng.choice([0.0, 1e-6, 1e-4, 1e-2])
    made = scene(
        [0.0, 0.0, radius + length], rpy.tolist(), v=(0.5 * rng.normal(size=3)).tolist(),
        w=(rng.normal(size=3) * rng.choice([0.0, 3.0, 20.0])).tolist(), radius=radius, length=length,
        e=float(rng.choice([0.0, 0.0, 0.6])), more=more,
    )  # fmt: skip
    sim = hs.Simulation(made)
    scale = sum(sim.energy())
    check_fall(sim, lambda fallen: lowest(fallen, radius, length), scale, sinks)


@pytest.mark.parametrize("seed", seeds(8, 300))
def test_cones_thrown_at_a_floor_never_sink_and_never_gain_energy(seed):
    thrown(seed)


@pytest.mark.parametrize("seed", seeds(3, 100))
def test_nor_do_they_in_the_time_stepping_regime(seed):
    thrown(seed, "contact_regime: time_stepping", 1e-3)


@pytest.mark.parametrize("sides", [3, 24])
def test_one_with_sides_is_to_a_box_a_pyramid(sides):
    """It moves as the mesh of that pyramid, to the bit."""
    made = cylinders.on_block("box", [0.3, 0.8, 0.1], 0.1, sides)
    cone = replace(made.shapes[0], kind="cone")
    solid = pyramid(R, LENGTH, sides)
    mesh = replace(cone, kind="mesh", size=(R, R, 0.5 * LENGTH), mesh=solid, sides=None)
    assert solid.is_convex and len(solid.hull.vertices) == sides + 1
    ends = []
    for shape in (cone, mesh):
        sim = hs.Simulation(replace(made, shapes=(shape, made.shapes[1])))
        seen = Watch(sim).take(500)
        assert seen.counts[Event.TOUCH] > 0 and seen.rise < 1e-6
        ends.append(np.concatenate([sim.state.q, sim.state.u]))
    np.testing.assert_array_equal(ends[0], ends[1])
