"""Sensors of a mechanism as published, and in words: the unit stands at the end of a name."""

from __future__ import annotations

from typing import Any

from hapticsim.display.messages.reading import Unreadable, numbers

ROUNDING = 1e-9  # SI; what is smaller is shown as zero
_THOUSANDTHS_FROM = 5e-4  # what is smaller would be 0.000

_UNITS = {
    **{unit: unit for unit in ("m", "rad", "s", "kg", "N", "J", "W", "Hz")},
    **{f"{unit}{n}": f"{unit}^{n}" for unit in ("m", "s", "rad") for n in (2, 3)},
    "Nm": "N m",
    "Ns": "N s",
    "Nms": "N m s",
}


def read_sensors(payload: Any) -> dict[str, float | None]:
    """Sensors of topic ``state``; None where one has no finite value.  Raises Unreadable."""
    if not hasattr(payload, "items"):
        raise Unreadable("sensors is no map")
    return {
        str(name): None if value is None else float(numbers(value, f"sensors.{name}", 1)[0])
        for name, value in payload.items()
    }


def sensor_words(name: str, value: float | None) -> tuple[str, str]:
    """``slip_m_per_s``, 0.1234 as ``slip``, ``0.123 m/s``; a name without a unit is left whole."""
    label, unit = _parted(name)
    if value is None:
        return label, "no value"
    size = abs(value)
    if size < ROUNDING:
        number = "0.000"
    else:
        number = f"{value:.3f}" if _THOUSANDTHS_FROM <= size < 1e5 else f"{value:.2e}"
    return label, f"{number} {unit}".rstrip()


def _parted(name: str) -> tuple[str, str]:
    """The words of a name and its unit: the longest ending that is one."""
    parts = name.split("_")
    for k in range(1, len(parts)):
        if parts[k - 1] != "per" and (unit := _unit(parts[k:])):
            return " ".join(parts[:k]), unit
    return name.replace("_", " "), ""


def _unit(parts: list[str]) -> str:
    """``["kg", "m2", "per", "s"]`` as ``kg m^2/s``; empty if it is no unit."""
    over, _, under = "_".join(parts).partition("_per_")
    written = []
    for factors in (over, under) if under else (over,):
        known = [_UNITS.get(word, "") for word in factors.split("_")]
        if not all(known):
            return ""
        written.append(" ".join(known))
    return "/".join(f"({w})" if i and " " in w else w for i, w in enumerate(written))
