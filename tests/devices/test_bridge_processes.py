"""The bridge and a server in separate processes: stopped, killed, asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hapticsim_devices.base import ZERO

from hapticsim.wire.messages.device import Bye, State
from tests.devices.test_bridge import SHARED_MACHINE_S, TIMEOUT_S, FakeServer, armed, eventually, running


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/device.sock"


@contextmanager
def server_process(endpoint: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-m", "tests.devices.test_bridge", endpoint]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_stopped_or_killed_server_means_zero_at_the_time_out(endpoint, how):
    with server_process(endpoint) as process, running(endpoint) as run:
        armed(run)
        os.kill(process.pid, how)
        struck = time.monotonic()
        eventually(lambda: run.newest == ZERO, 1.0)
        late = [t - struck for t, force in run.driver.writes if force != ZERO and t > struck]
        assert max(late, default=0.0) <= TIMEOUT_S + SHARED_MACHINE_S
        if how == signal.SIGSTOP:
            os.kill(process.pid, signal.SIGCONT)
            since = len(run.driver.writes)
            time.sleep(0.3)
            assert all(force == ZERO for _, force in run.driver.writes[since:])


@contextmanager
def device_program(
    endpoint: str, *options: str, before: Callable[[], object] | None = None
) -> Iterator[tuple[subprocess.Popen[str], FakeServer]]:
    """A device program of its own, in session with a server here; ``before`` is done in its process."""
    server = FakeServer(endpoint)
    command = [sys.executable, "-m", "hapticsim_devices", "scripted", "--endpoint", endpoint, *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=before)
    try:
        eventually(lambda: server.count(State) > 50, 20.0)
        yield process, server
    finally:
        process.kill()
        process.wait()
        server.end()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_program_cleanly_with_a_report(endpoint, how):
    with device_program(endpoint) as (process, server):
        process.send_signal(how)
        _, said = process.communicate(timeout=5.0)
        eventually(lambda: server.count(Bye) == 1)
    assert process.returncode == 0
    assert "Traceback" not in said
    assert "ticks, " in said.splitlines()[-1] and "round trip p50" in said.splitlines()[-1]


@pytest.mark.parametrize("how", [signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN])
def test_no_key_of_the_terminal_makes_a_device_program_stand_still_with_its_last_force(endpoint, how):
    goes_on_after(how, endpoint)


def test_a_hang_up_that_is_ignored_stays_ignored(endpoint):
    goes_on_after(signal.SIGHUP, endpoint, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))


def goes_on_after(how: signal.Signals, endpoint: str, before: Callable[[], object] | None = None) -> None:
    with device_program(endpoint, before=before) as (process, server):
        process.send_signal(how)
        time.sleep(0.05)
        so_far = server.count(State)
        eventually(lambda: server.count(State) > so_far + 50)
        process.send_signal(signal.SIGTERM)
        assert process.wait(5.0) == 0


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="a system without priorities of threads")
def test_all_threads_of_a_device_program_have_one_priority(endpoint):
    """They share the interpreter: one of lower priority could be stopped while it holds that."""
    with device_program(endpoint, "--realtime") as (process, _):
        threads = [int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir()]
        assert len(threads) >= 4, "loop, watchdog, voice and last resort"
        assert len({(os.sched_getscheduler(t), os.sched_getparam(t).sched_priority) for t in threads}) == 1
