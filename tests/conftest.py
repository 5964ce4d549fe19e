"""What the tests with whole processes share, and which tests depend on the clock of the machine."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.host_judge import HostJudge
from tests.processes import Place

# Files of tests against the real clock, besides tests with the mark ``clock``.  Each is judged against the
# host (host_judge.py); ``clock(alone=True)`` has the machine to itself, because it keeps all processors busy.
REAL_TIME = (
    "test_bridge",
    "test_force_wait",
    "test_loop",
    "test_run_",
    "test_wire_device",
    "test_wire_keys",
    "test_wire_ports",
    "test_wire_publish",
)

# Files that take longest, which are begun first: what begins last is waited for alone.
LONG = (
    "test_run_visit", "test_conformance", "test_run_window", "test_compiling", "test_contact_faces",
    "test_shipped_scenes", "test_response", "test_run_device_faults", "test_tools", "test_algorithms",
    "test_link", "test_wire_attacks", "test_run_teleoperation", "test_oscillation", "test_run_server_faults",
    "test_run_trouble", "test_sweep", "test_batch", "test_command_line", "test_run_switch", "test_link_hosts",
    "test_loop", "test_closed_loop", "test_let_go", "test_studies_equations", "test_stiff_motion",
)  # fmt: skip
WORKING = {f"hapticsim-{name}" for name in ("loop", "ahead", "wire", "outlet")}  # daemons, for a user's sake
THREAD_ENDS_S = 5.0  # after its test

# How fast examples are drawn says something of the machine, and nothing of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_configure(config: pytest.Config) -> None:
    """Judge tests against the clock; have programs hear signals that a shell in the background took away."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
    config.pluginmanager.register(HostJudge(), "host-judge")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m "clock ..."`` leave out files without such tests: importing one compiles what it tests."""
    if not config.getoption("markexpr").startswith("clock") or collection_path.suffix != ".py":
        return None
    name = collection_path.name
    has_none = not name.startswith(REAL_TIME) and "mark.clock" not in collection_path.read_text()
    return True if name.startswith("test_") and has_none else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests against the real clock, and put the files that take longest first."""
    for item in items:
        if item.path.name.startswith(REAL_TIME):
            item.add_marker(pytest.mark.clock)
    place = {name: i for i, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail a test that leaves a thread at work: it disturbs others, or keeps pytest from ending."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if thread.name in WORKING or not thread.daemon:
            thread.join(THREAD_ENDS_S)
            assert not thread.is_alive(), f"the test left {thread.name!r} at work"


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
