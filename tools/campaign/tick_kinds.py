"""The tick alone: requests and inputs as no session sends them."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from campaign.kinds import Trial, kind
from campaign.rig import RAMP_S, SCENE
from hapticsim.codes import DeviceFlag, Safety
from hapticsim.haptics.joining import limits_of, scene_gains
from hapticsim.kernels.memory.arrays import MODE
from hapticsim.simulate.fork import Fork

TICKS, LIMIT_N = 400, 12.0
SWAY_M, SWAY_TICKS = 0.02, 300
FORCEFUL = (int(Safety.ARMING), int(Safety.ARMED))
ODD = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e9)


@functools.cache
def bench() -> tuple[hs.Simulation, Fork]:
    """A scene whose coupler has the gains of a device, and the state it starts with."""
    scene = hs.load(SCENE)
    sim = hs.Simulation(replace(scene, safety=replace(scene.safety, ramp_s=RAMP_S)))
    gains = scene_gains(limits_of(Scripted({}).info.hello()), sim.scene)
    sim._input.coupler[:] = gains.translation.world_stiffness, gains.translation.world_damping, LIMIT_N
    return sim, sim.fork()


def begun() -> hs.Simulation:
    """The scene as it starts, with a device that is ready."""
    sim, start = bench()
    sim.restore(start)
    sim._input.device[:] = 0.0
    sim._input.device[6:8] = 1e-3, 1.0
    sim._input.flags[0] = int(DeviceFlag.READY)
    sim._input.gap[:] = sim.scene.tick_s, 0.0
    sim._input.requests[:] = 0
    return sim


def sway(sim: hs.Simulation, k: int) -> None:
    """Where the hand is at a tick."""
    turn = 2.0 * math.pi / SWAY_TICKS
    device = sim._input.device
    device[0], device[3] = SWAY_M * math.sin(turn * k), SWAY_M * turn / sim.scene.tick_s * math.cos(turn * k)


def weigh(trial: Trial, before: np.ndarray, sim: hs.Simulation) -> np.ndarray:
    """Add what one tick did; returns its force."""
    force = np.array(sim._output.hand_force_D)
    size, step = float(np.linalg.norm(force)), float(np.linalg.norm(force - before))
    if not math.isfinite(size):
        trial.wrong.append("a force that is not finite")
    trial.largest_N = max(trial.largest_N, size)
    if size > 0.0:
        trial.step_N = max(trial.step_N, step)
        allowed = sim.scene.safety.slew_limit_N_per_s * sim.scene.tick_s
        trial.step_share = max(trial.step_share, step / allowed)
    return force


@kind("requests that run backwards", "tick", "counts of requests fall, stand and jump, as of another session")
def _backwards(trials: int, rng: random.Random) -> Iterator[Trial]:
    for _ in range(trials):
        sim, trial = begun(), Trial(limit_N=LIMIT_N)
        most, force = [0, 0], np.zeros(3)
        for k in range(TICKS):
            sway(sim, k)
            asked = sim._input.requests
            for j in range(2):
                if rng.random() < (0.05, 0.02)[j]:
                    asked[j] = rng.choice((0, 1, asked[j] + 1, max(asked[j] - 1, 0), rng.randrange(40)))
            was = int(sim._state.safety[MODE])
            sim.step()
            now = int(sim._state.safety[MODE])
            rose = [int(asked[j]) > most[j] for j in range(2)]
            most = [max(most[j], int(asked[j])) for j in range(2)]
            if now in FORCEFUL and was not in FORCEFUL and not rose[0]:
                trial.wrong.append("armed by a count that did not rise")
            if now in FORCEFUL and rose[1]:
                trial.wrong.append("armed while disarming was asked for")
            if rose[0] and not rose[1] and now not in FORCEFUL:
                trial.wrong.append("a count that rose was not heard")
            force = weigh(trial, force, sim)
        yield trial


@kind("inputs that are not finite", "tick", "one input in fifty is NaN, infinite or huge, for a tick")
def _odd_inputs(trials: int, rng: random.Random) -> Iterator[Trial]:
    for _ in range(trials):
        sim, trial = begun(), Trial(limit_N=LIMIT_N)
        force = np.zeros(3)
        for k in range(TICKS):
            device, gap = sim._input.device, sim._input.gap
            sway(sim, k)
            kept = device.copy(), gap.copy()
            sim._input.requests[0] = 1 + k // 40
            if spoilt := rng.random() < 0.02:
                place = rng.randrange(9)
                if place < 7:
                    device[place] = rng.choice(ODD)
                else:
                    gap[place - 7] = abs(rng.choice(ODD))
            sim.step()
            force = weigh(trial, force, sim)
            if spoilt and not np.all(np.isfinite(sim._state.q)):
                trial.wrong.append("a state that is not finite")
            device[:], gap[:] = kept
        yield trial
