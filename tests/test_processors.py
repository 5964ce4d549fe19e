"""A processor of its own: for the loop, while it runs, and only with the right to real-time priority."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import hapticsim as hs
from hapticsim.assembly import assemble
from hapticsim.child import Child
from hapticsim.realtime.clock import request_priority
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.realtime.processors import OwnProcessor
from tests.processes import CONFIGS

ME = threading.get_native_id

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and a second processor",
)


def in_thread(body: Callable[[], Any], priority: bool = True) -> Any:
    """What body returns, called in a thread with real-time priority."""
    found: list[Any] = []

    def run() -> None:
        if priority and not request_priority(5).startswith("SCHED_FIFO"):
            found.append(pytest.skip.Exception("needs the right to SCHED_FIFO"))
            return
        found.append(body())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def affinity_of_a_new_thread() -> set[int]:
    return in_thread(lambda: os.sched_getaffinity(ME()), priority=False)


def test_threads_that_run_python_leave_it_and_get_it_back():
    before = os.sched_getaffinity(0)

    def claim() -> tuple[OwnProcessor | None, set[int]]:
        own = OwnProcessor.claim()
        return own, os.sched_getaffinity(ME())

    own, mine = in_thread(claim)
    try:
        assert own is not None and mine == {own.number} <= before
        assert os.sched_getaffinity(0) == before - mine
        assert affinity_of_a_new_thread() == before - mine
    finally:
        own.release()
    assert os.sched_getaffinity(0) == before == affinity_of_a_new_thread()


def test_a_thread_that_was_narrowed_by_its_owner_stays_where_it_is():
    before = os.sched_getaffinity(0)
    for only in ({min(before)}, {max(before)}):  # beside the loop's processor, and on it
        done, seen = threading.Event(), []

        def narrow(only=only, done=done, seen=seen) -> None:
            os.sched_setaffinity(0, only)
            seen.append(ME())
            done.wait(5.0)
            seen.append(os.sched_getaffinity(ME()))

        thread = threading.Thread(target=narrow)
        thread.start()
        while not seen:
            pass
        own = in_thread(OwnProcessor.claim)
        own.release()
        done.set()
        thread.join()
        assert seen[1] == only


def test_a_child_process_may_use_every_processor(capfd):
    before = os.sched_getaffinity(0)
    own = in_thread(OwnProcessor.claim)
    try:
        child = Child("child", ["-c", "import os; print(sorted(os.sched_getaffinity(0)))"], print, False)
        while child.status is None:
            pass
    finally:
        own.release()
    assert capfd.readouterr().out.strip() == str(sorted(before))


def test_another_process_takes_another_one():
    code = (
        "import os\n"
        "from hapticsim.realtime.processors import OwnProcessor\n"
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))\n"
        "own = OwnProcessor.claim()\n"
        "print(own.number if own else None)\n"
    )
    mine = in_thread(OwnProcessor.claim)
    try:
        allowed = sorted(os.sched_getaffinity(0) | {mine.number})
        theirs = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, timeout=60,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        ).stdout.strip()  # fmt: skip
    finally:
        mine.release()
    assert theirs.isdigit() and int(theirs) in allowed and int(theirs) != mine.number


def test_without_real_time_priority_nothing_is_moved():
    before = os.sched_getaffinity(0)
    assert in_thread(OwnProcessor.claim, priority=False) is None
    assert os.sched_getaffinity(0) == before


def test_a_thread_that_may_use_one_processor_only_takes_none():
    def claim() -> OwnProcessor | None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        return OwnProcessor.claim()

    assert in_thread(claim) is None


def test_the_loop_has_one_while_it_runs_and_says_so():
    before = os.sched_getaffinity(0)
    in_thread(lambda: None)  # skips without the right
    loop = RealTimeLoop(assemble(hs.load(CONFIGS / "puck_and_wall.yaml")))
    loop.start()
    try:
        (number,) = before - os.sched_getaffinity(0)
        assert loop.scheduling.endswith(f", processor {number} its own")
    finally:
        loop.stop()
    assert os.sched_getaffinity(0) == before
