"""A driver for a scene: its options, whether it can run here, and one of its class."""

from __future__ import annotations

from typing import Any

from hapticsim.drivers.calls import built, called, info_of
from hapticsim.drivers.classes import driver_class
from hapticsim.errors import DeviceError
from hapticsim.model.scene import DeviceSettings


def options_for(name: str, settings: DeviceSettings) -> dict[str, Any]:
    """The options with which a driver serves a scene.

    The scene's own driver gets all that the scene says, another one what means the same to it: the options
    that both share with others (``Driver.shared_options``).  A mouse and a scripted hand hold the same
    emulated device; the pointer's reach and the waypoints are each one's own.  A class in a file is the
    scene's own driver too where it has the name that the scene says.

    Raises
    ------
    DeviceError : there is no such driver.
    ConfigError : the scene's own driver cannot use the scene's options, whichever driver is asked for.
    """
    driver = driver_class(name)
    shared: frozenset[str] = driver.shared_options
    given = {"emulate": settings.emulate} if "emulate" in shared else {}
    if settings.driver in (name, driver.name):
        return given | settings.options
    try:
        own = driver_class(settings.driver)
    except DeviceError:  # it need not be installed for another to take its place
        return given
    called(own, "describe", options_for(settings.driver, settings))
    both = shared & own.shared_options
    return given | {key: value for key, value in settings.options.items() if key in both}


def require_driver(name: str) -> Any:
    """The driver class, refused in one sentence when it cannot run here."""
    driver = driver_class(name)
    if reason := called(driver, "unavailable"):
        raise DeviceError(str(reason))
    return driver


def build_driver(driver: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """A driver of this class, not open, and its DeviceInfo.

    Raises
    ------
    HapticsimError : the options cannot be used, or the driver fails.
    """
    device = built(driver, options)
    return device, info_of(device)
