"""Forces that come later than expected make the coupler softer, smoothly, and stiffer only without force."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from hapticsim_devices.limits import device_table
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.codes import Fault, Safety
from hapticsim.haptics.coupler import Gains, derive_gains
from hapticsim.haptics.joining import limits_of
from hapticsim.haptics.late import EVERY_S, PERCENT, LateForces
from hapticsim.haptics.sampled_loop import growth
from hapticsim.model.scene import Mapping
from hapticsim.model.settings import CouplerSettings
from hapticsim.server.device_session import DeviceSession
from hapticsim.wire.device.round_trip import RoundTrip
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
        straight = soft.translation.stiffness, soft.translation.damping
        assert growth(mass, *straight, TICK_S, (float(t_d),), 0.01) < 1.0
        turn = soft.rotation.stiffness, soft.rotation.damping
        assert growth(1e-4, *turn, TICK_S, (float(t_d),), 0.01) < 1.0
    if late_ms >= 4.0 and name == "omega_3":
        old = gains.translation.stiffness, gains.translation.damping
        assert growth(mass, *old, TICK_S, (delay_s,), 0.01) > 1.0


def test_with_force_it_becomes_softer_smoothly_and_never_stiffer() -> None:
    gains = gains_of("omega_3")
    late = LateForces(gains, TICK_S, TICK_S)
    assert softest(late, 2.0 * TICK_S) == [] and late.look(math.nan, 50.0) is None
    K = [g.translation.stiffness for g in softest(late, 8.0 * TICK_S, 100.0)]
    steps = -np.diff([gains.translation.stiffness, *K])
    assert len(K) > 20 and np.all(steps > 0.0)
    assert steps.max() <= 0.02 * gains.translation.stiffness
    assert softest(late, 1.0 * TICK_S, 200.0) == []
    assert late.share == pytest.approx(3.5 / 9.5)
    stiff = late.look(1.0 * TICK_S, 300.0, is_off=True)
    assert stiff == gains and late.share == 1.0


def test_without_force_it_is_as_soft_as_the_round_trips_ask_for() -> None:
    gains = gains_of("omega_3")
    late = LateForces(gains, TICK_S, TICK_S)
    softest(late, 8.0 * TICK_S)
    found = late.look(4.0 * TICK_S, 100.0, is_off=True)
    assert found is not None and late.share == pytest.approx(3.5 / 5.5)
    assert found.translation.stiffness == pytest.approx((3.5 / 5.5) ** 2 * gains.translation.stiffness)
    assert late.look(4.0 * TICK_S, 101.0, is_off=True) is None
    again = late.look(8.0 * TICK_S, 102.0)
    assert again is not None and again.translation.stiffness < found.translation.stiffness


def test_a_fifth_of_the_forces_late_softens_nothing_and_a_delay_that_stays_does() -> None:
    """Before, twenty late answers of 400 were enough, and held until a device joined."""
    trips, now_ns, late = RoundTrip(), 0, LateForces(gains_of("omega_3"), TICK_S, TICK_S)

    def heard(sent_ns: int) -> None:
        trips.add(sent_ns, now_ns)
        if late.is_due(1e-9 * now_ns):
            late.look(1e-6 * trips.percentile_us(PERCENT, late.newest), 1e-9 * now_ns)

    def run(ticks: int, round_trip_ms: float) -> float:
        nonlocal now_ns
        for _ in range(ticks):
            now_ns += 1_000_000
            heard(now_ns - round(1e6 * round_trip_ms))
        return late.share

    assert run(2000, 1.5) == 1.0
    for _ in range(100):
        run(20, 1.5)
        assert run(5, 6.0) == 1.0
    now_ns += 50_000_000
    for _ in range(50):  # what waited through a stall knows of one force
        heard(now_ns - 51_000_000)
    assert run(400, 1.5) == 1.0
    assert run(400, 5.0) < 0.9
    assert run(2000, 5.0) == pytest.approx(3.5 / 6.5, rel=1e-6)


def test_the_first_answers_after_joining_soften_nothing() -> None:
    late = LateForces(gains_of("omega_3"), TICK_S, TICK_S)
    for k in range(200):
        assert late.look(0.02 if k * EVERY_S < 0.45 else 2.0 * TICK_S, k * EVERY_S) is None
    assert late.share == 1.0


def session_of(
    given: list[np.ndarray], said: list[str], modes: list[Safety]
) -> tuple[DeviceSession, SimpleNamespace]:
    """A session with a device whose forces come 6 ms late, and its round trips; the newest mode counts."""
    loop = SimpleNamespace(
        read_force=lambda: (np.zeros(3), modes[-1], Fault.NONE, 0, 0.0, 0.0),
        write_gains=lambda gains, turning: given.append(gains.copy()),
        assembly=SimpleNamespace(plan=SimpleNamespace(stall_s=0.009)),
    )
    trips = SimpleNamespace(percentile_us=lambda percent, newest: 8000.0)
    scene = hs.load(CONFIGS / "wam_table.yaml")
    session = DeviceSession(scene, loop, SimpleNamespace(round_trip=trips), said.append)
    session._meet(Scripted({}).info.hello())
    return session, trips


def test_a_session_softens_the_coupler_of_its_device_and_says_so_once() -> None:
    given, said, modes = [], [], [Safety.ARMED]
    session, trips = session_of(given, said, modes)
    first = given[0][0]
    end = time.monotonic() + 3.0
    while time.monotonic() < end and session._late.share > 3.5 / 9.5:
        session._soften()
        time.sleep(0.005)
    assert given[-1][0] == pytest.approx((3.5 / 9.5) ** 2 * first)
    assert session.gains.translation.world_stiffness == given[-1][0]
    assert sum("later than expected" in line for line in said) == 1
    trips.percentile_us = lambda percent, newest: 1500.0
    session._late._looked_s = -math.inf  # it is time for another look
    session._soften()
    assert given[-1][0] < 0.2 * first, "while there is force"
    for mode in Safety:  # an interruption may end by itself
        modes.append(mode)
        session._late._looked_s, session._late.share = -math.inf, 3.5 / 9.5
        given.clear()
        session._soften()
        assert [K for K, *_ in given] == ([first] if mode in (Safety.DISARMED, Safety.FAULT) else []), mode


def test_a_coupler_that_became_softer_without_force_is_told_when_there_is_force() -> None:
    given, said, modes = [], [], [Safety.DISARMED]
    session, trips = session_of(given, said, modes)
    session._late._counts_from_s = 0.0
    session._soften()
    assert session._late.share == pytest.approx(3.5 / 9.5) and "later than expected" not in said[-1]
    trips.percentile_us = lambda percent, newest: 1500.0
    modes.append(Safety.ARMING)
    session._late._looked_s = -math.inf
    session._soften()
    assert said[-1].startswith("forces reach the device 6.0 ms later than expected: the coupler is softer")
    modes.append(Safety.DISARMED)
    session.close()
    session._late._looked_s = -math.inf
    session._soften()
    assert session._late.share == pytest.approx(3.5 / 9.5), "the report tells what was felt"
