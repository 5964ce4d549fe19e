"""The arguments of ``python -m hapticsim_devices``: read, checked, refused in one sentence."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any, NoReturn

from hapticsim.errors import ConfigError, DeviceError, brief
from hapticsim.wire.messages.device import Button

from .limits import device_table

PROGRAM = "python -m hapticsim_devices"
WHERE = "<command line>"
BUTTONS = {b.name.lower(): int(b) for b in Button if b.name}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise DeviceError(f"{PROGRAM}: {message}: see '{PROGRAM} --help'.")


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The arguments, with the options of the driver together in ``given.options``.

    Raises
    ------
    HapticsimError : they cannot be used.
    """
    given = _parser().parse_args(arguments)
    given.options = _options(given.options, given.option)
    if given.emulate is not None:
        given.options["emulate"] = given.emulate
    given.duration = _seconds("--duration", given.duration)
    given.wait = _seconds("--wait", given.wait, endless=True)
    return given


def _seconds(option: str, text: str | None, *, endless: bool = False) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if seconds >= 0.0 and (endless or seconds < math.inf):
        return seconds
    needed = "0 or more, or inf: for ever" if endless else "0 or more; left out: until it is stopped"
    raise ConfigError(WHERE, option, f"= {brief(text)} is not usable: give seconds, {needed}.")


def _options(together: str | None, single: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if together is not None:
        try:
            options = json.loads(together)
        except (ValueError, RecursionError):
            options = {}
        if not isinstance(options, dict) or (not options and together.strip() != "{}"):
            raise ConfigError(WHERE, "--options", f"= {brief(together)} is not usable: give a JSON object.")
    for pair in single:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ConfigError(WHERE, "--option", f"= {brief(pair)} is not usable: write KEY=VALUE.")
        try:
            options[key] = json.loads(value)
        except (ValueError, RecursionError):
            options[key] = value  # a bare word
    return options


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Run a haptic device driver against a hapticsim server.")
    add = parser.add_argument
    add(
        "name", nargs="?", metavar="DRIVER", help="name of a driver, or FILE.py:CLASS; --list shows the names"
    )
    add("--list", action="store_true", help="show each driver, and why it cannot run here if so")
    add("--check", action="store_true", help="see whether the driver keeps its contract, without a server")
    add("--endpoint", help="device endpoint of the server (default: its private ipc socket)")
    add("--keys", metavar="FOLDER", help="CURVE keys, for a server on another machine")
    add("--emulate", metavar="DEVICE", help=f"device to emulate: {', '.join(device_table())}")
    add("--option", action="append", default=[], metavar="KEY=VALUE", help="one driver option")
    add("--options", metavar="JSON", help="driver options as a JSON object")
    add("--duration", metavar="S", help="stop after this time in session")
    add("--wait", default="10", metavar="S", help="how long to look for a server (10); inf: for ever")
    add("--once", action="store_true", help="end with the session instead of looking for another")
    add("--hold-to-run", choices=BUTTONS, metavar="BUTTON", help="force only while this button is down")
    add("--realtime", action="store_true", help="ask for SCHED_FIFO")
    return parser
