"""The hand lets go while the force is on: with the delay that was assumed, and with 1 and 2 ms more.

The device is then a mass with friction on a spring that is late.  It has to come to rest, with force or
without; what it must not do is swing by itself.  Where the delay grows further, the measured round trip makes
the coupler softer; where its gains are beyond what the device can render, the force fades.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hapticsim_devices.base import Vector

from campaign.kinds import Trial, kind
from campaign.rig import MS_NS, Rig
from hapticsim.codes import Fault, Safety

MODELS = ("omega_3", "sigma_7", "delta_3")
KICK_N, KICK_MS, SETTLE_MS, LOOK_MS = 4.0, 15, 700, 150
AT_REST_M_PER_S = 0.02
LONG_MS, MEASURE_MS = 6, 2500
STIFFER, SOFTER, FADE_MS, INTERRUPTED_MS = 2.5, 0.5, 2500, 4000
EVERY_MS, AWAY_MS = 300, 20  # interruptions
UNHELD = {
    "waypoints": [{"time_s": 0.0, "position_m": [0.0, 0.0, 0.0]}],
    "presses": [],
    "hand_mass_kg": 0.0,
    "hand_damping_Ns_per_m": 0.0,
    "hand_stiffness_N_per_m": 0.0,
}


def let_go(prepare: Callable[[Rig], Any], settle_ms: int, trials: int, rng: random.Random) -> Iterator[Trial]:
    """Kick a handle that nobody holds, each in another direction.

    prepare : is called where the force is on, before each kick; may return what says afterwards what was
        wrong.
    """
    for i, model in enumerate(MODELS):
        share = trials // len(MODELS) + (i < trials % len(MODELS))
        if share == 0:
            continue
        with Rig({**UNHELD, "emulate": model}) as rig:
            for _ in range(share):
                yield kicked(rig, rng, model, prepare, settle_ms)


def kicked(rig: Rig, rng: random.Random, model: str, prepare: Callable[[Rig], Any], settle_ms: int) -> Trial:
    """Kick once, and see whether it comes to rest."""
    if not rig.engage() and rig.mode != Safety.ARMED:
        return Trial(wrong=[f"{model}: there was no force to begin with"])
    judge = prepare(rig)
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
    rig.step(settle_ms)
    fastest = 0.0
    for _ in range(LOOK_MS):
        rig.step()
        fastest = max(fastest, math.hypot(*device.true_velocity_m_per_s))
    trial = rig.trial(False, False)
    trial.limit_N = rig.limit_N
    if fastest > AT_REST_M_PER_S:
        trial.wrong.append(f"{model} moves at {fastest:.2f} m/s after {settle_ms} ms")
    if judge is not None and (wrong := judge()):
        trial.wrong.append(f"{model}: {wrong}")
    return trial


def later(rig: Rig, more_ms: float) -> None:
    """Forces come so much later than the gains of the coupler assume."""
    rig.down.carry = lambda frame: [(1e-3 * more_ms, frame)]


def measured(rig: Rig) -> None:
    """They come 6 ms later, and there is time to find that out."""
    later(rig, LONG_MS)
    if not rig.is_softened:
        rig.step(MEASURE_MS)


def stiffen(rig: Rig) -> None:
    """Gains that whoever set ``coupler.unsafe`` may have given it."""
    gains = rig.session.gains
    assert gains is not None
    K, B = STIFFER * gains.translation.world_stiffness, SOFTER * gains.translation.world_damping
    rig.loop.write_gains(np.array([K, B, gains.translation.limit]))


def interrupted(rig: Rig) -> Callable[[], str]:
    """The same gains, and forces that stay away for AWAY_MS every EVERY_MS, as on a busy computer."""
    before = interruptions(rig)
    stiffen(rig)
    rig.down.carry = lambda frame: [] if rig.clock.now_ns // MS_NS % EVERY_MS < AWAY_MS else [(0.0, frame)]

    def wrong() -> str:
        _, mode, fault, *_ = rig.loop.read_force()
        if mode != Safety.FAULT:
            return "" if interruptions(rig) > before else "nothing was interrupted"
        of_a_swing = fault & (Fault.OSCILLATION | Fault.OVERLOAD)
        silent = fault & Fault.DEVICE_SILENT  # while it faded
        return "" if of_a_swing and fault == of_a_swing | silent else f"ended by {fault!r}"

    return wrong


def interruptions(rig: Rig) -> int:
    """Those after which the force came back, since the rig began."""
    return int(rig.loop.statistics()["interruptions"])


def _enter(name: str, about: str, prepare: Callable[[Rig], Any], settle_ms: int = SETTLE_MS) -> None:
    @kind(name, "virtual time", about)
    def _run(trials: int, rng: random.Random) -> Iterator[Trial]:
        return let_go(prepare, settle_ms, trials, rng)


for _more_ms in (0.0, 1.0, 2.0):
    _enter(f"let go, {_more_ms:g} ms more", f"nobody holds it; {_more_ms:g} ms more delay",
           functools.partial(later, more_ms=_more_ms))  # fmt: skip
_enter(
    f"let go, {LONG_MS} ms more, measured", f"nobody holds it; {LONG_MS} ms more delay for a while", measured
)
_enter("let go, gains too stiff", f"nobody holds it; {STIFFER:g} times the stiffness, {SOFTER:g} the damping",
       stiffen, FADE_MS)  # fmt: skip
_enter("let go, gains too stiff, interrupted", f"the same, and no force for {AWAY_MS} ms every {EVERY_MS} ms",
       interrupted, INTERRUPTED_MS)  # fmt: skip
