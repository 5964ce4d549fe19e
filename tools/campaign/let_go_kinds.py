"""The hand lets go while the force is on: with the delay that was assumed, and with 1 and 2 ms more.

The device is then a mass with friction on a spring that is late.  It has to come to rest, with force or
without; what it must not do is swing by itself.
"""

from __future__ import annotations

import math
import random

from campaign.kinds import Trial, kind
from campaign.rig import Rig
from devices.base import Vector

MODELS = ("omega_3", "sigma_7", "delta_3")
KICK_N, KICK_MS, SETTLE_MS, LOOK_MS = 4.0, 15, 700, 150
AT_REST_M_PER_S = 0.02
UNHELD = {
    "waypoints": [{"time_s": 0.0, "position_m": [0.0, 0.0, 0.0]}],
    "presses": [],
    "hand_mass_kg": 0.0,
    "hand_damping_Ns_per_m": 0.0,
    "hand_stiffness_N_per_m": 0.0,
}


def let_go(more_ms: float, trials: int, rng: random.Random) -> list[Trial]:
    """Kick a handle that nobody holds, each in another direction."""
    found: list[Trial] = []
    for i, model in enumerate(MODELS):
        share = trials // len(MODELS) + (i < trials % len(MODELS))
        if share == 0:
            continue
        with Rig({**UNHELD, "emulate": model}) as rig:
            rig.down.carry = lambda frame: [(1e-3 * more_ms, frame)]
            for _ in range(share):
                found.append(kicked(rig, rng, model))
    return found


def kicked(rig: Rig, rng: random.Random, model: str) -> Trial:
    """Kick once, and see whether it comes to rest."""
    if not rig.engage() and rig.mode != 2:
        return Trial(wrong=[f"{model}: there was no force to begin with"])
    rig.step(100)
    rig.watch()
    kick: Vector = tuple(rng.gauss(0.0, 1.0) for _ in range(3))  # type: ignore[assignment]
    kick = tuple(KICK_N * c / math.hypot(*kick) for c in kick)  # type: ignore[assignment]
    device = rig.driver.device
    push = device.write

    def kicking(force_N: Vector) -> Vector:
        push(tuple(f + k for f, k in zip(force_N, kick, strict=True)))  # type: ignore[arg-type]
        return force_N

    device.write = kicking  # type: ignore[method-assign]
    rig.step(KICK_MS)
    del device.write
    rig.step(SETTLE_MS)
    fastest = 0.0
    for _ in range(LOOK_MS):
        rig.step()
        fastest = max(fastest, math.hypot(*device.true_velocity_m_per_s))
    trial = rig.trial(False, False)
    trial.limit_N = rig.limit_N
    if fastest > AT_REST_M_PER_S:
        trial.wrong.append(f"{model} moves at {fastest:.2f} m/s after {SETTLE_MS} ms")
    return trial


def _enter(more_ms: float) -> None:
    @kind(f"let go, {more_ms:g} ms more", "virtual time", f"nobody holds it; {more_ms:g} ms more delay")
    def _run(trials: int, rng: random.Random) -> list[Trial]:
        return let_go(more_ms, trials, rng)


for _more_ms in (0.0, 1.0, 2.0):
    _enter(_more_ms)
