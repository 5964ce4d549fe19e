"""``python -m hapticsim_devices NAME``: run a driver against a server until it is stopped."""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

from hapticsim.errors import ConfigError, HapticsimError
from hapticsim.wire.curve import Curve
from hapticsim.wire.device_link import DeviceLink
from hapticsim.wire.endpoints import default_endpoint
from hapticsim.wire.messages import Button

from .base import Driver
from .bridge import Bridge
from .drivers import driver_names, find_driver, listing
from .limits import device_table
from .pacing import ask_for_priority, share_interpreter
from .stop_flag import StopFlag

END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
STANDSTILL = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)  # standing still, it would hold its force
BUTTONS = {b.name.lower(): int(b) for b in Button if b.name}
REFUSED = 2  # exit status of a run that ended in a refusal
LEAVE_S = 5.0  # from being asked to end until the program ends whatever its driver does


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, report; returns the exit status."""
    given = _parser().parse_args(arguments)
    if given.list:
        print(listing())
        return 0
    if given.name is None:
        print(f"name a driver: one of {', '.join(driver_names())}.", file=sys.stderr)
        return REFUSED
    try:
        return _run(given)
    except HapticsimError as refusal:
        print(refusal, file=sys.stderr)
        return REFUSED


def _check(driver: type[Driver], options: dict[str, Any]) -> int:
    """Print what each check of the kit found; status 1 if one failed."""
    from .conformance import FAILED, examine_all

    asks = sys.stdin.isatty() and not driver.describe(options).emulated
    failed = 0
    for finding in examine_all(lambda: driver(options), input if asks else None):
        print(finding.line, flush=True)
        failed += finding.outcome == FAILED
    if not asks:
        print("The axes were not checked: that needs a device of hardware, and a person at the terminal.")
    return 1 if failed else 0


def _run(given: argparse.Namespace) -> int:
    options = _options(given.options, given.option)
    if given.emulate is not None:
        options["emulate"] = given.emulate
    if given.check:
        return _check(find_driver(given.name), options)
    share_interpreter()
    stop = StopFlag()
    heard = list(END)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # by nohup, or by the run that it is part of
        heard.remove(signal.SIGHUP)
    for number in heard:
        signal.signal(number, lambda *_: stop.set())
    for number in STANDSTILL:
        signal.signal(number, signal.SIG_IGN)
    driver = find_driver(given.name)(options)
    if given.realtime and (why_not := ask_for_priority()):
        print(why_not, file=sys.stderr)
    # Python hands a signal on only when the driver comes back from its call; the wakeup pipe knows at once.
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    has_left = threading.Event()  # the thread inherits the priority: one below it could hold the interpreter
    last = threading.Thread(
        target=_end_at_last, args=(woken, stop, has_left), name="last resort", daemon=True
    )
    last.start()
    curve = Curve(given.keys) if given.keys else None
    link = DeviceLink(given.endpoint or default_endpoint("device"), driver.info.hello(), curve=curve)
    hold_to_run = BUTTONS[given.hold_to_run] if given.hold_to_run else None
    bridge = Bridge(driver, link, stop=stop, wait_s=given.wait, once=given.once, hold_to_run=hold_to_run)
    try:
        bridge.run(given.duration)
    finally:  # what is still to be printed may meet a terminal that is stopped
        signal.set_wakeup_fd(-1)
        os.close(wakes)
        has_left.set()
        for number in heard:
            signal.signal(number, signal.SIG_DFL)
    return 0


def _end_at_last(woken: int, stop: StopFlag, has_left: threading.Event) -> None:
    """End the program although its driver does not come back: the watchdog has zeroed what it could.

    woken : descriptor that can be read once a signal came, wherever the main thread is.
    """
    while not stop.is_set() and not has_left.is_set():
        if select.select([woken], [], [], 0.2)[0]:
            stop.set()
    if not has_left.wait(LEAVE_S):
        with suppress(OSError):
            os.set_blocking(2, False)
            os.write(2, b"the driver did not come back: its program ends without closing the device.\n")
        os._exit(1)
    os.close(woken)


def _options(together: str | None, single: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if together is not None:
        try:
            options = json.loads(together)
        except ValueError:
            options = {}
        if not isinstance(options, dict) or (not options and together.strip() != "{}"):
            raise ConfigError(
                "<command line>", "--options", f"= {together!r} is not usable: give a JSON object."
            )
    for pair in single:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ConfigError("<command line>", "--option", f"= {pair!r} is not usable: write KEY=VALUE.")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value  # a bare word
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hapticsim_devices",
        description="Run a haptic device driver against a hapticsim server.",
    )
    add = parser.add_argument
    add("name", nargs="?", help="driver to run; --list shows them")
    add("--list", action="store_true", help="show each driver, and why it cannot run here if so")
    add("--check", action="store_true", help="see whether the driver keeps its contract, without a server")
    add("--endpoint", help="device endpoint of the server (default: its private ipc socket)")
    add("--keys", metavar="FOLDER", help="CURVE keys, for a server on another machine")
    add("--emulate", metavar="DEVICE", help=f"device to emulate: {', '.join(device_table())}")
    add("--option", action="append", default=[], metavar="KEY=VALUE", help="one driver option")
    add("--options", metavar="JSON", help="driver options as a JSON object")
    add("--duration", type=float, metavar="S", help="stop after this time in session")
    add("--wait", type=float, default=10.0, metavar="S", help="how long to look for a server (10)")
    add("--once", action="store_true", help="end with the session instead of looking for another")
    add("--hold-to-run", choices=BUTTONS, metavar="BUTTON", help="force only while this button is down")
    add("--realtime", action="store_true", help="ask for SCHED_FIFO")
    return parser


if __name__ == "__main__":
    sys.exit(main())
