"""Finding the installed drivers without knowing any: entry points of group ``hapticsim.devices``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from hapticsim.errors import DeviceError, nearest
from hapticsim.model.scene import DeviceSettings

GROUP = "hapticsim.devices"


def find_driver(name: str) -> Any:
    """The driver class of that name (contract: ``devices/base.py``).

    Raises
    ------
    DeviceError : unknown name (all drivers are listed, with the reason why some cannot run here).
    """
    points = {p.name: p for p in entry_points(group=GROUP)}
    if name not in points:
        known = "; ".join(f"{n} ({(why_not(n) or 'available').rstrip('.')})" for n in sorted(points))
        raise DeviceError(
            f"there is no device {name!r}{nearest(name, points)}: choose one of {known or 'none'}."
        )
    try:
        return points[name].load()
    except ImportError as error:
        raise DeviceError(f"device {name!r} cannot be loaded: {error}; install what it needs.") from error


def why_not(name: str) -> str | None:
    """Why a driver cannot run on this computer, or None when it can."""
    try:
        reason: str | None = find_driver(name).unavailable()
    except DeviceError as error:
        return str(error)
    return reason


def options_for(name: str, settings: DeviceSettings) -> dict[str, Any]:
    """The options with which a driver serves a scene.

    The scene's own driver gets all that the scene says, another one what means the same to it: the options
    that both share with others (``Driver.shared_options``).  A mouse and a scripted hand hold the same
    emulated device; the pointer's reach and the waypoints are each one's own.

    Raises
    ------
    DeviceError : there is no such driver.
    ConfigError : the scene's own driver cannot use the scene's options, whichever driver is asked for.
    """
    shared: frozenset[str] = find_driver(name).shared_options
    given = {"emulate": settings.emulate} if "emulate" in shared else {}
    if name == settings.driver:
        return given | settings.options
    try:
        own = find_driver(settings.driver)
    except DeviceError:  # it need not be installed for another to take its place
        return given
    own.describe(options_for(settings.driver, settings))
    both = shared & own.shared_options
    return given | {key: value for key, value in settings.options.items() if key in both}


def require_driver(name: str) -> Any:
    """The driver class, refused in one sentence when it cannot run here."""
    driver = find_driver(name)
    if reason := driver.unavailable():
        raise DeviceError(reason)
    return driver
