"""What the tests with whole processes share, and which tests depend on the clock of the machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Place

# Files of tests against the real clock, besides tests with the mark ``clock``.  They run one at a time.  A
# shared machine that stands still for 10 ms makes the server take the force away, rightly; such a test is run
# again, and only what fails three times is a defect.  The summary counts what was run again.
REAL_TIME = (
    "test_bridge",
    "test_force_wait",
    "test_loop",
    "test_run_",
    "test_wire_device",
    "test_wire_ports",
    "test_wire_publish",
)
RUN_AGAIN, REST_S = 2, 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests against the real clock, and let them be run again."""
    for item in items:
        if item.path.name.startswith(REAL_TIME):
            item.add_marker(pytest.mark.clock)
        if item.get_closest_marker("clock"):
            item.add_marker(pytest.mark.flaky(reruns=RUN_AGAIN, reruns_delay=REST_S))


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder of its own for sockets and recordings, and whatever was started there ended afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="hs-"))  # short: the path of a socket has 107 bytes at most
    here = Place(folder)
    try:
        yield here
    finally:
        here.end_all()
        shutil.rmtree(folder, ignore_errors=True)
