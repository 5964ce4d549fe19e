"""What the numbers may be that a driver says of itself: checked when DeviceInfo and its parts are built.

The bounds of what goes to a server are those of its message (``hello`` of docs/protocol.md).
"""

from __future__ import annotations

import math
from dataclasses import fields
from operator import index
from typing import Any

from hapticsim.errors import brief
from hapticsim.wire.messages.device import (
    FORCE_LIMIT_N,
    LEAST_INERTIA_KG_M2,
    LEAST_MASS_KG,
    POSITION_LIMIT_m,
    TORQUE_LIMIT_Nm,
)
from hapticsim.wire.messages.fields import TEXT_LENGTH, UINT32

ANY = (0.0, math.inf)  # finite, and not negative

RANGES: dict[str, tuple[float, float]] = {
    # DeviceInfo
    "dof_in": (1, 7),
    "dof_out": (0, 7),
    "rate_Hz": (1.0, 1e5),
    "hold_to_run": (0, UINT32),
    "velocity_window_s": (0.0, 0.1),
    # DeviceLimits
    "max_force_N": (0.0, FORCE_LIMIT_N),
    "max_stiffness_N_per_m": (0.0, 1e7),
    "max_damping_Ns_per_m": (0.0, 1e5),
    "workspace_radius_m": (1e-4, POSITION_LIMIT_m),
    "apparent_mass_kg": (LEAST_MASS_KG, 1000.0),
    "coulomb_friction_N": ANY,
    "position_resolution_m": (0.0, 0.1),
    "viscous_friction_Ns_per_m": ANY,
    "max_slew_N_per_s": (1.0, math.inf),
    # TurningLimits
    "max_torque_Nm": (0.0, TORQUE_LIMIT_Nm),
    "max_stiffness_Nm_per_rad": (0.0, 1e5),
    "max_damping_Nms_per_rad": (0.0, 1e3),
    "apparent_inertia_kg_m2": (LEAST_INERTIA_KG_M2, 10.0),
    "coulomb_friction_Nm": ANY,
    "viscous_friction_Nms_per_rad": ANY,
    "angular_resolution_rad": ANY,
    # Heating
    "continuous_force_N": (1e-3, math.inf),
    "time_constant_s": (1e-3, math.inf),
}
OR_ZERO = ("apparent_mass_kg", "apparent_inertia_kg_m2")  # 0: the device does not say
WORDS = ("name", "model", "device")


def check_fields(said: Any) -> None:
    """Check a frozen dataclass of what a driver says of itself, and make its numbers plain.

    Raises
    ------
    ValueError : a field that is not usable, with what is allowed.
    """
    for field in fields(said):
        value, kind = getattr(said, field.name), str(field.type)
        if field.name in RANGES:
            plain: Any = _number(value, field.name, whole=kind == "int")
        elif field.name in WORDS:
            usable = isinstance(value, str) and 1 <= len(value) <= TEXT_LENGTH and value.isprintable()
            plain = str(value) if usable else None
        elif kind == "bool":
            plain = value if isinstance(value, bool) else None
        else:
            continue
        if plain is None:
            raise not_usable(said, field.name, allowed(field.name, kind))
        object.__setattr__(said, field.name, plain)


def check_part(said: Any, name: str, kind: type, *, optional: bool) -> None:
    """Check that a field is of a class, or None where it may be.

    Raises
    ------
    ValueError : it is not.
    """
    value = getattr(said, name)
    if not isinstance(value, kind) and not (optional and value is None):
        raise not_usable(said, name, f"a {kind.__name__}" + " or None" * optional)


def not_usable(said: Any, name: str, needed: str) -> ValueError:
    """The error for one field."""
    value = brief(getattr(said, name))
    return ValueError(f"{type(said).__name__}.{name} = {value} is not usable: give {needed}")


def allowed(name: str, kind: str = "float") -> str:
    """What a field may be, in words."""
    if name in WORDS:
        return f"1 to {TEXT_LENGTH} printable characters"
    if name not in RANGES:
        return "True or False"
    low, high = RANGES[name]
    what = "a whole number" if kind == "int" else "a finite number"
    bounds = f"from {low:g} to {high:.10g}" if high < math.inf else f"of at least {low:g}"
    return f"0, or {what} {bounds}" if name in OR_ZERO else f"{what} {bounds}"


def _number(value: Any, name: str, whole: bool) -> float | None:
    low, high = RANGES[name]
    if isinstance(value, (str, bytes, bool)):
        return None
    try:
        number = index(value) if whole else float(value)
    except Exception:  # None, an array, an object of somebody's
        return None
    usable = low <= number <= high or (name in OR_ZERO and number == 0)
    return number if usable and math.isfinite(number) else None
