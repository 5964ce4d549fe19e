"""Finding drivers: whatever is registered under the entry-point group ``hapticsim.devices``, or in a file."""

from __future__ import annotations

from hapticsim.drivers.calls import called
from hapticsim.drivers.classes import driver_class, registered
from hapticsim.errors import DeviceError

from .base import Driver


def driver_names() -> list[str]:
    """Names of all registered drivers, sorted."""
    return sorted(registered())


def find_driver(name: str) -> type[Driver]:
    """The driver class of that name, or of ``FILE.py:CLASS``.

    Raises
    ------
    DeviceError : nobody registered the name, or what was found is no driver.
    """
    found: type[Driver] = driver_class(name)
    return found


def listing() -> str:
    """One line per driver: its name and 'available', or why it is not."""
    lines = []
    for name in driver_names():
        try:
            reason = called(find_driver(name), "unavailable")
        except DeviceError as error:
            reason = str(error)
        lines.append(f"{name:12s} {reason or 'available'}")
    return "\n".join(lines)
