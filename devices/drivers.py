"""Which drivers there are: whatever is registered under the entry-point group ``hapticsim.devices``."""

from __future__ import annotations

from hapticsim.drivers.calls import called
from hapticsim.drivers.classes import driver_class, registered
from hapticsim.errors import DeviceError


def driver_names() -> list[str]:
    """Names of all registered drivers, sorted."""
    return sorted(registered())


def listing() -> str:
    """One line per driver: its name and 'available', or why it is not."""
    lines = []
    for name in driver_names():
        try:
            reason = called(driver_class(name), "unavailable")
        except DeviceError as error:
            reason = str(error)
        lines.append(f"{name:12s} {reason or 'available'}")
    return "\n".join(lines)
