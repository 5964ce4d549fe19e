"""Whether a driver keeps the contract of devices/base.py: a kit for its author.

On the command line, for an installed driver::

    hapticsim device mine --check

In the tests of the package that ships it, without an entry point::

    import pytest
    from ..conformance import CHECKS, failure
    from my_package.mine import Mine

    @pytest.mark.parametrize("check", CHECKS)
    def test_the_driver_keeps_the_contract(check):
        assert failure(check, Mine, {"channel": 2}) is None

Each check opens a driver of its own, says one thing, and pushes the hand with a twentieth of the device's
largest force at most.  What it cannot see, because nobody moves the handle for one, it says, and that is no
failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hapticsim.drivers.calls import info_of
from hapticsim.errors import HapticsimError, in_words

from ..base import Driver
from ..conformance import acting, measuring
from .bench import FAILED, OK, UNSEEN, Found, Make
from .person import Ask, check_frames
from .with_server import check_bridge

__all__ = ["CHECKS", "FAILED", "OK", "UNSEEN", "Finding", "examine", "examine_all", "failure"]

Check = Callable[[Make], Found]

CHECKS: dict[str, Check] = {
    "info": measuring.check_info,
    "open": measuring.check_open,
    "measurement": measuring.check_measurement,
    "ready": measuring.check_ready,
    "engage": measuring.check_engage,
    "units": measuring.check_units,
    "motion": measuring.check_motion,
    "time": measuring.check_time,
    "rate": acting.check_rate,
    "read": acting.check_read,
    "write": acting.check_write,
    "force": acting.check_force,
    "zero": acting.check_zero,
    "halt": acting.check_halt,
    "close": acting.check_close,
    "bridge": check_bridge,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: str
    outcome: str  # OK, FAILED or UNSEEN
    words: str  # what was seen; after a failure, what to do

    @property
    def line(self) -> str:
        """For a terminal."""
        return f"{self.outcome:7s} {self.check:12s} {self.words}"


def failure(check: str, driver: type[Driver], options: Mapping[str, Any] | None = None) -> str | None:
    """What is wrong with a driver, in a sentence; None if this check finds nothing."""
    found = examine(check, lambda: driver(options))
    return found.words if found.outcome == FAILED else None


def examine(check: str, make: Make) -> Finding:
    """Run one check on drivers that ``make`` builds; whatever they raise is a finding, too."""
    return _found(check, lambda: CHECKS[check](make))


def examine_all(make: Make, ask: Ask | None = None) -> Iterator[Finding]:
    """Run all checks, each as soon as it is asked for; that of the axes with a person who answers ``ask``.

    A driver that cannot say what it is fails that check alone: the others have nothing to go by.
    """
    for check in CHECKS:
        finding = examine(check, make)
        yield finding
        if check == "info" and finding.outcome == FAILED and not _says_what_it_is(make):
            yield from (
                Finding(c, UNSEEN, "not tried: it needs a usable info.") for c in CHECKS if c != "info"
            )
            return
    if ask is not None:
        yield _found("frames", lambda: check_frames(make, ask))


def _says_what_it_is(make: Make) -> bool:
    try:
        info_of(make())
    except HapticsimError:
        return False
    return True


def _found(check: str, run: Callable[[], Found]) -> Finding:
    try:
        outcome, words = run()
    except HapticsimError as error:
        outcome, words = FAILED, str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        outcome = FAILED
        words = (
            f"the driver raised {in_words(error)}: raise nothing but DeviceError, in one sentence with a "
            "remedy, when the device is gone."
        )
    return Finding(check, outcome, words)
