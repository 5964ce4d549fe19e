"""The checks of a driver as tests: ``pytest --haptic-device mine``.

    pytest --haptic-device mine                                      an installed driver
    pytest --haptic-device wave.py:Wave --haptic-options '{"channel": 2}'
    pytest -m haptic_device --haptic-device mine                     these tests alone

pytest finds this plugin where hapticsim is installed; without the option it does nothing.  A check that could
not see what it judges, because nobody moves the handle, is skipped with its words.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

MARK = "haptic_device"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the plugin."""
    group = parser.getgroup("hapticsim")
    group.addoption("--haptic-device", metavar="NAME", help="add a test for each check of this device driver")
    group.addoption("--haptic-options", metavar="JSON", default="{}", help="options of that driver")


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark of the tests."""
    config.addinivalue_line("markers", f"{MARK}: a check of the driver named by --haptic-device")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by -m and -k
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the checks to the tests that were found.

    Raises UsageError for a driver that is not there, and for options that are no mapping.
    """
    name = config.getoption("--haptic-device")
    if name is None:
        return
    from hapticsim.drivers.classes import driver_class  # imported here: most runs of pytest check no device
    from hapticsim.errors import HapticsimError

    from .conformance import CHECKS

    try:
        driver = driver_class(name)
        options = json.loads(config.getoption("--haptic-options"))
        if not isinstance(options, dict):
            raise ValueError("it is no mapping")
    except HapticsimError as error:
        raise pytest.UsageError(f"--haptic-device {error}") from error
    except ValueError as error:
        example = "give a JSON mapping, as in '{\"channel\": 2}'"
        raise pytest.UsageError(f"--haptic-options cannot be read: {error}: {example}.") from error
    items.extend(
        Check.from_parent(session, name=f"{name}[{check}]", check=check, make=lambda: driver(options))
        for check in CHECKS
    )


class Check(pytest.Item):
    """One check of the kit."""

    def __init__(self, check: str, make: Callable[[], Any], **given: Any) -> None:
        super().__init__(**given)
        self.check, self.make = check, make
        self.add_marker(MARK)

    def runtest(self) -> None:
        """Fail or be skipped with the words of the check."""
        from .conformance import FAILED, UNSEEN, examine

        finding = examine(self.check, self.make)
        if finding.outcome == FAILED:
            pytest.fail(finding.words, pytrace=False)
        if finding.outcome == UNSEEN:
            pytest.skip(finding.words)

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Where a failure stands: at no line of a file."""
        return self.name, None, self.name
