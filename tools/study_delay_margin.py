"""Devices let go with derived gains: stiffness, delay margin, and whether all come to rest.

    python tools/study_delay_margin.py [--trials 100]

Every device of the table, emulated without a hand, on a handle that does not move, at 1 kHz, with the delay
of the wire and 0, 1 or 2 ms more, through encoder, velocity window, force clamp and slew limit.  With the
table's friction it is let go anywhere in its workspace, at up to 1 m/s along each axis; without any friction
where the coupler pulls with no more than the clamp.  (Thrown from further away, a device without friction can
be faster than the slew limit turns the force.  It swings between the edges of its workspace then, until the
limit of speed or kernels/haptics/oscillation.py takes the force away.)
"""

from __future__ import annotations

import argparse
import math
from collections import deque
from dataclasses import replace

import numpy as np
from hapticsim_devices.emulated import EmulatedDevice, Hand
from hapticsim_devices.limits import TURNING_DEFAULT, DeviceLimits, device_table
from hapticsim_devices.wrist import EmulatedWrist, Grip

from hapticsim.haptics.coupler import DeviceLimits as Limits
from hapticsim.haptics.coupler import Gains, derive_gains
from hapticsim.model.scene import Mapping
from hapticsim.model.settings import CouplerSettings, SafetySettings

TICK_S = 1e-3
WIRE_S = 1e-3  # delay of the wire at 1 kHz (haptics/delay.py)
SECONDS = 8.0
BEFORE_RATIO, BEFORE_HAND = 0.1, 6.5  # how gains were derived before: see before()
AT_REST_M_PER_S, AT_REST_RAD_PER_S = 0.02, 0.5  # a count or two of an encoder over the window


def gains_of(row: DeviceLimits, rotation: str = "none") -> Gains:
    """Gains that a server would derive for a row of the table."""
    t = row.turning or TURNING_DEFAULT
    limits = Limits(
        row.max_force_N,
        row.max_stiffness_N_per_m,
        row.max_damping_Ns_per_m,
        row.apparent_mass_kg,
        row.workspace_radius_m,
        max_torque_Nm=t.max_torque_Nm,
        max_stiffness_Nm_per_rad=t.max_stiffness_Nm_per_rad,
        max_damping_Nms_per_rad=t.max_damping_Nms_per_rad,
        apparent_inertia_kg_m2=t.apparent_inertia_kg_m2,
    )
    return derive_gains(limits, CouplerSettings(rotation=rotation), Mapping(), 1.0 / TICK_S, None, WIRE_S)


def before(row: DeviceLimits) -> float:
    """Stiffness [N/m] that was derived before this condition, on the wire."""
    ceiling, available = 0.5 * row.max_stiffness_N_per_m, 0.8 * BEFORE_HAND
    B = 2.0 * BEFORE_RATIO * math.sqrt(ceiling * row.apparent_mass_kg)
    B = min(B, 0.5 * row.max_damping_Ns_per_m, 0.5 * available)
    return min(ceiling, (available - B) / (0.5 * TICK_S + WIRE_S))


def toward(last: np.ndarray, wanted: np.ndarray, limit: float, most: float) -> np.ndarray:
    """What the tick commands: clamped, and no further from the last than the slew limit allows."""
    size = float(np.linalg.norm(wanted))
    wanted = wanted * (limit / size) if size > limit else wanted
    change = wanted - last
    size = float(np.linalg.norm(change))
    return last + (change * (most / size) if size > most else change)


def let_go(
    row: DeviceLimits, K: float, B: float, late: int, rng: np.random.Generator, seconds: float = SECONDS
) -> tuple[float, float]:
    """Speed [m/s] over the last half second, the largest, and the largest force [N] then."""
    device = EmulatedDevice(row, Hand(0.0, 0.0, 0.0))
    reach, speed = row.workspace_radius_m, 1.0
    if row.viscous_friction_Ns_per_m == 0.0:
        reach, speed = min(reach, row.max_force_N / K), 0.2
    direction = rng.normal(size=3)
    x0 = rng.uniform(0.0, reach) * direction / np.linalg.norm(direction)
    device.read(0.0, tuple(x0))
    device._v = tuple(rng.uniform(-speed, speed, 3))
    force, under_way = np.zeros(3), deque([(0.0, 0.0, 0.0)] * (round(WIRE_S / TICK_S) + late))
    most = SafetySettings().slew_limit_N_per_s * TICK_S
    speed = push = 0.0
    ticks = round(seconds / TICK_S)
    for k in range(ticks):
        sample = device.read(k * TICK_S, (0.0, 0.0, 0.0))
        x, v = np.array(sample.position_m), np.array(sample.velocity_m_per_s)
        force = toward(force, -K * x - B * v, row.max_force_N, most)
        under_way.append(tuple(force))
        device.write(under_way.popleft())
        if k >= ticks - 500:
            speed = max(speed, math.hypot(*device.true_velocity_m_per_s))
            push = max(push, float(np.linalg.norm(force)))
    return speed, push


def let_turn(row: DeviceLimits, K: float, B: float, late: int, rng: np.random.Generator) -> float:
    """Speed [rad/s] over the last half second, the largest."""
    limits = row.turning or TURNING_DEFAULT
    if row.viscous_friction_Ns_per_m == 0.0:
        limits = replace(limits, coulomb_friction_Nm=0.0, viscous_friction_Nms_per_rad=0.0)
    wrist = EmulatedWrist(limits, Grip(0.0, 0.0, 0.0))
    wrist.read(0.0, rng.uniform(-1.0, 1.0))
    wrist._rate = rng.uniform(-10.0, 10.0)
    torque, under_way, rate = 0.0, deque([0.0] * (round(WIRE_S / TICK_S) + late)), 0.0
    most = CouplerSettings().slew_limit_Nm_per_s * TICK_S
    for k in range(round(SECONDS / TICK_S)):
        angle, speed = wrist.read(k * TICK_S, 0.0)
        wanted = min(max(-K * angle - B * speed, -limits.max_torque_Nm), limits.max_torque_Nm)
        torque += min(max(wanted - torque, -most), most)
        under_way.append(torque)
        wrist.write(under_way.popleft())
        if k >= round(SECONDS / TICK_S) - 500:
            rate = max(rate, abs(wrist.true_rate_rad_per_s))
    return rate


def without_friction(row: DeviceLimits) -> DeviceLimits:
    """The same device, with nothing that would bring it to rest."""
    return replace(row, coulomb_friction_N=0.0, viscous_friction_Ns_per_m=0.0)


def main() -> None:
    """Print a row per device."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=10, help="per device, delay and friction")
    trials = parser.parse_args().trials
    print(
        "| device | K before | K | B | rests up to | swings at +0 | +1 | +2 ms | turning at +0 | +1 | +2 ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, row in device_table().items():
        gains = gains_of(row, "z")
        straight, turning = gains.translation, gains.rotation
        K, B = straight.stiffness, straight.damping
        assert turning is not None
        cells, turns = [], []
        for late in (0, 1, 2):
            rng = np.random.default_rng(late)
            moving = turned = 0
            for friction in (row, without_friction(row)):
                for _ in range(trials):
                    moving += let_go(friction, K, B, late, rng)[0] > AT_REST_M_PER_S
                    rate = let_turn(friction, turning.stiffness, turning.damping, late, rng)
                    turned += rate > AT_REST_RAD_PER_S
            cells.append(f"{moving} of {2 * trials}")
            turns.append(f"{turned} of {2 * trials}")
        print(
            f"| {name} | {before(row):.0f} | {K:.0f} | {B:.1f} | {1e3 * straight.stable_until_s:.1f} ms | "
            f"{' | '.join(cells)} | {' | '.join(turns)} |"
        )


if __name__ == "__main__":
    main()
