"""Finding drivers: whatever is registered under the entry-point group ``hapticsim.devices``."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from hapticsim.errors import DeviceError, listed, nearest

from .base import Driver

GROUP = "hapticsim.devices"


def driver_names() -> list[str]:
    """Names of all registered drivers, sorted."""
    return sorted(_registered())


def find_driver(name: str) -> type[Driver]:
    """The driver class of that name.

    Raises
    ------
    DeviceError : nobody registered the name, or its module cannot be imported.
    """
    registered = _registered()
    if name not in registered:
        raise DeviceError(
            f"there is no driver {name!r}{nearest(name, registered)}: choose one of {listed(registered)}."
        )
    try:
        found = registered[name].load()
    except (ImportError, AttributeError) as error:
        raise DeviceError(
            f"driver {name!r} cannot be loaded ({error}): reinstall the package that ships it."
        ) from error
    if not (isinstance(found, type) and issubclass(found, Driver)):
        raise DeviceError(
            f"driver {name!r} is not a hapticsim_devices.base.Driver: derive its class from it."
        )
    return found


def listing() -> str:
    """One line per driver: its name and 'available', or why it is not."""
    lines = []
    for name in driver_names():
        try:
            reason = find_driver(name).unavailable()
        except DeviceError as error:
            reason = str(error)
        lines.append(f"{name:12s} {reason or 'available'}")
    return "\n".join(lines)


def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
