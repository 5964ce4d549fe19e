"""Rotation of the coupler: its spring and damper, and whether what is derived from a device is passive."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from hapticsim.codes import Safety
from hapticsim.haptics.coupler import derive_gains
from hapticsim.model.scene import Mapping
from hapticsim.model.settings import CouplerSettings
from hapticsim.simulate.simulation import Simulation
from tests.models import Y, Z, turn
from tests.rotating_hand import (
    INERTIA,
    MAPPING,
    R_WD,
    SIGMA,
    H,
    Held,
    about,
    armed,
    hold,
    logarithm,
    matrix,
    scene,
)


def test_a_hinged_handle_follows_the_closed_form_of_a_spring_and_a_damper():
    K, B, inertia, angle = 0.5, 0.01, INERTIA[2], 0.4
    sim = armed(Simulation(scene()), K, B)
    hold(sim, about(Z, angle))
    t = H * np.arange(1, 1001)
    found = np.empty(1000)
    for k in range(1000):
        sim.step()
        found[k] = sim.state.q[0]
    rate, decay = math.sqrt(K / inertia - (B / (2 * inertia)) ** 2), B / (2 * inertia)
    exact = angle * (1 - np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t)))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def full() -> Simulation:
    return Simulation(scene("free", "full", mapping=MAPPING))


@pytest.fixture(scope="module")
def planar() -> Simulation:
    return Simulation(scene("free", "z", mapping=MAPPING))


@pytest.mark.parametrize("seed", range(8))
def test_the_torque_is_a_spring_along_the_rotation_vector_and_a_damper(full, seed):
    held = Held(full, seed)
    expected = held.K * logarithm(held.error()) + held.B * (held.w_D - R_WD.T @ held.w_W)
    np.testing.assert_allclose(held.torque(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_between_two_samples_the_device_turns_on(full, seed):
    held, t = Held(full, seed), 7e-4
    later = Held(full, seed)
    rate = np.linalg.norm(held.w_D)
    R = turn(held.w_D / rate, rate * t) @ matrix(held.device)
    later.device = about(logarithm(R) / np.linalg.norm(logarithm(R)), np.linalg.norm(logarithm(R)))
    np.testing.assert_allclose(held.torque(t), later.torque(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_about_z_the_torque_on_the_handle_is_the_slope_of_the_energy_in_the_angle_about_z(planar, seed):
    held, h = Held(planar, seed), 1e-6
    held.B = 0.0
    found = held.torque()
    # The handle turns by dphi: E becomes E dR', from the right.
    E = held.error()
    assert found[2] == pytest.approx(held.K * angle_z(E), rel=1e-12)
    for i in range(3):
        plus, minus = (E @ turn(np.eye(3)[i], s * h).T for s in (1.0, -1.0))
        slope = (0.5 * held.K) * (angle_z(plus) ** 2 - angle_z(minus) ** 2) / (2 * h)
        assert found[i] == pytest.approx(-slope, abs=1e-8)


def angle_z(R: np.ndarray) -> float:
    """Angle about z: R turned back by it has no z in its quaternion."""
    return 2.0 * math.atan2(R[1, 0] - R[0, 1], 1.0 + np.trace(R))


@pytest.mark.parametrize("rotation", ["full", "z"])
def test_a_spring_without_damper_keeps_the_energy_of_a_tumbling_body(rotation):
    start = scene("free", rotation)
    sim = armed(Simulation(start), K=1.0)
    u = np.zeros(6)
    u[:3] = 7.0, -9.0, 8.0
    q = sim.state.q.copy()
    sim.set_state(q, u)
    place = slice(3, 7)
    energies, tilt = [], 0.0
    for _ in range(1500):
        E = matrix(sim.state.q[place]).T  # the device stays upright
        stretch = angle_z(E) if rotation == "z" else np.linalg.norm(logarithm(E)) if energies else 0.0
        energies.append(sim.energy()[0] + 0.5 * stretch**2)
        tilt = max(tilt, math.acos(np.clip(E[2, 2], -1, 1)))
        if sim.state.safety is not Safety.ARMED or tilt > 2.5:
            break
        sim.step()
    assert tilt > 0.5 and len(energies) > 150
    np.testing.assert_allclose(energies, energies[0], rtol=1e-7)


@pytest.mark.parametrize("K", [0.1, 0.5])
def test_a_held_spring_gives_a_moving_device_what_the_condition_says(K):
    """Against a handle that does not move, a sampled spring feeds K T/2 times the squared rate (Colgate)."""
    heavy = scene()
    sim = armed(Simulation(heavy), K)
    sim.set_state(np.zeros(1), np.zeros(1))
    given = spent = 0.0
    amplitude, w = 0.2, 2 * math.pi * 10.0
    for k in range(1000):  # ten periods
        t = k * H
        sim.set_state(np.zeros(1), np.zeros(1))
        hold(sim, about(Z, amplitude * math.sin(w * t)))
        sim.step()
        given += sim.state.hand_torque[2] * amplitude * (math.sin(w * (t + H)) - math.sin(w * t))
        spent += 0.5 * (amplitude * w) ** 2 * H
    assert given == pytest.approx(0.5 * K * H * spent, rel=0.01)


@pytest.mark.parametrize("mass_of_device", [1e-4, 5e-4])
def test_gains_that_are_derived_keep_a_pendulum_in_the_hand_passive(mass_of_device):
    limits = dataclasses.replace(SIGMA, apparent_inertia_kg_m2=mass_of_device)
    gains = derive_gains(limits, CouplerSettings(rotation="full"), Mapping(), 1000.0).rotation
    assert gains is not None and gains.passive_with_hand and not gains.passive_alone
    start = scene("swing", "full", gravity=-9.81)
    sim = armed(Simulation(start), gains.stiffness, gains.damping, 1e9)
    rng = np.random.default_rng(1)
    a, p = rng.uniform(0.0, 0.1, 6), rng.uniform(0.0, 6.0, 6)
    w = 2.0 * math.pi * np.array([0.7, 2.0, 5.0, 11.0, 40.0, 90.0])

    def angle(t: float) -> float:
        return float(a @ (np.sin(w * t + p) - np.sin(p)))

    def rate(t: float) -> float:
        return float(a @ (w * np.cos(w * t + p)))

    balance, worst, b = 0.0, 0.0, gains.needed_damping
    for k in range(3000):
        t = k * H
        hold(sim, about(Y, angle(t)), (0.0, rate(t), 0.0))
        sim.step()
        balance -= sim.state.hand_torque[1] * (angle(t + H) - angle(t)) - b * H * rate(t + 0.5 * H) ** 2
        worst = min(worst, balance)
    assert worst > -1e-6 and balance > 0.0


def test_a_device_without_torque_is_not_coupled_and_says_so():
    gains = derive_gains(
        dataclasses.replace(SIGMA, max_torque_Nm=0.0), CouplerSettings(rotation="z"), Mapping(), 1000.0
    )
    assert gains.rotation is not None and gains.rotation.as_input == (0.0, 0.0, 0.0)
    assert gains.sentence().endswith("; rotation is not coupled: the device cannot turn the hand")
    assert derive_gains(SIGMA, CouplerSettings(), Mapping(), 1000.0).rotation is None


def test_a_stiff_coupler_is_named_as_not_passive():
    settings = CouplerSettings(rotation="z", stiffness_Nm_per_rad=50.0, damping_Nms_per_rad=0.05, unsafe=True)
    sentence = derive_gains(SIGMA, settings, Mapping(), 1000.0).sentence()
    assert sentence.endswith(
        "; rotation K = 50 N m/rad, B = 0.05 N m s/rad, torque limit 0.2 N m; "
        "let go it swings by itself (stable up to 0.0 ms of delay); b > 0.075 N m s/rad, "
        "device has b = 0: does not hold: lower stiffness_Nm_per_rad or damping_Nms_per_rad of coupler"
    )
