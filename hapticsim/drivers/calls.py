"""Calling a driver that somebody else wrote: what it raises is one sentence with driver, method and line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from hapticsim.drivers.classes import CONTRACT, command_name
from hapticsim.errors import DeviceError, HapticsimError, brief, in_words

ZERO = (0.0, 0.0, 0.0)


def called(driver: Any, method: str, *given: Any) -> Any:
    """What a method of a driver, or of its class, returns.

    Raises
    ------
    DeviceError : it raised; errors of hapticsim, with a sentence of their own, and Ctrl-C pass.
    """
    try:
        return getattr(driver, method)(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise failure(driver, f"{method}()", error) from error


def built(driver: Any, options: Mapping[str, Any] | None) -> Any:
    """A driver of a class.

    Raises
    ------
    HapticsimError : the options cannot be used, or building it raised.
    """
    try:
        return driver(options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise failure(driver, "__init__()", error) from error


def info_of(driver: Any) -> Any:
    """The DeviceInfo of a driver.

    Raises
    ------
    DeviceError : it raised, or is no DeviceInfo.
    """
    try:
        info = driver.info
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise failure(driver, "info", error) from error
    if not issubclass(type(info), sys.modules[CONTRACT].DeviceInfo):  # what it says of itself may raise
        raise wrong(driver, f": info is {brief(info)}, and must be a DeviceInfo")
    return info


def failure(driver: Any, call: str, error: BaseException) -> HapticsimError:
    """The error of a call that raised; an error of hapticsim that says something is that error itself."""
    if isinstance(error, HapticsimError):
        with suppress(Exception):
            if str(error).strip():
                return error
    return wrong(driver, f" failed in {call}: {in_words(error, _file_of(driver))}")


def wrong(driver: Any, what: str) -> DeviceError:
    """The error of a call that raised, or answered what the contract does not allow.

    what : the rest of a sentence after the name of the driver.
    """
    of = driver if isinstance(driver, type) else type(driver)
    return DeviceError(
        f"driver {name_of(driver)!r}{what}: check the device, or try the driver with "
        f"'hapticsim device {command_name(of)} --check'."
    )


def name_of(driver: Any) -> str:
    """The name of a driver, for sentences."""
    with suppress(Exception):
        name = driver.name
        if isinstance(name, str):
            return name
    return str((driver if isinstance(driver, type) else type(driver)).__name__)


def zero(driver: Any) -> None:
    """Write zero to both outputs, each whatever becomes of the other; for what has failed already."""
    for method in ("write", "write_torque"):
        with suppress(BaseException):
            getattr(driver, method)(ZERO)


@contextmanager
def opened(driver: Any) -> Iterator[Any]:
    """An open driver; in the end zero is written, and it is closed.

    Raises
    ------
    HapticsimError : it cannot be opened, zeroed or closed; what failed first is told.
    """
    try:
        called(driver, "open")
        yield driver
    except BaseException:
        zero(driver)
        with suppress(BaseException):
            driver.close()
        raise
    try:
        called(driver, "write", ZERO)
        called(driver, "write_torque", ZERO)
    except BaseException:
        zero(driver)
        with suppress(BaseException):
            driver.close()
        raise
    called(driver, "close")


def _file_of(driver: Any) -> str:
    of = driver if isinstance(driver, type) else type(driver)
    return getattr(sys.modules.get(of.__module__), "__file__", None) or ""
