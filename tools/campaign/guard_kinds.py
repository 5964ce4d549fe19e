"""The guard alone, thousands of ticks a trial: whatever comes, no clamp and no slew limit is passed."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from hapticsim_devices.base import ZERO, Vector
from hapticsim_devices.guard import ForceGuard
from hapticsim_devices.limits import device_table

from campaign.kinds import Trial, kind
from hapticsim.codes import Safety

TICKS, PERIOD_S, TIMEOUT_S = 400, 1e-3, 0.010
LIMIT_N, SLEW_N_PER_S = 12.0, 2000.0
ODD = (math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0)


def begun(limit_N: float, limit_Nm: float = 0.0, timeout_s: float = TIMEOUT_S) -> ForceGuard:
    """A guard whose server was seen disarmed."""
    guard = ForceGuard(limit_N, limit_Nm)
    guard.begin(1000.0, SLEW_N_PER_S, timeout_s, PERIOD_S)
    guard.apply(ZERO, int(Safety.DISARMED), 0.0, PERIOD_S)
    return guard


def weigh(trial: Trial, before: Vector, after: Vector, elapsed_s: float) -> None:
    """Add what one tick did."""
    size = math.hypot(*after)
    if not math.isfinite(size):
        trial.wrong.append("a force that is not finite")
        return
    trial.largest_N = max(trial.largest_N, size)
    if size > 0.0:
        step = math.dist(before, after)
        trial.step_N = max(trial.step_N, step)
        trial.step_share = max(trial.step_share, step / (SLEW_N_PER_S * elapsed_s))


def has_pushed(trial: Trial) -> Trial:
    """The trial, wrong where no force was given at all: then its bounds say nothing."""
    if trial.largest_N == 0.0:
        trial.wrong.append("no force at all")
    return trial


@kind("guard: anything at all", "guard", "random forces, modes, ages and gaps, some of them not finite")
def _anything(trials: int, rng: random.Random) -> list[Trial]:
    found = []
    for _ in range(trials):
        guard, trial, last = begun(LIMIT_N), Trial(limit_N=LIMIT_N), ZERO
        for _ in range(TICKS):
            size = 10.0 ** rng.uniform(-3.0, 3.0)
            force = tuple(rng.choice(ODD) if rng.random() < 0.02 else rng.gauss(0.0, size) for _ in range(3))
            mode = rng.choice((2, 2, 2, 2, 2, 2, 1, 0, 3, 4, 99))
            age = rng.choice((0.0, 0.001, 0.001, 0.001, rng.expovariate(100.0)))
            elapsed = rng.choice((1e-3, 1e-3, 1e-3, rng.expovariate(500.0) + 1e-6))
            now = guard.apply(force, mode, age, elapsed)  # type: ignore[arg-type]
            weigh(trial, last, now, elapsed)
            if now != ZERO and (mode not in (1, 2) or age > TIMEOUT_S or not math.isfinite(sum(force))):
                trial.wrong.append(f"force in mode {mode}, age {1e3 * age:.1f} ms, command {force}")
            last = now
        found.append(has_pushed(trial))
    return found


@kind("guard: one odd sample", "guard", "one command in ten is not finite; the slew limit holds after it")
def _odd(trials: int, rng: random.Random) -> list[Trial]:
    found = []
    for _ in range(trials):
        guard, trial, last = begun(LIMIT_N), Trial(limit_N=LIMIT_N), ZERO
        for _ in range(TICKS):
            odd = rng.random() < 0.1
            now = guard.apply((rng.choice(ODD[:3]) if odd else 11.0, 0.0, 0.0), 2, 1e-3, PERIOD_S)
            weigh(trial, last, now, PERIOD_S)
            last = now
        found.append(has_pushed(trial))
    return found


@kind("guard: torque only", "guard", "a device that turns the hand and cannot push it")
def _torque_only(trials: int, rng: random.Random) -> list[Trial]:
    found = []
    for _ in range(trials):
        limit = rng.uniform(0.05, 1.0)
        trial, turned = Trial(limit_N=0.0), False
        try:
            guard = begun(0.0, limit)
            for _ in range(TICKS):
                torque = (rng.gauss(0.0, 1.0), 0.0, rng.gauss(0.0, 1.0))
                now = guard.apply((rng.gauss(0.0, 9.0), 0.0, 0.0), 2, 1e-3, PERIOD_S, torque)
                weigh(trial, ZERO, now, PERIOD_S)
                turned = turned or guard.torque_Nm != ZERO
                if not math.hypot(*guard.torque_Nm) <= limit * (1.0 + 1e-9):
                    trial.wrong.append(f"{math.hypot(*guard.torque_Nm)} N m where {limit} are allowed")
        except (ZeroDivisionError, ValueError) as error:
            trial.wrong.append(f"{type(error).__name__}: {error}")
        if not turned:
            trial.wrong.append("no torque at all")
        found.append(trial)
    return found


@kind("guard: terms without bounds", "guard", "a server that allows 0.02 to 10 s of silence falls silent")
def _terms(trials: int, rng: random.Random) -> list[Trial]:
    found = []
    for _ in range(trials):
        guard = begun(LIMIT_N, timeout_s=10.0 ** rng.uniform(-1.7, 1.0))
        trial, last, age = Trial(limit_N=LIMIT_N), ZERO, 1e-3
        for _ in range(100):
            last = guard.apply((9.0, 0.0, 0.0), 2, age, PERIOD_S)
            weigh(trial, last, last, PERIOD_S)
        has_pushed(trial)
        while last != ZERO and age < 1.0:
            age += PERIOD_S
            last = guard.apply((9.0, 0.0, 0.0), 2, age, PERIOD_S)
        if age > 0.020 + PERIOD_S:
            trial.wrong.append(f"force from a command that was {1e3 * age:.0f} ms old; this end allows 20")
        found.append(trial)
    return found


@kind(
    "guard: hot motors",
    "guard",
    "all the force there is for ten time constants of the motors",
)
def _heat(trials: int, rng: random.Random) -> list[Trial]:
    names = sorted(device_table())
    found = []
    for n in range(trials):
        limits = device_table()[names[n % len(names)]]
        heating = limits.heating
        trial = Trial(limit_N=limits.max_force_N)
        found.append(trial)
        if heating is None:
            continue
        heating = replace(heating, time_constant_s=2.0)
        guard = ForceGuard(limits.max_force_N, heating=heating)
        guard.begin(1000.0, SLEW_N_PER_S, TIMEOUT_S, PERIOD_S)
        guard.apply(ZERO, int(Safety.DISARMED), 0.0, PERIOD_S)
        last, squares, seconds = ZERO, 0.0, 20.0
        for k in range(round(seconds / PERIOD_S)):
            now = guard.apply((2.0 * limits.max_force_N, 0.0, 0.0), 2, 1e-3, PERIOD_S)
            weigh(trial, last, now, PERIOD_S)
            last = now
            if k * PERIOD_S >= seconds / 2.0:
                squares += math.hypot(*now) ** 2
        has_pushed(trial)
        effective = math.sqrt(squares / (seconds / 2.0 / PERIOD_S))
        if effective > 1.05 * heating.continuous_force_N:
            trial.wrong.append(f"{effective:.1f} N for long, of {heating.continuous_force_N:g} allowed")
    return found
