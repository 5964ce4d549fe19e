"""What the scripted hand, the mouse and the gamepad share: an emulated device, and options to shape it.

A subclass says where the hand wants to be (``_steer``); everything that is felt is the emulated device's.

Options of all three, with their defaults.  They travel with a scene from one of the three to another:

    emulate                     omega_3   row of the device table
    hand_mass_kg                0.5       the hand that holds the handle (see emulated.Hand)
    hand_damping_Ns_per_m       6.5
    hand_stiffness_N_per_m      300
    hand_speed_m_per_s          0.5       hands do not teleport
    delay_samples               0         writes until a force reaches the motors
    velocity_window_s           0.01      span of the velocity difference
    rate_Hz                     1000      rate announced to the server
    max_force_N, workspace_radius_m, apparent_mass_kg, coulomb_friction_N, viscous_friction_Ns_per_m,
    position_resolution_m                 replace the number of the table
    turning                     false     true: the handle also turns about Z, held by the hand (see wrist.py)
    hand_stiffness_Nm_per_rad   1.0       the hand, turning
    hand_damping_Nms_per_rad    0.02
    hand_inertia_kg_m2          2e-4
    hand_speed_rad_per_s        3
    max_torque_Nm, apparent_inertia_kg_m2, coulomb_friction_Nm, viscous_friction_Nms_per_rad
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hapticsim.errors import DeviceError

from .base import ZERO, DeviceInfo, DeviceSample, Driver, Vector
from .emulated import EmulatedDevice, Hand
from .limits import TURNING_DEFAULT, DeviceLimits, device_limits
from .options import Options
from .ranges import RANGES
from .wrist import EmulatedWrist, Grip

LIGHTEST_HANDLE_KG = 0.01  # below, a 1 kHz force loop on the handle says nothing about any device

EMULATION = frozenset(
    "emulate hand_mass_kg hand_damping_Ns_per_m hand_stiffness_N_per_m hand_speed_m_per_s delay_samples "
    "velocity_window_s rate_Hz max_force_N workspace_radius_m apparent_mass_kg coulomb_friction_N "
    "viscous_friction_Ns_per_m position_resolution_m turning hand_stiffness_Nm_per_rad "
    "hand_damping_Nms_per_rad hand_inertia_kg_m2 hand_speed_rad_per_s max_torque_Nm apparent_inertia_kg_m2 "
    "coulomb_friction_Nm viscous_friction_Nms_per_rad".split()
)


class HeldDriver(Driver):
    """A driver without hardware: a target and buttons in, an emulated device out."""

    shared_options: ClassVar[frozenset[str]] = EMULATION

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        o = Options(options)
        limits = _emulated_limits(o)
        held = Hand()
        hand = Hand(
            mass_kg=o.number("hand_mass_kg", held.mass_kg, at_least=0.0),
            damping_Ns_per_m=o.number("hand_damping_Ns_per_m", held.damping_Ns_per_m, at_least=0.0),
            stiffness_N_per_m=o.number("hand_stiffness_N_per_m", held.stiffness_N_per_m, at_least=0.0),
        )
        if limits.apparent_mass_kg + hand.mass_kg < LIGHTEST_HANDLE_KG:
            raise o.refusal(
                "hand_mass_kg",
                f"= {hand.mass_kg:g} leaves less than {LIGHTEST_HANDLE_KG:g} kg at the handle: "
                "raise it or apparent_mass_kg.",
            )
        window_s = o.number("velocity_window_s", 0.01, above=0.0, at_most=0.1)
        self.hand_speed_m_per_s = o.number("hand_speed_m_per_s", 0.5, above=0.0)
        self.device = EmulatedDevice(
            limits,
            hand,
            delay_samples=o.count("delay_samples", 0),
            velocity_window_s=window_s,
        )
        self.wrist = _emulated_wrist(o, limits)
        self.hand_speed_rad_per_s = o.number("hand_speed_rad_per_s", 3.0, above=0.0, at_most=20.0)
        limits = replace(limits, turning=self.wrist.limits if self.wrist is not None else None)
        self._info = DeviceInfo(
            name=self.name,
            model=limits.device,
            limits=limits,
            dof_in=3 if self.wrist is None else 4,
            dof_out=3 if self.wrist is None else 4,
            rate_Hz=o.number("rate_Hz", 1000.0, at_least=1.0, at_most=10_000.0),
            emulated=True,
            velocity_window_s=window_s,
        )
        self._first_s = math.nan  # time of the first read
        self._take_options(o)
        o.finish()

    @property
    def info(self) -> DeviceInfo:
        return self._info

    def _take_options(self, options: Options) -> None:
        """Read the options of the subclass; ``options.finish`` follows."""

    @abstractmethod
    def _steer(self, time_s: float) -> tuple[Vector, int, int]:
        """Target of the hand [m], buttons and further flags, ``time_s`` seconds after the first read."""

    def _steer_rotation(self, time_s: float) -> float:
        """Angle about Z that the hand wants [rad], at that time; asked for only while the handle turns."""
        return 0.0

    def open(self) -> None:
        """Nothing to take hold of."""

    def read(self, now_s: float) -> DeviceSample:
        grid_s = self.device.grid_time(now_s)
        if math.isnan(self._first_s):
            self._first_s = grid_s
        target_m, buttons, flags = self._steer(grid_s - self._first_s)
        if len(target_m) != 3 or not all(map(math.isfinite, target_m)):
            raise DeviceError(
                f"driver {self.name!r}: _steer() gave the target {target_m}: give 3 finite numbers [m]."
            )
        sample = self.device.read(now_s, target_m, buttons)
        sample.flags |= flags
        if self.wrist is not None:
            angle, rate = self.wrist.read(sample.time_s, self._steer_rotation(sample.time_s - self._first_s))
            sample.quaternion_wxyz = (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle))
            sample.angular_velocity_rad_per_s = (0.0, 0.0, rate)
        return sample

    def write(self, force_N: Vector) -> Vector:
        return self.device.write(force_N)

    def write_torque(self, torque_Nm: Vector) -> Vector:
        if self.wrist is None:
            return ZERO
        return (0.0, 0.0, self.wrist.write(torque_Nm[2]))

    def close(self) -> None:
        self.device.let_go()
        if self.wrist is not None:
            self.wrist.let_go()


def _emulated_limits(o: Options) -> DeviceLimits:
    row = device_limits(o.text("emulate", "omega_3") or "")
    # Zero friction is a device somebody may want to study; a massless device still has the hand's mass.
    return replace(
        row,
        max_force_N=_within(o, "max_force_N", row.max_force_N),
        workspace_radius_m=_within(o, "workspace_radius_m", row.workspace_radius_m),
        position_resolution_m=_within(o, "position_resolution_m", row.position_resolution_m),
        apparent_mass_kg=_within(o, "apparent_mass_kg", row.apparent_mass_kg),
        coulomb_friction_N=o.number("coulomb_friction_N", row.coulomb_friction_N, at_least=0.0),
        viscous_friction_Ns_per_m=o.number(
            "viscous_friction_Ns_per_m", row.viscous_friction_Ns_per_m, at_least=0.0
        ),
    )


def _within(o: Options, key: str, default: float) -> float:
    """A number that a server takes of a device; above 0, because a hand holds it."""
    low, high = RANGES[key]
    if low == 0.0:
        return o.number(key, default, above=0.0, at_most=high)
    return o.number(key, default, at_least=low, at_most=high)


def _emulated_wrist(o: Options, limits: DeviceLimits) -> EmulatedWrist | None:
    """The rotation of the handle, if the options ask for it."""
    turns, grip, row = o.flag("turning", False), Grip(), limits.turning or TURNING_DEFAULT
    turning = replace(
        row,
        max_torque_Nm=_within(o, "max_torque_Nm", row.max_torque_Nm),
        apparent_inertia_kg_m2=o.number(
            "apparent_inertia_kg_m2",
            row.apparent_inertia_kg_m2,
            at_least=1e-6,
            at_most=RANGES["apparent_inertia_kg_m2"][1],
        ),
        coulomb_friction_Nm=o.number("coulomb_friction_Nm", row.coulomb_friction_Nm, at_least=0.0),
        viscous_friction_Nms_per_rad=o.number(
            "viscous_friction_Nms_per_rad", row.viscous_friction_Nms_per_rad, at_least=0.0
        ),
    )
    held = Grip(
        stiffness_Nm_per_rad=o.number("hand_stiffness_Nm_per_rad", grip.stiffness_Nm_per_rad, at_least=0.0),
        damping_Nms_per_rad=o.number("hand_damping_Nms_per_rad", grip.damping_Nms_per_rad, at_least=0.0),
        inertia_kg_m2=o.number("hand_inertia_kg_m2", grip.inertia_kg_m2, at_least=0.0),
    )
    if not turns:
        return None
    delay = o.count("delay_samples", 0)
    window_s = o.number("velocity_window_s", 0.01, above=0.0, at_most=0.1)
    return EmulatedWrist(turning, held, delay_samples=delay, velocity_window_s=window_s)
