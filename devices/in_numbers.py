"""A scripted hand and its emulated device in numbers, for a run in virtual time that is one compiled loop.

``hapticsim.kernels.haptics.held_device`` computes with them what ``hapticsim_devices.emulated`` and
``hapticsim_devices.wrist`` compute, to the bit; the names of the numbers are its.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from .base import AT_LIMIT, READY, SATURATED, Vector
from .emulated import (
    EDGE_DAMPING_NS_PER_M,
    EDGE_STIFFNESS_N_PER_M,
    MAX_CATCH_UP_STEPS,
    STEP_S,
    EmulatedDevice,
)
from .script import Press, Turn, minimum_jerk
from .wrist import EmulatedWrist


class ScriptedHand(Protocol):
    """What is read of a scripted hand: its device, and its script between samples."""

    device: EmulatedDevice
    wrist: EmulatedWrist | None
    turns: tuple[Turn, ...]
    presses: tuple[Press, ...]
    _first_s: float
    _start_s: float
    _repeats: bool
    _times: list[float]
    _positions: list[Vector]
    _turn_times: list[float]
    _angles: list[tuple[float]]

    @property
    def duration_s(self) -> float:
        """Length of the script [s]."""


def device_numbers(driver: ScriptedHand) -> dict[str, Any]:
    """Constants and memory of a device that was not read yet."""
    device, wrist = driver.device, driver.wrist
    limits, hand = device.limits, device.hand
    late = len(device._pending)
    return {
        "step_s": STEP_S,
        "most_steps": MAX_CATCH_UP_STEPS,
        "ready": READY,
        "saturated": SATURATED,
        "at_limit": AT_LIMIT,
        "transition": np.array(device._transition),
        "hand_damping": hand.damping_Ns_per_m,
        "coulomb": limits.coulomb_friction_N,
        "max_force": limits.max_force_N,
        "radius": limits.workspace_radius_m,
        "edge_stiffness": EDGE_STIFFNESS_N_PER_M,
        "edge_damping": EDGE_DAMPING_NS_PER_M,
        "resolution": limits.position_resolution_m,
        "window_s": device._window_s,
        "rotates": int(wrist is not None),
        "rotation_transition": np.array(wrist._transition) if wrist else np.zeros(6),
        "grip_damping": wrist.grip.damping_Nms_per_rad if wrist else 0.0,
        "rotation_coulomb": wrist.limits.coulomb_friction_Nm if wrist else 0.0,
        "max_torque": wrist.limits.max_torque_Nm if wrist else 0.0,
        "angular_resolution": wrist.limits.angular_resolution_rad if wrist else 1.0,
        "done": np.zeros(3, np.int64),
        "motion": np.zeros(9),
        "force": np.zeros(4),
        "rotation": np.zeros(3),
        "late": np.zeros((late, 4)),
        "history": np.zeros((math.ceil(device._window_s / STEP_S) + 4, 5)),
        "places": np.zeros(3, np.int64),
        "sample": np.zeros(8),
        "flags": np.zeros(1, np.int64),
    }


def script_table(driver: ScriptedHand, times_s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets (n, 3) [m], angles (n,) [rad] and buttons (n,) of samples read at times_s (n,), from 0 on."""
    t = np.floor(times_s / STEP_S + 1e-6) * STEP_S  # EmulatedDevice.grid_time
    if driver._repeats:
        t = np.mod(t, driver.duration_s)
    targets = places_between(driver._times, np.array(driver._positions), t)
    angles = (
        places_between(driver._turn_times, np.array(driver._angles), t)[:, 0] if driver.turns else 0.0 * t
    )
    buttons = np.zeros(len(t), np.int64)
    for press in driver.presses:
        buttons[(press.time_s <= t) & (t < press.time_s + press.hold_s)] |= press.button
    return np.ascontiguousarray(targets), np.ascontiguousarray(angles), buttons


def places_between(times: list[float], places: np.ndarray, t: np.ndarray) -> np.ndarray:
    """``script.place_between`` for many times (n,) at once; places (m, d), result (n, d)."""
    found = np.empty((len(t), places.shape[1]))
    k = np.searchsorted(times, t, side="right")
    before, after = k == 0, k == len(times)
    found[before], found[after] = places[0], places[-1]
    inside = ~(before | after)
    k, at = k[inside], np.array(times)
    s = (t[inside] - at[k - 1]) / (at[k] - at[k - 1])
    s = minimum_jerk(s)[:, None]  # type: ignore[index]
    found[inside] = places[k - 1] + s * (places[k] - places[k - 1])
    return found


def give_back(driver: ScriptedHand, numbers: Any) -> None:
    """Leave the driver where the run in numbers ended."""
    device, wrist, done = driver.device, driver.wrist, numbers.done
    if done[1] == 0:
        return
    m, f, t = numbers.motion.tolist(), numbers.force.tolist(), numbers.rotation.tolist()
    steps, time_s = int(done[0]), int(done[0]) * STEP_S
    first, count, place = (int(n) for n in numbers.places)
    rows = [numbers.history[(first + i) % len(numbers.history)].tolist() for i in range(count)]
    late = np.roll(numbers.late, -place, axis=0).tolist()
    driver._first_s = driver._start_s = device._start_s = 0.0
    device._steps_done, device._saturated = steps, bool(done[2])
    device._x, device._v, device._target = (m[0], m[1], m[2]), (m[3], m[4], m[5]), (m[6], m[7], m[8])
    device._force = (f[0], f[1], f[2])
    device._history.clear()
    device._history.extend((r[0], (r[1], r[2], r[3])) for r in rows)
    device._pending.clear()
    device._pending.extend((w[0], w[1], w[2]) for w in late)
    if wrist is not None:
        wrist._time_s, wrist._torque = time_s, f[3]
        wrist._angle, wrist._rate, wrist._target = t
        wrist._history.clear()
        wrist._history.extend((r[0], r[4]) for r in rows)
        wrist._pending.clear()
        wrist._pending.extend(w[3] for w in late)
