"""The contract of a driver: what the bridge and the simulator ask of whatever the hand holds.

Frames and units: SI; the device frame D is right-handed, X right, Y away from the user, Z up, origin at the
centre of the workspace.  A driver whose maker chose other axes converts at its own door.  A force is always
the force that the device applies to the hand.

Time is an argument.  No driver reads a clock to decide what to do, so the same driver runs against the clock
in the bridge and in virtual time, in lockstep with a simulation::

    with Scripted({"emulate": "omega_3"}) as device:
        while t < 15.0:
            t += h
            sample = device.read(t)
            ...
            device.write(force_N)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Self

from hapticsim.errors import DeviceError
from hapticsim.wire.messages.device import Button, DeviceFlag, Hello

from .limits import DeviceLimits
from .ranges import check_fields, check_part

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # (w, x, y, z), unit

ZERO: Vector = (0.0, 0.0, 0.0)
UPRIGHT: Quaternion = (1.0, 0.0, 0.0, 0.0)

# Plain integers of the bits that drivers set in every tick.
ENGAGE = int(Button.ENGAGE)
DISENGAGE = int(Button.DISENGAGE)
FIRST = int(Button.FIRST)  # free: the scene says what it switches
SECOND = int(Button.SECOND)
READY = int(DeviceFlag.READY)
SATURATED = int(DeviceFlag.SATURATED)
STOPPED = int(DeviceFlag.STOPPED)
AT_LIMIT = int(DeviceFlag.AT_LIMIT)


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What a driver says about itself before it is opened.

    Raises
    ------
    ValueError : a field is not what docs/devices.md allows.
    """

    name: str  # entry-point name of the driver
    model: str  # device it drives or emulates
    limits: DeviceLimits
    dof_in: int  # degrees of freedom that are measured
    dof_out: int  # degrees of freedom that can push
    rate_Hz: float  # rate at which it is meant to be read
    emulated: bool  # True: no hardware, forces go to an emulated hand
    hold_to_run: int = 0  # buttons (bit mask) of which one must stay down for force; 0: none has to
    velocity_window_s: float = 0.01  # over which velocities are taken from positions; 0: they are measured

    def __post_init__(self) -> None:
        check_fields(self)
        check_part(self, "limits", DeviceLimits, optional=False)

    def hello(self) -> Hello:
        """The same as the first message to a server."""
        limits, turning = self.limits, self.limits.turning
        return Hello(
            name=self.model,
            driver=self.name,
            model=self.model,
            max_force_N=limits.max_force_N,
            max_stiffness_N_per_m=limits.max_stiffness_N_per_m,
            max_damping_Ns_per_m=limits.max_damping_Ns_per_m,
            workspace_radius_m=limits.workspace_radius_m,
            apparent_mass_kg=limits.apparent_mass_kg,
            position_resolution_m=limits.position_resolution_m,
            rate_Hz=self.rate_Hz,
            dof_in=self.dof_in,
            dof_out=self.dof_out,
            emulated=self.emulated,
            max_torque_Nm=turning.max_torque_Nm if turning else 0.0,
            max_stiffness_Nm_per_rad=turning.max_stiffness_Nm_per_rad if turning else 0.0,
            max_damping_Nms_per_rad=turning.max_damping_Nms_per_rad if turning else 0.0,
            apparent_inertia_kg_m2=turning.apparent_inertia_kg_m2 if turning else 0.0,
            velocity_window_s=self.velocity_window_s,
        )


@dataclass(slots=True)
class DeviceSample:
    """What was measured at one instant, in the device frame."""

    time_s: float  # instant of the measurement, on the caller's time
    position_m: Vector
    velocity_m_per_s: Vector = ZERO
    quaternion_wxyz: Quaternion = UPRIGHT
    angular_velocity_rad_per_s: Vector = ZERO
    buttons: int = 0  # bit mask (wire.messages.Button): ENGAGE, DISENGAGE, FIRST to FOURTH, others free
    force_N: Vector = ZERO  # force the device applies to the hand now
    flags: int = READY  # bit mask (wire.messages.DeviceFlag): trouble travels with the sample
    target_m: Vector | None = None  # where the hand wants to be; None when nobody can know


class Finished(DeviceError):
    """The user ended the driver, by closing its window for one: the run is over and nothing failed."""


class Driver(ABC):
    """A driver.  Building one only checks its options; ``open`` touches hardware, screens and sockets.

    Parameters
    ----------
    options : what the user gave for this driver, keys with units; each driver documents its own.  A key or
        value that cannot be used raises ConfigError.

    Called from one thread, ``halt`` excepted.  ``read`` and ``write`` never wait.

    ``shared_options`` names the options that mean the same to other drivers: a scene made for one of them
    keeps these when it is run with this driver.  All others are a driver's own.
    """

    name: ClassVar[str]
    shared_options: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def __init__(self, options: Mapping[str, Any] | None = None) -> None: ...

    @property
    @abstractmethod
    def info(self) -> DeviceInfo:
        """Name, limits and rate; valid before ``open``."""

    @classmethod
    def describe(cls, options: Mapping[str, Any] | None = None) -> DeviceInfo:
        """The info of a driver with these options, without keeping the driver."""
        return cls(options).info

    @classmethod
    def unavailable(cls) -> str | None:
        """Why this driver cannot run on this computer, in one sentence; None when it can."""
        return None

    @abstractmethod
    def open(self) -> None:
        """Take hold of the device.  Raises DeviceError with what is missing and what to do."""

    @abstractmethod
    def read(self, now_s: float) -> DeviceSample:
        """Measure at ``now_s`` [s], never earlier than the time of the last call.

        Raises DeviceError when the device went away for good, Finished when the user ended it.
        """

    @abstractmethod
    def write(self, force_N: Vector) -> Vector:
        """Apply a force [N] to the hand until the next ``write``; returns the force really sent.

        Assumes finite numbers: the bridge has checked.
        """

    def write_torque(self, torque_Nm: Vector) -> Vector:
        """Apply a torque [N m] to the hand, as ``write`` a force; returns the torque really sent.

        Called after every ``write``.  A device that cannot turn the hand leaves it as it is here.
        """
        return ZERO

    def halt(self) -> None:
        """Zero the motors because ``read`` has not returned in time; called from another thread.

        Override it where the maker's library offers a better way from there.  Nothing calls it while a
        ``write`` is under way.
        """
        try:
            self.write(ZERO)
        finally:
            self.write_torque(ZERO)

    def notice(self, mode: int, fault: int) -> None:  # noqa: B027 - most drivers have nothing to show
        """Told when the server's mode (codes.Safety) or fault bits (codes.Fault) change; may do nothing."""

    @abstractmethod
    def close(self) -> None:
        """Zero the force and let go.  May be called twice, and after a failed ``open``."""

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
