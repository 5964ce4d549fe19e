"""Derived gains let a device that nobody holds come to rest; gains that do not are refused with figures."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from hapticsim_devices.limits import device_table
from hapticsim_devices.scripted import Scripted

from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import DeviceLimits, derive_gains
from hapticsim.haptics.joining import check_gains, limits_of
from hapticsim.haptics.sampled_loop import growth
from hapticsim.model.scene import Mapping
from hapticsim.model.settings import CouplerSettings
from hapticsim.wire.messages.device import LEAST_INERTIA_KG_M2, LEAST_MASS_KG
from tests.four_bar import FOUR_BAR
from tests.seeds import with_long
from tools.study_delay_margin import (
    AT_REST_M_PER_S,
    AT_REST_RAD_PER_S,
    gains_of,
    let_go,
    let_turn,
    without_friction,
)

OMEGA = DeviceLimits(12.0, 5000.0, 30.0, 0.2)


def swing(m: float, K: float, B: float, T: float, t_d: float, w: float, seconds: float) -> float:
    """Ratio of the amplitudes in the last two quarters, by tiny steps and not by (19)."""
    h = 1e-4
    every, late, back = round(T / h), round(t_d / h), round(w / h)
    x, v, F = 1e-3, 0.0, 0.0
    past, coming = [x] * (back + 1), []
    sizes = np.zeros(round(seconds / h))
    for i in range(len(sizes)):
        if i % every == 0:
            coming.append((i + late, -K * x - B * (x - past[-1 - back]) / w))
        while coming and coming[0][0] <= i:
            F = coming.pop(0)[1]
        x, v = x + h * v + 0.5 * h * h * F / m, v + h * F / m
        past.append(x)
        sizes[i] = abs(x)
    quarter = len(sizes) // 4
    return float(sizes[3 * quarter :].max() / sizes[2 * quarter : 3 * quarter].max())


@pytest.mark.parametrize(
    "loop",
    [
        (0.2, 900.0, 3.8, 1e-3, 3e-3, 0.01),
        (0.2, 1733.0, 2.6, 1e-3, 1e-3, 0.01),
        (0.2, 600.0, 3.0, 4e-3, 5.5e-3, 0.01),
        (0.045, 200.0, 1.0, 1e-3, 2.5e-3, 0.0105),
        (0.1, 400.0, 3.0, 5e-4, 6e-4, 0.015),
    ],
)
def test_the_largest_root_grows_as_the_swing_does(loop):
    m, K, B, T, t_d, w = loop
    seconds = 4.0
    assert growth(m, K, B, T, (t_d,), w) ** (seconds / 4 / T) == pytest.approx(swing(*loop, seconds), rel=0.1)


def test_the_gains_of_before_swing_by_themselves_with_a_millisecond_more():
    assert growth(0.2, 1733.0, 2.6, 1e-3, (1e-3,), 0.01) > 1.0
    assert growth(0.2, 1733.0, 2.6, 1e-3, (2e-3,), 0.01) > 1.005


@pytest.mark.parametrize("name", sorted(device_table()))
@pytest.mark.parametrize("rate_Hz", [250.0, 1000.0, 4000.0])
def test_derived_gains_hold_for_any_mass_and_any_delay_up_to_two_milliseconds_more(name, rate_Hz):
    row = device_table()[name]
    limits = limits_of(Scripted({"emulate": name}).info.hello())
    T, delay_s = 1.0 / rate_Hz, 1.0 / rate_Hz
    gains = derive_gains(limits, CouplerSettings(), Mapping(), rate_Hz, None, delay_s)
    assert gains.translation.stiffness <= 0.5 * row.max_stiffness_N_per_m * min(1.0, rate_Hz / 1000.0)
    assert gains.translation.stiffness > 40.0 and gains.translation.passive_with_hand
    assert gains.translation.stable_until_s > delay_s + 2e-3
    delays = np.linspace(0.0, delay_s + 2e-3, 9)
    for share, t_d in itertools.product((0.8, 0.9, 1.0, 1.5, 3.0, 10.0, 50.0), delays):
        m = share * row.apparent_mass_kg
        assert growth(m, gains.translation.stiffness, gains.translation.damping, T, (float(t_d),), 0.01) < 1.0


def test_a_slower_driver_gets_a_softer_coupler():
    slow = derive_gains(
        replace(OMEGA, velocity_window_s=0.05), CouplerSettings(), Mapping(), 1000.0, None, 1e-3
    )
    fast = derive_gains(OMEGA, CouplerSettings(), Mapping(), 1000.0, None, 1e-3)
    assert slow.translation.stiffness < 0.8 * fast.translation.stiffness
    assert growth(0.2, slow.translation.stiffness, slow.translation.damping, 1e-3, (0.0, 3e-3), 0.05) < 1.0


def test_the_rotation_holds_too():
    limits = limits_of(Scripted({"emulate": "sigma_7", "turning": True}).info.hello())
    settings = CouplerSettings(rotation="z")
    turning = derive_gains(limits, settings, Mapping(), 1000.0, None, 1e-3).rotation
    assert turning.stable_until_s > 3e-3
    K, B = turning.stiffness, turning.damping
    for t_d in np.linspace(0.0, 3e-3, 7):
        assert growth(1e-4, K, B, 1e-3, (float(t_d),), 0.01) < 1.0


@pytest.mark.parametrize(
    ("K", "B", "taken"),
    [
        (1000.0, None, True),
        (1000.0, 6.0, True),
        (3000.0, None, False),
        (1000.0, 1.0, False),
        (None, 31.0, False),
    ],
)
def test_gains_that_a_device_cannot_render_are_replaced_and_told(K, B, taken):
    gains = derive_gains(
        OMEGA, CouplerSettings(stiffness_N_per_m=K, damping_Ns_per_m=B), Mapping(), 1000.0, None, 1e-3
    )
    assert (gains.refusals == ()) is taken
    assert gains.translation.stable_until_s > 3e-3
    if taken:
        assert K == gains.translation.stiffness and B in (None, gains.translation.damping)
    unsafe = derive_gains(
        OMEGA,
        CouplerSettings(stiffness_N_per_m=K, damping_Ns_per_m=B, unsafe=True),
        Mapping(),
        1000.0,
        None,
        1e-3,
    )
    assert (
        unsafe.refusals == ()
        and K in (None, unsafe.translation.stiffness)
        and B in (None, unsafe.translation.damping)
    )


def test_a_scene_whose_gains_the_device_cannot_render_is_refused_with_the_figures():
    limits = limits_of(Scripted({}).info.hello())
    scene = loads(FOUR_BAR + "coupler: {stiffness_N_per_m: 3000, damping_Ns_per_m: 2}\n")
    with pytest.raises(ConfigError) as refused:
        check_gains(limits, scene)
    assert str(refused.value).endswith(
        "coupler.stiffness_N_per_m = 3000 with coupler.damping_Ns_per_m = 2 is not what the device can "
        "render: it states at most 5000 N/m and 30 N s/m, and let go it has to come to rest with forces 3.0 "
        "ms late, as with 1456 N/m and 12.9 N s/m: give these, leave both out, or give coupler.unsafe: true."
    )
    check_gains(limits, loads(FOUR_BAR + "coupler: {stiffness_N_per_m: 3000, unsafe: true}\n"))


def test_the_sentence_tells_the_margin():
    sentence = derive_gains(OMEGA, CouplerSettings(), Mapping(), 1000.0, None, 1e-3).sentence()
    assert "let go it comes to rest up to 3.6 ms of delay, 1.0 are expected" in sentence
    loose = CouplerSettings(stiffness_N_per_m=2000.0, damping_Ns_per_m=2.0, unsafe=True)
    sentence = derive_gains(OMEGA, loose, Mapping(), 1000.0, None, 1e-3).sentence()
    assert "let go it swings by itself (stable up to 0.3 ms of delay, 1.0 are expected)" in sentence


@pytest.mark.parametrize("late", with_long([0, 2], [1]))
@pytest.mark.parametrize("name", sorted(device_table()))
def test_every_device_of_the_table_comes_to_rest_when_it_is_let_go(name, late):
    """Through encoder, velocity window, clamp, slew limit and the end of the workspace."""
    row = device_table()[name]
    gains = gains_of(row, "z")
    rng = np.random.default_rng(late)
    for friction in (row, without_friction(row)):
        speed, _ = let_go(friction, gains.translation.stiffness, gains.translation.damping, late, rng)
        assert speed < AT_REST_M_PER_S
        turning = gains.rotation
        rate = let_turn(friction, turning.stiffness, turning.damping, late, rng)
        assert rate < AT_REST_RAD_PER_S


def test_an_emulated_device_with_the_gains_of_before_swings_for_ever():
    row = device_table()["omega_3"]
    speed, force = let_go(row, 1733.0, 2.6, 1, np.random.default_rng(1))
    assert speed > 1.0 and force == pytest.approx(12.0)


@pytest.mark.parametrize("mass", [0.05, 0.2, 1.0])
def test_a_device_that_states_more_gets_no_less(mass):
    """A ceiling of 1e7 N/m once gave no stiffness at all: the search's steps were spent on what cannot be."""
    stated = [0.0, 1e3, 4e3, 2e4, 1e5, 1e6, 1e7]
    gains = [derive(replace(OMEGA, max_stiffness_N_per_m=K, apparent_mass_kg=mass)) for K in stated]
    stiffness = [g.translation.stiffness for g in gains]
    assert stiffness[0] == 0.0 and stiffness == sorted(stiffness) and stiffness[1] > 300.0
    assert gains[0].sentence().startswith("coupler K = 0 N/m: the hand will feel no spring")


def derive(limits):
    return derive_gains(limits, CouplerSettings(), Mapping(), 1000.0, 12.0, 1e-3)


def extreme(rng, low, high, zero=True):
    """One of both ends, nothing, or anything between on a logarithmic scale."""
    kind = rng.integers(5)
    if kind == 0 and zero:
        return 0.0
    if kind < 3:
        return (low, high)[kind % 2]
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


@pytest.mark.parametrize("draws", [12, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize("rate_Hz", [100.0, 1000.0, 10_000.0])
def test_whatever_a_device_says_of_itself_gives_gains_that_are_finite_and_soon(rate_Hz, draws):
    """All that ``wire.messages.Hello`` lets through; a mass of 5e-324 kg once ended the server."""
    rng = np.random.default_rng(int(rate_Hz))
    for _ in range(draws):
        limits = DeviceLimits(
            extreme(rng, 5e-324, 1000.0),
            extreme(rng, 5e-324, 1e7),
            extreme(rng, 5e-324, 1e5),
            extreme(rng, LEAST_MASS_KG, 1000.0),
            max_torque_Nm=extreme(rng, 5e-324, 100.0),
            max_stiffness_Nm_per_rad=extreme(rng, 5e-324, 1e5),
            max_damping_Nms_per_rad=extreme(rng, 5e-324, 1e3),
            apparent_inertia_kg_m2=extreme(rng, LEAST_INERTIA_KG_M2, 10.0),
            velocity_window_s=extreme(rng, 5e-324, 0.1),
        )
        began = time.process_time()
        gains = derive_gains(limits, CouplerSettings(rotation="full"), Mapping(), rate_Hz, None, 1e-3)
        assert time.process_time() - began < 4.0  # it was a minute
        turning = gains.rotation
        assert turning is not None
        figures = [gains.translation.stiffness, gains.translation.damping, gains.translation.stable_until_s]
        figures += [turning.stiffness, turning.damping, turning.stable_until_s]
        assert np.all(np.isfinite(figures)) and min(figures) >= 0.0, limits
