"""``python -m hapticsim_devices NAME``: run a driver against a server until it is stopped."""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

from hapticsim.drivers.calls import built, called, info_of
from hapticsim.drivers.classes import driver_class
from hapticsim.errors import DeviceError, HapticsimError
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.sockets.curve_security import Curve
from hapticsim.wire.sockets.endpoints import default_endpoint

from .base import Driver
from .bridge import Bridge
from .command_line import BUTTONS, read_arguments
from .drivers import driver_names, listing
from .pacing import ask_for_priority, share_interpreter
from .stop_flag import StopFlag

END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
STANDSTILL = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)  # standing still, it would hold its force
REFUSED = 2  # exit status of a run that ended in a refusal
INTERRUPTED = 130
LEAVE_S = 5.0  # from being asked to end until the program ends whatever its driver does


def main(arguments: list[str] | None = None) -> int:
    """Parse, run, report; returns the exit status."""
    try:
        given = read_arguments(arguments)
        if given.list:
            print(listing())
            return 0
        if given.name is None:
            names = ", ".join(driver_names())
            raise DeviceError(f"name a driver: one of {names}, or the class of a file, as in wave.py:Wave.")
        return _run(given)
    except HapticsimError as refusal:
        print(refusal, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:  # before its signal is heard, or raised by a driver
        return INTERRUPTED


def _check(driver: type[Driver], options: dict[str, Any]) -> int:
    """Print what each check of the kit found; status 1 if one failed."""
    from .conformance import FAILED, examine_all

    asks = sys.stdin is not None and sys.stdin.isatty() and not called(driver, "describe", options).emulated
    failed = 0
    for finding in examine_all(lambda: driver(options), input if asks else None):
        print(finding.line, flush=True)
        failed += finding.outcome == FAILED
    if not asks:
        print("The axes were not checked: that needs a device of hardware, and a person at the terminal.")
    return 1 if failed else 0


def _run(given: argparse.Namespace) -> int:
    found = driver_class(given.name)
    if given.check:
        return _check(found, given.options)
    share_interpreter()
    stop = StopFlag()
    heard = list(END)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # by nohup, or by the run that it is part of
        heard.remove(signal.SIGHUP)
    for number in heard:
        signal.signal(number, lambda *_: stop.set())
    for number in STANDSTILL:
        signal.signal(number, signal.SIG_IGN)
    driver = built(found, given.options)
    info = info_of(driver)
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
    link = DeviceLink(given.endpoint or default_endpoint("device"), info.hello(), curve=curve)
    hold_to_run = BUTTONS[given.hold_to_run] if given.hold_to_run else None
    bridge = Bridge(
        driver, link, stop=stop, wait_s=given.wait, once=given.once, hold_to_run=hold_to_run, info=info
    )
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


if __name__ == "__main__":
    sys.exit(main())
