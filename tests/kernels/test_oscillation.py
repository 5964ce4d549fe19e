"""A device that swings by itself loses its force within a second; hands that shake and tap do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hapticsim_devices.limits import device_table
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.codes import Fault, Safety
from hapticsim.config.load import loads
from hapticsim.haptics.joining import limits_of, scene_gains
from hapticsim.kernels.haptics.oscillation import FADING
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.settings import CouplerSettings
from hapticsim.simulate.virtual import simulate
from tests.safety_kernels import watch_swing
from tests.safety_machine import Machine

HEAVY = """
name: a block that hardly moves
robot:
  bodies: [{name: block, inertial: {mass_kg: MASS, inertia_kg_m2: {xx: 10, yy: 10, zz: 10}}}]
  joints: [{name: free, type: free, parent: world, child: block}]
gravity_m_per_s2: [0, 0, 0]
handle: {body: block}
"""
NOBODY = {"hand_mass_kg": 0.0, "hand_stiffness_N_per_m": 0.0, "hand_damping_Ns_per_m": 0.0}
FORCE = slice(PLACE["hand_force_x_N"], PLACE["hand_force_x_N"] + 3)
LET_GO_S = 0.3


def scene_of(mass_kg: float = 1000.0) -> hs.Scene:
    return loads(HEAVY.replace("MASS", f"{mass_kg:g}"))


def derived(name: str) -> tuple[float, float]:
    """K and B that a device of the table gets."""
    gains = scene_gains(limits_of(Scripted({"emulate": name}).info.hello()), scene_of())
    return gains.translation.stiffness, gains.translation.damping


def let_go(name: str, K: float | None, B: float | None, late: int) -> np.ndarray:
    """A device without a hand, armed and then pushed by the start of its script; forced gains."""
    scene = scene_of()
    settings = CouplerSettings(stiffness_N_per_m=K, damping_Ns_per_m=B, unsafe=K is not None)
    scene = replace(scene, coupler=settings, safety=replace(scene.safety, ramp_s=0.1))
    options = {
        **NOBODY,
        "emulate": name,
        "delay_samples": late,
        "waypoints": [{"time_s": 0.0, "position_m": [0.02, 0.01, 0.0]}],
        "presses": [{"time_s": 0.05, "button": "engage"}],
        "repeat": False,
    }
    scene = replace(scene, mapping=replace(scene.mapping, origin_W=np.zeros(3)))
    with Scripted(options) as hand:
        return simulate(scene, hand, 3.0)


@pytest.mark.parametrize("late", [0, 1, 2])
@pytest.mark.parametrize("name", sorted(device_table()))
def test_with_derived_gains_the_device_rests_in_the_tick_too_and_is_held_on(name: str, late: int) -> None:
    rows = let_go(name, None, None, late)
    assert rows[-1, PLACE["safety"]] == Safety.ARMED
    assert np.linalg.norm(rows[-500:, FORCE], axis=1).max() < 0.5
    assert np.linalg.norm(rows[:, FORCE], axis=1).max() > 1.0  # it was pulled


@pytest.mark.parametrize("late", [1, 3])
@pytest.mark.parametrize("name", sorted(device_table()))
def test_a_swing_by_forced_gains_fades_and_is_told(name: str, late: int) -> None:
    row = device_table()[name]
    K, B = derived(name)
    rows = let_go(name, 2.5 * K, 0.5 * B, late)
    safety, force = rows[:, PLACE["safety"]], np.linalg.norm(rows[:, FORCE], axis=1)
    faults = np.flatnonzero(safety == Safety.FAULT)
    if not faults.size:  # friction of the device is enough
        assert force[-500:].max() < 0.5
        return
    fault = int(rows[faults[0], PLACE["fault"]])
    assert fault in (Fault.OSCILLATION, Fault.OVERLOAD)  # a swing of much power ends at once
    swings = np.flatnonzero(force > 0.9 * row.max_force_N)
    assert faults[0] - (swings[0] if swings.size else 100) < 1000  # ticks of 1 ms
    assert np.all(force[faults] == 0.0)
    steps = np.linalg.norm(np.diff(rows[:, FORCE], axis=0), axis=1)
    assert fault == Fault.OVERLOAD or steps.max() <= 2.0 * (1.0 + 1e-9)  # N a tick, the slew limit


@pytest.mark.parametrize(("away_ms", "late_ms"), [(0, 0), (40, 0), (160, 0), (160, 12)])
def test_a_swing_is_seen_across_interruptions(away_ms: int, late_ms: int) -> None:
    """A device thrown from clamp to clamp at 30 m/s^2, which flies without force for a while each time.

    late_ms : by which its velocity is measured late.
    """
    machine = Machine()
    state, inp, limit_N = machine.state, machine.input, 2.0
    inp.coupler[2], inp.gap[0] = limit_N, 1e-3
    velocities = [0.0]

    def is_taken(side: float) -> bool:
        for ms in range(60 + away_ms):
            away = ms < away_ms
            state.safety[0] = Safety.INTERRUPTED if away else Safety.ARMED
            state.hand_force_D[0] = 0.0 if away else side * limit_N
            velocities.append(velocities[-1] + (0.0 if away else 0.03 * side))
            inp.device[3] = velocities[max(len(velocities) - 1 - late_ms, 0)]
            watch_swing(machine.plan, state, inp)
        return bool(state.swing[FADING])

    state.gain[0] = 1.0
    assert any([is_taken((-1.0) ** n) for n in range(10)])


def test_an_interruption_between_two_reversals_of_a_quick_swing_does_not_start_the_count_anew() -> None:
    """At 13 Hz and 0.25 m/s, with 26 ms without force in every 200 ms: never six reversals without one."""
    machine = Machine()
    state, inp, limit_N = machine.state, machine.input, 2.0
    inp.coupler[2], inp.gap[0], state.gain[0] = limit_N, 1e-3, 1.0
    phase = 0.0
    for ms in range(2000):
        away = ms % 200 < 26
        phase += 0.0 if away else 2.0 * np.pi * 13.0 * 1e-3
        state.safety[0] = Safety.INTERRUPTED if away else Safety.ARMED
        state.hand_force_D[0] = 0.0 if away else limit_N * np.cos(phase)
        inp.device[3] = 0.25 * np.sin(phase)
        watch_swing(machine.plan, state, inp)
    assert state.swing[FADING] == 1.0


@pytest.mark.parametrize(
    ("lasts_ms", "every_ms", "hertz"), [(12, 62, 8.0), (30, 62, 8.0), (20, 100, 5.0), (50, 100, 5.0)]
)
def test_a_hand_that_shakes_keeps_its_force_on_a_computer_that_stands_still_now_and_then(
    lasts_ms: int, every_ms: int, hertz: float
) -> None:
    rng, felt, interruptions = np.random.default_rng(lasts_ms), 0, 0
    for _ in range(8):
        machine, strong = shaken_and_interrupted(rng, lasts_ms, every_ms, hertz)
        assert machine.now is not Safety.FAULT and machine.state.swing[FADING] == 0.0
        felt, interruptions = felt + strong, interruptions + int(machine.state.interruption[2])
    assert felt > 5_000 and interruptions > 500, "the hand had something to lose"


@pytest.mark.parametrize(("tick_ms", "hertz"), [(2, 8.0), (3, 4.5)])
def test_a_hand_that_shakes_keeps_its_force_where_every_tick_takes_longer_than_its_time(
    tick_ms: int, hertz: float
) -> None:
    for seed in range(4):
        machine, strong = shaken_and_interrupted(np.random.default_rng(seed), tick_ms, 1, hertz)
        assert machine.now is Safety.ARMED and machine.state.swing[FADING] == 0.0
        assert strong > 1000


def shaken_and_interrupted(
    rng: np.random.Generator, lasts_ms: int, every_ms: int, hertz: float
) -> tuple[Machine, int]:
    """A machine after 10 s at 0.5 m/s against a handle that stands, and its ticks of much force.

    The computer stands still for ``lasts_ms`` every ``every_ms``, more or less.
    """
    machine, rate, limit_N = Machine(resume_within_s=0.1), 2.0 * np.pi * hertz, 3.0
    state, inp = machine.state, machine.input
    stiffness, phase = rng.uniform(300.0, 3000.0), rng.uniform(0.0, 2.0 * np.pi)
    inp.coupler[2] = limit_N
    machine.request(arm=1)
    strong, at_ms, next_ms = 0, 0, every_ms
    while at_ms < 10_000:
        gap_ms = 1
        if at_ms >= next_ms:
            gap_ms = lasts_ms
            next_ms += round(every_ms * rng.uniform(0.7, 1.3))
        at_ms += gap_ms
        angle = 1e-3 * rate * at_ms + phase
        inp.gap[0] = 1e-3 * gap_ms
        inp.device[0], inp.device[3] = 0.5 / rate * np.sin(angle), 0.5 * np.cos(angle)
        machine.tick()
        pull = machine.gain * np.clip(-stiffness * inp.device[0], -limit_N, limit_N)
        state.hand_force_D[0] = pull
        strong += abs(pull) > 0.25 * limit_N
        watch_swing(machine.plan, state, inp)
    return machine, strong


@pytest.mark.parametrize("seed", range(30))
def test_a_hand_that_shakes_the_device_keeps_its_force(seed: int) -> None:
    """Up to 8 Hz and 0.5 m/s, against handles from 0.1 kg to one that does not move."""
    rng = np.random.default_rng(seed)
    name = sorted(device_table())[seed % len(device_table())]
    rows = shaken(name, rng)
    fault = int(rows[-1, PLACE["fault"]])
    assert not fault & Fault.OSCILLATION
    assert rows[-1, PLACE["safety"]] == Safety.ARMED or fault


def shaken(name: str, rng: np.random.Generator, seconds: float = 4.0) -> np.ndarray:
    """A random hand, damped as hands are, that shakes a random handle."""
    scene = scene_of(float(10.0 ** rng.uniform(-1.0, 3.0)))
    mass, stiffness = float(rng.uniform(0.2, 0.8)), float(rng.uniform(100.0, 1000.0))
    frequency, speed = float(rng.uniform(1.0, 8.0)), float(rng.uniform(0.1, 0.5))
    reach = min(speed / (2.0 * np.pi * frequency), 0.03)
    direction = rng.normal(size=3)
    direction *= reach / np.linalg.norm(direction)
    half = 0.5 / frequency
    turns = np.arange(int((seconds - 0.6) / half))
    waypoints = [{"time_s": 0.6, "position_m": [0.0, 0.0, 0.0]}]
    waypoints += [
        {"time_s": 0.6 + half * (i + 1), "position_m": ((-1) ** i * direction).tolist()}
        for i in turns.tolist()
    ]
    options = {
        "emulate": name,
        "hand_mass_kg": mass,
        "hand_stiffness_N_per_m": stiffness,
        "hand_damping_Ns_per_m": float(2.0 * rng.uniform(0.2, 0.7) * np.sqrt(stiffness * mass)),
        "hand_speed_m_per_s": 5.0,
        "waypoints": waypoints,
        "presses": [{"time_s": 0.05, "button": "engage"}],
        "repeat": False,
    }
    with Scripted(options) as hand:
        return simulate(scene, hand, seconds)
