"""Forces that come later than expected make the coupler softer, smoothly, and never stiffer again."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest

import hapticsim as hs
from devices.limits import device_table
from devices.scripted import Scripted
from hapticsim.haptics.coupler import Gains, derive_gains
from hapticsim.haptics.joining import limits_of
from hapticsim.haptics.late import EVERY_S, LateForces
from hapticsim.haptics.sampled_loop import growth
from hapticsim.model.scene import CouplerSettings, Mapping
from hapticsim.session import DeviceSession
from tests.places import CONFIGS

TICK_S = 1e-3


def gains_of(name: str) -> Gains:
    limits = limits_of(Scripted({"emulate": name, "turning": True}).info.hello())
    return derive_gains(limits, CouplerSettings(rotation="z"), Mapping(), 1.0 / TICK_S, None, TICK_S)


def softest(late: LateForces, round_trip_s: float, start_s: float = 0.0) -> list[Gains]:
    found = [late.look(round_trip_s, start_s + k * EVERY_S) for k in range(100)]
    return [gains for gains in found if gains is not None]


@pytest.mark.parametrize("name", sorted(device_table()))
@pytest.mark.parametrize("late_ms", [1.0, 2.0, 4.0, 8.0])
def test_the_softer_coupler_lets_the_device_rest_however_late_forces_are(name: str, late_ms: float) -> None:
    gains = gains_of(name)
    soft = softest(LateForces(gains, TICK_S, TICK_S), 2.0 * TICK_S + 1e-3 * late_ms)[-1]
    delay_s = TICK_S + 1e-3 * late_ms + 2e-3
    mass = device_table()[name].apparent_mass_kg
    for t_d in np.linspace(0.0, delay_s, 8):
        assert growth(mass, soft.stiffness_N_per_m, soft.damping_Ns_per_m, TICK_S, (float(t_d),), 0.01) < 1.0
        turn = soft.turning.stiffness_Nm_per_rad, soft.turning.damping_Nms_per_rad
        assert growth(1e-4, *turn, TICK_S, (float(t_d),), 0.01) < 1.0
    if late_ms >= 4.0 and name == "omega_3":
        old = gains.stiffness_N_per_m, gains.damping_Ns_per_m
        assert growth(mass, *old, TICK_S, (delay_s,), 0.01) > 1.0


def test_it_becomes_softer_smoothly_and_never_stiffer() -> None:
    gains = gains_of("omega_3")
    late = LateForces(gains, TICK_S, TICK_S)
    assert softest(late, 2.0 * TICK_S) == [] and late.look(math.nan, 50.0) is None
    K = [g.stiffness_N_per_m for g in softest(late, 8.0 * TICK_S, 100.0)]
    steps = -np.diff([gains.stiffness_N_per_m, *K])
    assert len(K) > 20 and np.all(steps > 0.0)
    assert steps.max() <= 0.02 * gains.stiffness_N_per_m
    assert softest(late, 1.0 * TICK_S, 200.0) == []
    assert late.share == pytest.approx(3.5 / 9.5)


def test_the_first_answers_after_joining_soften_nothing() -> None:
    late = LateForces(gains_of("omega_3"), TICK_S, TICK_S)
    for k in range(200):
        assert late.look(0.02 if k * EVERY_S < 0.45 else 2.0 * TICK_S, k * EVERY_S) is None
    assert late.share == 1.0


def test_a_session_softens_the_coupler_of_its_device_and_says_so_once() -> None:
    given, said = [], []
    loop = SimpleNamespace(
        write_gains=lambda gains, turning: given.append(gains.copy()),
        assembly=SimpleNamespace(plan=SimpleNamespace(stall_s=0.009)),
    )
    trips = SimpleNamespace(percentile_us=lambda percent, newest: 8000.0)
    scene = hs.load(CONFIGS / "wam_table.yaml")
    session = DeviceSession(scene, loop, SimpleNamespace(round_trip=trips), said.append)
    session._meet(Scripted({}).info.hello())
    first = given[0][0]
    end = time.monotonic() + 3.0
    while time.monotonic() < end and session._late.share > 3.5 / 9.5:
        session._soften()
        time.sleep(0.005)
    assert given[-1][0] == pytest.approx((3.5 / 9.5) ** 2 * first)
    assert session.gains.world_stiffness_N_per_m == given[-1][0]
    assert sum("later than expected" in line for line in said) == 1
