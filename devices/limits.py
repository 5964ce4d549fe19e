"""The table of devices: what a device can do, and how sure we are of it.

``limits.csv`` holds one row per device, units in the column names.  An empty cell means that nobody published
the number; a stated default takes its place and the field is named in ``DeviceLimits.assumed``, so that a
study never mistakes a guess for a data sheet.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hapticsim.errors import DeviceError, listed, nearest

from .ranges import check_fields, check_part

TABLE = Path(__file__).with_name("limits.csv")

# What stands in for an empty cell.  Chosen in the middle of the rows that have the number.
DEFAULTS = {
    "max_damping_Ns_per_m": 5.0,  # the lowest ceilings of the table (4 to 5), so never too much
    "apparent_mass_kg": 0.2,  # between the light arms (0.05) and the large delta (0.4)
    "coulomb_friction_N": 0.1,  # between the cable drives (0.04) and the geared arms (0.26)
}

CONTINUOUS = "continuous_force_N"  # column of Heating

# Columns of the rotation: all of them, or none.
TURNING = ("max_torque_Nm", "max_stiffness_Nm_per_rad", "max_damping_Nms_per_rad")

# The fastest change of force that a device is given, whatever a server allows: a wall of 5000 N/m, the
# stiffest of the table, met at 1 m/s.  Servers keep to 2000 N/s unless their scene says otherwise.
MAX_SLEW_N_PER_S = 5000.0

# Nobody publishes the time constant of the windings: a guess, of the order of small motors (10 to 60 s).  Nor
# does everybody publish the continuous force: then it is taken as half of the largest.
TIME_CONSTANT_S = 30.0
CONTINUOUS_SHARE = 0.5

# No maker publishes viscous friction.  A modelling choice: print it beside every stability result; sweep it.
VISCOUS_FRICTION_NS_PER_M = 0.5


@dataclass(frozen=True, slots=True)
class TurningLimits:
    """Rotation of the handle about one axis.  What is below the first three is a guess for every device.

    Nobody publishes it: a handle of 0.1 kg within 30 mm, and the table's friction at the 40 mm of a grip.
    """

    max_torque_Nm: float
    max_stiffness_Nm_per_rad: float
    max_damping_Nms_per_rad: float
    apparent_inertia_kg_m2: float = 1e-4
    coulomb_friction_Nm: float = 4e-3
    viscous_friction_Nms_per_rad: float = 8e-4
    angular_resolution_rad: float = 2.3e-4  # 0.013 degrees, which one maker states

    def __post_init__(self) -> None:
        check_fields(self)


# What an emulated device turns with, if its row has no torque: the sigma.7's, the only row that has one.
TURNING_DEFAULT = TurningLimits(max_torque_Nm=0.2, max_stiffness_Nm_per_rad=1.0, max_damping_Nms_per_rad=0.07)


@dataclass(frozen=True, slots=True)
class Heating:
    """What the motors stand for long (heat.py)."""

    continuous_force_N: float
    time_constant_s: float = TIME_CONSTANT_S  # a guess for every device

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """One row of the table.  The stiffness and damping are tuning ceilings at 1 kHz, not measurements.

    Raises
    ------
    ValueError : a field is not what docs/devices.md allows.
    """

    device: str
    max_force_N: float
    max_stiffness_N_per_m: float
    max_damping_Ns_per_m: float
    workspace_radius_m: float  # sphere about the device's centre
    apparent_mass_kg: float  # felt at the handle
    coulomb_friction_N: float  # felt at the handle, whatever the direction
    position_resolution_m: float  # one encoder count at the handle
    viscous_friction_Ns_per_m: float = VISCOUS_FRICTION_NS_PER_M
    assumed: tuple[str, ...] = ()  # fields filled from a default
    note: str = ""
    turning: TurningLimits | None = None  # None: it cannot turn the hand
    max_slew_N_per_s: float = MAX_SLEW_N_PER_S  # a choice for every device
    heating: Heating | None = None  # None: its motors are not watched; every row of the table has one

    def __post_init__(self) -> None:
        check_fields(self)
        check_part(self, "turning", TurningLimits, optional=True)
        check_part(self, "heating", Heating, optional=True)


@cache
def device_table() -> dict[str, DeviceLimits]:
    """Every row of ``limits.csv`` by device name."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row["device"]: _limits(row) for row in rows}


def device_limits(name: str) -> DeviceLimits:
    """The row of one device; a DeviceError lists the known names when there is none."""
    table = device_table()
    if name not in table:
        raise DeviceError(
            f"there is no device {name!r}{nearest(name, table)}: choose one of {listed(table)}."
        )
    return table[name]


def _limits(row: dict[str, str]) -> DeviceLimits:
    numbers: dict[str, float] = {}
    assumed = ["viscous_friction_Ns_per_m"]
    for column, cell in row.items():
        if column in ("device", "note", CONTINUOUS, *TURNING):
            continue
        if cell.strip():
            numbers[column] = float(cell)
        else:
            numbers[column] = DEFAULTS[column]
            assumed.append(column)
    if not row[CONTINUOUS].strip():
        assumed.append(CONTINUOUS)
    turning = {column: float(row[column]) for column in TURNING if row[column].strip()}
    return DeviceLimits(
        device=row["device"],
        note=row["note"],
        assumed=tuple(assumed),
        turning=TurningLimits(**turning) if turning else None,
        heating=_heating(row[CONTINUOUS], numbers["max_force_N"]),
        **numbers,
    )


def _heating(cell: str, max_force_N: float) -> Heating:
    if cell.strip():
        return Heating(float(cell))
    return Heating(CONTINUOUS_SHARE * max_force_N)
