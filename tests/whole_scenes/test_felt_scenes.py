"""Scenes made to be felt: gears whose teeth touch, and parts that a robot pushes about."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault
from hapticsim.haptics.coupler import DeviceLimits
from tests.places import CONFIGS

DEVICE = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=5000.0, max_damping_Ns_per_m=30.0, apparent_mass_kg=0.2
)
CRANK, AXLE, HOIST = range(3)
TURNS = 2.0 / 3.0  # of the gear for one of the crank: 8 pins, 12 teeth
PLAY_rad = (
    0.09  # of the gear, between one flank and the other, and what pins and teeth that are no involutes add
)
NEVER = {Event.THROUGH, Event.ROWS_FULL, Event.NOT_FINITE, Event.ENERGY, Event.CONFLICT}
SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 100))]


def scene(name: str) -> hs.Simulation:
    return hs.Simulation(hs.load(CONFIGS / f"{name}.yaml"))


def test_the_crank_winds_up_the_weight_through_the_teeth():
    sim = scene("gears")
    sim.couple(DEVICE)
    sim.set_device(np.zeros(3), np.zeros(3), 0.0005)
    sim.arm()
    sim.step(300)
    assert abs(sim.state.q).max() < 0.05, "the weight stands on the floor"
    turn, rate, radius = 0.0, 3.0, 0.045
    for _ in range(6000):
        turn += rate * 1e-3
        place = radius * np.array([1.0 - math.cos(turn), 0.0, math.sin(turn)])
        velocity = radius * rate * np.array([math.sin(turn), 0.0, math.cos(turn)])
        sim.set_device(place, velocity, 0.0005)
        sim.step()
        q = sim.state.q
        assert abs(q[AXLE] + TURNS * q[CRANK]) < PLAY_rad
    assert q[CRANK] == pytest.approx(turn, abs=0.3)
    assert q[HOIST] == pytest.approx(0.03 * TURNS * turn, abs=0.01)
    assert 2.0 < np.linalg.norm(sim.state.hand_force) < 8.0, "3.9 N at the teeth hold 9.81 N on the drum"
    sim.disarm()
    sim.step(4000)
    assert sim.state.q[HOIST] < 1e-3, "let go, it comes down"


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tooth_passes_a_pin_however_the_crank_is_turned(seed: int):
    rng = np.random.default_rng(seed)
    sim = scene("gears")
    for tick in range(3000):
        if tick % 60 == 0:
            torque = {"crank": float(rng.normal(0.1, 0.5)), "axle": float(rng.normal(0.0, 0.2))}
        sim.apply(torque=torque)
        sim.step()
        q = sim.state.q
        assert abs(q[AXLE] + TURNS * q[CRANK]) < PLAY_rad, tick
        assert not NEVER & {event.kind for event in sim.events}
        assert sim.gaps.min() > -1e-6
    sim.apply(torque={"crank": 0.0, "axle": 0.0})
    least = sum(sim.energy())
    for _ in range(1500):
        sim.step()
        energy = sum(sim.energy())
        assert energy < least + 1e-7
        least = min(least, energy)
    assert sim.state.fault == Fault.NONE


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_are_pushed_about_and_come_to_rest(seed: int):
    rng = np.random.default_rng(seed)
    sim = scene("push_parts")
    parts = slice(7, None)  # after the coordinates of the arm
    start = sim.state.q[parts].copy()
    for tick in range(4000):
        if tick % 500 == 0:
            name = ("block", "bar", "ball", "marble")[rng.integers(4)]
            goal = sim.body_pose(name).translation + rng.normal(0.0, [0.03, 0.03, 0.005])
        here = sim.body_pose("panda_hand_tcp").translation
        sim.apply(force=200.0 * (goal - here))
        sim.step()
        assert not NEVER & {event.kind for event in sim.events}, tick
        assert sim.gaps.min() > -1e-6, tick
    assert abs(sim.state.q[parts] - start).max() > 0.01, "something was pushed"
    sim.apply(force=np.zeros(3))
    sim.step(4000)
    leans = any(contact.a == "fingertip" for contact in sim.state.contacts)  # and goes on pushing
    assert leans or abs(sim.state.u[parts]).max() < 0.02


@pytest.mark.parametrize("seed", SEEDS[:4] + SEEDS[90:])
def test_parts_in_a_bin_are_stirred_and_none_leaves_it_or_comes_into_another(seed: int):
    rng = np.random.default_rng(seed)
    sim = scene("bin_of_parts")
    goal = np.zeros(3)
    for tick in range(2500):
        if tick % 250 == 0:
            goal = rng.uniform([-0.1, -0.1, 0.03], [0.1, 0.1, 0.1])
        away = goal - sim.body_pose("probe").translation
        sim.apply(force=np.clip(60.0 * away, -3.0, 3.0))
        sim.step()
        assert not NEVER & {event.kind for event in sim.events}, tick
    places = np.array([sim.body_pose(body.name).translation for body in sim.scene.model.bodies[3:]])
    inside = (abs(places[:, :2]) < 0.14).all(axis=1) | (places[:, 2] > 0.1)
    assert inside.all()
    assert places[:, 2].min() > 0.009
    assert len(sim.state.contacts) > 20
