"""The force guard under sessions, commands and measurements of any kind: no force breaks a promise."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.guard import ForceGuard
from hapticsim_devices.limits import MAX_SLEW_N_PER_S, Heating

from hapticsim.codes import Safety

PERIOD = 1e-3
ODD = (math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0)
GOOD_TICK = ((0.0, 0.0, 0.0), ZERO, Safety.DISARMED, 0.001, 1e-3, 0.005, True, False, "engage")


def drawn(rng: random.Random) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Terms of a session, and what comes in its ticks: mostly what lets force through."""
    terms = (
        rng.choice([0.0, 3.3, 12.0]),  # device limits
        rng.choice([0.0, 0.2]),
        rng.choice([0.0, rng.uniform(0.0, 15.0), 1000.0]),  # the server's
        10.0 ** rng.uniform(1.0, 7.0),
        10.0 ** rng.uniform(-3.0, 1.0),
        rng.choice([0.0, rng.uniform(0.0, 0.5), 100.0]),
        rng.choice([0.0, 0.1, 1.0]),
        rng.choice([None, Heating(1.0, time_constant_s=0.05)]),
    )

    def vector(size: float) -> tuple[float, ...]:
        return tuple(rng.choice(ODD) if rng.random() < 0.01 else rng.gauss(0.0, size) for _ in range(3))

    def mostly(good: Any, *others: Any) -> Any:
        return rng.choice(others) if rng.random() < 0.04 else good

    ticks = [
        (
            mostly(vector(10.0 ** rng.uniform(-2.0, 2.0)), None),
            vector(0.3),
            mostly(Safety.ARMED, -1, 99, *map(int, Safety)),
            mostly(0.001, 0.0, 0.004, 0.0061, 0.012, 0.09, 1.0, math.inf),  # age
            mostly(1e-3, 1e-4, 2e-3, 5e-3, 0.011, 0.05, 1.0),  # elapsed
            mostly(0.005, 0.0, 0.019, 0.021, math.inf),  # answered
            mostly(True, False),  # usable
            mostly(False, True),  # stop
            mostly("", "engage", "begin"),
        )
        for _ in range(rng.randint(1, 120))
    ]
    for place in range(0, len(ticks), rng.randint(10, 60)):
        ticks[place] = GOOD_TICK
    return terms, ticks


@pytest.mark.parametrize("seed", range(8))
def test_whatever_a_server_and_a_device_do_no_force_breaks_a_promise(seed):
    rng, pushed, turned = random.Random(seed), 0, 0
    for _ in range(100):
        pushes, turns = keep_promises(*drawn(rng))
        pushed, turned = pushed + pushes, turned + turns
    assert pushed > 300 and turned > 100


def keep_promises(terms, ticks) -> tuple[int, int]:
    """Hold a guard against its promises in every tick; return in how many there was force, and torque."""
    pushes = turns = 0
    limit_N, limit_Nm, said_N, said_slew, timeout_s, said_Nm, resume_s, heating = terms
    guard = ForceGuard(limit_N, limit_Nm, heating=heating)

    def begin() -> None:
        guard.begin(said_N, said_slew, timeout_s, PERIOD, said_Nm, resume_s)

    begin()
    most_N, slew = min(limit_N, said_N), min(said_slew, MAX_SLEW_N_PER_S)
    most_Nm = min(limit_Nm, said_Nm or limit_Nm)
    most_Nm_per_s = slew * limit_Nm / limit_N if limit_N else limit_Nm / 0.005
    before, torque_before = ZERO, ZERO
    engaged = seen_still = False  # since whatever took the force away for good
    must_engage = False
    quiet_s = 0.0
    for force_N, torque_Nm, mode, age_s, elapsed_s, answered_s, usable, stop, then in ticks:
        force = guard.apply(
            force_N, mode, age_s, elapsed_s, torque_Nm, answered_s=answered_s, usable=usable, stop=stop
        )
        torque = guard.torque_Nm
        size, turn = math.hypot(*force), math.hypot(*torque)
        assert math.isfinite(size) and math.isfinite(turn)
        assert size <= most_N * (1.0 + 1e-12) and turn <= most_Nm * (1.0 + 1e-12)
        step_s = min(elapsed_s, 0.002)
        assert force == ZERO or math.dist(before, force) <= slew * step_s * (1.0 + 1e-9) + 1e-12
        assert (
            turn == 0.0 or math.dist(torque_before, torque) <= most_Nm_per_s * step_s * (1.0 + 1e-9) + 1e-12
        )
        heard = force_N is not None and age_s < 0.02 and answered_s <= 0.04
        quiet_s = 0.0 if heard else quiet_s + elapsed_s
        if stop:
            engaged, seen_still, must_engage = False, False, True
        elif heard and all(map(math.isfinite, (*force_N, *torque_Nm))) and mode in (0, 3):
            seen_still = True
        if quiet_s > resume_s + 0.02:
            seen_still = False
        pushes, turns = pushes + (size > 0.0), turns + (turn > 0.0)
        if size > 0.0 or turn > 0.0:
            assert heard and usable and not stop and mode in (1, 2)
            assert age_s <= min(timeout_s, 0.02) and elapsed_s <= min(timeout_s, 0.02)
            assert seen_still, "force without the server having been seen disarmed"
            assert engaged or not must_engage, "force after a stop, and nobody engaged"
        if then == "engage":
            if guard.engage():
                assert not stop and seen_still
                engaged, must_engage = True, False
        elif then == "begin":
            begin()
            force = torque = ZERO
            seen_still = False
        before, torque_before = force, torque
    return pushes, turns
