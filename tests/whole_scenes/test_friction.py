"""Coulomb friction of contacts in time steps, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hapticsim.describe.topics import Describer
from hapticsim.errors import ConfigError
from tests.rubbing import BALL, RADIUS, G, part, thrown, velocity_of


@pytest.mark.parametrize("friction", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
def test_a_block_stops_where_its_energy_is_used_up_whatever_its_direction(friction: float, angle: float):
    way = np.array([math.cos(angle), math.sin(angle)])
    sim = thrown(part(friction), (*way, 0.0))
    sim.step(int(1000.0 / (friction * G)) + 50)
    stops = 1.0 / (2.0 * friction * G)
    np.testing.assert_allclose(sim.state.q[:2], stops * way, atol=3e-6)
    assert np.abs(sim.state.u).max() < 1e-12
    before = sim.state.q
    sim.step(1000)
    np.testing.assert_allclose(sim.state.q, before, atol=1e-15)


def test_a_block_on_a_slope_that_holds_it_does_not_creep():
    sim = part(0.3, slope_deg=10.0)
    sim.step(1000)
    before = sim.state.q
    sim.step(20_000)
    assert np.abs(sim.state.q - before).max() < 1e-15
    force = sum(contact.force for contact in sim.state.contacts)
    friction = sum(contact.friction for contact in sim.state.contacts)
    assert force == pytest.approx(G * math.cos(math.radians(10.0)), rel=1e-9)
    np.testing.assert_allclose(friction, [-G * math.sin(math.radians(10.0)), 0.0, 0.0], atol=1e-9)


@pytest.mark.long
def test_a_block_on_a_slope_does_not_creep_in_an_hour():
    sim = part(0.3, slope_deg=10.0)
    sim.step(1000)
    before = sim.state.q
    sim.step(3_600_000)
    assert np.abs(sim.state.q - before).max() < 1e-14


@pytest.mark.parametrize("slope", [10.0, 30.0, 60.0])
def test_a_block_on_a_slope_too_steep_slides_as_the_formula_says(slope: float):
    friction = 0.5 * math.tan(math.radians(slope))
    sim = part(friction, slope_deg=slope)
    sim.step(500)
    pull = 0.5 * G * math.sin(math.radians(slope))
    assert sim.state.u[3] == pytest.approx(0.5 * pull, rel=1e-8)
    assert sim.state.q[0] == pytest.approx(0.125 * pull, rel=1e-8)


@pytest.mark.parametrize("share", [0.5, 0.999, 1.001, 3.0])
def test_a_block_moves_where_it_is_pulled_harder_than_friction_holds(share: float):
    sim, holds = part(0.2), 0.2 * G
    sim.apply(torque=np.array([0.0, 0.0, 0.0, share * holds, 0.0, 0.0]))
    sim.step(1000)
    assert sim.state.u[3] == pytest.approx(max(share - 1.0, 0.0) * holds, abs=1e-6)


@pytest.mark.parametrize("friction", [0.1, 0.6])
def test_a_ball_that_slides_rolls_in_the_end_with_five_sevenths_of_its_speed(friction: float):
    sim, begins = thrown(part(friction, BALL), (1.0, 0.0, 0.0)), 2.0 / (7.0 * friction * G)
    sim.step(int(1000.0 * begins))
    assert velocity_of(sim)[0] == pytest.approx(1.0 - friction * G * sim.time, rel=2e-6)
    sim.step(100)
    assert velocity_of(sim)[0] == pytest.approx(5.0 / 7.0, rel=2e-6)
    assert float(np.linalg.norm(sim.state.u[:3])) * RADIUS == pytest.approx(5.0 / 7.0, rel=2e-6)
    before = sim.state.q[0]
    sim.step(1000)
    assert sim.state.q[0] - before == pytest.approx(5.0 / 7.0, rel=1e-6)


def test_a_ball_with_backspin_comes_back():
    sim = thrown(part(0.2, BALL), (1.0, 0.0, 0.0), (0.0, -5.0 / RADIUS, 0.0))
    sim.step(3000)
    assert velocity_of(sim)[0] == pytest.approx((5.0 - 2.0 * 5.0) / 7.0, rel=2e-6)


@pytest.mark.parametrize("slope", [5.0, 20.0, 40.0])
def test_a_ball_rolls_down_a_slope_where_friction_is_enough_and_slides_beside_where_not(slope: float):
    needs = 2.0 / 7.0 * math.tan(math.radians(slope))
    pull = G * math.sin(math.radians(slope))
    for friction, acceleration in (
        (1.01 * needs, 5.0 / 7.0 * pull),
        (0.5 * needs, pull - 0.5 * needs * G * math.cos(math.radians(slope))),
    ):
        sim = part(friction, BALL, slope)
        sim.step(400)
        assert sim.state.q[0] == pytest.approx(0.5 * acceleration * 0.16, rel=1e-4)


@pytest.mark.parametrize("value", ["-0.1", ".nan", ".inf", "11", "rough"])
def test_a_coefficient_that_is_none_is_refused_in_one_sentence(value: str):
    with pytest.raises(ConfigError, match=r"contacts\[0\].friction = .* from 0 to 10\.$"):
        part(value)


def test_friction_is_recorded_and_published_as_it_acts():
    """A block on a slope: the row of a tick, and what is made of it for a window."""
    sim = part(0.3, slope_deg=10.0)
    sim.step(500)
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    names = [f"friction_x_N[{name}]" for name in sim.assembly.contact_names]
    pull = G * math.sin(math.radians(10.0))
    assert sum(row[sim.columns.index(name)] for name in names) == pytest.approx(-pull, rel=1e-9)
    contacts = Describer(sim.assembly).state(row)["contacts"]
    np.testing.assert_allclose(
        np.sum([contact["friction_N"] for contact in contacts], axis=0), [-pull, 0.0, 0.0], atol=1e-9
    )


def test_a_block_sleeps_on_a_slope_and_slides_once_it_is_pushed():
    slope, friction = math.radians(10.0), 0.3
    sim = part(friction, slope_deg=10.0, more="sleep: {after_s: 0.2}\n")
    sim.step(1000)
    before = sim.state.q
    assert sim._state.still[0] > 200, "it sleeps"
    assert sum(contact.friction[0] for contact in sim.state.contacts) == pytest.approx(-G * math.sin(slope))
    sim.step(3000)
    assert np.array_equal(sim.state.q, before)
    sim.apply(torque=np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0]))
    sim.step(200)
    pull = 5.0 + G * (math.sin(slope) - friction * math.cos(slope))
    assert sim.state.u[3] == pytest.approx(0.2 * pull, rel=1e-6)
    sim.apply(torque=np.zeros(6))
    sim.step(3000)
    assert np.abs(sim.state.u).max() == 0.0


@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
def test_what_sticks_bears_more_than_what_slides(regime: str):
    """Static friction is 1.5 of kinetic: between the two a block at rest stays, one that slides goes on."""
    holds = 0.2 * G
    pull = np.array([0.0, 0.0, 0.0, 1.25 * holds, 0.0, 0.0])
    still = part("0.2, static_over_kinetic: 1.5", regime=regime)
    still.apply(torque=pull)
    still.step(200)
    assert np.abs(still.state.u).max() < 1e-9 and abs(still.state.q[0]) < 1e-9
    slides = thrown(part("0.2, static_over_kinetic: 1.5", regime=regime), (0.5, 0.0, 0.0))
    slides.apply(torque=pull)
    slides.step(200)
    assert slides.state.u[3] == pytest.approx(0.5 + 0.2 * 0.25 * holds, abs=1e-6)
    breaks = part("0.2, static_over_kinetic: 1.5", regime=regime)
    breaks.apply(torque=1.52 / 1.25 * pull)
    breaks.step(200)
    assert breaks.state.u[3] == pytest.approx(0.2 * 0.52 * holds, abs=0.01 * holds * 0.2)


def test_static_friction_without_friction_is_refused_in_one_sentence():
    with pytest.raises(ConfigError, match=r"static_over_kinetic = 1\.5 is there without friction"):
        part("0.0, static_over_kinetic: 1.5")
