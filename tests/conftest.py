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

from hapticsim.kernels.machine_code.cache import kernel_folder
from tests.host_judge import HostJudge
from tests.processes import Place

# Files of tests against the real clock, besides tests with the mark ``clock``.  Each is judged against the
# host (host_judge.py); ``clock(alone=True)`` has the machine to itself, because it keeps all processors busy.
REAL_TIME = (
    "devices/test_bridge",
    "realtime/test_force_wait",
    "realtime/test_loop",
    "runs/test_",
    "wire/test_device",
    "wire/test_keys",
    "wire/test_ports",
    "wire/test_publish",
)

# Files that take longest, which are begun first: what begins last is waited for alone.
LONG = (
    "runs/test_visit", "devices/test_conformance", "runs/test_window", "equations/test_compiling",
    "whole_scenes/test_contact_faces", "config/test_shipped_scenes", "equations/test_response",
    "runs/test_device_faults", "tools/test_tools", "equations/test_algorithms", "teleop/test_link",
    "wire/test_attacks", "runs/test_teleoperation", "kernels/test_oscillation", "runs/test_server_faults",
    "runs/test_trouble", "offline/test_sweep", "equations/test_batch", "commands/test_command_line",
    "runs/test_switch", "teleop/test_link_hosts", "realtime/test_loop", "tools/test_closed_loop",
    "haptics/test_let_go", "tools/test_studies_equations", "whole_scenes/test_stiff_motion",
    "kernels/test_contact", "kernels/test_box_edges", "kernels/test_choice", "kernels/test_chatter",
    "commands/test_wrong_command_lines", "kernels/test_few_pushes", "kernels/test_deeper_than_solids",
    "assemble/test_features", "kernels/test_gauss_seidel", "kernels/test_constraint_rows",
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
    kernel_folder()  # a test that gives its robots a cache of their own shares the tick with all others
    config.pluginmanager.register(HostJudge(), "host-judge")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m "clock ..."`` leave out files without such tests: importing one compiles what it tests."""
    if not config.getoption("markexpr").startswith("clock") or collection_path.suffix != ".py":
        return None
    has_none = not place_of(collection_path).startswith(REAL_TIME) and (
        "mark.clock" not in collection_path.read_text()
    )
    return True if collection_path.name.startswith("test_") and has_none else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests against the real clock, and put the files that take longest first."""
    for item in items:
        if place_of(item.path).startswith(REAL_TIME):
            item.add_marker(pytest.mark.clock)
    rank = {name: i for i, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(place_of(item.path), len(LONG)))


def place_of(file: Path) -> str:
    """``runs/test_visit``: a file of tests, from this folder on and without its suffix."""
    return file.relative_to(Path(__file__).parent).with_suffix("").as_posix()


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
